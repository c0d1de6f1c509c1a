// A log in its folder: what is added, what of it is found again, and what nobody can change unseen.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <sstream>

#include "harness/base/folder_lock.h"
#include "harness/trust/audit/log_view.h"
#include "tests/trust/audit/audited.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

std::vector<std::string> LinesOf(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}
std::string Joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

TEST_F(AuditedLog, HasALineForEachRecordInItsOneSpelling) {
  MustAppend({Held("manifest", "mlp-1", "abc")});
  EXPECT_EQ(Text(kEntriesFile),
            "{\"index\":0,\"kind\":\"manifest\",\"name\":\"mlp-1\",\"sha256\":"
            "\"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad\","
            "\"time\":\"2026-11-25T08:00:00.000Z\"}\n");
  const auto checked = Check();
  ASSERT_TRUE(checked.ok()) << checked.error().ToString();
  EXPECT_EQ(checked->tree.root, LeafHash(LinesOf(Text(kEntriesFile))[0]));
  ASSERT_EQ(checked->heads.size(), 1U);
  EXPECT_EQ(checked->heads[0].head.tree, checked->tree);
}

TEST_F(AuditedLog, TakesOnlyWhatIsNewAndSignsAgainOnlyThen) {
  MustAppend(Manifests(3));
  const std::string lines = Text(kEntriesFile), heads = Text(kHeadsFile);
  const auto again = Append(Manifests(3));
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(again->added, 0U);
  EXPECT_FALSE(again->signed_now);
  EXPECT_EQ(*again->head + "\n", heads);
  EXPECT_EQ(Text(kEntriesFile), lines);
  const auto more = Append(Manifests(5));
  ASSERT_TRUE(more.ok());
  EXPECT_EQ(more->added, 2U);
  EXPECT_EQ(more->tree.size, 5U);
  EXPECT_TRUE(Text(kEntriesFile).starts_with(lines));
  EXPECT_TRUE(Text(kHeadsFile).starts_with(heads));
  EXPECT_EQ(LinesOf(Text(kHeadsFile)).size(), 2U);
  EXPECT_TRUE(Check().ok());
  EXPECT_FALSE(fs::exists(Log() / kAppendFile));
}

TEST_F(AuditedLog, DoesNotGoBackInTimeForAClockThatIsSetByLittle) {
  MustAppend(Manifests(1));
  clock_ = FakeClock(*ParseTime("2026-11-25T07:55:00Z"));
  MustAppend(Manifests(2));
  EXPECT_THAT(LinesOf(Text(kEntriesFile))[1], HasSubstr("2026-11-25T08:00:00.000Z"));
  EXPECT_TRUE(Check().ok());
}

// What was entered and signed while a clock was ahead closes the log to nobody.
TEST_F(AuditedLog, GoesOnAtTheTimeThatItIsAfterAClockThatWasAhead) {
  clock_ = FakeClock(*ParseTime("2026-12-25T08:00:00Z"));
  MustAppend(Manifests(1));
  clock_ = FakeClock(*ParseTime("2026-11-25T08:00:00Z"));
  testing::internal::CaptureStderr();
  MustAppend(Manifests(2));
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("a clock was ahead"));
  EXPECT_THAT(LinesOf(Text(kEntriesFile))[1], HasSubstr("2026-11-25T08:00:00.000Z"));
  testing::internal::CaptureStderr();
  EXPECT_TRUE(Check().ok());
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("a clock went back"));
  MustAppend(Manifests(3));
  EXPECT_TRUE(Check().ok());
}

TEST_F(AuditedLog, ClearsWhatAKilledAppendHadNotFinishedAndNothingElse) {
  MustAppend(Manifests(1));
  Put(".rharness-a1B2c3", "half");
  Put(".rharness-a1B2c34", "another program's");
  Put(".rharness-a1B2c.", "another program's");
  Put("x.rharness-a1B2c3", "another program's");
  fs::create_directory(Log() / ".rharness-folder");
  fs::create_symlink("entries.jsonl", Log() / ".rharness-linked");
  MustAppend(Manifests(2));
  EXPECT_FALSE(fs::exists(Log() / ".rharness-a1B2c3"));
  for (const char* kept :
       {".rharness-a1B2c34", ".rharness-a1B2c.", "x.rharness-a1B2c3", ".rharness-folder"}) {
    EXPECT_TRUE(fs::exists(Log() / kept)) << kept;
  }
  EXPECT_TRUE(fs::is_symlink(Log() / ".rharness-linked"));
  EXPECT_TRUE(Check().ok());
}

