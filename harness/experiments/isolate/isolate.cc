// A search, pass by pass: both ends, then trial after trial until the cause is named.
#include "harness/experiments/isolate/isolate.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "harness/base/files.h"
#include "harness/base/log.h"
#include "harness/drill/experiment.h"
#include "harness/experiments/isolate/isolate_inputs.h"
#include "harness/experiments/isolate/isolation_report_of.h"
#include "harness/experiments/isolate/trial_judge.h"
#include "harness/judge/rerun_outputs.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

class CauseSearch {
 public:
  CauseSearch(IsolateSettings settings, const DrillHooks& hooks, Clock* clock, WorkFolder folder)
      : settings_(std::move(settings)),
        options_(settings_.drill.options),
        hooks_(WithoutEnd(hooks)),
        clock_(*clock),
        family_(settings_.family),
        rules_(settings_.rules),
        reruns_(settings_.drill, hooks_, clock, std::move(folder)) {}

  Result<IsolationReport> Run(const ParseImageText& parse_image) {
    ASSIGN_OR_RETURN(axes_, AxesOf(settings_, parse_image));
    ASSIGN_OR_RETURN(settable_, SettableAxes(axes_));
    last_ = LastOf(settable_);
    base_ = BaseOf(settings_.recorded, axes_);
    if (settings_.expected) calibration_.target = *settings_.expected;
    if (settable_.empty()) {
      state_.end = SearchEnd::kNothingToSet;
      return Report();
    }
    RETURN_IF_ERROR(reruns_.Begin(Launchers()));
    if (!settings_.bits) RETURN_IF_ERROR(RunBothEnds());
    while (state_.end == SearchEnd::kGoesOn && !interrupted_) {
      state_ = Advance(last_, rules_, answers_);
      if (state_.end != SearchEnd::kGoesOn) break;
      RETURN_IF_ERROR(RunTrials(state_.next));
    }
    return Report();
  }

 private:
  // The number of reruns of a search is not known before its end.
  static DrillHooks WithoutEnd(DrillHooks hooks) {
    if (!hooks.progress) return hooks;
    hooks.progress = [show = std::move(hooks.progress)](Progress progress) {
      progress.remaining.reset();
      show(progress);
    };
    return hooks;
  }

  std::vector<std::string> Launchers() const {
    std::vector<std::string> launchers = {LauncherOf(settings_.recorded, options_)};
    for (const Axis& axis : settable_) {
      for (const AxisValue& value : axis.values) {
        if (axis.kind != AxisKind::kImage) break;
        Manifest run = settings_.recorded;
        run.image = value.image;
        launchers.push_back(LauncherOf(run, options_));
      }
    }
    return launchers;
  }

  // For a run that does not promise bits: each end several times, to see whether one rerun is
  // enough.
  Status RunBothEnds() {
    const int reruns = settings_.end_reruns;
    if (settings_.rules.budget > 0 && 2 * reruns > settings_.rules.budget) {
      state_.end = SearchEnd::kBudget;
      state_.more = 2 * reruns;
      return {};
    }
    std::vector<Trial> trials;
    for (int i = 0; i < 2 * reruns; ++i) {
      const bool all = i < reruns;
      trials.push_back({all ? last_ : Positions(last_.size(), 0),
                        all ? TrialPurpose::kAllChanged : TrialPurpose::kNoneChanged});
    }
    RETURN_IF_ERROR(RunTrials(trials));
    answers_.clear();
    if (interrupted_) return {};
    calibration_ = Calibrate(EndOf(0, reruns), EndOf(reruns, reruns),
                             settings_.expected ? &*settings_.expected : nullptr);
    for (RanTrial& one : trials_) one.answer = AnswerOf(one);
    if (!calibration_.why_not.empty()) {
      state_.end = calibration_.end;
      if (state_.end == SearchEnd::kBudget) {
        state_.more = static_cast<int>(CostOf(last_, NoisyRules()).mean);
      }
      return {};
    }
    if (calibration_.exact) {
      answers_ = {{last_, TrialAnswer::kReproduces},
                  {Positions(last_.size(), 0), TrialAnswer::kDoesNot}};
    } else {
      rules_ = NoisyRules();
    }
    const int counted = static_cast<int>(answers_.size());
    if (rules_.budget > 0) rules_.budget = std::max(1, rules_.budget - 2 * reruns + counted);
    return {};
  }

