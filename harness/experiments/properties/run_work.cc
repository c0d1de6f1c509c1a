// Legs of one run, and their claims judged.
#include "harness/experiments/properties/run_work.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "harness/base/files.h"
#include "harness/base/held_folder.h"
#include "harness/base/trouble.h"
#include "harness/judge/compare_rerun.h"
#include "reports/text.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

bool IsOfClaim(const Leg& leg, const PropertyClaim& claim) {
  return leg.role != LegRole::kStraight && leg.property == claim.property && leg.step == claim.step;
}

// What is no failure of this leg: a stopped one writes no results, and one that goes on may write
// over the checkpoint that it was given.
Evidence WithoutItsOwn(const Leg& leg, Evidence evidence) {
  std::erase_if(evidence.remarks, [&](const Finding& remark) {
    const bool output = remark.code == "output_missing" || remark.code == "output_unreadable";
    const bool laid = remark.subject.find(kLaidCheckpoint) != remark.subject.npos;
    return laid || (output && leg.role == LegRole::kStopped);
  });
  return evidence;
}

WhatCounts CountsFor(PropertyKind kind) {
  if (kind == PropertyKind::kEvaluatedTwice) return WhatCounts::kEveryMetric;
  return IsOfAnswers(kind) ? WhatCounts::kAnswers : WhatCounts::kDeclared;
}

}  // namespace

RunWork::RunWork(const Manifest& run, int repeats, fs::path folder)
    : run_(run), repeats_(repeats), folder_(std::move(folder)), plan_(PlanLegs(run, repeats)) {}

bool RunWork::IsWanted(const Leg& leg) const {
  if (leg.repeat == 1) return true;
  if (leg.role == LegRole::kStraight) {
    return repeating_ || (leg.repeat == 2 && NeedsTwoStraight(run_));
  }
  return repeating_ && std::ranges::any_of(plan_.claims, [&](const PropertyClaim& claim) {
           return open_.contains(claim.name) && IsOfClaim(leg, claim);
         });
}

std::vector<int> RunWork::Due() const {
  std::vector<int> due;
  for (const Leg& leg : plan_.legs) {
    if (IsDone(leg.number) || !IsWanted(leg)) continue;
    if (leg.from > 0) {
      const auto left = left_.find(leg.from);
      if (left == left_.end() || !left->second.contains(leg.given)) continue;
    }
    due.push_back(leg.number);
  }
  return due;
}

Manifest RunWork::InputOf(int number) const {
  const Leg& leg = LegOf(plan_, number);
  const LeftCheckpoint none;
  return ManifestOf(run_, leg, leg.from > 0 ? left_.at(leg.from).at(leg.given) : none);
}

bool RunWork::RepeatWhatIsOpen() {
  if (repeating_ || repeats_ <= 2 || open_.empty()) return false;
  repeating_ = true;
  return true;
}

// The last line of its stderr.
std::string RunWork::Said(const Evidence& evidence) const {
  if (evidence.stderr_path.empty()) return "";
  const auto folder = HeldFolder::Open(folder_);
  const auto text =
      folder.ok() ? folder->ReadFile(evidence.stderr_path) : Result<std::string>(folder.error());
  if (!text.ok()) return "";
  std::string_view tail = Tail(*text, 4000);
  while (!tail.empty() && (tail.back() == '\n' || tail.back() == ' ')) tail.remove_suffix(1);
  const auto line = tail.rfind('\n');
  if (line != tail.npos) tail.remove_prefix(line + 1);
  return tail.empty() ? "" : ": " + SafeText(tail, 300);
}

std::string RunWork::WhyNot(const Leg& leg, bool* could_not) const {
  const auto found = evidence_.find(leg.number);
  if (found == evidence_.end()) return "it was not run";
  const Outcome& outcome = found->second.outcome;
  if (found->second.obstacle.empty() && outcome.kind == OutcomeKind::kExited &&
      outcome.exit_code == kCannotBeDoneHere) {
    *could_not = false;
    return "it says that it cannot be done here" + Said(found->second);
  }
  const RerunEnd end = EndOf(WithoutItsOwn(leg, found->second));
  if (end.state == RerunEnd::State::kCompared) return "";
  return end.reason + (end.state == RerunEnd::State::kFailed ? Said(found->second) : "");
}

