// The report of a search: its numbers and its sentences.
#include "harness/experiments/isolate/isolation_report_of.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <set>

#include "harness/base/version.h"
#include "harness/execution/rerun/rerun_place.h"
#include "harness/experiments/isolate/out_of_reach.h"
#include "reports/text.h"

namespace rharness {
namespace {

constexpr std::size_t kMostPossible = 12;

double Seconds(const Evidence& evidence) {
  return std::chrono::duration<double>(evidence.outcome.wall).count();
}

IsolationEnd EndOf(const SearchDone& done) {
  if (done.planned) return IsolationEnd::kPlanned;
  if (done.interrupted) return IsolationEnd::kInterrupted;
  switch (done.state.end) {
    case SearchEnd::kNamed:
      return IsolationEnd::kNamed;
    case SearchEnd::kNotAmongThese:
      return IsolationEnd::kNotAmongThese;
    case SearchEnd::kNotReproduced:
      return IsolationEnd::kNotReproduced;
    default:
      return IsolationEnd::kUndecided;
  }
}

std::string PartText(const std::vector<Axis>& settable, const CausePart& part) {
  const auto same = [&](const SearchStep& step) { return step.axis == part.front().axis; };
  if (part.size() > 1 && std::ranges::all_of(part, same)) {
    const Axis& axis = settable[part.front().axis];
    return fmt::format("{}: after {}, up to {} (those between could not be judged)", axis.name,
                       axis.values[static_cast<std::size_t>(part.front().position - 1)].text,
                       axis.values[static_cast<std::size_t>(part.back().position)].text);
  }
  std::vector<std::string> steps;
  for (const SearchStep& step : part) steps.push_back(DescribeStep(settable, step));
  return fmt::format("{}{}", part.size() > 1 ? "one or more of " : "", fmt::join(steps, ", "));
}

// The first rerun of these positions with this answer.
const RanTrial* FindTrial(const SearchDone& done, const Positions& at, TrialAnswer answer) {
  for (const RanTrial& one : done.trials) {
    if (one.trial.at == at && one.answer == answer) return &one;
  }
  return nullptr;
}

Positions With(const SearchDone& done, const std::vector<SearchStep>& steps, bool set_back) {
  const Positions last = LastOf(done.settable);
  Positions at = set_back ? last : Positions(last.size(), 0);
  for (const SearchStep& step : steps) {
    int& place = at[step.axis];
    place = set_back ? std::min(place, step.position - 1) : std::max(place, step.position);
  }
  return at;
}

std::vector<SearchStep> StepsOf(const CauseSet& cause) {
  std::vector<SearchStep> steps;
  for (const CausePart& part : cause) steps.insert(steps.end(), part.begin(), part.end());
  return steps;
}

// With everything set back that is named, a rerun that shows something all the same.
const RanTrial* Remaining(const SearchDone& done) {
  if (done.state.settled || done.state.causes.empty()) return nullptr;
  std::vector<SearchStep> steps;
  for (const CauseSet& cause : done.state.causes) {
    for (const SearchStep& step : StepsOf(cause)) steps.push_back(step);
  }
  return FindTrial(done, With(done, steps, true), TrialAnswer::kPartly);
}

void AddProof(const SearchDone& done, IsolationReport* report) {
  const auto add = [&](const RanTrial* trial, const std::string& what) {
    if (trial != nullptr) {
      report->shown_by.push_back(
          fmt::format("rerun {}: {}: {}", trial->number, what, DescribeInLine(trial->signature)));
    }
  };
  const Positions last = LastOf(done.settable);
  add(FindTrial(done, last, TrialAnswer::kReproduces), "everything changed");
  add(FindTrial(done, Positions(last.size(), 0), TrialAnswer::kDoesNot), "nothing changed");
  for (const CauseSet& cause : done.state.causes) {
    add(FindTrial(done, With(done, StepsOf(cause), false), TrialAnswer::kReproduces),
        "the cause alone");
  }
  if (const RanTrial* rest = Remaining(done); rest != nullptr) {
    add(rest, "all causes set back, all else changed");
  }
  if (done.state.settled) {
    add(FindTrial(done, With(done, done.state.set_back, true), TrialAnswer::kDoesNot),
        "the cause set back, all else changed");
  }
}

// The steps of the training from a curve, to give a time per step.
double StepsTrained(const Evidence& evidence) {
  double most = 0.0;
  for (const Curve& curve : evidence.metrics.curves) {
    if (!curve.steps.empty()) most = std::max(most, static_cast<double>(curve.steps.back()));
  }
  return most;
}

void AddMitigation(const SearchDone& done, IsolationReport* report) {
  if (!done.state.settled) return;
  std::vector<std::string> settings;
  std::set<std::size_t> told;
  for (const SearchStep& step : done.state.set_back) {
    if (!told.insert(step.axis).second) continue;
    const Axis& axis = done.settable[step.axis];
    settings.push_back(fmt::format("{} = {}", axis.name,
                                   axis.values[static_cast<std::size_t>(step.position - 1)].text));
  }
  report->mitigation = fmt::format("{}", fmt::join(settings, " and "));
  const RanTrial* back =
      FindTrial(done, With(done, done.state.set_back, true), TrialAnswer::kDoesNot);
  const RanTrial* all = FindTrial(done, LastOf(done.settable), TrialAnswer::kReproduces);
  if (back == nullptr || all == nullptr) return;
  const double with = Seconds(back->evidence);
  const double without = Seconds(all->evidence);
  const double steps = StepsTrained(back->evidence);
  report->mitigation_cost =
      fmt::format("{} s a run, {} s without", FormatNumber(with, 3), FormatNumber(without, 3));
  if (steps > 0 && steps == StepsTrained(all->evidence)) {
    report->mitigation_cost +=
        fmt::format("; {} ms a step, {} ms without", FormatNumber(1000 * with / steps, 3),
                    FormatNumber(1000 * without / steps, 3));
  }
  if (without > 0) {
    report->mitigation_cost +=
        fmt::format(" ({:+.0f} %, one rerun each)", 100 * (with / without - 1));
  }
}

void AddBranches(const SearchDone& done, IsolationReport* report) {
  std::set<std::string> told;
  for (const RanTrial& one : done.trials) {
    if (one.answer != TrialAnswer::kOther) continue;
    const std::string what = DescribeInLine(one.signature);
    const std::string& failure = one.signature.failure;
    if (!told.insert(failure.empty() ? what : failure).second) continue;
    report->branches.push_back(fmt::format("{} (first in rerun {})", what, one.number));
  }
}

void AddAxes(const SearchDone& done, IsolationReport* report) {
  for (const Axis& axis : done.settable) {
    report->axes.push_back({.name = axis.name,
                            .layer = axis.layer,
                            .recorded = axis.values.front().text,
                            .drifted = axis.values.back().text,
                            .last = static_cast<int>(axis.values.size()) - 1});
  }
  for (const CauseSet& cause : done.state.causes) {
    for (const SearchStep& step : StepsOf(cause)) {
      report->axes[step.axis].cause.push_back(step.position);
    }
  }
  for (const SearchStep& step : done.state.set_back) report->axes[step.axis].set_back = true;
  for (const Axis& axis : done.axes) {
    if (axis.cannot_be_set.empty()) continue;
    report->axes.push_back({.name = axis.name,
                            .layer = axis.layer,
                            .recorded = axis.values.front().text,
                            .drifted = axis.values.back().text,
                            .cannot_be_set = axis.cannot_be_set});
  }
}

void AddTrials(const SearchDone& done, IsolationReport* report) {
  const std::string& run_id = done.settings.recorded.run_id;
  for (const RanTrial& one : done.trials) {
    report->trials.push_back({.number = one.number,
                              .purpose = one.trial.purpose,
                              .at = one.trial.at,
                              .answer = one.answer,
                              .seen = DescribeInLine(one.signature),
                              .seconds = Seconds(one.evidence),
                              .evidence = RerunFolder({}, run_id, one.number).string()});
  }
}

std::string OutOfReach(const SearchDone& done) {
  const auto count = std::ranges::count_if(
      done.axes, [](const Axis& axis) { return !axis.cannot_be_set.empty(); });
  if (count == 0) return "";
  return fmt::format("{} differ{} and cannot be set here: {}",
                     Counted(static_cast<std::uint64_t>(count), "thing"), count == 1 ? "s" : "",
                     OutOfReachWords(done.axes));
}

// No difference can be set: names it; no rerun would add anything.
void SayNothingToSet(const SearchDone& done, IsolationReport* report) {
  const bool seeds = std::ranges::all_of(done.axes, &Axis::of_family);
  report->exit_code = 3;
  if (seeds) {
    report->headline = fmt::format(
        "nothing but seeds differs ({}), and runs of a family differ in these: nothing here makes "
        "{} drift",
        OutOfReachWords(done.axes), report->run_id);
    report->next = "give what drifted as --against: the folder of a drill of the run, or its id";
    return;
  }
  report->headline = "differs and cannot be set: " + OutOfReachWords(done.axes);
  report->next =
      "put it back by hand and drill the run again, or name what else changed with --axis, such as "
      "--axis env:NAME=VALUE";
}

void SayNamed(const SearchDone& done, IsolationReport* report) {
  const auto& cause = report->causes.front();
  report->headline = fmt::format("{} make{} {} drift", fmt::join(cause, ", together with "),
                                 cause.size() == 1 ? "s" : "", report->run_id);
  if (report->causes.size() > 1) {
    report->headline +=
        fmt::format(", and so {} {} more, each alone", report->causes.size() == 2 ? "does" : "do",
                    report->causes.size() - 1);
  }
  if (done.state.others) {
    report->next = fmt::format(
        "more causes are there, each enough by itself: repeat with --alternatives {} to name them",
        report->causes.size() + 1);
  } else if (!report->mitigation.empty()) {
    report->next = "set back " + report->mitigation + "; with it the run reproduces";
    report->next += report->target.empty() ? "" : " on the changed side";
  } else if (const RanTrial* rest = Remaining(done); rest != nullptr) {
    const std::string reach = OutOfReach(done);
    report->next = fmt::format(
        "this is not all: with it set back, all else changed, rerun {} shows {}; {}", rest->number,
        DescribeInLine(rest->signature),
        reach.empty() ? "to find the cause of that, give its evidence as --against" : reach);
  } else {
    report->next = "whether it vanishes when this is set back could not be judged";
  }
  report->exit_code = 0;
}

void SayUndecided(const SearchDone& done, IsolationReport* report) {
  const SearchState& state = done.state;
  const std::string reach = OutOfReach(done);
  report->exit_code = 3;
  if (state.end == SearchEnd::kNotAmongThese) {
    report->headline = "the difference exists with nothing changed: no axis here is its cause";
    report->next = reach.empty() ? "name what else changed with --axis" : reach;
    if (done.settings.bits) {
      report->next += "; or the run does not repeat bit for bit at all: rerun it twice as recorded";
    }
  } else if (state.end == SearchEnd::kNotReproduced) {
    report->headline = "the difference is not there with everything changed that can be set";
    report->next = reach.empty() ? "name what else changed with --axis" : reach;
  } else if (state.end == SearchEnd::kBudget) {
    report->headline = "not decidable with this budget";
    report->next = fmt::format("about {} more would decide: --resume --budget-reruns {}",
                               Counted(static_cast<std::uint64_t>(state.more), "rerun"),
                               done.trials.size() + static_cast<std::size_t>(state.more));
  } else if (state.end == SearchEnd::kEndNotJudged) {
    report->headline = "an end of the search could not be judged";
    if (!done.trials.empty() && done.calibration.why_not.empty()) {
      report->headline += ": " + DescribeInLine(done.trials.back().signature);
    }
    report->next = "read the outputs of its reruns, and fix that first";
  } else if (state.end == SearchEnd::kChance) {
    report->headline =
        "the difference may come and go by chance: with everything changed it is not shown to be "
        "seen more often than with nothing changed";
    report->next =
        "either no change here is its cause, or it does too little: more --end-reruns would show "
        "how much";
  } else if (state.end == SearchEnd::kForeignAnswers) {
    report->headline = "the answers in this folder are of another search";
    report->next = "begin again in an empty folder";
  } else {
    report->headline =
        "the answers fit no cause: changes hide each other, or reruns differ more than was assumed";
    report->next = "look at the trials; without a declared determinism, drop --bits";
  }
  if (!done.calibration.why_not.empty()) report->headline += ": " + done.calibration.why_not;
}

void SayWhatItCameTo(const SearchDone& done, IsolationReport* report) {
  if (done.state.end == SearchEnd::kNothingToSet) {
    SayNothingToSet(done, report);
  } else if (done.planned) {
    report->headline = fmt::format("{} among which the cause of a drift of {} is looked for",
                                   Counted(done.settable.size(), "change"), report->run_id);
    report->next = "the same without --dry-run carries it out";
    report->exit_code = 0;
  } else if (done.interrupted) {
    report->headline = "interrupted";
    report->next = "--resume continues";
    report->exit_code = 4;
  } else if (done.state.end == SearchEnd::kNamed) {
    SayNamed(done, report);
  } else {
    SayUndecided(done, report);
  }
}

void AddPossible(const SearchDone& done, IsolationReport* report) {
  for (const auto& [step, share] : done.state.possible) {
    if (report->possible.size() == kMostPossible) break;
    report->possible.push_back(
        fmt::format("{} ({:.0f} %)", DescribeStep(done.settable, step), 100 * share));
  }
  for (const CausePart& part : done.state.needed) {
    report->possible.push_back("needed, with others: " + PartText(done.settable, part));
  }
}

// What could not be judged is no difference.
std::vector<std::string> TargetOf(const SearchDone& done) {
  const Signature& target = done.calibration.target;
  return target.not_judged.empty() ? DescribeSignature(target) : std::vector<std::string>();
}

}  // namespace

IsolationReport BuildIsolationReport(const SearchDone& done) {
  IsolationReport report{.run_id = done.settings.recorded.run_id,
                         .version = kVersion,
                         .made = done.ended,
                         .planned = done.planned,
                         .end = EndOf(done),
                         .target = TargetOf(done),
                         .exact = done.rules.Exact(),
                         .bits = done.settings.bits,
                         .wrong = std::max(done.rules.miss, done.rules.false_reproduces),
                         .confidence = done.rules.confidence,
                         .error_bound = done.state.error_bound,
                         .budget = done.settings.rules.budget,
                         .more_reruns = done.state.more,
                         .cost = {.fewest = done.cost.fewest,
                                  .mean = done.cost.mean,
                                  .most = done.cost.most,
                                  .most_of_two = done.cost.most_of_two,
                                  .rerun_seconds = done.settings.recorded.duration_seconds},
                         .notes = done.notes,
                         .interrupted = done.interrupted};
  AddAxes(done, &report);
  AddTrials(done, &report);
  for (const CauseSet& cause : done.state.causes) {
    auto& parts = report.causes.emplace_back();
    for (const CausePart& part : cause) parts.push_back(PartText(done.settable, part));
  }
  if (done.state.end == SearchEnd::kNamed) {
    AddProof(done, &report);
    AddMitigation(done, &report);
  } else {
    AddPossible(done, &report);
  }
  AddBranches(done, &report);
  SayWhatItCameTo(done, &report);
  return report;
}

}  // namespace rharness
