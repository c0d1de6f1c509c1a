// One run's answer, part by part.
#include "harness/audit/answer.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "harness/approval/retirement_approval.h"
#include "harness/attestation/verification.h"
#include "harness/audit/entry.h"
#include "harness/audit/log_check.h"
#include "harness/audit/log_view.h"
#include "harness/audit/proof.h"
#include "harness/audit/run_facts.h"
#include "harness/audit/site_records.h"
#include "harness/base/files.h"
#include "harness/base/glob.h"
#include "harness/drill/history_of.h"
#include "harness/history/held_record.h"
#include "harness/history/store.h"
#include "harness/history/untouched.h"
#include "harness/policy/policy.h"
#include "reports/text.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

std::string KeysText(const std::vector<AcceptedKey>& keys) {
  std::string text;
  for (const AcceptedKey& key : keys) {
    text += fmt::format("{}{} ({})", text.empty() ? "" : ", ", key.name, key.owner);
  }
  return text;
}

bool IsGood(Verdict verdict) {
  return verdict == Verdict::kIdentical || verdict == Verdict::kEquivalent;
}

// The log's side of the answer.
class LogSide {
 public:
  LogSide(const AnswerRequest& request, AuditReport* report) : request_(request), report_(report) {}

  Status Read() {
    ASSIGN_OR_RETURN(log_, OpenLog(request_.log));
    report_->tree_size = log_.entries.count();
    ASSIGN_OR_RETURN(const TreeHash root, TreeRoot(&log_.nodes, report_->tree_size));
    report_->root_sha256 = ToHex(root);
    RETURN_IF_ERROR(ReadHead());
    ASSIGN_OR_RETURN(const auto records, ReadHeldRecordsOf(request_.run_id, request_.history));
    for (const HeldRecord& one : records) held_[{one.kind, one.name}] = ToHex(one.sha256);
    RETURN_IF_ERROR(ReadLines());
    for (const HeldRecord& one : records) {
      if (seen_.contains({one.kind, one.name})) continue;
      report_->entries.push_back({.index = {},
                                  .kind = one.kind,
                                  .name = one.name,
                                  .sha256 = ToHex(one.sha256),
                                  .entered = {},
                                  .state = AuditEntryState::kNotEntered});
    }
    return {};
  }

 private:
  using KindAndName = std::pair<std::string, std::string>;

  Status ReadHead() {
    if (log_.heads.empty()) return {};
    const HeadText& text = log_.heads.back();
    std::string signers;
    if (request_.trust != nullptr) {
      ASSIGN_OR_RETURN(const VerifiedHead head,
                       VerifyTreeHead(text.text, text.where, *request_.trust, request_.now));
      head_ = head.head;
      signers = ", signed by " + KeysText(head.signed_by);
    } else {
      ASSIGN_OR_RETURN(head_, PeekTreeHead(text.text, text.where));
      report_->notes.push_back(
          "who signed the log's heads was not looked at; --trust says whom to "
          "believe");
    }
    report_->head =
        fmt::format("over {} entries, of {}{}", head_.tree.size, FormatTime(head_.time), signers);
    return {};
  }

  Status ReadLines() {
    std::uint64_t index = 0;
    std::vector<std::string> lines;
    RETURN_IF_ERROR(log_.entries.ReadAll([&](std::span<const std::string_view> some) -> Status {
      for (const std::string_view line : some) {
        EntryParts parts;
        if (!ScanEntry(line, &parts) || parts.index != index) {
          return IntegrityError(EntryWords(index, "", "") + " is not in its place",
                                log_.entries.Where(index));
        }
        ++index;
        if (RunOf(parts.kind, parts.name) == request_.run_id) lines.emplace_back(line);
      }
      return {};
    }));
    for (const std::string& line : lines) {
      ASSIGN_OR_RETURN(const AuditEntry entry, ParseEntry(line, request_.log.string()));
      RETURN_IF_ERROR(AddRow(entry));
    }
    return {};
  }

  Status AddRow(const AuditEntry& entry) {
    const KindAndName key = {entry.kind, entry.name};
    AuditEntryRow row{.index = entry.index,
                      .kind = entry.kind,
                      .name = entry.name,
                      .sha256 = entry.sha256,
                      .entered = entry.time,
                      .state = AuditEntryState::kAsEntered,
                      .signed_over = entry.index < head_.tree.size};
    const auto held = held_.find(key);
    if (held == held_.end()) {
      row.state = AuditEntryState::kGone;
    } else if (held->second != entry.sha256) {
      row.state = AuditEntryState::kChanged;
    } else if (!seen_.insert(key).second) {
      row.state = AuditEntryState::kTwice;
    }
    if (row.signed_over) {
      const auto proof = ProveEntry(&log_, entry.index, head_.tree);
      if (!proof.ok() && proof.error().code != ErrorCode::kIntegrity) return proof.error();
      if (!proof.ok()) row.state = AuditEntryState::kChanged;
    }
    seen_.insert(key);
    report_->entries.push_back(std::move(row));
    return {};
  }