TEST_F(AuditedLog, HasNamesThatNeedEscapes) {
  MustAppend({Held("waiver", "policy.yaml/\"jit\"\\*", "a"), Held("waiver", "größe/\t", "b")});
  EXPECT_TRUE(Check().ok());
  EXPECT_EQ(Append({Held("waiver", "\xff", "c")}).error().code, ErrorCode::kInvalidInput);
  EXPECT_TRUE(Check().ok());
  MustAppend({Held("waiver", "policy.yaml/\"jit\"\\*", "a")});  // mends
  EXPECT_FALSE(fs::exists(Log() / kAppendFile));
}

// Whatever single bit of the lines is another one: the line is named.
TEST_F(AuditedLog, NamesTheEntryOfWhichAnyBitIsChanged) {
  MustAppend(Manifests(6));
  const std::string whole = Text(kEntriesFile);
  std::uint64_t line = 0;
  for (std::size_t at = 0; at < whole.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string changed = whole;
      changed[at] = static_cast<char>(changed[at] ^ (1 << bit));
      Put(kEntriesFile, changed);
      const auto checked = Check();
      ASSERT_FALSE(checked.ok()) << at << " " << bit;
      ASSERT_EQ(checked.error().code, ErrorCode::kIntegrity) << checked.error().ToString();
      // The last line must be one at all before any is read; a lost break spoils the line before.
      if (bad_) {
        ASSERT_EQ(bad_->index, line) << at << " " << bit << checked.error().ToString();
      } else {
        ASSERT_GE(line, 4U) << at << " " << bit << checked.error().ToString();
      }
    }
    if (whole[at] == '\n') ++line;
  }
}

TEST_F(AuditedLog, FindsAnyChangedBitOfItsHashes) {
  MustAppend(Manifests(5));
  const std::string whole = Text(kNodesFile);
  for (std::size_t at = 0; at < whole.size(); ++at) {
    std::string changed = whole;
    changed[at] = static_cast<char>(changed[at] ^ (1 << (at % 8)));
    Put(kNodesFile, changed);
    const auto checked = Check();
    ASSERT_FALSE(checked.ok()) << at;
    ASSERT_TRUE(bad_.has_value()) << checked.error().ToString();
    std::uint64_t leaf = 0;
    while (NodesOf(leaf + 1) * 32 <= at) ++leaf;
    ASSERT_EQ(bad_->index, leaf) << at;
  }
}

TEST_F(AuditedLog, NamesTheFirstEntryBehindWhichOneIsGoneMovedOrPutIn) {
  MustAppend(Manifests(7));
  const std::vector<std::string> lines = LinesOf(Text(kEntriesFile));
  for (std::size_t i = 0; i < lines.size(); ++i) {
    std::vector<std::string> gone = lines;
    gone.erase(gone.begin() + static_cast<std::ptrdiff_t>(i));
    Put(kEntriesFile, Joined(gone));
    const auto removed = Check();
    ASSERT_FALSE(removed.ok()) << i;
    ASSERT_TRUE(bad_.has_value()) << removed.error().ToString();
    EXPECT_EQ(bad_->index, i) << removed.error().ToString();
    for (std::size_t j = i + 1; j < lines.size(); ++j) {
      std::vector<std::string> moved = lines;
      std::swap(moved[i], moved[j]);
      Put(kEntriesFile, Joined(moved));
      const auto swapped = Check();
      ASSERT_FALSE(swapped.ok()) << i << " " << j;
      // A last line of another index makes the file one of another length.
      if (bad_) {
        EXPECT_EQ(bad_->index, i) << swapped.error().ToString();
      }
    }
    std::vector<std::string> twice = lines;
    twice.insert(twice.begin() + static_cast<std::ptrdiff_t>(i), lines[i]);
    Put(kEntriesFile, Joined(twice));
    const auto added = Check();
    ASSERT_FALSE(added.ok()) << i;
    ASSERT_TRUE(bad_.has_value()) << added.error().ToString();
    EXPECT_EQ(bad_->index, i + 1) << added.error().ToString();
  }
}

TEST_F(AuditedLog, FindsWhatWasRenumberedAndHashedAnewByItsHeads) {
  MustAppend(Manifests(4));
  MustAppend(Manifests(9));
  const std::string first_head = LinesOf(Text(kHeadsFile))[0];
  std::vector<HeldRecord> others = Manifests(9);
  others[6].name = "another";
  fs::remove_all(Log());
  const fs::path log = Log();
  // The same beginning, by somebody who has all of the folder but not the key of the heads.
  MustAppend({others.begin(), others.begin() + 4}, false);
  MustAppend(others, false);
  ASSERT_TRUE(Check().ok());
  kept_ = {{first_head, "kept"}};
  EXPECT_TRUE(Check().ok());  // the first four are what they were
  others[2].name = "another, too";
  fs::remove_all(Log());
  MustAppend(others, false);
  const auto checked = Check();
  ASSERT_FALSE(checked.ok());
  EXPECT_THAT(checked.error().message, HasSubstr("of entries 0 to 3 at least one was changed"));
  EXPECT_EQ(bad_->index, 0U);
}

