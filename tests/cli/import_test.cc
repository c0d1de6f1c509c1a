// import, complete, history add, drill: from another tool's record to a verdict.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/base/digest.h"
#include "harness/records/manifest/manifest.h"
#include "tests/cli/drill_program.h"

namespace rharness {
namespace {

using testing::HasSubstr;
using testing::Not;

class Import : public DrillProgram {
 protected:
  Import() {
    Write("records.json", R"([
      {"run_id": "one", "code": {"repo": "."}, "data": {"value": "value"},
       "hyperparams": {"lr": 0.1}, "metrics": {"accuracy": 0.75}},
      {"code": {}},
      {"run_id": "two", "seeds": {"init": 1}}])");
  }
  ProcessResult ImportRecords(std::vector<std::string> options = {}) const {
    std::vector<std::string> argv = {kRharness, "import", "records.json", "--out", "runs"};
    argv.insert(argv.end(), options.begin(), options.end());
    return Run(argv);
  }
  ProcessResult Complete(std::vector<std::string> options) const {
    std::vector<std::string> argv = {kRharness, "import", "--complete", "runs/record-one.json"};
    argv.insert(argv.end(), options.begin(), options.end());
    return Run(argv);
  }
  Manifest First() const {
    auto manifest = LoadManifest(At("runs/record-one.json"));
    EXPECT_TRUE(manifest.ok()) << manifest.error().ToString();
    return manifest.ok() ? *manifest : Manifest();
  }
};

TEST_F(Import, CountsWorthNamesWhatBlocksAndWhatHasNoId) {
  const ProcessResult result = ImportRecords();
  EXPECT_EQ(result.outcome.exit_code, 2);  // one record has no id
  EXPECT_THAT(result.stderr_text, HasSubstr("records.json: $[1]: no run_id"));
  EXPECT_THAT(result.stdout_text, HasSubstr("2 runs: 2 written, 0 unchanged"));
  EXPECT_THAT(result.stdout_text, HasSubstr("2  command: missing; expected a program\n"
                                            "        rharness import --complete FILE -- PROGRAM"));
  EXPECT_THAT(result.stdout_text, HasSubstr("hyperparameters                 1        0        1"));
}

TEST_F(Import, IsTheSameWhenItIsDoneAgainAndWritesOverNothing) {
  ImportRecords();
  const std::string before = Read(At("runs/record-one.json"));
  EXPECT_THAT(ImportRecords().stdout_text, HasSubstr("2 runs: 0 written, 2 unchanged"));
  Write("records.json", R"({"run_id": "one", "seeds": {"init": 2}})");
  const ProcessResult changed = ImportRecords();
  EXPECT_EQ(changed.outcome.exit_code, 2);
  EXPECT_THAT(changed.stderr_text, HasSubstr("runs/record-one.json: there is another record"));
  EXPECT_EQ(Read(At("runs/record-one.json")), before);
  EXPECT_EQ(ImportRecords({"--overwrite"}).outcome.exit_code, 0);
  EXPECT_NE(Read(At("runs/record-one.json")), before);
}

TEST_F(Import, WritesNothingInADryRun) {
  EXPECT_THAT(ImportRecords({"--dry-run"}).stdout_text, HasSubstr("2 would be written"));
  EXPECT_FALSE(std::filesystem::exists(At("runs")));
}

TEST_F(Import, TakesTheRunsThatAreAskedForAndNamesTheFamily) {
  const ProcessResult result = ImportRecords({"--run", "one", "--family", "resnet", "--json"});
  EXPECT_THAT(result.stdout_text, HasSubstr("\"runs\": 1"));
  EXPECT_EQ(First().family, "resnet");
}

TEST_F(Import, SaysWhatCanBeImportedWhereNothingCan) {
  Write("other.json", R"({"loss": [1, 2]})");
  const ProcessResult none = Run({kRharness, "import", "other.json", "--out", "runs"});
  EXPECT_EQ(none.outcome.exit_code, 2);
  EXPECT_THAT(none.stderr_text,
              HasSubstr("holds no records that can be imported; expected one of"));
  const ProcessResult gone = Run({kRharness, "import", "gone", "--out", "runs"});
  EXPECT_THAT(gone.stderr_text, HasSubstr("gone: there is no such file or folder"));
  const ProcessResult kind =
      Run({kRharness, "import", "records.json", "--from", "x", "--out", "r"});
  EXPECT_THAT(kind.stderr_text, HasSubstr("there is no kind 'x'"));
}

TEST_F(Import, EndsInAVerdictOnceItIsCompleted) {
  ImportRecords();
  const ProcessResult completed = Complete({"--data",
                                            "value=value",
                                            "--here",
                                            "--seed",
                                            "init=1",
                                            "--code-file",
                                            "train.sh",
                                            "--started",
                                            "2026-01-01T00:00:00Z",
                                            "--ended",
                                            "2026-01-01T00:00:01Z",
                                            "--metrics",
                                            "metrics.json",
                                            "--metric",
                                            "accuracy,direction=higher,margin=0.01,primary",
                                            "--root",
                                            ".",
                                            "--",
                                            "sh",
                                            "train.sh",
                                            At("").string()});
  ASSERT_EQ(completed.outcome.exit_code, 0) << completed.stderr_text;
  EXPECT_THAT(completed.stdout_text, HasSubstr("can be rerun"));
  std::filesystem::remove(At("runs/record-two.json"));
  Add();
  const ProcessResult drill = Drill();
  EXPECT_EQ(drill.outcome.exit_code, 0) << drill.stderr_text;
  EXPECT_EQ(Calls(), 1);
  EXPECT_THAT(drill.stdout_text, HasSubstr("1 identical"));
  Write("value", "0.5");  // the data of then are gone
  std::filesystem::remove_all(At("out"));
  EXPECT_THAT(Drill().stdout_text, HasSubstr("1 not comparable"));
}

TEST_F(Import, SaysWhatWouldFillWhatIsLeftAfterACompletion) {
  ImportRecords();
  const ProcessResult completed = Complete({"--seed", "init=1"});
  EXPECT_EQ(completed.outcome.exit_code, 0) << completed.stderr_text;
  EXPECT_THAT(completed.stdout_text,
              HasSubstr("rharness import --complete runs/record-one.json --metrics PATH"));
}

TEST_F(Import, HoldsWhatIsSaidAfterwardsToBeAHint) {
  ImportRecords();
  EXPECT_EQ(Complete({"--seed", "init=7", "--data", "value"}).outcome.exit_code, 0);
  const Manifest manifest = First();
  ASSERT_TRUE(manifest.origin);
  int hints = 0;
  for (const FieldOrigin& field : manifest.origin->fields) {
    if (field.path == "seeds") ADD_FAILURE() << "is still said to be missing";
    if (field.path != "seeds.init" && field.path != "data[0]") continue;
    ++hints;
    EXPECT_EQ(field.grade, Grade::kHint) << field.path;
    EXPECT_THAT(field.from, HasSubstr("rharness import --complete;"));
  }
  EXPECT_EQ(hints, 2);
}

TEST_F(Import, RefusesContentThatIsNotTheRecordedOne) {
  ImportRecords();
  Complete({"--data", "value"});
  const std::string before = Read(At("runs/record-one.json"));
  Write("value", "0.5");
  const ProcessResult result = Complete({"--data", "value"});
  EXPECT_EQ(result.outcome.exit_code, 2);
  EXPECT_THAT(result.stderr_text, HasSubstr("data 'value' has another content than the recorded"));
  EXPECT_EQ(Read(At("runs/record-one.json")), before);
}

TEST_F(Import, CompletesNothingWhereNothingIsSaidOrNothingIsThere) {
  ImportRecords();
  EXPECT_THAT(Complete({}).stderr_text, HasSubstr("no value was given"));
  EXPECT_THAT(Complete({"--metric", "f1,direction=higher"}).stderr_text,
              HasSubstr("the record has no metric 'f1'; it has 'accuracy'"));
  EXPECT_THAT(Complete({"--data", "gone"}).stderr_text, HasSubstr("gone"));
  EXPECT_THAT(Complete({"--started", "yesterday"}).stderr_text,
              HasSubstr("--started: expected a time"));
  EXPECT_EQ(Complete({"--commit", "main"}).outcome.exit_code, 2);
  EXPECT_THAT(First().code.commit, Not(HasSubstr("main")));
}

TEST_F(Import, KeepsItsOptionsApartFromThoseOfACompletion) {
  ImportRecords();
  const ProcessResult seed = ImportRecords({"--seed", "init=1"});
  EXPECT_EQ(seed.outcome.exit_code, 2);
  EXPECT_THAT(seed.stderr_text, HasSubstr("--seed: goes with --complete M.json"));
  const ProcessResult dry = Complete({"--dry-run", "--seed", "init=1"});
  EXPECT_EQ(dry.outcome.exit_code, 2);
  EXPECT_THAT(dry.stderr_text, HasSubstr("--dry-run: does not go with --complete"));
  const ProcessResult two = Complete({"runs/record-two.json", "--seed", "init=1"});
  EXPECT_EQ(two.outcome.exit_code, 2);
  EXPECT_THAT(two.stderr_text, HasSubstr("completes one manifest"));
  EXPECT_THAT(Run({kRharness, "import"}).stderr_text, HasSubstr("or --complete M.json"));
  const ProcessResult old = Run({kRharness, "complete", "runs/record-one.json"});
  EXPECT_EQ(old.outcome.exit_code, 2);
  EXPECT_THAT(old.stderr_text, HasSubstr("expected `rharness import --complete`"));
}

TEST_F(Import, TakesWhatADataSetsPublisherStatesAndHoldsFilesAtHandToIt) {
  ImportRecords();
  const auto describe = [&](const std::string& sha256) {
    Write("croissant.json", R"({"@type": "sc:Dataset", "name": "d", "distribution": [
          {"@type": "cr:FileObject", "@id": "value", "contentUrl": "value",
           "sha256": ")" + sha256 +
                                "\"}]}");
  };
  describe(std::string(64, 'a'));
  const std::string before = Read(At("runs/record-one.json"));
  const ProcessResult other = Complete({"--croissant", "croissant.json"});
  EXPECT_EQ(other.outcome.exit_code, 2);
  EXPECT_THAT(other.stderr_text, HasSubstr("the Croissant's distribution[0] states aaaa"));
  EXPECT_EQ(Read(At("runs/record-one.json")), before);
  describe(Sha256HexOf("0.75"));
  const ProcessResult same = Complete({"--croissant", "croissant.json"});
  EXPECT_EQ(same.outcome.exit_code, 0) << same.stderr_text;
  EXPECT_THAT(same.stderr_text, HasSubstr("1 of its 1 files are data of the run; 1 lie here"));
  EXPECT_EQ(First().data.at(0).sha256, Sha256HexOf("0.75"));
  Write("croissant.json", "{}");
  EXPECT_THAT(Complete({"--croissant", "croissant.json"}).stderr_text,
              HasSubstr("is no Croissant; expected a Dataset"));
}

}  // namespace
}  // namespace rharness
