// Sentences and members of what was seen of an audit log.
#include "harness/cli/audit_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "harness/base/files.h"
#include "harness/cli/audit_members.h"
#include "harness/cli/verb.h"

namespace rharness {
namespace {

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
  return MemberWriter::Written(AppendedDocument{done, log.string()});
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
  return MemberWriter::Written(AuditDocument{outcome, request.folder.string()});
}

}  // namespace rharness