  SearchRules NoisyRules() const {
    SearchRules rules = settings_.rules;
    rules.false_reproduces = calibration_.false_reproduces;
    rules.miss = calibration_.miss;
    rules.ends_known = true;
    return rules;
  }

  SearchEndReruns EndOf(int first, int count) {
    SearchEndReruns end;
    std::vector<Evidence> evidence;
    for (int i = first; i < first + count; ++i) {
      const RanTrial& one = trials_[static_cast<std::size_t>(i)];
      evidence.push_back(one.evidence);
      end.each.push_back(one.signature);
      if (one.signature.not_judged.empty()) end.outputs.push_back(OutputsOf(one.evidence));
    }
    const RanTrial& one = trials_[static_cast<std::size_t>(first)];
    end.together = SignatureOf(Judge(one.trial, evidence), false);
    return end;
  }

  Comparison Judge(const Trial& trial, const std::vector<Evidence>& evidence) {
    const TrialJudge judge{settings_.recorded, family_, options_.places, options_.out};
    std::vector<std::string> damage;
    Comparison judged = judge.Judge(RunAt(base_, settable_, trial.at).manifest, evidence, &damage);
    for (const std::string& one : damage) LogWarning(one);
    return judged;
  }

  TrialAnswer AnswerOf(const RanTrial& one) {
    if (!calibration_.exact) return RelateNoisy(calibration_, one.signature);
    const bool defines =
        settings_.bits && !settings_.expected && one.trial.purpose == TrialPurpose::kAllChanged;
    if (defines) {
      calibration_.target = one.signature;
      if (one.signature.Empty() && one.signature.not_judged.empty()) return TrialAnswer::kDoesNot;
    }
    return Relate(calibration_.target, one.signature);
  }

  // Reruns these, as many in parallel as fit, and records their answers in order.
  Status RunTrials(const std::vector<Trial>& trials) {
    std::map<std::string, std::size_t> places;  // of each job, in `ran`
    std::vector<RanTrial> ran;
    std::vector<PlannedRerun> reruns;
    for (const Trial& trial : trials) {
      const TrialRun run = RunAt(base_, settable_, trial.at);
      reruns.push_back(PlanRerun(run.manifest, static_cast<int>(trials_.size() + ran.size()) + 1,
                                 options_.plan));
      if (!run.node.empty()) reruns.back().node = run.node;
      places[reruns.back().job] = ran.size();
      ran.push_back({.trial = trial, .number = reruns.back().rerun});
    }
    std::size_t done = 0;
    RETURN_IF_ERROR(reruns_.Execute(
        reruns,
        [&](const PlannedRerun& rerun) {
          TrialRun run = RunAt(base_, settable_, ran[places.at(rerun.job)].trial.at);
          RerunInput input{std::move(run.manifest), options_.places, options_.environment};
          if (!run.python.empty()) input.places.python = run.python;
          input.ranks = std::move(run.ranks);
          return input;
        },
        [&](const PlannedRerun& rerun, Evidence evidence) {
          ran[places.at(rerun.job)].evidence = std::move(evidence);
          ++done;
        }));
    // A rerun that ended while the search was being stopped may have been stopped with it.
    interrupted_ = reruns_.IsStopped() || done < ran.size();
    if (interrupted_) return {};
    for (RanTrial& one : ran) Take(std::move(one));
    return {};
  }

  void Take(RanTrial one) {
    one.signature = SignatureOf(Judge(one.trial, {one.evidence}), settings_.bits);
    one.answer = AnswerOf(one);
    LogDebug(fmt::format("rerun {}: {}: {}", one.number, NameIn(kTrialAnswerNames, one.answer),
                         DescribeInLine(one.signature)));
    answers_.push_back({one.trial.at, one.answer});
    trials_.push_back(std::move(one));
  }

