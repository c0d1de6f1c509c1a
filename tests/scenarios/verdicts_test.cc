// Every planted fault through the real programs: record, history add, drill. The verdict, the
// reason, the layer and the exit code are those that scenarios/README.md promises.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "tests/scenarios/fault_world.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

struct Promise {
  std::string fault;
  Verdict verdict = Verdict::kIdentical;
  std::string code;  // of the decisive finding
  int exit_code = 0;
  std::optional<Layer> layer = {};
};

// Holds a drill of one run to its promise and prints both. The run, for more expectations.
ReportRun Expect(const Promise& promise, const DrillResult& drilled) {
  EXPECT_EQ(drilled.exit_code, promise.exit_code) << promise.fault << '\n' << drilled.stderr_text;
  EXPECT_EQ(drilled.report.runs.size(), 1u) << promise.fault;
  if (drilled.report.runs.empty()) return {};
  const ReportRun& run = drilled.report.runs.front();
  const bool has_reason = !run.findings.empty();
  EXPECT_TRUE(has_reason) << promise.fault;
  const Finding reason = has_reason ? run.findings.front() : Finding();
  EXPECT_EQ(VerdictName(run.verdict), VerdictName(promise.verdict)) << run.headline;
  EXPECT_EQ(reason.code, promise.code) << reason.message;
  EXPECT_TRUE(reason.decisive) << reason.message;
  EXPECT_EQ(reason.layer, promise.layer) << reason.message;
  fmt::print("{:<48} {:<15} {:<38} exit {}\n", promise.fault, VerdictName(promise.verdict),
             fmt::format("{} ({})", VerdictName(run.verdict), reason.code), drilled.exit_code);
  return run;
}

// Whether a process is there and not only a zombie that nobody has waited for yet.
bool Runs(int pid) {
  const auto stat = ReadFile(fmt::format("/proc/{}/stat", pid));
  if (!stat.ok()) return false;
  const std::size_t state = stat->rfind(')') + 2;
  return state < stat->size() && (*stat)[state] != 'Z' && (*stat)[state] != 'X';
}

class PlantedFaults : public testing::Test {
 protected:
  // A healthy bitwise run, drilled with a trainer that has `fault`.
  ReportRun DrillWith(const std::string& script, const Promise& promise,
                      const std::vector<std::string>& options = {}) {
    const fs::path manifest = world_.Record({});
    world_.Wrap("digits_portable", script);
    return Expect(promise, world_.Drill({manifest}, options));
  }
  static std::string Plant(const std::string& name) {
    return fmt::format("exec $REAL \"$@\" --plant {}", name);
  }

  FaultWorld world_;
};

TEST_F(PlantedFaults, NoneIsIdentical) {
  Expect({"none", Verdict::kIdentical, "bit_equal", 0}, world_.Drill({world_.Record({})}));
}

TEST_F(PlantedFaults, NoneIsIdenticalFromACheckoutThatTracksItsData) {
  const fs::path manifest = world_.Record({.pin_code = false});
  Expect({"none, code from the commit", Verdict::kIdentical, "bit_equal", 0},
         world_.Drill({manifest}));
}

TEST_F(PlantedFaults, ASeedThatIsNotPropagatedDrifts) {
  DrillWith(Plant("seed-not-propagated"),
            {"seed not propagated", Verdict::kDrifted, "determinism_violation", 1});
}

TEST_F(PlantedFaults, AChangedRowOfDataIsNotComparable) {
  const fs::path manifest = world_.Record({});
  ASSERT_TRUE(
      WriteFileAtomic(world_.repository() / "data/digits.csv", DigitsWithOneRowChanged()).ok());
  const ReportRun run =
      Expect({"data row changed", Verdict::kNotComparable, "data_not_recorded", 3, Layer::kData},
             world_.Drill({manifest}));
  // What never ran has no environment of its own: it is that which the run would have had.
  EXPECT_NE(run.layers[2].state, LayerState::kDiffers);
}

