// A candidate judged beside the stack in use.
#include "harness/gate/shadow.h"

#include <gtest/gtest.h>

#include "tests/gate/gate_input.h"

namespace rharness {
namespace {

using Runs = std::vector<std::pair<std::string, Verdict>>;

GateInput Pair(const Runs& candidate, const Runs& in_use) {
  GateInput input =
      Input(SampleStack(), Rounded(), "version: 1\nrules: [{probes: '*', allow: [bits]}]");
  input.drill = DrillOf(candidate);
  input.in_use = DrillOf(in_use);
  return input;
}

TEST(Shadow, TellsADriftOfTheCandidateFromOneThatWasThereBefore) {
  const Runs drifted = {{"a", Verdict::kDrifted}}, whole = {{"a", Verdict::kIdentical}};
  ExpectClosed(Pair(drifted, whole), {"drill_drifted"}, 1);
  ExpectClosed(Pair(drifted, drifted), {"broken_in_use"}, 3);
  ExpectClosed(Pair(drifted, {{"a", Verdict::kFailed}}), {"broken_in_use"}, 3);
  // What is not known of the stack in use excuses nothing.
  ExpectClosed(Pair(drifted, {{"a", Verdict::kInconclusive}}), {"drill_drifted"}, 1);
  const GateDecision mended = DecideGate(Pair(whole, drifted));
  EXPECT_TRUE(mended.open) << mended.headline;
  EXPECT_TRUE(Notes(mended, "shadow_compared"));
}

TEST(Shadow, OneRunThatTheCandidateBreaksClosesItAsAChange) {
  ExpectClosed(Pair({{"a", Verdict::kDrifted}, {"b", Verdict::kDrifted}},
                    {{"a", Verdict::kDrifted}, {"b", Verdict::kIdentical}}),
               {"broken_in_use", "drill_drifted"}, 1);
}

TEST(Shadow, IsNoPairOfOtherRunsOrOfAnotherTime) {
  const Runs two = {{"a", Verdict::kIdentical}, {"b", Verdict::kIdentical}};
  ExpectClosed(Pair(two, {{"a", Verdict::kIdentical}}), {"shadow_missing"}, 3);
  GateInput late = Pair(two, two);
  late.drill->started = late.in_use->started + kShadowWindow;
  EXPECT_TRUE(DecideGate(late).open);
  late.drill->started += std::chrono::minutes(1);
  ExpectClosed(late, {"shadow_another_time"}, 3);
  late.in_use->started = late.drill->started + std::chrono::hours(30);
  ExpectClosed(late, {"shadow_another_time"}, 3);
  GateInput alone = Pair(two, two);
  alone.drill.reset();
  ExpectClosed(alone, {"shadow_alone"}, 3);
}

TEST(Shadow, NamesAVariableAsAShellTakesIt) {
  GateInput input = Input(SampleStack(), Rounded());
  input.candidate.stack["environment.OPENBLAS_CORETYPE"] = "$(touch pwn) '";
  EXPECT_TRUE(WhyElsewhere(input, Environment())
                  .ends_with(R"(drill --env 'OPENBLAS_CORETYPE=$(touch pwn) '\''')"))
      << WhyElsewhere(input, Environment());
}

TEST(Shadow, MustHaveBeenOnTheStackInUse) {
  const Runs one = {{"a", Verdict::kIdentical}};
  GateInput input = Pair(one, one);
  input.candidate.stack["environment.OPENBLAS_CORETYPE"] = "Nehalem";
  Environment place;
  place.hardware.gpus = {{.model = "NVIDIA H200"}};
  input.in_use_at = {{"a", place}};
  EXPECT_TRUE(DecideGate(input).open);
  input.in_use_at->find("a")->second.variables["OPENBLAS_CORETYPE"] = "Nehalem";
  ExpectClosed(input, {"shadow_elsewhere"}, 3);
  input.in_use_at->clear();
  ExpectClosed(input, {"shadow_elsewhere"}, 3);
}

}  // namespace
}  // namespace rharness
