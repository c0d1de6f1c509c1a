// Sixteen lies that people tell without meaning to, each of a run that was recorded truthfully, and
// what the program says of each. The same steps without the lie must not say it. Prints a table.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "harness/base/files.h"
#include "harness/base/subprocess.h"
#include "harness/records/manifest/manifest.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

using Words = std::vector<std::string>;
using Variables = std::map<std::string, std::string>;

constexpr char kSkip[] = "SKIP: ";  // begins what a lie that cannot be told here says instead

ProcessResult Execute(Words argv, const fs::path& folder, const Variables& variables = {}) {
  ProcessSpec spec;
  spec.argv = std::move(argv);
  spec.environment = PickEnvironment({"PATH", "HOME", "TMPDIR"});
  for (const auto& [name, value] : variables) spec.environment[name] = value;
  spec.working_directory = folder;
  ProcessLimits limits;
  limits.timeout = std::chrono::seconds(100);
  return RunProcess(spec, limits);
}

// A trainer: reads data.csv, may set a seed, and writes weights of one byte and one metric. What
// the byte is depends on the data, the code and, without a seed, on chance.
constexpr char kTrainer[] = R"py(import json, random, struct
random.seed(1)
letter = (sum(open('data.csv', 'rb').read()) + random.randrange(200)) % 256
header = b'{"w":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}'
open('model.safetensors', 'wb').write(struct.pack('<Q', len(header)) + header + bytes([letter]))
json.dump({'metrics': {'acc': 0.75}}, open('metrics.json', 'w'))
)py";

// A folder in which a run is recorded and drilled.
class World {
 public:
  World() : folder_(*ScopedTempDir::Make("rharness-lies-")), base_(fs::canonical(folder_.path())) {
    Write("train.py", kTrainer);
    Write("data.csv", "1,2,3\n");
    const ProcessResult found =
        Execute({"python3", "-c", "import sys; print(sys.executable)"}, "/");
    if (found.outcome.Succeeded()) {
      python_ = found.stdout_text.substr(0, found.stdout_text.find('\n'));
    }
  }

  bool HasPython() const { return !python_.empty(); }
  fs::path At(const std::string& name) const { return base_ / name; }
  void Write(const std::string& name, const std::string& text) const {
    fs::create_directories(At(name).parent_path());
    EXPECT_TRUE(WriteFileAtomic(At(name), text).ok());
  }
  std::string Rharness(Words words, const Variables& variables = {}) const {
    words.insert(words.begin(), RHARNESS_BIN_DIR "/rharness");
    const ProcessResult result = Execute(std::move(words), base_, variables);
    return result.stdout_text + result.stderr_text;
  }
  // What `record` says of the run.
  std::string Record(const Words& options = {}, const Variables& variables = {},
                     const Words& arguments = {}) {
    Words words = {"record",        "--overwrite",
                   "--out",         "run.json",
                   "--family",      "lies",
                   "--root",        ".",
                   "--code-file",   "train.py",
                   "--data",        "data.csv",
                   "--metrics",     "metrics.json",
                   "--metric",      "acc,direction=higher,margin=0.01,primary",
                   "--weights",     "model.safetensors",
                   "--determinism", "bitwise",
                   "--python-hooks"};
    words.insert(words.end(), options.begin(), options.end());
    if (std::ranges::find(options, "--seed") == options.end()) {
      words.insert(words.end(), {"--seed", "init=1"});
    }
    words.insert(words.end(), {"--", python_, "train.py"});
    words.insert(words.end(), arguments.begin(), arguments.end());
    return Rharness(std::move(words), variables);
  }
  // What a drill says of it, and its report.
  std::string Drill(const Words& options = {}) const {
    std::error_code error;
    fs::remove_all(At("drill"), error);
    fs::remove(At("runs.db"), error);
    std::string said = Rharness({"history", "add", "--force", "--history", "runs.db", "run.json"});
    Words words = {"drill", "--history",    "runs.db", "--out",
                   "drill", "--no-confirm", "--root",  "."};
    words.insert(words.end(), options.begin(), options.end());
    said += Rharness(std::move(words));
    const auto report = ReadFile(At("drill/report.json"));
    return said + (report.ok() ? *report : "");
  }
  // Changes the record as somebody would who declares something else.
  void Declare(const std::function<void(Manifest*)>& change) const {
    auto manifest = LoadManifest(At("run.json"));
    ASSERT_TRUE(manifest.ok()) << manifest.error().ToString();
    change(&*manifest);
    EXPECT_TRUE(WriteJsonFile(At("run.json"), ToJson(*manifest)).ok());
  }
  bool Git() const {
    return Execute({"sh", "-c",
                    "git init -q . && git add train.py && git -c user.name=a -c user.email=a@b "
                    "commit -qm one"},
                   base_)
        .outcome.Succeeded();
  }
  const std::string& python() const { return python_; }