TEST_F(PlantedFaults, DataInTheOrderOfTheFileSystemDrifts) {
  WriteShards(world_.repository() / "data" / "shards");
  const fs::path manifest = world_.Record({.data = "data/shards"});
  world_.Wrap("digits_portable", Plant("directory-order"));
  Expect({"data in the order of the file system", Verdict::kDrifted, "determinism_violation", 1},
         world_.Drill({manifest}));
}

TEST_F(PlantedFaults, AFlippedBitDriftsAndItsTensorIsNamed) {
  const fs::path manifest = world_.Record({.options = {"--keep", "kept"}});
  world_.Wrap("digits_portable", Plant("flip-bit"));
  const ReportRun run =
      Expect({"one weight off by one ULP", Verdict::kDrifted, "determinism_violation", 1},
             world_.Drill({manifest}));
  ASSERT_FALSE(run.findings.empty());
  EXPECT_THAT(run.findings.front().message, HasSubstr("first fc2.weight at index"));
  EXPECT_THAT(run.findings.front().observed, HasSubstr("1 of 4 tensors differs, first fc2.weight"));
  EXPECT_THAT(run.findings.front().observed, HasSubstr("1 ULP apart"));
  ASSERT_EQ(run.checkpoints.size(), 1u);
  ASSERT_EQ(run.checkpoints[0].difference.differing.size(), 1u);
  const TensorDifference& tensor = run.checkpoints[0].difference.differing[0];
  EXPECT_EQ(tensor.elements, 640u);
  EXPECT_EQ(tensor.differing, 1u);
}

TEST_F(PlantedFaults, CheckedOutCodeThatTheRunChangesIsNotComparable) {
  const fs::path manifest = world_.Record({.pin_code = false});
  world_.Wrap("digits_portable",
              "$REAL \"$@\" || exit 1\n"
              "test ! -e .git || exit 1\n"
              "for f in src/*; do echo changed >> $f; done");
  Expect({"checked-out code changed by the run", Verdict::kNotComparable, "code_not_recorded", 3,
          Layer::kCode},
         world_.Drill({manifest}));
}

TEST_F(PlantedFaults, AWorkTreeWithoutTheCommitIsNotComparable) {
  const fs::path manifest = world_.Record({.pin_code = false});
  const fs::path other = world_.folder() / "other";
  fs::create_directories(other);
  fs::copy(world_.repository() / "data", other / "data", fs::copy_options::recursive);
  CommitAll(other, "Another history");
  Expect({"wrong code commit", Verdict::kNotComparable, "code_not_recorded", 3, Layer::kCode},
         world_.Drill({manifest}, {"--map", ".=" + other.string()}));
}

TEST_F(PlantedFaults, ALinkInTheCheckoutDoesNotLeadDataOutOfTheWorkspace) {
  const fs::path data = world_.repository() / "data";
  const fs::path outside = world_.folder() / "outside";
  fs::rename(data, outside);
  fs::create_directory_symlink(outside, data);
  CommitAll(world_.repository(), "Link the data");
  const fs::path manifest = world_.Record({.pin_code = false});
  const std::string before = *ReadFile(outside / "digits.csv");
  Expect(
      {"link out of the checkout", Verdict::kNotComparable, "data_not_recorded", 3, Layer::kData},
      world_.Drill({manifest}));
  const auto after = ReadFile(outside / "digits.csv");
  ASSERT_TRUE(after.ok()) << after.error().ToString();
  EXPECT_EQ(*after, before);
}

TEST_F(PlantedFaults, ACodeFileThatMovedOnIsTakenFromTheRecordedCommit) {
  const fs::path manifest = world_.Record({});
  ASSERT_TRUE(
      WriteFileAtomic(world_.repository() / "src/portable_mlp.cc", "int changed = 1;\n").ok());
  Expect({"code file changed since", Verdict::kIdentical, "bit_equal", 0},
         world_.Drill({manifest}));
}

