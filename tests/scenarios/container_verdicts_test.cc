// Planted faults of images: runs that are rerun by digest from a registry on loopback.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "tests/execution/launch/container_world.h"
#include "tests/scenarios/fault_world.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class PlantedImages : public testing::Test {
 protected:
  static void SetUpTestSuite() {
#ifdef RHARNESS_STATIC_TRAINER
    containers_ = std::make_unique<ContainerWorld>();
    problem_ = containers_->problem();
#else
    problem_ = "the trainer is not linked statically";
#endif
    if (problem_.empty()) digest_ = PushTrainer();
  }
  static void TearDownTestSuite() { containers_.reset(); }

  void SetUp() override {
    if (!problem_.empty()) GTEST_SKIP() << "no containers here: " << problem_;
    world_.environment = PickEnvironment({"CONTAINERS_CONF", "CONTAINERS_STORAGE_CONF",
                                          "CONTAINERS_REGISTRIES_CONF", "XDG_RUNTIME_DIR"});
  }

  static std::string Demand(const std::vector<std::string>& argv) {
    ProcessResult result = ContainerWorld::Run(argv);
    if (!result.outcome.Succeeded() && problem_.empty()) {
      problem_ = fmt::format("{}: {} {}", fmt::join(argv, " "), result.outcome.ToString(),
                             result.stderr_text);
    }
    return result.stdout_text;
  }

  // An image that holds the trainer and nothing else; its digest, as podman wrote it.
  static std::string PushTrainer() {
    std::string container = Demand({"buildah", "from", "scratch"});
    container.erase(container.find_last_not_of('\n') + 1);
    Demand({"buildah", "copy", container, RHARNESS_BIN_DIR "/digits_portable",
            "/bin/digits_portable"});
    Demand(
        {"buildah", "commit", "--quiet", "--rm", "--format=oci", container, "localhost/trainer"});
    const std::string digest_file = containers_->folder() / "trainer-digest";
    Demand({"podman", "push", "--quiet", "--tls-verify=false", "--digestfile=" + digest_file,
            "localhost/trainer", Repository()});
    Demand({"podman", "rmi", "--all", "--force"});
    const auto digest = ReadFile(digest_file);
    return digest.ok() ? *digest : std::string();
  }
  static std::string Repository() { return containers_->registry() + "/ml/trainer:1"; }

  fs::path Record(const std::string& digest) {
    return world_.Record({.options = {"--image", Repository() + "@" + digest}});
  }

  // One line of the table, and what holds for every verdict.
  ReportRun Expect(const std::string& fault, Verdict verdict, int exit_code,
                   const DrillResult& drilled) {
    EXPECT_EQ(drilled.exit_code, exit_code) << drilled.stderr_text;
    EXPECT_EQ(drilled.report.runs.size(), 1u);
    if (drilled.report.runs.empty()) return {};
    const ReportRun& run = drilled.report.runs.front();
    EXPECT_EQ(VerdictName(run.verdict), VerdictName(verdict)) << run.headline;
    fmt::print("{:<48} {:<15} {:<38} exit {}\n", fault, VerdictName(verdict),
               fmt::format("{} ({})", VerdictName(run.verdict), run.findings.at(0).code),
               drilled.exit_code);
    return run;
  }

  static std::unique_ptr<ContainerWorld> containers_;
  static std::string problem_;
  static std::string digest_;
  FaultWorld world_;
};

std::unique_ptr<ContainerWorld> PlantedImages::containers_;
std::string PlantedImages::problem_;
std::string PlantedImages::digest_;

TEST_F(PlantedImages, NoneIsIdenticalInAnImageProvedByItsDigest) {
  Expect("none, in an image", Verdict::kIdentical, 0, world_.Drill({Record(digest_)}));
  const Evidence evidence = world_.EvidenceOf("run-1");
  EXPECT_EQ(evidence.image_digest, digest_);
  EXPECT_THAT(evidence.image_id, testing::StartsWith("sha256:"));
}

TEST_F(PlantedImages, DataOfAnAbsolutePathAreMountedThereFromWhereTheyLieNow) {
  const fs::path data = world_.repository() / "data" / "digits.csv";
  const fs::path manifest =
      world_.Record({.data = data, .options = {"--image", Repository() + "@" + digest_}});
  const fs::path now = world_.folder() / "archive.csv";
  fs::rename(data, now);
  Expect("none, data mounted from elsewhere", Verdict::kIdentical, 0,
         world_.Drill({manifest}, {"--map", "data/digits.csv=" + now.string()}));
}

TEST_F(PlantedImages, ADigestThatDoesNotExistIsInfrastructureAndIsNotTriedAgain) {
  const std::string absent = "sha256:" + std::string(64, 'e');
  const ReportRun run = Expect("image digest that does not exist", Verdict::kInfra, 4,
                               world_.Drill({Record(absent)}));
  EXPECT_THAT(run.headline, HasSubstr(absent));
  EXPECT_EQ(world_.EvidenceOf("run-1").attempt, 1);
}

// Needs no container: without an engine nothing can be run.
TEST(PlantedEngine, ThatIsNotInstalledIsInfrastructure) {
  FaultWorld world;
  const fs::path manifest = world.Record(
      {.options = {"--image", "127.0.0.1:1/ml/trainer:1@sha256:" + std::string(64, 'e')}});
  world.only_path = RHARNESS_BIN_DIR;
  const DrillResult drilled = world.Drill({manifest});
  EXPECT_EQ(drilled.exit_code, 4);
  ASSERT_EQ(drilled.report.runs.size(), 1u);
  EXPECT_EQ(drilled.report.runs[0].verdict, Verdict::kInfra) << drilled.report.runs[0].headline;
}

}  // namespace
}  // namespace rharness
