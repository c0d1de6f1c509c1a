// One run's answer, part by part.
#include "harness/trust/audit/answer.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "harness/base/files.h"
#include "harness/drill/history_of.h"
#include "harness/history/store.h"
#include "harness/history/untouched.h"
#include "harness/trust/attestation/attest_drill.h"
#include "harness/trust/attestation/held_verdict.h"
#include "harness/trust/attestation/verification.h"
#include "harness/trust/audit/approvals.h"
#include "harness/trust/audit/deletions.h"
#include "harness/trust/audit/exceptions.h"
#include "harness/trust/audit/places.h"
#include "harness/trust/audit/run_entries.h"
#include "harness/trust/audit/run_facts.h"
#include "reports/audit_words.h"
#include "reports/text.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

// Why a statement is refused, without its file, which is told beside it.
std::string RefusedWords(const Error& error, const std::string& file) {
  if (error.where == file) return error.message;
  if (!error.where.starts_with(file + ":")) return error.ToString();
  std::string at = error.where.substr(file.size() + 1);
  at.erase(0, std::min(at.find_first_not_of(' '), at.size()));
  const bool line = !at.empty() && at.find_first_not_of("0123456789") == at.npos;
  return fmt::format("{}{}: {}", line ? "line " : "", at, error.message);
}

// The results of statements beside their content.
struct SignedVerdicts {
  std::set<std::string> drills;  // with signed verdicts on the run, as in the history
  bool contradicted = false;     // a signed verdict contradicts record and history
};

AuditStatement Refused(const fs::path& file, const std::string& why) {
  return {.file = file.string(), .says = {}, .signed_by = {}, .refused = why};
}

// The lines that are verdicts on the run, each checked against its record and the history.
Status AddVerdicts(const fs::path& file, const std::vector<Verified>& lines,
                   const Manifest& manifest, EnteredDrills* history, AuditReport* report,
                   SignedVerdicts* told) {
  for (const Verified& one : lines) {
    const AttestedVerdict* said = one.verdict();
    if (said == nullptr || said->run_id != manifest.run_id) continue;
    const auto held = HoldToHistory(*said, manifest, history, file.string());
    if (!held.ok()) {
      if (held.error().code != ErrorCode::kIntegrity) return held.error();
      told->contradicted = true;
      report->statements.push_back(Refused(file, held.error().message));
      continue;
    }
    if (!held->superseded) told->drills.insert(held->drill_id);
    report->statements.push_back(
        {.file = file.string(),
         .says = fmt::format("{}, decided {} by drill {}{}", VerdictName(said->verdict),
                             FormatTime(said->decided), said->drill_id,
                             held->superseded ? ", which says otherwise since it was resumed" : ""),
         .signed_by = SignersText(one.signed_by),
         .refused = {}});
  }
  return {};
}

