// Traces of calls by strangers: what is a call is read, and what is none is named and left out.
#include "compare/traces/calls.h"

#include <gmock/gmock.h>
#include <sys/resource.h>

#include <cmath>

#include "tests/compare/traces/call_lines.h"

namespace rharness {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

class CallsFile : public CallFiles {
 protected:
  CallTrace Load(const std::string& text) {
    auto traces = LoadCalls(Write("t.calls", text));
    EXPECT_TRUE(traces.ok()) << traces.error().ToString();
    if (!traces.ok() || traces->size() != 1) return {};
    return std::move(traces->front());
  }
  std::string FailureOf(const std::string& text) {
    const auto traces = LoadCalls(Write("t.calls", text));
    EXPECT_FALSE(traces.ok());
    return traces.ok() ? "" : traces.error().ToString();
  }
};

constexpr char kOne[] = R"({"step":2,"order":1,"op":"aten.mm","in":[],"out":[]})";

TEST_F(CallsFile, IsReadAndACallIsReadAgain) {
  const CallTrace trace = Load(
      CallHeader(3) +
      R"({"step":4,"order":7,"phase":"backward","module":"a.b","op":"aten.mm","site":"x.py:3","args":"k=\"\u00e9\"","rng":"r","group":"g","unit":"compiled","in":[{"digest":"00","shape":[2,3],"dtype":"bfloat16","norm":"nan","nonfinite":2,"from":5,"name":"w","unseen":true,"count":9}],"out":[],"later":{"x":[1]}})"
      "\n{\"end\":true}\n");
  EXPECT_EQ(trace.rank, 3);
  EXPECT_EQ(trace.world, 2);
  EXPECT_EQ(trace.digest, "sha256/64");
  EXPECT_TRUE(trace.ended);
  ASSERT_EQ(trace.entries.size(), 1U);
  ASSERT_EQ(trace.steps.size(), 1U);
  EXPECT_EQ(trace.steps[0].step, 4);
  const auto call = trace.Read(trace.entries[0]);
  ASSERT_TRUE(call.ok()) << call.error().ToString();
  EXPECT_EQ(call->order, 7);
  EXPECT_EQ(call->module, "a.b");
  EXPECT_EQ(call->args, "k=\"é\"");
  EXPECT_EQ(call->unit, "compiled");
  ASSERT_EQ(call->inputs.size(), 1U);
  EXPECT_THAT(call->inputs[0].shape, ElementsAre(2U, 3U));
  EXPECT_TRUE(std::isnan(call->inputs[0].norm));
  EXPECT_EQ(call->inputs[0].from, 5);
  EXPECT_TRUE(call->inputs[0].unseen);
  EXPECT_EQ(call->inputs[0].count, 9U);
}

// What is compared does not depend on the order of members, nor on spaces.
TEST_F(CallsFile, EqualCallsHaveEqualHashesHoweverTheyAreSpelled) {
  const CallTrace a = Load(
      CallHeader() +
      R"({"step":0,"order":0,"phase":"forward","op":"x","args":"p=1","in":[{"digest":"d","shape":[2],"dtype":"f"}],"out":[{"digest":"e","shape":[2],"dtype":"f"}]})"
      "\n");
  const CallTrace b = Load(
      CallHeader() +
      R"({"out": [{"dtype": "f", "norm": 3, "shape": [2 ], "digest": "e"}], "in": [{"shape": [2], "name": "w", "digest": "d", "dtype": "f"}], "site": "y:2", "args": "p=1", "op": "x", "phase": "forward", "order": 5, "step": 0})"
      "\n");
  ASSERT_EQ(a.entries.size(), 1U);
  ASSERT_EQ(b.entries.size(), 1U);
  EXPECT_EQ(a.entries[0].key, b.entries[0].key);
  EXPECT_EQ(a.entries[0].given, b.entries[0].given);
  EXPECT_EQ(a.entries[0].made, b.entries[0].made);
}

