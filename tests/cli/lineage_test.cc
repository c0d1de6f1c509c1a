// What made data, and on which of them a metric was measured: told to record and complete, seen in
// comparisons, drills, the history and rebuild.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/cli/drill_program.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

const std::string kCommit(40, 'c');

class LineageProgram : public DrillProgram {
 protected:
  // Records a run whose accuracy is that of "value", which `options` say more about.
  ProcessResult RecordOn(const std::string& name, const std::string& metric,
                         const std::vector<std::string>& options) const {
    std::vector<std::string> argv = {kRharness,
                                     "--quiet",
                                     "record",
                                     "--out",
                                     "runs/" + name + ".json",
                                     "--family",
                                     "tiny",
                                     "--root",
                                     ".",
                                     "--data",
                                     "value",
                                     "--data",
                                     "other",
                                     "--code-file",
                                     "train.sh",
                                     "--metric",
                                     metric,
                                     "--metrics",
                                     "metrics.json",
                                     "--seed",
                                     "init=1"};
    argv.insert(argv.end(), options.begin(), options.end());
    argv.insert(argv.end(), {"--", "sh", "train.sh", At("").string()});
    return Run(argv);
  }
  ProcessResult Verb(std::vector<std::string> argv) const {
    argv.insert(argv.begin(), kRharness);
    return Run(argv);
  }
  void SetUp() override { Write("other", "0.5"); }
};

constexpr char kOnValue[] = "accuracy,direction=higher,margin=0.01,primary,on=value";
constexpr char kOnOther[] = "accuracy,direction=higher,margin=0.01,primary,on=other";

TEST_F(LineageProgram, IsRecordedAndCompared) {
  const std::string maker = "value=https://git.example/etl@" + kCommit + ",version=2";
  const ProcessResult recorded = RecordOn("a", kOnValue, {"--made-by", maker});
  ASSERT_EQ(recorded.outcome.exit_code, 0) << recorded.stderr_text;
  const auto manifest = LoadManifest(At("runs/a.json"));
  ASSERT_TRUE(manifest.ok()) << manifest.error().ToString();
  EXPECT_EQ(manifest->metrics.at(0).evaluated_on, "value");
  ASSERT_TRUE(manifest->data.at(0).made_by);
  EXPECT_EQ(manifest->data[0].made_by->commit, kCommit);
  EXPECT_EQ(manifest->data[0].made_by->version, "2");
  EXPECT_FALSE(manifest->data.at(1).made_by);
  ASSERT_EQ(RecordOn("b", kOnOther, {}).outcome.exit_code, 0);
  const ProcessResult compared =
      Verb({"compare", "runs/a.json", "runs/b.json", "--html", "page.html", "--json"});
  EXPECT_EQ(compared.outcome.exit_code, 3) << compared.stdout_text << compared.stderr_text;
  EXPECT_THAT(compared.stdout_text, HasSubstr("\"not_comparable\""));
  EXPECT_THAT(compared.stdout_text, HasSubstr("accuracy is not comparable: measured on 'value'"));
  EXPECT_THAT(Read(At("page.html")), HasSubstr("was made by https://git.example/etl at ccc"));
  ASSERT_EQ(RecordOn("c", kOnValue, {}).outcome.exit_code, 0);
  EXPECT_EQ(Verb({"compare", "runs/a.json", "runs/c.json"}).outcome.exit_code, 0);
}

TEST_F(LineageProgram, OfPairsIsHeldToTheSameRule) {
  ASSERT_EQ(RecordOn("before", kOnValue, {}).outcome.exit_code, 0);
  ASSERT_EQ(RecordOn("after", kOnOther, {}).outcome.exit_code, 0);
  const ProcessResult pairs = Verb({"compare", "--pairs", "runs", "--json"});
  EXPECT_EQ(pairs.outcome.exit_code, 3) << pairs.stdout_text << pairs.stderr_text;
  EXPECT_THAT(pairs.stdout_text, HasSubstr("other_eval_set"));
}

