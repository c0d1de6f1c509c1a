// What a drill of many reruns asks of a real Slurm: calls of its programs, and CPU beside theirs.
// Forty reruns; RHARNESS_LOAD says how many else.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <sstream>

#include "harness/base/json.h"
#include "tests/cli/drill_program.h"
#include "tests/execution/dispatch/slurm_world.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

constexpr int kFew = 40;
constexpr int kMaxArray = 1001;                 // Slurm's own default
constexpr int kMostSubmissionsOfAThousand = 5;  // some for what has to be tried again

// In front of a program of Slurm's: each call adds a line with its CPU to a file of its name. Times
// of sh are to the hundredth of a second, and those in a pipe are of another shell.
constexpr char kCounting[] = R"sh(#!/bin/bash
PATH=${PATH#*:}
NAME "$@"
code=$?
times > "COUNTS/NAME.$$"
tail -n 1 "COUNTS/NAME.$$" >> "COUNTS/NAME"
exit $code
)sh";

struct Cost {
  int count = 0;
  double cpu_seconds = 0.0;
};

void Replace(const std::string& what, const std::string& with, std::string* text) {
  for (auto at = text->find(what); at != text->npos; at = text->find(what, at + with.size())) {
    text->replace(at, what.size(), with);
  }
}

// "0m1.25s"
double SecondsOf(const std::string& text) {
  const auto minutes = text.find('m');
  return minutes == text.npos
             ? 0.0
             : std::atof(text.c_str()) * 60 + std::atof(text.c_str() + minutes + 1);
}

class SlurmLoad : public DrillProgram {
 protected:
  static void SetUpTestSuite() {
    world_ = new SlurmWorld(SlurmWorld::Accounting::kNone, kMaxArray);
  }
  static void TearDownTestSuite() { delete world_; }

  void SetUp() override {
    if (!world_->problem().empty()) GTEST_SKIP() << "no Slurm here: " << world_->problem();
    fs::create_directories(At("counts"));
    fs::create_directories(At("bin"));
    for (const std::string name : {"sbatch", "squeue", "sacct", "scontrol", "scancel", "sinfo"}) {
      std::string script = kCounting;
      Replace("NAME", name, &script);
      Replace("COUNTS", At("counts").string(), &script);
      Write("bin/" + name, script);
      fs::permissions(At("bin/" + name), fs::perms::owner_all);
    }
    environment_["SLURM_CONF"] = std::getenv("SLURM_CONF");
    environment_["PATH"] = At("bin").string() + ":" + environment_["PATH"];
  }

  void RecordMany(int count) {
    Record("first", {});
    auto manifest = ReadJsonFile(At("runs/first.json"));
    ASSERT_TRUE(manifest.ok());
    for (int i = 1; i < count; ++i) {
      const std::string run_id = fmt::format("run-{}", i);
      manifest->Set("run_id", run_id);
      ASSERT_TRUE(WriteJsonFile(At("runs/" + run_id + ".json"), *manifest).ok());
    }
    Add();
  }

  // A wait that ends before ctest's, so that what the queue says is seen.
  static ProcessLimits LimitsFor(int count) {
    ProcessLimits limits;
    limits.timeout = std::chrono::minutes(4) + std::chrono::seconds(2) * count;
    return limits;
  }

  // The payload alone, as `sbatch --wait --array` runs it.
  double SecondsOfAPlainArray(int count) {
    Write("array.sh",
          "#!/bin/sh\nmkdir w$SLURM_ARRAY_TASK_ID && cd w$SLURM_ARRAY_TASK_ID && "
          "cp -r ../value . && sh ../train.sh ..\n");
    const ProcessResult array =
        RunProcess(ProcessSpec{{"sbatch", "--wait", "--output=/dev/null",
                                fmt::format("--array=0-{}", count - 1), At("array.sh").string()},
                               environment_,
                               folder_.path()},
                   LimitsFor(count));
    EXPECT_TRUE(array.outcome.Succeeded()) << array.stderr_text << world_->Describe();
    return std::chrono::duration<double>(array.outcome.wall).count();
  }

  Cost CallsOf(const std::string& program) const {
    Cost calls;
    const auto text = ReadFile(At("counts/" + program));
    std::istringstream lines(text.ok() ? *text : "");
    for (std::string user, system; lines >> user >> system; ++calls.count) {
      calls.cpu_seconds += SecondsOf(user) + SecondsOf(system);
    }
    return calls;
  }

  static SlurmWorld* world_;
};
SlurmWorld* SlurmLoad::world_ = nullptr;

TEST_F(SlurmLoad, IsAFewCallsHoweverManyReruns) {
  const char* asked = std::getenv("RHARNESS_LOAD");
  const int count = asked != nullptr ? std::atoi(asked) : kFew;
  RecordMany(count);
  const ProcessResult drill = RunProcess(
      ProcessSpec{DrillArguments({"--quiet", "--dispatch", "slurm"}), environment_, folder_.path()},
      LimitsFor(count));
  ASSERT_TRUE(drill.outcome.Succeeded())
      << drill.stdout_text << drill.stderr_text << world_->Describe();
  EXPECT_EQ(StoredReport().runs.size(), static_cast<std::size_t>(count));

  double clients = 0.0;
  for (const char* program : {"sbatch", "squeue", "sacct", "scontrol", "scancel", "sinfo"}) {
    const Cost calls = CallsOf(program);
    clients += calls.cpu_seconds;
    fmt::print("{:<10} {:>6} calls {:>8.2f} s of CPU\n", program, calls.count, calls.cpu_seconds);
  }
  const double all = std::chrono::duration<double>(drill.outcome.cpu).count();
  const double wall = std::chrono::duration<double>(drill.outcome.wall).count();
  fmt::print("{} reruns: {:.1f} s, CPU of the drill {:.2f} s, of Slurm's programs {:.2f} s\n",
             count, wall, all - clients, clients);
  fmt::print("the same {} as a plain array: {:.1f} s\n", count, SecondsOfAPlainArray(count));
  EXPECT_LE(CallsOf("sbatch").count, (count + 999) / 1000 * kMostSubmissionsOfAThousand);
  // Rounds are a second apart at least, and each asks the queue once.
  EXPECT_LE(CallsOf("squeue").count, wall + 5);
  EXPECT_LE(CallsOf("sacct").count, wall + 5);
}

}  // namespace
}  // namespace rharness
