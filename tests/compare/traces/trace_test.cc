// Traces of strangers: what is a line is read, and what is none is named and left out.
#include "compare/traces/trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "harness/base/files.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr char kHeader[] = R"({"schema": "rharness.trace/v1", "rank": 0, "flags": {"f": "1"}})";

std::string Output(int step, const std::string& name, const std::string& more = "") {
  return "{\"step\": " + std::to_string(step) + ", \"kind\": \"output\", \"name\": \"" + name +
         "\"" + more + "}\n";
}

TEST(TraceFile, IsReadWithWhatIsKnownOfEachTensor) {
  const std::string text =
      std::string(kHeader) + "\n" +
      Output(3, "fc1",
             R"(, "order": 7, "shape": [2, 3], "dtype": "float32", "digest": "sha256:ab",
 "norm": "nan", "max": 2.5, "nonfinite": 1, "sketch": [1, -2.5], "random": true, "call": 1)")
          .replace(0, 0, "");
  std::string joined = text;
  joined.erase(joined.find("\n \"norm\""), 1);
  const auto trace = ParseTrace(joined + "{\"end\": true}\n", "t");
  ASSERT_TRUE(trace.ok()) << trace.error().ToString();
  EXPECT_TRUE(trace->ended);
  ASSERT_EQ(trace->records.size(), 1U);
  const TraceRecord& record = trace->records.front();
  EXPECT_EQ(record.step, 3);
  EXPECT_EQ(record.order, 7);
  EXPECT_EQ(record.kind, TraceKind::kOutput);
  EXPECT_EQ(record.call, 1);
  EXPECT_THAT(record.shape, ElementsAre(2U, 3U));
  EXPECT_TRUE(std::isnan(record.norm));
  EXPECT_EQ(record.max, 2.5);
  EXPECT_EQ(record.nonfinite, 1U);
  EXPECT_THAT(record.sketch, ElementsAre(1.0, -2.5));
  EXPECT_TRUE(record.random);
  EXPECT_EQ(trace->flags.at("f"), "1");
}

TEST(TraceFile, LeavesOutLinesOfNoKnownFormAndNamesThem) {
  std::string deep;
  for (int i = 0; i < 1000; ++i) deep += "[";
  const std::string text = std::string(kHeader) + "\n" + Output(0, "a") + "not JSON\n" +
                           R"({"step": "x", "kind": "output", "name": "b"})" + "\n" +
                           R"({"step": 1, "kind": "elsewhere", "name": "b"})" + "\n" + deep + "\n" +
                           "\"" + std::string(kMostTraceLine, 'x') + "\"\n" +
                           R"({"step": 0, "kind": "output", "name": ")" + std::string(5000, 'n') +
                           "\"}\n" + Output(0, "c") + "[1]\n";
  const auto trace = ParseTrace(text, "t");
  ASSERT_TRUE(trace.ok()) << trace.error().ToString();
  EXPECT_EQ(trace->records.size(), 2U);
  EXPECT_EQ(trace->bad_lines, 7U);
  EXPECT_THAT(trace->notes.front(), HasSubstr("t: line 3 is left out"));
  EXPECT_THAT(trace->notes.back(), HasSubstr("2 more lines"));
  EXPECT_FALSE(trace->ended);
}

TEST(TraceFile, SaysThatItIsCutOffOrThatItsHooksStopped) {
  const std::string text = std::string(kHeader) + "\n" + Output(0, "a");
  const auto cut = ParseTrace(text + R"({"step": 0, "kind": "out)", "t");
  ASSERT_TRUE(cut.ok());
  EXPECT_EQ(cut->bad_lines, 0U);
  EXPECT_THAT(cut->notes, ElementsAre(HasSubstr("cut off within line 3")));
  const auto stopped = ParseTrace(text + "{\"error\": \"OSError: full\"}\n", "t");
  ASSERT_TRUE(stopped.ok());
  EXPECT_EQ(stopped->trouble, "OSError: full");
  EXPECT_FALSE(stopped->ended);
}

TEST(TraceFile, WithoutAHeaderOrOfANewerFormIsRefused) {
  EXPECT_FALSE(ParseTrace("", "t").ok());
  EXPECT_FALSE(ParseTrace(Output(0, "a"), "t").ok());
  const auto newer = ParseTrace("{\"schema\": \"rharness.trace/v9\"}\n", "t");
  ASSERT_FALSE(newer.ok());
  EXPECT_THAT(newer.error().ToString(), HasSubstr("rharness.trace"));
}

TEST(TraceFile, OfAWrappedModelHasTheNamesOfTheModel) {
  const auto parameter = [](const std::string& name) {
    return R"({"step": 0, "kind": "parameter", "name": ")" + name + "\"}\n";
  };
  const auto wrapped = ParseTrace(std::string(kHeader) + "\n" + parameter("module.fc.weight") +
                                      Output(0, "module.fc") + Output(0, "_orig_mod.fc"),
                                  "t");
  ASSERT_TRUE(wrapped.ok());
  EXPECT_EQ(wrapped->records[0].name, "fc.weight");
  EXPECT_EQ(wrapped->records[1].name, "fc");
  EXPECT_EQ(wrapped->records[2].name, "fc");
  const auto compiled = ParseTrace(
      std::string(kHeader) + "\n" + parameter("_orig_mod.fc.weight") + Output(0, "_orig_mod.fc"),
      "t");
  ASSERT_TRUE(compiled.ok());
  EXPECT_EQ(compiled->records[0].name, "fc.weight");
  EXPECT_EQ(compiled->records[1].name, "fc");
  // One that has a part of this name keeps it.
  const auto own = ParseTrace(std::string(kHeader) + "\n" + parameter("module.weight") +
                                  parameter("head.weight") + Output(0, "module.fc"),
                              "t");
  EXPECT_EQ(own->records[2].name, "module.fc");
}

TEST(TraceFolder, HasOneTraceARankAndTheLaterOfOneGoesOn) {
  const auto folder = ScopedTempDir::Make();
  ASSERT_TRUE(folder.ok());
  const auto write = [&](const std::string& name, int rank, const std::string& records) {
    const std::string header =
        R"({"schema": "rharness.trace/v1", "rank": )" + std::to_string(rank) + "}\n";
    ASSERT_TRUE(WriteFileAtomic(folder->path() / name, header + records).ok());
  };
  EXPECT_FALSE(LoadTraces(folder->path()).ok());
  EXPECT_FALSE(IsTrace(folder->path()));
  write("rank-1.jsonl", 1, Output(0, "b"));
  write("rank-0.jsonl", 0, Output(0, "a") + Output(1, "a") + Output(2, "a"));
  write("rank-0.1.jsonl", 0, Output(1, "later") + "{\"end\": true}\n");
  const auto traces = LoadTraces(folder->path());
  ASSERT_TRUE(traces.ok()) << traces.error().ToString();
  ASSERT_EQ(traces->size(), 2U);
  const Trace& first = traces->front();
  ASSERT_EQ(first.records.size(), 2U);
  EXPECT_EQ(first.records[1].name, "later");
  EXPECT_TRUE(first.ended);
  EXPECT_EQ((*traces)[1].rank, 1);
  EXPECT_TRUE(IsTrace(folder->path()));
  EXPECT_TRUE(IsTrace(folder->path() / "rank-1.jsonl"));
  EXPECT_FALSE(IsTrace(folder->path() / "missing"));
  fs::create_symlink(folder->path() / "rank-1.jsonl", folder->path() / "rank-2.jsonl");
  EXPECT_FALSE(LoadTraces(folder->path()).ok());  // no link is followed
}

}  // namespace
}  // namespace rharness