  Result<IsolationReport> Report() {
    std::vector<std::string> notes = settings_.notes;
    std::ranges::copy(reruns_.Notes(), std::back_inserter(notes));
    std::ranges::copy(reruns_.damage(), std::back_inserter(notes));
    const SearchDone done{.settings = settings_,
                          .axes = axes_,
                          .settable = settable_,
                          .trials = trials_,
                          .state = state_,
                          .calibration = calibration_,
                          .rules = rules_,
                          .cost = {},
                          .notes = notes,
                          .ended = clock_.Now(),
                          .interrupted = interrupted_};
    IsolationReport report = BuildIsolationReport(done);
    RETURN_IF_ERROR(WriteReport(options_.out, "isolation", report));
    return report;
  }

  const IsolateSettings settings_;
  const DrillOptions& options_;
  const DrillHooks hooks_;
  Clock& clock_;
  const Family family_;
  SearchRules rules_;
  std::vector<Axis> axes_;
  std::vector<Axis> settable_;
  Positions last_;
  Manifest base_;  // of every trial
  Calibration calibration_;
  SearchState state_;
  std::vector<RanTrial> trials_;
  std::vector<AnsweredTrial> answers_;
  bool interrupted_ = false;
  Reruns reruns_;
};

// A larger budget is why a search that stopped goes on; a smaller one would unsay its answer.
Status AdoptBudget(const IsolateOptions& options, IsolateSettings* settings) {
  const int before = settings->rules.budget;
  if (options.rules.budget > 0 && (before == 0 || options.rules.budget < before)) {
    return InvalidInput(
        fmt::format("the search has {}; expected no smaller one",
                    before == 0 ? "no limit" : fmt::format("one of {} reruns", before)),
        "--budget-reruns");
  }
  if (options.rules.budget > 0) settings->rules.budget = options.rules.budget;
  return {};
}

}  // namespace

Result<IsolationReport> PlanIsolation(const IsolateOptions& given, Clock* clock) {
  ASSIGN_OR_RETURN(const IsolateOptions options, WithExperimentPaths(given));
  ASSIGN_OR_RETURN(const IsolateSettings settings, GatherSettings(options, clock));
  ASSIGN_OR_RETURN(const std::vector<Axis> axes, AxesOf(settings, options.parse_image));
  ASSIGN_OR_RETURN(const std::vector<Axis> settable, SettableAxes(axes));
  SearchCost cost = CostOf(LastOf(settable), settings.rules);
  std::vector<std::string> notes = settings.notes;
  if (!settings.bits && !settable.empty()) {
    const int further = 2 * (settings.end_reruns - 1);
    for (int* count : {&cost.fewest, &cost.most, &cost.most_of_two}) *count += further;
    cost.mean += further;
    notes.push_back(fmt::format(
        "the run is not declared bitwise: each end is rerun {} times, and where these differ among "
        "themselves the search repeats trials, and prints how often before it continues",
        settings.end_reruns));
  }
  Calibration calibration;
  if (settings.expected) calibration.target = *settings.expected;
  SearchState state;
  if (settable.empty()) state.end = SearchEnd::kNothingToSet;
  return BuildIsolationReport({.settings = settings,
                               .axes = axes,
                               .settable = settable,
                               .trials = {},
                               .state = state,
                               .calibration = calibration,
                               .rules = settings.rules,
                               .cost = cost,
                               .notes = notes,
                               .ended = clock->Now(),
                               .planned = true});
}

Result<IsolationReport> Isolate(const IsolateOptions& given, const DrillHooks& hooks,
                                Clock* clock) {
  ASSIGN_OR_RETURN(const IsolateOptions options, WithExperimentPaths(given));
  return RunExperiment(
      options.drill,
      [&]() -> Result<IsolateSettings> {
        ASSIGN_OR_RETURN(IsolateSettings settings, GatherSettings(options, clock));
        ASSIGN_OR_RETURN(const std::vector<Axis> axes, AxesOf(settings, options.parse_image));
        RETURN_IF_ERROR(SettableAxes(axes));
        return settings;
      },
      ParseIsolateSettings,
      [&](IsolateSettings* settings) { return AdoptBudget(options, settings); },
      [&](IsolateSettings settings, WorkFolder folder) {
        return CauseSearch(std::move(settings), hooks, clock, std::move(folder))
            .Run(options.parse_image);
      });
}

}  // namespace rharness
