// Numbering legs.
#include "harness/experiments/properties/legs.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "harness/base/result.h"

namespace rharness {
namespace {

// Outputs that may hold answers and are not kept as checkpoints and items are.
std::vector<std::string> AnswerFiles(const Manifest& run) {
  std::vector<std::string> paths;
  for (const Artifact& artifact : run.artifacts) {
    if (artifact.role == "other") paths.push_back(artifact.path);
  }
  return paths;
}

// "in batches of 4", "reversed".
std::string WayWords(const Property& property, std::int64_t step) {
  const OtherWay way = WaysOf(property).at(static_cast<std::size_t>(step - 1));
  if (step > static_cast<std::int64_t>(property.sizes.size())) return way.label;
  return way.label == "1" ? "alone" : "in batches of " + way.label;
}

// Appends legs of one repeat; the numbers are filled in at the end.
class RepeatBuilder {
 public:
  RepeatBuilder(const Manifest& run, int repeat, int stride)
      : run_(run), repeat_(repeat), first_((repeat - 1) * stride), plan_() {
    Leg straight{.words = repeat == 1 ? "straight" : fmt::format("straight, time {}", repeat)};
    for (const Property& property : run.properties) {
      const bool loads = property.kind == PropertyKind::kResharded ||
                         property.kind == PropertyKind::kEvaluatedTwice;
      const bool there =
          std::ranges::find(straight.leaves, property.checkpoint) != straight.leaves.end();
      if (loads && !there) straight.leaves.push_back(property.checkpoint);
      if (!IsOfAnswers(property.kind)) continue;
      for (const std::string& path : AnswerFiles(run)) {
        if (std::ranges::find(straight.leaves, path) == straight.leaves.end()) {
          straight.leaves.push_back(path);
        }
      }
    }
    straight_ = Add(std::move(straight));
  }

  void AddProperty(std::size_t index) {
    const Property& property = run_.properties[index];
    PropertyClaim claim{.name = NameOf(property), .property = index, .straight = {straight_}};
    switch (property.kind) {
      case PropertyKind::kRepeated:
        break;
      case PropertyKind::kResumed:
        for (const std::int64_t step : property.at) AddCut(index, step);
        return;
      case PropertyKind::kResharded:
        AddSteps(index, &claim);
        break;
      case PropertyKind::kEvaluatedTwice:
        for (const std::size_t time : {0, 1}) AddEvaluation(index, time, &claim);
        break;
      case PropertyKind::kBatchInvariant:
        AddWays(index);
        return;
      default:
        claim.legs.push_back(Add({.role = LegRole::kOther,
                                  .property = index,
                                  .words = fmt::format("{}, the other way", NameOf(property))}));
    }
    plan_.claims.push_back(std::move(claim));
  }

  LegPlan Take() { return std::move(plan_); }

 private:
  int Add(Leg leg) {
    leg.repeat = repeat_;
    leg.number = first_ + static_cast<int>(plan_.legs.size()) + 1;
    plan_.legs.push_back(std::move(leg));
    return plan_.legs.back().number;
  }

  void AddCut(std::size_t index, std::int64_t step) {
    const Property& property = run_.properties[index];
    const std::string left = CheckpointOf(property, step);
    const int stopped = Add({.role = LegRole::kStopped,
                             .property = index,
                             .step = step,
                             .leaves = {left},
                             .words = fmt::format("stopped after step {}", step)});
    const int resumed = Add({.role = LegRole::kResumed,
                             .property = index,
                             .step = step,
                             .from = stopped,
                             .given = left,
                             .words = fmt::format("gone on after step {}", step)});
    plan_.claims.push_back({.name = fmt::format("{}@{}", NameOf(property), step),
                            .property = index,
                            .step = step,
                            .straight = {straight_},
                            .legs = {resumed}});
  }

  // A way that is the recorded one would show nothing.
  void AddWays(std::size_t index) {
    const Property& property = run_.properties[index];
    const std::vector<OtherWay> ways = WaysOf(property);
    for (std::size_t i = 0; i < ways.size(); ++i) {
      if (IsAsRecorded(run_, ways[i])) continue;
      const auto step = static_cast<std::int64_t>(i) + 1;
      const int leg = Add({.role = LegRole::kOther,
                           .property = index,
                           .step = step,
                           .leaves = AnswerFiles(run_),
                           .words = WayWords(property, step)});
      plan_.claims.push_back({.name = fmt::format("{}@{}", NameOf(property), ways[i].label),
                              .property = index,
                              .step = step,
                              .straight = {straight_},
                              .legs = {leg}});
    }
  }

  void AddSteps(std::size_t index, PropertyClaim* claim) {
    const Property& property = run_.properties[index];
    int from = straight_;
    std::string given = property.checkpoint;
    for (std::size_t i = 0; i < property.steps.size(); ++i) {
      from = Add({.role = LegRole::kReshard,
                  .property = index,
                  .index = i,
                  .from = from,
                  .given = given,
                  .leaves = {property.steps[i].saved},
                  .words = fmt::format("{}, step {}", NameOf(property), i + 1)});
      given = property.steps[i].saved;
      claim->legs.push_back(from);
    }
  }

