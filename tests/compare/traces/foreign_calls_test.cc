// Traces of operators by other tools.
#include <gmock/gmock.h>

#include "tests/compare/traces/call_lines.h"

namespace rharness {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

class ForeignCalls : public CallFiles {
 protected:
  CallOnset OnsetOf(const std::string& a, const std::string& b, const std::string& name) {
    Write("A/" + name, a);
    Write("B/" + name, b);
    const auto of_a = LoadCalls(folder_ / "A" / name);
    const auto of_b = LoadCalls(folder_ / "B" / name);
    EXPECT_TRUE(of_a.ok()) << of_a.error().ToString();
    EXPECT_TRUE(of_b.ok());
    if (!of_a.ok() || !of_b.ok()) return {};
    auto onset = FindCallOnset(*of_a, *of_b);
    EXPECT_TRUE(onset.ok());
    return onset.ok() ? std::move(*onset) : CallOnset();
  }
};

std::string Scalars(const std::vector<std::string>& values, const std::string& type) {
  std::string items;
  for (const std::string& value : values) {
    items += (items.empty() ? "" : ", ") + (R"({"type": "scalar", "value": )" + value + "}");
  }
  return R"({"type": ")" + type + R"(", "items": [)" + items + "]}";
}

// An operator as DebugMode saves it, torch 2.15.
std::string Operator(const std::string& name, const std::string& args, const std::string& kwargs,
                     const std::string& output, const std::vector<std::string>& given,
                     const std::string& made, const std::string& forward = "null") {
  const std::string inputs = R"({"type": "tuple", "items": [)" + Scalars(given, "tuple") +
                             R"(, {"type": "dict", "items": []}]})";
  std::string log = R"({"type": "dict", "items": [["input_hash", )" + inputs + "]";
  if (!made.empty()) log += R"(, ["hash", {"type": "scalar", "value": )" + made + "}]";
  return R"({"call_depth": 3, "log": )" + log + R"(]}, "output_str": "  ->  )" + output +
         R"(", "stack_trace": "  File \"/w/train.py\", line 14, in <module>\n    m(x)\n  File \"/v/torch/nn/modules/linear.py\", line 9, in forward\n", "fwd_stack_trace": )" +
         forward + R"(, "type": "op", "op_name": ")" + name + R"(", "args_str": ")" + args +
         R"(", "kwargs_str": ")" + kwargs + "\"}";
}

std::string DebugModeLogs(const std::string& uninitialised, const std::string& mask,
                          const std::string& eps) {
  const std::string after = mask == "111.0" ? "5.5" : "5.75";
  return R"({"format": "torch.utils._debug_mode.DebugMode.logs", "version": 1, "logs": [)"
         R"({"call_depth": 1, "log": null, "type": "annotate", "tag": "Net", "header": "nn.Mod"}, )"
         R"({"call_depth": 2, "log": null, "type": "annotate", "tag": "Net.drop", "header": "nn.Mod"}, )" +
         Operator("aten::empty_like", "t$4: f32[8, 16]", "", "t$5: f32[8, 16]", {"3.5"}, "") +
         ", " +
         Operator("aten::bernoulli_.float", "t$5: f32[8, 16], 0.9", "", "t$5: f32[8, 16]",
                  {uninitialised, "null"}, mask) +
         ", " +
         Operator("aten::mul.Tensor", "t$4: f32[8, 16], t$5: f32[8, 16]", "", "t$6: f32[8, 16]",
                  {"3.5", mask}, after) +
         R"(, {"call_depth": 0, "log": null, "type": "annotate", "tag": "Optimizer.step#AdamW.step", "header": "record function"}, )" +
         Operator("aten::add_.Tensor", "t$6: f32[8, 16], " + eps, ", alpha=2", "t$6: f32[8, 16]",
                  {after, "null"}, eps == "1e-08" ? after : "9.0") +
         "]}\n";
}

TEST_F(ForeignCalls, DebugModeMemoryThatWasNeverWrittenIsNoDifference) {
  const CallOnset onset = OnsetOf(DebugModeLogs("1.48e+36", "111.0", "1e-08"),
                                  DebugModeLogs("54562232.0", "111.0", "1e-08"), "a.json");
  EXPECT_EQ(onset.end, "equal") << onset.headline;
  EXPECT_EQ(onset.paired, 4U);
  EXPECT_THAT(onset.notes, Contains(HasSubstr("the hashes of DebugMode are norms or XORs")));
}

TEST_F(ForeignCalls, DebugModeNamesTheDrawAndTheArgument) {
  CallOnset onset = OnsetOf(DebugModeLogs("1.0", "111.0", "1e-08"),
                            DebugModeLogs("2.0", "117.0", "1e-08"), "a.json");
  EXPECT_EQ(onset.what, "random_operator");
  ASSERT_TRUE(onset.origin);
  EXPECT_EQ(onset.origin->a.op, "aten::bernoulli_.float");
  EXPECT_EQ(onset.origin->a.module, "drop");
  EXPECT_EQ(onset.origin->a.site, "train.py:14");
  EXPECT_EQ(onset.origin->a.inputs.at(0).from, 0);
  EXPECT_THAT(onset.origin->a.outputs.at(0).shape, ElementsAre(8U, 16U));
  onset = OnsetOf(DebugModeLogs("1.0", "111.0", "1e-08"), DebugModeLogs("1.0", "111.0", "1e-05"),
                  "a.json");
  EXPECT_EQ(onset.what, "arguments");
  EXPECT_EQ(onset.origin->a.phase, "optimizer");
  EXPECT_EQ(onset.difference, "argument 1=1e-08 in A, argument 1=1e-05 in B");
}

