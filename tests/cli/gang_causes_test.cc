// Faults on single ranks of a run of two times two tasks: planted, found, and named by rank and
// host; and a change of one rank isolated as the cause.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "harness/base/files.h"
#include "harness/base/json.h"
#include "harness/records/manifest/evidence.h"
#include "tests/cli/gang_program.h"
#include "tests/cli/record_finds.h"

namespace rharness {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// Its seed and its data are arguments, and it depends on which file the loader finds.
std::string FaultyProgram() {
  std::string text = GangProgram(
      "import ctypes\nctypes.CDLL('libz.so.1')\n"
      "time.sleep(1)  # libraries are sampled\n"
      "share = 0.5 if 'other/libz' in open('/proc/self/maps').read() else 0.0\n"
      "rows = open(sys.argv[4]).read().split()[1:]");
  const auto swap = [&](const std::string& from, const std::string& to) {
    text.replace(text.find(from), from.size(), to);
  };
  swap("random.seed(100 + rank)", "random.seed(int(sys.argv[2]) + rank)");
  swap("float(open(\"data.csv\").read())", "sum(map(float, rows)) + share");
  return text;
}

class GangCauses : public RecordFinds {
 protected:
  void SetUp() override {
    RecordFinds::SetUp();
    Write("train.py", FaultyProgram());
    Write("data.csv", "head\n0.5\n0.25\n0.75\n0.125\n0.375\n");
    fs::create_directories(At("usual"));
    fs::create_directories(At("other"));
    const ProcessResult copied =
        Run({"/usr/bin/python3", "-c",
             "import ctypes, shutil\nctypes.CDLL('libz.so.1')\n"
             "maps = open('/proc/self/maps').read().split()\n"
             "for folder in ('usual', 'other'):\n"
             "    shutil.copy(next(one for one in maps if 'libz.so' in one), "
             "folder + '/libz.so.1')"});
    ASSERT_EQ(copied.outcome.exit_code, 0) << copied.stderr_text;
    const ProcessResult recorded =
        Harness({"record",      "--nodes",
                 "2",           "--tasks-per-node",
                 "2",           "--python-hooks",
                 "--seed",      "seed=1",
                 "--family",    "ranks",
                 "--data",      "train=data.csv",
                 "--metrics",   "log.jsonl",
                 "--metric",    "val_loss,direction=lower,margin=0.001,primary",
                 "--code-file", "train.py",
                 "--variable",  "LD_LIBRARY_PATH",
                 "--",          "/usr/bin/python3",
                 "train.py",    "--seed",
                 "1",           "--data",
                 "data.csv"});
    ASSERT_EQ(recorded.outcome.exit_code, 0) << recorded.stderr_text;
    EXPECT_THAT(recorded.stderr_text, Not(HasSubstr("declared seed")))
        << "the seeds of other ranks follow from rank 0's";
    EXPECT_THAT(recorded.stderr_text, Not(HasSubstr("undeclared input"))) << "it is declared";
    ASSERT_TRUE(fs::exists(At("runs/project-1.json"))) << "it is named as a run of one process";
    const ProcessResult added =
        Harness({"history", "add", "--history", "runs.db", "runs/project-1.json"});
    ASSERT_EQ(added.outcome.exit_code, 0) << added.stderr_text;
  }
  fs::path At(const std::string& name) const { return RecordFinds::At("project/" + name); }
  ProcessResult Harness(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), {"env", "LD_LIBRARY_PATH=" + At("usual").string(),
                                         RHARNESS_BIN_DIR "/rharness"});
    return Run(std::move(arguments));
  }
  static std::string Host() {
    char name[256] = "";
    return ::gethostname(name, sizeof(name) - 1) == 0 ? name : "";
  }
};

TEST_F(GangCauses, AreFoundAndNamedByRankAndHost) {
  const std::string other = At("other").string();
  const ProcessResult day = Harness(
      {"gameday", "--history", "runs.db", "--out", "day", "--no-default-faults", "--cpus", "8",
       "--fault", "seed:lost on rank 3", "--fault", "env:LD_LIBRARY_PATH=" + other + " on rank 2",
       "--fault", "data:train=row on rank 1"});
  ASSERT_EQ(day.outcome.exit_code, 3)
      << "too few trials for a certificate" << day.stdout_text << day.stderr_text;
  const auto report = ReadJsonFile(At("day/gameday.json"));
  ASSERT_TRUE(report.ok()) << report.error().ToString();
  std::map<std::string, std::string> told;
  const Json* sensitivity = report->Find("sensitivity");
  ASSERT_NE(sensitivity, nullptr) << report->Dump();
  for (const Json& family : sensitivity->Find("families")->AsArray()) {
    for (const Json& fault : family.Find("faults")->AsArray()) {
      const Json* example = fault.Find("example");
      told[fault.Find("name")->AsString()] = example == nullptr ? "" : example->AsString();
      EXPECT_EQ(fault.Find("trials")->Dump(), "1") << fault.Dump();
    }
  }
  ASSERT_EQ(told.size(), 3U);
  EXPECT_THAT(told["seed:lost on rank 3"],
              HasSubstr("random.seed on rank 3: 4 -> 7923 on " + Host()));
  EXPECT_THAT(told["env:LD_LIBRARY_PATH=" + other + " on rank 2"],
              AllOf(HasSubstr("library.libz.so.1 on rank 2: "),
                    HasSubstr(other + "/libz.so.1, build id "), HasSubstr(" on " + Host())));
  const auto data = LoadEvidence(At("day/runs/project-1/7/evidence.json"));
  ASSERT_TRUE(data.ok()) << data.error().ToString();
  const auto read = std::ranges::find(data->remarks, "rank_input", &Finding::code);
  ASSERT_NE(read, data->remarks.end());
  EXPECT_THAT(read->message, HasSubstr("rank 1 on " + Host() + " read " + At("day").string()));
}

TEST_F(GangCauses, TheChangeOfOneRankIsTheCauseAndThoseOfOthersAreNot) {
  const ProcessResult isolated =
      Harness({"isolate", "project-1", "--history", "runs.db", "--bits", "--cpus", "4", "--out",
               "why", "--axis", "env:LD_LIBRARY_PATH=" + At("other").string() + " on rank 2",
               "--axis", "env:UNREAD=1 on node 0", "--axis", "env:UNREAD=1 on rank 3"});
  EXPECT_EQ(isolated.outcome.exit_code, 0) << isolated.stdout_text << isolated.stderr_text;
  EXPECT_THAT(isolated.stdout_text, HasSubstr("env:LD_LIBRARY_PATH on rank 2: "));
  const ProcessResult of_slurm = Harness(
      {"isolate", "project-1", "--history", "runs.db", "--axis", "node:n3,n4", "--out", "nodes"});
  EXPECT_EQ(of_slurm.outcome.exit_code, 2) << of_slurm.stdout_text;
  EXPECT_THAT(of_slurm.stderr_text, HasSubstr("goes with --dispatch slurm"));
}

}  // namespace
}  // namespace rharness
