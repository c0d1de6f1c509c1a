// Reruns of one run beside each other: what a forgotten seed looks like in a drill.
#include "harness/judge/rerun_outputs.h"

#include <gtest/gtest.h>

#include "harness/judge/compare_rerun.h"
#include "harness/judge/judge_run.h"

namespace rharness {
namespace {

Evidence Rerun(int number, double loss) {
  Evidence evidence;
  evidence.run_id = "r";
  evidence.rerun = number;
  evidence.outcome.kind = OutcomeKind::kExited;
  evidence.environment.hardware.cpu.model = "EPYC";
  evidence.environment.variables["OMP_NUM_THREADS"] = "2";
  evidence.metrics.metrics = {{"loss", loss}, {"wall_seconds", 1.0 * number}};
  evidence.metrics.curves = {Curve{"train_loss", {1, 2, 3}, {3.0, 2.0, loss}}};
  return evidence;
}

TEST(RerunOutputs, AreTheBitsThatShouldBeTheSameEachTime) {
  const RerunOutputs one = OutputsOf(Rerun(1, 0.5)), same = OutputsOf(Rerun(2, 0.5)),
                     other = OutputsOf(Rerun(3, 0.5000000000000001));
  EXPECT_EQ(one.digests, same.digests);
  EXPECT_EQ(one.group, same.group);
  EXPECT_EQ(one.digests.at("metric loss"), "3fe0000000000000");  // 0.5 in IEEE 754 binary64
  EXPECT_NE(one.digests.at("metric loss"), other.digests.at("metric loss"));
  EXPECT_NE(one.digests.at("curve train_loss"), other.digests.at("curve train_loss"));
  EXPECT_FALSE(one.digests.contains("metric wall_seconds")) << "times always differ";
}

TEST(RerunOutputs, OfOtherMachinesSeedsAndDataAreNotComparedWithEachOther) {
  const std::string group = OutputsOf(Rerun(1, 0.5)).group;
  Evidence evidence = Rerun(1, 0.5);
  evidence.environment.hardware.cpu.model = "Xeon";
  EXPECT_NE(OutputsOf(evidence).group, group);
  evidence = Rerun(1, 0.5);
  evidence.seeds["init"] = 7;
  EXPECT_NE(OutputsOf(evidence).group, group);
  evidence = Rerun(1, 0.5);
  evidence.data = {{.name = "x", .sha256 = "a"}};
  EXPECT_NE(OutputsOf(evidence).group, group);
}

TEST(RerunOutputs, ThatDifferAreTheFirstCauseOfARun) {
  Manifest manifest;
  manifest.run_id = "r";
  manifest.command = {"train"};
  manifest.determinism.declared = "bitwise";
  manifest.environment.variables["OMP_NUM_THREADS"] = "1";
  manifest.curves = {Curve{"train_loss", {1, 2, 3}, {3.0, 2.0, 1.0}}};
  const auto causes = [&](double second) {
    const std::vector<Evidence> evidence = {Rerun(1, 0.5), Rerun(2, second)};
    std::vector<Comparison> reruns;
    for (const Evidence& one : evidence) {
      std::vector<std::string> damage;
      reruns.push_back(CompareRerun(manifest, one, Places{}, "/nowhere", &damage));
    }
    return JudgeRun(manifest, evidence, reruns, MergeReruns(manifest, reruns), {}).causes;
  };
  ASSERT_FALSE(causes(0.25).empty());
  EXPECT_EQ(causes(0.25).front().code, "reruns_differ");
  for (const Cause& cause : causes(0.5)) EXPECT_NE(cause.code, "reruns_differ");
}

}  // namespace
}  // namespace rharness
