// `rharness compare --trace` as a program: traces, kept checkpoints, and reruns that are traced.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "tests/cli/isolate_program.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

std::string Record(int step, const std::string& kind, const std::string& name,
                   const std::string& digest) {
  return "{\"step\": " + std::to_string(step) + ", \"kind\": \"" + kind + "\", \"name\": \"" +
         name + "\", \"shape\": [2], \"dtype\": \"float32\", \"digest\": \"sha256:" + digest +
         "\", \"norm\": 1, \"max\": 1, \"sketch\": [" + (digest == "0" ? "1" : "1.0000001") +
         "]}\n";
}

// Two operators; the second one's output is `second` at step 1.
std::string TraceText(const std::string& second) {
  std::string text = "{\"schema\": \"rharness.trace/v1\"}\n";
  for (int step = 0; step < 2; ++step) {
    const std::string digest = step == 0 ? "0" : second;
    text += Record(step, "parameter", "fc1.weight", "0") + Record(step, "batch", "", "0") +
            Record(step, "input", "fc1", "0") + Record(step, "output", "fc1", "0") +
            Record(step, "input", "fc2", "0") + Record(step, "output", "fc2", digest);
  }
  return text + "{\"end\": true}\n";
}

// A version 1.0 .npy file of float32 numbers.
std::string Npy(const std::vector<float>& values) {
  std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (" +
                       std::to_string(values.size()) + ",), }";
  while ((10 + header.size() + 1) % 64 != 0) header += ' ';
  header += '\n';
  std::string file = std::string("\x93NUMPY\x01\x00", 8);
  file += static_cast<char>(header.size() & 0xff);
  file += static_cast<char>(header.size() >> 8);
  file += header;
  file.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
  return file;
}

class TraceProgram : public IsolateProgram {
 protected:
  ProcessResult TraceOf(const std::string& a, const std::string& b,
                        const std::vector<std::string>& more = {}) const {
    std::vector<std::string> options = {kRharness, "compare", "--trace", a, b, "--out", "where"};
    options.insert(options.end(), more.begin(), more.end());
    return Run(options);
  }
  Json Where() const {
    auto json = ReadJsonFile(At("where/onset.json"));
    EXPECT_TRUE(json.ok()) << json.error().ToString();
    return json.ok() ? std::move(*json) : Json();
  }
};

TEST_F(TraceProgram, NamesTheOperatorAtWhichTracesPart) {
  Write("a/rank-0.jsonl", TraceText("0"));
  Write("b.jsonl", TraceText("1"));
  const ProcessResult result = TraceOf("a", "b.jsonl");
  ASSERT_EQ(ExitOf(result), 0) << result.stdout_text << result.stderr_text;
  EXPECT_THAT(result.stdout_text,
              HasSubstr("the runs diverge at step 1: the output of fc2 differs on equal inputs"));
  EXPECT_THAT(result.stdout_text, testing::ContainsRegex("fc2 +output +✗ begins here"));
  EXPECT_EQ(Where().Find("traces")->Find("layer")->AsString(), "environment");
  EXPECT_THAT(Read(At("where/onset.html")), HasSubstr("<svg"));
  const ProcessResult same = TraceOf("a", "a");
  EXPECT_EQ(ExitOf(same), 3);
  EXPECT_THAT(same.stdout_text, HasSubstr("in 2 steps nothing differs"));
  const ProcessResult json = TraceOf("a", "b.jsonl", {"--json"});
  EXPECT_TRUE(ParseJson(json.stdout_text, "stdout").ok());
}

// Two calls a step; the second one's output is `second`.
std::string CallsText(const std::string& second) {
  const auto call = [](int order, const std::string& op, const std::string& in,
                       const std::string& out) {
    return R"({"step":1,"order":)" + std::to_string(order) + R"(,"op":")" + op +
           R"(","module":"fc2","in":[{"digest":")" + in + R"("}],"out":[{"digest":")" + out +
           "\"}]}\n";
  };
  return "{\"schema\":\"rharness.calls/v1\",\"digest\":\"sha256/64\"}\n" +
         call(0, "aten.t", "0", "1") + call(1, "aten.addmm", "1", second) + "{\"end\":true}\n";
}

TEST_F(TraceProgram, NamesTheCallWhereBothHaveTheirOperators) {
  Write("a/rank-0.calls", CallsText("2"));
  Write("b/rank-0.calls", CallsText("3"));
  ProcessResult result = TraceOf("a", "b/rank-0.calls");
  ASSERT_EQ(ExitOf(result), 0) << result.stdout_text << result.stderr_text;
  EXPECT_THAT(result.stdout_text, HasSubstr("the runs diverge at step 1: aten.addmm in fc2 gives"));
  // Of modules' traces beside them the sentence is a reason.
  Write("a/rank-0.jsonl", TraceText("0"));
  Write("b/rank-0.jsonl", TraceText("1"));
  result = TraceOf("a", "b");
  ASSERT_EQ(ExitOf(result), 0) << result.stdout_text << result.stderr_text;
  EXPECT_THAT(result.stdout_text, HasSubstr("the runs diverge at step 1: aten.addmm in fc2 gives"));
  EXPECT_THAT(result.stdout_text, HasSubstr("modules: the runs diverge at step 1: the output of"));
  EXPECT_EQ(Where().Find("calls")->Find("what")->AsString(), "operator");
  // Modules name what begins a run, and an earlier step.
  std::string later = TraceText("1");
  later.replace(later.find("sha256:0"), 8, "sha256:9");
  Write("b/rank-0.jsonl", later);
  result = TraceOf("a", "b");
  EXPECT_THAT(result.stdout_text, HasSubstr("fc1.weight differs before the first step"));
  EXPECT_THAT(result.stdout_text, HasSubstr("operators: the runs diverge at step 1: aten.addmm"));
  // Equal calls leave the answer to the modules.
  Write("b/rank-0.calls", CallsText("2"));
  Write("b/rank-0.jsonl", TraceText("1"));
  result = TraceOf("a", "b");
  EXPECT_EQ(ExitOf(result), 0);
  EXPECT_THAT(result.stdout_text, HasSubstr("the output of fc2 differs on equal inputs"));
  EXPECT_EQ(ExitOf(TraceOf("a/rank-0.calls", "b/rank-0.calls")), 3);
  // Nothing is named for certain where lines cannot be read.
  std::string damaged = CallsText("3");
  damaged.insert(damaged.find('\n') + 1, "no call\n");
  Write("b/rank-0.calls", damaged);
  EXPECT_EQ(ExitOf(TraceOf("a/rank-0.calls", "b/rank-0.calls")), 3);
}

TEST_F(TraceProgram, BoundsWhereKeptCheckpointsPart) {
  for (const int step : {50, 100, 150, 1000}) {
    const std::string name = "step-" + std::to_string(step) + ".npy";
    Write("x/" + name, Npy({1.0F, 2.0F}));
    Write("y/" + name, Npy({1.0F, step < 150 ? 2.0F : 2.5F}));
  }
  Write("y/step-200.npy", Npy({1.0F, 2.0F}));
  const ProcessResult result = TraceOf("x", "y");
  ASSERT_EQ(ExitOf(result), 0) << result.stdout_text << result.stderr_text;
  EXPECT_THAT(result.stdout_text,
              HasSubstr("the runs part after step-100.npy, which is equal, and before "
                        "step-150.npy"));
  EXPECT_THAT(result.stdout_text, testing::ContainsRegex("step-200.npy +only b"));
  EXPECT_THAT(result.stdout_text, testing::ContainsRegex("step-1000.npy +not compared"));
  EXPECT_THAT(result.stdout_text, testing::ContainsRegex(" 1 +2 +[0-9]"));
}

TEST_F(TraceProgram, RerunsBothToTraceThemAndTakesATraceThatIsThere) {
  // A program of any kind that writes a trace where it is asked to.
  Write("train.sh",
        "[ -n \"$RHARNESS_TRACE\" ] && { mkdir -p \"$RHARNESS_TRACE\"; echo traced >> "
        "\"$1/calls\"; cp \"trace-$BAD\" \"$RHARNESS_TRACE/rank-0.jsonl\"; "
        "cp \"operators-$BAD-$RHARNESS_TRACE_OPERATORS\" \"$RHARNESS_TRACE/rank-0.calls\"; }\n" +
            std::string(kTrainer));
  Write("trace-0", TraceText("0"));
  Write("trace-1", TraceText("1"));
  Write("operators-0-1", CallsText("2"));
  Write("operators-1-1", CallsText("3"));
  environment_["BAD"] = "0";
  const std::vector<std::string> common = {
      "--no-observe",  "--determinism", "bitwise",      "--variable", "BAD",
      "--data",        "trace-0",       "--data",       "trace-1",    "--data",
      "operators-0-1", "--data",        "operators-1-1"};
  std::vector<std::string> options = common;
  options.insert(options.begin(), {"--run-id", "run"});
  DrillProgram::Record("then", options);
  environment_["BAD"] = "1";
  DrillProgram::Record("now", options);
  environment_.erase("BAD");
  fs::remove(At("calls"));
  const ProcessResult result = TraceOf("runs/then.json", "runs/now.json", {"--trace-steps", "0-1"});
  ASSERT_EQ(ExitOf(result), 0) << result.stdout_text << result.stderr_text;
  EXPECT_THAT(result.stdout_text, HasSubstr("modules: the runs diverge at step 1: the output of"));
  EXPECT_THAT(result.stdout_text, HasSubstr("the runs diverge at step 1: aten.addmm in fc2 gives"));
  EXPECT_TRUE(fs::exists(At("where/A/trace/rank-0.jsonl")));
  EXPECT_EQ(Read(At("where/B/trace/rank-0.calls")), CallsText("3"));
  EXPECT_TRUE(fs::exists(At("where/B/trace/rank-0.jsonl")));
  EXPECT_FALSE(fs::exists(At("where/A/runs/run/1/workspace")));
  const auto calls = Read(At("calls")).size();
  const ProcessResult again = TraceOf("runs/then.json", "runs/now.json");
  EXPECT_EQ(ExitOf(again), 0) << again.stdout_text << again.stderr_text;
  EXPECT_EQ(Read(At("calls")).size(), calls);  // nothing was rerun
}

TEST_F(TraceProgram, SaysWhatItCannotDo) {
  Write("a.jsonl", TraceText("0"));
  Write("curve.txt", "no curve");
  EXPECT_EQ(ExitOf(TraceOf("a.jsonl", "missing")), 2);
  EXPECT_EQ(ExitOf(TraceOf("a.jsonl", "curve.txt")), 2);
  EXPECT_EQ(ExitOf(TraceOf("a.jsonl", "a.jsonl", {"--expect", "bitwise"})), 2);
  const ProcessResult one = Run({kRharness, "compare", "--trace", "a.jsonl"});
  EXPECT_EQ(ExitOf(one), 2);
  EXPECT_THAT(one.stderr_text, HasSubstr("expected two runs: --trace A B"));
  const ProcessResult alone =
      Run({kRharness, "compare", "a.jsonl", "a.jsonl", "--trace-steps", "1"});
  EXPECT_EQ(ExitOf(alone), 2);
  EXPECT_THAT(alone.stderr_text, HasSubstr("goes with --trace, which is not given"));
  RecordAs("then", {});
  RecordAs("now", {});
  const ProcessResult nothing = TraceOf("runs/then.json", "runs/now.json");
  EXPECT_EQ(ExitOf(nothing), 2) << nothing.stdout_text;
  EXPECT_THAT(nothing.stderr_text, HasSubstr("left no trace"));
}

}  // namespace
}  // namespace rharness