TEST_F(LineageProgram, IsRefusedBeforeTheRunWhereItCannotBe) {
  const auto refused = [&](const char* metric, std::vector<std::string> options,
                           const std::string& why) {
    const ProcessResult result = RecordOn("a", metric, options);
    EXPECT_EQ(result.outcome.exit_code, 2) << why;
    EXPECT_THAT(result.stderr_text, HasSubstr(why));
    EXPECT_THAT(result.stderr_text, Not(HasSubstr("s3cret")));
    EXPECT_EQ(Calls(), 0) << "the command must not run";
  };
  refused("accuracy,on=tset", {},
          "'accuracy' is measured on 'tset'; expected the name of a --data");
  refused("accuracy,on=", {}, "on=DATA");
  refused(kOnValue, {"--made-by", "valu=etl"}, "expected the name of a --data first");
  refused(kOnValue, {"--made-by", "value=etl@main"}, "'main' is no full commit");
  refused(kOnValue, {"--made-by", "value="}, "says nothing");
  refused(kOnValue, {"--made-by", "value=etl", "--made-by", "value=etl2"}, "states twice");
  refused(kOnValue, {"--made-by", "value=https://ada:s3cret@git.example/etl"}, "without user");
}

TEST_F(LineageProgram, IsCompletedAsAHint) {
  ASSERT_EQ(RecordOn("a", "accuracy,margin=0.01,primary", {}).outcome.exit_code, 0);
  const ProcessResult completed = Verb({"import", "--complete", "runs/a.json", "--made-by",
                                        "other=version=7", "--metric", "accuracy,on=other"});
  ASSERT_EQ(completed.outcome.exit_code, 0) << completed.stderr_text;
  const auto manifest = LoadManifest(At("runs/a.json"));
  ASSERT_TRUE(manifest.ok());
  EXPECT_EQ(manifest->data.at(1).made_by->version, "7");
  EXPECT_EQ(manifest->metrics.at(0).evaluated_on, "other");
  EXPECT_EQ(manifest->metrics.at(0).margin, 0.01) << "what else was said of it stays";
  int hints = 0;
  for (const FieldOrigin& field : manifest->origin.value().fields) {
    hints += field.path == "data[1].made_by" || field.path == "metrics.accuracy.evaluated_on";
    EXPECT_EQ(field.grade, Grade::kHint);
  }
  EXPECT_EQ(hints, 2);
  EXPECT_EQ(
      Verb({"import", "--complete", "runs/a.json", "--made-by", "none=etl"}).outcome.exit_code, 2);
  const ProcessResult wrong =
      Verb({"import", "--complete", "runs/a.json", "--metric", "accuracy,on=none"});
  EXPECT_EQ(wrong.outcome.exit_code, 2);
  EXPECT_THAT(wrong.stderr_text, HasSubstr("$.metrics[0].evaluated_on"));
}

TEST_F(LineageProgram, IsToldOfADrillAndInTheHistory) {
  ASSERT_EQ(RecordOn("a", kOnOther, {"--made-by", "other=etl@" + kCommit}).outcome.exit_code, 0);
  Add();
  EXPECT_EQ(Drill().outcome.exit_code, 0);
  EXPECT_THAT(Read(At("out/report.json")), HasSubstr("accuracy is measured on 'other' (sha256:"));
  EXPECT_THAT(Read(At("out/report.html")), HasSubstr("was made by etl at ccc"));
  EXPECT_THAT(Read(At("out/runs/a/1/evidence.json")), Not(HasSubstr("made_by")));
  const ProcessResult shown =
      Verb({"history", "show", "--history", "runs.db", "a", "--html", "a.html"});
  EXPECT_THAT(Read(At("a.html")), HasSubstr("made by etl at ccc"));
  const std::string text = Verb({"history", "show", "--history", "runs.db", "a"}).stdout_text;
  EXPECT_THAT(text, HasSubstr("on 'other'"));
  EXPECT_THAT(text, HasSubstr("made by etl at"));
  Write("other", "0.6");
  fs::remove_all(At("out"));
  EXPECT_EQ(Drill().outcome.exit_code, 3);
  const Report report = StoredReport();
  ASSERT_EQ(report.runs.size(), 1u);
  EXPECT_EQ(report.runs[0].verdict, Verdict::kNotComparable);
  const std::string json = Read(At("out/report.json"));
  EXPECT_THAT(json, HasSubstr("accuracy is not comparable: measured on 'other' (sha256:"));
  EXPECT_THAT(json, HasSubstr("it was made by etl at " + kCommit + " in A"));
}

