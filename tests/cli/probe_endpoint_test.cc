// `rharness probe endpoint` against a server with planted behaviours, and what diff and gate say of
// its fingerprints.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "harness/base/files.h"
#include "harness/base/subprocess.h"
#include "harness/records/manifest/environment.h"
#include "tests/probes/endpoint/served_model.h"
#include "tests/reports/schema_validator.h"

namespace rharness {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr char kProgram[] = RHARNESS_BIN_DIR "/rharness";

class ProbeEndpoint : public testing::Test {
 protected:
  void SetUp() override {
    if (!RunProcess({.argv = {"python3", "-c", ""}, .environment = ProcessEnvironment()})
             .outcome.Succeeded()) {
      GTEST_SKIP() << "no python3 here";
    }
    ASSERT_TRUE(WriteFileAtomic(At("prompts.txt"), "the sky\na green leaf\nthe deep sea\n").ok());
  }
  std::string At(const std::string& name) const { return folder_.path() / name; }

  static ProcessResult Rharness(std::vector<std::string> arguments,
                                const std::map<std::string, std::string>& variables = {}) {
    arguments.insert(arguments.begin(), kProgram);
    auto environment = ProcessEnvironment();
    environment["COLUMNS"] = "400";
    for (const auto& [name, value] : variables) environment[name] = value;
    return RunProcess({.argv = std::move(arguments), .environment = environment});
  }
  // Fingerprints a server with this behaviour as NAME.json.
  ProcessResult Probe(const std::string& behaviour, std::vector<std::string> more = {},
                      const std::vector<std::string>& server_options = {},
                      const std::map<std::string, std::string>& variables = {}) const {
    const ServedModel server(behaviour, server_options);
    EXPECT_TRUE(server.started());
    const auto add = [&](const char* option, const std::string& value) {
      if (std::ranges::find(more, option) == more.end()) more.insert(more.end(), {option, value});
    };
    add("--repeat", "7");
    add("--out", At(behaviour + ".json"));
    std::vector<std::string> arguments = {
        "probe", "endpoint", server.url(), "--prompts", At("prompts.txt"), "--max-tokens", "8"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return Rharness(std::move(arguments), variables);
  }
  ProcessResult Diff(const std::string& after) const {
    return Rharness({"probe", "diff", At("steady.json"), At(after + ".json")});
  }
  std::string ProbeJson(const std::string& name, const std::string& probe) const {
    const Json json = ReadJsonFile(At(name + ".json")).value();
    for (const Json& one : json.Find("probes")->AsArray()) {
      if (one.Find("name")->AsString() == probe) return one.Dump();
    }
    return "";
  }

  const ScopedTempDir folder_ = ScopedTempDir::Make("endpoint-").value();
};

TEST_F(ProbeEndpoint, WritesAFingerprintOfASteadyServer) {
  const ProcessResult steady = Probe("steady");
  EXPECT_EQ(steady.outcome.exit_code, 0) << steady.stderr_text;
  EXPECT_THAT(steady.stdout_text,
              AllOf(HasSubstr("tiny: 3 prompts, 160 answers"),
                    HasSubstr("deterministic and batch invariant: every prompt got one answer with "
                              "one set of log-probabilities in 7 repeats")));
  const Json json = ReadJsonFile(At("steady.json")).value();
  const Json schema =
      ReadJsonFile(RHARNESS_SOURCE_DIR "/compare/fingerprints/fingerprint.schema.json").value();
  Validator(schema).Check(json, schema, "$");
  EXPECT_EQ(json.Find("stack")->Dump(),
            R"({"endpoint":{"model":"tiny","answers_as":"tiny","server":"served-model/1",)"
            R"("version":"1.0","system_fingerprint":"fp_a"}})");
  EXPECT_THAT(ProbeJson("steady", "endpoint_alone"),
              AllOf(HasSubstr(R"("logprobs":["-)"), HasSubstr(R"("text_sha256":")")));
  ASSERT_EQ(Probe("steady", {"--out", At("again.json"), "--chat"}).outcome.exit_code, 0);
}

TEST_F(ProbeEndpoint, NamesWhatAnswersDependOn) {
  const ProcessResult random = Probe("one-in-7");
  EXPECT_EQ(random.outcome.exit_code, 1);
  EXPECT_THAT(random.stdout_text,
              AllOf(HasSubstr("not deterministic: "),
                    HasSubstr("2 distinct completions of 10, which part at token "
                              "3: "),
                    HasSubstr("' otherwise'")));
  const ProcessResult batch = Probe("batch", {}, {"--seconds", "0.02"});
  EXPECT_EQ(batch.outcome.exit_code, 1);
  EXPECT_THAT(batch.stdout_text,
              AllOf(HasSubstr("not batch invariant: of 63 answers beside others "),
                    HasSubstr("at token 5: "), Not(HasSubstr("not deterministic"))));
  EXPECT_THAT(Probe("batch", {"--jobs", "1"}).stdout_text,
              AllOf(HasSubstr("deterministic: every"), Not(HasSubstr("batch invariant"))));
  const ProcessResult bits = Probe("batch-logprobs", {}, {"--seconds", "0.02"});
  EXPECT_EQ(bits.outcome.exit_code, 1);
  EXPECT_THAT(bits.stdout_text, AllOf(HasSubstr("not batch invariant"),
                                      HasSubstr("only in the log-probability of token 2: -0.")));
  const ProcessResult prefix = Probe("prefix");
  EXPECT_EQ(prefix.outcome.exit_code, 1);
  EXPECT_THAT(prefix.stdout_text,
              AllOf(HasSubstr("the prefix cache changes answers: of 21 answers with a known prefix "
                              "21 are not as with a new one"),
                    HasSubstr("at token 8: "), Not(HasSubstr("batch invariant"))));
  EXPECT_THAT(Probe("two-servers").stdout_text,
              HasSubstr("2 values of system_fingerprint: fp_a, fp_b"));
  const ProcessResult order = Probe("order");
  EXPECT_THAT(order.stdout_text, AllOf(HasSubstr("depends on the order of prompts"),
                                       Not(HasSubstr("not deterministic"))));
}

// 1 + 21 answers alone, 63 beside others, then each once more.
TEST_F(ProbeEndpoint, ARestartMeanwhileIsNotBlamedOnTheBatch) {
  for (const char* after : {"40", "95", "130", "150"}) {
    const ProcessResult restarted = Probe("restarted", {}, {"--after", after});
    EXPECT_EQ(restarted.outcome.exit_code, 3) << restarted.stdout_text;
    EXPECT_THAT(
        restarted.stdout_text,
        AllOf(HasSubstr("the server changed while it was measured, or is not "
                        "deterministic: 3 of 3 prompts asked alone get another answer"),
              Not(HasSubstr("batch")), Not(HasSubstr("order of")), Not(HasSubstr("prefix"))))
        << after;
  }
}

TEST_F(ProbeEndpoint, AnswersOfACacheShowNothing) {
  const ProcessResult stored = Probe("stored");
  EXPECT_EQ(stored.outcome.exit_code, 3);
  EXPECT_THAT(stored.stdout_text,
              AllOf(HasSubstr("from a cache of whole answers: 132 of 160 answers"),
                    Not(HasSubstr("deterministic"))));
  EXPECT_EQ(Probe("one-id").outcome.exit_code, 0) << "one id for all says nothing";
}

TEST_F(ProbeEndpoint, IsComparedAndGatedLikeAnyFingerprint) {
  for (const char* one : {"steady", "upgraded", "upgraded-logprobs", "no-logprobs"}) {
    ASSERT_EQ(Probe(one, {"--repeat", "2"}).outcome.exit_code, 0) << one;
  }
  ASSERT_EQ(Probe("steady", {"--repeat", "2", "--out", At("next.json")}, {"--version", "1.1"})
                .outcome.exit_code,
            0);
  EXPECT_THAT(Diff("next").stdout_text,
              HasSubstr("nothing changed in what 4 probes saw, although 1 "
                        "fact of the stack did"));
  const ProcessResult answers = Diff("upgraded");
  EXPECT_EQ(answers.outcome.exit_code, 1);
  EXPECT_THAT(answers.stdout_text,
              HasSubstr("endpoint_alone: other answers in 1 of 3 cases (first: prompt 2 'a green "
                        "leaf'): token 6 ' and' → ' otherwise'"));
  const ProcessResult logprobs = Diff("upgraded-logprobs");
  EXPECT_EQ(logprobs.outcome.exit_code, 1);
  EXPECT_THAT(logprobs.stdout_text,
              HasSubstr("the same answers with other log-probabilities in 3 of 3 cases (first: "
                        "prompt 1 'the sky'): log-probability of token 2 -0.375 → "
                        "-0.3750000000009095"));
  const ProcessResult gate =
      Rharness({"gate", "--baseline", At("steady.json"), "--candidate", At("upgraded.json")});
  EXPECT_EQ(gate.outcome.exit_code, 1) << gate.stderr_text;
  EXPECT_THAT(gate.stdout_text,
              HasSubstr("other answers in 1 of 3 cases (first: prompt 2 'a green"));
  EXPECT_EQ(Rharness({"gate", "--baseline", At("steady.json"), "--candidate", At("next.json")})
                .outcome.exit_code,
            0);
  // Nothing that was asked otherwise compares.
  const ProcessResult without = Diff("no-logprobs");
  EXPECT_EQ(without.outcome.exit_code, 3);
  EXPECT_THAT(
      without.stdout_text,
      HasSubstr("not comparable: endpoint_alone: ran with different parameters: logprobs true → "
                "false"));
  ASSERT_TRUE(WriteFileAtomic(At("prompts.txt"), "the moon\n").ok());
  ASSERT_EQ(Probe("steady", {"--out", At("moon.json")}).outcome.exit_code, 0);
  const ProcessResult moon = Diff("moon");
  EXPECT_EQ(moon.outcome.exit_code, 3);
  EXPECT_THAT(moon.stdout_text, HasSubstr("prompts_sha256"));
}

TEST_F(ProbeEndpoint, SaysWhenAnswersNoLongerRepeat) {
  ASSERT_EQ(Probe("steady").outcome.exit_code, 0);
  ASSERT_EQ(Probe("batch", {}, {"--seconds", "0.02"}).outcome.exit_code, 1);
  const ProcessResult diff = Diff("batch");
  EXPECT_EQ(diff.outcome.exit_code, 1);
  EXPECT_THAT(diff.stdout_text, AllOf(HasSubstr("endpoint_batch: "), HasSubstr(" at token 5: ' ")));
}

TEST_F(ProbeEndpoint, TakesItsKeyFromAVariableAndTellsNobody) {
  const std::map<std::string, std::string> key = {{"RHARNESS_ENDPOINT_TOKEN", "open sesame"}};
  EXPECT_EQ(Probe("key", {"--repeat", "2"}, {}, key).outcome.exit_code, 0);
  EXPECT_THAT(ReadFile(At("key.json")).value(), Not(HasSubstr("sesame")));
  const ProcessResult without = Probe("key", {"--repeat", "2"});
  EXPECT_EQ(without.outcome.exit_code, 2);
  EXPECT_THAT(without.stderr_text, HasSubstr("refuses without credentials (401)"));
  const ProcessResult wrong =
      Probe("key", {"--repeat", "2"}, {}, {{"RHARNESS_ENDPOINT_TOKEN", "my own secret"}});
  EXPECT_EQ(wrong.outcome.exit_code, 2);
  EXPECT_THAT(wrong.stderr_text, AllOf(HasSubstr("***"), Not(HasSubstr("my own secret"))));
}

TEST_F(ProbeEndpoint, RefusesAnswersThatAreNone) {
  const std::map<std::string, std::string> said = {
      {"broken", "which is no JSON"},
      {"deep", "which is no JSON"},
      {"huge", "more than 278528 bytes; expected at most that"},
      {"nothing", "$.choices: missing; expected a list of answers"},
      {"none", "$.choices: expected an answer; the list is empty"},
      {"empty", "the answer has neither text nor token, and so shows nothing"},
      {"other-model", "the model 'gpt-2-large' answers; expected 'tiny'"},
      {"uneven", "2 tokens and 1 log-probabilities; expected as many"},
      {"text-logprob", "token_logprobs[0]: expected a number or null"}};
  for (const auto& [behaviour, words] : said) {
    const ProcessResult result = Probe(behaviour, {"--repeat", "2"});
    EXPECT_EQ(result.outcome.exit_code, 2) << behaviour;
    EXPECT_THAT(result.stderr_text, HasSubstr(words)) << behaviour;
  }
  const ProcessResult two = Probe("steady", {}, {"--models", "a,b"});
  EXPECT_EQ(two.outcome.exit_code, 2);
  EXPECT_THAT(two.stderr_text, HasSubstr("lists 2 models: 'a', 'b'; expected --model"));
  EXPECT_EQ(Probe("steady", {"--model", "b"}, {"--models", "a,b"}).outcome.exit_code, 0);
}

TEST_F(ProbeEndpoint, GoesOnWithTheOtherPromptsAndEndsWithTheConnection) {
  const ProcessResult refuses = Probe("refuses", {"--repeat", "2"});
  EXPECT_EQ(refuses.outcome.exit_code, 4);
  EXPECT_THAT(refuses.stdout_text, AllOf(HasSubstr("cases failed, first prompt 3 'the deep sea'"),
                                         HasSubstr("nothing about the sea")));
  EXPECT_THAT(ProbeJson("refuses", "endpoint_alone"), HasSubstr("{\"failed\":"));
  const ProcessResult busy = Probe("busy", {"--repeat", "2", "--jobs", "1"});
  EXPECT_EQ(busy.outcome.exit_code, 0) << busy.stderr_text;
  EXPECT_THAT(busy.stderr_text, HasSubstr("(429): later; asking again in 1000 ms"));
  const ProcessResult down = Probe("down");
  EXPECT_EQ(down.outcome.exit_code, 4);
  EXPECT_THAT(down.stderr_text, HasSubstr("the server fails (503): out of memory (3 attempts)"));
  const ProcessResult lies = Probe("chunk-lies");
  EXPECT_EQ(lies.outcome.exit_code, 4);
  EXPECT_THAT(lies.stderr_text, HasSubstr("(3 attempts)"));
}

}  // namespace
}  // namespace rharness
