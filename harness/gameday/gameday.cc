// A game day, pass by pass.
#include "harness/gameday/gameday.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <optional>
#include <utility>

#include "harness/base/files.h"
#include "harness/base/folder_lock.h"
#include "harness/base/held_folder.h"
#include "harness/base/log.h"
#include "harness/base/trouble.h"
#include "harness/dispatch/scheduler.h"
#include "harness/drill/dispatching.h"
#include "harness/drill/drill_folder.h"
#include "harness/drill/journal.h"
#include "harness/drill/report_of.h"
#include "harness/drill/substitutes.h"
#include "harness/gameday/gameday_inputs.h"
#include "harness/gameday/gameday_report_of.h"
#include "harness/gameday/gameday_settings.h"
#include "harness/gameday/ground_judge.h"
#include "harness/gameday/planted_run.h"
#include "harness/rerun/rerun.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

class Gameday {
 public:
  Gameday(GamedaySettings settings, GamedayInputs inputs, const DrillHooks& hooks, Clock* clock,
          Journal journal, JournalContent past)
      : settings_(std::move(settings)),
        options_(settings_.drill.options),
        inputs_(std::move(inputs)),
        hooks_(hooks),
        clock_(*clock),
        journal_(std::move(journal)),
        past_(std::move(past)) {}

  Result<GamedayReport> Run() {
    ASSIGN_OR_RETURN(substitutes_,
                     Substitutes::Load(options_.substitutes, settings_.drill.started));
    RETURN_IF_ERROR(PlantData(settings_, &inputs_));
    KillLeftovers();
    RETURN_IF_ERROR(journal_.AppendSession(JobSession()));
    RETURN_IF_ERROR(BeginDispatching());
    began_ = clock_.Monotonic();
    const GamedayPlan plan = PlanReruns(inputs_.grounds, inputs_.manifests, options_.plan);
    left_out_ = plan.left_out;
    RETURN_IF_ERROR(Execute(plan.reruns));
    std::deque<GroundJudge> judges = Judges();
    std::vector<PlannedRerun> confirming;
    for (GroundJudge& judge : judges) {
      if (interrupted_) break;
      RETURN_IF_ERROR(judge.Judge());
      for (const auto& [run_id, number] : judge.wanted()) {
        confirming.push_back(PlanRerun(inputs_.manifests.at(run_id), number, options_.plan));
      }
    }
    RETURN_IF_ERROR(Execute(confirming));
    for (GroundJudge& judge : judges) {
      if (interrupted_ || judge.wanted().empty()) continue;
      RETURN_IF_ERROR(judge.Judge());
    }
    return Report(judges);
  }

 private:
  void KillLeftovers() const {
    for (const std::string& session : past_.sessions) KillSession(session);
    for (const auto& [job, entry] : past_.last) {
      if (entry.state == AttemptState::kStarted && entry.pid > 0) {
        KillLeftoverGroup(entry.pid, entry.start_ticks);
      }
    }
  }

  Status BeginDispatching() {
    std::vector<std::string> launchers;
    for (const auto& [run_id, run] : inputs_.manifests) {
      launchers.push_back(LauncherOf(run, options_));
    }
    return dispatching_.Begin(
        options_, settings_.drill.drill_id, launchers,
        [this](const RerunStep& step) { return journal_.Append(step); }, hooks_.should_stop,
        &clock_, &notes_);
  }

  // What an earlier process of this game day finished. What is damaged of it is rerun.
  Result<std::optional<Evidence>> Finished(const PlannedRerun& rerun) {
    const auto found = past_.last.find(rerun.job);
    if (found == past_.last.end() || found->second.state != AttemptState::kCollected) {
      return std::optional<Evidence>();
    }
    Result<Evidence> evidence = LoadIntact(options_.out, rerun, found->second);
    if (evidence.ok()) return std::optional(std::move(*evidence));
    if (IsTrouble(evidence.error())) return evidence.error();
    notes_.push_back(evidence.error().ToString() + "; it was rerun");
    LogWarning(notes_.back());
    return std::optional<Evidence>();
  }

  Status Execute(const std::vector<PlannedRerun>& reruns) {
    if (interrupted_ || reruns.empty()) return {};
    std::vector<PlannedRerun> due;
    for (const PlannedRerun& rerun : reruns) {
      ASSIGN_OR_RETURN(auto evidence, Finished(rerun));
      if (evidence) {
        Take(rerun, std::move(*evidence));
      } else {
        due.push_back(rerun);
      }
    }
    JobQueue queue(due, options_.plan.slots, options_.plan.jobs, options_.retry);
    const SchedulerHooks hooks{
        .ticket = [this](const PlannedRerun& rerun,
                         const Start& start) { return MakeTicket(rerun, start); },
        .ended = [this](const PlannedRerun& rerun,
                        AttemptEnd end) { Take(rerun, std::move(end.evidence)); },
        .progress = [this](const Progress& progress) { Show(progress); },
        .should_stop = hooks_.should_stop,
        .may_start = [this] { return !IsQuiet(options_.quiet_hours, LocalMinute(clock_.Now())); }};
    RETURN_IF_ERROR(RunQueue(&queue, dispatching_.dispatcher(), hooks, &clock_));
    done_ += static_cast<int>(reruns.size());
    // A rerun that ended while the game day was being stopped may have been stopped with it.
    interrupted_ = hooks_.should_stop && hooks_.should_stop();
    return {};
  }

