// Prompts, answers and what they say, without a server.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compare/fingerprints/fingerprint.h"
#include "probes/endpoint/findings.h"

namespace rharness {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string WhyNotPrompts(const std::string& text) {
  const auto prompts = ParsePrompts(text, "p.jsonl", false, 16);
  return prompts.ok() ? "" : prompts.error().ToString();
}

TEST(EndpointPrompts, AreLinesOfTextOrOfJson) {
  const auto plain = ParsePrompts("one\r\n\n  two words \n", "p.txt", false, 16).value();
  ASSERT_EQ(plain.size(), 2U);
  EXPECT_EQ(plain[1].name, "prompt 2 'two words'");
  EXPECT_EQ(plain[1].content.AsString(), "two words");
  EXPECT_FALSE(plain[1].chat);
  EXPECT_EQ(plain[1].max_tokens, 16);
  const auto json = ParsePrompts(R"({"prompt": "a", "max_tokens": 3, "id": 7}
{"messages": [{"role": "user", "content": "what is the longest river of Europe?"}]})",
                                 "p.jsonl", false, 16)
                        .value();
  EXPECT_EQ(json[0].name, "prompt 7 'a'");
  EXPECT_EQ(json[0].max_tokens, 3);
  EXPECT_TRUE(json[1].chat);
  EXPECT_EQ(json[1].name, "prompt 2 'what is the longest rive...'");
  const auto chat = ParsePrompts("one", "p.txt", true, 16).value();
  EXPECT_EQ(chat[0].content.Dump(), R"([{"role":"user","content":"one"}])");
}

TEST(EndpointPrompts, AreReadStrictly) {
  EXPECT_THAT(WhyNotPrompts("{\"prompt\": \"a\"}\n{\"promt\": \"b\"}"),
              HasSubstr("p.jsonl:2: $.promt: unknown member"));
  EXPECT_THAT(WhyNotPrompts("{\"prompt\": \"a\", \"messages\": []}"), HasSubstr("either"));
  EXPECT_THAT(WhyNotPrompts("{\"id\": 1}"), HasSubstr("either"));
  EXPECT_THAT(WhyNotPrompts("{\"messages\": []}"), HasSubstr("$.messages: expected a list"));
  EXPECT_THAT(WhyNotPrompts("{\"messages\": [{\"role\": \"user\"}]}"), HasSubstr("a content"));
  EXPECT_THAT(WhyNotPrompts("{\"prompt\": \"\"}"), HasSubstr("$.prompt: expected a text"));
  EXPECT_THAT(WhyNotPrompts("{\"prompt\": \"a\", \"max_tokens\": 0}"), HasSubstr("1 to 65536"));
  EXPECT_THAT(WhyNotPrompts("{\"prompt\": \"a\", \"id\": 1}\n{\"prompt\": \"b\", \"id\": 1}"),
              HasSubstr("the id '1' is there twice"));
  EXPECT_THAT(WhyNotPrompts(" \n\n"), HasSubstr("there is none"));
  EXPECT_THAT(WhyNotPrompts("{\"prompt\": \"a\"}\nplain"), HasSubstr("p.jsonl:2"));
  std::string many;
  for (std::size_t i = 0; i <= kMostPrompts; ++i) many += "a\n";
  EXPECT_THAT(WhyNotPrompts(many), HasSubstr("more than 10000"));
}

TEST(EndpointPrompts, HaveNamesOfTheirOwnAndAreWhatTheySeem) {
  EXPECT_THAT(WhyNotPrompts("{\"prompt\":\"a\",\"id\":\"2\"}\n{\"prompt\":\"a\"}"),
              HasSubstr("two prompts are named prompt 2 'a'"));
  EXPECT_THAT(WhyNotPrompts("[{\"prompt\": \"a\"}]"), HasSubstr("found a list"));
  EXPECT_THAT(WhyNotPrompts("one\ntwo\xff\n"), HasSubstr("p.jsonl:2: expected UTF-8"));
  EXPECT_THAT(WhyNotPrompts(std::string("a\0b", 3)), HasSubstr("without NUL"));
  const auto marked = ParsePrompts("\xef\xbb\xbf{\"prompt\": \"a\"}", "p", false, 16).value();
  EXPECT_EQ(marked.at(0).content.AsString(), "a");
  EXPECT_EQ(ParsePrompts("[INST] hello [/INST]", "p", false, 16).value().size(), 1U);
}

TEST(EndpointPrompts, HaveADigestOfAllThatIsAsked) {
  const auto digest = [](const std::string& text, bool chat, int most) {
    return DigestOf(ParsePrompts(text, "p", chat, most).value());
  };
  const std::string before = digest("a\nb", false, 16);
  EXPECT_EQ(digest("{\"prompt\": \"a\"}\n{\"prompt\": \"b\", \"id\": \"x\"}", false, 16), before);
  EXPECT_NE(digest("b\na", false, 16), before);
  EXPECT_NE(digest("a\nb", true, 16), before);
  EXPECT_NE(digest("a\nb", false, 17), before);
}

