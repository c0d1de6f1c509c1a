// What two legs left, side by side: one artifact is one thing.
#include "harness/experiments/properties/leg_outputs.h"

#include <gmock/gmock.h>

#include "harness/execution/rerun/tensor_records.h"
#include "tests/compare/weights/safetensors_file.h"

namespace rharness {
namespace {

using testing::HasSubstr;

class LegArtifacts : public CheckpointFiles {
 protected:
  // Weights and the optimizer's state in one file.
  Artifact Leg(const std::string& file, float weight, float state) {
    const auto path =
        Write(FileOf({{"fc.weight", "F32", "[1]", BytesOf<float>({weight})},
                      {"optimizer.state.0.exp_avg", "F32", "[1]", BytesOf<float>({state})}}),
              file);
    folder_path_ = path.parent_path();
    Artifact artifact{.role = "optimizer", .path = "state.safetensors"};
    artifact.location = file;
    EXPECT_TRUE(ReadTensorRecords(path, &artifact).ok());
    return artifact;
  }
  std::vector<Apart> Compare(const Artifact& a, const Artifact& b) {
    Manifest run;
    run.artifacts = {a};
    const auto aparts =
        CompareOutputs(run, {.metrics = {}, .artifacts = {a}}, {.metrics = {}, .artifacts = {b}},
                       WhatCounts::kDeclared, folder_path_);
    EXPECT_TRUE(aparts.ok()) << aparts.error().ToString();
    return aparts.ok() ? *aparts : std::vector<Apart>();
  }
  std::filesystem::path folder_path_;
};

TEST_F(LegArtifacts, HaveOneNameWhetherTheyAreEqualOrNot) {
  const Artifact a = Leg("a.safetensors", 1, 1);
  const auto equal = Compare(a, Leg("b.safetensors", 1, 1));
  const auto other = Compare(a, Leg("c.safetensors", 2, 1));
  ASSERT_EQ(equal.size(), 1u);
  ASSERT_EQ(other.size(), 1u);
  EXPECT_TRUE(equal[0].equal);
  EXPECT_FALSE(other[0].equal);
  EXPECT_EQ(equal[0].subject, other[0].subject);
  EXPECT_THAT(other[0].words, HasSubstr("weights state.safetensors: 1 of 1 tensors differ"));
}

TEST_F(LegArtifacts, OfValuesThatAreNotFiniteAreNeverEqual) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const auto aparts = Compare(Leg("a.safetensors", nan, 1), Leg("b.safetensors", nan, 1));
  ASSERT_EQ(aparts.size(), 1u);
  EXPECT_FALSE(aparts[0].equal);
  EXPECT_THAT(aparts[0].words, HasSubstr("not finite"));
}

}  // namespace
}  // namespace rharness
