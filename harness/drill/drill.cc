// The drill, pass by pass.
#include "harness/drill/drill.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "harness/base/files.h"
#include "harness/base/folder_lock.h"
#include "harness/base/held_folder.h"
#include "harness/base/log.h"
#include "harness/base/trouble.h"
#include "harness/dispatch/scheduler.h"
#include "harness/drill/compare_rerun.h"
#include "harness/drill/dispatching.h"
#include "harness/drill/drill_folder.h"
#include "harness/drill/drill_report.h"
#include "harness/drill/historical_runs.h"
#include "harness/drill/journal.h"
#include "harness/drill/judge_family.h"
#include "harness/drill/judge_siblings.h"
#include "harness/drill/replicates.h"
#include "harness/drill/run_claims.h"
#include "harness/drill/settings.h"
#include "harness/drill/substitutes.h"
#include "harness/history/store.h"
#include "harness/rerun/rerun.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;
using HistoryPtr = std::shared_ptr<HistoryStore>;

class Drill {
 public:
  Drill(DrillSettings settings, const DrillHooks& hooks, Clock* clock, HistoryPtr history,
        Journal journal, JournalContent past)
      : settings_(std::move(settings)),
        options_(settings_.options),
        hooks_(hooks),
        clock_(*clock),
        history_(std::move(history)),
        journal_(std::move(journal)),
        past_(std::move(past)) {}

  Result<Report> Run() {
    RETURN_IF_ERROR(LoadManifests());
    ASSIGN_OR_RETURN(substitutes_, Substitutes::Load(options_.substitutes, settings_.started));
    notes_ = substitutes_.Notes();
    KillLeftovers();
    RETURN_IF_ERROR(journal_.AppendSession(JobSession()));
    RETURN_IF_ERROR(BeginDispatching());
    Plan plan = replicates_.PlanWith(Manifests(), options_.environment);
    plan.risks = settings_.risks;
    RETURN_IF_ERROR(WriteJsonFile(options_.out / "plan.json", ToJson(plan)));
    began_ = clock_.Monotonic();
    RETURN_IF_ERROR(Execute(plan.reruns));
    JudgeAll();
    RETURN_IF_ERROR(MakeReplicates(plan));
    if (options_.confirm) RETURN_IF_ERROR(Confirm());
    for (auto& [run_id, run] : runs_) {
      run.reruns.clear();
      run.merged = {};
    }
    const bool interrupted = IsStopped();
    if (const auto storm = storm_.Raging()) notes_.push_back(*storm + "; --resume goes on");
    ASSIGN_OR_RETURN(const auto last_success, history_->LastSuccess());
    std::ranges::move(replicates_.Notes(), std::back_inserter(notes_));
    Report report = BuildReport({.settings = settings_,
                                 .plan = plan,
                                 .runs = runs_,
                                 .families = judged_,
                                 .siblings = siblings_,
                                 .notes = notes_,
                                 .damage = damage_,
                                 .last_success = last_success,
                                 .ended = clock_.Now(),
                                 .interrupted = interrupted});
    RETURN_IF_ERROR(WriteReports(report, options_.out));
    if (!interrupted) {
      RETURN_IF_ERROR(
          WithWayOut(WriteHistory(report, runs_, options_.out, history_.get()), options_.out));
      RETURN_IF_ERROR(replicates_.Keep(options_.out, history_.get()));
    }
    return report;
  }

 private:
  // All that verdicts rest on is read before anything runs: what cannot be read whole ends the
  // drill, since on less than was planned another verdict may come out.
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

  // A drill that was killed may have left children behind; they must not share the machine.
  void KillLeftovers() const {
    for (const std::string& session : past_.sessions) KillSession(session);
    for (const auto& [job, entry] : past_.last) {
      const std::string run_id = job.substr(0, job.rfind('.'));
      if (entry.state == AttemptState::kStarted && entry.pid > 0 && runs_.contains(run_id)) {
        KillLeftoverGroup(entry.pid, entry.start_ticks);
      }
    }
  }

  // What an earlier process of this drill already finished. What is damaged of it is told, and
  // rerun.
  Result<std::optional<Evidence>> Finished(const PlannedRerun& rerun) {
    const std::optional<Evidence> none;
    const auto found = past_.last.find(rerun.job);
    if (found == past_.last.end() || found->second.state != AttemptState::kCollected) return none;
    Result<Evidence> evidence = LoadIntact(options_.out, rerun, found->second);
    if (evidence.ok()) {
      // That of a finished rerun may have outlived a process that was killed, or a disk in trouble.
      const fs::path workspace = RerunFolder({}, rerun.run_id, rerun.rerun) / "workspace";
      const Status removed =
          options_.keep_workspaces ? Status() : RemoveTreeBelow(options_.out, workspace);
      if (!removed.ok()) LogWarning(removed.error().ToString());
      return std::optional(std::move(*evidence));
    }
    if (IsTrouble(evidence.error())) return evidence.error();
    damage_.push_back(evidence.error().ToString() + "; it was rerun");
    LogWarning(evidence.error().ToString() + "; rerunning");
    return none;
  }