  void Take(const PlannedRerun& rerun, Evidence evidence) {
    LogDebug(
        fmt::format("{}: {}", rerun.job,
                    evidence.obstacle.empty() ? evidence.outcome.ToString() : evidence.obstacle));
    evidence_[rerun.run_id][rerun.rerun] = std::move(evidence);
  }

  void Show(Progress progress) const {
    if (!hooks_.progress) return;
    progress.finished += done_;
    progress.total += done_;
    progress.elapsed = clock_.Monotonic() - began_;
    hooks_.progress(progress);
  }

  // The fault that a rerun has; null: it is as recorded.
  const Fault* FaultOf(const PlannedRerun& rerun) const {
    for (const Ground& ground : inputs_.grounds) {
      if (std::ranges::find(ground.run_ids, rerun.run_id) == ground.run_ids.end()) continue;
      for (const GroundFault& one : ground.faults) {
        const bool own = one.index >= 0 && (FirstRerun(one.index) == rerun.rerun ||
                                            SecondRerun(one.index) == rerun.rerun);
        if (own) return &one.fault;
      }
    }
    return nullptr;
  }

  Ticket MakeTicket(const PlannedRerun& rerun, const Start& start) const {
    Manifest manifest = inputs_.manifests.at(rerun.run_id);
    Places places = options_.places;
    if (const Fault* fault = FaultOf(rerun)) {
      const auto data = inputs_.data.find({rerun.run_id, fault->name});
      const bool has_data = data != inputs_.data.end();
      auto planted = PlantInRun(*fault, manifest, has_data ? data->second : DataItem());
      // What cannot be planted in this run is rerun as it is, and stays out of the trials.
      if (planted.ok()) manifest = std::move(*planted);
      if (has_data) {
        places.cache.clear();  // it would mend what was planted
        const fs::path copies = options_.out / "planted";
        places.maps.emplace_back(copies.string(), copies);
      }
    }
    return {.drill_id = settings_.drill.drill_id,
            .rerun = rerun.rerun,
            .attempt = start.attempt,
            .launcher = LauncherOf(manifest, options_),
            .container_root = options_.container_root,
            .keep_workspace = options_.keep_workspaces,
            .observe = !options_.no_observe,
            .resources = rerun.resources,
            .gpus = options_.dispatch == "local" ? start.gpus : std::vector<int>(),
            .places = std::move(places),
            .environment = options_.environment,
            .substitutions = substitutes_.For(manifest),
            .node = rerun.node,
            .manifest = std::move(manifest)};
  }

  std::deque<GroundJudge> Judges() const {
    std::deque<GroundJudge> judges;
    Places places = options_.places;
    places.maps.emplace_back(options_.out.string(), options_.out);
    for (const Ground& ground : inputs_.grounds) {
      judges.emplace_back(GroundInputs{.ground = ground,
                                       .members = inputs_.members.at(ground.family),
                                       .manifests = inputs_.manifests,
                                       .evidence = evidence_,
                                       .replicates = inputs_.replicates.at(ground.configuration),
                                       .places = places,
                                       .folder = options_.out,
                                       .together = settings_.gameday.together,
                                       .beside = settings_.gameday.beside,
                                       .confirm = options_.confirm,
                                       .width = settings_.gameday.width,
                                       .confidence = kGamedayConfidence});
    }
    return judges;
  }

  Result<GamedayReport> Report(const std::deque<GroundJudge>& judges) {
    GamedayDone done{.settings = settings_, .families = {}, .notes = notes_};
    for (std::size_t i = 0; i < judges.size() && !interrupted_; ++i) {
      const Ground& ground = inputs_.grounds[i];
      done.families.push_back(judges[i].Rates(inputs_.stored.at(ground.configuration)));
      done.notes.insert(done.notes.end(), judges[i].notes().begin(), judges[i].notes().end());
    }
    for (const auto& [run_id, reruns] : evidence_) {
      done.reruns += static_cast<int>(reruns.size());
      const double each = inputs_.manifests.at(run_id).duration_seconds;
      done.run_seconds += each * static_cast<double>(reruns.size());
    }
    done.host = DescribeHost(CaptureEnvironment());
    done.made = clock_.Now();
    done.left_out = left_out_;
    done.interrupted = interrupted_;
    GamedayReport report = BuildGamedayReport(std::move(done));
    RETURN_IF_ERROR(WriteJsonFile(options_.out / "gameday.json", ToJson(report)));
    RETURN_IF_ERROR(WriteFileAtomic(options_.out / "gameday.html", WriteHtml(report)));
    const fs::path certificate = options_.out / kCertificateFile;
    if (report.certified) {
      RETURN_IF_ERROR(WriteJsonFile(certificate, ToJson(CertificateOf(report))));
    } else {
      std::error_code none;  // of an earlier process there may be one
      fs::remove(certificate, none);
    }
    return report;
  }