  void AddEvaluation(std::size_t index, std::size_t time, PropertyClaim* claim) {
    const Property& property = run_.properties[index];
    claim->legs.push_back(Add({.role = LegRole::kEvaluation,
                               .property = index,
                               .index = time,
                               .from = straight_,
                               .given = property.checkpoint,
                               .words = time == 0 ? "evaluated" : "evaluated a second time"}));
  }

  const Manifest& run_;
  const int repeat_;
  const int first_;
  LegPlan plan_;
  int straight_ = 0;
};

// What nothing of a first repeat is compared with is not done again.
bool IsOnce(const Manifest& run, const Leg& leg) {
  return leg.role != LegRole::kStraight && !IsHeldToStraight(run.properties[leg.property].kind);
}

// Checkpoints come from the first straight run alone.
std::vector<std::string> LeavesAgain(const Manifest& run) {
  const bool answers = std::ranges::any_of(
      run.properties, [](const Property& property) { return IsOfAnswers(property.kind); });
  return answers ? AnswerFiles(run) : std::vector<std::string>();
}

}  // namespace

LegPlan PlanLegs(const Manifest& run, int repeats) {
  LegPlan plan;
  int stride = 0;
  for (int repeat = 1; repeat <= repeats; ++repeat) {
    RepeatBuilder builder(run, repeat, stride);
    for (std::size_t i = 0; i < run.properties.size(); ++i) builder.AddProperty(i);
    LegPlan one = builder.Take();
    if (repeat == 1) {
      stride = static_cast<int>(one.legs.size());
      plan = std::move(one);
      continue;
    }
    for (Leg& leg : one.legs) {
      if (IsOnce(run, leg)) continue;
      if (leg.role == LegRole::kStraight) leg.leaves = LeavesAgain(run);
      plan.legs.push_back(std::move(leg));
    }
    for (std::size_t i = 0; i < plan.claims.size(); ++i) {
      PropertyClaim& claim = plan.claims[i];
      claim.straight.push_back(one.claims[i].straight.front());
      if (!IsHeldToStraight(run.properties[claim.property].kind)) continue;
      for (const int leg : one.claims[i].legs) claim.legs.push_back(leg);
    }
  }
  return plan;
}

const Leg& LegOf(const LegPlan& plan, int number) {
  const auto leg = std::ranges::find(plan.legs, number, &Leg::number);
  if (leg == plan.legs.end()) Abort("no leg of this number");
  return *leg;
}

bool IsHeldToStraight(PropertyKind kind) {
  return kind == PropertyKind::kResumed || kind == PropertyKind::kAccumulated ||
         kind == PropertyKind::kLoaderWorkers || kind == PropertyKind::kProcesses ||
         kind == PropertyKind::kBatchInvariant;
}

bool IsOfAnswers(PropertyKind kind) { return kind == PropertyKind::kBatchInvariant; }

bool NeedsTwoStraight(const Manifest& run) {
  return std::ranges::any_of(run.properties, [](const Property& property) {
    return property.kind == PropertyKind::kRepeated || IsHeldToStraight(property.kind);
  });
}

Manifest ManifestOf(const Manifest& run, const Leg& leg, const LeftCheckpoint& given) {
  switch (leg.role) {
    case LegRole::kStopped:
      return StoppedLeg(run, run.properties[leg.property], leg.step);
    case LegRole::kResumed:
      return ResumedLeg(run, run.properties[leg.property], leg.step, given);
    case LegRole::kOther:
      return OtherLeg(run,
                      WaysOf(run.properties[leg.property])
                          .at(static_cast<std::size_t>(std::max<std::int64_t>(leg.step, 1)) - 1));
    case LegRole::kReshard:
      return ReshardLeg(run, run.properties[leg.property], leg.index, given);
    case LegRole::kEvaluation:
      return EvaluationLeg(run, run.properties[leg.property], leg.index == 1, given);
    case LegRole::kStraight:
      break;
  }
  return StraightLeg(run);
}

std::string ClaimWords(const Property& property, std::int64_t step) {
  const auto what = [&]() -> std::string {
    switch (property.kind) {
      case PropertyKind::kRepeated:
        return "the run twice";
      case PropertyKind::kResumed:
        return fmt::format("straight, and stopped after step {} and gone on", step);
      case PropertyKind::kAccumulated:
        return "a whole batch, and its parts with their gradients accumulated";
      case PropertyKind::kLoaderWorkers:
        return "one worker that loads data, and several";
      case PropertyKind::kProcesses:
        return "one process, and several";
      case PropertyKind::kResharded:
        return "a checkpoint, and what loads and saves it again";
      case PropertyKind::kBatchInvariant:
        return "answers as recorded, and " + WayWords(property, step);
      case PropertyKind::kEvaluatedTwice:
        break;
    }
    return "one checkpoint, evaluated twice";
  }();
  const Within& within = property.within;
  if (within.empty()) return what + ": the same to the bit";
  std::string margins;
  for (const auto& [name, margin] : within.metrics) {
    margins += fmt::format("{}{} within {:g}", margins.empty() ? "" : ", ", name, margin);
  }
  if (within.tensors) {
    margins += fmt::format("{}tensors within {:g} (relative)", margins.empty() ? "" : ", ",
                           *within.tensors);
  }
  return fmt::format("{}: {}, the rest to the bit", what, margins);
}

}  // namespace rharness