TEST_F(ForeignCalls, WhatIsNoLogOfDebugModeIsRefusedWithThePlace) {
  const auto failure = [this](const std::string& text) {
    const auto traces = LoadCalls(Write("x.json", text));
    EXPECT_FALSE(traces.ok());
    return traces.ok() ? "" : traces.error().ToString();
  };
  const std::string start = R"({"format": "torch.utils._debug_mode.DebugMode.logs")";
  EXPECT_THAT(failure(start + R"(, "version": 2, "logs": []})"), HasSubstr("expected version 1"));
  EXPECT_THAT(failure(start + R"(, "version": 1, "logs": [)"), HasSubstr("x.json"));
  EXPECT_THAT(failure(start + R"(, "version": 1, "logs": [{"op_name": "x"}]})"),
              HasSubstr("$.logs[0].type"));
  EXPECT_FALSE(HasCalls(Write("y.json", "{\"format\": \"other\"}")));
}

std::string Torchtitan(const std::string& norm, const std::string& producers) {
  return "Total captured activations: 3\nExcluded ops dispatched: t, view\n" +
         std::string(80, '=') +
         "\n\n[layers.0.wq/op_0_mm]\n  Shape: torch.Size([8, 1024]), Dtype: torch.bfloat16\n"
         "  L2 norm: 1.234560e+00\n  Min: -1.0e+00\n  Output hash: 4.000000e+00\n"
         "  Input hashes: 1.000000e+00, 2.000000e+00\n  Input producers: ;\n"
         "  Location: models/attention.py:534\n\n"
         "[layers.0/op_1_silu]\n  Shape: torch.Size([8, 1024]), Dtype: torch.bfloat16\n"
         "  L2 norm: 2.0e+00\n  Output hash: " +
         norm + "\n  Input hashes: 4.000000e+00\n  Input producers: " + producers +
         "\n  Location: models/mlp.py:20\n  Phase: backward\n\n"
         "[<none>/op_0__fused_adamw_]\n  Input hashes: " +
         norm + ", 3.000000e+00\n  Input producers: layers.0/op_1_silu;\n\n";
}

TEST_F(ForeignCalls, TorchtitanDumpsAreAlignedByTheirOperators) {
  const std::string name = "rank_3_activations.log";
  CallOnset onset = OnsetOf(Torchtitan("5.0", "layers.0.wq/op_0_mm"),
                            Torchtitan("6.0", "layers.0.wq/op_0_mm"), name);
  EXPECT_EQ(onset.rank, 3);
  EXPECT_EQ(onset.what, "operator");
  ASSERT_TRUE(onset.origin);
  const Call& call = onset.origin->a;
  EXPECT_EQ(call.op, "silu");
  EXPECT_EQ(call.module, "layers.0");
  EXPECT_EQ(call.site, "models/mlp.py:20");
  EXPECT_EQ(call.phase, "backward");
  EXPECT_EQ(call.inputs.at(0).from, 0);
  EXPECT_THAT(call.outputs.at(0).shape, ElementsAre(8U, 1024U));
  EXPECT_EQ(call.outputs.at(0).dtype, "bfloat16");
  EXPECT_EQ(call.outputs.at(0).norm, 2.0);
  // What is updated in place has no hash: that it is equal is not said.
  onset = OnsetOf(Torchtitan("5.0", ""), Torchtitan("5.0", ""), name);
  EXPECT_EQ(onset.end, "equal");
  EXPECT_EQ(onset.unknown, 1U);
  const auto folder = LoadCalls(folder_ / "A");
  ASSERT_TRUE(folder.ok());
  EXPECT_EQ(folder->size(), 1U);
}

TEST_F(ForeignCalls, AnInPlaceUpdateOfOtherValuesIsNeverEqual) {
  std::string a = Torchtitan("5.0", "");
  std::string b = a;
  b.replace(b.rfind("3.000000e+00"), 12, "3.000001e+00");
  const CallOnset onset = OnsetOf(a, b, "rank_0_activations.log");
  EXPECT_EQ(onset.end, "parts");
  EXPECT_EQ(onset.what, "outside_value");
  EXPECT_EQ(onset.origin->a.op, "_fused_adamw_");
}

TEST_F(ForeignCalls, ATorchtitanDumpWithAnUnknownPartIsRefused) {
  const auto traces =
      LoadCalls(Write("rank_0_activations.log", "Total captured activations: 1\n\n[x]\n"));
  ASSERT_FALSE(traces.ok());
  EXPECT_THAT(traces.error().ToString(), HasSubstr("line 3: expected [MODULE/op_N_NAME]"));
}

}  // namespace
}  // namespace rharness
