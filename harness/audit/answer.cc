// One run's answer, part by part.
#include "harness/audit/answer.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "harness/attestation/verification.h"
#include "harness/audit/deletions.h"
#include "harness/audit/exceptions.h"
#include "harness/audit/places.h"
#include "harness/audit/run_entries.h"
#include "harness/audit/run_facts.h"
#include "harness/base/files.h"
#include "harness/drill/history_of.h"
#include "harness/history/store.h"
#include "harness/history/untouched.h"
#include "reports/audit_words.h"
#include "reports/text.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

bool IsGood(Verdict verdict) {
  return verdict == Verdict::kIdentical || verdict == Verdict::kEquivalent;
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
             .signed_by = SignersText(one.signed_by),
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
  report->headline = report->run_id + ": " + FaultsFirst(*report);
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
  report->headline += DeletedFilesWords(*report);
  report->headline +=
      entered == 0     ? "; nothing about it is in the log"
      : good < entered ? ""
                       : fmt::format("; all {} about it in the log are as entered",
                                     entered == 1 ? "that is" : fmt::format("{} entries", entered));
  report->exit_code = good < entered || refused > 0 ? 5 : 0;
  if (report->exit_code != 0) {
    report->next = FaultNext(good == entered, refused);
  } else if (missing > 0) {
    report->next = fmt::format(
        "{} not in the log yet: `rharness audit append`",
        missing == 1 ? "1 record about it is" : fmt::format("{} records about it are", missing));
  } else {
    report->next = NextToReproduce(*report);
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
  if (entry.retired) {
    report.exceptions.push_back({.kind = "retirement",
                                 .about = entry.run_id,
                                 .reason = *entry.retired,
                                 .signed_by = RetiringPeople(entry)});
  }
  RETURN_IF_ERROR(AddRetirementRequest(request, store.get(), &report));
  std::vector<std::string> lists;
  RETURN_IF_ERROR(AddDeletions(request, store.get(), &report, &lists));
  RETURN_IF_ERROR(AddPolicyExceptions(request, manifest, &report));
  RETURN_IF_ERROR(AddPlaces(manifest, store.get(), &report));
  std::set<std::string> drills;
  RETURN_IF_ERROR(AddStatements(request, &report, &drills));
  RETURN_IF_ERROR(AddRunEntries(request, lists, &report));
  Conclude(request, drills, &report);
  return report;
}

}  // namespace rharness
