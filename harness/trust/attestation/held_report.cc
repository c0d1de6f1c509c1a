// Checks a report against the drill's entries in history and journal.
#include "harness/trust/attestation/held_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "harness/base/log.h"
#include "harness/drill/told_verdict.h"
#include "harness/execution/rerun/rerun_place.h"
#include "harness/history/entered_drill.h"
#include "reports/text.h"

namespace rharness {
namespace {

using RerunKey = std::pair<std::string, int>;  // of a run, by its number

class ReportCheck {
 public:
  ReportCheck(const Report& report, const EnteredDrill& entered, const std::string& where)
      : report_(report), entered_(entered), where_(where) {
    for (const ReportRun& run : report.runs) {
      runs_[run.run_id] = &run;
      for (const ReportRerun& rerun : run.reruns) reruns_[{run.run_id, rerun.index}] = &rerun;
    }
  }

  Status Check(const JournalContent& journal, const std::map<std::string, std::string>& digests) {
    if (report_.started != entered_.drill.started) {
      return Differs("the drill", "started", FormatTime(report_.started),
                     FormatTime(entered_.drill.started));
    }
    RETURN_IF_ERROR(CheckRuns());
    RETURN_IF_ERROR(CheckReruns());
    RETURN_IF_ERROR(CheckJournal(journal));
    for (const VerdictRecord& verdict : entered_.verdicts) {
      RETURN_IF_ERROR(CheckTold(*runs_.at(verdict.run_id), verdict, digests));
    }
    RETURN_IF_ERROR(CheckExitCode());
    if (older_ > 0) {
      LogWarning(fmt::format(
          "an older version of rharness entered this drill: the history has of {} what decided it, "
          "and nothing that holds headline and further reasons",
          Counted(older_, "verdict")));
    }
    return {};
  }

 private:
  static std::string RunWords(const std::string& run_id) { return "run " + SafeText(run_id); }
  static std::string RerunWords(const RerunKey& key) {
    return fmt::format("rerun {} of run {}", RerunName(key.second), SafeText(key.first));
  }

  Error Differs(const std::string& of, std::string_view member, const std::string& said,
                const std::string& held) const {
    return IntegrityError(fmt::format("of {} the report has the {} '{}'; the history has '{}'", of,
                                      member, SafeText(said, 200), SafeText(held, 200)),
                          where_);
  }

  // Last, since it follows from the verdicts, and from the states of families and of the drill.
  Status CheckExitCode() const {
    const std::optional<int>& held = entered_.drill.exit_code;
    if (!held || *held == report_.exit_code) return {};
    return Differs("the drill", "exit_code", std::to_string(report_.exit_code),
                   std::to_string(*held));
  }

  Status CheckRuns() const {
    std::set<std::string> entered;
    for (const VerdictRecord& verdict : entered_.verdicts) {
      entered.insert(verdict.run_id);
      const auto run = runs_.find(verdict.run_id);
      if (run == runs_.end()) {
        return IntegrityError(
            fmt::format("{} is not in the report; the history has that this drill found it {}",
                        RunWords(verdict.run_id), VerdictName(verdict.verdict)),
            where_);
      }
      RETURN_IF_ERROR(CheckVerdict(*run->second, verdict));
    }
    for (const auto& [run_id, run] : runs_) {
      if (entered.contains(run_id)) continue;
      return IntegrityError(fmt::format("{} is in the report; the history has no verdict on it of "
                                        "this drill",
                                        RunWords(run_id)),
                            where_);
    }
    return {};
  }

  Status CheckVerdict(const ReportRun& run, const VerdictRecord& held) const {
    if (held.verdict == run.verdict && held.decided == report_.ended) return {};
    return IntegrityError(
        fmt::format("the report says {} of run {} of drill {}, decided {}; the history has {}, {}",
                    VerdictName(run.verdict), SafeText(run.run_id), SafeText(report_.drill_id),
                    FormatTime(report_.ended), VerdictName(held.verdict), FormatTime(held.decided)),
        where_);
  }

  Status CheckReruns() const {
    std::set<RerunKey> entered;
    for (const RerunRecord& held : entered_.reruns) {
      const RerunKey key{held.run_id, held.rerun};
      entered.insert(key);
      const auto rerun = reruns_.find(key);
      if (rerun == reruns_.end()) {
        return IntegrityError(fmt::format("{} is not in the report; the history has that it {}",
                                          RerunWords(key), SafeText(held.outcome, 200)),
                              where_);
      }
      if (rerun->second->outcome != held.outcome) {
        return Differs(RerunWords(key), "outcome", rerun->second->outcome, held.outcome);
      }
    }
    for (const auto& [key, rerun] : reruns_) {
      if (entered.contains(key)) continue;
      return IntegrityError(
          fmt::format("{} is in the report; the history has none such", RerunWords(key)), where_);
    }
    return {};
  }

