// Runs that list the folders of their data: recorded, drilled, compared.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/records/manifest/manifest.h"
#include "tests/cli/drill_program.h"

namespace rharness {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

// Lists its classes, which is the model, and makes a cache among them.
constexpr char kTrainClasses[] =
    "ls set > model.txt\nmkdir -p set/cache\n"
    "printf '{\"metrics\": {\"accuracy\": 0.5}}' > metrics.json\n";

class RecordFolders : public DrillProgram {
 protected:
  RecordFolders() {
    Write("train.sh", kTrainClasses);
    Write("set/cat/1.png", "cat");
    std::filesystem::create_directories(At("set/dog"));
  }
  ProcessResult RecordClasses(const std::string& name) const {
    return Run({kRharness,
                "record",
                "--out",
                "runs/" + name + ".json",
                "--root",
                ".",
                "--code-file",
                "train.sh",
                "--data",
                "set",
                "--metrics",
                "metrics.json",
                "--metric",
                "accuracy,direction=higher,margin=0.01,primary",
                "--artifact",
                "other=model.txt",
                "--seed",
                "init=1",
                "--determinism",
                "bitwise",
                "--family",
                "classes",
                "--",
                "sh",
                "train.sh"});
  }
  Manifest Recorded(const std::string& name) const {
    auto manifest = LoadManifest(At("runs/" + name + ".json"));
    EXPECT_TRUE(manifest.ok()) << manifest.error().ToString();
    return manifest.ok() ? *manifest : Manifest();
  }
};

TEST_F(RecordFolders, AreThoseOfBeforeTheRunAndOfEveryRerun) {
  const ProcessResult recorded = RecordClasses("a");
  ASSERT_EQ(recorded.outcome.exit_code, 0) << recorded.stderr_text;
  EXPECT_THAT(recorded.stderr_text, HasSubstr("empty folders in it were made or removed"));
  EXPECT_THAT(*Recorded("a").data[0].empty_folders, ElementsAre("dog"));
  std::filesystem::create_directories(At("set/a_new_class"));
  std::filesystem::remove(At("set/dog"));
  Add();
  const ProcessResult drill =
      Run({kRharness, "drill", "--history", "runs.db", "--out", "out", "--root", "."});
  EXPECT_THAT(drill.stdout_text, HasSubstr("1 identical")) << drill.stderr_text;
  EXPECT_THAT(Read(At("out/report.json")), HasSubstr("empty_folders_restored"));
}

TEST_F(RecordFolders, ThatOneSideAloneListsAreNoDifference) {
  ASSERT_EQ(RecordClasses("a").outcome.exit_code, 0);
  std::filesystem::remove(At("set/cache"));
  ASSERT_EQ(RecordClasses("b").outcome.exit_code, 0);
  Manifest older = Recorded("b");
  older.data[0].empty_folders.reset();
  ASSERT_TRUE(WriteJsonFile(At("runs/older.json"), ToJson(older)).ok());
  const auto compare = [&](const char* one, const char* other) {
    return Run({kRharness, "compare", At(one), At(other)});
  };
  EXPECT_EQ(compare("runs/a.json", "runs/b.json").outcome.exit_code, 0);
  EXPECT_EQ(compare("runs/older.json", "runs/a.json").outcome.exit_code, 0);
  EXPECT_EQ(compare("runs/a.json", "runs/older.json").outcome.exit_code, 0);
  // Another class in the data of both: the files are the same, and the model is not.
  std::filesystem::create_directories(At("set/emu"));
  ASSERT_EQ(RecordClasses("c").outcome.exit_code, 0);
  const ProcessResult other = compare("runs/a.json", "runs/c.json");
  EXPECT_NE(other.outcome.exit_code, 0);
  EXPECT_THAT(other.stdout_text, HasSubstr("other empty folders"));
  EXPECT_THAT(other.stdout_text, Not(HasSubstr("hashes differ")));
}

}  // namespace
}  // namespace rharness