std::string RunWork::WhyNoLeg(int number, bool* could_not) const {
  *could_not = true;
  const Leg& leg = LegOf(plan_, number);
  if (leg.from > 0) {
    const std::string before = WhyNoLeg(leg.from, could_not);
    if (!before.empty()) return before;
    const auto left = left_.find(leg.from);
    if (left == left_.end() || !left->second.contains(leg.given)) {
      *could_not = false;
      return fmt::format("leg {} ({}) did not leave {}", leg.from, LegOf(plan_, leg.from).words,
                         leg.given);
    }
  }
  const std::string why = WhyNot(leg, could_not);
  return why.empty() ? "" : fmt::format("leg {} ({}): {}", number, leg.words, why);
}

std::vector<int> RunWork::Good(const std::vector<int>& legs) const {
  std::vector<int> good;
  bool could_not = false;
  for (const int leg : legs) {
    if (WhyNoLeg(leg, &could_not).empty()) good.push_back(leg);
  }
  return good;
}

LegOutputs RunWork::Outputs(int number) const {
  const Leg& leg = LegOf(plan_, number);
  const bool resumed = leg.role == LegRole::kResumed;
  LegOutputs outputs = OutputsOf(evidence_.at(number), resumed ? &evidence_.at(leg.from) : nullptr);
  const auto left = left_.find(number);
  for (Artifact& artifact : outputs.artifacts) {
    if (!artifact.location.empty() || left == left_.end()) continue;
    const auto found = left->second.find(artifact.path);
    if (found != left->second.end()) artifact.location = found->second.location;
  }
  return outputs;
}

Result<Pairs> RunWork::PairsOf(const std::vector<LegOutputs>& outputs, WhatCounts counts) const {
  Pairs pairs;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    for (std::size_t j = i + 1; j < outputs.size(); ++j) {
      ASSIGN_OR_RETURN((pairs[{i, j}]),
                       CompareOutputs(run_, outputs[i], outputs[j], counts, folder_));
    }
  }
  return pairs;
}

Result<JudgedClaim> RunWork::JudgeReshard(const PropertyClaim& claim) const {
  const Property& property = run_.properties[claim.property];
  const LeftCheckpoint& original = left_.at(claim.straight.front()).at(property.checkpoint);
  Pairs pairs;
  for (std::size_t i = 0; i < claim.legs.size(); ++i) {
    const std::string& saved = property.steps[i].saved;
    const auto left = left_.find(claim.legs[i]);
    if (left == left_.end() || !left->second.contains(saved)) {
      return JudgedClaim{
          .headline = fmt::format("not judged: leg {} did not leave {}", claim.legs[i], saved)};
    }
    ASSIGN_OR_RETURN((pairs[{0, i + 1}]),
                     CompareLeft(original.location, left->second.at(saved).location, saved));
  }
  return JudgeAmongThemselves(pairs, property.within);
}

Result<JudgedClaim> RunWork::JudgeLegs(const PropertyClaim& claim) const {
  const Property& property = run_.properties[claim.property];
  if (property.kind == PropertyKind::kResharded) return JudgeReshard(claim);
  const std::vector<int> straight = Good(claim.straight);
  const std::vector<int> legs = Good(claim.legs);
  std::vector<LegOutputs> outputs;
  const bool evaluated = property.kind == PropertyKind::kEvaluatedTwice;
  for (const int leg : evaluated ? std::vector<int>() : straight) outputs.push_back(Outputs(leg));
  for (const int leg : legs) {
    outputs.push_back(Outputs(leg));
    if (property.kind != PropertyKind::kResumed) continue;
    const Evidence& stopped = evidence_.at(LegOf(plan_, leg).from);
    const std::string vain = WhyNotStopped(run_, evidence_.at(straight.front()), stopped);
    if (!vain.empty()) return JudgedClaim{.headline = "not judged: " + vain};
    const std::string anew = WhyNotGoneOn(run_, stopped, evidence_.at(leg));
    if (!anew.empty()) return JudgedClaim{.headline = "not judged: " + anew};
  }
  if (outputs.size() < 2) return JudgedClaim{.headline = "not judged: there is nothing to compare"};
  ASSIGN_OR_RETURN(const Pairs pairs, PairsOf(outputs, CountsFor(property.kind)));
  if (!IsHeldToStraight(property.kind)) return JudgeAmongThemselves(pairs, property.within);
  JudgedClaim judged = JudgeAgainstStraight(pairs, straight.size(), legs.size(), property.within);
  if (IsOfAnswers(property.kind) && IsHeld(judged.state) && judged.items == 1) {
    return JudgedClaim{.headline =
                           "not judged: there is one item, which shares no batch; expected "
                           "two or more"};
  }
  return judged;
}