  Status CheckJournal(const JournalContent& journal) const {
    std::map<std::string, const RerunRecord*> by_job;
    for (const RerunRecord& held : entered_.reruns) {
      by_job[held.run_id + "." + RerunName(held.rerun)] = &held;
    }
    for (const auto& [job, step] : journal.last) {
      if (step.state != AttemptState::kCollected) continue;
      const auto held = by_job.find(job);
      if (held == by_job.end()) {
        if (IsReplicate(job)) continue;
        return IntegrityError(fmt::format("rerun {} is in the journal, and neither in the report "
                                          "nor in the history",
                                          SafeText(job)),
                              where_);
      }
      const std::string& sha256 = held->second->evidence_sha256;
      if (sha256.empty() || step.evidence_sha256.empty() || sha256 == step.evidence_sha256) {
        continue;
      }
      return IntegrityError(
          fmt::format("rerun {}: the journal has evidence of sha256 {}; the history has {}",
                      SafeText(job), SafeText(step.evidence_sha256, 80), sha256),
          where_);
    }
    return {};
  }

  // No verdict covers these.
  static bool IsReplicate(const std::string& job) {
    const auto dot = job.rfind('.');
    if (dot == job.npos) return false;
    const char* begin = job.data() + dot + 1;
    int number = 0;
    const auto read = std::from_chars(begin, job.data() + job.size(), number);
    return read.ec != std::errc() || read.ptr != job.data() + job.size();
  }

  Status CheckTold(const ReportRun& run, const VerdictRecord& held,
                   const std::map<std::string, std::string>& digests) {
    const std::string of = RunWords(run.run_id);
    const KeptReasons kept = ReadReasons(held.reasons);
    if (kept.decisive) RETURN_IF_ERROR(CheckReasons(of, run, *kept.decisive));
    if (!kept.told) {
      ++older_;
      return {};
    }
    if (run.headline != kept.told->headline) {
      return Differs(of, "headline", run.headline, kept.told->headline);
    }
    if (report_.version != kept.told->version) {
      return Differs(of, "version", report_.version, kept.told->version);
    }
    const auto digest = digests.find(run.run_id);
    const std::string sha256 = digest == digests.end() ? "none" : digest->second;
    if (sha256 == kept.told->run_sha256) return {};
    return IntegrityError(
        fmt::format("what the report says of {} has sha256 {}; the history has {}: verdict, "
                    "headline, decisive reasons and outcomes are as they were, so one of its other "
                    "members was changed, such as layers or reasons that decided nothing",
                    of, sha256, SafeText(kept.told->run_sha256, 80)),
        where_);
  }

  Status CheckReasons(const std::string& of, const ReportRun& run,
                      const std::vector<std::string>& held) const {
    const std::vector<std::string> said = DecisiveReasons(run.findings);
    if (said == held) return {};
    const auto [one, other] = std::ranges::mismatch(said, held);
    return Differs(of, "decisive reason", one == said.end() ? "none further" : *one,
                   other == held.end() ? "none further" : *other);
  }

  const Report& report_;
  const EnteredDrill& entered_;
  const std::string& where_;
  std::map<std::string, const ReportRun*> runs_;
  std::map<RerunKey, const ReportRerun*> reruns_;
  std::size_t older_ = 0;  // verdicts of an older version
};

Status RefuseTwice(const Report& report, const std::string& where) {
  std::set<std::string> runs;
  for (const ReportRun& run : report.runs) {
    if (!runs.insert(run.run_id).second) {
      return IntegrityError(fmt::format("run {} is there twice", SafeText(run.run_id)), where);
    }
    std::set<int> reruns;
    for (const ReportRerun& rerun : run.reruns) {
      if (reruns.insert(rerun.index).second) continue;
      return IntegrityError(
          fmt::format("rerun {} of run {} is there twice", rerun.index, SafeText(run.run_id)),
          where);
    }
  }
  return {};
}

}  // namespace

Result<std::string> HoldReport(const Report& report, const Json& json,
                               const JournalContent& journal, HistoryStore* store,
                               const std::string& where) {
  RETURN_IF_ERROR(RefuseTwice(report, where));
  ASSIGN_OR_RETURN(const auto entered, store->FindDrill(report.drill_id));
  if (!entered) {
    const std::string run =
        report.runs.empty() ? "a run" : "run " + SafeText(report.runs.front().run_id);
    return NotFound(
        fmt::format("the history has no verdict on {} of drill {}; expected the history that the "
                    "drill wrote to (--history){}",
                    run, SafeText(report.drill_id),
                    report.interrupted ? ", and a drill that went on to its end (--resume)" : ""),
        where);
  }
  RETURN_IF_ERROR(ReportCheck(report, *entered, where).Check(journal, RunDigests(json)));
  return entered->drill.drill_id;
}

}  // namespace rharness
