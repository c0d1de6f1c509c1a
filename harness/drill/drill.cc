// The drill, pass by pass.
#include "harness/drill/drill.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "harness/base/files.h"
#include "harness/base/log.h"
#include "harness/drill/drill_folder.h"
#include "harness/drill/drill_report.h"
#include "harness/drill/given_names.h"
#include "harness/drill/historical_runs.h"
#include "harness/drill/replicates.h"
#include "harness/drill/reruns.h"
#include "harness/drill/run_claims.h"
#include "harness/drill/settings.h"
#include "harness/history/store.h"
#include "harness/judge/compare_rerun.h"
#include "harness/judge/judge_family.h"
#include "harness/judge/judge_siblings.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;
using HistoryPtr = std::shared_ptr<HistoryStore>;

class Drill {
 public:
  Drill(DrillSettings settings, const DrillHooks& hooks, Clock* clock, HistoryPtr history,
        WorkFolder folder)
      : settings_(std::move(settings)),
        options_(settings_.options),
        hooks_(hooks),
        clock_(*clock),
        history_(std::move(history)),
        reruns_(settings_, hooks, clock, std::move(folder)) {}

  Result<Report> Run() {
    RETURN_IF_ERROR(LoadManifests());
    RETURN_IF_ERROR(reruns_.Begin(Launchers()));
    Plan plan = replicates_.PlanWith(Manifests(), options_.environment);
    plan.risks = settings_.risks;
    RETURN_IF_ERROR(WriteJsonFile(options_.out / "plan.json", ToJson(plan)));
    RETURN_IF_ERROR(Execute(plan.reruns));
    JudgeAll();
    RETURN_IF_ERROR(MakeReplicates(plan));
    if (options_.confirm) RETURN_IF_ERROR(Confirm());
    for (auto& [run_id, run] : runs_) {
      run.reruns.clear();
      run.merged = {};
    }
    const bool interrupted = reruns_.IsStopped();
    ASSIGN_OR_RETURN(const auto last_success, history_->LastSuccess());
    std::vector<std::string> notes = reruns_.Notes();
    std::ranges::move(replicates_.Notes(), std::back_inserter(notes));
    std::vector<std::string> damage = reruns_.damage();
    std::ranges::copy(damage_, std::back_inserter(damage));
    Report report = BuildReport({.settings = settings_,
                                 .plan = plan,
                                 .runs = runs_,
                                 .families = judged_,
                                 .siblings = siblings_,
                                 .notes = notes,
                                 .damage = damage,
                                 .last_success = last_success,
                                 .ended = clock_.Now(),
                                 .interrupted = interrupted});
    ASSIGN_OR_RETURN(const auto digests, WriteReports(&report, options_.out));
    if (!interrupted) {
      RETURN_IF_ERROR(WithWayOut(WriteHistory(report, digests, runs_, options_.out, history_.get()),
                                 options_.out));
      RETURN_IF_ERROR(replicates_.Keep(options_.out, history_.get()));
      RETURN_IF_ERROR(AgreeOnEnd(&report));
    }
    return report;
  }

 private:
  // A drill that is resumed and finds nothing new is not entered again: it ended when it was.
  Status AgreeOnEnd(Report* report) const {
    ASSIGN_OR_RETURN(const auto entered, history_->FindDrill(report->drill_id));
    if (!entered || !entered->drill.ended || *entered->drill.ended == report->ended) return {};
    if (report->last_success == report->ended) report->last_success = entered->drill.ended;
    report->ended = *entered->drill.ended;
    report->started = entered->drill.started;
    const auto written = WriteReports(report, options_.out);
    return written.ok() ? Status() : Status(written.error());
  }

  // Reads all inputs of verdicts before anything runs: an incomplete read ends the drill, since
  // less data could give another verdict.
  Status LoadManifests() {
    const auto of_family = [this](const std::string& family, const std::vector<Manifest>& members) {
      families_.emplace(family, Family(members));
      replicates_.AddRecorded(members);
    };
    ASSIGN_OR_RETURN(auto manifests,
                     LoadRunsOfFamilies(settings_.run_ids, of_family, history_.get()));
    for (auto& [run_id, manifest] : manifests) runs_[run_id].manifest = std::move(manifest);
    for (const std::string& run_id : settings_.run_ids) {
      RETURN_IF_ERROR(replicates_.Load(runs_.at(run_id).manifest, history_.get()));
    }
    return {};
  }

