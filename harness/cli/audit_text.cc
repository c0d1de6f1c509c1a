// Sentences and members of what was seen of an audit log.
#include "harness/cli/audit_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "harness/base/files.h"
#include "harness/cli/verb.h"

namespace rharness {
namespace {

constexpr std::size_t kMostMissingNamed = 100;

std::string RecordsAre(std::uint64_t count) {
  return count == 1 ? "1 record is" : fmt::format("{} records are", count);
}

std::string Entries(std::uint64_t count) {
  return count == 1 ? "1 entry" : fmt::format("{} entries", count);
}

std::string EntriesAre(std::uint64_t count) {
  return Entries(count) + (count == 1 ? " is" : " are");
}

std::string ExceptionsText(const std::vector<ChangedException>& exceptions) {
  std::string text;
  std::size_t gone = 0;
  const ChangedException* first = nullptr;
  for (const ChangedException& one : exceptions) {
    if (one.is_there) {
      text += OneLine(ChangedWords(one));
    } else if (gone++ == 0) {
      first = &one;
    }
  }
  if (first == nullptr) return text;
  const std::string what = EntryWords(first->index, first->kind, first->name);
  return text + OneLine(gone == 1 ? what + " is about what is in its policy no more"
                                  : fmt::format("{} are about what is in their policies no more, "
                                                "the first: {}",
                                                Entries(gone), what));
}

std::string CoverText(const CheckedLog& log, bool trusted) {
  std::string text;
  const std::uint64_t covered = log.signed_entries();
  if (!log.heads.empty()) text += OneLine("its newest " + HeadWords(log.heads.back()));
  for (const SeenHead& one : log.kept) {
    text += OneLine(fmt::format("{}: {}: this log begins with what it was signed over", one.where,
                                HeadWords(one)));
  }
  if (covered < log.tree.size) {
    text += OneLine(fmt::format("{} under no signed head; `rharness audit append --key` signs one",
                                EntriesAre(log.tree.size - covered)));
  }
  if (!trusted && (!log.heads.empty() || !log.kept.empty())) {
    text += OneLine("the signers of the heads were not checked; --trust names the trusted keys");
  }
  return text;
}

Json FaultJson(const AuditOutcome& outcome) {
  if (!outcome.fault) return {};
  Json bad;
  if (outcome.bad) {
    bad = Json::MakeObject(
        {{"index", outcome.bad->index}, {"kind", outcome.bad->kind}, {"name", outcome.bad->name}});
  }
  return Json::MakeObject({{"where", outcome.fault->where},
                           {"message", outcome.fault->message},
                           {"entry", std::move(bad)}});
}

Json ExceptionsJson(const std::vector<ChangedException>& exceptions) {
  Json array = Json::MakeArray();
  for (const ChangedException& one : exceptions) {
    array.Append(Json::MakeObject({{"index", one.index},
                                   {"kind", one.kind},
                                   {"name", one.name},
                                   {"state", one.is_there ? "changed" : "gone"}}));
  }
  return array;
}

Json HeadsJson(const std::vector<SeenHead>& heads) {
  Json array = Json::MakeArray();
  for (const SeenHead& one : heads) array.Append(ToJson(one));
  return array;
}

}  // namespace

std::string ChangedWords(const ChangedException& one) {
  return fmt::format("{} was changed in its policy, and what it says now is not in the log",
                     EntryWords(one.index, one.kind, one.name));
}

const ChangedException* FirstChanged(const AuditOutcome& outcome) {
  const auto at = std::ranges::find(outcome.exceptions, true, &ChangedException::is_there);
  return at == outcome.exceptions.end() ? nullptr : &*at;
}

std::string MissingWords(const std::vector<HeldRecord>& missing) {
  const HeldRecord& first = missing.front();
  return TerminalSafe(
      fmt::format("{} not in the log yet{}: {} {}; `rharness audit append` enters new records",
                  RecordsAre(missing.size()), missing.size() == 1 ? "" : ", the first", first.kind,
                  first.name));
}

std::string HeadWords(const SeenHead& head) {
  std::string signers;
  for (const AcceptedKey& key : head.signed_by) {
    signers +=
        fmt::format("{}{} ({})", signers.empty() ? ", signed by " : ", ", key.name, key.owner);
  }
  return fmt::format("head is over {}, of {}{}", Entries(head.head.tree.size),
                     FormatTime(head.head.time), signers);
}

Json ToJson(const SeenHead& head) {
  Json keys = Json::MakeArray();
  for (const AcceptedKey& key : head.signed_by) {
    keys.Append(Json::MakeObject({{"name", key.name}, {"owner", key.owner}, {"keyid", key.id}}));
  }
  return Json::MakeObject({{"where", head.where},
                           {"tree_size", head.head.tree.size},
                           {"root_sha256", ToHex(head.head.tree.root)},
                           {"time", FormatTime(head.head.time)},
                           {"signed_by", std::move(keys)}});
}

std::string AppendedText(const Appended& done, const std::filesystem::path& log) {
  std::string text;
  if (done.mended) text += OneLine("an append that was cut short was taken back first");
  text += OneLine(fmt::format("{}: {} entered; the log has {}", log.string(),
                              RecordsAre(done.added), Entries(done.tree.size)));
  text += OneLine(done.signed_now ? "signed a head over all of them"
                  : done.head && done.added > 0
                      ? "its newest head stays, and no head covers the new entries; --key signs one"
                  : done.head ? "its newest head stays as it is"
                              : "no head is signed; --key signs one");
  return text;
}

Json AppendedJson(const Appended& done, const std::filesystem::path& log) {
  return Json::MakeObject({{"schema", "rharness.audit_appended/v1"},
                           {"log", log.string()},
                           {"added", done.added},
                           {"tree_size", done.tree.size},
                           {"root_sha256", ToHex(done.tree.root)},
                           {"signed", done.signed_now},
                           {"mended", done.mended},
                           {"head", done.head}});
}

std::string AuditText(const AuditOutcome& outcome, const AuditRequest& request) {
  const CheckedLog& log = outcome.log;
  std::string text =
      OneLine(fmt::format("{}: holds: {}, each as it was entered, root {}", request.folder.string(),
                          Entries(log.tree.size), ToHex(log.tree.root)));
  text += CoverText(log, request.trust != nullptr);
  if (!outcome.missing.empty()) text += OneLine(MissingWords(outcome.missing));
  text += ExceptionsText(outcome.exceptions);
  if (outcome.not_looked_at > 0) {
    text += OneLine(fmt::format("{} about what was not given here (--baseline), and not held to it",
                                EntriesAre(outcome.not_looked_at)));
  }
  if (outcome.held_by_names) {
    text += OneLine(
        "the trust policy has no rule for retirements: whose keys signed for them was not looked "
        "at");
  }
  if (outcome.unfinished) {
    text += OneLine(
        "an append is under way, or was cut short; what it wrote is left out, and the next append "
        "enters it");
  }
  return text;
}

Json AuditJson(const AuditOutcome& outcome, const AuditRequest& request) {
  const CheckedLog& log = outcome.log;
  Json missing = Json::MakeArray();
  for (std::size_t i = 0; i < std::min(outcome.missing.size(), kMostMissingNamed); ++i) {
    missing.Append(
        Json::MakeObject({{"kind", outcome.missing[i].kind}, {"name", outcome.missing[i].name}}));
  }
  const bool holds = !outcome.fault.has_value();
  return Json::MakeObject({{"schema", "rharness.audit/v1"},
                           {"log", request.folder.string()},
                           {"holds", holds},
                           {"fault", FaultJson(outcome)},
                           {"tree_size", holds ? Json(log.tree.size) : Json()},
                           {"root_sha256", holds ? Json(ToHex(log.tree.root)) : Json()},
                           {"signed_entries", log.signed_entries()},
                           {"heads", HeadsJson(log.heads)},
                           {"kept", HeadsJson(log.kept)},
                           {"not_in_log", std::uint64_t{outcome.missing.size()}},
                           {"first_not_in_log", std::move(missing)},
                           {"exceptions", ExceptionsJson(outcome.exceptions)},
                           {"not_looked_at", outcome.not_looked_at},
                           {"unfinished", outcome.unfinished.has_value()}});
}

}  // namespace rharness
