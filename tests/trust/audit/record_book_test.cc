// What a log is about: what must be there once and as it was, and what may change.
#include "harness/trust/audit/record_book.h"

#include <gmock/gmock.h>

#include "harness/trust/audit/site_records.h"
#include "tests/trust/audit/audited.h"

namespace rharness {
namespace {

using testing::HasSubstr;

AuditEntry EntryOf(const HeldRecord& record, std::uint64_t index) {
  return {.index = index, .kind = record.kind, .name = record.name, .sha256 = ToHex(record.sha256)};
}

TEST(RecordBook, TellsWhatNoEntryIsAbout) {
  const std::vector<HeldRecord> records = Manifests(3);
  RecordBook book(records);
  EXPECT_EQ(book.Missing().size(), 3U);
  EXPECT_TRUE(book.Take(EntryOf(records[1], 0)).ok());
  ASSERT_EQ(book.Missing().size(), 2U);
  EXPECT_EQ(book.Missing()[0]->name, "run-0");
  EXPECT_EQ(book.Missing()[1]->name, "run-2");
}

TEST(RecordBook, TakesARecordOnce) {
  const std::vector<HeldRecord> records = Manifests(1);
  RecordBook book(records);
  EXPECT_TRUE(book.Take(EntryOf(records[0], 0)).ok());
  EXPECT_THAT(book.Take(EntryOf(records[0], 1)).error().message,
              HasSubstr("entry 1 (manifest run-0) was entered before, as entry 0"));
}

TEST(RecordBook, LetsPoliciesChangeAndEntersEachContent) {
  const HeldRecord old = Held("policy", "policy.yaml", "a");
  const HeldRecord now = Held("policy", "policy.yaml", "b");
  RecordBook book({now});
  EXPECT_TRUE(book.Take(EntryOf(old, 0)).ok());
  EXPECT_EQ(book.Missing().size(), 1U);
  EXPECT_TRUE(book.Take(EntryOf(now, 1)).ok());
  EXPECT_TRUE(book.Missing().empty());
  EXPECT_TRUE(book.Take(EntryOf(old, 2)).ok());  // and changed back again by somebody
  EXPECT_EQ(book.Missing().size(), 1U);
  EXPECT_TRUE(book.Take(EntryOf(Held("waiver", "policy.yaml/jit_*", "w"), 3)).ok());
}

std::vector<std::string> ChangesOf(const RecordBook& book) {
  std::vector<std::string> told;
  for (const ChangedException& one : book.Exceptions()) {
    told.push_back(fmt::format("{} {} {}", one.index, one.name, one.is_there ? "changed" : "gone"));
  }
  return told;
}

TEST(RecordBook, TellsWaiversThatWereChangedFromThoseThatAreGone) {
  const HeldRecord policy = Held("policy", "p.yaml", "now");
  RecordBook book({policy, Held("waiver", "p.yaml/same", "a"), Held("waiver", "p.yaml/b", "new"),
                   Held("waiver", "p.yaml/never entered", "n")});
  EXPECT_TRUE(book.Take(EntryOf(Held("policy", "p.yaml", "then"), 0)).ok());
  EXPECT_TRUE(book.Take(EntryOf(Held("waiver", "p.yaml/same", "a"), 1)).ok());
  EXPECT_TRUE(book.Take(EntryOf(Held("waiver", "p.yaml/b", "old"), 2)).ok());
  EXPECT_TRUE(book.Take(EntryOf(Held("substitute", "p.yaml/A -> B", "s"), 3)).ok());
  EXPECT_TRUE(book.Take(EntryOf(Held("waiver", "other.yaml/b", "o"), 4)).ok());
  EXPECT_THAT(ChangesOf(book), testing::ElementsAre("2 p.yaml/b changed", "3 p.yaml/A -> B gone"));
  EXPECT_TRUE(book.Take(EntryOf(Held("waiver", "p.yaml/b", "new"), 5)).ok());
  EXPECT_THAT(ChangesOf(book), testing::ElementsAre("3 p.yaml/A -> B gone"));
  EXPECT_TRUE(book.Take(EntryOf(Held("waiver", "p.yaml/b", "newer"), 6)).ok());
  EXPECT_THAT(ChangesOf(book), testing::ElementsAre("3 p.yaml/A -> B gone", "6 p.yaml/b changed"))
      << "and back again";
}

TEST(RecordBook, TakesAWaiverThatMovedUpForNoChangedOne) {
  RecordBook book({Held("policy", "p.yaml", "now"), Held("waiver", "p.yaml/j", "second")});
  EXPECT_TRUE(book.Take(EntryOf(Held("waiver", "p.yaml/j", "first"), 1)).ok());
  EXPECT_TRUE(book.Take(EntryOf(Held("waiver", "p.yaml/j #2", "second"), 2)).ok());
  EXPECT_THAT(ChangesOf(book), testing::ElementsAre("1 p.yaml/j gone"));
}

TEST(RecordBook, CountsWhatItWasNotGiven) {
  RecordBook book(Manifests(0));
  EXPECT_TRUE(book.Take(EntryOf(Held("baseline", "h100/1", "x"), 0)).ok());
  EXPECT_TRUE(book.Take(EntryOf(Held("of_a_later_version", "x", "x"), 1)).ok());
  EXPECT_EQ(book.not_looked_at(), 2U);
}

TEST(SiteRecords, HaveALineOfBaselinesEachAndWhatAPolicySaysOfExceptions) {
  const ScopedTempDir folder = *ScopedTempDir::Make("rharness-site-");
  const auto at = [&](const char* name) { return folder.path() / name; };
  ASSERT_TRUE(WriteFileAtomic(at("h100/baseline.jsonl"), "{one}\n{two}\n").ok());
  const auto lines = ReadBaselineRecords(at("h100/"));
  ASSERT_TRUE(lines.ok()) << lines.error().ToString();
  ASSERT_EQ(lines->size(), 2U);
  EXPECT_EQ((*lines)[1].name, "h100/2");
  EXPECT_EQ((*lines)[1].sha256, Held("", "", "{two}").sha256);
  ASSERT_TRUE(WriteFileAtomic(at("h100/baseline.jsonl"), "{one}\n{tw").ok());
  EXPECT_EQ(ReadBaselineRecords(at("h100")).error().code, ErrorCode::kIntegrity);
  ASSERT_TRUE(WriteFileAtomic(at("p.yaml"),
                              "version: 1\nwaivers:\n"
                              "  - {probes: 'jit_*', reason: r, signed_by: s, until: 2026-12-31}\n"
                              "  - {probes: 'jit_*', reason: r2, signed_by: s, until: 2027-12-31}\n"
                              "substitutes:\n"
                              "  - {recorded: A, here: B, reason: r, signed_by: s, until: "
                              "2026-12-31}\n")
                  .ok());
  const auto records = ReadPolicyRecords(at("p.yaml"));
  ASSERT_TRUE(records.ok()) << records.error().ToString();
  std::vector<std::string> names;
  for (const HeldRecord& one : *records) names.push_back(one.kind + " " + one.name);
  EXPECT_THAT(names, testing::ElementsAre("policy p.yaml", "waiver p.yaml/jit_*",
                                          "waiver p.yaml/jit_* #2", "substitute p.yaml/A -> B"));
}

}  // namespace
}  // namespace rharness
