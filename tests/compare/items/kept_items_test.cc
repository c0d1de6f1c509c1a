// What is kept of an evaluation is one text for the same items, and reads back as them.
#include "compare/items/kept_items.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "harness/base/files.h"

namespace rharness {
namespace {

using testing::HasSubstr;

EvalItems EvaluationOf(const std::string& text) { return ParseEvalItems(text, "f.jsonl").value(); }

TEST(KeptItems, AreOneTextWhateverTheOrderAndTheContext) {
  const std::string first = R"({"id": 1, "acc": 1, "f1": 0.1, "question": "q", "group": "g"})";
  const std::string second = R"({"id": 2, "acc": 0, "f1": NaN, "question": "r", "latency": 3})";
  const std::string again = R"({"latency": 4, "question": "r", "f1": NaN, "acc": 0, "id": 2})";
  const std::string text = KeptTextOf(EvaluationOf(first + "\n" + second + "\n"));
  EXPECT_EQ(text, KeptTextOf(EvaluationOf(again + "\n" + first + "\n")));
  const auto back = ParseKeptItems(text, "kept");
  ASSERT_TRUE(back.ok()) << back.error().ToString();
  EXPECT_EQ(KeptTextOf(*back), text);
  EXPECT_EQ(back->tasks.at("").at("1").cluster, "g");
  EXPECT_TRUE(std::isnan(back->tasks.at("").at("2").scores.at("f1")));
  EXPECT_EQ(MeansOf(*back).at("acc"), 0.5);
  EXPECT_EQ(MeansOf(*back).at("f1"), 0.1);
}

TEST(KeptItems, KeepWhatWasAskedAndNoContext) {
  EvalItems items = EvaluationOf("{\"id\": 1, \"acc\": 1}\n");
  items.facts = {{Layer::kData, "evaluation.arc.few_shot", "5", FactWeight::kIdentity},
                 {Layer::kEnvironment, "software.lm_eval_version", "1", FactWeight::kContext}};
  const std::string text = KeptTextOf(items);
  EXPECT_THAT(text, HasSubstr(R"({"facts":{"evaluation.arc.few_shot":"5"}})"));
  const auto back = ParseKeptItems(text, "kept");
  ASSERT_EQ(back->facts.size(), 1U);
  EXPECT_EQ(back->facts[0].weight, FactWeight::kIdentity);
}

TEST(KeptItems, KeepADigestOfWhatWasSaid) {
  const auto kept = [](const std::string& answer) {
    return KeptTextOf(EvaluationOf("{\"id\": 1, \"acc\": 1, \"resps\": " + answer + "}\n"));
  };
  EXPECT_NE(kept("[[\"a\"]]"), kept("[[\"b\"]]"));
  EXPECT_EQ(kept("[[-1.5, true]]"), kept("[[\"-1.5\", true]]")) << "versions differ in it";
  EXPECT_EQ(KeptTextOf(ParseKeptItems(kept("\"a\""), "kept").value()), kept("\"a\""));
}

TEST(KeptItems, ThatAreNoneAreRefusedWithTheirLine) {
  const auto error = [](const std::string& text) {
    return ParseKeptItems(text, "kept").error().ToString();
  };
  const std::string facts = "{\"facts\":{}}\n";
  EXPECT_THAT(error(""), HasSubstr("holds no item"));
  EXPECT_THAT(error("{}\n"), HasSubstr("kept: line 1: expected an object with an object 'facts'"));
  EXPECT_THAT(error(facts + "{\"id\":\"1\"}\n"), HasSubstr("line 2: expected an object"));
  EXPECT_THAT(error(facts + R"({"id":1,"scores":{}})"), HasSubstr("'id' is"));
  EXPECT_THAT(error(facts + R"({"id":"1","scores":{"a":"x"}})"), HasSubstr("a score is"));
  EXPECT_THAT(error(facts + "{\"id\":\"1\",\"sc"), HasSubstr("kept: line 2"));
  EXPECT_THAT(error(facts + std::string(2'000'000, ' ')), HasSubstr("too long"));
}

}  // namespace
}  // namespace rharness
