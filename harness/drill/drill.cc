// The drill, pass by pass.
#include "harness/drill/drill.h"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <utility>

#include "harness/base/digest.h"
#include "harness/base/files.h"
#include "harness/base/folder_lock.h"
#include "harness/base/log.h"
#include "harness/base/version.h"
#include "harness/drill/compare_rerun.h"
#include "harness/drill/historical_runs.h"
#include "harness/drill/journal.h"
#include "harness/drill/report_of.h"
#include "harness/drill/rerun.h"
#include "harness/drill/settings.h"
#include "harness/history/location.h"
#include "harness/history/store.h"
#include "reports/metrics.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

// Everything one run gathers on its way to a verdict.
struct RunState {
  Manifest manifest;
  std::map<int, Evidence> evidence;  // by rerun
  RunComparison comparison;
  Judgement judgement;
};

class Drill {
 public:
  Drill(DrillSettings settings, const DrillHooks& hooks, Clock* clock,
        std::unique_ptr<HistoryStore> history, Journal journal, JournalContent past)
      : settings_(std::move(settings)),
        options_(settings_.options),
        hooks_(hooks),
        clock_(*clock),
        history_(std::move(history)),
        journal_(std::move(journal)),
        past_(std::move(past)) {}

  Result<Report> Run() {
    RETURN_IF_ERROR(LoadManifests());
    RETURN_IF_ERROR(MakeLaunchers());
    RETURN_IF_ERROR(KillLeftovers());
    Plan plan = BuildPlan(Manifests(), options_.plan);
    RETURN_IF_ERROR(WriteJsonFile(options_.out / "plan.json", ToJson(plan)));
    RETURN_IF_ERROR(Execute(plan.reruns));
    JudgeAll();
    if (options_.confirm) RETURN_IF_ERROR(Confirm());
    Report report = BuildReport(plan);
    RETURN_IF_ERROR(WriteReports(report, options_.out));
    if (!report.interrupted) RETURN_IF_ERROR(WriteHistory(report));
    return report;
  }

