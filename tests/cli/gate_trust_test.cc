// `rharness gate --trust`: a baseline and a policy that nobody signed are not taken.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>

#include "tests/cli/drill_program.h"
#include "tests/compare/fingerprints/build_fingerprint.h"
#include "tests/trust/approval/people.h"
#include "tests/trust/attestation/attested.h"

namespace rharness {
namespace {

using testing::HasSubstr;

class GateTrust : public DrillProgram {
 protected:
  void SetUp() override {
    ASSERT_TRUE(WriteJsonFile(At("a.json"), SampleStack().ToJson()).ok());
    const FingerprintBuilder rounded =
        SampleStack().Stack("driver", "590").Probe("math_bits", "math").Bits("expf", "other");
    ASSERT_TRUE(WriteJsonFile(At("b.json"), FingerprintBuilder(rounded).ToJson()).ok());
    Allow("math_*");
    Write("ada.pub", PublicPem(std::string(kEd25519Head) + kAdaPublic));
    Write("trust.yaml",
          "version: 1\nkeys:\n  - {name: ada, owner: Ada, public_key: ada.pub}\nrules:\n"
          "  - {predicates: [\"urn:rharness:endorsement:*\"], keys: [ada]}\n");
    Write("ada.pem", Ed25519Pem(kAdaSeed));
    Write("eve.pem", Ed25519Pem(std::string(64, '7')));
    for (const char* key : {"ada.pem", "eve.pem"}) {
      std::filesystem::permissions(At(key), std::filesystem::perms(0600));
    }
    Accept("a.json");
  }
  void Allow(const std::string& probes) const {
    Write("policy.yaml", "version: 1\nrules:\n  - {probes: \"" + probes + "\", allow: [bits]}\n");
  }
  void Accept(const std::string& file) const {
    const ProcessResult accepted =
        Run({kRharness, "gate", "baseline", "accept", file, "--folder", "base", "--by", "ada",
             "--reason", "measured twice", "--expires", "2090-12-31"});
    EXPECT_EQ(accepted.outcome.exit_code, 0) << accepted.stderr_text;
  }
  ProcessResult Gate(const std::string& baseline = "base",
                     const std::string& trust = "trust.yaml") const {
    return Run({kRharness, "gate", "--baseline", baseline, "--candidate", "b.json", "--policy",
                "policy.yaml", "--trust", trust});
  }
  void ExpectRefused(const std::string& says) const {
    const ProcessResult result = Gate();
    EXPECT_EQ(result.outcome.exit_code, 5) << result.stdout_text;
    EXPECT_EQ(result.stdout_text, "");
    EXPECT_THAT(result.stderr_text, HasSubstr(says));
  }
  void Sign(const std::string& file, const std::string& key) const {
    const ProcessResult signed_one =
        Run({kRharness, "sign", file, "--key", key, "--reason", "reviewed"});
    EXPECT_EQ(signed_one.outcome.exit_code, 0) << signed_one.stderr_text;
  }
};

TEST_F(GateTrust, TakesNoBaselineAndNoPolicyThatNobodySigned) {
  ExpectRefused("base/baseline.jsonl: nobody has signed it");
  Sign("base/baseline.jsonl", "ada.pem");
  ExpectRefused("policy.yaml: nobody has signed it");
  Sign("policy.yaml", "eve.pem");
  ExpectRefused("policy.yaml.intoto.jsonl:1: no key of the policy has signed this");
  Sign("policy.yaml", "ada.pem");
  const ProcessResult open = Gate();
  EXPECT_EQ(open.outcome.exit_code, 0) << open.stdout_text << open.stderr_text;
  EXPECT_THAT(open.stderr_text, HasSubstr("policy.yaml is signed by Ada"));
}

TEST_F(GateTrust, WritesNoOutputOverTheTrustPolicyOrADrill) {
  const std::string kept = Read(At("trust.yaml"));
  using Words = std::vector<std::string>;
  for (const Words& options : {Words{"--trust", "trust.yaml", "--html", "./trust.yaml"},
                               Words{"--drill", "d", "--html", "d/report.json"}}) {
    Words argv = {kRharness, "gate", "--baseline", "base", "--candidate", "b.json"};
    argv.insert(argv.end(), options.begin(), options.end());
    const ProcessResult result = Run(argv);
    EXPECT_EQ(result.outcome.exit_code, 2) << options.front();
    EXPECT_THAT(result.stderr_text, HasSubstr("would take the place of"));
  }
  EXPECT_EQ(Read(At("trust.yaml")), kept);
}

TEST_F(GateTrust, AsksAgainForWhatWasChangedSinceItWasSigned) {
  Sign("base/baseline.jsonl", "ada.pem");
  Sign("policy.yaml", "ada.pem");
  EXPECT_EQ(Gate().outcome.exit_code, 0);
  Allow("*");
  ExpectRefused("policy.yaml: has sha256 ");
  Sign("policy.yaml", "ada.pem");
  EXPECT_EQ(Gate("base/baseline.json").outcome.exit_code, 0);
  Accept("b.json");
  ExpectRefused("baseline.jsonl: has sha256 ");
  EXPECT_EQ(Gate("a.json").outcome.exit_code, 5);
  Sign("a.json", "ada.pem");
  EXPECT_EQ(Gate("a.json").outcome.exit_code, 0);
  EXPECT_EQ(Gate("base", "none.yaml").outcome.exit_code, 2);
}

TEST_F(GateTrust, HoldsWaiversToWhoSignedThePolicy) {
  const auto waive = [&](const std::string& by, const std::string& until) {
    Write("policy.yaml",
          "version: 1\nwaivers:\n  - {probes: \"math_*\", reason: reviewed, signed_by: " + by +
              ", until: " + until + "}\n");
  };
  Sign("base/baseline.jsonl", "ada.pem");
  waive("Bob", "2090-12-31");
  Sign("policy.yaml", "ada.pem");
  ExpectRefused("the waiver of math_* is signed_by 'Bob', who has not signed this file; Ada did");
  // What holds no longer is nobody's word.
  waive("Bob", "2020-12-31");
  Sign("policy.yaml", "ada.pem");
  EXPECT_EQ(Gate().outcome.exit_code, 1);
  waive("ada", "2090-12-31");
  Sign("policy.yaml", "ada.pem");
  const ProcessResult open = Gate();
  EXPECT_EQ(open.outcome.exit_code, 0) << open.stdout_text << open.stderr_text;
  EXPECT_THAT(open.stdout_text, HasSubstr("signed by ada (verified)"));
  const ProcessResult unsigned_one = Run({kRharness, "gate", "--baseline", "a.json", "--candidate",
                                          "b.json", "--policy", "policy.yaml"});
  EXPECT_EQ(unsigned_one.outcome.exit_code, 0);
  EXPECT_THAT(unsigned_one.stdout_text, HasSubstr("signed by ada (plain text, not verified)"));
}

TEST_F(GateTrust, HoldsSubstitutesOfADrillToWhoSignedThePolicy) {
  const auto substitute = [&](const std::string& by) {
    Write("policy.yaml",
          "version: 1\nsubstitutes:\n  - {recorded: A, here: B, reason: same, "
          "signed_by: " +
              by + ", until: 2090-12-31}\n");
    Sign("policy.yaml", "ada.pem");
  };
  RecordRuns(1);
  const std::vector<std::string> options = {"--dry-run", "--policy", "policy.yaml", "--trust",
                                            "trust.yaml"};
  substitute("Bob");
  const ProcessResult refused = Drill(options);
  EXPECT_EQ(refused.outcome.exit_code, 5) << refused.stdout_text;
  EXPECT_THAT(refused.stderr_text, HasSubstr("the substitute B for A is signed_by 'Bob'"));
  substitute("Ada");
  EXPECT_EQ(Drill(options).outcome.exit_code, 0);
  const ProcessResult checked =
      Run({kRharness, "policy", "check", "policy.yaml", "--trust", "trust.yaml"});
  EXPECT_THAT(checked.stdout_text, HasSubstr("same, signed by Ada (verified), through"));
  EXPECT_EQ(Drill({"--dry-run", "--trust", "trust.yaml"}).outcome.exit_code, 2);
}

TEST_F(GateTrust, TakesNoOlderPolicyUntilItIsSignedAgain) {
  Sign("base/baseline.jsonl", "ada.pem");
  Sign("policy.yaml", "ada.pem");
  EXPECT_EQ(Gate().outcome.exit_code, 0);
  const std::string lax = Read(At("policy.yaml"));
  Allow("other_*");
  Sign("policy.yaml", "ada.pem");
  EXPECT_EQ(Gate().outcome.exit_code, 1);
  const std::string strict = Read(At("policy.yaml"));
  const std::vector<std::string> verify = {kRharness,    "verify",     "policy.yaml.intoto.jsonl",
                                           "--trust",    "trust.yaml", "--artifacts",
                                           "policy.yaml"};
  const ProcessResult newest = Run(verify);
  EXPECT_EQ(newest.outcome.exit_code, 0) << newest.stderr_text;
  EXPECT_THAT(newest.stdout_text,
              HasSubstr("(reviewed) (an older content: a newer one is signed), signed by"));
  Write("policy.yaml", lax);
  ExpectRefused("policy.yaml: is an older content, signed on ");
  const ProcessResult older = Run(verify);
  EXPECT_EQ(older.outcome.exit_code, 5);
  EXPECT_THAT(older.stderr_text, HasSubstr("; the newest was signed on "));
  Sign("policy.yaml", "ada.pem");
  EXPECT_EQ(Gate().outcome.exit_code, 0);
  EXPECT_EQ(Run(verify).outcome.exit_code, 0);
  Write("policy.yaml", strict);
  ExpectRefused("policy.yaml: is an older content, signed on ");
}

TEST_F(GateTrust, AKeyThatLeftThePolicyClosesNothing) {
  Write("eve.pub", PublicPem(std::string(kEd25519Head) + kSevensPublic));
  const std::string trust = Read(At("trust.yaml"));
  Write("trust.yaml",
        "version: 1\nkeys:\n  - {name: ada, owner: Ada, public_key: ada.pub}\n"
        "  - {name: eve, owner: Eve, public_key: eve.pub}\nrules:\n"
        "  - {predicates: [\"urn:rharness:endorsement:*\"], keys: [ada, eve]}\n");
  Sign("base/baseline.jsonl", "ada.pem");
  const std::string allowed = Read(At("policy.yaml"));
  Allow("other_*");
  Sign("policy.yaml", "eve.pem");
  EXPECT_EQ(Gate().outcome.exit_code, 1);
  Write("policy.yaml", allowed);
  Sign("policy.yaml", "ada.pem");
  EXPECT_EQ(Gate().outcome.exit_code, 0);
  Write("trust.yaml", trust);
  EXPECT_EQ(Gate().outcome.exit_code, 0) << "the line by the key that was lost counts for nothing";
  const std::string bundle = Read(At("policy.yaml.intoto.jsonl"));
  for (const char* artifacts : {"", "policy.yaml"}) {
    std::vector<std::string> verify = {kRharness, "verify", "policy.yaml.intoto.jsonl", "--trust",
                                       "trust.yaml"};
    if (*artifacts != '\0') verify.insert(verify.end(), {"--artifacts", artifacts});
    const ProcessResult told = Run(verify);
    EXPECT_EQ(told.outcome.exit_code, 0) << told.stderr_text;
    EXPECT_THAT(told.stdout_text,
                HasSubstr("not counted: policy.yaml.intoto.jsonl:1: no key of the policy has"));
    verify.push_back("--json");
    const auto json = ParseJson(Run(verify).stdout_text, "stdout");
    ASSERT_TRUE(json.ok());
    EXPECT_EQ(json->Find("verified")->AsArray().size(), 1U);
    EXPECT_EQ(json->Find("not_counted")->AsArray().size(), 1U);
    EXPECT_TRUE(json->Find("refused")->AsArray().empty());
    std::string tampered = bundle;  // the last signature, which is Ada's
    char& letter = tampered[tampered.rfind("\"sig\"") + 10];
    letter = letter == 'A' ? 'B' : 'A';
    Write("policy.yaml.intoto.jsonl", bundle + tampered.substr(tampered.find('\n') + 1));
    EXPECT_EQ(Run(verify).outcome.exit_code, 5);
    Write("policy.yaml.intoto.jsonl", bundle);
  }
  Allow("other_*");
  ExpectRefused("policy.yaml.intoto.jsonl:1: no key of the policy has signed this");
}

TEST_F(GateTrust, TwoWhoSignAtOnceBothHaveSigned) {
  Write("eve.pub", PublicPem(std::string(kEd25519Head) + kSevensPublic));
  Write("two.yaml",
        "version: 1\nkeys:\n  - {name: ada, owner: Ada, public_key: ada.pub}\n"
        "  - {name: eve, owner: Eve, public_key: eve.pub}\nrules:\n"
        "  - {keys: [ada, eve], threshold: 2}\n");
  for (int i = 0; i < 40; ++i) {
    std::filesystem::remove(At("policy.yaml.intoto.jsonl"));
    auto first = std::async(std::launch::async, [&] { Sign("policy.yaml", "ada.pem"); });
    Sign("policy.yaml", "eve.pem");
    first.get();
    const ProcessResult both =
        Run({kRharness, "verify", "policy.yaml.intoto.jsonl", "--trust", "two.yaml"});
    ASSERT_EQ(both.outcome.exit_code, 0) << i << both.stderr_text;
  }
}

TEST_F(GateTrust, WhatItAsksForIsVerifiedByItself) {
  Sign("policy.yaml", "ada.pem");
  const std::vector<std::string> verify = {kRharness,    "verify",     "policy.yaml.intoto.jsonl",
                                           "--trust",    "trust.yaml", "--artifacts",
                                           "policy.yaml"};
  const ProcessResult good = Run(verify);
  EXPECT_EQ(good.outcome.exit_code, 0) << good.stderr_text;
  EXPECT_THAT(good.stdout_text, HasSubstr("policy.yaml with sha256 "));
  EXPECT_THAT(good.stdout_text, HasSubstr(" (reviewed), signed by ada (Ada)"));
  const ProcessResult no_verdict = Run(
      {kRharness, "verify", "policy.yaml.intoto.jsonl", "--trust", "trust.yaml", "--reproduced"});
  EXPECT_EQ(no_verdict.outcome.exit_code, 3);
  EXPECT_THAT(no_verdict.stderr_text,
              HasSubstr("--reproduced: none of these statements is about a verdict"));
  const ProcessResult itself = Run({kRharness, "verify", "policy.yaml", "--trust", "trust.yaml"});
  EXPECT_EQ(itself.outcome.exit_code, 5);
  EXPECT_THAT(itself.stdout_text + itself.stderr_text,
              HasSubstr("its signatures are in policy.yaml.intoto.jsonl, and --artifacts "));
  Allow("*");
  EXPECT_EQ(Run(verify).outcome.exit_code, 5);
}

}  // namespace
}  // namespace rharness