Result<PropertyResult> RunWork::JudgeClaim(const PropertyClaim& claim) {
  const Property& property = run_.properties[claim.property];
  PropertyResult result{.run_id = run_.run_id,
                        .family = run_.family,
                        .name = claim.name,
                        .claim = ClaimWords(property, claim.step)};
  const auto not_judged = [&](std::string why, bool could_not) {
    result.could_not = could_not;
    result.headline = "not judged: " + std::move(why);
    return result;
  };
  std::vector<int> needed = {claim.straight.front()};
  if (property.kind == PropertyKind::kRepeated) needed.push_back(claim.straight[1]);
  const std::size_t first = IsHeldToStraight(property.kind) ? 1 : claim.legs.size();
  needed.insert(
      needed.end(), claim.legs.begin(),
      claim.legs.begin() + static_cast<std::ptrdiff_t>(std::min(first, claim.legs.size())));
  for (const Leg& leg : plan_.legs) {
    const bool of_it =
        IsOfClaim(leg, claim) || std::ranges::find(needed, leg.number) != needed.end();
    if (!of_it || !IsDone(leg.number)) continue;
    result.legs.push_back(fmt::format("runs/{}/{}: {}", run_.run_id, leg.number, leg.words));
  }
  for (const int leg : needed) {
    bool could_not = false;
    const std::string why = WhyNoLeg(leg, &could_not);
    if (!why.empty()) return not_judged(why, could_not);
  }
  auto judged = JudgeLegs(claim);
  if (!judged.ok()) {
    if (IsTrouble(judged.error())) return judged.error();
    return not_judged(judged.error().ToString(), false);
  }
  result.state = judged->state;
  result.headline = std::move(judged->headline);
  result.reasons = std::move(judged->reasons);
  result.items = judged->items;
  if (IsOfAnswers(property.kind) && result.items == 0 &&
      result.state != PropertyState::kNotJudged) {
    result.notes.push_back(
        "compared by the bits of whole outputs: none of them has log-probabilities or scores by "
        "item");
  }
  // Two straight runs may be equal by luck: a loss is confirmed, as a drift is.
  const bool unsure = judged->repeats > 0 || judged->state == PropertyState::kLost;
  if (unsure && IsHeldToStraight(property.kind)) open_.insert(claim.name);
  return result;
}

Status RunWork::LookForNoise() {
  noise_.clear();
  std::vector<int> straight;
  for (const Leg& leg : plan_.legs) {
    if (leg.role == LegRole::kStraight) straight.push_back(leg.number);
  }
  std::vector<LegOutputs> outputs;
  for (const int leg : Good(straight)) outputs.push_back(Outputs(leg));
  ASSIGN_OR_RETURN(const Pairs pairs, PairsOf(outputs, WhatCounts::kDeclared));
  for (const auto& [pair, aparts] : pairs) {
    for (const Apart& apart : aparts) {
      if (apart.equal) continue;
      noise_ = fmt::format(
          "{}: straight runs differ with nothing changed ({}: {}), so no leg of it can be judged "
          "by its bits",
          run_.run_id, apart.subject, apart.words);
      return {};
    }
  }
  return {};
}

Status RunWork::Judge() {
  results_.clear();
  open_.clear();
  const Status noise = LookForNoise();
  if (!noise.ok() && IsTrouble(noise.error())) return noise;
  for (const PropertyClaim& claim : plan_.claims) {
    ASSIGN_OR_RETURN(PropertyResult result, JudgeClaim(claim));
    results_.push_back(std::move(result));
  }
  return {};
}

}  // namespace rharness
