// `rharness properties` with batch_invariant: an inference whose answers depend on the size of its
// batches, one whose answers do not, and legs that show nothing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <regex>
#include <string>
#include <vector>

#include "tests/cli/drill_program.h"

namespace rharness {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Scores prompts. With SPLIT the sums of p3 from its token 2 on are made of as many parts as a
// batch has items; with DRIFT every sum is. Nothing else depends on the batch or the order.
constexpr char kScorer[] = R"py(import json, os, sys
batch, prompts, order, form = 6, 6, "as-is", "logprobs"
for word in sys.argv[1:]:
    name, _, value = word.partition("=")
    if name == "--batch": batch = int(value)
    elif name == "--prompts": prompts = int(value)
    elif name == "--order": order = value
    elif name == "--form": form = value
    elif name == "--gpus": print("one GPU here", file=sys.stderr); sys.exit(77)
    else: sys.exit("unknown option " + word)
batch = int(os.environ.get("BATCH", batch))

def added(values, parts):
    total = 0.0
    for part in range(parts):
        inner = 0.0
        for value in values[part::parts]: inner += value
        total += inner
    return total

def scored(prompt, token):
    split = "SPLIT" in os.environ and prompt == 3 and token >= 2
    values = [(0.1 * (k + 1) * (prompt + 1) + 0.01 * token) / 7 for k in range(13)]
    return -added(values, batch if split or "DRIFT" in os.environ else 1)

places = list(range(prompts))
if order == "reversed": places.reverse()
with open("answers.jsonl", "w") as out:
    for prompt in places:
        values = [scored(prompt, token) for token in range(5)]
        if form == "logprobs":
            answer = {"prompt_id": f"p{prompt}", "token_ids": list(range(5)), "logprobs": values}
        elif form == "scores":
            answer = {"id": f"p{prompt}", "score": values[4]}
        else:
            answer = {"said": f"{values[4]}"}
        print(json.dumps(answer), file=out)
# The mean depends on the order, and is no answer.
mean = 0.0
for prompt in places: mean += scored(prompt, 4) / prompts
json.dump({"metrics": {"accuracy": mean}}, open("metrics.json", "w"))
)py";

constexpr char kClaim[] = R"({"name": "batch_invariant", "sizes": [1, 4, 6],
  "arguments": ["--batch={size}"], "ways": [{"label": "reversed", "arguments": ["--order=reversed"]},
  {"label": "reversed-alone", "arguments": ["--order=reversed"], "environment": {"BATCH": "1"}}]})";

std::string Unfolded(const std::string& text) {
  return std::regex_replace(text, std::regex("\\s+"), " ");
}

class BatchInvariance : public DrillProgram {
 protected:
  BatchInvariance() { Write("train.sh", kScorer); }

  void RecordScorer(const std::vector<std::string>& more = {}, const char* role = "other") {
    std::vector<std::string> command = {"python3", "train.sh", "--batch=6"};
    command.insert(command.end(), more.begin(), more.end());
    Record("a",
           {"--run-id", "a", "--no-observe", "--artifact", std::string(role) + "=answers.jsonl"},
           command);
  }
  ProcessResult Held(const std::string& property, const std::vector<std::string>& more = {}) const {
    Write("claims.json", "{\"properties\": [" + property + "]}");
    std::vector<std::string> argv = {kRharness, "properties", "runs/a.json", "--declare",
                                     "claims.json"};
    if (std::ranges::find(more, "--out") == more.end()) argv.insert(argv.end(), {"--out", "held"});
    argv.insert(argv.end(), more.begin(), more.end());
    return Run(argv);
  }
  Json Kept() const {
    auto json = ReadJsonFile(At("held/properties.json"));
    EXPECT_TRUE(json.ok()) << json.error().ToString();
    return json.ok() ? std::move(*json) : Json();
  }
  std::vector<std::string> States() const {
    std::vector<std::string> states;
    const Json kept = Kept();
    const Json* results = kept.Find("results");
    if (results == nullptr) return states;
    for (const Json& result : results->AsArray()) {
      states.push_back(result.Find("name")->AsString() + " " + result.Find("state")->AsString());
    }
    return states;
  }
  std::string Headline(std::size_t result) const {
    const Json kept = Kept();
    const Json* results = kept.Find("results");
    if (results == nullptr || results->AsArray().size() <= result) return "";
    return results->AsArray()[result].Find("headline")->AsString();
  }
};

int CodeOf(const ProcessResult& result) { return result.outcome.exit_code; }

