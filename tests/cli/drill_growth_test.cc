// What a rerun costs the drill does not grow with the number of runs.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/base/json.h"
#include "tests/cli/drill_program.h"

namespace rharness {
namespace {

class DrillGrowth : public DrillProgram {
 protected:
  // Of a drill of `count` runs that are one configuration, for each rerun; the trainer's included.
  std::chrono::duration<double> CpuOfARerun(int count) {
    for (const char* name : {"runs", "out", "runs.db", "runs.db-wal", "runs.db-shm"}) {
      std::filesystem::remove_all(At(name));
    }
    Record("first", {});
    auto manifest = ReadJsonFile(At("runs/first.json"));
    EXPECT_TRUE(manifest.ok());
    if (!manifest.ok()) return {};
    for (int i = 1; i < count; ++i) {
      const std::string run_id = fmt::format("run-{}", i);
      manifest->Set("run_id", run_id);
      EXPECT_TRUE(WriteJsonFile(At("runs/" + run_id + ".json"), *manifest).ok());
    }
    Add();
    const ProcessResult drill = Drill({"--jobs", "2"});
    EXPECT_TRUE(drill.outcome.Succeeded()) << drill.stderr_text;
    EXPECT_EQ(Calls(), count);
    return drill.outcome.cpu / static_cast<double>(count);
  }
};

// One pass over all runs for each of them made it threefold here, and thirtyfold in a drill of two
// thousand.
TEST_F(DrillGrowth, OfManyRunsIsThatOfFew) {
  const auto of_few = CpuOfARerun(30);
  const auto of_many = CpuOfARerun(150);
  EXPECT_LT(of_many, 1.6 * of_few) << of_many.count() << " s beside " << of_few.count() << " s";
}

}  // namespace
}  // namespace rharness
