// Evaluations as files: what is a score, what makes two of them not comparable, and hostile ones.
#include "compare/items/eval_items.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "harness/base/files.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

// A line as lm-evaluation-harness 0.4 writes it.
std::string Line(int id, double acc, const std::string& prompt = "p",
                 const std::string& more = "") {
  return R"({"doc_id": )" + std::to_string(id) + R"(, "doc": {"q": "x"}, "target": "1", )" +
         R"("arguments": [["q", "a"]], "resps": [["a"]], "filtered_resps": ["a"], )" +
         R"("filter": "none", "metrics": ["acc", "acc_norm"], "prompt_hash": ")" + prompt +
         R"(", "target_hash": "t", "acc": )" + std::to_string(acc) + R"(, "acc_norm": 1.0)" + more +
         "}\n";
}

EvalItems ItemsOf(const std::string& text, const std::string& file = "f.jsonl") {
  auto items = ParseEvalItems(text, file);
  EXPECT_TRUE(items.ok()) << items.error().ToString();
  return items.ok() ? std::move(*items) : EvalItems();
}

std::string FactOf(const std::vector<Fact>& facts, const std::string& key) {
  for (const Fact& fact : facts) {
    if (fact.key == key) return fact.value.value_or("absent");
  }
  return "none";
}

TEST(EvalItems, OfTheHarnessHaveTheScoresThatTheyName) {
  const EvalItems items =
      ItemsOf(Line(0, 1.0) + Line(1, 0.0), "out/samples_arc_easy_2026-11-20T08-00-00.1.jsonl");
  ASSERT_EQ(items.tasks.size(), 1U);
  EXPECT_EQ(items.tasks.begin()->first, "arc_easy");
  EXPECT_THAT(items.tasks.at("arc_easy").at("1").scores,
              ElementsAre(Pair("acc", 0.0), Pair("acc_norm", 1.0)));
}

TEST(EvalItems, OfAnyProgramHaveAnIdentifierAndScores) {
  const std::string line =
      R"({"id": "a", "correct": true, "f1": 0.5, "latency": 3.5, "answer": "x", "group": "g"})";
  EXPECT_TRUE(LooksLikeEvalItems("f.jsonl", line));
  const EvalItems items = ItemsOf(line + "\n");
  const EvalItem& item = items.tasks.at("").at("a");
  EXPECT_THAT(item.scores, ElementsAre(Pair("correct", 1.0), Pair("f1", 0.5)));
  EXPECT_EQ(item.cluster, "g");
  EXPECT_FALSE(LooksLikeEvalItems("f.jsonl", R"({"step": 1, "id": 2, "loss": 0.5})"));
  EXPECT_FALSE(LooksLikeEvalItems("f.jsonl", R"({"id": 2, "name": "x"})"));
  EXPECT_FALSE(LooksLikeEvalItems("f.jsonl", R"({"loss": 0.5})"));
}

TEST(EvalItems, ThatAreNoneAreRefusedWithTheirLine) {
  const auto error = [](const std::string& text) {
    return ParseEvalItems(text, "f").error().ToString();
  };
  EXPECT_THAT(error(""), HasSubstr("no item"));
  EXPECT_THAT(error(Line(0, 1) + "[1]\n"), HasSubstr("f: line 2: expected an object"));
  EXPECT_THAT(error(Line(0, 1) + "{\"acc\": 1}\n"), HasSubstr("line 2: no identifier"));
  EXPECT_THAT(error(Line(0, 1) + Line(0, 1)), HasSubstr("line 2: item '0' is there twice"));
  EXPECT_THAT(error(Line(0, 1) + "{\"doc_id\": 1, \"acc\""), HasSubstr("f: line 2"));
  EXPECT_FALSE(ParseEvalItems(std::string(1'000'000, '['), "f").ok());
}

TEST(EvalItems, OfSeveralFiltersAreItemsOfTheirOwn) {
  const std::string strict = R"({"doc_id": 0, "filter": "strict", "exact_match": 0})";
  const std::string flexible = R"({"doc_id": 0, "filter": "flexible", "exact_match": 1})";
  EXPECT_EQ(ItemsOf(strict + "\n" + flexible + "\n").tasks.at("").size(), 2U);
}

// 0.4.5 writes neither "filter" nor "metrics".
TEST(EvalItems, OfSeveralFiltersWithoutTheirNamesAreNumbered) {
  const std::string line = R"({"doc_id": 0, "filtered_resps": ["a"], "exact_match": )";
  const EvalItems items = ItemsOf(line + "0}\n" + line + "1}\n");
  EXPECT_EQ(items.tasks.at("").at("0").scores.at("exact_match"), 0.0);
  EXPECT_EQ(items.tasks.at("").at("0 (filter 2)").scores.at("exact_match"), 1.0);
}

