// Seeds that `rharness record` finds: those that the run was given, and those of unknown origin.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/cli/record_finds.h"

namespace rharness {
namespace {

using testing::Contains;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class RecordSeeds : public RecordFinds {
 protected:
  // The record of the program with another seed.
  Manifest Seeded(const std::string& seed, const std::vector<std::string>& arguments = {},
                  const std::string& more = "") const {
    std::string program = kFoundProgram;
    program.replace(program.find("random.seed(11)"), 15,
                    "import sys, time\n" + more + "\nrandom.seed(" + seed + ")");
    Write("train.py", program);
    std::vector<std::string> command = {"/usr/bin/python3", "train.py"};
    command.insert(command.end(), arguments.begin(), arguments.end());
    const ProcessResult result = Record({"--overwrite", "--out", "runs/one.json"}, command);
    EXPECT_EQ(result.outcome.exit_code, 0) << result.stderr_text;
    return Recorded("runs/one.json");
  }
  void ExpectFixed(const Manifest& manifest, std::int64_t seed) const {
    EXPECT_EQ(manifest.seeds, (std::map<std::string, std::int64_t>{{"random.seed", seed}}));
    EXPECT_EQ(GuessOf(manifest, "seeds.random.seed"), "the run set it");
    EXPECT_THAT(Admit(manifest), IsEmpty());
  }
  void ExpectUnknown(const Manifest& manifest) const {
    EXPECT_EQ(manifest.seeds.size(), 1u);
    EXPECT_THAT(GuessOf(manifest, "seeds.random.seed"),
                HasSubstr("whether it is fixed is not known"));
    for (const Finding& finding : Admit(manifest)) {
      EXPECT_NE(finding.code, "missing_seed") << "its outputs decide";
    }
  }
};

TEST_F(RecordSeeds, AreFixedWhereTheRunWasGivenThem) {
  ExpectFixed(Seeded("98765"), 98765);
  ExpectFixed(Seeded("0x1_2345"), 0x12345);
  ExpectFixed(Seeded("int(sys.argv[1].split('=')[1])", {"--seed=765432"}), 765432);
  Write("settings.yaml", "seed: 654321\n");
  ExpectFixed(Seeded("int(open('settings.yaml').read()[6:])"), 654321);
  Write("settings.json", R"({"seed": -54321})");
  ExpectFixed(Seeded("json.load(open('settings.json'))['seed']"), -54321);
  ExpectFixed(Seeded("int(os.environ['HOME_SEED'])", {}, "os.environ['HOME_SEED'] = str(31337)"),
              31337);
  ExpectFixed(Seeded("43 - 1"), 42);
}

// As of ranks and workers.
TEST_F(RecordSeeds, AreFixedNextToOneThatIs) {
  const Manifest manifest = Seeded("98765", {}, "random.seed(98765 + 3)");
  EXPECT_EQ(manifest.seeds.size(), 2u);
  EXPECT_EQ(GuessOf(manifest, "seeds.random.seed 2"), "the run set it");
  EXPECT_THAT(Admit(manifest), IsEmpty());
}

TEST_F(RecordSeeds, MayBeDerivedFromOneThatIsFixed) {
  const Manifest manifest = Seeded("random.getrandbits(31)", {}, "random.seed(98765)");
  EXPECT_EQ(manifest.seeds.size(), 2u);
  EXPECT_THAT(GuessOf(manifest, "seeds.random.seed 2"), HasSubstr("not known"));
  EXPECT_THAT(Admit(manifest), IsEmpty());
}

TEST_F(RecordSeeds, OfUnknownOriginHaveAHint) {
  for (const char* seed :
       {"100000 + time.time_ns() % 2**31", "100000 + time.perf_counter_ns() % 2**31",
        "100000 + abs(hash('a')) % 2**32", "100000 + id(object()) % 2**32",
        "100000 + int.from_bytes(open('/dev/urandom', 'rb').read(4), 'little')"}) {
    SCOPED_TRACE(seed);
    ExpectUnknown(Seeded(seed));
  }
}

// What the run itself wrote says nothing of where a seed came from.
TEST_F(RecordSeeds, AreNotFixedByWhatTheRunWrites) {
  ExpectUnknown(Seeded("seed", {},
                       "seed = 100000 + time.perf_counter_ns() % 2**31\n"
                       "json.dump({'seed': seed}, open('used.json', 'w'))"));
}

// PyTorch starts processes that compile for it so, and keeps what they made.
TEST_F(RecordSeeds, AreFoundBesideCodeWhoseFolderIsOnPythonPath) {
  Write(".triton/cache/kernel.json", "{}");
  const Manifest manifest = Seeded("98765", {},
                                   "import subprocess\n"
                                   "subprocess.run([sys.executable, '-c', 'pass'],\n"
                                   "               env=dict(os.environ, PYTHONPATH=os.getcwd()))\n"
                                   "open('.triton/cache/kernel.json').read()");
  ExpectFixed(manifest, 98765);
  EXPECT_THAT(manifest.code.files, Contains(Field(&CodeFile::path, "train.py")));
  for (const DataItem& item : manifest.data) EXPECT_THAT(item.path, Not(HasSubstr(".triton")));
}

TEST_F(RecordSeeds, OfTheSystemAreNoSeeds) {
  for (const char* seed :
       {"int.from_bytes(os.urandom(4), 'little')", "__import__('secrets').randbits(32)",
        "__import__('uuid').uuid4().int"}) {
    SCOPED_TRACE(seed);
    EXPECT_FALSE(Admit(Seeded(seed)).empty());
  }
}

}  // namespace
}  // namespace rharness