TEST_F(PlantedFaults, AChangedCodeFileIsNotComparable) {
  const fs::path manifest = world_.Record({});
  ASSERT_TRUE(
      WriteFileAtomic(world_.repository() / "src/portable_mlp.cc", "int changed = 1;\n").ok());
  fs::remove_all(world_.repository() / ".git");
  CommitAll(world_.repository(), "Another history");
  Expect({"code file changed", Verdict::kNotComparable, "code_not_recorded", 3, Layer::kCode},
         world_.Drill({manifest}));
}

TEST_F(PlantedFaults, NotANumberDrifts) {
  DrillWith(Plant("nan-metric"), {"NaN in a metric", Verdict::kDrifted, "non_finite", 1});
}

TEST_F(PlantedFaults, ATruncatedCheckpointFails) {
  const ReportRun run = DrillWith(Plant("truncated-checkpoint"),
                                  {"truncated checkpoint", Verdict::kFailed, "run_failed", 4});
  EXPECT_THAT(run.headline, HasSubstr("model.safetensors"));
}

TEST_F(PlantedFaults, ATimestampInTheMetadataIsIdentical) {
  const ReportRun run =
      DrillWith(Plant("timestamp-metadata"),
                {"timestamp in the checkpoint's metadata", Verdict::kIdentical, "bit_equal", 0});
  ASSERT_FALSE(run.notes.empty());
  EXPECT_THAT(run.notes.front(), HasSubstr("only metadata differs"));
}

TEST_F(PlantedFaults, AHangFailsAtItsTimeLimit) {
  const ReportRun run = DrillWith(Plant("hang"), {"hang", Verdict::kFailed, "run_failed", 4},
                                  {"--timeout-floor", "1s", "--timeout-factor", "1"});
  EXPECT_THAT(run.headline, HasSubstr("timed out"));
  EXPECT_EQ(world_.EvidenceOf("run-1").outcome.kind, OutcomeKind::kTimedOut);
}

TEST_F(PlantedFaults, ACrashFails) {
  const ReportRun run = DrillWith(Plant("crash"), {"crash", Verdict::kFailed, "run_failed", 4});
  EXPECT_THAT(run.headline, HasSubstr("the run was killed by SIGSEGV"));
}

TEST_F(PlantedFaults, OutOfMemoryFailsAtTheMemoryLimit) {
  DrillWith(Plant("oom"), {"out of memory", Verdict::kFailed, "run_failed", 4},
            {"--rerun-memory", "200MB"});
  EXPECT_EQ(world_.EvidenceOf("run-1").outcome.kind, OutcomeKind::kMemoryLimit);
}

TEST_F(PlantedFaults, AFullDiskFailsAtTheDiskLimit) {
  DrillWith(Plant("fill-disk"), {"fills the disk quota", Verdict::kFailed, "run_failed", 4},
            {"--rerun-disk", "20MB"});
  EXPECT_EQ(world_.EvidenceOf("run-1").outcome.kind, OutcomeKind::kDiskLimit);
}

TEST_F(PlantedFaults, AProcessLeftBehindIsGoneAndTheRunIsIdentical) {
  DrillWith(Plant("grandchild"), {"process left behind", Verdict::kIdentical, "bit_equal", 0},
            {"--keep-workspaces"});
  const auto text =
      ReadFile(world_.drill_folder() / "runs" / "run-1" / "1" / "workspace" / "grandchild.pid");
  ASSERT_TRUE(text.ok()) << text.error().ToString();
  const int pid = std::stoi(*text);
  ASSERT_GT(pid, 1);
  EXPECT_FALSE(Runs(pid)) << "process " << pid << " outlived its rerun";
}

TEST_F(PlantedFaults, AnInputChangedByTheRunItselfIsNotComparable) {
  const ReportRun run = DrillWith(
      "$REAL \"$@\" && echo >> data/digits.csv",
      {"input changed by the run", Verdict::kNotComparable, "data_not_recorded", 3, Layer::kData});
  const auto is_change = [](const Finding& finding) {
    return finding.code == "data_changed_during_run";
  };
  EXPECT_TRUE(std::any_of(run.findings.begin(), run.findings.end(), is_change));
  // The run had a copy: the data themselves are untouched.
  EXPECT_EQ(*ReadFile(world_.repository() / "data/digits.csv"),
            *ReadFile(RHARNESS_SOURCE_DIR "/scenarios/data/digits.csv"));
}