  std::vector<Manifest> Manifests() const {
    std::vector<Manifest> manifests;
    for (const std::string& run_id : settings_.run_ids) {
      manifests.push_back(runs_.at(run_id).manifest);
    }
    return manifests;
  }

  std::vector<std::string> Launchers() const {
    std::vector<std::string> launchers;
    for (const auto& [run_id, run] : runs_) launchers.push_back(LauncherOf(run.manifest, options_));
    return launchers;
  }

  Status Execute(const std::vector<PlannedRerun>& reruns) {
    return reruns_.Execute(
        reruns, [this](const PlannedRerun& rerun) { return InputOf(rerun); },
        [this](const PlannedRerun& rerun, Evidence evidence) {
          RunState& run = runs_.at(rerun.run_id);
          (rerun.replicate > 0 ? run.replicates[rerun.replicate] : run.evidence[rerun.rerun]) =
              std::move(evidence);
        });
  }

  RerunInput InputOf(const PlannedRerun& rerun) const {
    EnvironmentOverrides environment = options_.environment;
    if (rerun.replicate > 0) environment[kReplicateVariable] = std::to_string(rerun.replicate);
    return {runs_.at(rerun.run_id).manifest, options_.places, std::move(environment)};
  }

  void JudgeAll() {
    const auto began = clock_.Monotonic();
    std::size_t compared = 0;
    for (auto& [run_id, run] : runs_) {
      if (hooks_.progress) {
        const auto spent = clock_.Monotonic() - began;
        Progress progress = CountProgress("runs compared", compared, runs_.size(), spent, run_id);
        progress.elapsed = reruns_.Elapsed();
        hooks_.progress(progress);
      }
      Compare(&run);
      ++compared;
    }
    JudgeRuns();
  }

  // What has not been compared yet.
  void Compare(RunState* run) {
    std::vector<std::string> damage;
    for (const auto& [rerun, evidence] : run->evidence) {
      if (run->reruns.contains(rerun)) continue;
      run->reruns.emplace(
          rerun, CompareRerun(run->manifest, evidence, options_.places, options_.out, &damage));
    }
    for (std::string& one : damage) {
      if (std::ranges::find(damage_, one) == damage_.end()) damage_.push_back(std::move(one));
    }
  }

  // Curves of all runs first; then runs of one configuration, in the order of the selection.
  void JudgeRuns() {
    replicates_.Settle(settings_.run_ids, &runs_);
    std::vector<RunState*> all;
    for (auto& [run_id, run] : runs_) all.push_back(&run);
    siblings_ = MergeAndJudgeSiblings(all);
    std::vector<std::string> order;
    std::map<std::string, std::vector<RunState*>> by_configuration;
    for (const std::string& run_id : settings_.run_ids) {
      RunState& run = runs_.at(run_id);
      std::vector<RunState*>& members = by_configuration[ConfigurationKey(run.manifest)];
      if (members.empty()) order.push_back(ConfigurationKey(run.manifest));
      members.push_back(&run);
    }
    judged_.clear();
    for (const std::string& configuration : order) {
      const std::vector<RunState*>& members = by_configuration.at(configuration);
      auto family = JudgeTogether(members, families_.at(members.front()->manifest.family));
      if (family) judged_.push_back(std::move(*family));
    }
    NameApart(&judged_);
  }

  // Measures the effect of rounding if rounding may be the only change.
  Status MakeReplicates(const Plan& plan) {
    for (;;) {  // of each configuration, then of the runs that these do not decide
      if (reruns_.IsStopped()) return {};
      const auto missing = replicates_.Missing(settings_.run_ids, runs_, plan);
      if (missing.empty()) return {};
      RETURN_IF_ERROR(Execute(missing));
      JudgeRuns();
    }
  }