  const GamedaySettings settings_;
  const DrillOptions& options_;
  GamedayInputs inputs_;
  const DrillHooks& hooks_;
  Clock& clock_;
  Journal journal_;
  const JournalContent past_;
  MonotonicTime began_{0};
  int done_ = 0;
  int left_out_ = 0;
  GamedayEvidence evidence_;
  Substitutes substitutes_;
  std::vector<std::string> notes_;
  bool interrupted_ = false;
  Dispatching dispatching_;  // last member: it uses the others
};

Result<GamedayReport> StartGameday(const GamedayOptions& options, const DrillHooks& hooks,
                                   Clock* clock) {
  const fs::path& out = options.drill.out;
  RETURN_IF_ERROR(RefuseForeignFolder(out));
  ASSIGN_OR_RETURN(const auto history, HistoryStore::OpenExisting(options.drill.history));
  ASSIGN_OR_RETURN(GamedaySettings settings, GatherGameday(options, clock, history.get()));
  ASSIGN_OR_RETURN(GamedayInputs inputs, LoadGameday(settings, history.get()));
  ASSIGN_OR_RETURN(const FolderLock lock, FolderLock::TakeOwn(out));
  RemoveStrays(out);
  ASSIGN_OR_RETURN(Journal journal, Journal::Create(out / "journal.jsonl", ToJson(settings)));
  RETURN_IF_ERROR(MakeRunsFolder(out));
  Gameday gameday(std::move(settings), std::move(inputs), hooks, clock, std::move(journal), {});
  return gameday.Run();
}

Result<GamedayReport> ResumeGameday(const GamedayOptions& options, const DrillHooks& hooks,
                                    Clock* clock) {
  const fs::path& out = options.drill.out;
  RETURN_IF_ERROR(RequireDrill(out));
  ASSIGN_OR_RETURN(const FolderLock lock, FolderLock::TakeOwn(out));
  RETURN_IF_ERROR(RequireOwn(out / "journal.jsonl"));
  RemoveStrays(out);
  RETURN_IF_ERROR(MakeRunsFolder(out));
  JournalContent past;
  ASSIGN_OR_RETURN(Journal journal, Journal::Open(out / "journal.jsonl", &past));
  ASSIGN_OR_RETURN(GamedaySettings settings,
                   ParseGamedaySettings(past.header, (out / "journal.jsonl").string()));
  RETURN_IF_ERROR(RefuseOtherSettings(options.drill, settings.drill));
  RETURN_IF_ERROR(RefuseLinks(out, settings.drill.run_ids));
  settings.drill.options.out = out;
  settings.drill.options.retry = options.drill.retry;
  settings.drill.options.quiet_hours = options.drill.quiet_hours;
  ASSIGN_OR_RETURN(const auto history, HistoryStore::OpenExisting(settings.drill.options.history));
  ASSIGN_OR_RETURN(GamedayInputs inputs, LoadGameday(settings, history.get()));
  Gameday gameday(std::move(settings), std::move(inputs), hooks, clock, std::move(journal),
                  std::move(past));
  return gameday.Run();
}

Result<GamedayOptions> WithPaths(GamedayOptions options) {
  ASSIGN_OR_RETURN(options.drill, WithAbsolutePaths(options.drill));
  return options;
}

}  // namespace

Result<GamedayReport> PlanGameday(const GamedayOptions& given, Clock* clock) {
  ASSIGN_OR_RETURN(const GamedayOptions options, WithPaths(given));
  ASSIGN_OR_RETURN(const auto history, HistoryStore::OpenExisting(options.drill.history));
  ASSIGN_OR_RETURN(const GamedaySettings settings, GatherGameday(options, clock, history.get()));
  ASSIGN_OR_RETURN(const GamedayInputs inputs, LoadGameday(settings, history.get()));
  return BuildGamedayPlan(settings, inputs.grounds,
                          PlanReruns(inputs.grounds, inputs.manifests, options.drill.plan));
}

Result<GamedayReport> HoldGameday(const GamedayOptions& given, const DrillHooks& hooks,
                                  Clock* clock) {
  ASSIGN_OR_RETURN(const GamedayOptions options, WithPaths(given));
  return options.drill.resume ? ResumeGameday(options, hooks, clock)
                              : StartGameday(options, hooks, clock);
}

}  // namespace rharness