  const AnswerRequest& request_;
  AuditReport* report_;
  LogView log_;
  TreeHead head_;
  std::map<KindAndName, std::string> held_;
  std::set<KindAndName> seen_;
};

Status AddExceptions(const AnswerRequest& request, const Manifest& manifest, AuditReport* report) {
  for (const std::string& file : request.policies) {
    ASSIGN_OR_RETURN(const Policy policy, LoadPolicy(file));
    for (const Waiver& one : policy.waivers) {
      report->exceptions.push_back({.kind = kWaiverKind,
                                    .about = one.probes,
                                    .reason = one.reason,
                                    .signed_by = one.signed_by,
                                    .until = FormatUntil(one.until),
                                    .holds = request.now < one.until});
    }
    for (const Substitute& one : policy.substitutes) {
      const bool for_it =
          std::ranges::any_of(manifest.environment.hardware.gpus,
                              [&](const Gpu& gpu) { return GlobMatches(one.recorded, gpu.model); });
      if (!for_it) continue;
      report->exceptions.push_back(
          {.kind = kSubstituteKind,
           .about = one.recorded + " -> " + one.here,
           .reason = one.is_proved() ? "two fingerprints show that they compute alike" : one.reason,
           .signed_by = one.signed_by,
           .until = one.is_proved() ? "" : FormatUntil(one.until),
           .holds = one.is_proved() || request.now < one.until});
    }
  }
  return {};
}

// Why a statement is refused, without its file, which is told beside it.
std::string RefusedWords(const Error& error, const std::string& file) {
  if (error.where == file) return error.message;
  if (!error.where.starts_with(file + ":")) return error.ToString();
  std::string at = error.where.substr(file.size() + 1);
  at.erase(0, std::min(at.find_first_not_of(' '), at.size()));
  const bool line = !at.empty() && at.find_first_not_of("0123456789") == at.npos;
  return fmt::format("{}{}: {}", line ? "line " : "", at, error.message);
}

// `drills` gets those whose verdicts of the run are signed.
Status AddStatements(const AnswerRequest& request, AuditReport* report,
                     std::set<std::string>* drills) {
  if (request.statements.empty()) return {};
  if (request.trust == nullptr) {
    return InvalidInput("signed statements say something only where it is known whom to believe",
                        "--trust");
  }
  std::size_t others = 0;
  for (const std::string& path : request.statements) {
    ASSIGN_OR_RETURN(const auto files, FindAttestations(path));
    for (const fs::path& file : files) {
      const auto verified = VerifyFile(file, *request.trust, request.now);
      if (!verified.ok()) {
        if (verified.error().code != ErrorCode::kIntegrity) return verified.error();
        // Of a folder, one that is another run's by its name; its payload is believed by nobody.
        const bool given = files.size() == 1 && file == fs::path(path);
        if (!given && !file.filename().string().starts_with(request.run_id + ".")) {
          ++others;
          continue;
        }
        report->statements.push_back({.file = file.string(),
                                      .says = {},
                                      .signed_by = {},
                                      .refused = RefusedWords(verified.error(), file.string())});
        continue;
      }
      for (const Verified& one : *verified) {
        const AttestedVerdict* said = one.verdict();
        if (said == nullptr || said->run_id != request.run_id) continue;
        drills->insert(said->drill_id);
        report->statements.push_back(
            {.file = file.string(),
             .says = fmt::format("{}, decided {} by drill {}", VerdictName(said->verdict),
                                 FormatTime(said->decided), said->drill_id),
             .signed_by = KeysText(one.signed_by),
             .refused = {}});
      }
    }
  }
  if (others > 0) {
    report->notes.push_back(
        fmt::format("{} refused that {} not named after this run; `rharness verify` says why",
                    others == 1 ? "1 statement is" : fmt::format("{} statements are", others),
                    others == 1 ? "is" : "are"));
  }
  return {};
}

// "Ada (asked 2026-06-01) and Bob (approved 2026-06-02)"; empty of one that nobody signed.
std::string RetiringPeople(const HistoryEntry& entry) {
  if (!entry.retirement) return "";
  constexpr std::size_t kDay = 10;
  const SignedRetirement& by = *entry.retirement;
  return fmt::format("{} (asked {}) and {} (approved {})", by.asked_by,
                     FormatTime(by.asked).substr(0, kDay), by.approved_by,
                     FormatTime(by.approved).substr(0, kDay));
}

// Of the last reproduction, where statements were given: that none of them is about it.
std::string UnsignedWords(const AuditReport& report,
                          const std::vector<AuditVerdict>::const_iterator last,
                          const std::set<std::string>& drills) {
  if (last == report.verdicts.end() || drills.contains(last->drill_id)) return "";
  const bool older = std::any_of(last + 1, report.verdicts.end(), [&](const AuditVerdict& one) {
    return drills.contains(one.drill_id);
  });
  return fmt::format("; the verdict of drill {} is signed by nobody that was given{}",
                     last->drill_id, older ? "; an older one is" : "");
}

