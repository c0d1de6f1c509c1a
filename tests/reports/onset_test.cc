// Where two runs part, in every format: nothing acts, nothing grows without bound.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "reports/onset_report.h"
#include "reports/schemas.h"
#include "tests/reports/html_checker.h"
#include "tests/reports/schema_validator.h"

namespace rharness {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

TraceRecord Tensor(std::int64_t step, TraceKind kind, const std::string& name, bool other) {
  TraceRecord record{.step = step, .kind = kind, .name = name, .type = "Linear", .shape = {4}};
  record.dtype = "float32";
  record.digest = other ? "sha256:1" : "sha256:0";
  record.norm = record.max = 1.0;
  record.sketch = {other ? 1.0 + 1e-7 : 1.0};
  return record;
}

// Parts at the output of layer `layers` / 2 of step 1.
OnsetReport Sample(int layers) {
  Trace a{.path = "a", .ended = true};
  Trace b{.path = "b", .ended = true};
  for (std::int64_t step = 0; step < 3; ++step) {
    std::int64_t order = 0;
    const auto add = [&](TraceKind kind, const std::string& name, bool other) {
      for (Trace* trace : {&a, &b}) {
        trace->records.push_back(Tensor(step, kind, name, other && trace == &b));
        trace->records.back().order = order;
      }
      ++order;
    };
    add(TraceKind::kParameter, "layer0.weight", step > 1);
    for (int i = 0; i < layers; ++i) {
      const std::string name = "layer" + std::to_string(i);
      add(TraceKind::kInput, name, step > 1 || (step == 1 && i > layers / 2));
      add(TraceKind::kOutput, name, step > 1 || (step == 1 && i >= layers / 2));
    }
    add(TraceKind::kLoss, "loss", step >= 1);
  }
  OnsetReport report{.a = "run-1/trace", .b = "run-2/trace", .version = "0", .traced = true};
  report.traces = FindOnset({a}, {b});
  report.headline = report.traces.headline;
  report.next = report.traces.next;
  report.reasons = report.traces.reasons;
  report.checkpoints = {{"step-1.npz", 1, CheckpointState::kEqual},
                        {"step-2.npz", 2, CheckpointState::kDiffers}};
  report.tensors = {{"layer1.weight", 4, 1, 1e-7, 1e-7, 1}, {"layer2.weight", 0}};
  report.tensor_order = "in the order of their names";
  report.curves = {{.name = "loss",
                    .state = CurveState::kBeyond,
                    .steps = {1, 2},
                    .a = {1, 1},
                    .b = {1, 2},
                    .differing = 1,
                    .first_difference = 2,
                    .message = "differs at step 2"}};
  report.exit_code = 0;
  return report;
}

CallTensor TensorOfCall(const std::string& digest) {
  return {.shape = {4, 8}, .dtype = "float32", .digest = digest, .norm = 2.0, .name = "fc1.weight"};
}

// Parts at a call of fc1, with `text` as every word of the run's own.
CallOnset CallSample(const std::string& text) {
  Call call{.step = 1, .order = 7, .phase = "forward", .module = text, .op = text, .site = text};
  call.args = call.group = text;
  call.inputs = {TensorOfCall("d1"), TensorOfCall("d2")};
  call.outputs = {TensorOfCall("d3")};
  CallPair origin{.a = call, .b = call, .state = RecordState::kOrigin};
  origin.b.outputs = {TensorOfCall("d4")};
  CallPair own{.a = call, .b = call, .state = RecordState::kOnlyB};
  CallOnset onset{.end = "parts", .what = "operator", .origin = origin};
  onset.difference = text;
  onset.around = {own, origin};
  onset.further = {origin};
  onset.own = {own};
  onset.paired = 1234;
  onset.differing = 1;
  return onset;
}

TEST(OnsetPage, ShowsBothSidesOfTheCall) {
  OnsetReport report = Sample(6);
  report.calls = CallSample("aten.mm");
  DescribeCallOnset(&*report.calls);
  report.headline = report.calls->headline;
  const std::string page = WriteHtml(DocumentOf(report));
  EXPECT_EQ(CheckHtml(page).error, "");
  EXPECT_THAT(page, HasSubstr("gives another result on equal inputs and arguments"));
  const std::string text = WriteTerminal(DocumentOf(report), 200, false);
  EXPECT_THAT(text, ContainsRegex("input 1 \\(fc1.weight\\) += equal"));
  EXPECT_THAT(text, ContainsRegex("output 0 \\(fc1.weight\\) +.+ differs .* d3 +d4"));
  EXPECT_THAT(text, ContainsRegex("aten.mm +.+ only in B"));
  EXPECT_THAT(text, HasSubstr("1,234 in both, 1 with another output"));
}

TEST(OnsetPage, ShowsTheStepInNetworkOrderAndTheGrowth) {
  const OnsetReport report = Sample(6);
  ASSERT_EQ(report.traces.what, "operator") << report.headline;
  const std::string page = WriteHtml(DocumentOf(report));
  EXPECT_EQ(CheckHtml(page).error, "");
  EXPECT_THAT(page, HasSubstr("the output of layer3 (Linear) differs on equal inputs"));
  EXPECT_THAT(page, HasSubstr("output layer3 (Linear): origin"));
  EXPECT_THAT(page, HasSubstr("input layer4 (Linear): handed on"));
  EXPECT_THAT(page, HasSubstr("How far apart by step"));
  EXPECT_THAT(page, Not(HasSubstr("<script")));
  const std::string text = WriteTerminal(DocumentOf(report), 100, false);
  EXPECT_THAT(text, ContainsRegex("layer3 \\(Linear\\) +output +✗ begins here"));
  EXPECT_THAT(text, ContainsRegex("layer2 \\(Linear\\) +output += equal"));
  EXPECT_THAT(text, ContainsRegex("layer4 \\(Linear\\) +input +~ handed on"));
  EXPECT_THAT(text, ContainsRegex("step-2.npz +differs"));
  EXPECT_THAT(text, ContainsRegex("layer2.weight +the digests differ"));
}

TEST(OnsetPage, TextOfStrangersOnlyShows) {
  OnsetReport report = Sample(6);
  const std::string hostile = "<script>alert(1)</script>\x1b[31m\n\"'&\xff\u202e";
  report.a = report.b = report.headline = report.next = report.tensor_order = hostile;
  report.reasons = report.notes = {hostile};
  report.checkpoints[0].name = report.tensors[0].name = report.curves[0].name = hostile;
  report.traces.what = report.traces.headline = hostile;
  for (OnsetRecord& record : report.traces.strip) record.a.name = record.a.type = hostile;
  report.calls = CallSample(hostile);
  report.calls->what = report.calls->headline = hostile;
  const std::string page = WriteHtml(DocumentOf(report));
  EXPECT_EQ(CheckHtml(page).error, "");
  EXPECT_THAT(page, Not(HasSubstr("<script")));
  EXPECT_THAT(page, Not(HasSubstr("\x1b")));
  EXPECT_THAT(page, Not(HasSubstr("\u202e")));
  const std::string text = WriteTerminal(DocumentOf(report), 100, false);
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
  EXPECT_THAT(text, Not(HasSubstr("\u202e")));
  EXPECT_TRUE(ParseJson(ToJson(report).Dump(2), "onset.json").ok());
}

TEST(OnsetPage, StaysSmallForLargeNetworks) {
  OnsetReport report = Sample(30000);
  for (int i = 0; i < 20000; ++i) report.checkpoints.push_back({"c", i, CheckpointState::kEqual});
  const std::string page = WriteHtml(DocumentOf(report));
  EXPECT_LT(page.size(), 1'000'000U);
  EXPECT_THAT(page, HasSubstr("onset.json"));
  EXPECT_THAT(SvgOnsetStrip(report.traces, "s"), HasSubstr("output layer15000 (Linear): origin"));
  EXPECT_LT(WriteTerminal(DocumentOf(report), 100, false).size(), 20'000U);
}

TEST(OnsetSchema, DescribesExactlyWhatIsWritten) {
  const Json schema = OnsetSchema();
  OnsetReport rich = Sample(6);
  rich.notes = {"one"};
  rich.traces.origins = {*rich.traces.origin};
  rich.traces.origin->a.kind = TraceKind::kSetting;
  rich.traces.jump = 2;
  rich.traces.curves = rich.curves;
  rich.tensors[0].relative = std::nan("");
  rich.calls = CallSample("x");
  rich.calls->origin->a.inputs[0].unseen = true;
  rich.calls->origin->a.inputs[0].count = 3;
  rich.calls->origin->a.rng = rich.calls->origin->a.unit = "u";
  OnsetReport equal = Sample(2);
  equal.traces = Onset();
  for (const OnsetReport& each : {rich, Sample(3), equal, OnsetReport()}) {
    Validator(schema).Check(ToJson(each), schema, "$");
  }
}

TEST(OnsetPage, WithoutTracesDrawsNothing) {
  OnsetReport report{.headline = "the runs part after step-1", .exit_code = 3};
  EXPECT_THAT(WriteHtml(DocumentOf(report)), Not(HasSubstr("<svg")));
  EXPECT_EQ(SvgOnsetStrip({}, "s"), "");
  EXPECT_EQ(SvgOnsetGrowth({}, "s"), "");
}

}  // namespace
}  // namespace rharness
