// Files that somebody answers for: what is signed of them, and what is believed.
#include "harness/trust/attestation/endorsement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "harness/base/digest.h"
#include "harness/trust/attestation/approval_statements.h"
#include "harness/trust/attestation/endorsed_file.h"
#include "harness/trust/attestation/statement_schemas.h"
#include "harness/trust/attestation/verification.h"
#include "tests/records/manifest/schema_check.h"
#include "tests/trust/attestation/attested.h"

namespace rharness {
namespace {

using testing::AllOf;
using testing::HasSubstr;

// "policy.yaml", and a trust policy in which Ada and Bob may endorse.
class Endorsed : public testing::Test {
 protected:
  Endorsed() { Put("policy.yaml", "version: 1\n"); }
  void Put(const std::string& name, const std::string& text) const {
    ASSERT_TRUE(WriteFileAtomic(folder_.path() / name, text).ok());
  }
  std::string Endorse(Signer* signer, const std::string& reason = "reviewed",
                      std::chrono::hours before = {}) const {
    const auto state =
        EndorseFile(file_, EndorsementPath(file_), reason, world_.now - before, signer);
    return state.ok() ? std::string(AttestStateName(*state)) : state.error().ToString();
  }
  std::string Believed(const TrustPolicy& policy) const {
    const auto verified = VerifyEndorsed(file_, policy, world_.now);
    if (verified.ok()) return verified->signed_by.at(0).name;
    EXPECT_EQ(verified.error().code, ErrorCode::kIntegrity);
    return verified.error().ToString();
  }
  TrustPolicy Trust(std::string rule = "keys: [ada, bob]") const {
    std::string text = world_.PolicyText(rule);
    const std::string families = "families: [\"mlp*\"]";
    text.replace(text.find(families), families.size(), "predicates: [\"urn:rharness:*\"]");
    return *ParseTrustPolicy(text, "trust.yaml");
  }
  std::ptrdiff_t Lines() const {
    const std::string text = *ReadFile(EndorsementPath(file_));
    return std::ranges::count(text, '\n');
  }

