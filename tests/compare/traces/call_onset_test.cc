// Differences planted in a small network of calls: which call is named, and why.
#include "compare/traces/call_onset.h"

#include <gmock/gmock.h>

#include "tests/compare/traces/call_lines.h"

namespace rharness {
namespace {

using testing::HasSubstr;

class CallOnsets : public CallFiles {};

// x -> linear -> gelu -> dropout -> mul -> sum; all digests after `from` have `mark`.
std::vector<Called> Step(std::size_t from = 99, const std::string& mark = "") {
  std::vector<Called> calls = {
      {.op = "linear", .in = {{"x", -1, "batch[0]"}, {"w", -1, "fc.weight"}}, .out = "l"},
      {.op = "gelu", .in = {{"l", 0}}, .out = "g"},
      {.op = "drop", .in = {{"g", 1}}, .out = "d", .more = R"(,"args":"p=0.1","rng":"r1")"},
      {.op = "mul", .in = {{"d", 2}, {"g", 1}}, .out = "m"},
      {.op = "sum", .in = {{"m", 3}}, .out = "s"},
      {.op = "mulback", .in = {{"s", 4}}, .out = "b", .phase = "backward"},
      {.op = "adam",
       .in = {{"b", 5}, {"w", -1, "fc.weight"}},
       .out = "u",
       .phase = "optimizer",
       .more = R"(,"args":"lr=0.1, eps=1e-08")"}};
  for (std::size_t i = from; i < calls.size(); ++i) {
    calls[i].out += mark;
    for (Given& one : calls[i].in) {
      if (one.from >= static_cast<int>(from)) one.digest += mark;
    }
  }
  return calls;
}

TEST_F(CallOnsets, NothingDiffers) {
  const CallOnset onset = Onset({Step(), Step()}, {Step(), Step()});
  EXPECT_EQ(onset.end, "equal");
  EXPECT_EQ(onset.paired, 14U);
  EXPECT_EQ(onset.differing, 0U);
  EXPECT_FALSE(onset.origin);
  EXPECT_THAT(onset.headline, HasSubstr("of 14 calls in 2 steps no output differs"));
}

TEST_F(CallOnsets, AnOperatorOnEqualInputs) {
  const CallOnset onset = Onset({Step(), Step()}, {Step(), Step(1, "'")});
  EXPECT_EQ(onset.end, "parts");
  EXPECT_EQ(onset.what, "operator");
  EXPECT_EQ(onset.layer, Layer::kEnvironment);
  ASSERT_TRUE(onset.origin);
  EXPECT_EQ(onset.origin->a.op, "gelu");
  EXPECT_EQ(onset.origin->a.step, 1);
  EXPECT_EQ(onset.differing, 6U);
  ASSERT_EQ(onset.around.size(), 7U);
  EXPECT_EQ(onset.around[0].state, RecordState::kEqual);
  EXPECT_EQ(onset.around[1].state, RecordState::kOrigin);
  EXPECT_EQ(onset.around[2].state, RecordState::kHandedOn);
  EXPECT_THAT(onset.headline, HasSubstr("gelu in net (t.py:11) gives another result on equal"));
}

TEST_F(CallOnsets, ALargeDifferenceIsAnotherComputation) {
  std::vector<Called> b = Step(1, "'");
  b[1].norm = 2.5;
  EXPECT_EQ(Onset({Step()}, {b}).layer, Layer::kCode);
}

TEST_F(CallOnsets, AGeneratorInAnotherState) {
  std::vector<Called> b = Step(2, "'");
  b[2].more = R"(,"args":"p=0.1","rng":"r2")";
  const CallOnset onset = Onset({Step()}, {b});
  EXPECT_EQ(onset.what, "random_operator");
  EXPECT_EQ(onset.layer, Layer::kRandomness);
  EXPECT_EQ(onset.origin->a.op, "drop");
}

TEST_F(CallOnsets, OtherArgumentsAreNamed) {
  std::vector<Called> b = Step(6, "'");
  b[6].more = R"(,"args":"lr=0.1, eps=1e-05")";
  const CallOnset onset = Onset({Step()}, {b});
  EXPECT_EQ(onset.what, "arguments");
  EXPECT_EQ(onset.layer, Layer::kCode);
  EXPECT_EQ(onset.difference, "eps=1e-08 in A, eps=1e-05 in B");
  EXPECT_THAT(onset.headline, HasSubstr("in the optimizer's step: adam"));
}

TEST_F(CallOnsets, OtherArgumentsWithoutEffectAreNoOrigin) {
  std::vector<Called> b = Step(4, "'");
  b[2].more = R"(,"args":"p=0.2","rng":"r1")";
  EXPECT_EQ(Onset({Step()}, {b}).origin->a.op, "sum");
}

TEST_F(CallOnsets, ACastThatOneRunHasAlone) {
  std::vector<Called> b = Step(1, "'");
  b[1].in = {{"c", 1}};
  b.insert(b.begin() + 1, {.op = "_to_copy", .in = {{"l", 0}}, .out = "c"});
  for (std::size_t i = 3; i < b.size(); ++i) {
    for (Given& one : b[i].in) one.from += one.from >= 1 ? 1 : 0;
  }
  const CallOnset onset = Onset({Step()}, {b});
  EXPECT_EQ(onset.what, "calls");
  EXPECT_EQ(onset.origin->a.op, "_to_copy");
  EXPECT_EQ(onset.origin->state, RecordState::kOnlyB);
  EXPECT_THAT(onset.difference, HasSubstr("gelu in net"));
  EXPECT_EQ(onset.only_b, 1U);
  EXPECT_EQ(onset.only_a, 0U);
}

// Like Step, with calls of its own in place of gelu.
std::vector<Called> Replaced(std::vector<Called> own) {
  std::vector<Called> step = Step(2, "'");
  const auto more = static_cast<int>(own.size()) - 1;
  step[2].in[0].digest = step[3].in[1].digest = own.back().out;
  for (std::size_t i = 2; i < step.size(); ++i) {
    for (Given& one : step[i].in) one.from += one.from >= 1 ? more : 0;
  }
  step.erase(step.begin() + 1);
  step.insert(step.begin() + 1, own.begin(), own.end());
  return step;
}

TEST_F(CallOnsets, OfCallsInPlaceOfEachOtherTheFewerAreNamed) {
  const std::vector<Called> b = Replaced({{.op = "aten.view.default", .in = {{"l", 0}}, .out = "v"},
                                          {.op = "erf", .in = {{"v", 1}}, .out = "e"},
                                          {.op = "times", .in = {{"e", 2}}, .out = "g'"}});
  CallOnset onset = Onset({Step()}, {b});
  EXPECT_EQ(onset.what, "calls");
  EXPECT_EQ(onset.origin->a.op, "gelu");
  EXPECT_EQ(onset.origin->state, RecordState::kOnlyA);
  EXPECT_THAT(onset.difference, HasSubstr("in its place B makes 3 calls of its own, first erf"));
  onset = Onset({b}, {Step()});
  EXPECT_EQ(onset.origin->state, RecordState::kOnlyB);
}

TEST_F(CallOnsets, ACopyThatOneRunForgets) {
  // A: the copy is overwritten; B: the original is.
  std::vector<Called> a = {{.op = "norm", .in = {{"x", -1, "batch[0]"}}, .out = "h"},
                           {.op = "clone", .in = {{"h", 0}}, .out = "h"},
                           {.op = "fill_", .out = "zero"},
                           {.op = "add", .in = {{"h", 0}, {"f", 2}}, .out = "s"}};
  std::vector<Called> b = {a[0], a[2], a[3]};
  b[2].in = {{"f", 1}, {"f", 1}};
  b[2].out = "s'";
  const CallOnset onset = Onset({a}, {b});
  EXPECT_EQ(onset.what, "calls");
  EXPECT_EQ(onset.origin->a.op, "clone");
  EXPECT_EQ(onset.origin->state, RecordState::kOnlyA);
}

TEST_F(CallOnsets, CallsOfOneRunAreToldWhereNothingDiffers) {
  std::vector<Called> b = Step();
  b.push_back({.op = "broadcast_", .in = {{"u", 6}}, .out = "u"});
  const CallOnset onset = Onset({Step()}, {b});
  EXPECT_EQ(onset.end, "equal");
  ASSERT_EQ(onset.own.size(), 1U);
  EXPECT_THAT(
      onset.reasons,
      testing::Contains(HasSubstr("B makes calls that A does not, first at step 0: broad")));
}

TEST_F(CallOnsets, ACallOfOneRunThatNothingDependsOnIsNoOrigin) {
  std::vector<Called> b = Step(4, "'");
  b.insert(b.begin() + 1, {.op = "max", .in = {{"l", 0}}, .out = "log"});
  for (std::size_t i = 2; i < b.size(); ++i) {
    for (Given& one : b[i].in) one.from += one.from >= 1 ? 1 : 0;
  }
  const CallOnset onset = Onset({Step()}, {b});
  EXPECT_EQ(onset.what, "operator");
  EXPECT_EQ(onset.origin->a.op, "sum");
  ASSERT_EQ(onset.own.size(), 1U);
  EXPECT_EQ(onset.own[0].a.op, "max");
}

TEST_F(CallOnsets, AWriteThatNoCallShows) {
  std::vector<Called> b = Step(3, "'");
  b[3].in[1] = {"other", 1, "", true};
  const CallOnset onset = Onset({Step()}, {b});
  EXPECT_EQ(onset.what, "unseen_write");
  EXPECT_EQ(onset.origin->a.op, "mul");
  EXPECT_EQ(onset.difference, "input 1 is not what gelu in net (t.py:11) left, in B");
  // Also where one run alone has the call that wrote it before.
  std::vector<Called> a = Step();
  a[1].op = "gelu_";
  EXPECT_EQ(Onset({a}, {b}).what, "unseen_write");
}

TEST_F(CallOnsets, WhatNoCallWroteIsTheBatchTheWeightsOrAnotherValue) {
  std::vector<Called> b = Step(0, "'");
  b[0].in[0].digest = "y";
  EXPECT_EQ(Onset({Step()}, {b}).what, "batch");
  b = Step(0, "'");
  b[0].in[1].digest = "v";
  EXPECT_EQ(Onset({Step()}, {b}).what, "initial_weights");
  EXPECT_EQ(Onset({Step(), Step()}, {Step(), b}).what, "outside_of_steps");
  std::vector<Called> a = Step();
  a[0].in[1].name = b[0].in[1].name = "batch_norm.weight";
  EXPECT_EQ(Onset({a}, {b}).what, "initial_weights");
  a[0].in[1].name = b[0].in[1].name = "";
  EXPECT_EQ(Onset({a}, {b}).what, "outside_value");
}

TEST_F(CallOnsets, OtherCallsAtTheEndOfAStepShowInTheNext) {
  std::vector<Called> a = Step();
  std::vector<Called> b = Step();
  b[6].op = "foreach_adam";
  std::vector<Called> after = Step(0, "'");
  after[0].in[1].digest = "v";
  const CallOnset onset = Onset({a, Step()}, {b, after});
  EXPECT_EQ(onset.what, "calls");
  EXPECT_EQ(onset.origin->a.op, "adam");
  EXPECT_EQ(onset.origin->a.step, 0);
}

TEST_F(CallOnsets, ACollectiveIsNamedOnlyIfNoRankGaveItOtherInputs) {
  const auto rank = [](const std::string& own, const std::string& sum) {
    std::vector<Called> step = Step();
    step[3].out += own;
    step[4] = {.op = "allreduce_",
               .in = {{"m" + own, 3}},
               .out = "s" + sum,
               .more = R"(,"group":"ranks 0-1 #0 SUM")"};
    step[5].in[0].digest += sum;
    step[5].out += sum;
    step[6].in[0].digest += sum;
    step[6].out += sum;
    return step;
  };
  // Orders of two ranks say nothing: rank 1 makes further calls before.
  const auto later = [](std::vector<Called> step) {
    for (Called& call : step) {
      for (Given& one : call.in) one.from += one.from >= 0 ? 5 : 0;
    }
    step.insert(step.begin(), 5, {.op = "print", .out = "p"});
    return step;
  };
  for (const int of : {0, 1}) {
    const auto own = [&](std::vector<Called> step) { return of == 1 ? later(step) : step; };
    Write(fmt::format("A/rank-{}.calls", of), CallsText({own(rank("", ""))}, of));
    Write(fmt::format("B/rank-{}.calls", of), CallsText({own(rank(of == 1 ? "'" : "", "'"))}, of));
  }
  CallOnset onset = OnsetOfFolders();
  EXPECT_EQ(onset.rank, 1);
  EXPECT_EQ(onset.origin->a.op, "mul");
  Write("B/rank-1.calls", CallsText({later(rank("", "'"))}, 1));
  onset = OnsetOfFolders();
  EXPECT_EQ(onset.what, "collective");
  EXPECT_EQ(onset.layer, Layer::kEnvironment);
  // Of the rank whose input differs there is no trace of one side.
  std::filesystem::remove(folder_ / "A/rank-0.calls");
  EXPECT_EQ(OnsetOfFolders().what, "collective");
}

TEST_F(CallOnsets, AFurtherCollectiveBeforeMovesOnlyTheNumber) {
  const auto step = [](const std::string& mark, int number) {
    return std::vector<Called>{{.op = "mul", .in = {{"x", -1, "batch[0]"}}, .out = "m"},
                               {.op = "allreduce_",
                                .in = {{"m" + mark, number}},
                                .out = "s" + mark,
                                .more = fmt::format(R"(,"group":"ranks 0-1 #{} SUM")", number)}};
  };
  const Called broadcast{
      .op = "broadcast_", .in = {{"m", 0}}, .out = "m'", .more = R"(,"group":"ranks 0-1 #0")"};
  // Rank 0 sends what it has; what rank 1 had is lost.
  std::vector<Called> sender = step("", 1);
  sender.insert(sender.begin() + 1, broadcast);
  sender[1].out = "m";
  sender[2].out = "s'";
  std::vector<Called> receiver = step("'", 1);
  receiver.insert(receiver.begin() + 1, broadcast);
  for (const int rank : {0, 1}) {
    Write(fmt::format("A/rank-{}.calls", rank), CallsText({step("", 0)}, rank));
    Write(fmt::format("B/rank-{}.calls", rank), CallsText({rank == 0 ? sender : receiver}, rank));
  }
  const CallOnset onset = OnsetOfFolders();
  EXPECT_EQ(onset.what, "calls");
  EXPECT_EQ(onset.rank, 1);
  EXPECT_EQ(onset.origin->a.op, "broadcast_");
  std::vector<Called> other = step("", 0);
  other[1].more = R"(,"group":"ranks 0-1 #0 MAX")";
  other[1].out = "s'";
  const CallOnset reduction = Onset({step("", 0)}, {other});
  EXPECT_EQ(reduction.what, "arguments");
  EXPECT_EQ(reduction.difference, "ranks 0-1 #0 SUM in A, ranks 0-1 #0 MAX in B");
}

TEST_F(CallOnsets, DigestsOfTwoMethodsAreNotCompared) {
  Write("A/rank-0.calls", CallHeader() + CallText(0, 0, Step()[0]));
  Write("B/rank-0.calls", CallHeader(0, "norm") + CallText(0, 0, Step()[0]));
  const CallOnset onset = OnsetOfFolders();
  EXPECT_EQ(onset.end, "nothing_compared");
  EXPECT_THAT(onset.notes, testing::Contains(HasSubstr("sha256/64 in A and by norm in B")));
}

TEST_F(CallOnsets, TheEndOfATraceThatWasCutOffIsNoDifference) {
  std::vector<Called> b = Step();
  b.resize(4);
  std::string text = CallsText({b});
  text.resize(text.size() - std::string("{\"end\":true}\n").size());
  Write("A/rank-0.calls", CallsText({Step()}));
  Write("B/rank-0.calls", text);
  const CallOnset onset = OnsetOfFolders();
  EXPECT_EQ(onset.end, "equal");
  EXPECT_EQ(onset.paired, 4U);
  EXPECT_EQ(onset.only_a, 0U);
}

TEST_F(CallOnsets, AnInputWithoutADigestIsNotEqual) {
  const auto text = [](const std::string& made, bool mul) {
    std::string lines = CallHeader();
    if (mul)
      lines += R"({"step":0,"order":0,"op":"mul","in":[],"out":[{"shape":[1]}]})"
               "\n";
    lines += R"({"step":0,"order":1,"op":"values","in":[{"shape":[1])" +
             std::string(mul ? R"(,"from":0)" : "") + R"(}],"out":[{"digest":")" + made + "\"}]}\n";
    return lines + "{\"end\":true}\n";
  };
  Write("A/rank-0.calls", text("1", false));
  Write("B/rank-0.calls", text("2", true));
  CallOnset onset = OnsetOfFolders();
  EXPECT_EQ(onset.what, "calls");
  EXPECT_EQ(onset.origin->a.op, "mul");
  Write("B/rank-0.calls", text("2", false));
  onset = OnsetOfFolders();
  EXPECT_EQ(onset.what, "unknown_input");
  EXPECT_THAT(onset.headline, HasSubstr("whether its inputs are equal is not known"));
}

// One run's hook could not read a type that the other's could.
TEST_F(CallOnsets, ADigestOnOneSideIsNoDifference) {
  const auto text = [](std::string_view digest, std::string_view beside, int last) {
    std::string lines = CallHeader();
    lines += fmt::format(
        R"({{"step":0,"order":0,"op":"cast","args":"x","in":[{{"shape":[1]{0}}}],"out":[{{"shape":[1]{0}}}]}})"
        "\n"
        R"({{"step":0,"order":1,"op":"mm","in":[{{"shape":[1]{0},"from":0}},{{"digest":"{1}","shape":[2],"name":"fc.weight"}}],"out":[{{"digest":"{2}"}}]}})"
        "\n",
        digest, beside, last);
    return lines + "{\"end\":true}\n";
  };
  constexpr std::string_view kDigest = R"(,"digest":"d")";
  Write("A/rank-0.calls", text(kDigest, "w", 1));
  Write("B/rank-0.calls", text("", "w", 1));
  CallOnset onset = OnsetOfFolders();
  EXPECT_EQ(onset.end, "nothing_compared");
  EXPECT_EQ(onset.differing, 0U);
  EXPECT_EQ(onset.unknown, 2U);
  EXPECT_FALSE(onset.absorbed);

  Write("B/rank-0.calls", text("", "w", 2));
  onset = OnsetOfFolders();
  EXPECT_EQ(onset.what, "unknown_input");
  EXPECT_EQ(onset.origin->a.op, "mm");

  // A known input that differs explains it.
  Write("B/rank-0.calls", text("", "other", 2));
  onset = OnsetOfFolders();
  EXPECT_EQ(onset.what, "initial_weights");
  EXPECT_THAT(onset.difference, HasSubstr("fc.weight"));
}

TEST_F(CallOnsets, WhatWasGivenOtherwiseWithoutAnEffectIsToldWhereNothingDiffers) {
  std::vector<Called> b = Step();
  b[6].more = R"(,"args":"lr=0.2, eps=1e-08")";
  const CallOnset onset = Onset({Step()}, {b});
  EXPECT_EQ(onset.end, "equal");
  EXPECT_THAT(onset.reasons,
              testing::Contains(HasSubstr("adam in net (t.py:16): lr=0.1 in A, lr=0.2 in B")));
}

// As with modules: what seems to be missing may stand in a line that cannot be read.
TEST_F(CallOnsets, OfADamagedTraceIsNamedWithThatReserve) {
  std::string b = CallsText({Step(1, "'")});
  EXPECT_FALSE(Onset({Step()}, {Step(1, "'")}).damaged);
  b.insert(b.find('\n') + 1, "{\"step\":0,\"ord\n");
  Write("B/rank-0.calls", b);
  const CallOnset onset = OnsetOfFolders();
  EXPECT_TRUE(onset.damaged);
  EXPECT_THAT(onset.headline, HasSubstr("as far as the traces can be read"));
}

TEST_F(CallOnsets, TensorsWithoutADigestAreNotJudged) {
  const std::string line =
      R"({"step":0,"order":0,"op":"x","in":[{"shape":[1]}],"out":[{"shape":[1]}]})"
      "\n";
  Write("A/rank-0.calls", CallHeader() + line + "{\"end\":true}\n");
  Write("B/rank-0.calls", CallHeader() + line + "{\"end\":true}\n");
  const CallOnset onset = OnsetOfFolders();
  EXPECT_EQ(onset.end, "nothing_compared");
  EXPECT_EQ(onset.unknown, 1U);
}

}  // namespace
}  // namespace rharness
