// What a run leaves to chance: a finding of its record, and the first cause of the drift that
// follows. With a real Python, and with NumPy where it is installed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <fstream>
#include <string>
#include <vector>

#include "harness/base/json.h"
#include "harness/records/manifest/admission.h"
#include "tests/cli/hooked_program.h"
#include "tests/sanitized.h"

namespace rharness {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

// A curve that goes by `v`, and no metric that is left to chance otherwise.
constexpr char kCurve[] =
    "\nimport json\n"
    "w, c = 0.0, []\n"
    "for x in v: c.append((w - x) ** 2 + 0.1); w += 0.1 * (x - w)\n"
    "json.dump({'metrics': {'acc': sum(c[-9:])}, 'curves': {'loss': {'steps': "
    "list(range(len(c))), 'values': c}}}, open('metrics.json', 'w'))\n";

class Chance : public Lies {
 protected:
  struct Told {
    std::string code, layer, strength, statement;
  };
  // The first cause of the drill of what was recorded.
  Told FirstCause(const std::vector<std::string>& options = {}) {
    const auto report = ParseJson(Drill(options), "report.json");
    EXPECT_TRUE(report.ok());
    if (!report.ok()) return {};
    const Json* runs = report->Find("runs");
    const Json* causes = runs == nullptr ? nullptr : runs->AsArray().at(0).Find("causes");
    if (causes == nullptr || causes->AsArray().empty()) return {};
    const Json& first = causes->AsArray().front();
    const auto text = [&](const char* key) { return first.Find(key)->AsString(); };
    return {text("code"), text("layer"), text("strength"), text("statement")};
  }
  std::vector<std::string> NotesOf(const std::string& program,
                                   const std::map<std::string, std::string>& variables = {}) {
    return Notes(program, With({"--seed", "s=7"}), variables);
  }
};

TEST_F(Chance, AModulesGeneratorThatNothingSeeds) {
  const auto notes =
      NotesOf("import random\nv = [random.random() for _ in range(60)]\n" + std::string(kCurve));
  EXPECT_THAT(notes, Contains(HasSubstr("random is drawn from without a seed in train.py:2")));
  const Told first = FirstCause();
  EXPECT_EQ(first.code, "generator_unseeded");
  EXPECT_EQ(first.layer, "randomness");
  EXPECT_EQ(first.strength, "likely");
  const auto report = ReadFile(base_ / "drill/report.json");
  EXPECT_THAT(*report, HasSubstr("what was left to chance (random)")) << "the layer is not equal";
}

TEST_F(Chance, AGeneratorThatIsDrawnFromBeforeItIsSeeded) {
  EXPECT_THAT(NotesOf("import random\nx = random.random()\nrandom.seed(7)\nv = [x] * 60\n" +
                      std::string(kCurve)),
              Contains(HasSubstr("random is drawn from without a seed")));
}

TEST_F(Chance, ASeededRunIsSilent) {
  const auto notes = NotesOf(
      "import random\nrandom.seed(7)\nstate = random.getstate()\n"
      "v = [random.random() for _ in range(60)]\nr = random.Random(3); r.random()\n"
      "s = {1, 2, 3}\nfor x in s: pass\nt = {'a', 'b'}\nassert 'a' in t\n"
      "for x in sorted(t): pass\n" +
      std::string(kCurve));
  EXPECT_THAT(notes, IsEmpty());
}

TEST_F(Chance, AnUnseededGeneratorOfNumPy) {
  python_ = PythonWith("numpy");
  if (python_.empty()) GTEST_SKIP() << "no python3 here has numpy (RHARNESS_TEST_PYTHON names one)";
  const auto notes = NotesOf(
      "import numpy as np\na, b = np.random.default_rng(7), np.random.default_rng()\n"
      "v = list(b.normal(size=60))\n" +
      std::string(kCurve));
  EXPECT_THAT(notes, Contains(HasSubstr("numpy.random.default_rng is drawn from without a seed in "
                                        "train.py:2")));
  EXPECT_EQ(FirstCause().code, "generator_unseeded");
  // By their types, too.
  EXPECT_THAT(NotesOf("import numpy as np\nr = np.random.Generator(np.random.PCG64())\n"
                      "v = list(r.normal(size=60))\n" +
                      std::string(kCurve)),
              Contains(HasSubstr("train.py:2")));
  EXPECT_THAT(NotesOf("import numpy as np\nnp.random.seed(7)\nv = list(np.random.rand(60))\n" +
                      std::string(kCurve)),
              IsEmpty());
}

TEST_F(Chance, WorkersThatDrawFromOneState) {
  python_ = PythonWith("numpy");
  if (python_.empty()) GTEST_SKIP() << "no python3 here has numpy (RHARNESS_TEST_PYTHON names one)";
  const std::string program =
      "import multiprocessing as mp, numpy as np\n"
      "np.random.seed(7)\n"
      "rng = np.random.default_rng(7)\n"
      "def work(k): SEED; np.random.rand(); rng.normal()\n"
      "ps = [mp.get_context('fork').Process(target=work, args=(k,)) for k in range(3)]\n"
      "for p in ps: p.start()\n"
      "for p in ps: p.join()\n"
      "v = [0.1] * 60\n";
  std::string alike = program, apart = program;
  alike.replace(alike.find("SEED"), 4, "pass");
  apart.replace(apart.find("SEED; np.random.rand(); rng.normal()"), 36,
                "np.random.seed(k); np.random.rand()");
  const auto notes = NotesOf(alike + kCurve);
  EXPECT_THAT(notes, Contains(HasSubstr("worker processes draw from numpy.random (worker)")));
  EXPECT_THAT(notes, Contains(HasSubstr("numpy.random.default_rng (worker)")));
  EXPECT_THAT(notes, Contains(HasSubstr("(3 workers)")));
  EXPECT_THAT(NotesOf(apart + kCurve), Not(Contains(HasSubstr("worker processes"))));
}

TEST_F(Chance, ASeedThatIsTheTime) {
  const auto notes = NotesOf(
      "import random, time\nrandom.seed(time.time_ns())\n"
      "v = [random.random() for _ in range(60)]\n" +
      std::string(kCurve));
  EXPECT_THAT(notes, Contains(HasSubstr("(the time): another seed in every run")));
  const Told first = FirstCause();
  EXPECT_EQ(first.code + " " + first.strength, "seed_set_changed shown");
}

TEST_F(Chance, AnOrderOfASet) {
  const std::string program =
      "import random\nrandom.seed(7)\n"
      "v = [int(s[1:]) / 60 for s in {f'c{i}' for i in range(60)}]\n" +
      std::string(kCurve);
  const auto notes = NotesOf(program);
  EXPECT_THAT(notes, Contains(HasSubstr("train.py:3 goes by the order of a set")));
  const Told first = FirstCause();
  EXPECT_EQ(first.code + " " + first.strength, "hash_salted likely");
  EXPECT_EQ(first.layer, "randomness");
  // The salt is a seed, and what sets it is the interpreter.
  EXPECT_THAT(
      Notes(program, With({"--seed", "hash=42", "--seed", "s=7"}), {{"PYTHONHASHSEED", "42"}}),
      IsEmpty());
}

TEST_F(Chance, AVariableThatTheRunReadsAndNobodyRecords) {
  const std::string program =
      "import os\nscale = float(os.environ.get('INIT_SCALE', '1'))\n"
      "v = [scale * i / 60 for i in range(60)]\n" +
      std::string(kCurve);
  EXPECT_THAT(NotesOf(program, {{"INIT_SCALE", "3"}}),
              Contains("INIT_SCALE is set, and train.py:2 reads it: a rerun goes without "
                       "(--variable INIT_SCALE)"));
  const Told first = FirstCause();
  EXPECT_EQ(first.code, "variable_not_recorded");
  EXPECT_EQ(first.layer, "environment");
  EXPECT_THAT(NotesOf(program), Not(Contains(HasSubstr("INIT_SCALE"))));
  // One that the drill sets is the first cause as well.
  EXPECT_THAT(FirstCause({"--env", "INIT_SCALE=3"}).statement, StartsWith("INIT_SCALE changed"));
}

TEST_F(Chance, AVariableThatTheRunSetsForItsOwnProcessesIsSetAgain) {
  // As mpirun sets OMPI_COMM_WORLD_RANK.
  const std::string program =
      "import os, sys\nif 'INIT_SCALE' not in os.environ:\n    os.environ['INIT_SCALE'] = '3'\n"
      "    os.execv(sys.executable, [sys.executable, *sys.argv])\n"
      "v = [float(os.environ['INIT_SCALE']) * i / 60 for i in range(60)]\n" +
      std::string(kCurve);
  EXPECT_THAT(NotesOf(program), Not(Contains(HasSubstr("INIT_SCALE"))));
}

TEST_F(Chance, FilesThatAreTakenAsTheyAreListed) {
  for (int i = 0; i < 9; ++i) Write("run/shards/" + std::to_string(i * 7 % 9) + ".txt", "x");
  const std::string program =
      "import os\nv = []\nfor name in LISTED: v.append(int(name[:-4]) / 9)\n" + std::string(kCurve);
  std::string open = program, sorted = program;
  open.replace(open.find("LISTED"), 6, "os.listdir('shards')");
  sorted.replace(sorted.find("LISTED"), 6, "sorted(os.listdir('shards'))");
  EXPECT_THAT(Notes(open, With({"--seed", "s=7", "--data", "shards=shards"})),
              Contains(HasSubstr("train.py:3 takes files in the order")));
  EXPECT_TRUE(Recorded().observation->flags.contains("file_order.shards"));
  EXPECT_THAT(Notes(sorted, With({"--seed", "s=7", "--data", "shards=shards"})),
              Not(Contains(HasSubstr("takes files"))));
}

// Without hooks as well: the library sees how children end.
TEST_F(Chance, AChildThatASignalEnded) {
  const std::string program =
      "import os, subprocess, sys\n"
      "subprocess.run([sys.executable, '-c', 'import os; os.kill(os.getpid(), SIGNAL)'])\n"
      "v = [0.1] * 60\n" +
      std::string(kCurve);
  std::string killed = program, asked = program;
  killed.replace(killed.find("SIGNAL"), 6, "9");
  asked.replace(asked.find("SIGNAL"), 6, "15");
  const ProcessResult result = Record(killed, With({"--seed", "s=7"}));
  EXPECT_EQ(result.outcome.exit_code, 0);
  EXPECT_THAT(Recorded().notes,
              Contains(std::string(kLostSomething) + ": 1 of its processes was ended by SIGKILL"));
  const ProcessResult admit =
      Execute({RHARNESS_BIN_DIR "/rharness", "check", (base_ / "run.json").string()}, base_);
  EXPECT_THAT(admit.stdout_text, HasSubstr("was ended by SIGKILL"));
  Record(asked, With({"--seed", "s=7"}));
  EXPECT_THAT(Recorded().notes, Not(Contains(HasSubstr("ended by SIG"))));
  // A parent that ends its child itself has lost nothing.
  Record(
      "import subprocess, sys\nimport random\n"
      "p = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])\n"
      "p.kill(); p.wait()\nv = [0.1] * 60\n" +
          std::string(kCurve),
      With({"--seed", "s=7"}));
  EXPECT_THAT(Recorded().notes, Not(Contains(HasSubstr("ended by SIG"))));
}

TEST_F(Chance, AFileThatCouldNotBeWrittenToItsEnd) {
  const ProcessResult result = Record(
      "import resource, signal\n"
      "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
      "resource.setrlimit(resource.RLIMIT_FSIZE, (4096, resource.RLIM_INFINITY))\n"
      "try: open('log.bin', 'wb').write(b'x' * 10000)\n"
      "except OSError: pass\n"
      "resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY,) * 2)\n"
      "v = [0.1] * 60\n" +
          std::string(kCurve),
      With({"--seed", "s=7"}));
  EXPECT_EQ(result.outcome.exit_code, 0) << result.stderr_text;
  EXPECT_THAT(Recorded().notes, Contains(HasSubstr("log.bin could not be written to its end: File "
                                                   "too large")));
}

// In a control group of its own with too little memory: version 1, which root may make.
TEST_F(Chance, AWorkerThatWasKilledForWantOfMemory) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer's shadow memory counts, too";
  const fs::path group =
      fs::path("/sys/fs/cgroup/memory") / ("rharness-test-" + std::to_string(::getpid()));
  std::error_code error;
  if (!fs::create_directory(group, error)) {
    GTEST_SKIP() << "no control group of version 1 can be made here: " << error.message();
  }
  std::ofstream(group / "memory.limit_in_bytes") << 200'000'000;
  Write("run/train.py",
        "import multiprocessing as mp\n"
        "def work(k):\n"
        "    if k == 1: bytearray(b'x' * 400_000_000)\n"
        "ps = [mp.get_context('fork').Process(target=work, args=(k,)) for k in range(2)]\n"
        "for p in ps: p.start()\n"
        "for p in ps: p.join()\n"
        "v = [0.1] * 60\n" +
            std::string(kCurve));
  const std::string script =
      "echo $$ > " + (group / "cgroup.procs").string() +
      " && exec " RHARNESS_BIN_DIR
      "/rharness record --overwrite --out ../run.json --family lies --code-file train.py "
      "--seed s=7 --metrics metrics.json --metric acc,direction=higher,margin=0.001,primary "
      "--no-observe -- " +
      python_ + " train.py";
  const ProcessResult result = Execute({"/bin/sh", "-c", script}, base_ / "run");
  fs::remove(group, error);
  ASSERT_TRUE(result.outcome.Succeeded()) << result.stderr_text;
  const auto notes = Recorded().notes;
  ASSERT_THAT(notes,
              Contains(HasSubstr("1 process of its control group was killed for lack of memory")));
  EXPECT_EQ(notes.front().rfind(kLostSomething, 0), 0U);
}

}  // namespace
}  // namespace rharness