 private:
  ScopedTempDir folder_;
  fs::path base_;
  std::string python_;
};

std::string SeedNotPassed(World& world, bool lie) {
  return world.Record({"--seed", lie ? "init=3" : "init=1"});
}

// Two workers, as a loader has them, of which each sets its own seed, or lets the system draw it.
std::string LoaderSeedNotSet(World& world, bool lie) {
  world.Write("train.py", std::string(kTrainer) +
                              "import multiprocessing\n"
                              "def load(seed): random.seed(" +
                              (lie ? "" : "seed") +
                              ")\n"
                              "for seed in (7, 8):\n"
                              "    worker = multiprocessing.get_context('fork').Process("
                              "target=load, args=(seed,))\n"
                              "    worker.start()\n"
                              "    worker.join()\n");
  return world.Record({"--seed", "init=1", "--seed", "loader=7"});
}

std::string VariableMisspelt(World& world, bool lie) {
  world.Write("train.py", std::string(kTrainer) + "import os; os.environ.get('BATCH_SIZE')\n");
  const std::string name = lie ? "BATCHSIZE" : "BATCH_SIZE";
  return world.Record({"--variable", name}, {{name, "4"}});
}

// The library that a program loads by its name, from a folder that was empty when it was recorded.
std::string OtherBlas(World& world, bool lie) {
  const std::string load =
      "import ctypes\n"
      "for name in ('libopenblas.so.0', 'libblas.so.3'):\n"
      "    try: ctypes.CDLL(name)\n"
      "    except OSError: continue\n"
      "    break\n"
      "else: raise SystemExit('none')\n";
  const ProcessResult found = Execute(
      {world.python(), "-c",
       load + "print(next(l.split()[-1] for l in open('/proc/self/maps') if name[:-5] in l))\n"
              "print(name)"},
      "/");
  if (!found.outcome.Succeeded()) return std::string(kSkip) + "no OpenBLAS and no BLAS here";
  const auto end = found.stdout_text.find('\n');
  const fs::path original = found.stdout_text.substr(0, end);
  std::string name = found.stdout_text.substr(end + 1);
  name.pop_back();
  fs::create_directory(world.At("first"));
  world.Write("train.py", load + kTrainer);
  world.Record({}, {{"LD_LIBRARY_PATH", world.At("first")}});
  if (lie) fs::copy_file(original, world.At("first") / name);
  return world.Drill();
}

std::string TagInsteadOfDigest(World& world, bool lie) {
  const std::string image = "registry.example/ml/train:2.1";
  world.Write("old.json", R"({"run_id": "one", "container": ")" + image +
                              (lie ? "" : "@sha256:" + std::string(64, 'a')) + "\"}");
  world.Rharness({"import", "old.json", "--out", "runs"});
  return world.Rharness({"check", "runs"});
}

// Of two months, whose records have the digest that the tag had then.
std::string TagMoved(World& world, bool lie) {
  std::string records;
  for (const char month : {'1', '2'}) {
    const char digit = lie ? month : '1';
    records +=
        fmt::format(R"({{"run_id": "{0}", "started": "2026-0{0}-01T00:00:00Z", "container": )"
                    R"("registry.example/ml/train:2.1@sha256:{1}"}})",
                    month, std::string(64, digit)) +
        "\n";
  }
  world.Write("old.jsonl", records);
  world.Rharness({"import", "old.jsonl", "--family", "lies", "--out", "runs"});
  world.Rharness({"history", "add", "--force", "--history", "old.db", "runs"});
  return world.Rharness({"history", "show", "--history", "old.db", "lies"});
}

