// A game day, pass by pass.
#include "harness/experiments/gameday/gameday.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <optional>
#include <utility>

#include "harness/base/files.h"
#include "harness/drill/experiment.h"
#include "harness/drill/report_of.h"
#include "harness/experiments/gameday/gameday_inputs.h"
#include "harness/experiments/gameday/gameday_report_of.h"
#include "harness/experiments/gameday/gameday_settings.h"
#include "harness/experiments/gameday/ground_judge.h"
#include "harness/experiments/gameday/planted_run.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

class Gameday {
 public:
  Gameday(GamedaySettings settings, GamedayInputs inputs, const DrillHooks& hooks, Clock* clock,
          WorkFolder folder)
      : settings_(std::move(settings)),
        options_(settings_.drill.options),
        inputs_(std::move(inputs)),
        clock_(*clock),
        reruns_(settings_.drill, hooks, clock, std::move(folder)) {}

  Result<GamedayReport> Run() {
    RETURN_IF_ERROR(PlantData(settings_, &inputs_));
    RETURN_IF_ERROR(reruns_.Begin(Launchers()));
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
  std::vector<std::string> Launchers() const {
    std::vector<std::string> launchers;
    for (const auto& [run_id, run] : inputs_.manifests) {
      launchers.push_back(LauncherOf(run, options_));
    }
    return launchers;
  }

  Status Execute(const std::vector<PlannedRerun>& reruns) {
    if (interrupted_ || reruns.empty()) return {};
    RETURN_IF_ERROR(reruns_.Execute(
        reruns, [this](const PlannedRerun& rerun) { return InputOf(rerun); },
        [this](const PlannedRerun& rerun, Evidence evidence) {
          evidence_[rerun.run_id][rerun.rerun] = std::move(evidence);
        }));
    // A rerun that ended while the game day was being stopped may have been stopped with it.
    interrupted_ = reruns_.IsStopped();
    return {};
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

  RerunInput InputOf(const PlannedRerun& rerun) const {
    Manifest manifest = inputs_.manifests.at(rerun.run_id);
    Places places = options_.places;
    std::vector<RankChange> ranks;
    if (const Fault* fault = FaultOf(rerun)) {
      const auto data = inputs_.data.find({rerun.run_id, fault->name});
      const bool has_data = data != inputs_.data.end();
      auto planted = PlantInRun(*fault, manifest, has_data ? data->second : DataItem());
      // A fault that cannot be planted in this run leaves it unchanged, outside of the trials.
      if (planted.ok() && fault->rank) {
        ranks.push_back(ChangeOf(*fault, manifest, *planted));
      } else if (planted.ok()) {
        manifest = std::move(*planted);
      }
      if (has_data && !fault->rank) {
        places.cache.clear();  // it would repair the planted fault
        const fs::path copies = options_.out / "planted";
        places.maps.emplace_back(copies.string(), copies);
      }
    }
    return {std::move(manifest), std::move(places), options_.environment, std::move(ranks)};
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
    GamedayDone done{.settings = settings_, .families = {}, .notes = reruns_.Notes()};
    std::ranges::copy(reruns_.damage(), std::back_inserter(done.notes));
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
    RETURN_IF_ERROR(WriteReport(options_.out, "gameday", report));
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
  Clock& clock_;
  int left_out_ = 0;
  GamedayEvidence evidence_;
  bool interrupted_ = false;
  Reruns reruns_;
};

}  // namespace

Result<GamedayReport> PlanGameday(const GamedayOptions& given, Clock* clock) {
  ASSIGN_OR_RETURN(const GamedayOptions options, WithExperimentPaths(given));
  ASSIGN_OR_RETURN(const auto history, HistoryStore::OpenExisting(options.drill.history));
  ASSIGN_OR_RETURN(const GamedaySettings settings, GatherGameday(options, clock, history.get()));
  ASSIGN_OR_RETURN(const GamedayInputs inputs, LoadGameday(settings, history.get()));
  return BuildGamedayPlan(settings, inputs.grounds,
                          PlanReruns(inputs.grounds, inputs.manifests, options.drill.plan));
}

Result<GamedayReport> HoldGameday(const GamedayOptions& given, const DrillHooks& hooks,
                                  Clock* clock) {
  ASSIGN_OR_RETURN(const GamedayOptions options, WithExperimentPaths(given));
  return RunExperiment(
      options.drill,
      [&]() -> Result<GamedaySettings> {
        ASSIGN_OR_RETURN(const auto history, HistoryStore::OpenExisting(options.drill.history));
        return GatherGameday(options, clock, history.get());
      },
      ParseGamedaySettings, [](GamedaySettings*) { return Status(); },
      [&](GamedaySettings settings, WorkFolder folder) -> Result<GamedayReport> {
        ASSIGN_OR_RETURN(const auto history,
                         HistoryStore::OpenExisting(settings.drill.options.history));
        ASSIGN_OR_RETURN(GamedayInputs inputs, LoadGameday(settings, history.get()));
        return Gameday(std::move(settings), std::move(inputs), hooks, clock, std::move(folder))
            .Run();
      });
}

}  // namespace rharness
