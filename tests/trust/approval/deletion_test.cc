// Two people sign for a list; one does not, and nobody signs for another one.
#include <gmock/gmock.h>

#include "harness/trust/approval/deletion_approval.h"
#include "tests/history/store_fixture.h"
#include "tests/trust/approval/people.h"

namespace rharness {
namespace {

using testing::HasSubstr;

// "asked", and what is doubtful.
std::string StateWords(const DeletionTold& told) {
  return std::string(NameIn(kDeletionStateNames, told.state)) + told.doubt;
}

constexpr auto kSevenDays = std::chrono::days(7);

class Deletions : public HistoryTest {
 protected:
  void SetUp() override {
    HistoryTest::SetUp();
    if (!IsSkipped()) store_ = OpenStore();
  }
  static DeletionList List(const std::string& path = "a.bin") {
    return {.root = "/srv/runs",
            .policy_sha256 = std::string(64, 'e'),
            .items = {{path, 7, std::string(64, 'c'), "weights", {"a"}, "old", "nothing"}}};
  }
  SigningPerson By(Signer* signer, int hours = 0) const {
    return {signer, &trust_, now_ + std::chrono::hours(hours)};
  }
  Result<DeletionTold> Ask(Signer* signer, int hours = 0) {
    return RequestDeletion(List(), "disk is full", now_ + std::chrono::hours(hours) + kSevenDays,
                           By(signer, hours), store_.get());
  }
  Result<DeletionTold> Approve(Signer* signer, int hours = 1) {
    return ApproveDeletion(DigestOf(List()), By(signer, hours), store_.get());
  }
  Result<DeletionTold> Require(int hours = 2, bool begun = false) {
    return RequireApproved(DigestOf(List()), begun, trust_, now_ + std::chrono::hours(hours),
                           store_.get());
  }
  template <class T>
  void ExpectRefused(const Result<T>& result, ErrorCode code, const std::string& says) {
    ASSERT_FALSE(result.ok());
    EXPECT_EQ(result.error().code, code) << result.error().ToString();
    EXPECT_THAT(result.error().ToString(), HasSubstr(says));
  }
  void Force(const std::string& statement) {
    store_.reset();
    {
      RawHistory raw(Url());
      ASSERT_EQ(raw.RunPastTriggers(statement), "");
    }
    store_ = OpenStore();
  }

