// Two people retire a run; one person does not, however it is tried.
#include <gmock/gmock.h>

#include "harness/base/digest.h"
#include "harness/trust/approval/retirement_approval.h"
#include "harness/trust/attestation/approval_statements.h"
#include "harness/trust/attestation/envelope.h"
#include "tests/history/store_fixture.h"
#include "tests/trust/approval/people.h"

namespace rharness {
namespace {

using testing::HasSubstr;

constexpr auto kWeek = std::chrono::days(7);

class Retirements : public HistoryTest {
 protected:
  void SetUp() override {
    HistoryTest::SetUp();
    if (IsSkipped()) return;
    store_ = OpenStore();
    for (const char* run : {"a", "b"}) {
      ASSERT_TRUE(store_->Add(MakeManifest(run, kDay1, "mlp"), At(kDay1)).ok());
    }
  }
  SigningPerson By(Signer* signer, const TrustPolicy& trust, int hours = 0) const {
    return {signer, &trust, now_ + std::chrono::hours(hours)};
  }
  Result<RetirementTold> Ask(Signer* signer, const std::string& run = "a", int hours = 0) {
    return RequestRetirement(run, "its data is gone", now_ + std::chrono::hours(hours) + kWeek,
                             By(signer, trust_, hours), store_.get());
  }
  Result<RetirementTold> Approve(Signer* signer, const std::string& run = "a", int hours = 1) {
    return ApproveRetirement(run, By(signer, trust_, hours), store_.get());
  }
  bool IsRetired(const std::string& run = "a") { return store_->Find(run)->retired.has_value(); }
  // Nothing is entered by what fails.
  void ExpectRefused(const Result<RetirementTold>& result, ErrorCode code,
                     const std::string& says) {
    ASSERT_FALSE(result.ok()) << LineOf(*result);
    EXPECT_EQ(result.error().code, code) << result.error().ToString();
    EXPECT_THAT(result.error().ToString(), HasSubstr(says));
    EXPECT_FALSE(IsRetired());
  }
  // With and without the trust policy.
  void ExpectDoubtful(const std::string& says, bool with_trust_alone = false) {
    for (const TrustPolicy* trust : {static_cast<const TrustPolicy*>(nullptr), &trust_}) {
      if (with_trust_alone && trust == nullptr) continue;
      const auto told = RetirementOf("a", trust, now_ + kWeek, OpenStore().get());
      ASSERT_TRUE(told.ok()) << told.error().ToString();
      EXPECT_EQ(told->state, RetirementState::kDoubtful) << LineOf(*told);
      EXPECT_THAT(told->doubt, HasSubstr(says));
    }
  }
  void RetireByBoth() {
    ASSERT_TRUE(Ask(people_.ada.get()).ok());
    ASSERT_TRUE(Approve(people_.bob.get()).ok());
    store_.reset();
  }
  void Force(const std::string& statement) {
    RawHistory raw(Url());
    ASSERT_EQ(raw.RunPastTriggers(statement), "");
  }