TEST_F(LineageProgram, AsksWhetherTheTransformCanBeHad) {
  Write("etl/make.py", "x");
  const ProcessResult made = RunProcess(
      {{"sh", "-c",
        "git init -q . && git add -A && git -c user.name=a -c user.email=b commit -qm c && "
        "git rev-parse HEAD"},
       PickEnvironment({"PATH"}),
       At("etl")});
  if (!made.outcome.Succeeded()) GTEST_SKIP() << "no git here";
  const std::string commit = made.stdout_text.substr(0, 40);
  ASSERT_EQ(RecordOn("a", kOnOther, {"--made-by", "other=etl@" + commit}).outcome.exit_code, 0);
  const ProcessResult had = Verb({"--verbose", "check", "--available", "runs/a.json"});
  EXPECT_THAT(had.stdout_text, HasSubstr(": had: transform " + commit + " of data other: in "));
  EXPECT_EQ(had.outcome.exit_code, 0) << had.stdout_text;
  ASSERT_EQ(RecordOn("b", kOnOther, {"--made-by", "other=etl@" + kCommit}).outcome.exit_code, 0);
  const ProcessResult spare = Verb({"check", "--available", "runs/b.json"});
  EXPECT_EQ(spare.outcome.exit_code, 3) << "the data are there, and no rerun needs it";
  EXPECT_THAT(spare.stdout_text, HasSubstr("the data are available, but cannot be made again"));
  fs::remove(At("other"));
  const ProcessResult gone = Verb({"check", "--available", "runs/b.json"});
  EXPECT_EQ(gone.outcome.exit_code, 1);
  EXPECT_THAT(gone.stdout_text, HasSubstr(": gone: transform " + kCommit));
}

// An import may know of files that a tracker made of the run's model; no rerun makes them.
TEST_F(LineageProgram, WaitsForNoModelThatATrackerKeeps) {
  ASSERT_EQ(RecordOn("a", kOnValue, {}).outcome.exit_code, 0);
  auto manifest = LoadManifest(At("runs/a.json"));
  ASSERT_TRUE(manifest.ok());
  Artifact model;
  model.role = "model";
  model.path = "clf/model.safetensors";
  model.sha256 = std::string(64, 'a');
  manifest->artifacts.push_back(model);
  ASSERT_TRUE(WriteJsonFile(At("runs/a.json"), ToJson(*manifest)).ok());
  Add();
  EXPECT_EQ(Drill().outcome.exit_code, 0);
  EXPECT_EQ(StoredReport().runs.at(0).verdict, Verdict::kIdentical);
}

// The tag of both runs, of which each was recorded with another image behind it.
TEST_F(LineageProgram, TellsOfATagThatMovedInEveryReportOfADrill) {
  for (const auto& [name, digit] : std::map<std::string, char>{{"a", 'a'}, {"b", 'b'}}) {
    ASSERT_EQ(RecordOn(name, kOnValue, {}).outcome.exit_code, 0);
    auto manifest = LoadManifest(At("runs/" + name + ".json"));
    ASSERT_TRUE(manifest.ok());
    manifest->image = {.kind = ImageKind::kOci,
                       .registry = "registry.invalid",
                       .repository = "ml",
                       .tag = "1",
                       .digest = "sha256:" + std::string(64, digit)};
    ASSERT_TRUE(WriteJsonFile(At("runs/" + name + ".json"), ToJson(*manifest)).ok());
  }
  ASSERT_EQ(Verb({"history", "add", "--force", "--history", "runs.db", "runs"}).outcome.exit_code,
            0);
  Drill({"--select", "run_id = b"});
  const Report report = StoredReport();
  ASSERT_EQ(report.runs.size(), 1u);
  const auto moved = std::ranges::find(report.runs[0].findings, "image_tag_moved", &Finding::code);
  ASSERT_NE(moved, report.runs[0].findings.end());
  EXPECT_EQ(moved->layer, Layer::kEnvironment);
  EXPECT_FALSE(moved->decisive);
  const std::string sentence = "image tag registry.invalid/ml:1 pointed to sha256:aaa";
  EXPECT_THAT(moved->message, HasSubstr(sentence));
  for (const char* file : {"report.html", "junit.xml", "report.json"}) {
    EXPECT_THAT(Read(At(std::string("out/") + file)), HasSubstr(sentence)) << file;
  }
}

}  // namespace
}  // namespace rharness
