// Trust policies: what they say, and mistakes that are named.
#include "harness/trust/attestation/trust.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/trust/attestation/verdict_statement.h"
#include "tests/records/manifest/example.h"
#include "tests/trust/attestation/attested.h"

namespace rharness {
namespace {

using testing::HasSubstr;

TEST(TrustPolicy, SaysWhichKeysThereAreAndWhatTheyMaySign) {
  const AttestedWorld world;
  const TrustPolicy policy = world.Policy("keys: [bob, ada]\n    threshold: 2");
  ASSERT_EQ(policy.keys.size(), 2U);
  EXPECT_EQ(policy.keys[0].name, "ada");
  EXPECT_EQ(policy.keys[0].owner, "Ada of the lab");
  EXPECT_EQ(policy.keys[0].key.id(), world.ada->public_key().id());
  EXPECT_EQ(policy.keys[0].from, *ParseTime("2026-01-01T00:00:00Z"));
  EXPECT_EQ(policy.keys[0].until, *ParseTime("2027-01-01T00:00:00Z"));
  EXPECT_FALSE(policy.keys[1].from || policy.keys[1].until);
  ASSERT_EQ(policy.rules.size(), 1U);
  EXPECT_EQ(policy.rules[0].keys, (std::vector<std::size_t>{1, 0}));
  EXPECT_EQ(policy.rules[0].threshold, 2U);
  EXPECT_NE(policy.FindRule("anything", "mlp-large"), nullptr);
  EXPECT_EQ(policy.FindRule("anything", "llama"), nullptr);
}

TEST(TrustPolicy, TakesTheFirstRuleThatIsForAStatement) {
  const AttestedWorld world;
  const TrustPolicy policy =
      world.Policy("keys: [bob]\n    predicates: [\"urn:a:*\"]\n  - keys: [ada]");
  EXPECT_EQ(policy.FindRule("urn:a:1", "mlp"), &policy.rules[0]);
  EXPECT_EQ(policy.FindRule("urn:b:1", "mlp"), &policy.rules[1]);
  EXPECT_EQ(policy.FindRule("urn:a:1", "cnn"), &policy.rules[1]);
}

TEST(TrustPolicy, KnowsWhichRuleForAllStandsBehindOneThatAsksForMore) {
  const AttestedWorld world;
  const auto stricter = [&](const std::string& rules) {
    const TrustPolicy policy = world.Policy(rules);
    const TrustRule* one = policy.StricterBefore(policy.rules.size() - 1, kVerdictPredicate);
    return one == nullptr ? -1 : static_cast<int>(one - policy.rules.data());
  };
  EXPECT_EQ(stricter("keys: [ada, bob]\n    threshold: 2\n  - keys: [ada]"), 0);
  EXPECT_EQ(stricter("keys: [bob]\n  - keys: [ada, bob]"), 0);
  EXPECT_EQ(stricter("keys: [ada, bob]\n    threshold: 2\n  - {families: [\"**\"], keys: [ada]}"),
            0);
  // Nobody gains by another name.
  EXPECT_EQ(stricter("keys: [ada, bob]\n  - keys: [ada]"), -1);
  EXPECT_EQ(stricter("keys: [ada, bob]\n    threshold: 2\n  - {families: [a], keys: [ada]}"), -1);
  EXPECT_EQ(stricter("keys: [bob]\n    predicates: [\"urn:a:*\"]\n  - keys: [ada]"), -1);
  EXPECT_EQ(stricter("keys: [ada]"), -1);
}

TEST(TrustPolicy, ReadsKeysFromFilesBesideIt) {
  const KeyFolder folder;
  folder.Put("keys/ada.pub", PublicPem(std::string(kEd25519Head) + kAdaPublic), 0644);
  const auto path = folder.Put("trust.json",
                               R"({"version": 1, "keys": [{"name": "ada", "owner": "Ada",
          "public_key": "keys/ada.pub"}], "rules": [{"keys": ["ada"]}]})",
                               0644);
  const auto policy = LoadTrustPolicy(path);
  ASSERT_TRUE(policy.ok()) << policy.error().ToString();
  EXPECT_EQ(policy->keys[0].name, "ada");
  folder.Put("keys/ada.pub", Ed25519Pem(kAdaSeed));
  const auto secret = LoadTrustPolicy(path);
  ASSERT_FALSE(secret.ok());
  EXPECT_THAT(secret.error().ToString(), HasSubstr("$.keys[0].public_key: a private key"));
  std::filesystem::remove(folder.At("keys/ada.pub"));
  EXPECT_FALSE(LoadTrustPolicy(path).ok());
  EXPECT_FALSE(LoadTrustPolicy(folder.At("none.yaml")).ok());
}