TEST_F(CallsFile, EachPartOfACallCounts) {
  const auto entry = [this](const std::string& members) {
    const CallTrace trace = Load(CallHeader() + R"({"step":0,"order":0,)" + members + "}\n");
    EXPECT_EQ(trace.entries.size(), 1U) << members;
    return trace.entries.empty() ? CallEntry() : trace.entries[0];
  };
  const std::string whole = R"("op":"x","in":[{"digest":"d","shape":[2,3],"dtype":"f"}],"out":[])";
  const CallEntry base = entry(whole);
  for (
      const char* other :
      {R"("op":"x","in":[{"digest":"c","shape":[2,3],"dtype":"f"}],"out":[])",
       R"("op":"x","in":[{"digest":"d","shape":[3,2],"dtype":"f"}],"out":[])",
       R"("op":"x","in":[{"digest":"d","shape":[6],"dtype":"f"}],"out":[])",
       R"("op":"x","in":[{"digest":"d","shape":[2,3],"dtype":"g"}],"out":[])",
       R"("op":"x","in":[{"digest":"d","shape":[2,3],"dtype":"f"},{"digest":"d","shape":[2,3],"dtype":"f"}],"out":[])",
       R"("op":"x","args":"a","in":[{"digest":"d","shape":[2,3],"dtype":"f"}],"out":[])",
       R"("op":"x","rng":"a","in":[{"digest":"d","shape":[2,3],"dtype":"f"}],"out":[])",
       R"("op":"x","group":"a","in":[{"digest":"d","shape":[2,3],"dtype":"f"}],"out":[])"}) {
    EXPECT_NE(entry(other).given, base.given) << other;
    EXPECT_EQ(entry(other).key, base.key) << other;
  }
  EXPECT_NE(entry(R"("op":"y","in":[],"out":[])").key, base.key);
  EXPECT_NE(entry(R"("op":"x","module":"m","in":[],"out":[])").key, base.key);
  EXPECT_EQ(entry(R"("op":"x","module":"_orig_mod.m","in":[],"out":[])").key,
            entry(R"("op":"x","module":"m","in":[],"out":[])").key);
  EXPECT_NE(entry(R"("op":"x","in":[],"out":[{"digest":"d"}])").made, base.made);
}

TEST_F(CallsFile, LeavesOutLinesOfNoKnownFormAndNamesThem) {
  std::string deep(5000, '[');
  const CallTrace trace =
      Load(CallHeader() + kOne + "\nnot JSON\n" + R"({"step":2,"order":2,"in":[]})" + "\n" +
           R"({"step":2,"order":-1,"op":"x"})" + "\n" + R"({"step":"2","order":3,"op":"x"})" +
           "\n" + deep + "\n" + "[{\"step\":2,\"order\":3,\"op\":\"x\"}]\n" +
           R"({"step":1,"order":3,"op":"x"})" + "\n" + R"({"step":2,"order":1,"op":"x"})" + "\n" +
           std::string("{\"step\":2,\"order\":4,\"op\":\"x\0\"}", 31) + "\n\n" +
           "{\"step\":2,\"order\":9,\"op\":\"" + std::string(3 << 20, 'x') + "\"}\n" +
           R"({"step":3,"order":0,"op":"y"})" + "\n" + "{\"end\":true}\n");
  EXPECT_EQ(trace.bad_lines, 10U);
  EXPECT_TRUE(trace.ended);
  ASSERT_EQ(trace.entries.size(), 2U);
  EXPECT_THAT(trace.notes, Contains(HasSubstr("line 3 is left out: expected a call")));
  EXPECT_THAT(trace.notes, Contains(HasSubstr("and 5 more lines are left out")));
  // After a long line the places of others are still right.
  const auto call = trace.Read(trace.entries[1]);
  ASSERT_TRUE(call.ok()) << call.error().ToString();
  EXPECT_EQ(call->op, "y");
}