TEST(EndpointPrompts, GetAPrefixBeforeAllElse) {
  const auto chat = ParsePrompts(R"({"messages": [{"role": "system", "content": "be brief"},
                                     {"role": "user", "content": "hi"}]})" +
                                     std::string(),
                                 "p", false, 1);
  EXPECT_FALSE(chat.ok()) << "a line each";
  const auto one = ParsePrompts(
      R"({"messages": [{"role": "system", "content": "brief"}, {"role": "user", "content": "hi"}]})",
      "p", false, 1);
  EXPECT_THAT(WithPrefix(one->front(), "P ").content.Dump(), HasSubstr("\"P brief\""));
  EXPECT_EQ(WithPrefix(ParsePrompts("hi", "p", false, 1)->front(), "P ").content.AsString(),
            "P hi");
}

Result<EndpointAnswer> Parsed(const std::string& text, bool chat) {
  return ParseEndpointAnswer(ParseJson(text, "j").value(), chat, "where");
}

TEST(EndpointAnswers, AreReadInBothForms) {
  const EndpointAnswer completion = Parsed(R"({"model": "m", "choices": [{"text": "a b",
      "finish_reason": "stop", "logprobs": {"tokens": ["a", " b"], "text_offset": [0, 1],
      "token_logprobs": [null, -0.30000000000000004], "top_logprobs": null}}]})",
                                           false)
                                        .value();
  EXPECT_THAT(completion.tokens, ElementsAre("a", " b"));
  EXPECT_THAT(completion.logprobs, ElementsAre("null", "-0.30000000000000004"));
  const EndpointAnswer chat = Parsed(R"({"system_fingerprint": "fp", "choices": [{"message":
      {"role": "assistant", "content": "a", "reasoning_content": "so "}, "logprobs": {"content": [
      {"token": "a", "logprob": -1e-05, "bytes": [97], "top_logprobs": []}]}}]})",
                                     true)
                                  .value();
  EXPECT_EQ(chat.text, "so a");
  EXPECT_THAT(chat.logprobs, ElementsAre("-1e-05"));
  EXPECT_EQ(chat.system_fingerprint, "fp");
  const EndpointAnswer bare =
      Parsed(R"({"system_fingerprint": null, "choices": [{"text": "a", "logprobs": null}]})", false)
          .value();
  EXPECT_TRUE(bare.tokens.empty());
}

TEST(EndpointAnswers, AreNoErrorsInTheirPlace) {
  const auto why = [](const std::string& text) {
    const auto json = ParseJson(text, "x").value();
    const auto answer = ParseEndpointAnswer(json, false, "x");
    return answer.ok() ? "" : answer.error().ToString();
  };
  EXPECT_THAT(why(R"({"error": {"message": "no memory"}, "choices": [{"text": "a"}]})"),
              HasSubstr("the server answers with an error: 'no memory'"));
  EXPECT_THAT(why(R"({"choices": [{"text": "a", "finish_reason": "abort"}]})"),
              HasSubstr("expected a whole answer"));
  EXPECT_EQ(why(R"({"error": null, "choices": [{"text": "a"}]})"), "");
  EndpointAnswer answer;
  EXPECT_FALSE(answer.HasLogprobs());
  answer.logprobs = {"-0.5", "-9999.0"};
  EXPECT_FALSE(answer.HasLogprobs());
  answer.logprobs = {"-0.5", "null"};
  EXPECT_FALSE(answer.HasLogprobs());
  answer.logprobs = {"-0.5", "-1e-7"};
  EXPECT_TRUE(answer.HasLogprobs());
}

TEST(EndpointAnswers, PartWhereTheirFirstDifferenceIs) {
  const EndpointAnswer a{.tokens = {"a", " b"}, .logprobs = {"-1", "-2"}, .text = "a b"};
  EndpointAnswer b = a;
  EXPECT_EQ(PartingOf(a, b), "");
  EXPECT_EQ(DigestOf(a), DigestOf(b));
  b.logprobs[1] = "-2.5";
  EXPECT_EQ(PartingOf(a, b), "only in the log-probability of token 2: -2 and -2.5");
  EXPECT_NE(DigestOf(a), DigestOf(b));
  b.tokens[1] = " c";
  EXPECT_EQ(PartingOf(a, b), "at token 2: ' b' and ' c'");
  b.tokens.pop_back();
  EXPECT_EQ(PartingOf(a, b), "at token 2: ' b' and the end");
  EXPECT_EQ(PartingOf({.text = "one"}, {.text = "on fire"}),
            "at byte 3 of the text: 'e' and ' fire'");
  EXPECT_EQ(PartingOf({.text = "a", .finish = "stop"}, {.text = "a", .finish = "length"}),
            "in why they end: stop and length");
}