TEST(TrustPolicy, IsRefusedWithItsMistakeNamed) {
  const AttestedWorld world;
  const std::string good = world.PolicyText();
  const auto bob = good.find("  - name: bob");
  const std::string ada_again =
      good.substr(good.find("  - name: ada"), bob - good.find("  - name: ada"));
  struct Case {
    std::string from;
    std::string to;
    const char* says;
  };
  for (const Case& one : std::vector<Case>{
           {"version: 1", "version: 2", "version 2 of a trust policy; this program reads 1"},
           {"version: 1\n", "", "version"},
           {"version: 1\n", "version: 1\nversion: 1\n", "trust.yaml"},
           {"rules:", "rule:", "rule"},
           {"rules:", "roles:", "roles"},
           {"keys:\n  - name: ada", "keys: []\nold:\n  - name: ada", "old"},
           {"families: [\"mlp*\"]", "familys: [\"mlp*\"]", "families"},
           {"families: [\"mlp*\"]", "families: []", "expected at least one pattern"},
           {"families: [\"mlp*\"]", "families: mlp", "families"},
           {"keys: [ada, bob]", "keys: [ada, eve]", "'eve' is none of the keys above"},
           {"keys: [ada, bob]", "keys: [ada, ada]", "'ada' is there twice"},
           {"keys: [ada, bob]", "keys: []", "expected the name of at least one key"},
           {"keys: [ada, bob]", "threshold: 1", "expected the name of at least one key"},
           {"keys: [ada, bob]", "keys: [ada, bob]\n    threshold: 3", "3; expected 1 to 2"},
           {"keys: [ada, bob]", "keys: [ada, bob]\n    threshold: 0", "0; expected 1 to 2"},
           {"keys: [ada, bob]", "keys: [ada, bob]\n    threshold: -1", "threshold"},
           {"keys: [ada, bob]", "keys: [ada, bob]\n    threshold: all", "threshold"},
           {"keys: [ada, bob]", "keys: [ada, bob]\n    treshold: 2", "threshold"},
           {"    owner: Bob, audit\n", "", "owner"},
           {"    owner: Bob, audit\n", "    owner: \"\"\n", "owner"},
           {"name: bob", "name: ada", "a second key of this name"},
           {"  - name: bob", ada_again.substr(0, 10) + "x" + ada_again.substr(13) + "  - name: bob",
            "the key of 'ada', which would count twice"},
           {"from: 2026-01-01", "from: soon", "from"},
           {"until: 2026-12-31", "until: 2025-12-31", "is over before it begins"},
           {"    owner: Bob, audit\n", "    owner: Bob\n    public_key: bob.pub\n",
            "expected either public_key, a file, or pem"},
           {"-----BEGIN PUBLIC KEY-----\n      MFk", "-----BEGIN PUBLIC KEY-----\n      MFx",
            "keys[1].pem"}}) {
    const auto policy = ParseTrustPolicy(Replaced(good, one.from, one.to), "trust.yaml");
    ASSERT_FALSE(policy.ok()) << one.from << " -> " << one.to;
    EXPECT_EQ(policy.error().code, ErrorCode::kInvalidInput);
    EXPECT_THAT(policy.error().ToString(), HasSubstr(one.says)) << one.to;
    EXPECT_THAT(policy.error().where, HasSubstr("trust.yaml"));
  }
  for (const std::string text : {"", "[]", "1", "a: [", "version: 1\nkeys: 1\nrules: 1"}) {
    EXPECT_FALSE(ParseTrustPolicy(text, "trust.yaml").ok()) << text;
  }
  EXPECT_FALSE(ParseTrustPolicy(good + std::string(2 << 20, '#'), "trust.yaml").ok());
}

}  // namespace
}  // namespace rharness