  const People people_{};
  const TrustPolicy trust_ = people_.Trust();
  const WallTime now_ = At(kDay2);
  std::unique_ptr<HistoryStore> store_;
};

TEST_P(Retirements, TakeEffectWithTheSecondPerson) {
  const auto asked = Ask(people_.ada.get());
  ASSERT_TRUE(asked.ok()) << asked.error().ToString();
  EXPECT_EQ(asked->state, RetirementState::kAsked);
  EXPECT_FALSE(IsRetired());
  const auto approved = Approve(people_.bob.get());
  ASSERT_TRUE(approved.ok()) << approved.error().ToString();
  EXPECT_EQ(LineOf(*approved),
            "a: retired: its data is gone (asked for by Ada on 2026-01-02, approved by Bob on "
            "2026-01-02; verified)");
  const HistoryEntry entry = *store_->Find("a");
  EXPECT_EQ(entry.retired, "its data is gone");
  ASSERT_TRUE(entry.retirement.has_value());
  EXPECT_EQ(entry.retirement->asked_by, "Ada");
  EXPECT_EQ(entry.retirement->approved_by, "Bob");
  EXPECT_EQ(store_->List(false)->size(), 1u);
  EXPECT_EQ(store_->NextToDrill(9)->size(), 1u);
  EXPECT_FALSE(Ask(people_.ada.get()).ok());
  EXPECT_FALSE(Approve(people_.bob.get()).ok());
}

TEST_P(Retirements, OfOnePersonUnderTwoKeysDoNotHold) {
  ASSERT_TRUE(Ask(people_.ada.get()).ok());
  ExpectRefused(Approve(people_.ada.get()), ErrorCode::kInvalidInput, "Ada has signed it already");
  ExpectRefused(Approve(people_.ada_at_home.get()), ErrorCode::kInvalidInput,
                "somebody else has to approve");
  EXPECT_TRUE(Approve(people_.bob.get()).ok());
}

TEST_P(Retirements, AreSignedByKeysOfTheirRuleAlone) {
  ExpectRefused(Ask(people_.mallory.get()), ErrorCode::kIntegrity, "no key of the policy");
  ASSERT_TRUE(Ask(people_.ada.get()).ok());
  ExpectRefused(Approve(people_.mallory.get()), ErrorCode::kIntegrity, "no key of the policy");
  const TrustPolicy without = people_.Trust("keys: [ada, home]");
  ExpectRefused(ApproveRetirement("a", By(people_.bob.get(), without), store_.get()),
                ErrorCode::kIntegrity, "the rule does not name it");
  const TrustPolicy others = people_.Trust("families: [\"llama*\"], keys: [ada, bob]");
  ExpectRefused(ApproveRetirement("a", By(people_.bob.get(), others), store_.get()),
                ErrorCode::kIntegrity, "no rule of the policy");
}

TEST_P(Retirements, AreNotApprovedByAKeyWhoseTimeIsOver) {
  ASSERT_TRUE(Ask(people_.ada.get()).ok());
  const TrustPolicy over = people_.Trust("keys: [ada, bob]", ", until: 2026-01-03");
  ExpectRefused(ApproveRetirement("a", By(people_.bob.get(), over, 49), store_.get()),
                ErrorCode::kInvalidInput, "key 'bob' of Bob does not hold at");
}

// Else the request would wait for a signature that its rule takes of nobody.
TEST_P(Retirements, AreNotAskedForWhereNobodyElseCouldApprove) {
  for (const TrustPolicy& trust :
       {people_.Trust("families: [mlp], keys: [ada, home]"),
        people_.Trust("keys: [ada, home, bob]", ", until: 2020-01-01")}) {
    ExpectRefused(RequestRetirement("a", "its data is gone", now_ + kWeek,
                                    By(people_.ada.get(), trust), store_.get()),
                  ErrorCode::kInvalidInput,
                  "nobody could approve it: rule 1 of the trust policy is the first for "
                  "urn:rharness:retirement:v1 of family 'mlp', and names no key that holds now but "
                  "those of Ada");
  }
  EXPECT_EQ(RetirementOf("a", &trust_, now_, store_.get())->state, RetirementState::kNone);
}

TEST_P(Retirements, AreNotApprovedWhenTheirTimeIsOver) {
  ASSERT_TRUE(Ask(people_.ada.get()).ok());
  ExpectRefused(Approve(people_.bob.get(), "a", 7 * 24), ErrorCode::kInvalidInput,
                "could be approved until 2026-01-09T00:00:00.000Z");
  EXPECT_EQ(RetirementOf("a", &trust_, now_ + kWeek, store_.get())->state,
            RetirementState::kExpired);
  ASSERT_TRUE(Ask(people_.bob.get(), "a", 7 * 24).ok());
  EXPECT_TRUE(Approve(people_.ada.get(), "a", 7 * 24 + 1).ok());
}

TEST_P(Retirements, AreNotApprovedOnceTakenBack) {
  const auto withdraw = [&](Signer* signer) {
    return WithdrawRetirement("a", "found again", By(signer, trust_, 1), store_.get());
  };
  EXPECT_EQ(withdraw(people_.ada.get()).error().code, ErrorCode::kNotFound);
  ASSERT_TRUE(Ask(people_.ada.get()).ok());
  EXPECT_EQ(withdraw(people_.mallory.get()).error().code, ErrorCode::kIntegrity);
  const auto back = withdraw(people_.ada.get());
  ASSERT_TRUE(back.ok()) << back.error().ToString();
  EXPECT_EQ(back->state, RetirementState::kWithdrawn);
  ExpectRefused(Approve(people_.bob.get()), ErrorCode::kInvalidInput, "was taken back by Ada");
  EXPECT_FALSE(withdraw(people_.ada.get()).ok());
  ASSERT_TRUE(Ask(people_.ada.get(), "a", 2).ok());
  ASSERT_TRUE(Approve(people_.bob.get(), "a", 3).ok());
  EXPECT_THAT(withdraw(people_.ada.get()).error().message, HasSubstr("is retired already"));
}

TEST_P(Retirements, AreForTheRunAndTheManifestThatWereSigned) {
  ASSERT_TRUE(Ask(people_.ada.get(), "b").ok());
  // What was signed of b, entered of a by hand.
  const SignedRecord of_b = store_->SignedOf(kRetirementPredicate, "b")->at(0);
  store_.reset();
  Force("UPDATE signed_statements SET subject = 'a'");
  store_ = OpenStore();
  ExpectRefused(Approve(people_.bob.get()), ErrorCode::kIntegrity, "was signed for run 'b'");
  // Another manifest under the same run.
  Retirement other{.run_id = "a",
                   .family = "mlp",
                   .manifest = {"a.json", std::string(64, '5')},
                   .reason = "gone",
                   .requested = now_,
                   .expires = now_ + kWeek};
  SignedEnvelope envelope{.payload_type = kStatementPayload,
                          .payload = ToJson(RetirementStatement(other)).Dump(),
                          .signatures = {}};
  ASSERT_TRUE(SignEnvelope(people_.ada.get(), &envelope).ok());
  SignedRecord row = of_b;
  row.statement_sha256 = Sha256HexOf(envelope.payload);
  row.subject = "a";
  row.envelope = WriteEnvelope(envelope);
  ASSERT_TRUE(store_->AddSigned(row).ok());
  ExpectRefused(Approve(people_.bob.get()), ErrorCode::kIntegrity, "was signed for the manifest");
}

TEST_P(Retirements, NeedAsManyKeysAsTheRuleAsksFor) {
  const TrustPolicy three = people_.Trust("keys: [ada, home, bob], threshold: 3");
  ASSERT_TRUE(
      RequestRetirement("a", "gone", now_ + kWeek, By(people_.ada.get(), three), store_.get())
          .ok());
  const auto second = ApproveRetirement("a", By(people_.bob.get(), three, 1), store_.get());
  ASSERT_TRUE(second.ok()) << second.error().ToString();
  EXPECT_EQ(second->state, RetirementState::kAsked);
  EXPECT_FALSE(IsRetired());
}

TEST_P(Retirements, ThatNobodySignedAreToldAsThatAndCanBeSignedFor) {
  ASSERT_TRUE(store_->Retire("a", "its data is gone", now_).ok());
  EXPECT_EQ(LineOf(*RetirementOf("a", nullptr, now_, store_.get())),
            "a: retired, unsigned: its data is gone");
  EXPECT_FALSE(RequestRetirement("a", "another reason", now_ + kWeek, By(people_.ada.get(), trust_),
                                 store_.get())
                   .ok());
  ASSERT_TRUE(Ask(people_.ada.get()).ok());
  ASSERT_TRUE(Approve(people_.bob.get()).ok());
  EXPECT_EQ(RetirementOf("a", &trust_, now_ + kWeek, store_.get())->state,
            RetirementState::kRetired);
}

TEST_P(Retirements, ThatWereEditedByHandAreFoundAgainstTheirStatements) {
  RetireByBoth();
  Force("UPDATE retirements SET reason = 'superseded'");
  ExpectDoubtful("the history gives the reason 'superseded'; signed was 'its data is gone'");
  Force("UPDATE retirements SET reason = 'its data is gone'");
  EXPECT_EQ(RetirementOf("a", &trust_, now_ + kWeek, OpenStore().get())->state,
            RetirementState::kRetired);
  const std::pair<const char*, const char*> edits[] = {
      {"UPDATE signed_retirements SET asked_by = 'Zoe'", "the history says that Zoe asked"},
      {"UPDATE signed_retirements SET asked_ms = 5", "1970-01-01T00:00:00.005Z"},
      {"UPDATE signed_retirements SET approved_by = 'Zoe'", "says that Zoe approved"},
      {"UPDATE signed_retirements SET statement_sha256 = 'x'", "is not in the history"},
  };
  for (const auto& [statement, says] : edits) {
    Force(statement);
    ExpectDoubtful(says);
    Force("DELETE FROM signed_retirements");
    ExpectDoubtful("two people signed it, and the history holds it as unsigned");
    Force(
        "INSERT INTO signed_retirements SELECT 'a', s.statement_sha256, 'Ada', (SELECT "
        "MIN(entered_ms) FROM signed_statements), 'Bob', (SELECT MAX(entered_ms) FROM "
        "signed_statements) FROM signed_statements s WHERE s.sequence = 1");
    EXPECT_EQ(RetirementOf("a", &trust_, now_ + kWeek, OpenStore().get())->state,
              RetirementState::kRetired);
  }
}

TEST_P(Retirements, WhoseDatesWereEditedAreFoundWhereTheyCannotBe) {
  RetireByBoth();
  const auto force = [&](const char* sets, int days) {
    const std::string by = " + " + std::to_string(days) + " * 86400000";
    for (std::string column : {"retirements.retired_ms", "signed_retirements.approved_ms",
                               "signed_statements.entered_ms"}) {
      const auto dot = column.find('.');
      const std::string name = column.substr(dot + 1);
      if (std::string(sets).find(name) == std::string::npos) continue;
      Force("UPDATE " + column.substr(0, dot) + " SET " + name + " = " + name + by +
            (name == "entered_ms" ? " WHERE sequence = 2" : ""));
    }
  };
  force("retired_ms", 3);
  ExpectDoubtful("the history says that it was retired at 2026-01-05T01:00:00.000Z, and approved");
  force("approved_ms entered_ms", 3);
  EXPECT_EQ(RetirementOf("a", &trust_, now_ + kWeek, OpenStore().get())->state,
            RetirementState::kRetired)
      << "that the audit log holds alone";
  const auto early = RetirementOf("a", nullptr, now_ + std::chrono::days(2), OpenStore().get());
  EXPECT_THAT(early->doubt, HasSubstr("says that Bob signed at 2026-01-05T01:00:00.000Z; it is "
                                      "2026-01-04T00:00:00.000Z now"));
  force("retired_ms approved_ms entered_ms", 5);
  ExpectDoubtful("was approved after its time was over");
  force("retired_ms approved_ms entered_ms", -10);
  ExpectDoubtful("says that Bob signed at 2025-12-31T01:00:00.000Z; it was asked for at");
}

TEST_P(Retirements, WhoseSignaturesWereEditedAreFound) {
  RetireByBoth();
  Force(
      "UPDATE signed_statements SET signed_by = 'Zoe' WHERE sequence = 2;"
      "UPDATE signed_retirements SET approved_by = 'Zoe'");
  ExpectDoubtful("the history names Zoe for a signature of Bob", true);
  Force(
      "UPDATE signed_statements SET signed_by = 'Bob' WHERE sequence = 2;"
      "UPDATE signed_retirements SET approved_by = 'Bob'");
  Force(
      "UPDATE signed_statements SET envelope = (SELECT envelope FROM signed_statements WHERE "
      "sequence = 1)");
  ExpectDoubtful("is entered under another key");
}

TEST_P(Retirements, ThatWereTakenAwayByForceAreFoundBesideWhatWasSigned) {
  RetireByBoth();
  Force("DELETE FROM signed_retirements; DELETE FROM retirements");
  ExpectDoubtful("two people signed it, and the history holds no retirement", true);
}

TEST_P(Retirements, AreListedWithThoseThatDoNotHoldYet) {
  ASSERT_TRUE(Ask(people_.ada.get(), "b").ok());
  ASSERT_TRUE(store_->Retire("a", "old", now_).ok());
  const auto all = ListRetirements(&trust_, now_, store_.get());
  ASSERT_TRUE(all.ok()) << all.error().ToString();
  EXPECT_EQ(WriteTerminal(*all),
            "a: retired, unsigned: old\n"
            "b: asked: its data is gone (asked for by Ada on 2026-01-02; somebody else has until "
            "2026-01-09 to approve)\n");
}

TEST_P(Retirements, HaveADoubtOfThoseRunsThatAreRetiredAndNotAsTheyWereSigned) {
  ASSERT_TRUE(store_->Retire("b", "old", At(kDay2)).ok());
  RetireByBoth();
  const auto doubts = [&] {
    const auto store = OpenStore();
    const auto found = RetirementDoubtsOf(*store->List(true), now_ + kWeek, store.get());
    return found.ok() ? *found : std::map<std::string, std::string>{{"", found.error().message}};
  };
  EXPECT_THAT(doubts(), testing::IsEmpty()) << "one that nobody signed is no doubt";
  Force("UPDATE retirements SET reason = 'boo'");
  EXPECT_THAT(doubts(), testing::ElementsAre(testing::Pair(
                            "a", HasSubstr("the history gives the reason 'boo'; signed was 'its "
                                           "data is gone'"))));
}

TEST_P(Retirements, AreTakenBackByOnePersonWhereTheyTakeTwoAndWhoeverAsked) {
  const TrustPolicy two = people_.Trust("keys: [ada, home, bob], threshold: 2");
  const SigningPerson ada = By(people_.ada.get(), two);
  ASSERT_TRUE(RequestRetirement("a", "gone", now_ + kWeek, ada, store_.get()).ok());
  const auto back = WithdrawRetirement("a", "found", By(people_.bob.get(), two, 1), store_.get());
  ASSERT_TRUE(back.ok()) << back.error().ToString();
  EXPECT_EQ(back->state, RetirementState::kWithdrawn) << LineOf(*back);
  const auto told = RetirementOf("a", &two, now_ + kWeek, store_.get());
  ASSERT_TRUE(told.ok());
  EXPECT_EQ(told->state, RetirementState::kWithdrawn) << LineOf(*told);
  // Bob asks, and his key leaves the policy.
  ASSERT_TRUE(Ask(people_.bob.get(), "a", 2).ok());
  const TrustPolicy later = people_.Trust("keys: [ada, home]");
  ASSERT_TRUE(WithdrawRetirement("a", "found", By(people_.ada.get(), later, 3), store_.get()).ok());
  EXPECT_EQ(RetirementOf("a", &later, now_ + kWeek, store_.get())->state,
            RetirementState::kWithdrawn);
}

TEST_P(Retirements, ThatWereUnsignedAtFirstTellSinceWhen) {
  ASSERT_TRUE(store_->Retire("a", "its data is gone", At(kDay1)).ok());
  ASSERT_TRUE(Ask(people_.ada.get()).ok());
  const auto told = Approve(people_.bob.get());
  ASSERT_TRUE(told.ok()) << told.error().ToString();
  EXPECT_EQ(LineOf(*told),
            "a: retired: its data is gone (unsigned since 2026-01-01, asked for by Ada on "
            "2026-01-02, approved by Bob on 2026-01-02; verified)");
}

INSTANTIATE_TEST_SUITE_P(Both, Retirements, BothDatabases(), DatabaseName);

}  // namespace
}  // namespace rharness