// prompt_hash is that of the first call's text alone.
TEST(Items, WithOtherChoicesOrSettingsDifferInTheirArguments) {
  const auto items = [](const std::string& arguments) {
    return ItemsOf(R"({"doc_id": 0, "prompt_hash": "p", "acc": 1, "arguments": )" + arguments +
                   "}\n");
  };
  const EvalItems a = items(R"({"gen_args_0": {"arg_0": "Q", "arg_1": {"temperature": 0.0}}})");
  const ItemComparison same = CompareItems(a, items(R"([["Q", {"temperature": 0.0}]])"), {});
  EXPECT_EQ(FactOf(same.facts_a, "evaluation.arguments"),
            FactOf(same.facts_b, "evaluation.arguments"));
  for (const char* other :
       {R"([["Q", {"temperature": 1.0}]])", R"([["Q", {"top_p": 0.0}]])", R"([["Q", "0.0"]])"}) {
    const ItemComparison compared = CompareItems(a, items(other), {});
    EXPECT_NE(FactOf(compared.facts_a, "evaluation.arguments"),
              FactOf(compared.facts_b, "evaluation.arguments"))
        << other;
  }
}

TEST(Items, ArePairedByTheirIdentifiers) {
  // The order of the lines does not matter.
  const ItemComparison compared = CompareItems(ItemsOf(Line(0, 1) + Line(1, 0) + Line(2, 1)),
                                               ItemsOf(Line(2, 1) + Line(1, 1) + Line(0, 1)), {});
  ASSERT_EQ(compared.decisions.size(), 2U);
  EXPECT_EQ(compared.decisions[0].name, "acc");
  EXPECT_NEAR(compared.decisions[0].difference, 1.0 / 3.0, 1e-12);
  EXPECT_EQ(compared.decisions[1].reason, "equal");
  EXPECT_THAT(compared.notes, testing::Contains(HasSubstr("higher in B for 1: 1")));
  EXPECT_EQ(FactOf(compared.facts_a, "evaluation.prompts"),
            FactOf(compared.facts_b, "evaluation.prompts"));
  EXPECT_EQ(FactOf(compared.facts_a, "evaluation.items"),
            FactOf(compared.facts_b, "evaluation.items"));
}

TEST(Items, WithOtherPromptsOrOfOtherItemsDifferInTheirFacts) {
  const EvalItems a = ItemsOf(Line(0, 1) + Line(1, 0));
  const ItemComparison prompts = CompareItems(a, ItemsOf(Line(0, 1) + Line(1, 0, "other")), {});
  EXPECT_NE(FactOf(prompts.facts_a, "evaluation.prompts"),
            FactOf(prompts.facts_b, "evaluation.prompts"));
  EXPECT_THAT(prompts.notes, testing::Contains(HasSubstr("1 of 2 items have another prompt")));
  const ItemComparison items = CompareItems(a, ItemsOf(Line(0, 1)), {});
  EXPECT_NE(FactOf(items.facts_a, "evaluation.items"), FactOf(items.facts_b, "evaluation.items"));
  EXPECT_THAT(items.notes, testing::Contains(HasSubstr("2 items are in A and 1 in B, 1 in both")));
}

TEST(Items, WithAScoreThatOneSideAloneHasDoNotPass) {
  const auto one = ParseEvalItems("{\"id\": 1, \"acc\": 1}\n{\"id\": 2, \"acc\": 0}\n", "a");
  const auto two = ParseEvalItems(
      "{\"id\": 1, \"acc\": 1, \"f1\": 1}\n{\"id\": 2, \"acc\": 0, \"f1\": 1}\n", "b");
  ASSERT_TRUE(one.ok() && two.ok());
  for (const bool turned : {false, true}) {
    const ItemComparison compared =
        turned ? CompareItems(*two, *one, {}) : CompareItems(*one, *two, {});
    ASSERT_EQ(compared.decisions.size(), 2u);
    EXPECT_EQ(compared.decisions[0].verdict, MetricVerdict::kWithin);
    EXPECT_EQ(compared.decisions[1].name, "f1");
    EXPECT_EQ(compared.decisions[1].verdict, MetricVerdict::kInconclusive);
  }
}

TEST(Items, WithoutAScoreOnOneSideDoNotPass) {
  const EvalItems a = ItemsOf(Line(0, 1) + Line(1, 0));
  const EvalItems b = ItemsOf(Line(0, 1) + "{\"doc_id\": 1, \"metrics\": [\"acc\"], \"acc\": 0}\n");
  const ItemComparison compared = CompareItems(a, b, {});
  ASSERT_EQ(compared.decisions.size(), 2U);
  EXPECT_EQ(compared.decisions[0].verdict, MetricVerdict::kWithin);
  EXPECT_EQ(compared.decisions[1].verdict, MetricVerdict::kInconclusive);
  EXPECT_EQ(compared.decisions[1].reason, "unscored_items");
}