Status AddStatements(const AnswerRequest& request, const Manifest& manifest, EnteredDrills* history,
                     AuditReport* report, SignedVerdicts* told) {
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
      const bool given = files.size() == 1 && file == fs::path(path);
      const bool its = given || file.filename() == AttestationName(request.run_id);
      if (verified.ok()) {
        RETURN_IF_ERROR(AddVerdicts(file, verified->statements, manifest, history, report, told));
        // The payload of an ignored line is untrusted: it belongs to the run if its file does.
        for (const Error& line : verified->not_counted) {
          if (!its) break;
          report->statements.push_back(
              {.file = file.string(), .not_counted = RefusedWords(line, file.string())});
        }
        continue;
      }
      if (verified.error().code != ErrorCode::kIntegrity) return verified.error();
      if (its) {
        report->statements.push_back(Refused(file, RefusedWords(verified.error(), file.string())));
      } else {  // another run's by its name; its payload is believed by nobody
        ++others;
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

std::vector<AuditVerdict>::const_iterator LastReproduction(const AuditReport& report) {
  return std::ranges::find_if(report.verdicts,
                              [](const AuditVerdict& one) { return Reproduced(one.said.verdict); });
}

// For the last reproduction, if statements were given: that none covers it.
std::string UnsignedWords(const AuditReport& report, const std::set<std::string>& drills) {
  const auto last = LastReproduction(report);
  if (last == report.verdicts.end() || drills.contains(last->said.drill_id)) return "";
  const bool older = std::any_of(last + 1, report.verdicts.end(), [&](const AuditVerdict& one) {
    return drills.contains(one.said.drill_id);
  });
  return fmt::format("; no statement that was given signs the verdict of drill {}{}",
                     last->said.drill_id, older ? "; an older one is signed" : "");
}

std::string FaultNext(bool log_is_whole, std::ptrdiff_t refused, bool contradicted) {
  if (log_is_whole && refused == 0) {
    return "its retirement is not what was signed; the log holds what the history says: `rharness "
           "history retire list` with --trust tells whom to ask";
  }
  if (log_is_whole && contradicted) {
    return "what was signed and the history contradict each other: `rharness audit verify` with a "
           "head that was kept says whether the history was changed";
  }
  if (log_is_whole) {
    return refused == 1 ? "the statement does not hold; the log does: `rharness verify` says why"
                        : "the statements do not hold; the log does: `rharness verify` says why";
  }
  return "find out who changed it: `rharness audit verify` with a head that was kept says what "
         "else was";
}

struct CountedEntries {
  std::uint64_t missing = 0;  // not in the log
  std::uint64_t good = 0;     // as entered
  std::uint64_t entered = 0;
};

CountedEntries CountEntries(const AuditReport& report) {
  const auto count = [&](AuditEntryState state) {
    return static_cast<std::uint64_t>(
        std::ranges::count(report.entries, state, &AuditEntryRow::state));
  };
  const std::uint64_t missing = count(AuditEntryState::kNotEntered);
  return {missing, count(AuditEntryState::kAsEntered), report.entries.size() - missing};
}

std::string Headline(const AnswerRequest& request, const SignedVerdicts& told,
                     const CountedEntries& entries, const AuditReport& report) {
  const auto last = LastReproduction(report);
  std::string headline = report.run_id + ": " + FaultsFirst(report);
  headline +=
      last == report.verdicts.end()
          ? std::string("never shown to reproduce")
          : fmt::format("last reproduced ({}) on {} by drill {}", VerdictName(last->said.verdict),
                        FormatMinute(last->said.decided), last->said.drill_id);
  if (!report.verdicts.empty() && !Reproduced(report.verdicts[0].said.verdict)) {
    headline += fmt::format(", and last {} on {}", VerdictName(report.verdicts[0].said.verdict),
                            FormatMinute(report.verdicts[0].said.decided));
  }
  if (!request.statements.empty()) headline += UnsignedWords(report, told.drills);
  headline += DeletedFilesWords(report);
  headline += entries.entered == 0 ? "; nothing about it is in the log"
              : entries.good < entries.entered
                  ? ""  // which was said first
                  : fmt::format("; all {} about it in the log are as entered",
                                entries.entered == 1 ? "that is"
                                                     : fmt::format("{} entries", entries.entered));
  if (told.contradicted) headline += "; what was signed contradicts what the history says";
  return headline;
}

void Conclude(const AnswerRequest& request, const SignedVerdicts& told, AuditReport* report) {
  const CountedEntries entries = CountEntries(*report);
  const bool whole = entries.good == entries.entered;
  const auto refused = std::ranges::count_if(
      report->statements, [](const AuditStatement& one) { return !one.refused.empty(); });
  const bool doubtful = std::ranges::any_of(
      report->exceptions, [](const AuditException& one) { return !one.doubt.empty(); });
  report->headline = Headline(request, told, entries, *report);
  if (doubtful) report->headline += "; its retirement is doubtful";
  if (!whole || refused > 0 || doubtful) {
    report->exit_code = 5;
    report->next = FaultNext(whole, refused, told.contradicted);
  } else if (request.trust != nullptr && report->head.empty()) {
    report->exit_code = 1;
    report->headline += "; nobody signed a head of the log";
    report->next =
        "the log may have been made anew by anybody: `rharness audit append --key` signs a head, "
        "and somebody else keeps it";
  } else if (entries.missing > 0) {
    report->next =
        fmt::format("{} not in the log yet: `rharness audit append`",
                    entries.missing == 1 ? "1 record about it is"
                                         : fmt::format("{} records about it are", entries.missing));
  } else {
    report->next = NextToReproduce(*report);
    const bool asked = !request.statements.empty() && report->next.empty();
    if (asked && !UnsignedWords(*report, told.drills).empty()) {
      report->next = "have that drill signed: `rharness sign DRILL --key KEY --out FOLDER`";
    }
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
  if (entry.rebuild) {
    report.made.push_back({"can be had again", std::string(PartStateName(*entry.rebuild))});
  }
  for (auto one = history.verdicts.rbegin(); one != history.verdicts.rend(); ++one) {
    report.verdicts.push_back({.said = *one});
  }
  ASSIGN_OR_RETURN(const auto retirement,
                   RetirementException(request.run_id, request.trust, request.now, store.get()));
  if (retirement) report.exceptions.push_back(*retirement);
  if (retirement && !retirement->signed_by.empty() && !TrustForRetirements(request.trust)) {
    report.notes.push_back(
        "who signed for its retirement is as the history names them; --trust with a rule for "
        "retirements says whose keys count");
  }
  RETURN_IF_ERROR(AddRetirementRequest(request, store.get(), &report));
  std::vector<std::string> lists;
  RETURN_IF_ERROR(AddDeletions(request, store.get(), &report, &lists));
  RETURN_IF_ERROR(AddPolicyExceptions(request, manifest, &report));
  RETURN_IF_ERROR(AddPlaces(manifest, store.get(), &report));
  SignedVerdicts told;
  RETURN_IF_ERROR(AddStatements(request, manifest, store.get(), &report, &told));
  RETURN_IF_ERROR(AddRunEntries(request, lists, &report));
  Conclude(request, told, &report);
  return report;
}

}  // namespace rharness
