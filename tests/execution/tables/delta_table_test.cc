// A table that delta-rs wrote: its versions, their digests and copies, and what happens to them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include "harness/base/digest.h"
#include "tests/execution/tables/table_folder.h"
#include "tests/sanitized.h"

namespace rharness {
namespace {

using testing::ElementsAreArray;
using testing::HasSubstr;

namespace fs = std::filesystem;

class RealTable : public TableFolder {
 protected:
  void SetUp() override {
    fs::copy(RecordedTables() / "table", root(), fs::copy_options::recursive);
  }
  std::string HashRefusal(std::uint64_t version) const {
    const auto hash = Hash(version);
    return hash.ok() ? "it was hashed" : hash.error().ToString();
  }
};

TEST_F(RealTable, EveryVersionHasTheFilesThatDeltaRsSees) {
  for (int version = 0; version < 6; ++version) {
    EXPECT_THAT(FilesOf(Read(static_cast<std::uint64_t>(version))),
                ElementsAreArray(FilesByDeltaRs(version)))
        << version;
  }
}

TEST_F(RealTable, WithoutTheCommitsBeforeItsCheckpointLaterVersionsAreTheSame) {
  const auto before = Hash(4);
  ASSERT_TRUE(before.ok()) << before.error().ToString();
  for (int version = 0; version < 3; ++version) {
    fs::remove(root() / fmt::format("_delta_log/{:020}.json", version));
  }
  EXPECT_EQ(Hash(4)->sha256, before->sha256);
  EXPECT_THAT(Refusal(1), HasSubstr("version 1 can no longer be read: its log begins at 2"));
}

// What the header says of the digest, computed once more.
TEST_F(TableFolder, TheDigestIsWhatItsHeaderSays) {
  Begin({Add("a.parquet", 3)});
  Put("a.parquet", "abc");
  Sha256 sha;
  const auto text = [&](std::string_view part) {
    sha.UpdateU64(part.size());
    sha.Update(part);
  };
  text("rharness.delta/v1");
  text("5f7a");
  sha.UpdateU64(0);
  sha.UpdateU64(1);
  text("a.parquet");
  sha.UpdateU64(3);
  text("");
  text(Sha256HexOf("abc"));
  const auto hash = Hash(0);
  ASSERT_TRUE(hash.ok()) << hash.error().ToString();
  EXPECT_EQ(hash->sha256, ToHex(sha.Finish()));
  EXPECT_EQ(hash->size_bytes, 3u);
  EXPECT_EQ(hash->files, 1u);
}

TEST_F(RealTable, WhatIsAppendedLeavesAVersionsDigestAlone) {
  const auto before = Hash(5);
  Commit(6, {Add("new.parquet", 1)});
  Put("new.parquet", "x");
  EXPECT_EQ(Hash(5)->sha256, before->sha256);
  EXPECT_NE(Hash(6)->sha256, before->sha256);
}

TEST_F(RealTable, AChangedAGoneAndACutFileAreSeen) {
  const auto files = Read(5)->files;
  const fs::path file = root() / files[0].path;
  const auto before = Hash(5);
  std::string bytes = *ReadFile(file);
  bytes[200] = static_cast<char>(bytes[200] ^ 1);
  ASSERT_TRUE(WriteFileAtomic(file, bytes).ok());
  EXPECT_NE(Hash(5)->sha256, before->sha256);
  bytes.pop_back();
  ASSERT_TRUE(WriteFileAtomic(file, bytes).ok());
  EXPECT_THAT(HashRefusal(5), HasSubstr("version 5 of the table says"));
  fs::remove(file);
  EXPECT_THAT(HashRefusal(5), HasSubstr("version 5 can no longer be read: its file '" +
                                        files[0].path + "' is missing (vacuumed?)"));
}

TEST_F(RealTable, ALinkInPlaceOfAFileIsNotFollowed) {
  const auto files = Read(5)->files;
  const fs::path file = root() / files[0].path;
  fs::rename(file, beside() / "moved");
  fs::create_symlink(beside() / "moved", file);
  EXPECT_THAT(HashRefusal(5), HasSubstr(files[0].path));
  EXPECT_NE(HashRefusal(5), "it was hashed");
}

TEST_F(RealTable, RewrittenHistoryHasAnotherDigest) {
  const auto before = Hash(1);
  fs::remove(root() / "_delta_log/00000000000000000001.json");
  Commit(1, {});
  EXPECT_NE(Hash(1)->sha256, before->sha256);
}

TEST_F(RealTable, ACopyIsATableWhoseNewestVersionItIs) {
  const auto table = DeltaTable::Open(root());
  const fs::path to = beside() / "copy";
  for (const std::uint64_t version : {1, 3, 4}) {
    const auto read = table->Read(version);
    const Status wrote = table->WriteTo(*read, to, DeltaTable::Files::kCopied);
    ASSERT_TRUE(wrote.ok()) << wrote.error().ToString();
    EXPECT_EQ(DeltaTable::Open(to)->newest(), version);
    EXPECT_EQ(HashAt(to, version)->sha256, Hash(version)->sha256);
    fs::remove_all(to);
  }
}

TEST_F(RealTable, LinksOfACopyLeadToItsFiles) {
  const auto table = DeltaTable::Open(root());
  const auto read = table->Read(4);
  const fs::path to = beside() / "copy";
  ASSERT_TRUE(table->WriteTo(*read, to, DeltaTable::Files::kLinked).ok());
  for (const DeltaFile& file : read->files) {
    EXPECT_EQ(fs::read_symlink(to / file.path), root() / file.path);
  }
  EXPECT_TRUE(fs::is_regular_file(
      fs::symlink_status(to / "_delta_log/00000000000000000002.checkpoint.parquet")));
}

TEST_F(TableFolder, ADeletionVectorsFileCounts) {
  const std::string vector = "deletion_vector_d2c639aa-8816-431a-aaf6-d3fe2512ff61.bin";
  Begin({Add("a.parquet", 3,
             R"(,"deletionVector":{"storageType":"u","pathOrInlineDv":"^-aqEH.-t@S}K{vb[*k^",)"
             R"("offset":4,"sizeInBytes":40,"cardinality":6})")});
  Put("a.parquet", "abc");
  EXPECT_THAT(Hash(0).error().ToString(), HasSubstr("its file '" + vector + "' is missing"));
  Put(vector, "one");
  const std::string one = Hash(0)->sha256;
  Put(vector, "two");
  EXPECT_NE(Hash(0)->sha256, one);
}

TEST_F(TableFolder, AHundredThousandFilesTakeLittleMemory) {
  std::vector<std::string> lines;
  const std::string stats = R"(,"stats":"{\"numRecords\":1}")" + std::string();
  for (int i = 0; i < 100'000; ++i) {
    lines.push_back(
        Add(fmt::format("part-{:05}-5f146aa4-dd9b-4c31-9075-9b6d433f1815.parquet", i), i, stats));
  }
  Begin(lines);
  lines = {};
  rusage before{};
  ::getrusage(RUSAGE_SELF, &before);
  const auto read = Read(0);
  rusage after{};
  ::getrusage(RUSAGE_SELF, &after);
  ASSERT_TRUE(read.ok()) << read.error().ToString();
  EXPECT_EQ(read->files.size(), 100'000u);
  if (kSanitized) return;
  EXPECT_LT(after.ru_maxrss - before.ru_maxrss, 64 * 1024) << "KiB";
}

}  // namespace
}  // namespace rharness
