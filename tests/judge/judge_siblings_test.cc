// Which runs of a drill are siblings.
#include "harness/judge/judge_siblings.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

namespace rharness {
namespace {

using testing::HasSubstr;

// Of a large upgrade without a direction: at 0.8 of the limit of the record's, the last at 1.5.
std::vector<RunState> SiblingRuns(int count,
                                  const std::function<void(int, RunState*)>& change = {}) {
  std::vector<RunState> runs(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) {
    RunState& run = runs[static_cast<std::size_t>(i)];
    run.manifest.run_id = fmt::format("r{:02}", i);
    run.manifest.family = "gpt";
    run.manifest.command = {"train", "--hidden-dropout", "0.1", "--bf16"};
    CurveComparison curve{.name = "lm loss", .kind = CurveKind::kLoss, .basis = "upgrades"};
    curve.statistic = i == count - 1 ? 1.5 : 0.8;
    curve.shift = i % 2 == 0 ? 1e-3 : -1e-3;
    curve.steps = {1, 2};
    curve.a = {1.0 + i, 2.0};
    curve.b = {1.0 + i, 2.0 + curve.shift};
    curve.differing = 1;
    curve.first_difference = 2;
    curve.nature = DifferenceNature::kShifted;
    curve.state = curve.statistic > 1.0 ? CurveState::kBeyond : CurveState::kWithin;
    if (curve.statistic > 1.0) curve.first_beyond = 2;
    Comparison rerun{.is_rerun = true};
    rerun.ends = {{.index = 1, .state = RerunEnd::State::kCompared}};
    rerun.curves = {curve};
    for (std::size_t layer = 0; layer < kLayers.size(); ++layer) {
      rerun.layers[layer].layer = kLayers[layer];
    }
    run.reruns[1] = rerun;
    if (change) change(i, &run);
  }
  return runs;
}

std::vector<SiblingGroup> JudgeSiblingRuns(std::vector<RunState>* runs) {
  std::vector<RunState*> all;
  for (RunState& run : *runs) all.push_back(&run);
  return MergeAndJudgeSiblings(all);
}

CurveState LastStateOf(const std::vector<RunState>& runs) {
  return runs.back().merged.curves.at(0).state;
}

void Differ(RunState* run, Layer layer, FactDifference difference) {
  difference.layer = layer;
  LayerComparison& at = run->reruns[1].layers[static_cast<std::size_t>(layer)];
  at.state = LayerState::kDiffers;
  at.differences.push_back(std::move(difference));
}

TEST(JudgeSiblings, GiveRoomToARunOfTheirConfiguration) {
  std::vector<RunState> runs = SiblingRuns(13);
  const auto groups = JudgeSiblingRuns(&runs);
  EXPECT_EQ(LastStateOf(runs), CurveState::kWithin);
  EXPECT_THAT(runs.back().merged.curves[0].message, HasSubstr("13 runs of gpt"));
  ASSERT_EQ(groups.size(), 1U) << "wider groups of the same runs are not told";
  EXPECT_EQ(groups[0].name, "gpt");
  EXPECT_EQ(runs.back().reruns[1].curves[0].state, CurveState::kBeyond) << "kept as it was found";
}

TEST(JudgeSiblings, AreThoseWhoseEnvironmentChangedInTheSameWay) {
  const auto torch = [](const char* recorded) {
    return FactDifference{.key = "software.torch", .recorded = recorded, .observed = "2.3"};
  };
  std::vector<RunState> alike =
      SiblingRuns(13, [&](int, RunState* run) { Differ(run, Layer::kEnvironment, torch("2.1")); });
  JudgeSiblingRuns(&alike);
  EXPECT_EQ(LastStateOf(alike), CurveState::kWithin);
  std::vector<RunState> mixed = SiblingRuns(13, [&](int i, RunState* run) {
    Differ(run, Layer::kEnvironment, torch(i == 12 ? "1.13" : "2.1"));
  });
  const auto groups = JudgeSiblingRuns(&mixed);
  EXPECT_EQ(LastStateOf(mixed), CurveState::kBeyond) << "another upgrade";
  ASSERT_EQ(groups.size(), 1U);
  EXPECT_EQ(groups[0].name, "gpt where torch changed");
  std::vector<RunState> idle = SiblingRuns(13, [&](int i, RunState* run) {
    FactDifference package{.key = "package.dpkg.tzdata",
                           .recorded = fmt::format("{}", i),
                           .observed = "2026",
                           .use = FactUse::kNotUsed};
    Differ(run, Layer::kEnvironment, package);
  });
  JudgeSiblingRuns(&idle);
  EXPECT_EQ(LastStateOf(idle), CurveState::kWithin) << "what no run used makes no other upgrade";
}

TEST(JudgeSiblings, AreOfOneDeviceAndOneKindOfNoise) {
  std::vector<RunState> device = SiblingRuns(13, [](int i, RunState* run) {
    run->manifest.environment.hardware.cpu.model = i == 12 ? "Zen 5" : "Zen 4";
  });
  JudgeSiblingRuns(&device);
  EXPECT_EQ(LastStateOf(device), CurveState::kBeyond);
  std::vector<RunState> calm = SiblingRuns(13, [](int i, RunState* run) {
    if (i == 12) run->manifest.command[2] = "0.0";
  });
  JudgeSiblingRuns(&calm);
  EXPECT_EQ(LastStateOf(calm), CurveState::kBeyond) << "without dropout no stream excuses it";
  std::vector<RunState> families =
      SiblingRuns(13, [](int i, RunState* run) { run->manifest.family = i == 12 ? "t5" : "gpt"; });
  JudgeSiblingRuns(&families);
  EXPECT_EQ(LastStateOf(families), CurveState::kWithin) << "its own are too few; those alike tell";
  EXPECT_THAT(families.back().merged.curves[0].message,
              HasSubstr("13 runs of all families with dropout, bf16"));
}

TEST(JudgeSiblings, LeaveAloneWhatPromisedItsBitsOrRanOnOtherData) {
  std::vector<RunState> promised = SiblingRuns(13, [](int i, RunState* run) {
    if (i == 12) run->manifest.determinism.declared = "bitwise";
  });
  JudgeSiblingRuns(&promised);
  EXPECT_EQ(LastStateOf(promised), CurveState::kBeyond);
  std::vector<RunState> other = SiblingRuns(13, [](int i, RunState* run) {
    if (i < 6) Differ(run, Layer::kData, {.key = "train", .weight = FactWeight::kIdentity});
  });
  JudgeSiblingRuns(&other);
  EXPECT_EQ(LastStateOf(other), CurveState::kBeyond) << "seven are left";
}

TEST(JudgeSiblings, ReadTraitsInHyperparametersAndCommands) {
  Manifest manifest;
  EXPECT_EQ(TraitsOf(manifest), "");
  manifest.command = {"train", "--attention-dropout=0", "--hidden-dropout", "0.0"};
  EXPECT_EQ(TraitsOf(manifest), "no dropout");
  manifest.hyperparameters["Dropout"] = Json(0.1);
  manifest.hyperparameters["dtype"] = Json("BF16");
  EXPECT_EQ(TraitsOf(manifest), "dropout, bf16");
  manifest.hyperparameters["fp8"] = Json(false);
  EXPECT_EQ(TraitsOf(manifest), "dropout, bf16");
}

}  // namespace
}  // namespace rharness