std::string ConfigNotDeclared(World& world, bool lie) {
  world.Write("config.yaml", "lr: 1\n");
  world.Write("train.py", std::string(kTrainer) + "open('config.yaml').read()\n");
  return world.Record(lie ? Words{} : Words{"--data", "config.yaml"});
}

// A module of the name and form of PyTorch, which says what it does.
std::string FlagNotSet(World& world, bool lie) {
  world.Write("modules/torch/__init__.py",
              "def manual_seed(seed): pass\n"
              "def are_deterministic_algorithms_enabled(): return " +
                  std::string(lie ? "False" : "True") + "\n");
  world.Write("train.py", "import torch\n" + std::string(kTrainer));
  return world.Record({"--flag", "torch.use_deterministic_algorithms=true"},
                      {{"PYTHONPATH", world.At("modules")}});
}

std::string OtherBatchSize(World& world, bool lie) {
  world.Record({"--hyper", "batch_size=64"}, {}, {"--batch-size", lie ? "32" : "64"});
  return world.Rharness({"check", "run.json"});
}

std::string OtherBatchSizeInTheLog(World& world, bool lie) {
  world.Record({"--hyper", "batch_size=64"});
  world.Write("run.log", std::string("args: batch_size=") + (lie ? "32" : "64") + " lr=0.1\n");
  return world.Rharness({"check", "run.json", "--log", "run.log"});
}

std::string OtherDeviceCount(World& world, bool lie) {
  world.Record({"--hyper", "world_size=8"});
  world.Write("run.log", std::string("rank 0 of n_gpus=") + (lie ? "4" : "8") + "\n");
  return world.Rharness({"check", "run.json", "--log", "run.log"});
}

std::string DataChangedDuringTheRun(World& world, bool lie) {
  world.Write("train.py",
              std::string(kTrainer) + (lie ? "open('data.csv', 'a').write('4')\n" : ""));
  return world.Record();
}

std::string DataChangedInPlace(World& world, bool lie) {
  const fs::path data = world.At("data.csv");
  const auto time = fs::last_write_time(data);
  world.Record();
  if (lie) {
    std::FILE* file = std::fopen(data.c_str(), "r+");
    std::fputs("3,2,1\n", file);  // as long, and the same for a sum
    std::fclose(file);
    fs::last_write_time(data, time);
  }
  return world.Drill();
}

std::string DirtyTree(World& world, bool lie) {
  if (!world.Git()) return std::string(kSkip) + "git is not installed";
  if (lie) world.Write("train.py", "import sys\n" + std::string(kTrainer));
  world.Record();
  world.Declare([](Manifest* run) {
    run->code.dirty = false;
    run->code.diff_sha256.clear();
  });
  if (lie) world.Write("train.py", kTrainer);  // what the commit has
  return world.Drill();
}

std::string OtherPackage(World& world, bool lie) {
  world.Record();
  world.Declare([](Manifest* run) { run->environment.software["torch"] = "2.1.0"; });
  world.Write("run.log",
              std::string("PyTorch version: ") + (lie ? "2.0.1" : "2.1.0") + "\nseed=1\n");
  return world.Rharness({"check", "run.json", "--log", "run.log"});
}

std::string WeightsOfAnotherRun(World& world, bool lie) {
  world.Write("other/data.csv", "9,9,9\n");
  world.Record();
  const auto truth = LoadManifest(world.At("run.json"));
  if (!truth.ok()) return truth.error().ToString();
  world.Write("data.csv", "9,9,8\n");  // another run's
  world.Record();
  if (lie) {
    const auto other = LoadManifest(world.At("run.json"));
    EXPECT_TRUE(WriteJsonFile(world.At("run.json"), ToJson(*truth)).ok());
    world.Declare([&](Manifest* run) { run->artifacts = other->artifacts; });
  } else {
    EXPECT_TRUE(WriteJsonFile(world.At("run.json"), ToJson(*truth)).ok());
  }
  world.Write("data.csv", "1,2,3\n");
  return world.Drill();
}

