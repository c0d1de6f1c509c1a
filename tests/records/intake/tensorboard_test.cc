// Event files of TensorBoard as records of runs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/compare/curves/build_event_file.h"
#include "tests/records/intake/source_tree.h"

namespace rharness {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class TensorBoard : public SourceTree {};

std::string Losses(float last) {
  return FileHead() + SimpleScalar(1, "loss", 2) + SimpleScalar(2, "loss", last) +
         SimpleScalar(2, "step_time", 0.5);
}

TEST_F(TensorBoard, FoldersAreRunsAndTheirWritersArePartsOfThem) {
  Put("logs/a/events.out.tfevents.1.h", Losses(1));
  Put("logs/a/hparams/events.out.tfevents.1.h", FileHead() + SimpleScalar(0, "hp_metric", 7));
  Put("logs/b/train/events.out.tfevents.1.h", Losses(0.5));
  Put("logs/b/validation/events.out.tfevents.1.h", Losses(0.75));
  const ImportOutcome outcome = Import();
  ASSERT_TRUE(outcome.status.ok()) << outcome.status.error().ToString();
  ASSERT_EQ(outcome.runs.size(), 2U);
  EXPECT_EQ(outcome.runs[0].run_id.substr(0, 18), "tensorboard-logs-a");
  EXPECT_EQ(outcome.runs[0].family, "logs");
  EXPECT_EQ(MetricOf(outcome.runs[0], "loss"), 1.0);
  EXPECT_EQ(MetricOf(outcome.runs[0], "hparams/hp_metric"), 7.0);
  EXPECT_EQ(CurveOf(outcome.runs[0], "step_time"), nullptr);
  EXPECT_THAT(CurveOf(outcome.runs[1], "train/loss")->values, ElementsAre(2, 0.5));
  EXPECT_EQ(MetricOf(outcome.runs[1], "validation/loss"), 0.75);
  EXPECT_EQ(WorthOf(outcome.runs[1], "command"), "missing");
  EXPECT_TRUE(HasRemark(outcome.runs[1], "event files are curves alone"));
}

TEST_F(TensorBoard, BrokenFilesAreRefusedAndTheOthersKept) {
  Put("a/events.out.tfevents.1.h", Losses(1));
  Put("b/events.out.tfevents.1.h", "step,loss\n1,2\n");
  Put("c/events.out.tfevents.1.h", FileHead());
  PutLink("a/events.out.tfevents.2.h", "/etc/passwd");
  const ImportOutcome outcome = Import("tensorboard");
  EXPECT_EQ(outcome.runs.size(), 1U);
  EXPECT_EQ(outcome.refused.size(), 3U);
}

}  // namespace
}  // namespace rharness