  Status Execute(const std::vector<PlannedRerun>& reruns) {
    std::vector<PlannedRerun> due;
    std::vector<std::pair<double, MonotonicTime>> took;
    for (const PlannedRerun& rerun : reruns) {
      ASSIGN_OR_RETURN(auto evidence, Finished(rerun));
      if (evidence) {
        ++done_;
        if (evidence->outcome.Succeeded()) {
          took.emplace_back(rerun.expected_seconds, evidence->outcome.wall);
        }
        runs_.at(rerun.run_id).PlaceOf(rerun) = std::move(*evidence);
      } else {
        due.push_back(rerun);
      }
    }
    JobQueue queue(due, options_.plan.slots, options_.plan.jobs, options_.retry);
    for (const auto& [expected_seconds, wall] : took) queue.Learn(expected_seconds, wall);
    const SchedulerHooks hooks{
        .ticket = [this](const PlannedRerun& rerun,
                         const Start& start) { return MakeTicket(rerun, start); },
        .ended = [this](const PlannedRerun& rerun, AttemptEnd end) { Take(rerun, std::move(end)); },
        .progress = [this](const Progress& progress) { ShowReruns(progress); },
        .should_stop = hooks_.should_stop,
        .may_start = [this] { return !IsQuiet(options_.quiet_hours, LocalMinute(clock_.Now())); },
        .storm = &storm_};
    RETURN_IF_ERROR(RunQueue(&queue, dispatching_.dispatcher(), hooks, &clock_));
    done_ += queue.finished() - queue.dropped();
    return {};
  }

  // By a person, or because nothing that is started can end well.
  bool IsStopped() const {
    return storm_.Raging().has_value() || (hooks_.should_stop && hooks_.should_stop());
  }

  // A queue knows of its own reruns; the drill counts those of earlier queues and processes, too.
  void ShowReruns(Progress progress) const {
    if (!hooks_.progress) return;
    progress.finished += done_;
    progress.total += done_;
    progress.elapsed = clock_.Monotonic() - began_;
    hooks_.progress(progress);
  }

  Status BeginDispatching() {
    std::vector<std::string> launchers;
    for (const auto& [run_id, run] : runs_) launchers.push_back(LauncherOf(run.manifest, options_));
    return dispatching_.Begin(
        options_, settings_.drill_id, launchers,
        [this](const RerunStep& step) { return journal_.Append(step); }, hooks_.should_stop,
        &clock_, &notes_);
  }

  Ticket MakeTicket(const PlannedRerun& rerun, const Start& start) const {
    const Manifest& manifest = runs_.at(rerun.run_id).manifest;
    LogDebug(fmt::format("{}: attempt {} starts", rerun.job, start.attempt));
    EnvironmentOverrides environment = options_.environment;
    if (rerun.replicate > 0) environment[kReplicateVariable] = std::to_string(rerun.replicate);
    return {.drill_id = settings_.drill_id,
            .rerun = rerun.rerun,
            .attempt = start.attempt,
            .launcher = LauncherOf(manifest, options_),
            .container_root = options_.container_root,
            .keep_workspace = options_.keep_workspaces,
            .observe = !options_.no_observe,
            .resources = rerun.resources,
            // A scheduler gives its tasks GPUs itself.
            .gpus = options_.dispatch == "local" ? start.gpus : std::vector<int>(),
            .places = options_.places,
            .environment = std::move(environment),
            .substitutions = substitutes_.For(manifest),
            .node = rerun.node,
            .manifest = manifest};
  }

  void Take(const PlannedRerun& rerun, AttemptEnd end) {
    const Evidence& evidence = end.evidence;
    LogDebug(
        fmt::format("{}: {}", rerun.job,
                    evidence.obstacle.empty() ? evidence.outcome.ToString() : evidence.obstacle));
    runs_.at(rerun.run_id).PlaceOf(rerun) = std::move(end.evidence);
  }

