// A drill of properties, pass by pass.
#include "harness/experiments/properties/properties.h"

#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "harness/base/files.h"
#include "harness/base/held_folder.h"
#include "harness/base/log.h"
#include "harness/base/trouble.h"
#include "harness/drill/experiment.h"
#include "harness/drill/report_of.h"
#include "harness/execution/rerun/rerun.h"
#include "harness/experiments/properties/properties_report_of.h"
#include "harness/experiments/properties/properties_settings.h"
#include "harness/experiments/properties/run_work.h"
#include "harness/history/store.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

class PropertyDrill {
 public:
  PropertyDrill(PropertiesSettings settings, const DrillHooks& hooks, Clock* clock,
                WorkFolder folder)
      : settings_(std::move(settings)),
        options_(settings_.drill.options),
        clock_(*clock),
        reruns_(settings_.drill, hooks, clock, std::move(folder)) {
    for (const Manifest& run : settings_.runs) {
      work_.emplace_back(run, settings_.repeats, options_.out);
      work_of_[run.run_id] = &work_.back();
    }
  }

  Result<PropertiesReport> Run() {
    std::vector<std::string> launchers;
    for (const Manifest& run : settings_.runs) launchers.push_back(LauncherOf(run, options_));
    RETURN_IF_ERROR(reruns_.Begin(launchers));
    RETURN_IF_ERROR(CarryOut());
    RETURN_IF_ERROR(Judge());
    bool repeat = false;
    for (RunWork& work : work_) repeat = (!interrupted_ && work.RepeatWhatIsOpen()) || repeat;
    if (repeat) {
      RETURN_IF_ERROR(CarryOut());
      RETURN_IF_ERROR(Judge());
    }
    return Report();
  }

 private:
  // Wave by wave, until no leg is due any more.
  Status CarryOut() {
    while (!interrupted_) {
      const std::vector<PlannedRerun> due = Due();
      if (due.empty()) return {};
      RETURN_IF_ERROR(reruns_.Execute(
          due, [this](const PlannedRerun& leg) { return InputOf(leg); },
          [this](const PlannedRerun& leg, Evidence evidence) {
            work_of_.at(leg.run_id)->Take(leg.rerun, std::move(evidence));
          }));
      interrupted_ = reruns_.IsStopped();
      for (const PlannedRerun& leg : due) RETURN_IF_ERROR(TidyUp(leg));
    }
    return {};
  }

  std::vector<PlannedRerun> Due() {
    std::vector<PlannedRerun> due;
    for (const RunWork& work : work_) {
      for (const int number : work.Due()) {
        PlannedRerun leg = PlanRerun(work.run(), number, options_.plan);
        if (left_out_.contains(leg.job) || tried_.contains(leg.job)) continue;
        const double budget = options_.plan.budget_seconds;
        if (budget > 0 && run_seconds_ + leg.expected_seconds > budget) {
          left_out_.insert(leg.job);
          continue;
        }
        run_seconds_ += leg.expected_seconds;
        tried_.insert(leg.job);  // one that could not be begun is not due again
        due.push_back(std::move(leg));
      }
    }
    return due;
  }

  RerunInput InputOf(const PlannedRerun& leg) const {
    Places places = options_.places;
    places.maps.emplace_back(options_.out.string(), options_.out);  // what other legs left
    return {work_of_.at(leg.run_id)->InputOf(leg.rerun), std::move(places), options_.environment};
  }

  // Moves the inputs of later legs out of the workspace of a finished leg, then removes it.
  Status TidyUp(const PlannedRerun& planned) {
    RunWork& work = *work_of_.at(planned.run_id);
    if (!work.IsDone(planned.rerun)) return {};
    const fs::path rerun = RerunFolder({}, planned.run_id, planned.rerun);
    const Leg& leg = LegOf(work.plan(), planned.rerun);
    auto left = TakeLeft(options_.out / rerun, work.run().working_directory, leg.leaves);
    if (!left.ok()) {
      if (IsTrouble(left.error())) return left.error();
      const bool damaged = left.error().code == ErrorCode::kIntegrity;
      (damaged ? damage_ : notes_).push_back(left.error().ToString());
      LogWarning(left.error().ToString());
    } else {
      work.TakeLeft(planned.rerun, std::move(*left));
    }
    if (settings_.keep_workspaces) return {};
    const Status removed = RemoveTreeBelow(options_.out, rerun / "workspace");
    if (!removed.ok()) LogWarning(removed.error().ToString());
    return {};
  }