// The recorded size is no leg. Answers of a reversed leg come in another order, and its mean in
// other bits.
TEST_F(BatchInvariance, HoldsByItemsInEveryLeg) {
  RecordScorer();
  const ProcessResult result = Held(kClaim);
  ASSERT_EQ(CodeOf(result), 0) << result.stdout_text << result.stderr_text;
  EXPECT_THAT(States(),
              ElementsAre("batch_invariant@1 held", "batch_invariant@4 held",
                          "batch_invariant@reversed held", "batch_invariant@reversed-alone held"));
  EXPECT_EQ(Headline(2), "held to the bit in 6 items");
  EXPECT_EQ(Kept().Find("results")->AsArray()[0].Find("items")->ToDouble(), 6.0);
  EXPECT_EQ(Kept().Find("legs")->ToDouble(), 2.0 + 4.0);
  EXPECT_THAT(Unfolded(result.stdout_text),
              HasSubstr("a: batch_invariant held in 4 of 4 legs, by 6 items each"));
}

TEST_F(BatchInvariance, IsLostWithTheLegPromptAndTokenNamed) {
  RecordScorer();
  const ProcessResult result = Held(kClaim, {"--env", "SPLIT=1"});
  ASSERT_EQ(CodeOf(result), 1) << result.stdout_text << result.stderr_text;
  EXPECT_THAT(States(),
              ElementsAre("batch_invariant@1 lost", "batch_invariant@4 lost",
                          "batch_invariant@reversed held", "batch_invariant@reversed-alone lost"));
  EXPECT_THAT(Headline(0), HasSubstr("lost: log-probabilities answers.jsonl: "));
  EXPECT_THAT(Headline(3), HasSubstr("first prompt p3, sample 0, token "));
  EXPECT_THAT(Headline(0), HasSubstr("claimed to the bit; 2 straight runs are equal in it"));
  const std::string text = Unfolded(result.stdout_text);
  EXPECT_THAT(text, HasSubstr("3 of 4 properties lost: batch_invariant@1 of a"));
  EXPECT_THAT(text, HasSubstr("probe run --probe 'batch_invariance*'"));
  EXPECT_THAT(text, HasSubstr("batch_invariant held in 1 of 4 legs"));
}

TEST_F(BatchInvariance, HoldsWithinAMarginOfLogprobs) {
  RecordScorer();
  std::string claim = kClaim;
  claim.insert(claim.size() - 1, R"(, "within": {"metrics": {"logprobs": 1e-9}})");
  EXPECT_EQ(CodeOf(Held(claim, {"--env", "DRIFT=1"})), 0);
  EXPECT_THAT(
      States(),
      ElementsAre("batch_invariant@1 held_within", "batch_invariant@4 held_within",
                  "batch_invariant@reversed held", "batch_invariant@reversed-alone held_within"));
}

TEST_F(BatchInvariance, IsOfAnEvaluationsItems) {
  RecordScorer({"--form=scores"}, "items");
  EXPECT_EQ(CodeOf(Held(kClaim)), 0);
  EXPECT_EQ(Headline(2), "held to the bit in 6 items");
  const ProcessResult lost = Held(kClaim, {"--env", "DRIFT=1", "--out", "other"});
  EXPECT_EQ(CodeOf(lost), 1);
  EXPECT_THAT(Unfolded(lost.stdout_text), HasSubstr("items answers.jsonl: "));
  EXPECT_THAT(Unfolded(lost.stdout_text), HasSubstr("items differ, first p"));
}

// Without items the order of the answers is part of the output.
TEST_F(BatchInvariance, IsOfWholeOutputsWhereNothingNamesItems) {
  RecordScorer({"--form=text"});
  Held(kClaim);
  EXPECT_THAT(States(),
              ElementsAre("batch_invariant@1 held", "batch_invariant@4 held",
                          "batch_invariant@reversed lost", "batch_invariant@reversed-alone lost"));
  EXPECT_THAT(Kept().Dump(), HasSubstr("compared by the bits of whole outputs"));
}

TEST_F(BatchInvariance, OfALegThatCannotRunHidesNoLoss) {
  RecordScorer();
  const std::string two = R"({"name": "batch_invariant", "ways": [
      {"label": "gpus-2", "arguments": ["--gpus=2"]}, {"label": "alone", "arguments": ["--batch=1"]}]})";
  EXPECT_EQ(CodeOf(Held(two)), 3);
  EXPECT_THAT(States(),
              ElementsAre("batch_invariant@gpus-2 not_judged", "batch_invariant@alone held"));
  EXPECT_THAT(Headline(0), HasSubstr("cannot be done here: one GPU here"));
  EXPECT_EQ(CodeOf(Held(two, {"--env", "SPLIT=1", "--out", "other"})), 1);
}

TEST_F(BatchInvariance, OfNothingIsNeverHeld) {
  RecordScorer({"--prompts=1"});
  EXPECT_EQ(CodeOf(Held(kClaim)), 3);
  EXPECT_THAT(Headline(0), HasSubstr("there is one item, which shares no batch"));
  const ProcessResult same =
      Held(R"({"name": "batch_invariant", "sizes": [6], "arguments": ["--batch={size}"]})",
           {"--out", "other"});
  EXPECT_EQ(CodeOf(same), 2) << same.stdout_text;
  EXPECT_THAT(Unfolded(same.stderr_text),
              HasSubstr("every leg of batch_invariant is the recorded command itself"));
}

}  // namespace
}  // namespace rharness