TEST(EndpointPlanTest, AsksInSizesAndOrdersThatAreTheSameEachTime) {
  EXPECT_THAT(SizesBeside(1), ElementsAre());
  EXPECT_THAT(SizesBeside(2), ElementsAre(2));
  EXPECT_THAT(SizesBeside(6), ElementsAre(2, 4, 6));
  EXPECT_THAT(SizesBeside(8), ElementsAre(2, 4, 8));
  EXPECT_THAT(OrderOf(3, 0), ElementsAre(2, 1, 0));
  EXPECT_EQ(OrderOf(20, 5), OrderOf(20, 5));
  EXPECT_NE(OrderOf(20, 5), OrderOf(20, 6));
}

// Two prompts, each with these answers alone, beside one other, and everywhere else the first.
EndpointFingerprint Judged(const std::vector<std::string>& alone,
                           const std::vector<std::string>& beside) {
  EndpointAnswers in;
  in.prompts = ParsePrompts("one\ntwo", "p", false, 4).value();
  in.repeats = static_cast<int>(alone.size());
  in.at_a_time = 2;
  const auto cases = [](const std::vector<std::string>& texts) {
    std::vector<EndpointCase> made(2);
    for (std::size_t prompt = 0; prompt < 2; ++prompt) {
      made[prompt].prompt = prompt;
      made[prompt].at_a_time = 2;
      for (const std::string& text : texts) {
        made[prompt].answers.push_back(
            std::make_shared<const EndpointAnswer>(EndpointAnswer{.text = text}));
      }
    }
    return made;
  };
  in.alone = cases(alone);
  in.beside = cases(beside);
  in.order = in.cold = in.warm = cases({alone.front()});
  return JudgeEndpoint(in);
}

Fingerprint FingerprintOf(const EndpointFingerprint& judged) {
  const Json json = Json()
                        .Set("schema", "rharness.fingerprint/v1")
                        .Set("stack", Json().Set("endpoint", judged.endpoint))
                        .Set("suite", "ok")
                        .Set("probes", judged.probes);
  return ParseFingerprint(json, "f").value();
}

TEST(EndpointFindings, AreNoneWhereEveryAnswerIsTheSame) {
  const EndpointFingerprint judged = Judged({"a", "a", "a"}, {"a", "a", "a"});
  EXPECT_TRUE(judged.findings.empty());
  const Fingerprint fingerprint = FingerprintOf(judged);
  ASSERT_EQ(fingerprint.probes.size(), 4U);
  for (const FingerprintProbe& probe : fingerprint.probes) EXPECT_TRUE(probe.deterministic);
  EXPECT_EQ(fingerprint.probes[1].choices.at("prompt 1 'one' beside 1"), R"({"as_alone":true})");
}

TEST(EndpointFindings, CountDistinctCompletions) {
  const EndpointFingerprint judged = Judged({"a", "b", "a", "c", "b"}, {"a"});
  ASSERT_EQ(judged.findings.size(), 1U);
  EXPECT_EQ(judged.findings[0].kind, EndpointFindingKind::kNotDeterministic);
  EXPECT_THAT(judged.findings[0].sentence,
              HasSubstr("2 of 2 prompts asked alone at temperature 0 get different answers; prompt "
                        "1 'one': 3 distinct completions of 5, which part at byte 1"));
  EXPECT_TRUE(FingerprintOf(judged).probes[0].IsUnstable("prompt 1 'one'"));
}

// 2 of 6 beside and 0 of 6 alone: 6/12 x 5/11 = .227; 6 of 6: 1/924 = .0011.
TEST(EndpointFindings, TellTheBatchFromChanceByFishersExactTest) {
  const EndpointFingerprint rare = Judged({"a", "a", "a"}, {"a", "b", "a"});
  ASSERT_EQ(rare.findings.size(), 1U);
  EXPECT_EQ(rare.findings[0].kind, EndpointFindingKind::kOpen);
  EXPECT_THAT(rare.findings[0].sentence, HasSubstr("(chance 0.23)"));
  const EndpointFingerprint batch = Judged({"a", "a", "a"}, {"b", "b", "b"});
  ASSERT_EQ(batch.findings.size(), 1U);
  EXPECT_EQ(batch.findings[0].kind, EndpointFindingKind::kNotBatchInvariant);
  EXPECT_THAT(batch.findings[0].sentence, HasSubstr("(chance 0.0011)"));
  EXPECT_TRUE(FingerprintOf(batch).probes[1].deterministic) << "always the same other answer";
  EXPECT_FALSE(FingerprintOf(rare).probes[1].deterministic);
}

}  // namespace
}  // namespace rharness