struct LieCase {
  const char* what;
  const char* found_by;
  std::string (*tell)(World& world, bool lie);
  const char* says;
};

const LieCase kLies[] = {
    {"a seed that is declared and not passed", "record", SeedNotPassed,
     "declared seed init=3, none of the seeds that were set is 3 (random.seed 1)"},
    {"a loader's seed that is declared, and workers draw theirs", "record", LoaderSeedNotSet,
     "declared seed loader=7, none of the seeds that were set is 7 (random.seed 1; "
     "random.seed (worker) none: drawn from the system"},
    {"a variable that is misspelt", "record", VariableMisspelt,
     "BATCHSIZE was declared, and nothing was seen to read it"},
    {"another BLAS, first on the library path", "drill", OtherBlas, "\"key\": \"library.lib"},
    {"an image by a tag, which can move", "check", TagInsteadOfDigest, "unpinned_image"},
    {"a tag that moved between two runs", "history", TagMoved,
     "image tag registry.example/ml/train:2.1 pointed to"},
    {"a configuration file that is read and not declared", "record", ConfigNotDeclared,
     "undeclared input config.yaml, sha256 "},
    {"a determinism flag that is declared and not set", "record", FlagNotSet,
     "declared flag torch.use_deterministic_algorithms=true, in force at the end: False"},
    {"another batch size in the command than in the record", "check", OtherBatchSize,
     "batch_size is 64 ($.hyperparameters.batch_size), but 32"},
    {"another batch size in the log than in the record", "check", OtherBatchSizeInTheLog,
     "batch_size is 64 ($.hyperparameters.batch_size), but 32 (run.log: line 1)"},
    {"another number of devices than in the record", "check", OtherDeviceCount,
     "devices is 8 ($.hyperparameters.world_size), but 4 (run.log: line 1)"},
    {"data that change while the run reads them", "record", DataChangedDuringTheRun,
     "data 'data.csv' changed during the run: sha256 "},
    {"data changed in place, with their size and time", "drill", DataChangedInPlace,
     "data 'data.csv' is not the recorded one"},
    {"a changed tree that is declared clean", "drill", DirtyTree,
     "code file 'train.py' is not the recorded one"},
    {"another version of a package than was imported", "check", OtherPackage,
     "2.1.0 ($.environment.software.torch), but 2.0.1 (run.log: line 1)"},
    {"the weights of another run", "drill", WeightsOfAnotherRun,
     "declared bitwise, but weights model.safetensors"},
};

class ToldLie : public testing::TestWithParam<LieCase> {
 protected:
  static void SetUpTestSuite() {
    table_ = fmt::format("\n{:<54} {:<8} {}\n", "LIE", "FOUND BY", "AND IT SAYS");
  }
  static void TearDownTestSuite() { std::fputs((table_ + "\n").c_str(), stdout); }
  static std::string table_;
};
std::string ToldLie::table_;

TEST_P(ToldLie, IsFoundAndTheTruthIsNot) {
  const LieCase& lie = GetParam();
  World truthful;
  World lying;
  if (!truthful.HasPython()) GTEST_SKIP() << "python3 is not installed";
  const std::string truth = lie.tell(truthful, false);
  if (truth.starts_with(kSkip)) {
    table_ += fmt::format("{:<54} {:<8} ({})\n", lie.what, "", truth.substr(6));
    GTEST_SKIP() << truth.substr(6);
  }
  EXPECT_THAT(truth, Not(HasSubstr(lie.says))) << lie.what;
  const std::string told = lie.tell(lying, true);
  EXPECT_THAT(told, HasSubstr(lie.says)) << lie.what;
  const auto at = told.find(lie.says);
  const std::string line =
      at == told.npos ? "(nothing)" : told.substr(at, told.find_first_of("\n", at) - at);
  table_ += fmt::format("{:<54} {:<8} {}\n", lie.what, lie.found_by, line.substr(0, 100));
}

INSTANTIATE_TEST_SUITE_P(Lies, ToldLie, testing::ValuesIn(kLies), [](const auto& info) {
  std::string name = info.param.what;
  std::erase_if(name, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; });
  return name;
});

}  // namespace
}  // namespace rharness
