// One checkpoint in every form that Arrow writes it in: the same files come out of all of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "tests/execution/tables/table_folder.h"

namespace rharness {
namespace {

using testing::ElementsAreArray;
using testing::HasSubstr;
using testing::SizeIs;

namespace fs = std::filesystem;

constexpr char kCheckpoint[] = "00000000000000000002.checkpoint.parquet";

Result<DeltaVersion> ReadForm(const fs::path& path) {
  ASSIGN_OR_RETURN(const DeltaTable table, DeltaTable::Open(path));
  return table.Read(2);
}

class CheckpointForm : public testing::TestWithParam<const char*> {};

TEST_P(CheckpointForm, HasTheFilesThatDeltaRsSees) {
  const auto read = ReadForm(RecordedTables() / "forms" / GetParam());
  EXPECT_THAT(FilesOf(read), ElementsAreArray(FilesByDeltaRs(2)));
  EXPECT_THAT(FilesByDeltaRs(2), SizeIs(9));
}

INSTANTIATE_TEST_SUITE_P(Parquet, CheckpointForm,
                         testing::Values("uncompressed", "snappy", "zstd", "gzip", "plain",
                                         "pages_2", "small_pages", "row_groups", "delta_lengths",
                                         "delta_prefixes", "parts", "v2_parquet", "v2_json"),
                         [](const auto& form) { return std::string(form.param); });

class DamagedCheckpoint : public TableFolder {
 protected:
  void SetUp() override { Take("snappy", kCheckpoint); }
  void Take(const char* form, const std::string& name) {
    const auto bytes = ReadFile(RecordedTables() / "forms" / form / "_delta_log" / name);
    ASSERT_TRUE(bytes.ok());
    bytes_ = *bytes;
  }
  std::string RefusalOf(std::string_view bytes) {
    fs::create_directories(root() / "_delta_log");
    std::ofstream(root() / "_delta_log" / kCheckpoint, std::ios::binary) << bytes;
    return Refusal(2);
  }
  std::string bytes_;
};

TEST_F(DamagedCheckpoint, AnUnreadCompressionIsNamed) {
  Take("brotli", kCheckpoint);
  EXPECT_THAT(RefusalOf(bytes_), HasSubstr("compressed by BROTLI; expected UNCOMPRESSED, SNAPPY"));
}

TEST_F(DamagedCheckpoint, OneCutShortAnywhereIsAnErrorThatNamesIt) {
  for (std::size_t size = 0; size < bytes_.size(); size += bytes_.size() / 50) {
    EXPECT_THAT(RefusalOf(bytes_.substr(0, size)), HasSubstr(kCheckpoint)) << size;
  }
}

// Any byte may be another one: what comes out is the files, other files or an error, and nothing
// else happens.
TEST_F(DamagedCheckpoint, AChangedByteHarmsNothing) {
  Take("uncompressed", kCheckpoint);
  std::size_t refused = 0;
  for (std::size_t at = 0; at < bytes_.size(); at += 13) {
    std::string bytes = bytes_;
    bytes[at] = static_cast<char>(bytes[at] ^ 0xff);
    refused += RefusalOf(bytes) == "it was read" ? 0 : 1;
  }
  EXPECT_GT(refused, 100u);
}

TEST_F(DamagedCheckpoint, APartThatIsMissingMakesItNone) {
  const fs::path parts = RecordedTables() / "forms/parts/_delta_log";
  for (const char* part : {"1", "3"}) {
    const std::string name =
        fmt::format("00000000000000000002.checkpoint.000000000{}.0000000003.parquet", part);
    const auto bytes = ReadFile(parts / name);
    ASSERT_TRUE(bytes.ok());
    Put("_delta_log/" + name, *bytes);
  }
  EXPECT_THAT(Refusal(2), HasSubstr("has no commit"));
}

TEST_F(DamagedCheckpoint, ASidecarOutsideOfItsFolderIsRefused) {
  Put("_delta_log/00000000000000000002.checkpoint.80a083e8-7026-4e79-81be-64bd76c43a11.json",
      fmt::format("{}\n{}\n{}\n", kProtocol, kMetaData,
                  R"({"sidecar":{"path":"../../../etc/x.parquet","sizeInBytes":1}})"));
  EXPECT_THAT(Refusal(2), HasSubstr("names the sidecar '../../../etc/x.parquet'"));
}

}  // namespace
}  // namespace rharness