 private:
  Status LoadManifests() {
    ASSIGN_OR_RETURN(std::vector<Manifest> runs, LoadRuns(settings_.run_ids, history_.get()));
    for (Manifest& manifest : runs) {
      const std::string run_id = manifest.run_id;
      runs_[run_id].manifest = std::move(manifest);
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

  // The launchers that the selected manifests need; one that cannot be had is an obstacle of its
  // reruns, not of the drill.
  Status MakeLaunchers() {
    for (const auto& [run_id, run] : runs_) {
      const std::string& kind = run.manifest.image.kind;
      if (launchers_.contains(kind)) continue;
      std::string name = options_.launcher;
      if (name == "auto") name = kind == "oci" ? "podman" : "host";
      if ((name == "host") != (kind == "host")) continue;
      auto launcher = MakeLauncher(name);
      if (!launcher.ok() && launcher.error().code == ErrorCode::kInvalidInput) {
        return launcher.error();
      }
      if (!launcher.ok()) {
        notes_.push_back(launcher.error().ToString());
        continue;
      }
      launchers_[kind] = std::move(*launcher);
    }
    return {};
  }

  // A drill that was killed may have left children behind; they must not share the machine.
  Status KillLeftovers() {
    for (const auto& [job, entry] : past_.last) {
      if (entry.state == JobState::kStarted && entry.pid > 0) {
        KillLeftoverGroup(entry.pid, entry.start_ticks);
      }
    }
    return {};
  }

  // Evidence that an earlier, interrupted process of this drill already wrote, if it is intact.
  std::optional<Evidence> Finished(const PlannedRerun& rerun) const {
    const auto found = past_.last.find(rerun.job);
    if (found == past_.last.end() || found->second.state != JobState::kCollected) {
      return std::nullopt;
    }
    const fs::path path = RerunFolder(options_.out, rerun.run_id, rerun.rerun) / "evidence.json";
    const auto text = ReadFile(path);
    if (!text.ok() || Sha256HexOf(*text) != found->second.evidence_sha256) {
      LogWarning(fmt::format("{}: not the evidence that was journalled; rerunning", path.string()));
      return std::nullopt;
    }
    auto evidence = LoadEvidence(path);
    if (!evidence.ok()) return std::nullopt;
    return std::move(*evidence);
  }

  Status Execute(const std::vector<PlannedRerun>& reruns) {
    std::vector<PlannedRerun> due;
    for (const PlannedRerun& rerun : reruns) {
      if (auto evidence = Finished(rerun)) {
        runs_.at(rerun.run_id).evidence[rerun.rerun] = std::move(*evidence);
      } else {
        due.push_back(rerun);
      }
    }
    const RerunContext context = MakeContext();
    JobQueue queue(due, options_.plan.slots, options_.plan.jobs, options_.retry);
    SchedulerHooks hooks{
        .work = [&](const PlannedRerun& rerun, int attempt,
                    const std::vector<int>& gpus) { return Work(rerun, attempt, gpus, context); },
        .progress = hooks_.progress,
        .should_stop = hooks_.should_stop};
    return RunQueue(&queue, hooks, &clock_);
  }

  RerunContext MakeContext() {
    RerunContext context{.drill_folder = options_.out,
                         .places = options_.places,
                         .executor = executor_.get(),
                         .journal = &journal_,
                         .cache = &cache_,
                         .clock = &clock_,
                         .environment = options_.environment,
                         .keep_workspaces = options_.keep_workspaces,
                         .should_cancel = hooks_.should_stop};
    for (const auto& [kind, launcher] : launchers_) context.launchers[kind] = launcher.get();
    return context;
  }

  Result<AttemptEnd> Work(const PlannedRerun& rerun, int attempt, const std::vector<int>& gpus,
                          const RerunContext& context) {
    RunState& run = runs_.at(rerun.run_id);
    ASSIGN_OR_RETURN(RerunResult result, CarryOut(run.manifest, rerun, attempt, gpus, context));
    const std::scoped_lock lock(mutex_);
    run.evidence[rerun.rerun] = std::move(result.evidence);
    return result.infrastructure ? AttemptEnd::kInfrastructure : AttemptEnd::kFinal;
  }

  void JudgeAll() {
    for (auto& [run_id, run] : runs_) JudgeRun(&run);
  }

  void JudgeRun(RunState* run) {
    const Manifest& manifest = run->manifest;
    run->comparison = RunComparison{.run_id = manifest.run_id,
                                    .family = manifest.family,
                                    .declared_bitwise = manifest.determinism.declared == "bitwise"};
    std::vector<Evidence> compared;
    for (const auto& [rerun, evidence] : run->evidence) {
      run->comparison.reruns.push_back(
          CompareRerun(manifest, evidence, options_.places, options_.out));
      if (run->comparison.reruns.back().state == RerunComparison::State::kCompared) {
        compared.push_back(evidence);
      }
    }
    run->comparison.metrics = DecideMetrics(manifest, FamilyOf(manifest), compared);
    run->judgement = Judge(run->comparison);
  }

  const Family& FamilyOf(const Manifest& manifest) {
    const auto found = families_.find(manifest.family);
    if (found != families_.end()) return found->second;
    auto members = history_->LoadFamily(manifest.family);
    if (!members.ok()) {
      notes_.push_back(fmt::format("family '{}' could not be read whole: {}", manifest.family,
                                   members.error().ToString()));
      return families_.emplace(manifest.family, Family({manifest})).first->second;
    }
    return families_.emplace(manifest.family, Family(*members)).first->second;
  }

  // A drift seen in a single rerun is only a suspicion: those runs get one more.
  Status Confirm() {
    if (hooks_.should_stop && hooks_.should_stop()) return {};
    std::vector<PlannedRerun> reruns;
    for (const auto& [run_id, run] : runs_) {
      if (!run.judgement.needs_confirmation) continue;
      const int next = run.evidence.empty() ? 1 : run.evidence.rbegin()->first + 1;
      reruns.push_back(PlanRerun(run.manifest, next, options_.plan));
    }
    if (reruns.empty()) return {};
    LogInfo(fmt::format("a drift is suspected in {} {}; rerunning once more to confirm",
                        reruns.size(), reruns.size() == 1 ? "run" : "runs"));
    RETURN_IF_ERROR(Execute(reruns));
    for (const PlannedRerun& rerun : reruns) JudgeRun(&runs_.at(rerun.run_id));
    return {};
  }

  Report BuildReport(const Plan& plan) {
    Report report{
        .title = fmt::format("Drill of {} {}", runs_.size(), runs_.size() == 1 ? "run" : "runs"),
        .drill_id = settings_.drill_id,
        .version = kVersion,
        .started = settings_.started,
        .ended = clock_.Now(),
        .history = options_.history,
        .selection = options_.selection.empty() ? "all" : options_.selection,
        .launcher = options_.launcher,
        .executor = options_.executor,
        .host = DescribeHost(CaptureEnvironment()),
        .interrupted = hooks_.should_stop && hooks_.should_stop(),
        .notes = notes_};
    report.notes.insert(report.notes.end(), plan.notes.begin(), plan.notes.end());
    for (const std::string& run_id : settings_.run_ids) {
      const RunState& run = runs_.at(run_id);
      if (run.evidence.empty()) {
        if (report.interrupted) report.notes.push_back(run_id + ": not reached");
        continue;
      }
      std::vector<Evidence> evidence;
      for (const auto& [rerun, one] : run.evidence) evidence.push_back(one);
      ReportRun reported = BuildReportRun(run.manifest, run.comparison, run.judgement, evidence);
      AddStderr(evidence, &reported);
      report.runs.push_back(std::move(reported));
    }
    Tally(&report);
    // What was left out was not verified: a partial drill never looks like a whole one.
    if (report.interrupted) report.exit_code = std::max(report.exit_code, 4);
    if (!plan.left_out.empty() && report.exit_code == 0) report.exit_code = 3;
    return report;
  }

  // The end of what a run that did not succeed said on stderr.
  void AddStderr(const std::vector<Evidence>& evidence, ReportRun* run) const {
    constexpr std::size_t kTail = 2000;
    for (std::size_t i = 0; i < evidence.size(); ++i) {
      if (evidence[i].stderr_path.empty() || run->reruns[i].state == "compared") continue;
      const auto text = ReadFile(options_.out / evidence[i].stderr_path);
      if (!text.ok()) continue;
      run->reruns[i].stderr_tail =
          text->size() > kTail ? "..." + text->substr(text->size() - kTail) : *text;
    }
  }

  Status WriteHistory(const Report& report) {
    std::vector<RerunRecord> reruns;
    std::vector<VerdictRecord> verdicts;
    for (const ReportRun& run : report.runs) {
      Json reasons = Json::MakeArray();
      for (const Finding& finding : run.reasons) {
        if (finding.decisive) reasons.Append(finding.code + ": " + finding.message);
      }
      verdicts.push_back({.drill_id = report.drill_id,
                          .run_id = run.run_id,
                          .verdict = std::string(VerdictName(run.verdict)),
                          .decided = report.ended,
                          .reruns = static_cast<int>(run.reruns.size()),
                          .reasons = reasons.Dump()});
      for (const ReportRerun& rerun : run.reruns) {
        const auto text = ReadFile(options_.out / rerun.evidence_path);
        reruns.push_back({.drill_id = report.drill_id,
                          .run_id = run.run_id,
                          .rerun = rerun.index,
                          .outcome = rerun.outcome,
                          .wall_seconds = rerun.wall_seconds,
                          .evidence_sha256 = text.ok() ? Sha256HexOf(*text) : ""});
      }
    }
    return history_->AddDrill(report.drill_id, report.started, reruns, verdicts);
  }

  const DrillSettings settings_;
  const DrillOptions& options_;
  const DrillHooks& hooks_;
  Clock& clock_;
  std::unique_ptr<HistoryStore> history_;
  Journal journal_;
  const JournalContent past_;
  std::map<std::string, std::unique_ptr<Launcher>> launchers_;
  std::unique_ptr<Executor> executor_ = MakeLocalExecutor();
  ContentCache cache_;
  std::mutex mutex_;  // guards evidence while reruns are under way
  std::map<std::string, RunState> runs_;
  std::map<std::string, Family> families_;
  std::vector<std::string> notes_;
};

// Makes relative places absolute: children run elsewhere, and a resumed drill may start elsewhere.
Result<DrillOptions> Absolute(DrillOptions options) {
  if (!options.resume) {
    ASSIGN_OR_RETURN(const fs::path history, ParseHistoryUrl(options.history));
    options.history = history.string();
  }
  options.out = fs::absolute(options.out).lexically_normal();
  options.places.root = fs::absolute(options.places.root).lexically_normal();
  for (auto& [from, to] : options.places.maps) to = fs::absolute(to).lexically_normal();
  return options;
}

Result<Report> StartDrill(const DrillOptions& options, const DrillHooks& hooks, Clock* clock) {
  ASSIGN_OR_RETURN(std::unique_ptr<HistoryStore> history, OpenHistory(options.history));
  DrillSettings settings{
      .drill_id = MakeDrillId(clock->Now()), .started = clock->Now(), .options = options};
  ASSIGN_OR_RETURN(settings.run_ids, SelectRuns(options.selection, options.sample, options.seed,
                                                settings.started, history.get()));
  ASSIGN_OR_RETURN(Journal journal,
                   Journal::Create(options.out / "journal.jsonl", ToJson(settings)));
  Drill drill(std::move(settings), hooks, clock, std::move(history), std::move(journal), {});
  return drill.Run();
}

Result<Report> ResumeDrill(const DrillOptions& options, const DrillHooks& hooks, Clock* clock) {
  JournalContent past;
  ASSIGN_OR_RETURN(Journal journal, Journal::Open(options.out / "journal.jsonl", &past));
  ASSIGN_OR_RETURN(DrillSettings settings,
                   ParseDrillSettings(past.header, (options.out / "journal.jsonl").string()));
  settings.options.out = options.out;
  settings.options.retry = options.retry;
  ASSIGN_OR_RETURN(std::unique_ptr<HistoryStore> history, OpenHistory(settings.options.history));
  Drill drill(std::move(settings), hooks, clock, std::move(history), std::move(journal),
              std::move(past));
  return drill.Run();
}

}  // namespace

Result<Plan> PlanDrill(const DrillOptions& options, Clock* clock) {
  ASSIGN_OR_RETURN(std::unique_ptr<HistoryStore> history, OpenHistory(options.history));
  ASSIGN_OR_RETURN(
      const std::vector<std::string> run_ids,
      SelectRuns(options.selection, options.sample, options.seed, clock->Now(), history.get()));
  ASSIGN_OR_RETURN(const std::vector<Manifest> runs, LoadRuns(run_ids, history.get()));
  return BuildPlan(runs, options.plan);
}

Result<Report> RunDrill(const DrillOptions& given, const DrillHooks& hooks, Clock* clock) {
  ASSIGN_OR_RETURN(const DrillOptions options, Absolute(given));
  std::error_code error;
  if (options.resume && !fs::exists(options.out / "journal.jsonl", error)) {
    return NotFound("no drill to resume; expected the --out of one that was interrupted",
                    options.out.string());
  }
  ASSIGN_OR_RETURN(const FolderLock lock, FolderLock::Take(options.out));
  return options.resume ? ResumeDrill(options, hooks, clock) : StartDrill(options, hooks, clock);
}

Status WriteReports(const Report& report, const fs::path& folder) {
  RETURN_IF_ERROR(WriteJsonFile(folder / "report.json", ToJson(report)));
  RETURN_IF_ERROR(WriteFileAtomic(folder / "junit.xml", WriteJunit(report)));
  RETURN_IF_ERROR(WriteFileAtomic(folder / "summary.md", WriteMarkdown(report)));
  const auto previous = ReadFile(folder / "metrics.prom");
  RETURN_IF_ERROR(
      WriteFileAtomic(folder / "metrics.prom",
                      CarryLastSuccess(WriteMetrics(report), previous.ok() ? *previous : "")));
  return WriteFileAtomic(folder / "report.html", WriteHtml(report));
}

}  // namespace rharness
