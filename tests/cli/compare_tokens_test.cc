// `rharness compare` on log-probabilities of tokens: verdicts by declared claim, in every report.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "tests/cli/compare_verb.h"

namespace rharness {
namespace {

using testing::HasSubstr;

constexpr int kAnswers = 40;

// Of token i of answer p; `apart` moves every value by up to this much, this way and that.
float LogprobOf(int p, int i, double apart) {
  const double value = -0.5 - 0.01 * ((p * 7 + i * 13) % 97);
  return static_cast<float>(value + apart * (((p * 5 + i * 3) % 11) - 5) / 5.0);
}

class CompareTokensVerb : public CompareVerb {
 protected:
  // As a trainer's JSON Lines.
  std::string WriteTrainer(const std::string& name, double apart, int other_token = -1) const {
    std::string text;
    for (int p = 0; p < kAnswers; ++p) {
      std::string ids, logprobs;
      for (int i = 0; i < 12; ++i) {
        ids += fmt::format("{}{}", i > 0 ? "," : "", p == 3 && i == other_token ? 9999 : 100 + i);
        logprobs +=
            fmt::format("{}{}", i > 0 ? "," : "", static_cast<double>(LogprobOf(p, i, apart)));
      }
      text += fmt::format(R"({{"prompt_id":"p{}","response_ids":[{}],"old_log_probs":[{}]}})", p,
                          ids, logprobs) +
              "\n";
    }
    return Write(name, text);
  }
  // As an engine's answers to a batch, in another order.
  std::string WriteServed(const std::string& name, double apart) const {
    std::string text;
    for (int p = kAnswers - 1; p >= 0; --p) {
      std::string content, ids;
      for (int i = 0; i < 12; ++i) {
        content += fmt::format(R"({}{{"token":"t","logprob":{}}})", i > 0 ? "," : "",
                               static_cast<double>(LogprobOf(p, i, apart)));
        ids += fmt::format("{}{}", i > 0 ? "," : "", 100 + i);
      }
      text += fmt::format(R"({{"custom_id":"p{}","response":{{"body":{{"choices":[{{"index":0,)"
                          R"("token_ids":[{}],"logprobs":{{"content":[{}]}}}}]}}}}}})",
                          p, ids, content) +
              "\n";
    }
    return Write(name, text);
  }
  // As a trainer's tensors.
  std::string WriteTensors(const std::string& name, double apart) const {
    std::vector<float> logprobs, sampler;
    std::vector<std::int64_t> ids;
    for (int p = 0; p < kAnswers; ++p) {
      for (int i = 0; i < 12; ++i) {
        logprobs.push_back(LogprobOf(p, i, 0.0));
        sampler.push_back(LogprobOf(p, i, apart));
        ids.push_back(100 + i);
      }
    }
    const std::string shape = fmt::format("[{},12]", kAnswers);
    return Write(name, FileOf({{"old_log_probs", "F32", shape, BytesOf(logprobs)},
                               {"responses", "I64", shape, BytesOf(ids)},
                               {"rollout_log_probs", "F32", shape, BytesOf(sampler)}}));
  }
};

TEST_F(CompareTokensVerb, DecidesByTheDeclaredClaim) {
  const std::string a = WriteTrainer("trainer.jsonl", 0.0);
  const std::string same = WriteServed("same.jsonl", 0.0);
  const std::string b = WriteServed("served.jsonl", 0.02);
  EXPECT_EQ(CompareJson({a, same}, 0).Find("verdict")->AsString(), "identical");
  EXPECT_EQ(CompareJson({a, b}, 3).Find("verdict")->AsString(), "inconclusive");
  EXPECT_EQ(CompareJson({a, b, "--metric", "kl,margin=0.001"}, 0).Find("verdict")->AsString(),
            "equivalent");
  EXPECT_EQ(
      CompareJson({a, b, "--metric", "kl,margin=0.00001,unit=nats"}, 1).Find("verdict")->AsString(),
      "drifted");
  const Json bits = CompareJson({a, b, "--expect", "bitwise"}, 1);
  EXPECT_EQ(bits.Find("findings")->AsArray().front().Find("code")->AsString(), "bits_differ");
  EXPECT_EQ(CompareJson({a, same, "--expect", "bitwise"}, 0).Find("verdict")->AsString(),
            "identical");
}

TEST_F(CompareTokensVerb, ShowsItInEveryReport) {
  const std::string a = WriteTrainer("trainer.jsonl", 0.0);
  const std::string b = WriteServed("served.jsonl", 0.02);
  const ProcessResult result =
      Compare({a, b, "--metric", "kl,margin=0.001", "--html", At("page.html"), "--junit",
               At("junit.xml"), "--markdown", At("summary.md"), "--json-file", At("c.json")});
  EXPECT_EQ(result.outcome.exit_code, 0) << result.stderr_text;
  EXPECT_THAT(result.stdout_text, HasSubstr("shown to be below the margin of 0.001"));
  EXPECT_THAT(result.stdout_text, HasSubstr("first prompt p0, sample 0, token 0"));
  const std::string page = *ReadFile(At("page.html"));
  EXPECT_THAT(page, HasSubstr("Log-probabilities"));
  EXPECT_THAT(page, HasSubstr("<svg"));
  EXPECT_THAT(*ReadFile(At("junit.xml")), HasSubstr("KL(B||A)"));
  EXPECT_THAT(*ReadFile(At("summary.md")), HasSubstr("Bit-equal tokens"));
  const Json json = *ParseJson(*ReadFile(At("c.json")), "c.json");
  EXPECT_EQ(json.Find("tokens")->Find("tokens")->ToInt64(), kAnswers * 12);
  EXPECT_EQ(json.Find("tokens")->Find("first")->Find("prompt")->AsString(), "p0");
  // Read back and rendered again: the same page.
  const ProcessResult again =
      RunProcess(ProcessSpec{{kRharness, "report", At("c.json"), "--html", At("again.html")},
                             PickEnvironment({"PATH", "TMPDIR"}),
                             folder_.path()},
                 {});
  EXPECT_EQ(again.outcome.exit_code, 0) << again.stderr_text;
  EXPECT_EQ(*ReadFile(At("again.html")), page);
}

TEST_F(CompareTokensVerb, SaysWhoDrewTheTokens) {
  const std::string a = WriteTrainer("a.jsonl", 0.0);
  const std::string b = WriteTrainer("b.jsonl", 0.02);
  EXPECT_THAT(Compare({a, b}).stdout_text, HasSubstr("the files do not say who drew the tokens"));
  EXPECT_THAT(Compare({a, b, "--sampled-by", "B"}).stdout_text, HasSubstr("KL(B||A)"));
  EXPECT_THAT(Compare({a, WriteServed("c.jsonl", 0.02)}).stdout_text, HasSubstr("KL(B||A)"));
}

TEST_F(CompareTokensVerb, ComparesTheTwoColumnsOfOneFile) {
  const std::string both = WriteTensors("batch.safetensors", 0.02);
  const Json json = CompareJson({both, both, "--metric", "kl,margin=0.001"}, 0);
  EXPECT_EQ(json.Find("verdict")->AsString(), "equivalent");
  EXPECT_THAT(json.Find("b")->Find("detail")->AsString(), HasSubstr("those of its sampler"));
  // Tensors against lines: rows have no names, and are paired by their tokens.
  const Json lines = CompareJson({both, WriteTrainer("trainer.jsonl", 0.0)}, 0);
  EXPECT_EQ(lines.Find("verdict")->AsString(), "identical");
}

TEST_F(CompareTokensVerb, NamesOtherTokensAndPassesOverNone) {
  const std::string a = WriteTrainer("a.jsonl", 0.0);
  const std::string b = WriteTrainer("b.jsonl", 0.0, 5);
  const ProcessResult result = Compare({a, b});
  EXPECT_EQ(result.outcome.exit_code, 3);
  EXPECT_THAT(result.stdout_text, HasSubstr("other tokens from prompt p3, sample 0, token 5 on, in "
                                            "1 of 40 sequences"));
}

// One token of each answer, or the same answers to other prompts, are no equal files.
TEST_F(CompareTokensVerb, PassesOverNoTokenAndNoPrompt) {
  const auto write = [&](const std::string& name, const std::string& of_each) {
    std::string text;
    for (int p = 0; p < 25; ++p) text += fmt::format("{{\"prompt_id\":{},{}}}\n", p, of_each);
    return Write(name, text);
  };
  const std::string whole =
      write("a.jsonl", R"("prompt":"x","token_ids":[7,8,9],"logprobs":[-1.25,-0.5,-0.125])");
  const std::string last = write("b.jsonl", R"("token_ids":[9],"logprobs":[-0.125])");
  const std::string other =
      write("c.jsonl", R"("prompt":"y","token_ids":[7,8,9],"logprobs":[-1.25,-0.5,-0.125])");
  for (const std::string& b : {last, other}) {
    const std::string verdict = b == last ? "inconclusive" : "not_comparable";
    for (const std::vector<std::string>& more :
         {std::vector<std::string>{}, {"--expect", "bitwise"}, {"--metric", "kl,margin=0.001"}}) {
      std::vector<std::string> arguments = {whole, b};
      arguments.insert(arguments.end(), more.begin(), more.end());
      EXPECT_EQ(CompareJson(arguments, 3).Find("verdict")->AsString(), verdict);
    }
  }
}

TEST_F(CompareTokensVerb, ComparesPairs) {
  WriteTrainer("golden/x/before.jsonl", 0.0);
  WriteServed("golden/x/after.jsonl", 0.0);
  WriteTrainer("golden/y/before.jsonl", 0.0);
  WriteServed("golden/y/after.jsonl", 0.5);
  const Json json = CompareJson({"--pairs", At("golden"), "--metric", "kl,margin=0.001"}, 1);
  EXPECT_EQ(json.Find("counts")->Find("identical")->ToInt64(), 1);
  EXPECT_EQ(json.Find("counts")->Find("drifted")->ToInt64(), 1);
}

TEST_F(CompareTokensVerb, RefusesOtherUnitsAndUnreadableFiles) {
  const std::string a = WriteTrainer("a.jsonl", 0.0);
  const ProcessResult unit = Compare({a, a, "--metric", "kl,margin=1,unit=bits"});
  EXPECT_EQ(unit.outcome.exit_code, 2);
  EXPECT_THAT(unit.stderr_text, HasSubstr("kl is in nats a token"));
  const ProcessResult broken =
      Compare({a, Write("b.jsonl", "{\"tokens\": [1], \"logprobs\": [7]}\n")});
  EXPECT_EQ(broken.outcome.exit_code, 2);
  EXPECT_THAT(broken.stderr_text, HasSubstr("b.jsonl: line 1: token 0: a log-probability of 7"));
}

TEST_F(CompareTokensVerb, RefusesAMarginThatDecidesNothing) {
  const std::string a = WriteTrainer("a.jsonl", 0.0);
  for (const char* margin : {"kl,margin=inf", "kl,margin=nan", "kl,margin=0", "kl,margin=-1"}) {
    EXPECT_EQ(Compare({a, a, "--metric", margin}).outcome.exit_code, 2) << margin;
  }
  const ProcessResult other = Compare({a, a, "--metric", "accuracy,margin=0.1"});
  EXPECT_EQ(other.outcome.exit_code, 2);
  EXPECT_THAT(other.stderr_text, HasSubstr("no metric 'accuracy' is compared; compared are kl"));
  const ProcessResult none = Compare(
      {WriteLoss("x.json", 0.0), WriteLoss("y.json", 0.0), "--metric", "accuracy,margin=0.1"});
  EXPECT_EQ(none.outcome.exit_code, 2);
  EXPECT_THAT(none.stderr_text, HasSubstr("these two have none that a margin decides"));
}

// A prompt of 20,000 ids is longer than what is read to see what a file is.
TEST_F(CompareTokensVerb, ReadsRecordsThatBeginWithALongPrompt) {
  const auto write = [&](const std::string& name, double last) {
    std::string ids = "0";
    for (int i = 1; i < 20000; ++i) ids += fmt::format(",{}", i);
    std::string text;
    for (int i = 0; i < 3; ++i) {
      text += fmt::format(R"({{"step":{},"prompt_ids":[{}],"token_ids":[7,8],"logprobs":[-1,{}]}})"
                          "\n",
                          i, ids, last);
    }
    return Write(name, text);
  };
  const Json json = CompareJson({write("a.jsonl", -0.5), write("b.jsonl", -0.75)}, 3);
  EXPECT_EQ(json.Find("tokens")->Find("differing")->ToInt64(), 3);
}

// The scores agree, and the likelihoods behind them do not: only bits ask for these.
TEST_F(CompareTokensVerb, ShowsTheLikelihoodsBehindAnEvaluation) {
  const auto samples = [&](const std::string& folder, double likelihood) {
    std::string text;
    for (int i = 0; i < 30; ++i) {
      text += fmt::format(R"({{"doc_id":{},"acc":1.0,"resps":[[["-1.5","True"]],[["{}","False"]]],)"
                          R"("arguments":[["q","a"],["q","b"]]}})",
                          i, likelihood) +
              "\n";
    }
    return Write(folder + "/samples_task_2026-01-01T00-00-00.jsonl", text);
  };
  const std::string a = samples("a", -2.25);
  const std::string b = samples("b", -2.5);
  const ProcessResult result = Compare({a, b});
  EXPECT_EQ(result.outcome.exit_code, 0);
  EXPECT_THAT(result.stdout_text, HasSubstr("30 of 60 tokens"));
  EXPECT_EQ(Compare({a, b, "--expect", "bitwise"}).outcome.exit_code, 1);
  EXPECT_EQ(Compare({a, a, "--expect", "bitwise"}).outcome.exit_code, 0);
}

}  // namespace
}  // namespace rharness