  Status Judge() {
    for (RunWork& work : work_) RETURN_IF_ERROR(work.Judge());
    return {};
  }

  Result<PropertiesReport> Report() {
    PropertiesDone done{.settings = settings_,
                        .results = {},
                        .before = {},
                        .noise = {},
                        .notes = notes_,
                        .damage = reruns_.damage(),
                        .host = DescribeHost(CaptureEnvironment()),
                        .made = clock_.Now(),
                        .run_seconds = run_seconds_,
                        .interrupted = interrupted_};
    for (const std::string& note : reruns_.Notes()) done.notes.push_back(note);
    for (const std::string& one : damage_) done.damage.push_back(one);
    if (!left_out_.empty()) {
      done.notes.push_back(std::to_string(left_out_.size()) + " legs are beyond --budget");
    }
    for (const RunWork& work : work_) {
      done.legs += work.done();
      if (!work.noise().empty()) done.noise.push_back(work.noise());
      done.results.insert(done.results.end(), work.results().begin(), work.results().end());
    }
    std::unique_ptr<HistoryStore> history;
    if (!options_.history.empty()) {
      ASSIGN_OR_RETURN(history, HistoryStore::OpenExisting(options_.history));
    }
    RETURN_IF_ERROR(LookBack(history.get(), &done));
    PropertiesReport report = BuildPropertiesReport(std::move(done));
    RETURN_IF_ERROR(WriteReport(options_.out, "properties", report));
    RETURN_IF_ERROR(Keep(history.get(), report));
    return report;
  }

  Status LookBack(HistoryStore* history, PropertiesDone* done) const {
    for (const Manifest& run : settings_.runs) {
      if (history == nullptr) break;
      ASSIGN_OR_RETURN(auto verdicts, history->PropertyVerdicts(run.run_id));
      std::erase_if(verdicts, [this](const PropertyRecord& one) {
        return one.drill_id == settings_.drill.drill_id;
      });
      done->before[run.run_id] = std::move(verdicts);
    }
    return {};
  }

  // For runs in the history; for an interrupted drill only final verdicts.
  Status Keep(HistoryStore* history, const PropertiesReport& report) const {
    if (history == nullptr) return {};
    std::vector<PropertyRecord> verdicts;
    for (const PropertyResult& result : report.results) {
      const bool is_open = interrupted_ && result.state == PropertyState::kNotJudged;
      if (is_open || !history->Find(result.run_id).ok()) continue;
      verdicts.push_back({.drill_id = settings_.drill.drill_id,
                          .run_id = result.run_id,
                          .property = result.name,
                          .state = result.state,
                          .decided = report.made,
                          .reason = result.headline});
    }
    return history->AddPropertyVerdicts(verdicts);
  }

  const PropertiesSettings settings_;
  const DrillOptions& options_;
  Clock& clock_;
  std::deque<RunWork> work_;
  std::map<std::string, RunWork*> work_of_;  // by run id
  std::set<std::string> left_out_;           // jobs beyond the budget
  std::set<std::string> tried_;
  std::vector<std::string> notes_;
  std::vector<std::string> damage_;  // of what legs left
  double run_seconds_ = 0.0;
  bool interrupted_ = false;
  Reruns reruns_;
};

}  // namespace

Result<PropertiesReport> PlanProperties(const PropertiesOptions& given, Clock* clock) {
  ASSIGN_OR_RETURN(const PropertiesOptions options, WithExperimentPaths(given));
  ASSIGN_OR_RETURN(const PropertiesSettings settings, GatherProperties(options, clock));
  return BuildPropertiesPlan(settings);
}

Result<PropertiesReport> DrillProperties(const PropertiesOptions& given, const DrillHooks& hooks,
                                         Clock* clock) {
  ASSIGN_OR_RETURN(const PropertiesOptions options, WithExperimentPaths(given));
  return RunExperiment(
      options.drill, [&] { return GatherProperties(options, clock); }, ParsePropertiesSettings,
      [](PropertiesSettings*) { return Status(); },
      [&](PropertiesSettings settings, WorkFolder folder) {
        return PropertyDrill(std::move(settings), hooks, clock, std::move(folder)).Run();
      });
}

}  // namespace rharness