// In place of a score: the value as a program writes it.
EvalItems ItemsWith(const std::vector<std::string>& scores) {
  std::string text;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    text += fmt::format("{{\"id\": {}, \"acc\": {}}}\n", i, scores[i]);
  }
  return ItemsOf(text);
}

TEST(Items, ThatAreNotFiniteAlikeAreEqualAndInNoTest) {
  const EvalItems a = ItemsWith({"NaN", "Infinity", "0.5", "0.25"});
  const ItemComparison equal = CompareItems(a, a, {});
  EXPECT_EQ(equal.decisions[0].verdict, MetricVerdict::kWithin);
  EXPECT_EQ(equal.decisions[0].reason, "equal");
  EXPECT_EQ(equal.decisions[0].history, std::vector<double>{0.375});
  EXPECT_THAT(equal.notes, testing::Contains(HasSubstr("alike and not finite, in no mean and no "
                                                       "test: 2")));
  for (const auto& other :
       {ItemsWith({"0.5", "Infinity", "0.5", "0.25"}),
        ItemsWith({"NaN", "-Infinity", "0.5", "0.25"}), ItemsWith({"NaN", "NaN", "0.5", "0.25"}),
        ItemsWith({"NaN", "null", "0.5", "0.25"})}) {
    for (const bool turned : {false, true}) {
      const ItemComparison compared =
          turned ? CompareItems(other, a, {}) : CompareItems(a, other, {});
      EXPECT_EQ(compared.decisions[0].verdict, MetricVerdict::kInconclusive);
      EXPECT_EQ(compared.decisions[0].reason, "unscored_items");
      EXPECT_THAT(compared.notes,
                  testing::Contains(HasSubstr("without a finite score on a side: 1")));
    }
  }
}

// Their equal bits show nothing (IsFinite).
TEST(Items, OfNoFiniteScoreAreEqualAndHaveNoMean) {
  const EvalItems a = ItemsWith({"NaN", "NaN"});
  const MetricDecision decision = CompareItems(a, a, {}).decisions[0];
  EXPECT_EQ(decision.reason, "equal");
  ASSERT_EQ(decision.history.size(), 1U);
  EXPECT_TRUE(std::isnan(decision.history[0]) && std::isnan(decision.reruns[0]));
  EXPECT_EQ(CompareItems(a, ItemsWith({"NaN", "1"}), {}).decisions[0].verdict,
            MetricVerdict::kInconclusive);
}

class EvalFolder : public testing::Test {
 protected:
  void Write(const std::string& path, const std::string& content) {
    ASSERT_TRUE(MakeDirectories((root() / path).parent_path()).ok());
    ASSERT_TRUE(WriteFileAtomic(root() / path, content).ok());
  }
  fs::path root() const { return folder_.path(); }

 private:
  ScopedTempDir folder_ = ScopedTempDir::Make().value();
};

TEST_F(EvalFolder, HoldsTheLastSamplesOfEachTaskAndTheLastResults) {
  Write("samples_arc_2026-11-19T08-00-00.1.jsonl", Line(0, 0));
  Write("samples_arc_2026-11-20T08-00-00.1.jsonl", Line(0, 1));
  Write("samples_mmlu_2026-11-20T08-00-00.1.jsonl", Line(7, 1));
  Write("results_2026-11-20T08-00-00.1.json",
        R"({"versions": {"arc": 1.0}, "n-shot": {"arc": 5}, "chat_template_sha": "c",
            "transformers_version": "4.50"})");
  EXPECT_TRUE(HoldsEvalItems(root()));
  const auto items = LoadEvalItems(root());
  ASSERT_TRUE(items.ok()) << items.error().ToString();
  EXPECT_EQ(items->tasks.at("arc").at("0").scores.at("acc"), 1.0);
  EXPECT_EQ(items->tasks.size(), 2U);
  EXPECT_EQ(FactOf(items->facts, "evaluation.arc.few_shot"), "5");
  EXPECT_EQ(FactOf(items->facts, "evaluation.chat_template_sha"), "c");
  const ItemComparison compared = CompareItems(*items, *items, {{"mmlu/acc", 0.1}});
  ASSERT_EQ(compared.decisions.size(), 4U);
  EXPECT_EQ(compared.decisions[2].name, "mmlu/acc");
  EXPECT_EQ(compared.decisions[2].margin, 0.1);
  EXPECT_EQ(compared.decisions[0].margin, 0.0);
}

