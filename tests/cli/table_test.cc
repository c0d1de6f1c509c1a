// Runs that read a Delta Lake table: what is recorded of it, and what a drill makes of its later
// life.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/execution/tables/delta_table.h"
#include "tests/cli/drill_program.h"

namespace rharness {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

namespace fs = std::filesystem;

// Its trainer's accuracy is the table's newest version, and how many data files lie there.
class RunOnTable : public DrillProgram {
 protected:
  void SetUp() override {
    fs::copy(fs::path(RHARNESS_SOURCE_DIR) / "tests/execution/tables/recorded/table", At("table"),
             fs::copy_options::recursive);
    Write("newest.sh",
          "ls table/_delta_log/*.json | tail -n 1 | sed 's/.*0\\([0-9]\\).json/\\1/' > n\n"
          "printf '{\"metrics\": {\"accuracy\": %s}}' \"$(cat n)\" > metrics.json\n");
  }
  void RecordTable(const std::string& data, std::vector<std::string> command = {}) {
    if (command.empty()) command = {"sh", "newest.sh"};
    Record("a", {"--data", data, "--code-file", "newest.sh"}, command);
  }
  Manifest Recorded() const { return *LoadManifest(At("runs/a.json")); }
  DataItem TableOf(const Manifest& manifest) const { return manifest.data.at(1); }
  void Append(int version) const {
    Write(fmt::format("table/_delta_log/{:020}.json", version),
          R"({"add":{"path":"new.parquet","size":1,"partitionValues":{},"dataChange":true}})");
    Write("table/new.parquet", "x");
  }
  // A file that the table's newest version has.
  fs::path AFile() const {
    const auto version = DeltaTable::Open(At("table"))->Read(5);
    return version.ok() ? At("table/" + version->files[0].path) : fs::path();
  }
};

TEST_F(RunOnTable, ARecordPinsTheVersionAndItsContent) {
  RecordTable("t=delta:table@4");
  const DataItem table = TableOf(Recorded());
  EXPECT_EQ(table.name, "t");
  EXPECT_EQ(table.kind, DataKind::kDelta);
  EXPECT_EQ(table.path, "table");
  EXPECT_EQ(table.source, "delta:table@4");
  EXPECT_EQ(table.sha256.size(), 64u);
  EXPECT_THAT(
      Recorded().notes,
      testing::Contains(HasSubstr("version 4 is recorded, and the table is now at version 5")));
}

TEST_F(RunOnTable, ARerunHasTheRecordedVersionAsItsNewest) {
  RecordTable("delta:table");
  EXPECT_EQ(TableOf(Recorded()).source, "delta:table@5");
  EXPECT_THAT(Recorded().notes, IsEmpty());
  Add();
  Append(6);
  const ProcessResult drill = Drill();
  EXPECT_EQ(drill.outcome.exit_code, 0) << drill.stdout_text << drill.stderr_text;
  EXPECT_THAT(drill.stdout_text, HasSubstr("1 identical"));
}

// What was appended since takes nothing away; a file that is gone does.
TEST_F(RunOnTable, CanBeHadWhileTheVersionsFilesAreThere) {
  const auto available = [this] {
    return Run({kRharness, "--verbose", "check", "--available", "--verify", "runs/a.json"});
  };
  RecordTable("t=delta:table");
  Append(6);
  const ProcessResult had = available();
  EXPECT_EQ(had.outcome.exit_code, 0) << had.stdout_text << had.stderr_text;
  EXPECT_THAT(had.stdout_text, HasSubstr(": had: data t: at "));
  EXPECT_THAT(had.stdout_text, HasSubstr("table, with its hash"));
  fs::remove(AFile());
  const ProcessResult gone = available();
  EXPECT_EQ(gone.outcome.exit_code, 1) << gone.stdout_text;
  EXPECT_THAT(gone.stdout_text, HasSubstr(": gone: data t: "));
}

TEST_F(RunOnTable, AVacuumedFileAndARewrittenHistoryAreNotComparable) {
  RecordTable("delta:table");
  Add();
  const fs::path file = AFile();
  ASSERT_FALSE(file.empty());
  fs::rename(file, At("kept"));
  EXPECT_EQ(Drill().outcome.exit_code, 3);
  ASSERT_FALSE(StoredReport().runs.empty());
  EXPECT_THAT(EvidenceOf("a").obstacle, HasSubstr("version 5 can no longer be read: its file"));
  EXPECT_EQ(EvidenceOf("a").obstacle_layer, Layer::kData);
  fs::rename(At("kept"), file);
  fs::remove_all(At("out"));
  Append(5);
  EXPECT_EQ(Drill().outcome.exit_code, 3);
  EXPECT_THAT(EvidenceOf("a").obstacle, HasSubstr("data 'table' is not the recorded one"));
}

TEST_F(RunOnTable, ACacheKeepsTheVersionBeyondAVacuum) {
  RecordTable("delta:table");
  Add();
  const auto fetch = [&](const std::vector<std::string>& options) {
    std::vector<std::string> argv = {kRharness, "fetch", "--cache", "cache", "runs"};
    argv.insert(argv.end(), options.begin(), options.end());
    return Run(argv);
  };
  EXPECT_THAT(fetch({}).stdout_text, HasSubstr("2 in place"));
  EXPECT_THAT(fetch({"--copy"}).stdout_text, HasSubstr("2 fetched"));
  fs::remove(AFile());
  EXPECT_EQ(Drill({"--data-cache", "cache"}).outcome.exit_code, 0);
  fs::remove_all(At("cache"));
  const ProcessResult gone = fetch({});
  EXPECT_EQ(gone.outcome.exit_code, 3);
  EXPECT_THAT(gone.stdout_text, HasSubstr("table of a: nowhere"));
  EXPECT_THAT(gone.stdout_text, HasSubstr("version 5 can no longer be read"));
}

TEST_F(RunOnTable, ATableThatGainsAVersionDuringARecordIsFound) {
  Write("grow.sh",
        "sh newest.sh\n"
        "echo '{\"commitInfo\":{}}' > table/_delta_log/00000000000000000006.json\n");
  const auto record = [&](const std::string& data) {
    return Run({kRharness, "record", "--overwrite", "--out", "runs/a.json", "--data", data, "--",
                "sh", "grow.sh"});
  };
  const ProcessResult unstated = record("delta:table");
  EXPECT_EQ(unstated.outcome.exit_code, 5) << unstated.stderr_text;
  EXPECT_THAT(unstated.stderr_text, HasSubstr("came from version 5 to 6, and no version was "
                                              "stated"));
  fs::remove(At("table/_delta_log/00000000000000000006.json"));
  const ProcessResult stated = record("delta:table@5");
  EXPECT_EQ(stated.outcome.exit_code, 0) << stated.stderr_text;
  EXPECT_THAT(Recorded().notes,
              testing::Contains(HasSubstr("the run itself chooses what it reads")));
}

TEST_F(RunOnTable, WhatCannotBePinnedIsRefusedBeforeTheRun) {
  const auto record = [&](const std::string& data) {
    const ProcessResult result =
        Run({kRharness, "record", "--out", "runs/a.json", "--data", data, "--", "touch", "ran"});
    EXPECT_FALSE(fs::exists(At("ran"))) << data;
    return result.stderr_text;
  };
  EXPECT_THAT(record("delta:table@9"), HasSubstr("has no version 9: its newest is 5"));
  EXPECT_THAT(record("delta:table@x"), HasSubstr("expected delta:FOLDER@VERSION"));
  EXPECT_THAT(record("delta:elsewhere"), HasSubstr("elsewhere"));
}

// Only files that are larger than what is copied are linked; here the limit is met by a sparse one.
TEST_F(RunOnTable, ALargeTableIsLinkedAndAReplacedLinkIsSeen) {
  Write("table/_delta_log/00000000000000000006.json",
        R"({"add":{"path":"big.bin","size":70000000,"partitionValues":{}}})");
  Write("table/big.bin", "");
  fs::resize_file(At("table/big.bin"), 70'000'000);
  RecordTable("delta:table@6");
  Add();
  Append(7);
  EXPECT_EQ(Drill().outcome.exit_code, 0);
  fs::remove_all(At("out"));
  fs::remove_all(At("runs"));
  fs::remove(At("runs.db"));
  Write("newest.sh",
        "printf '{\"metrics\": {\"accuracy\": 1}}' > metrics.json\n"
        "if [ -L table/big.bin ]; then rm table/big.bin; echo > table/big.bin; fi\n");
  RecordTable("delta:table@6");
  Add();
  EXPECT_EQ(Drill().outcome.exit_code, 3);
  ASSERT_FALSE(EvidenceOf("a").remarks.empty());
  EXPECT_THAT(EvidenceOf("a").remarks[0].observed, HasSubstr("a link to one of its files"));
}

}  // namespace
}  // namespace rharness