std::string FaultNext(bool log_is_whole, std::ptrdiff_t refused) {
  if (log_is_whole) {
    return refused == 1 ? "the statement does not hold; the log does: `rharness verify` says why"
                        : "the statements do not hold; the log does: `rharness verify` says why";
  }
  return "find out who changed it: `rharness audit verify` with a head that was kept says what "
         "else was";
}

void Conclude(const AnswerRequest& request, const std::set<std::string>& drills,
              AuditReport* report) {
  const auto count = [&](auto is) {
    return static_cast<std::uint64_t>(std::ranges::count_if(report->entries, is));
  };
  const std::uint64_t missing =
      count([](const AuditEntryRow& row) { return row.state == AuditEntryState::kNotEntered; });
  const std::uint64_t good =
      count([](const AuditEntryRow& row) { return row.state == AuditEntryState::kAsEntered; });
  const std::uint64_t entered = report->entries.size() - missing;
  const auto refused = std::ranges::count_if(
      report->statements, [](const AuditStatement& one) { return !one.refused.empty(); });
  const auto last = std::ranges::find_if(
      report->verdicts, [](const AuditVerdict& one) { return IsGood(one.verdict); });
  report->headline = report->run_id + ": ";
  report->headline +=
      last == report->verdicts.end()
          ? std::string("never shown to reproduce")
          : fmt::format("last reproduced ({}) on {} by drill {}", VerdictName(last->verdict),
                        FormatMinute(last->decided), last->drill_id);
  if (!report->verdicts.empty() && !IsGood(report->verdicts[0].verdict)) {
    report->headline += fmt::format(", and last {} on {}", VerdictName(report->verdicts[0].verdict),
                                    FormatMinute(report->verdicts[0].decided));
  }
  if (!request.statements.empty()) report->headline += UnsignedWords(*report, last, drills);
  report->headline +=
      entered == 0 ? "; nothing about it is in the log"
      : good < entered
          ? fmt::format("; {} of its {} entries in the log not as entered", entered - good, entered)
          : fmt::format("; all {} about it in the log are as entered",
                        entered == 1 ? "that is" : fmt::format("{} entries", entered));
  const bool doubtful = std::ranges::any_of(
      report->exceptions, [](const AuditException& one) { return !one.doubt.empty(); });
  report->exit_code = good < entered || refused > 0 || doubtful ? 5 : 0;
  if (good < entered || refused > 0) {
    report->next = FaultNext(good == entered, refused);
  } else if (doubtful) {
    report->next = "its retirement is not as it was signed: `rharness retire list` says who signed";
  } else if (missing > 0) {
    report->next = fmt::format(
        "{} not in the log yet: `rharness audit append`",
        missing == 1 ? "1 record about it is" : fmt::format("{} records about it are", missing));
  }
}

}  // namespace

Result<AuditReport> AnswerFor(const AnswerRequest& request) {
  AuditReport report{.at = request.now,
                     .history = request.history,
                     .log = request.log.string(),
                     .run_id = request.run_id};
  ASSIGN_OR_RETURN(const auto store, OpenUntouchedHistory(request.history));
  ASSIGN_OR_RETURN(const HistoryEntry entry, store->Find(request.run_id));
  ASSIGN_OR_RETURN(const Manifest manifest, store->Get(request.run_id));
  ASSIGN_OR_RETURN(const RunHistory history, LoadRunHistory(request.run_id, store.get()));
  report.family = entry.family;
  report.made = RunFacts(manifest);
  if (!entry.rebuild.empty()) report.made.push_back({"can be had again", entry.rebuild});
  for (auto one = history.verdicts.rbegin(); one != history.verdicts.rend(); ++one) {
    report.verdicts.push_back({.decided = one->decided,
                               .verdict = one->verdict,
                               .drill_id = one->drill_id,
                               .reruns = one->reruns,
                               .reasons = one->reasons});
  }
  ASSIGN_OR_RETURN(const auto doubts, RetirementDoubtsOf({entry}, request.now, store.get()));
  if (entry.retired) {
    AuditException& one = report.exceptions.emplace_back();
    one = {.kind = "retirement", .about = entry.run_id, .reason = *entry.retired};
    if (doubts.empty()) one.signed_by = RetiringPeople(entry);
    if (!doubts.empty()) one.doubt = doubts.begin()->second;
  }
  RETURN_IF_ERROR(AddExceptions(request, manifest, &report));
  std::set<std::string> drills;
  RETURN_IF_ERROR(AddStatements(request, &report, &drills));
  RETURN_IF_ERROR(LogSide(request, &report).Read());
  Conclude(request, drills, &report);
  return report;
}

}  // namespace rharness