  const AttestedWorld world_;
  const ScopedTempDir folder_ = *ScopedTempDir::Make("rharness-endorsed-");
  const std::filesystem::path file_ = folder_.path() / "policy.yaml";
};

TEST_F(Endorsed, IsBelievedAsItWasSignedAndNoOtherwise) {
  EXPECT_THAT(Believed(Trust()), HasSubstr("nobody has signed it: there is no "));
  EXPECT_EQ(Endorse(world_.ada.get()), "written");
  EXPECT_EQ(Believed(Trust()), "ada");
  EXPECT_EQ(Endorse(world_.ada.get()), "unchanged");
  Put("policy.yaml", "version: 1\nwaivers: []\n");
  EXPECT_THAT(Believed(Trust()), HasSubstr("policy.yaml: has sha256 "));
  EXPECT_EQ(Endorse(world_.ada.get()), "written");
  EXPECT_EQ(Lines(), 2);
  EXPECT_EQ(Believed(Trust()), "ada");
  // Of two contents of one time neither is the older.
  Put("policy.yaml", "version: 1\n");
  EXPECT_EQ(Believed(Trust()), "ada");
  EXPECT_EQ(Endorse(world_.ada.get(), "another reason"), "written");
  EXPECT_EQ(Lines(), 3);
}

TEST_F(Endorsed, OfAnOlderContentHoldsNoLongerUntilItIsSignedAgain) {
  const std::chrono::hours day(24);
  EXPECT_EQ(Endorse(world_.ada.get(), "reviewed", 3 * day), "written");
  Put("policy.yaml", "version: 1\nwaivers: []\n");
  EXPECT_EQ(Endorse(world_.ada.get(), "reviewed", 2 * day), "written");
  Put("policy.yaml", "version: 1\n");
  EXPECT_THAT(Believed(Trust()),
              HasSubstr("is an older content, signed on 2026-05-30T00:00:00.000Z; the newest was "
                        "signed on 2026-05-31T00:00:00.000Z"));
  EXPECT_EQ(Endorse(world_.ada.get(), "reviewed", day), "written");
  EXPECT_EQ(Believed(Trust()), "ada");
  EXPECT_EQ(Endorse(world_.ada.get(), "reviewed"), "unchanged");
  EXPECT_EQ(Lines(), 3);
  // By a clock that is behind it would be the older one at once.
  Put("policy.yaml", "version: 1\nwaivers: []\n");
  EXPECT_THAT(Endorse(world_.ada.get(), "reviewed", 2 * day), HasSubstr("is the clock right?"));
}

TEST_F(Endorsed, IsToldWhichLineIsInTheWayOfASignature) {
  const std::chrono::hours day(24);
  EXPECT_EQ(Endorse(world_.ada.get()), "written");
  Put("policy.yaml", "version: 1\nwaivers: []\n");
  // By a key that nobody knows, years from now.
  EXPECT_EQ(Endorse(world_.eve.get(), "reviewed", -1000 * day), "written");
  Put("policy.yaml", "version: 1\n");
  const std::string said = Endorse(world_.ada.get(), "again");
  EXPECT_THAT(said, HasSubstr("policy.yaml.intoto.jsonl:2: another content was signed on 2029-"));
  EXPECT_THAT(said, HasSubstr("by key " + world_.eve->public_key().id()));
  EXPECT_THAT(said, HasSubstr("Remove that line if it is not yours"));
  // Half of a line.
  const std::string held = *ReadFile(EndorsementPath(file_));
  Put("policy.yaml.intoto.jsonl", held.substr(0, held.size() - 40));
  EXPECT_THAT(Endorse(world_.ada.get(), "again"),
              AllOf(HasSubstr("policy.yaml.intoto.jsonl:2: is no signed statement"),
                    HasSubstr("remove that line")));
}

TEST_F(Endorsed, ByTwoIsTheNewestOnlyWhenBothHaveSigned) {
  const std::chrono::hours day(24);
  const TrustPolicy two = Trust("keys: [ada, bob]\n    threshold: 2");
  const auto both = [&](std::chrono::hours before) {
    Endorse(world_.ada.get(), "reviewed", before);
    Endorse(world_.bob.get(), "reviewed", before - std::chrono::hours(1));
  };
  both(5 * day);
  Put("policy.yaml", "version: 1\nwaivers: []\n");
  EXPECT_EQ(Endorse(world_.ada.get(), "reviewed", 4 * day), "written");
  Put("policy.yaml", "version: 1\n");
  EXPECT_EQ(Believed(two), "ada") << "what one of two has signed closes nothing";
  Put("policy.yaml", "version: 1\nwaivers: []\n");
  EXPECT_THAT(Believed(two), HasSubstr("policy.yaml.intoto.jsonl:2: 1 of the 2 keys"));
  EXPECT_EQ(Endorse(world_.bob.get(), "reviewed", 3 * day), "signature_added");
  EXPECT_EQ(Believed(two), "ada");
  Put("policy.yaml", "version: 1\n");
  EXPECT_THAT(Believed(two), HasSubstr("is an older content"));
  both(2 * day);
  EXPECT_EQ(Lines(), 3);
  EXPECT_EQ(Believed(two), "ada");
}

TEST_F(Endorsed, IsSignedByAllWhoSignedTheContentWhateverTheirReasons) {
  EXPECT_EQ(Endorse(world_.ada.get(), "reviewed", std::chrono::hours(2)), "written");
  EXPECT_EQ(Endorse(world_.bob.get(), "audited", std::chrono::hours(1)), "written");
  const auto verified = VerifyEndorsed(file_, Trust(), world_.now);
  ASSERT_TRUE(verified.ok()) << verified.error().ToString();
  EXPECT_EQ(verified->endorsement()->reason, "audited");
  EXPECT_EQ(verified->signed_by.size(), 2U);
}

TEST_F(Endorsed, ByAKeyThatHasLeftThePolicyClosesNothing) {
  EXPECT_EQ(Endorse(world_.eve.get(), "reviewed", std::chrono::hours(2)), "written");
  Put("policy.yaml", "version: 1\nwaivers: []\n");
  EXPECT_EQ(Endorse(world_.ada.get(), "reviewed", std::chrono::hours(1)), "written");
  EXPECT_EQ(Believed(Trust()), "ada");
  Put("policy.yaml", "version: 1\n");
  EXPECT_THAT(Believed(Trust()), HasSubstr("policy.yaml.intoto.jsonl:1: no key of the policy has"));
}

TEST_F(Endorsed, IsBelievedUnderItsOwnNameAlone) {
  EXPECT_EQ(Endorse(world_.ada.get()), "written");
  const std::filesystem::path other = folder_.path() / "production.yaml";
  std::filesystem::copy_file(file_, other);
  std::filesystem::copy_file(EndorsementPath(file_), EndorsementPath(other));
  const auto verified = VerifyEndorsed(other, Trust(), world_.now);
  ASSERT_FALSE(verified.ok());
  EXPECT_THAT(verified.error().message,
              AllOf(HasSubstr("was signed as 'policy.yaml', with this content"),
                    HasSubstr("holds for no file that is called 'production.yaml'")));
}

TEST_F(Endorsed, NeedsAsManyKeysAsItsRuleAsksFor) {
  EXPECT_EQ(Endorse(world_.ada.get()), "written");
  const TrustPolicy two = Trust("keys: [ada, bob]\n    threshold: 2");
  EXPECT_THAT(Believed(two), HasSubstr("policy.yaml.intoto.jsonl:1: 1 of the 2 keys"));
  EXPECT_EQ(Endorse(world_.bob.get()), "signature_added");
  EXPECT_EQ(Lines(), 1);
  EXPECT_EQ(Believed(two), "ada");
  // A rule for families is not for files, which have none.
  EXPECT_THAT(Believed(world_.Policy()),
              HasSubstr("no rule of the policy is for urn:rharness:endorsement:v1"));
}

TEST_F(Endorsed, IsNoVerdictAndAVerdictIsNoEndorsement) {
  Put("policy.yaml.intoto.jsonl", WriteEnvelope(world_.Signed({world_.ada.get()})) + "\n");
  EXPECT_THAT(Endorse(world_.ada.get()), HasSubstr("expected one of urn:rharness:endorsement:v1"));
  EXPECT_THAT(Believed(Trust()), HasSubstr("under this name is not what was signed"));
  Put("policy.yaml.intoto.jsonl", "nothing\n");
  EXPECT_THAT(Endorse(world_.ada.get()), HasSubstr("is no envelope"));
  EXPECT_THAT(Believed(Trust()), HasSubstr("is no envelope"));
}

TEST_F(Endorsed, StatementsAreReadStrictly) {
  const Endorsement good{
      .file = {"policy.yaml", std::string(64, 'a')}, .reason = "reviewed", .made = world_.now};
  const auto read = ReadEndorsement(EndorsementStatement(good), "s");
  ASSERT_TRUE(read.ok()) << read.error().ToString();
  EXPECT_EQ(read->file, good.file);
  EXPECT_EQ(read->reason, "reviewed");
  EXPECT_EQ(read->made, world_.now);
  SignedStatement two = EndorsementStatement(good);
  two.subjects.push_back({"other", std::string(64, 'b')});
  SignedStatement timeless = EndorsementStatement(good);
  timeless.predicate = Json::MakeObject({{"reason", "reviewed"}});
  SignedStatement odd = EndorsementStatement(good);
  odd.predicate.Set("reason", 1);
  for (const SignedStatement& one : {two, timeless, odd}) {
    const auto refused = ReadEndorsement(one, "s");
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().code, ErrorCode::kIntegrity);
  }
}

TEST_F(Endorsed, StatementsHaveASchemaThatRequiresWhatTheReaderRequires) {
  const Json schema = EndorsementSchema();
  const Json json = ToJson(EndorsementStatement(
      {.file = {"policy.yaml", std::string(64, 'a')}, .reason = "reviewed", .made = world_.now}));
  ExpectDescribed(schema, json);
  ExpectSameRequirements(
      schema, json,
      [](const Json& one) {
        const auto statement = ParseStatement(one.Dump(), "s");
        return statement.ok() && ReadEndorsement(*statement, "s").ok();
      },
      7);
}

TEST(ApprovalSchemas, RequireWhatTheReadersRequire) {
  const WallTime now = ParseTime("2026-06-01T00:00:00Z").value();
  const WallTime later = now + std::chrono::hours(1);
  const std::string sha256(64, 'a');
  const auto hold = [](const Json& schema, const SignedStatement& statement, auto read, int least) {
    const Json json = ToJson(statement);
    ExpectDescribed(schema, json);
    EXPECT_NE(ValidateBy(schema, json), 1);
    const auto accepts = [&](const Json& one) {
      const auto parsed = ParseStatement(one.Dump(), "s");
      return parsed.ok() && read(*parsed, "s").ok();
    };
    ExpectSameRequirements(schema, json, accepts, least);
  };
  hold(RetirementSchema(), RetirementStatement({"a", "f", {"a.json", sha256}, "why", now, later}),
       ReadRetirement, 10);
  hold(WithdrawalSchema(), WithdrawalStatement({"a", "f", {"a.retirement", sha256}, "why", now}),
       ReadWithdrawal, 10);
  hold(DeletionSchema(), DeletionStatement({{"deletion.json", sha256}, 1, 2, "why", now, later}),
       ReadDeletion, 10);
  // Both people sign these bytes.
  const Json json = ToJson(RetirementStatement({"a", "f", {"a.json", sha256}, "why", now, later}));
  EXPECT_EQ(json.Find("predicate")->Dump(),
            R"({"run_id":"a","family":"f","reason":"why","requested":"2026-06-01T00:00:00.000Z",)"
            R"("expires":"2026-06-01T01:00:00.000Z"})");
}

TEST_F(Endorsed, OfTomorrowIsRefused) {
  const auto made = EndorseFile(file_, EndorsementPath(file_), "",
                                world_.now + std::chrono::hours(1), world_.ada.get());
  ASSERT_TRUE(made.ok());
  EXPECT_THAT(Believed(Trust()), HasSubstr("was said at 2026-06-02T01:00:00.000Z; it is "));
}

}  // namespace
}  // namespace rharness