  void JudgeAll() {
    const auto began = clock_.Monotonic();
    std::size_t compared = 0;
    for (auto& [run_id, run] : runs_) {
      if (hooks_.progress) {
        const auto spent = clock_.Monotonic() - began;
        Progress progress = CountProgress("runs compared", compared, runs_.size(), spent, run_id);
        progress.elapsed = clock_.Monotonic() - began_;
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

  // Where rounding may be all that moved, how far it carries is measured.
  Status MakeReplicates(const Plan& plan) {
    for (;;) {  // of each configuration, then of the runs that these do not tell of
      if (IsStopped()) return {};
      const auto missing = replicates_.Missing(settings_.run_ids, runs_, plan);
      if (missing.empty()) return {};
      RETURN_IF_ERROR(Execute(missing));
      JudgeRuns();
    }
  }

  // A drift seen in a single rerun is only a suspicion: those runs get one more.
  Status Confirm() {
    if (IsStopped()) return {};
    std::vector<PlannedRerun> reruns;
    for (const auto& [run_id, run] : runs_) {
      if (!run.comparison.needs_confirmation) continue;
      const int next = run.evidence.empty() ? 1 : run.evidence.rbegin()->first + 1;
      reruns.push_back(PlanRerun(run.manifest, next, options_.plan));
      // On the node that it was seen on: another one would answer another question.
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
  Journal journal_;
  const JournalContent past_;
  MonotonicTime began_{0};
  int done_ = 0;  // reruns of queues that have ended, and of earlier processes of this drill
  std::map<std::string, RunState> runs_;
  std::map<std::string, Family> families_;
  Replicates replicates_{options_.plan};
  StormWatch storm_{options_.retry.storm};
  Substitutes substitutes_;
  std::vector<FamilyComparison> judged_;
  std::vector<SiblingGroup> siblings_;
  std::vector<std::string> notes_;
  std::vector<std::string> damage_;
  Dispatching dispatching_;  // last member: it uses the others
};

// Selects before the folder is made: a slip in the selection must not use it up.
Result<Report> StartDrill(const DrillOptions& options, const DrillHooks& hooks, Clock* clock) {
  RETURN_IF_ERROR(RefuseForeignFolder(options.out));
  ASSIGN_OR_RETURN(const HistoryPtr history, HistoryStore::OpenExisting(options.history));
  DrillSettings settings{
      .drill_id = MakeDrillId(clock->Now()), .started = clock->Now(), .options = options};
  ASSIGN_OR_RETURN(const std::vector<std::string> absent, SpreadOverNodes(&settings.options));
  RunClaims claims(options.history, settings.drill_id, hooks.claims, history);
  RETURN_IF_ERROR(claims.Choose(&settings));
  settings.elsewhere.insert(settings.elsewhere.end(), absent.begin(), absent.end());
  ASSIGN_OR_RETURN(const FolderLock lock, FolderLock::TakeOwn(options.out));
  RemoveStrays(options.out);
  ASSIGN_OR_RETURN(Journal journal,
                   Journal::Create(options.out / "journal.jsonl", ToJson(settings)));
  RETURN_IF_ERROR(MakeRunsFolder(options.out));
  const DrillHooks watched = claims.Watch(hooks);
  Drill drill(std::move(settings), watched, clock, history, std::move(journal), {});
  return claims.Unless(drill.Run());
}

Result<Report> ResumeDrill(const DrillOptions& options, const DrillHooks& hooks, Clock* clock) {
  RETURN_IF_ERROR(RequireDrill(options.out));
  ASSIGN_OR_RETURN(const FolderLock lock, FolderLock::TakeOwn(options.out));
  for (const char* name : {"journal.jsonl", "runs"}) {
    const Status own = RequireOwn(options.out / name);
    if (!own.ok() && own.error().code != ErrorCode::kNotFound) return own.error();
  }
  RemoveStrays(options.out);
  RETURN_IF_ERROR(MakeRunsFolder(options.out));
  JournalContent past;
  ASSIGN_OR_RETURN(Journal journal, Journal::Open(options.out / "journal.jsonl", &past));
  ASSIGN_OR_RETURN(DrillSettings settings,
                   ParseDrillSettings(past.header, (options.out / "journal.jsonl").string()));
  RETURN_IF_ERROR(RefuseOtherSettings(options, settings));
  RETURN_IF_ERROR(RefuseLinks(options.out, settings.run_ids));
  settings.options.out = options.out;
  settings.options.retry = options.retry;
  settings.options.quiet_hours = options.quiet_hours;
  ASSIGN_OR_RETURN(const HistoryPtr history, HistoryStore::OpenExisting(settings.options.history));
  RunClaims claims(settings.options.history, settings.drill_id, hooks.claims, history);
  RETURN_IF_ERROR(claims.TakeAgain(settings));
  const DrillHooks watched = claims.Watch(hooks);
  Drill drill(std::move(settings), watched, clock, history, std::move(journal), std::move(past));
  return claims.Unless(drill.Run());
}

}  // namespace

Result<Plan> PlanDrill(const DrillOptions& given, Clock* clock) {
  DrillOptions options = given;
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