TEST_F(CallsFile, SaysWhereItWasCutOffAndWhyHooksStopped) {
  const CallTrace cut = Load(CallHeader() + kOne + "\n" + R"({"step":2,"ord)");
  EXPECT_EQ(cut.entries.size(), 1U);
  EXPECT_EQ(cut.bad_lines, 0U);
  EXPECT_THAT(cut.notes, Contains(HasSubstr("is cut off within line 3")));
  EXPECT_FALSE(cut.ended);
  EXPECT_EQ(Load(CallHeader() + "{\"error\":\"no room\"}\n").trouble, "no room");
}

TEST_F(CallsFile, RefusesAFileWithoutItsHeader) {
  EXPECT_THAT(FailureOf(""), HasSubstr("expected a header line: rharness.calls/v1"));
  EXPECT_THAT(FailureOf(std::string(kOne) + "\n"), HasSubstr("schema"));
  EXPECT_THAT(FailureOf("{\"schema\":\"rharness.calls/v9\"}\n"), HasSubstr("rharness.calls"));
  EXPECT_THAT(FailureOf(std::string(4 << 20, 'x')), HasSubstr("expected a header line"));
}

TEST_F(CallsFile, FilesOfARankAreJoinedByTheirNumbers) {
  const auto steps = [](int from, int to) {
    std::string text = CallHeader();
    for (int step = from; step <= to; ++step) {
      text += fmt::format(R"({{"step":{},"order":0,"op":"x{}"}})"
                          "\n",
                          step, from);
    }
    return text;
  };
  Write("run/rank-0.calls", steps(0, 5));
  Write("run/rank-0.1.calls", steps(3, 7) + "{\"end\":true}\n");
  Write("run/notes.txt", "x");
  const auto traces = LoadCalls(folder_ / "run");
  ASSERT_TRUE(traces.ok()) << traces.error().ToString();
  ASSERT_EQ(traces->size(), 1U);
  const CallTrace& trace = traces->front();
  ASSERT_EQ(trace.steps.size(), 8U);
  EXPECT_EQ(trace.Read(trace.Of(trace.steps[2])[0])->op, "x0");
  EXPECT_EQ(trace.Read(trace.Of(trace.steps[3])[0])->op, "x3");
  EXPECT_TRUE(trace.ended);
  EXPECT_THAT(trace.notes, Contains(HasSubstr("goes on at step 3 in")));
}

TEST_F(CallsFile, FollowsNoLinkInAFolder) {
  Write("else.calls", CallHeader());
  std::filesystem::create_directories(folder_ / "run");
  std::filesystem::create_symlink(folder_ / "else.calls", folder_ / "run/rank-0.calls");
  const auto traces = LoadCalls(folder_ / "run");
  ASSERT_FALSE(traces.ok());
  EXPECT_EQ(traces.error().code, ErrorCode::kIntegrity);
}

TEST_F(CallsFile, ALineThatChangedSinceIsAnError) {
  const CallTrace trace = Load(CallHeader() + kOne + "\n");
  std::filesystem::resize_file(folder_ / "t.calls", CallHeader().size() + 5);
  EXPECT_FALSE(trace.Read(trace.entries.at(0)).ok());
  std::string other = CallHeader() + kOne + "\n";
  other.replace(other.find("\"order\":1"), 9, "\"order\":2");
  Write("t.calls", other);
  const auto call = trace.Read(trace.entries.at(0));
  ASSERT_FALSE(call.ok());
  EXPECT_THAT(call.error().ToString(), HasSubstr("the file has changed"));
}

TEST_F(CallsFile, OfVeryManyRanksNotAllFilesAreOpenAtOnce) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit few{.rlim_cur = 40, .rlim_max = before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &few), 0);
  for (int rank = 0; rank < 60; ++rank) {
    Write(fmt::format("run/rank-{}.calls", rank), CallHeader(rank) + kOne + "\n");
  }
  const auto traces = LoadCalls(folder_ / "run");
  ASSERT_TRUE(traces.ok()) << traces.error().ToString();
  ASSERT_EQ(traces->size(), 60U);
  EXPECT_TRUE(traces->back().Read(traces->back().entries.at(0)).ok());
  EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
}

}  // namespace
}  // namespace rharness