TEST_F(EvalFolder, WithoutResultsIsComparedByItsItemsAlone) {
  Write("a/samples_arc.jsonl", Line(0, 1));
  Write("b/samples_arc.jsonl", Line(0, 1));
  Write("b/results_1.json", R"({"n-shot": {"arc": 5}})");
  const ItemComparison compared =
      CompareItems(*LoadEvalItems(root() / "a"), *LoadEvalItems(root() / "b"), {});
  EXPECT_EQ(FactOf(compared.facts_b, "evaluation.arc.few_shot"), "none");
  EXPECT_THAT(compared.notes, testing::Contains(HasSubstr("A has no results_*.json")));
}

// Members as 0.4.8 to 0.4.13 write them.
TEST_F(EvalFolder, StatesWhatWasAskedInTheWordsOfItsVersion) {
  const auto load = [&](const std::string& name, const std::string& results) {
    Write(name + "/model/samples_arc_2026-11-20T08-00-00.1.jsonl", Line(0, 1));
    Write(name + "/model/results_2026-11-20T08-00-00.1.json", results);
    EXPECT_TRUE(HoldsEvalItems(root() / name));
    auto items = LoadEvalItems(root() / name);
    EXPECT_TRUE(items.ok()) << items.error().ToString();
    return std::move(*items);
  };
  const EvalItems old = load("old", R"({"versions": {"arc": 1.0}, "n-shot": {"arc": 0},
      "fewshot_as_multiturn": false, "chat_template": "", "chat_template_sha": null})");
  const EvalItems now = load("now", R"({"versions": {"arc": 1.0}, "n-shot": {"arc": 0},
      "fewshot_as_multiturn": null, "chat_template_sha": null, "lm_eval_version": "0.4.13",
      "tokenizer_eos_token": ["</s>", "2"], "config": {"batch_size": 8}})");
  const ItemComparison same = CompareItems(old, now, {});
  for (const Fact& fact : same.facts_a) EXPECT_EQ(*fact.value, FactOf(same.facts_b, fact.key));
  EXPECT_EQ(FactOf(same.facts_b, "evaluation.chat_template_sha"), "none");
  EXPECT_THAT(
      same.notes,
      testing::Contains(HasSubstr("B alone states evaluation.tokenizer_eos_token: not compared")));
  EXPECT_THAT(same.notes, testing::Contains(HasSubstr("the tokenizer cannot be seen")));
  const EvalItems other = load("other", R"({"versions": {"arc": 2.0}, "n-shot": {"arc": 5},
      "fewshot_as_multiturn": true, "chat_template_sha": "c", "tokenizer_eos_token": ["<e>", "2"],
      "config": {"batch_size": 4}})");
  const ItemComparison changed = CompareItems(now, other, {});
  for (const char* key : {"arc.version", "arc.few_shot", "fewshot_as_multiturn",
                          "chat_template_sha", "tokenizer_eos_token", "batch_size"}) {
    EXPECT_NE(FactOf(changed.facts_a, "evaluation." + std::string(key)),
              FactOf(changed.facts_b, "evaluation." + std::string(key)))
        << key;
  }
  EXPECT_THAT(changed.notes, testing::Contains(HasSubstr("by their special tokens alone")));
}

TEST_F(EvalFolder, HasADigestOfTheTokenizerThatLiesBeside) {
  for (const char* name : {"a", "b"}) {
    Write(std::string(name) + "/samples_arc.jsonl", Line(0, 1));
    Write(std::string(name) + "/tokenizer.json", std::string("{}") + name);
  }
  const ItemComparison compared =
      CompareItems(*LoadEvalItems(root() / "a"), *LoadEvalItems(root() / "b"), {});
  EXPECT_EQ(FactOf(compared.facts_a, "evaluation.tokenizer.tokenizer.json").size(), 64U);
  EXPECT_NE(FactOf(compared.facts_a, "evaluation.tokenizer.tokenizer.json"),
            FactOf(compared.facts_b, "evaluation.tokenizer.tokenizer.json"));
}

TEST(Items, AreInTheOrderOfTheirNumbers) {
  const EvalItems items = ItemsOf(Line(10, 1) + Line(2, 1) + Line(1, 0));
  std::vector<std::string> ids;
  for (const auto& [id, item] : items.tasks.at("")) ids.push_back(id);
  EXPECT_THAT(ids, ElementsAre("1", "2", "10"));
}

TEST_F(EvalFolder, FollowsNoLink) {
  Write("elsewhere/x.jsonl", Line(0, 1));
  fs::create_directories(root() / "out");
  fs::create_symlink(root() / "elsewhere/x.jsonl", root() / "out/samples_arc.jsonl");
  EXPECT_EQ(LoadEvalItems(root() / "out").error().code, ErrorCode::kNotFound);
}

}  // namespace
}  // namespace rharness
