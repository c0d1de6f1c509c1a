// A table of lies that a record can tell, and the finding that each of them gets: with a real
// Python, with NumPy where it is installed, and with a module of the name and the form of torch.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/cli/hooked_program.h"

namespace rharness {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

TEST_F(Lies, ASeedThatIsDeclaredAndNotPassed) {
  EXPECT_THAT(Notes("import random; random.seed(2)", {"--seed", "init=1"}),
              ElementsAre("declared seed init=1, none of the seeds that were set is 1 "
                          "(random.seed 2)"));
  EXPECT_THAT(Notes("import random", {"--seed", "init=1"}),
              ElementsAre("declared seed init=1, and nothing was seen to set a seed"));
  EXPECT_THAT(Notes("import random; random.seed(1)", {"--seed", "init=1"}), IsEmpty());
}

TEST_F(Lies, AVariableThatIsMisspelt) {
  const std::string program =
      "import os; any(k.startswith('NONE') for k in os.environ); os.environ.get('BATCH_SIZE'); "
      "dict(os.environ); {**os.environ}; os.environ.copy(); list(os.environ.items())";
  const std::map<std::string, std::string> set = {{"OMP_NUM_THREDS", "1"}, {"BATCH_SIZE", "4"}};
  EXPECT_THAT(Notes(program, {"--variable", "OMP_NUM_THREDS", "--variable", "BATCH_SIZE"}, set),
              ElementsAre("OMP_NUM_THREDS was declared, and nothing was seen to read it; "
                          "OMP_NUM_THREADS is near"));
  // Without the hooks nobody knows what a Python reads, and nothing is said.
  ASSERT_EQ(Record(program, {"--variable", "OMP_NUM_THREDS"}, set).outcome.exit_code, 0);
  EXPECT_THAT(Recorded().notes, IsEmpty());
  EXPECT_THAT(Recorded().observation->unseen, Contains(HasSubstr("--python-hooks")));
}

TEST_F(Lies, AnUndeclaredFileThatIsRead) {
  Write("run/config.yaml", "lr: 1\n");
  Write("elsewhere/more.yaml", "lr: 2\n");
  const std::string program = "open('config.yaml').read(); open('../elsewhere/more.yaml').read()";
  const auto notes = Notes(program, {});
  // SHA-256 of "lr: 1\n" by sha256sum.
  EXPECT_THAT(notes, Contains("undeclared input config.yaml, sha256 "
                              "057913131a07cda7e1a4435613bfc7e8f0042464c223175f9b8c9cec40a29322"
                              ": the run read it, and it is neither "
                              "data nor code"));
  EXPECT_THAT(notes, Contains(StartsWith("undeclared input " + base_.string() +
                                         "/elsewhere/more.yaml, sha256 ")));
  EXPECT_THAT(Notes(program, {"--data", "config.yaml", "--data", (base_ / "elsewhere").string()}),
              IsEmpty());
}

TEST_F(Lies, ARerunWhoseSeedIsOverriddenInsideTheProgram) {
  Write("seed.txt", "1");
  const std::string program =
      "import random; random.seed(int(open('" + (base_ / "seed.txt").string() + "').read()))";
  const auto notes = Notes(program + kTail, With({"--seed", "init=1"}));
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_THAT(notes[0], HasSubstr("seed.txt"));
  EXPECT_THAT(Drill(), Not(HasSubstr("seed_set.")));
  EXPECT_EQ(drill_.outcome.exit_code, 0) << drill_.stdout_text;
  Write("seed.txt", "2");
  const std::string report = Drill();
  EXPECT_THAT(report, HasSubstr("\"key\": \"seed_set.random.seed\""));
  EXPECT_THAT(report, HasSubstr("\"key\": \"input." + (base_ / "seed.txt").string() + "\""));
  EXPECT_NE(drill_.outcome.exit_code, 0);
  const Evidence evidence = Seen();
  EXPECT_EQ(evidence.seeds.at("init"), 1) << "as it was passed";
  EXPECT_THAT(evidence.observation->seeds.at("random.seed"), ElementsAre("2"));
  const auto remark = std::ranges::find(evidence.remarks, "seed_not_set", &Finding::code);
  ASSERT_NE(remark, evidence.remarks.end());
  EXPECT_EQ(remark->layer, std::nullopt) << "it decides nothing";
}

// Variables and packages are the same on both sides: only the library itself says it.
TEST_F(Lies, AnotherOpenBlasFirstOnThePath) {
  const std::string load =
      "import ctypes, random, sys\n"
      "for name in ('libopenblas.so.0', 'libblas.so.3'):\n"
      "    try: ctypes.CDLL(name)\n"
      "    except OSError: continue\n"
      "    break\n"
      "else: sys.exit(3)\n"
      "random.seed(1)";
  const std::string find =
      load +
      "\nprint(name, next(line.split()[-1] for line in open('/proc/self/maps') if name.split"
      "('.so')[0] in line))";
  const ProcessResult found = Execute({python_, "-c", find}, "/");
  if (found.outcome.exit_code == 3) GTEST_SKIP() << "no OpenBLAS and no BLAS is installed";
  ASSERT_TRUE(found.outcome.Succeeded()) << found.stderr_text;
  const auto blank = found.stdout_text.find(' ');
  const std::string name = found.stdout_text.substr(0, blank);
  const fs::path original =
      found.stdout_text.substr(blank + 1, found.stdout_text.find('\n') - blank - 1);
  const std::string first = (base_ / "first").string();
  fs::create_directory(first);
  const std::map<std::string, std::string> path = {{"LD_LIBRARY_PATH", first}};
  ASSERT_EQ(Record(load + kTail, With({"--seed", "init=1"}), path).outcome.exit_code, 0);
  EXPECT_THAT(Drill(), Not(HasSubstr("\"key\": \"library.")));
  fs::copy_file(original, fs::path(first) / name);
  const std::string report = Drill();
  EXPECT_THAT(report, HasSubstr("\"key\": \"library." + name + "\"")) << original;
  EXPECT_THAT(report, HasSubstr("\"observed\": \"" + first + "/" + name + ", build id "));
  EXPECT_EQ(drill_.outcome.exit_code, 0) << "its bits are the same: " << drill_.stdout_text;
  RecordProperty("library", name);
}

TEST_F(Lies, SeedsOfNumpyAreSeenAsWell) {
  const std::string with_numpy = PythonWith("numpy");
  if (with_numpy.empty()) {
    GTEST_SKIP() << "no python3 here has numpy (RHARNESS_TEST_PYTHON names one)";
  }
  python_ = with_numpy;
  EXPECT_THAT(Notes("import numpy as np\n"
                    "np.random.seed(5)\n"
                    "np.random.default_rng(seed=np.int64(6))\n"
                    "np.random.default_rng([7, 8])\n",
                    {"--seed", "init=1", "--seed", "a=5", "--seed", "b=6", "--seed", "c=8"}),
              ElementsAre("declared seed init=1, none of the seeds that were set is 1 "
                          "(numpy.random.default_rng 6, [7, 8]; numpy.random.seed 5)"));
  // Which of OpenBLAS's variables count is known by its own calls.
  EXPECT_THAT(*Recorded().observation->variables_read, Contains("OPENBLAS_NUM_THREADS"));
}

// What is tested is the patching of a module of this name, not PyTorch.
TEST_F(Lies, FlagsThatAreNotInForceAtTheEndByAModuleLikeTorch) {
  Write(
      "modules/torch/__init__.py",
      "import warnings\n"
      "def manual_seed(seed): pass\n"
      "def are_deterministic_algorithms_enabled(): return False\n"
      "def get_float32_matmul_precision(): return 'high'\n"
      "def get_num_threads(): raise RuntimeError\n"
      "def cumsum():\n"
      "    warnings.warn('cumsum_cuda_kernel does not have a deterministic implementation, but '\n"
      "                  'you set warn_only=True.')\n");
  const auto notes =
      Notes("import torch\ntorch.manual_seed(3)\ntorch.cumsum()\n",
            {"--flag", "torch.use_deterministic_algorithms=true", "--seed", "init=3"},
            {{"PYTHONPATH", (base_ / "modules").string()}});
  EXPECT_THAT(notes, Contains("declared flag torch.use_deterministic_algorithms=true, in force at "
                              "the end: False"));
  EXPECT_THAT(notes, Contains("cumsum_cuda_kernel warned that it has no deterministic "
                              "implementation (1 time)"));
  EXPECT_THAT(notes, Not(Contains(HasSubstr("seed"))));
  const auto flags = Recorded().observation->flags;
  EXPECT_EQ(flags.at("torch.float32_matmul_precision"), "high");
  EXPECT_FALSE(flags.contains("torch.num_threads")) << "a getter that fails is left out";
}

// With the real ones, where they are installed.
TEST_F(Lies, SeedsFlagsAndWorkersOfPyTorchAreSeen) {
  python_ = PythonWith("torch, numpy");
  if (python_.empty()) GTEST_SKIP() << "no python3 here has torch (RHARNESS_TEST_PYTHON names one)";
  const std::string program =
      "import torch\n"
      "from torch.utils.data import DataLoader, TensorDataset\n"
      "torch.manual_seed(1)\n"
      "torch.use_deterministic_algorithms(True, warn_only=True)\n"
      "torch.backends.cudnn.benchmark = True\n"
      "for batch in DataLoader(TensorDataset(torch.arange(8.)), num_workers=2): pass\n"
      "torch.zeros(5).put_(torch.tensor([0, 0]), torch.tensor([1., 2.]))\n";
  const auto notes =
      Notes(program, {"--seed", "init=1", "--flag", "torch.backends.cudnn.benchmark=false"});
  EXPECT_THAT(notes,
              ElementsAre("declared flag torch.backends.cudnn.benchmark=false, in force at "
                          "the end: True",
                          "put_ warned that it has no deterministic implementation (1 time)"));
  const Observation seen = *Recorded().observation;
  EXPECT_THAT(seen.seeds.at("torch.manual_seed"), ElementsAre("1"));
  EXPECT_EQ(seen.seeds.at("torch.manual_seed (worker)").size(), 2U);
  EXPECT_EQ(seen.flags.at("torch.use_deterministic_algorithms"), "True");
  Notes(program, {});
  EXPECT_EQ(Recorded().observation->seeds, seen.seeds) << "workers have theirs of the main one's";
}

TEST_F(Lies, SeedsOfJaxAreSeenAndSoAreItsFlags) {
  python_ = PythonWith("jax");
  if (python_.empty()) GTEST_SKIP() << "no python3 here has jax (RHARNESS_TEST_PYTHON names one)";
  const std::string program =
      "import jax\n"
      "jax.config.update('jax_enable_x64', True)\n"
      "jax.random.PRNGKey(4); jax.random.key(5)\n"
      "print(jax.jit(lambda s: jax.random.bits(jax.random.PRNGKey(s), (2,)))(6))\n";
  EXPECT_THAT(Notes(program, {"--seed", "init=4", "--flag", "jax_enable_x64=false"}),
              ElementsAre("declared flag jax_enable_x64=false, in force at the end: True"));
  EXPECT_THAT(Recorded().observation->seeds.at("jax.random.key"), ElementsAre("5"));
}

TEST_F(Lies, SeedsOfWorkersAreKeptApart) {
  const std::string program =
      "import multiprocessing, random\n"
      "def work(seed): random.seed(seed)\n"
      "random.seed(1)\n"
      "for seed in (11, 12):\n"
      "    worker = multiprocessing.get_context('fork').Process(target=work, args=(seed,))\n"
      "    worker.start()\n"
      "    worker.join()\n";
  Notes(program, {});
  const auto seeds = Recorded().observation->seeds;
  EXPECT_THAT(seeds.at("random.seed"), ElementsAre("1"));
  EXPECT_THAT(seeds.at("random.seed (worker)"), ElementsAre("11", "12"));
}

// A sitecustomize that is there runs, and what the hooks cannot write changes nothing.
TEST_F(Lies, TheHooksStayOutOfTheWay) {
  Write("modules/sitecustomize.py", "import sys; sys.stdout.write('mine\\n')\n");
  const std::string program =
      "import os, pickle, random, shutil, sys\n"
      "shutil.rmtree(os.environ['RHARNESS_OBSERVE'])\n"
      "random.seed(1); random.Random(2)\n"
      "assert pickle.loads(pickle.dumps(random.Random(3))).random() == random.Random(3).random()\n"
      "assert 'sitecustomize' in sys.modules and len(dict(os.environ)) == len(os.environ)\n"
      "try: random.seed(a=1, version=2, no=3)\n"
      "except TypeError: print(random.random())\n";
  const std::map<std::string, std::string> path = {{"PYTHONPATH", (base_ / "modules").string()}};
  const ProcessResult hooked = Record(program, {"--python-hooks"}, path);
  EXPECT_EQ(hooked.outcome.exit_code, 0) << hooked.stderr_text;
  EXPECT_EQ(hooked.stdout_text, "mine\n0.13436424411240122\n") << "as random.seed(1) has it";
  EXPECT_THAT(hooked.stderr_text, Not(HasSubstr("Traceback")));
}

TEST_F(Lies, NoObservationIsAskedForAndNoneIsMade) {
  Write("run/config.yaml", "lr: 1\n");
  const std::string program =
      "import os, random; random.seed(1); open('config.yaml'); "
      "assert 'RHARNESS_OBSERVE' not in os.environ and 'LD_PRELOAD' not in os.environ";
  ASSERT_EQ(
      Record(program + kTail, With({"--no-observe", "--data", "config.yaml", "--seed", "a=1"}))
          .outcome.exit_code,
      0);
  EXPECT_FALSE(Recorded().observation);
  EXPECT_THAT(Recorded().notes, IsEmpty());
  (void)Drill();
  EXPECT_EQ(drill_.outcome.exit_code, 0) << drill_.stdout_text;
  EXPECT_FALSE(Seen().observation) << "a rerun is looked at as its record was";
  ASSERT_EQ(Record("import random; random.seed(1)" + std::string(kTail), With({"--seed", "a=1"}))
                .outcome.exit_code,
            0);
  (void)Drill({"--no-observe"});
  EXPECT_FALSE(Seen().observation);
  EXPECT_EQ(Record(program, {"--no-observe", "--python-hooks"}).outcome.exit_code, 2);
}

}  // namespace
}  // namespace rharness