TEST_F(PlantedFaults, AProgramThatIsNotHereIsInfrastructureAndIsNotTriedAgain) {
  const fs::path manifest = world_.Record({});
  world_.Wrap("digits_portable", "exit 0");
  const DrillResult drilled =
      world_.Drill({manifest}, {"--env", "PATH=" + world_.folder().string()});
  const ReportRun run = Expect({"program not installed", Verdict::kInfra, "infra", 4}, drilled);
  EXPECT_THAT(run.headline, HasSubstr("digits_portable"));
  EXPECT_EQ(world_.EvidenceOf("run-1").attempt, 1);
}

// Twelve statistical runs, over seeds 1 to 12.
std::vector<fs::path> RecordFamily(FaultWorld* world, const std::string& trainer) {
  std::vector<fs::path> manifests;
  for (int seed = 1; seed <= 12; ++seed) {
    manifests.push_back(world->Record({.name = fmt::format("run-{}", seed),
                                       .trainer = trainer,
                                       .determinism = "statistical",
                                       .seed = seed,
                                       .epochs = 15}));
  }
  return manifests;
}

TEST_F(PlantedFaults, AnotherLearningRateDriftsAfterAConfirmingRerun) {
  const std::vector<fs::path> manifests = RecordFamily(&world_, "digits_portable");
  world_.Wrap("digits_portable", "exec $REAL \"$@\" --lr 0.001");
  const ReportRun run = Expect({"learning rate changed", Verdict::kDrifted, "metric_drifted", 1},
                               world_.Drill(manifests, {"--select", "run_id = run-5"}));
  EXPECT_EQ(run.reruns.size(), 2u);
}

// The BLAS kernels that the runs are recorded with and rerun with.
class PlantedKernel : public PlantedFaults {
 protected:
  void SetUp() override {
    if (!fs::exists(RHARNESS_BIN_DIR "/digits_blas")) {
      GTEST_SKIP() << "digits_blas was not built: OpenBLAS or Eigen is missing";
    }
    const auto cpu = ReadFile("/proc/cpuinfo");
    if (!cpu.ok() || cpu->find(" avx2 ") == std::string::npos) {
      GTEST_SKIP() << "this CPU cannot run the Haswell kernels";
    }
    if (ModelOf("Haswell") == ModelOf("Nehalem")) {
      GTEST_SKIP() << "the Haswell and Nehalem kernels give the same bits here";
    }
  }
  void Install(const std::string& kernel) {
    world_.Wrap("digits_blas", fmt::format("OPENBLAS_CORETYPE={} exec $REAL \"$@\"", kernel));
  }
  std::string ModelOf(const std::string& kernel) {
    Install(kernel);
    world_.Run({"digits_blas", "--data", "data/digits.csv", "--out", "../" + kernel});
    const auto model = ReadFile(world_.folder() / kernel / "model.safetensors");
    EXPECT_TRUE(model.ok()) << model.error().ToString();
    return model.ok() ? *model : std::string();
  }
};

TEST_F(PlantedKernel, DriftsWhereBitsAreDeclared) {
  Install("Nehalem");
  const fs::path manifest = world_.Record({.trainer = "digits_blas"});
  Install("Haswell");
  Expect({"BLAS kernel changed, declared bitwise", Verdict::kDrifted, "determinism_violation", 1},
         world_.Drill({manifest}));
}

TEST_F(PlantedKernel, IsEquivalentWhereStatisticsAreDeclared) {
  Install("Nehalem");
  const std::vector<fs::path> manifests = RecordFamily(&world_, "digits_blas");
  Install("Haswell");
  Expect({"BLAS kernel changed, declared statistical", Verdict::kEquivalent, "metric_within", 0},
         world_.Drill(manifests, {"--select", "run_id = run-5"}));
}

}  // namespace
}  // namespace rharness
