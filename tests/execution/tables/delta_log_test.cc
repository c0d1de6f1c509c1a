// Logs by hand: what a version comes to, what can no longer be read, and what strangers write.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "tests/execution/tables/table_folder.h"

namespace rharness {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

namespace fs = std::filesystem;

using DeltaLog = TableFolder;

TEST_F(DeltaLog, AVersionIsWhatItsCommitsAddedAndDidNotRemove) {
  Begin({Add("b.parquet", 2), Add("a.parquet", 1)});
  Commit(1, {Remove("a.parquet"), Add("c.parquet", 3)});
  EXPECT_THAT(FilesOf(Read(0)), ElementsAre("1 a.parquet", "2 b.parquet"));
  EXPECT_THAT(FilesOf(Read(1)), ElementsAre("2 b.parquet", "3 c.parquet"));
}

TEST_F(DeltaLog, ActionsThatLeaveTheFilesAloneArePassedOver) {
  Begin({R"({"commitInfo":{"operation":"WRITE"}})", R"({"txn":{"appId":"x","version":3}})",
         R"({"domainMetadata":{"domain":"d","configuration":"{}","removed":false}})",
         R"({"cdc":{"path":"_change_data/x","size":1}})", R"({"somethingNew":{"a":1}})", "",
         Add("a.parquet", 1)});
  EXPECT_THAT(FilesOf(Read(0)), ElementsAre("1 a.parquet"));
}

TEST_F(DeltaLog, PathsAreUrls) {
  Begin({Add("p=x%2520y/%C3%A4.parquet", 1)});
  EXPECT_THAT(FilesOf(Read(0)), ElementsAre("1 p=x%20y/\xC3\xA4.parquet"));
}

TEST_F(DeltaLog, PathsThatLeaveTheTableAreRefused) {
  for (const char* path : {"../x.parquet", "a/../../x", "%2e%2e/x", "a%2f..%2f..%2fx", "", ".",
                           "a%00b", "a\\u0007b", "_delta_log/00000000000000000000.json", "a%zz"}) {
    Begin({Add(path, 1)});
    EXPECT_THAT(Refusal(), AllOf(HasSubstr("line 3"), Not(HasSubstr("it was read")))) << path;
  }
  for (const char* path : {"/etc/passwd", "file:///etc/passwd", "s3://bucket/x.parquet"}) {
    Begin({Add(path, 1)});
    EXPECT_THAT(Refusal(), HasSubstr("lies outside of the table")) << path;
  }
}

TEST_F(DeltaLog, ADeletionVectorsFileIsFoundByItsName) {
  // The example of PROTOCOL.md, "Deletion Vector Descriptor Schema".
  Begin({Add("a.parquet", 1,
             R"(,"deletionVector":{"storageType":"u","pathOrInlineDv":"ab^-aqEH.-t@S}K{vb[*k^",)"
             R"("offset":4,"sizeInBytes":40,"cardinality":6})")});
  const auto read = Read(0);
  ASSERT_TRUE(read.ok()) << read.error().ToString();
  EXPECT_EQ(read->files[0].deletions_path,
            "ab/deletion_vector_d2c639aa-8816-431a-aaf6-d3fe2512ff61.bin");
  EXPECT_EQ(read->files[0].deletions, "u:ab^-aqEH.-t@S}K{vb[*k^@4:40:6");
}

TEST_F(DeltaLog, DeletionVectorsElsewhereAreRefused) {
  const auto with = [](std::string_view storage, std::string_view content) {
    return Add("a.parquet", 1,
               fmt::format(R"(,"deletionVector":{{"storageType":"{}","pathOrInlineDv":"{}",)"
                           R"("sizeInBytes":40,"cardinality":6}})",
                           storage, content));
  };
  Begin({with("p", "s3://bucket/x.bin")});
  EXPECT_THAT(Refusal(), HasSubstr("lies outside of the table"));
  Begin({with("u", "../../^-aqEH.-t@S}K{vb[*k^")});
  EXPECT_THAT(Refusal(), HasSubstr("line 3"));
  Begin({with("u", "short")});
  EXPECT_THAT(Refusal(), HasSubstr("has storage 'u' and content 'short'"));
  Begin({with("i", "wi5b=000010000siXQKl0rr91000f55c8Xg0@@D72lkbi5=-{L")});
  EXPECT_EQ(Refusal(), "it was read");
}

TEST_F(DeltaLog, ContradictionsWithinACommitAreRefused) {
  Begin({Add("a.parquet", 1)});
  Commit(1, {Remove("a.parquet"), Add("a.parquet", 2)});
  EXPECT_THAT(Refusal(1), HasSubstr("one commit removes and adds the file 'a.parquet'"));
  Commit(1, {Add("a.parquet", 2), Remove("a.parquet")});
  EXPECT_THAT(Refusal(1), HasSubstr("one commit adds and removes the file 'a.parquet'"));
}

TEST_F(DeltaLog, DuplicateKeysBrokenLinesAndWrongTypesNameTheirLine) {
  Begin({R"({"add":{"path":"a","size":1,"size":2}})"});
  EXPECT_THAT(Refusal(), AllOf(HasSubstr("line 3"), HasSubstr("size")));
  Begin({Add("a", 1), R"({"add":{"path":)"});
  EXPECT_THAT(Refusal(), HasSubstr("line 4"));
  Begin({R"({"add":{"path":7,"size":1}})"});
  EXPECT_THAT(Refusal(), HasSubstr("$.add.path"));
  Begin({Add("a", -1)});
  EXPECT_THAT(Refusal(), HasSubstr("has no size"));
  Begin({"[1]"});
  EXPECT_THAT(Refusal(), HasSubstr("expected an object"));
}

TEST_F(DeltaLog, AGiantLineIsRefusedBeforeItIsParsed) {
  Begin({"{\"commitInfo\":\"" + std::string(std::size_t{17} << 20, 'x') + "\"}"});
  EXPECT_THAT(Refusal(), HasSubstr("line 3: is longer than 16777216 bytes"));
}

TEST_F(DeltaLog, ProtocolsAndFeaturesThatAreNotKnownAreNamed) {
  const auto refusal = [&](const char* protocol) {
    Commit(0, {protocol, kMetaData});
    return Refusal();
  };
  EXPECT_THAT(refusal(R"({"protocol":{"minReaderVersion":4}})"), HasSubstr("protocol version 4"));
  EXPECT_THAT(refusal(R"({"protocol":{"minReaderVersion":3,"readerFeatures":["deletionVectors",)"
                      R"("timeTravelInReverse"]}})"),
              HasSubstr("reader feature 'timeTravelInReverse', which is not known"));
  EXPECT_THAT(refusal(R"({"protocol":{"minReaderVersion":3,"readerFeatures":["catalogManaged"]}})"),
              HasSubstr("managed by a catalog (reader feature 'catalogManaged')"));
  EXPECT_EQ(refusal(R"({"protocol":{"minReaderVersion":3,"readerFeatures":["deletionVectors",)"
                    R"("columnMapping","v2Checkpoint"]}})"),
            "it was read");
}

TEST_F(DeltaLog, WithoutProtocolOrMetaDataNothingIsRead) {
  Commit(0, {kMetaData});
  EXPECT_THAT(Refusal(), HasSubstr("its log has no protocol"));
  Commit(0, {kProtocol});
  EXPECT_THAT(Refusal(), HasSubstr("its log has no metaData"));
}

TEST_F(DeltaLog, AVersionThatIsNotThereSaysWhichAre) {
  Begin({});
  Commit(1, {});
  EXPECT_THAT(Refusal(5), HasSubstr("has no version 5: its newest is 1"));
  Commit(3, {});
  EXPECT_THAT(Refusal(3), HasSubstr("version 3 can no longer be read: commit 2 is not in its log"));
  fs::remove(root() / "_delta_log/00000000000000000000.json");
  EXPECT_THAT(Refusal(1), HasSubstr("there is no checkpoint, and its log begins at 1"));
}

TEST_F(DeltaLog, ACleanedLogSaysWhereItBegins) {
  const auto checkpoint = ReadFile(
      RecordedTables() / "forms/snappy/_delta_log/00000000000000000002.checkpoint.parquet");
  ASSERT_TRUE(checkpoint.ok());
  Put("_delta_log/00000000000000000007.checkpoint.parquet", *checkpoint);
  Commit(8, {});
  EXPECT_THAT(Refusal(3), HasSubstr("version 3 can no longer be read: its log begins at 7"));
  EXPECT_EQ(Refusal(7), "it was read");
  EXPECT_EQ(Refusal(8), "it was read");
}

TEST_F(DeltaLog, LinksAndPipesInTheLogAreNotFollowedAndNotWaitedFor) {
  Begin({});
  const fs::path commit = root() / "_delta_log/00000000000000000001.json";
  fs::create_symlink("00000000000000000000.json", commit);
  EXPECT_THAT(Refusal(1), HasSubstr("00000000000000000001.json"));
  fs::remove(commit);
  ASSERT_EQ(::mkfifo(commit.c_str(), 0600), 0);
  EXPECT_THAT(Refusal(1), HasSubstr("00000000000000000001.json"));
}

TEST_F(DeltaLog, AFolderWithoutOneIsNoTable) {
  Put("x", "");
  EXPECT_THAT(Refusal(), HasSubstr("is no Delta table: it has no folder _delta_log"));
  Put("_delta_log/readme", "");
  EXPECT_THAT(Refusal(), HasSubstr("its _delta_log has no commit"));
}

TEST(DeltaSourceText, NamesTableAndVersion) {
  const auto parsed = ParseDeltaSource("delta:/data/t@h/x@12");
  ASSERT_TRUE(parsed.ok());
  EXPECT_EQ(parsed->table, "/data/t@h/x");
  EXPECT_EQ(parsed->version, 12u);
  EXPECT_EQ(ParseDeltaSource("delta:/data/t@h/x")->version, std::nullopt);
  EXPECT_EQ(DeltaSourceText("/data/t", 3), "delta:/data/t@3");
  for (const char* wrong : {"delta:", "delta:@3", "delta:t@", "delta:t@-1", "delta:t@1x", "t@1"}) {
    EXPECT_FALSE(ParseDeltaSource(wrong).ok()) << wrong;
  }
}

}  // namespace
}  // namespace rharness