TEST_F(AuditedLog, NamesTheFirstEntryThatIsGoneBehindAHead) {
  MustAppend(Manifests(8));
  kept_ = {{LinesOf(Text(kHeadsFile))[0], "kept"}};
  fs::remove_all(Log());
  MustAppend(Manifests(6), false);
  const auto checked = Check();
  ASSERT_FALSE(checked.ok());
  EXPECT_THAT(checked.error().message,
              HasSubstr("over 8 entries, and the log has 6: entries 6 to 7 were removed"));
  EXPECT_EQ(bad_->index, 6U);
}

TEST_F(AuditedLog, IsHeldToTheRecordsThatItIsAbout) {
  MustAppend(Manifests(5));
  std::vector<HeldRecord> records = Manifests(5);
  EXPECT_TRUE(Check(&records).ok());
  records[3] = Held("manifest", "run-3", "another text");
  auto checked = Check(&records);
  ASSERT_FALSE(checked.ok());
  EXPECT_THAT(checked.error().message, HasSubstr("entry 3 (manifest run-3) was changed"));
  EXPECT_EQ(bad_->name, "run-3");
  records.erase(records.begin() + 1);
  checked = Check(&records);
  ASSERT_FALSE(checked.ok());
  EXPECT_THAT(checked.error().message, HasSubstr("entry 1 (manifest run-1) is not there any more"));
}

TEST_F(AuditedLog, GetsNothingBehindWhatWasChanged) {
  MustAppend(Manifests(3));
  std::string lines = Text(kEntriesFile);
  lines[lines.find("run-1")] = 'R';
  Put(kEntriesFile, lines);
  EXPECT_EQ(Append(Manifests(4)).error().code, ErrorCode::kIntegrity);
  EXPECT_EQ(Text(kEntriesFile), lines);
}

TEST_F(AuditedLog, IsWhatItWasWhileAnAppendIsUnderWayAndAfterOneThatWasCutShort) {
  MustAppend(Manifests(3));
  const std::string entries = Text(kEntriesFile), nodes = Text(kNodesFile);
  ASSERT_TRUE(WriteAppendStart(Log(), {3, entries.size()}).ok());
  for (const char* more : {"", "{\"ind", "{\"index\":3,\"kind\":\"manifest\",\"na\n\n"}) {
    Put(kEntriesFile, entries + more);
    Put(kNodesFile, nodes + "half a hash");
    const auto checked = Check();
    ASSERT_TRUE(checked.ok()) << checked.error().ToString();
    EXPECT_EQ(checked->tree.size, 3U);
  }
  const auto done = Append(Manifests(4));
  ASSERT_TRUE(done.ok()) << done.error().ToString();
  EXPECT_TRUE(done->mended);
  EXPECT_EQ(done->added, 1U);
  EXPECT_TRUE(Check().ok());
  EXPECT_TRUE(Text(kEntriesFile).starts_with(entries));
}

TEST_F(AuditedLog, IsNotCutByAMarkThatSomebodyPutThere) {
  MustAppend(Manifests(3));
  const std::size_t two = LinesOf(Text(kEntriesFile))[0].size() * 2 + 2;
  ASSERT_TRUE(WriteAppendStart(Log(), {2, two}).ok());
  const auto checked = Check();  // the head is over three
  ASSERT_TRUE(checked.ok()) << checked.error().ToString();
  EXPECT_EQ(checked->tree.size, 3U);
  ASSERT_TRUE(WriteAppendStart(Log(), {3, two}).ok());
  EXPECT_EQ(Check().error().code, ErrorCode::kIntegrity);
  Put(kAppendFile, "{}");
  EXPECT_EQ(Check().error().code, ErrorCode::kIntegrity);
}

TEST_F(AuditedLog, TakesOneAppendAtATime) {
  MustAppend(Manifests(1));
  const auto lock = FolderLock::Take(Log());
  ASSERT_TRUE(lock.ok());
  EXPECT_EQ(Append(Manifests(2)).error().code, ErrorCode::kTimeout);
}

TEST_F(AuditedLog, FindsEachEntryByItsIndex) {
  std::vector<HeldRecord> records = Manifests(300);
  for (std::size_t i = 0; i < records.size(); ++i) records[i].name.append(i * i % 97, 'x');
  records[7].name.append(9000, 'y');
  MustAppend(records);
  const auto log = OpenLog(Log());
  ASSERT_TRUE(log.ok());
  for (std::uint64_t i = 0; i < records.size(); ++i) {
    const auto line = log->entries.LineAt(i);
    ASSERT_TRUE(line.ok()) << i;
    EXPECT_EQ(ParseEntry(*line, "")->name, records[i].name);
  }
  EXPECT_FALSE(log->entries.LineAt(300).ok());
}

}  // namespace
}  // namespace rharness