  const People people_{};
  const TrustPolicy trust_ = people_.Trust();
  const WallTime now_ = At(kDay2);
  std::unique_ptr<HistoryStore> store_;
};

TEST_P(Deletions, AreApprovedByTheSecondPersonAndForThisListAlone) {
  ExpectRefused(Require(), ErrorCode::kNotFound, "nobody asked for its deletion");
  const auto asked = Ask(people_.ada.get());
  ASSERT_TRUE(asked.ok()) << asked.error().ToString();
  EXPECT_EQ(asked->state, DeletionState::kAsked);
  ExpectRefused(Require(), ErrorCode::kInvalidInput, "was asked for by Ada; somebody else");
  ExpectRefused(Approve(people_.ada_at_home.get()), ErrorCode::kInvalidInput,
                "somebody else has to approve");
  ExpectRefused(Approve(people_.mallory.get()), ErrorCode::kIntegrity, "no key of the policy");
  ExpectRefused(ApproveDeletion(DigestOf(List("b.bin")), By(people_.bob.get()), store_.get()),
                ErrorCode::kNotFound, "nobody asked for its deletion");
  const auto approved = Approve(people_.bob.get());
  ASSERT_TRUE(approved.ok()) << approved.error().ToString();
  EXPECT_EQ(approved->state, DeletionState::kApproved);
  const auto required = Require();
  ASSERT_TRUE(required.ok()) << required.error().ToString();
  EXPECT_EQ(required->approved_by, "Bob");
  EXPECT_EQ(required->items, 1u);
  EXPECT_EQ(required->bytes, 7u);
}

TEST_P(Deletions, AreNotAskedForWhereNobodyElseCouldApprove) {
  const TrustPolicy alone = people_.Trust("keys: [ada, home]");
  ExpectRefused(RequestDeletion(List(), "disk is full", now_ + kSevenDays,
                                {people_.ada.get(), &alone, now_}, store_.get()),
                ErrorCode::kInvalidInput,
                "nobody could approve it: rule 1 of the trust policy is the first for "
                "urn:rharness:deletion:v1, and names no key");
  EXPECT_TRUE(Ask(people_.ada.get()).ok());
}

TEST_P(Deletions, AreNeitherApprovedNorCarriedOutWhenTheirTimeIsOver) {
  ASSERT_TRUE(Ask(people_.ada.get()).ok());
  ExpectRefused(Approve(people_.bob.get(), 7 * 24), ErrorCode::kInvalidInput,
                "could be approved and carried out until 2026-01-09T00:00:00.000Z");
  ASSERT_TRUE(Approve(people_.bob.get()).ok());
  ExpectRefused(Require(7 * 24), ErrorCode::kInvalidInput, "it has to be asked for anew");
  EXPECT_TRUE(Require(7 * 24, true).ok()) << "what was begun is ended";
  ASSERT_TRUE(Ask(people_.bob.get(), 7 * 24).ok());
  ExpectRefused(Require(7 * 24 + 1), ErrorCode::kInvalidInput, "was asked for by Bob");
}

TEST_P(Deletions, AreNotCarriedOutOnceTakenBack) {
  ASSERT_TRUE(Ask(people_.ada.get()).ok());
  ASSERT_TRUE(Approve(people_.bob.get()).ok());
  ExpectRefused(WithdrawDeletion(DigestOf(List()), "no", By(people_.mallory.get()), store_.get()),
                ErrorCode::kIntegrity, "no key of the policy");
  const auto back =
      WithdrawDeletion(DigestOf(List()), "needed", By(people_.bob.get(), 2), store_.get());
  ASSERT_TRUE(back.ok()) << back.error().ToString();
  EXPECT_EQ(back->state, DeletionState::kWithdrawn);
  ExpectRefused(Require(3), ErrorCode::kInvalidInput, "was taken back by Bob");
  ExpectRefused(Require(3, true), ErrorCode::kInvalidInput, "was taken back by Bob");
  EXPECT_TRUE(Ask(people_.ada.get(), 4).ok());
}

TEST_P(Deletions, ThatWereEditedByHandAreNamed) {
  ASSERT_TRUE(Ask(people_.ada.get()).ok());
  ASSERT_TRUE(Approve(people_.bob.get()).ok());
  // Under another list's name.
  const std::string other = DigestOf(List("b.bin"));
  Force("UPDATE signed_statements SET subject = '" + other + "'");
  ExpectRefused(RequireApproved(other, false, trust_, now_, store_.get()), ErrorCode::kIntegrity,
                "was signed for the list " + DigestOf(List()));
  const auto all = ListDeletions(&trust_, now_, store_.get());
  ASSERT_TRUE(all.ok());
  ASSERT_EQ(all->size(), 1u);
  EXPECT_EQ(all->front().state, DeletionState::kDoubtful);
  Force("UPDATE signed_statements SET subject = '" + DigestOf(List()) +
        "', signed_by = 'Zoe' WHERE sequence = 2");
  Force("UPDATE signed_statements SET subject = '" + DigestOf(List()) + "'");
  ExpectRefused(Require(), ErrorCode::kIntegrity, "the history names Zoe for a signature of Bob");
}

TEST_P(Deletions, ThatNobodySignedForAndWereBegunAreDoubtful) {
  ASSERT_TRUE(store_->BeginDeletion({DigestOf(List()), now_, "Ada", "Bob", TextOf(List())}).ok());
  const auto all = ListDeletions(&trust_, now_, store_.get());
  ASSERT_TRUE(all.ok());
  ASSERT_EQ(all->size(), 1u);
  EXPECT_THAT(all->front().doubt, HasSubstr("what was signed for it is not in the history"));
}

TEST_P(Deletions, ThatWereApprovedLateAreDoubtfulInTheListAsWhenTheyAreCarriedOut) {
  ASSERT_TRUE(Ask(people_.ada.get()).ok());
  ASSERT_TRUE(Approve(people_.bob.get()).ok());
  // The second signature, entered on the day after the last one.
  const WallTime late = now_ + kSevenDays + std::chrono::hours(24);
  Force("UPDATE signed_statements SET entered_ms = " +
        std::to_string(late.time_since_epoch().count()) + " WHERE signed_by = 'Bob'");
  ExpectRefused(Require(), ErrorCode::kIntegrity, "was approved after its time was over");
  for (const TrustPolicy* trust : {&trust_, static_cast<const TrustPolicy*>(nullptr)}) {
    const auto all = ListDeletions(trust, now_, store_.get());
    ASSERT_TRUE(all.ok()) << all.error().ToString();
    ASSERT_EQ(all->size(), 1u);
    EXPECT_EQ(all->front().state, DeletionState::kDoubtful);
    EXPECT_THAT(all->front().doubt, HasSubstr("was approved after its time was over"));
  }
}

TEST_P(Deletions, ThatWereBegunAreHeldToTheListAndToWhoSignedIt) {
  ASSERT_TRUE(Ask(people_.ada.get()).ok());
  ASSERT_TRUE(Approve(people_.bob.get()).ok());
  const std::string digest = DigestOf(List());
  ASSERT_TRUE(store_->BeginDeletion({digest, now_, "Ada", "Bob", TextOf(List())}).ok());
  const auto doubt = [&] {
    const auto all = ListDeletions(&trust_, now_, store_.get());
    EXPECT_TRUE(all.ok() && all->size() == 1) << all.error().ToString();
    return all->front().doubt;
  };
  EXPECT_EQ(doubt(), "");
  EXPECT_TRUE(Require(2, true).ok());
  Force("UPDATE deletions SET body = replace(body, 'a.bin', 'b.bin')");
  EXPECT_THAT(doubt(), HasSubstr("the history holds another list than was begun"));
  ExpectRefused(Require(2, true), ErrorCode::kIntegrity, "another list than was begun");
  Force("UPDATE deletions SET body = replace(body, 'b.bin', 'a.bin'), approved_by = 'Cyd'");
  EXPECT_THAT(doubt(), HasSubstr("approved by 'Cyd', as the history says; nobody signed that"));
  Force("UPDATE deletions SET approved_by = 'Bob'");
  EXPECT_EQ(doubt(), "");
  ASSERT_TRUE(store_->AddDeleted({digest, 0, DeletionStep::kAbout, now_, 7}).ok());
  Force("UPDATE deleted_items SET item = 5");
  EXPECT_THAT(doubt(), HasSubstr("a step of file 5 of a list that names 1"));
}

TEST_P(Deletions, ThatTakeThreePeopleAreNotApprovedByTwo) {
  const TrustPolicy three = people_.Trust("keys: [ada, home, bob], threshold: 3");
  const SigningPerson ada{people_.ada.get(), &three, now_};
  const SigningPerson bob{people_.bob.get(), &three, now_};
  const std::string digest = DigestOf(List());
  ASSERT_TRUE(RequestDeletion(List(), "full", now_ + kSevenDays, ada, store_.get()).ok());
  ASSERT_TRUE(ApproveDeletion(digest, bob, store_.get()).ok());
  const auto all = ListDeletions(&three, now_, store_.get());
  ASSERT_TRUE(all.ok());
  EXPECT_EQ(all->front().state, DeletionState::kAsked) << all->front().doubt;
  ExpectRefused(RequireApproved(digest, false, three, now_, store_.get()), ErrorCode::kInvalidInput,
                "approved by Bob; the policy asks for more");
}

TEST_P(Deletions, AreAskedForAnewWhereTheyWereBegunAndTakenBackAndNotWhereTheyAreDone) {
  const std::string digest = DigestOf(List());
  ASSERT_TRUE(Ask(people_.ada.get()).ok());
  ASSERT_TRUE(Approve(people_.bob.get()).ok());
  ASSERT_TRUE(store_->BeginDeletion({digest, now_, "Ada", "Bob", TextOf(List())}).ok());
  ExpectRefused(Ask(people_.bob.get(), 2), ErrorCode::kInvalidInput, "is being carried out");
  ASSERT_TRUE(WithdrawDeletion(digest, "needed", By(people_.bob.get(), 2), store_.get()).ok());
  const auto again = Ask(people_.bob.get(), 3);
  ASSERT_TRUE(again.ok()) << again.error().ToString();
  EXPECT_EQ(again->state, DeletionState::kAsked);
  ExpectRefused(Require(4, true), ErrorCode::kInvalidInput, "was asked for by Bob; somebody else");
  ASSERT_TRUE(Approve(people_.ada.get(), 5).ok());
  EXPECT_TRUE(Require(6, true).ok());
  const WallTime at = now_ + std::chrono::hours(7);
  ASSERT_TRUE(store_->AddDeleted({digest, 0, DeletionStep::kAbout, at, 7}).ok());
  ASSERT_TRUE(store_->AddDeleted({digest, 0, DeletionStep::kGone, at, 7}).ok());
  const auto done = Require(8, true);
  ASSERT_TRUE(done.ok()) << done.error().ToString();
  EXPECT_EQ(done->state, DeletionState::kDone);
  EXPECT_EQ(done->last, "2026-01-02T07:00:00.000Z");
  ExpectRefused(Ask(people_.ada.get(), 9), ErrorCode::kInvalidInput,
                "was carried out at 2026-01-02T07:00:00.000Z: 1 of 1 file is gone");
  ExpectRefused(WithdrawDeletion(digest, "too late", By(people_.ada.get(), 9), store_.get()),
                ErrorCode::kInvalidInput, "was carried out at 2026-01-02T07:00:00.000Z");
}

TEST_P(Deletions, AreTakenBackByOnePersonWhereTheyTakeTwo) {
  const TrustPolicy two = people_.Trust("keys: [ada, home, bob], threshold: 2");
  const std::string digest = DigestOf(List());
  const auto by = [&](Signer* signer, int hours) {
    return SigningPerson{signer, &two, now_ + std::chrono::hours(hours)};
  };
  const auto state = [&](int hours) {
    const auto all = ListDeletions(&two, now_ + std::chrono::hours(hours), store_.get());
    EXPECT_TRUE(all.ok() && all->size() == 1);
    return StateWords(all->front());
  };
  const auto ask = [&](Signer* signer, int hours) {
    return RequestDeletion(List(), "full", now_ + std::chrono::hours(hours) + kSevenDays,
                           by(signer, hours), store_.get());
  };
  ASSERT_TRUE(ask(people_.ada.get(), 0).ok());
  const auto back = WithdrawDeletion(digest, "needed", by(people_.bob.get(), 1), store_.get());
  ASSERT_TRUE(back.ok()) << back.error().ToString();
  EXPECT_EQ(back->state, DeletionState::kWithdrawn);
  EXPECT_EQ(state(2), "withdrawn");
  const auto again = ask(people_.ada.get(), 3);
  ASSERT_TRUE(again.ok()) << again.error().ToString();
  EXPECT_EQ(state(4), "asked");
  ASSERT_TRUE(ApproveDeletion(digest, by(people_.bob.get(), 5), store_.get()).ok());
  EXPECT_TRUE(RequireApproved(digest, false, two, now_ + std::chrono::hours(6), store_.get()).ok());
}

TEST_P(Deletions, ThatAreOverStopNoNewOneWhenAKeyOfTheirsIsGone) {
  const TrustPolicy later = people_.Trust("keys: [ada, bob]");
  const auto told = [&](int hours) {
    const auto all = ListDeletions(&later, now_ + std::chrono::hours(hours), store_.get());
    EXPECT_TRUE(all.ok() && all->size() == 1);
    return StateWords(all->front());
  };
  const auto ask = [&](int hours) {
    return RequestDeletion(List(), "full", now_ + std::chrono::hours(hours) + kSevenDays,
                           {people_.ada.get(), &later, now_ + std::chrono::hours(hours)},
                           store_.get());
  };
  ASSERT_TRUE(Ask(people_.ada_at_home.get()).ok());
  EXPECT_THAT(told(1), HasSubstr("the rule does not name it")) << "while it is open";
  ASSERT_TRUE(
      WithdrawDeletion(DigestOf(List()), "no", By(people_.bob.get(), 2), store_.get()).ok());
  EXPECT_EQ(told(3), "withdrawn");
  ASSERT_TRUE(Ask(people_.ada_at_home.get(), 4).ok());
  EXPECT_EQ(told(4 + 7 * 24), "expired");
  const auto asked = ask(5 + 7 * 24);
  ASSERT_TRUE(asked.ok()) << asked.error().ToString();
  EXPECT_EQ(told(6 + 7 * 24), "asked");
}

TEST_P(Deletions, ThatWereBegunAreTakenBackWhenTheirTimeIsOverOrAKeyIsGone) {
  const std::string digest = DigestOf(List());
  ASSERT_TRUE(Ask(people_.ada.get()).ok());
  ASSERT_TRUE(Approve(people_.bob.get()).ok());
  ASSERT_TRUE(store_->BeginDeletion({digest, now_, "Ada", "Bob", TextOf(List())}).ok());
  const TrustPolicy later = people_.Trust("keys: [ada, home]");
  const int after = 8 * 24;
  const SigningPerson ada{people_.ada.get(), &later, now_ + std::chrono::hours(after)};
  const auto back = WithdrawDeletion(digest, "enough", ada, store_.get());
  ASSERT_TRUE(back.ok()) << back.error().ToString();
  ExpectRefused(RequireApproved(digest, true, later, ada.now, store_.get()),
                ErrorCode::kInvalidInput, "was taken back by Ada");
  // By a policy that has somebody else again, who could approve.
  const SigningPerson again{people_.ada.get(), &trust_, ada.now};
  ASSERT_TRUE(RequestDeletion(List(), "full", ada.now + kSevenDays, again, store_.get()).ok());
  const auto all = ListDeletions(&later, ada.now, store_.get());
  ASSERT_TRUE(all.ok());
  EXPECT_EQ(StateWords(all->front()), "asked");
}

TEST_P(Deletions, ThatWereTakenBackByNobodyOfThePolicyAreDoubtful) {
  ASSERT_TRUE(Ask(people_.ada.get()).ok());
  ASSERT_TRUE(
      WithdrawDeletion(DigestOf(List()), "no", By(people_.bob.get(), 1), store_.get()).ok());
  const TrustPolicy without = people_.Trust("keys: [ada, home]");
  const auto all = ListDeletions(&without, now_ + std::chrono::hours(2), store_.get());
  ASSERT_TRUE(all.ok());
  EXPECT_EQ(all->front().state, DeletionState::kDoubtful);
  ExpectRefused(Require(2), ErrorCode::kInvalidInput, "was taken back by Bob");
  Force(
      "UPDATE signed_statements SET signed_by = 'Zoe' WHERE predicate = "
      "'urn:rharness:withdrawal:v1'");
  const auto forged = ListDeletions(&trust_, now_ + std::chrono::hours(2), store_.get());
  ASSERT_TRUE(forged.ok());
  EXPECT_THAT(forged->front().doubt, HasSubstr("the history names Zoe for a signature of Bob"));
  EXPECT_TRUE(Ask(people_.ada.get(), 3).ok());
}

INSTANTIATE_TEST_SUITE_P(Both, Deletions, BothDatabases(), DatabaseName);

}  // namespace
}  // namespace rharness
