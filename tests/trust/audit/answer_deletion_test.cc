// An auditor is told which files of a run two people had deleted, and of what is not as they
// signed.
#include <gmock/gmock.h>

#include "harness/trust/approval/deleted_files.h"
#include "harness/trust/approval/deletion_approval.h"
#include "tests/trust/audit/answer_world.h"

namespace rharness {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class AnswerDeletion : public AnswerWorld {
 protected:
  AnswerDeletion() { AddRun(); }
  static DeletionList List(const std::string& run = "a") {
    return {.root = "/srv/runs",
            .policy_sha256 = std::string(64, 'e'),
            .items = {{"a.bin", 7, std::string(64, 'c'), "weights", {run}, "old", "nothing"}}};
  }
  // Asked for by Ada, approved by Bob, and begun.
  void Begin(const DeletionList& list = List()) {
    const auto asked = RequestDeletion(list, "disk is full", At(kDay2) + std::chrono::days(7),
                                       By(people_.ada.get()), store_.get());
    ASSERT_TRUE(asked.ok()) << asked.error().ToString();
    ASSERT_TRUE(ApproveDeletion(DigestOf(list), By(people_.bob.get(), 1), store_.get()).ok());
    ASSERT_TRUE(
        store_->BeginDeletion({DigestOf(list), At(kDay3), "Ada", "Bob", TextOf(list)}).ok());
    Step(DeletionStep::kAbout, list);
  }
  void Step(DeletionStep step, const DeletionList& list = List()) {
    ASSERT_TRUE(store_->AddDeleted({DigestOf(list), 0, step, At(kDay3), 7}).ok());
  }
  std::vector<DeletedFile> Files(const std::string& run = "a") {
    const auto files = DeletedFilesOf(run, &trust_, clock_.Now(), store_.get());
    EXPECT_TRUE(files.ok()) << files.error().ToString();
    return files.ok() ? *files : std::vector<DeletedFile>();
  }
};

TEST_F(AnswerDeletion, IsToldWithWhoSignedForItWhenAndWhy) {
  Begin();
  Step(DeletionStep::kGone);
  const AuditReport report = Show({}, &trust_);
  EXPECT_EQ(report.exit_code, 0);
  EXPECT_THAT(FactOf(report, "weights"),
              HasSubstr("; deleted at 2026-01-03T00:00:00.000Z, asked for by Ada and approved by "
                        "Bob: disk is full"));
  ASSERT_THAT(report.exceptions, SizeIs(1));
  EXPECT_EQ(report.exceptions[0].kind, "deletion");
  EXPECT_EQ(report.exceptions[0].about, "weights a.bin");
  EXPECT_EQ(report.exceptions[0].signed_by, "Ada (asked) and Bob (approved)");
  EXPECT_THAT(report.headline, HasSubstr("; 1 of its files was deleted"));
}

TEST_F(AnswerDeletion, IsHeldToItsEntriesInTheLog) {
  Begin();
  Step(DeletionStep::kGone);
  const auto kinds_of = [](const AuditReport& report) {
    std::vector<std::string> kinds;
    for (const AuditEntryRow& row : report.entries) {
      if (row.state == AuditEntryState::kAsEntered) kinds.push_back(row.kind);
    }
    return kinds;
  };
  EXPECT_THAT(kinds_of(Show()), testing::UnorderedElementsAre("run", "manifest", "signed_statement",
                                                              "signed_statement", "deletion",
                                                              "deleted_item", "deleted_item"));
  Force("DELETE FROM deleted_items WHERE step = 'gone'");
  const AuditReport changed = ShowAsItIs();
  EXPECT_EQ(changed.exit_code, 5);
  EXPECT_THAT(changed.headline, HasSubstr("GONE"));
}

TEST_F(AnswerDeletion, OfAnotherRunIsNotTold) {
  Begin(List("b"));
  Step(DeletionStep::kGone, List("b"));
  EXPECT_THAT(Files(), IsEmpty());
  EXPECT_THAT(Show().exceptions, IsEmpty());
}

TEST_F(AnswerDeletion, ThatWasBegunOfAFileIsToldAndOfOneThatStaysIsNot) {
  Begin();
  ASSERT_THAT(Files(), SizeIs(1));
  EXPECT_THAT(DeletedWords(Files()[0]), HasSubstr("about to be deleted at"));
  Step(DeletionStep::kStays);
  EXPECT_THAT(Files(), IsEmpty());
}

TEST_F(AnswerDeletion, ThatNobodySignedNamesNobodyAndIsRefused) {
  Begin();
  Step(DeletionStep::kGone);
  Append();
  Force("DELETE FROM signed_statements");
  ASSERT_THAT(Files(), SizeIs(1));
  EXPECT_EQ(Files()[0].asked_by, "");
  EXPECT_THAT(DeletedWords(Files()[0]), HasSubstr("doubtful: "));
  const AuditReport report = ShowAsItIs();
  EXPECT_EQ(report.exit_code, 5);
  EXPECT_THAT(report.statements, Contains(Field(&AuditStatement::refused, HasSubstr("doubtful"))));
}

TEST_F(AnswerDeletion, WhoseListWasChangedToNameAnotherRunIsToldOfEveryRun) {
  Begin();
  Step(DeletionStep::kGone);
  Append();
  Force("UPDATE deletions SET body = replace(body, '\"a\"', '\"z\"')");
  ASSERT_THAT(Files(), SizeIs(1));
  EXPECT_THAT(DeletedWords(Files()[0]), AllOf(HasSubstr("its files cannot be read"),
                                              HasSubstr("another list than was begun")));
  EXPECT_EQ(ShowAsItIs().exit_code, 5);
}

}  // namespace
}  // namespace rharness