  // A drift seen in a single rerun is only a suspicion: those runs get one more.
  Status Confirm() {
    if (reruns_.IsStopped()) return {};
    std::vector<PlannedRerun> reruns;
    for (const auto& [run_id, run] : runs_) {
      if (!run.comparison.needs_confirmation) continue;
      const int next = run.evidence.empty() ? 1 : run.evidence.rbegin()->first + 1;
      reruns.push_back(PlanRerun(run.manifest, next, options_.plan));
      // On the node that saw it: a different node would answer a different question.
      for (const auto& [rerun, evidence] : run.evidence) {
        const bool there = !reruns.back().node.empty() && evidence.outcome.Succeeded();
        if (there) reruns.back().node = evidence.machine.node;
      }
    }
    if (reruns.empty()) return {};
    LogInfo(fmt::format("a drift is suspected in {} {}; rerunning once more to confirm",
                        reruns.size(), reruns.size() == 1 ? "run" : "runs"));
    RETURN_IF_ERROR(Execute(reruns));
    for (const PlannedRerun& rerun : reruns) Compare(&runs_.at(rerun.run_id));
    JudgeRuns();
    return {};
  }

  const DrillSettings settings_;
  const DrillOptions& options_;
  const DrillHooks& hooks_;
  Clock& clock_;
  HistoryPtr history_;
  std::map<std::string, RunState> runs_;
  std::map<std::string, Family> families_;
  Replicates replicates_{options_.plan};
  std::vector<FamilyComparison> judged_;
  std::vector<SiblingGroup> siblings_;
  std::vector<std::string> damage_;  // that comparing met
  Reruns reruns_;
};

// Selects before the folder is made: a slip in the selection must not use it up.
Result<Report> StartDrill(const DrillOptions& options, const DrillHooks& hooks, Clock* clock) {
  RETURN_IF_ERROR(RefuseForeignFolder(options.out));
  ASSIGN_OR_RETURN(const HistoryPtr history, HistoryStore::OpenExisting(options.history));
  DrillSettings settings{.drill_id = MakeDrillId(clock->Now()) + OfCandidate(options.candidate),
                         .started = clock->Now(),
                         .options = options};
  ASSIGN_OR_RETURN(const std::vector<std::string> absent, SpreadOverNodes(&settings.options));
  RunClaims claims(options.history, settings.drill_id, hooks.claims, history);
  RETURN_IF_ERROR(claims.Choose(&settings));
  RETURN_IF_ERROR(CheckGivenNames(options, settings.run_ids, history.get()));
  settings.elsewhere.insert(settings.elsewhere.end(), absent.begin(), absent.end());
  ASSIGN_OR_RETURN(WorkFolder folder, BeginWorkFolder(options.out, ToJson(settings)));
  const DrillHooks watched = claims.Watch(hooks);
  Drill drill(std::move(settings), watched, clock, history, std::move(folder));
  return claims.Unless(drill.Run());
}

Result<Report> ResumeDrill(const DrillOptions& options, const DrillHooks& hooks, Clock* clock) {
  ASSIGN_OR_RETURN(WorkFolder folder, ResumeWorkFolder(options.out));
  ASSIGN_OR_RETURN(
      DrillSettings settings,
      ParseDrillSettings(folder.past.header, (options.out / "journal.jsonl").string()));
  RETURN_IF_ERROR(ResumeSettings(options, &settings));
  ASSIGN_OR_RETURN(const HistoryPtr history, HistoryStore::OpenExisting(settings.options.history));
  RunClaims claims(settings.options.history, settings.drill_id, hooks.claims, history);
  RETURN_IF_ERROR(claims.TakeAgain(settings));
  const DrillHooks watched = claims.Watch(hooks);
  Drill drill(std::move(settings), watched, clock, history, std::move(folder));
  return claims.Unless(drill.Run());
}

}  // namespace

Result<Plan> PlanDrill(const DrillOptions& given, Clock* clock) {
  DrillOptions options = given;
  RETURN_IF_ERROR(RequireRoot(options));
  ASSIGN_OR_RETURN(const std::vector<std::string> absent, SpreadOverNodes(&options));
  ASSIGN_OR_RETURN(const HistoryPtr history, HistoryStore::OpenExisting(options.history));
  ASSIGN_OR_RETURN(Plan plan, PlanUnclaimed(options, clock->Now(), history.get()));
  plan.notes.insert(plan.notes.end(), absent.begin(), absent.end());
  return plan;
}

Result<Report> RunDrill(const DrillOptions& given, const DrillHooks& hooks, Clock* clock) {
  ASSIGN_OR_RETURN(const DrillOptions options, WithAbsolutePaths(given));
  return options.resume ? ResumeDrill(options, hooks, clock) : StartDrill(options, hooks, clock);
}

}  // namespace rharness
