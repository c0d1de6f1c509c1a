// The real thing: podman, and docker's command line, run tiny images from a registry on loopback.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <fstream>
#include <sstream>

#include "harness/execution/launch/container_launcher.h"
#include "harness/execution/launch/job.h"
#include "tests/execution/launch/container_world.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

class ContainerRun : public testing::TestWithParam<const char*> {
 protected:
  struct Done {
    ProcessResult process;
    Result<ImageProof> proof = ImageProof{};
  };

  static void SetUpTestSuite() {
    world_ = std::make_unique<ContainerWorld>();
    podman_ = world_->ready();
    docker_ = podman_ && world_->StartDocker();
  }
  static void TearDownTestSuite() { world_.reset(); }

  void SetUp() override {
    const std::string engine = GetParam();
    if (!(engine == "docker" ? docker_ : podman_)) {
      GTEST_SKIP() << "no containers here: " << world_->problem();
    }
    Result<std::unique_ptr<Launcher>> made = MakeLauncher(engine);
    ASSERT_TRUE(made.ok()) << made.error().ToString();
    launcher_ = std::move(*made);
    workspace_ = std::make_unique<ScopedTempDir>(*ScopedTempDir::Make("rharness-job-"));
  }

  Job MakeJob(const std::string& script) {
    Job job;
    job.name = "RUN.1";
    job.command = {"/bin/busybox", "sh", "-c", script};
    job.workspace = workspace_->path();
    job.image.kind = ImageKind::kOci;
    job.image.registry = world_->registry();
    job.image.repository = "ml/tiny";
    job.image.tag = "1";
    job.image.digest = world_->first().digest;
    job.limits.timeout = std::chrono::seconds(30);
    return job;
  }

  Done RunJob(const Job& job, const ExecutionHooks& hooks = {}) {
    const Status prepared = launcher_->Prepare(job.image);
    EXPECT_TRUE(prepared.ok()) << prepared.error().ToString();
    const Status given = launcher_->HandOver(job);
    EXPECT_TRUE(given.ok()) << given.error().ToString();
    const Result<ProcessSpec> spec = launcher_->BuildCommand(job);
    EXPECT_TRUE(spec.ok()) << spec.error().ToString();
    Done done;
    done.process = MakeLocalExecutor()->Execute(*spec, job.limits, hooks);
    done.proof = launcher_->Finish(job, &done.process.outcome);
    EXPECT_FALSE(Exists(job)) << "the container was left behind";
    return done;
  }

  static bool Exists(const Job& job) {
    return ContainerWorld::Run({"podman", "container", "exists", ContainerName(job)})
        .outcome.Succeeded();
  }

  static std::unique_ptr<ContainerWorld> world_;
  static bool podman_;
  static bool docker_;
  std::unique_ptr<Launcher> launcher_;
  std::unique_ptr<ScopedTempDir> workspace_;
};

std::unique_ptr<ContainerWorld> ContainerRun::world_;
bool ContainerRun::podman_ = false;
bool ContainerRun::docker_ = false;

TEST_P(ContainerRun, ProvesTheImageThatRan) {
  const Done done = RunJob(MakeJob("/bin/busybox cat /which"));
  EXPECT_TRUE(done.process.outcome.Succeeded()) << done.process.stderr_text;
  EXPECT_EQ(done.process.stdout_text, "first");
  ASSERT_TRUE(done.proof.ok()) << done.proof.error().ToString();
  EXPECT_EQ(done.proof->digest, world_->first().digest);
  EXPECT_EQ(done.proof->image_id, world_->first().image_id);
}

TEST_P(ContainerRun, ExitCodesPassThrough) {
  for (const int code : {7, 125}) {
    const Done done = RunJob(MakeJob(fmt::format("exit {}", code)));
    EXPECT_EQ(done.process.outcome.kind, OutcomeKind::kExited);
    EXPECT_EQ(done.process.outcome.exit_code, code);
    EXPECT_TRUE(done.proof.ok());
  }
}

TEST_P(ContainerRun, HasNoNetworkAndNoOtherInterface) {
  const Done done = RunJob(MakeJob("/bin/busybox cat /proc/net/dev"));
  EXPECT_THAT(done.process.stdout_text, HasSubstr("lo:"));
  EXPECT_EQ(std::count(done.process.stdout_text.begin(), done.process.stdout_text.end(), ':'), 1);
}

TEST_P(ContainerRun, OnlyTheWorkspaceAndTmpAreWritable) {
  const fs::path data = world_->folder() / "data";
  fs::create_directories(data);
  std::ofstream(data / "set") << "numbers";
  fs::create_symlink(data, workspace_->path() / "link");
  fs::create_directory(workspace_->path() / "sub");
  Job job = MakeJob(
      "/bin/busybox cat ../link/set; echo made > made; echo t > /tmp/t && echo tmp;"
      "echo x > /root-file || echo root refused; echo x > /data/set || echo data refused");
  job.working_directory = "sub";
  job.mounts = {{data, data.string()}, {data, "/data"}};
  const Done done = RunJob(job);
  EXPECT_EQ(done.process.stdout_text, "numberstmp\nroot refused\ndata refused\n")
      << done.process.stderr_text;
  const fs::path made = workspace_->path() / "sub/made";
  EXPECT_EQ(*ReadFile(made), "made\n");
  struct stat info {};
  ASSERT_EQ(::stat(made.c_str(), &info), 0);
  const bool mapped = DescribeContainerHost().rootful;
  EXPECT_EQ(info.st_uid, mapped ? kFirstContainerUser : ::geteuid());
}

TEST_P(ContainerRun, SeesTheJobsEnvironmentAndNotOurs) {
  Job job = MakeJob("/bin/busybox env");
  job.environment = {{"ONE", "1"}, {"ODD", "a=b,\"c\" *"}, {"LINES", "x\ny"}};
  const Done done = RunJob(job);
  for (const char* line : {"ONE=1\n", "ODD=a=b,\"c\" *\n", "LINES=x\ny\n"}) {
    EXPECT_THAT(done.process.stdout_text, HasSubstr(line));
  }
  EXPECT_THAT(done.process.stdout_text, Not(HasSubstr("RHARNESS")));
}

TEST_P(ContainerRun, ADigestOrRepositoryThatIsNotThereIsNotFound) {
  Job job = MakeJob("true");
  job.image.digest = "sha256:" + std::string(64, 'a');
  EXPECT_EQ(launcher_->Prepare(job.image).error().code, ErrorCode::kNotFound);
  job.image.repository = "ml/nothing";
  EXPECT_EQ(launcher_->Prepare(job.image).error().code, ErrorCode::kNotFound);
}

TEST_P(ContainerRun, ARegistryThatIsDownIsInfrastructure) {
  Job job = MakeJob("true");
  job.image.registry = fmt::format("127.0.0.1:{}", ContainerWorld::FreePort());
  job.image.digest = "sha256:" + std::string(64, 'b');
  const Status prepared = launcher_->Prepare(job.image);
  EXPECT_EQ(prepared.error().code, ErrorCode::kProcess);
  EXPECT_THAT(prepared.error().message, HasSubstr("connection refused"));
}

TEST_P(ContainerRun, TheMemoryLimitIsTheJobs) {
  Job job = MakeJob("x=aaaaaaaaaaaaaaaa; while :; do x=$x$x; done");
  job.resources.memory_bytes = std::uint64_t{64} << 20;
  const Done done = RunJob(job);
  EXPECT_EQ(done.process.outcome.kind, OutcomeKind::kMemoryLimit)
      << done.process.outcome.ToString() << done.process.stderr_text;
  EXPECT_TRUE(done.proof.ok());
}

TEST_P(ContainerRun, ATimeoutRemovesTheContainer) {
  Job job = MakeJob("trap '' TERM; echo up; /bin/busybox sleep 60");
  job.limits.timeout = std::chrono::seconds(6);
  const Done done = RunJob(job);
  EXPECT_EQ(done.process.outcome.kind, OutcomeKind::kTimedOut);
  EXPECT_EQ(done.process.stdout_text, "up\n");
  EXPECT_TRUE(done.proof.ok()) << done.proof.error().ToString();
}

TEST_P(ContainerRun, AContainerWhoseMonitorWasKilledIsRemoved) {
  const Job job = MakeJob("trap '' TERM; /bin/busybox sleep 60");
  const auto kill_monitor_and_container = [&job] {
    const ProcessResult seen = ContainerWorld::Run(
        {"podman", "container", "inspect",
         "--format={{.State.Running}} {{.State.ConmonPid}} {{.State.Pid}}", ContainerName(job)});
    std::istringstream words(seen.stdout_text);
    std::string running;
    std::array<pid_t, 2> pids{};
    if (!(words >> running >> pids[0] >> pids[1]) || running != "true") return false;
    for (const pid_t pid : pids) EXPECT_EQ(::kill(pid, SIGKILL), 0);
    return true;  // the client would wait for the monitor's report
  };
  const Done done = RunJob(job, {.on_start = {}, .should_cancel = kill_monitor_and_container});
  EXPECT_EQ(done.process.outcome.kind, OutcomeKind::kCancelled);
  EXPECT_TRUE(done.proof.ok()) << done.proof.error().ToString();
}

TEST_P(ContainerRun, ACommandThatIsNotInTheImageIsTheJobsFailure) {
  if (GetParam() == std::string("docker")) {
    GTEST_SKIP() << "podman's docker API does not say why a command could not be started";
  }
  Job job = MakeJob("");
  job.command = {"/no/such/program"};
  const Done done = RunJob(job);
  EXPECT_EQ(done.process.outcome.kind, OutcomeKind::kExited) << done.process.stderr_text;
  EXPECT_EQ(done.process.outcome.exit_code, 127);
}

TEST_P(ContainerRun, NeverPullsAndAnImageThatWasNotPreparedIsInfrastructure) {
  Job job = MakeJob("true");
  job.image.digest = "sha256:" + std::string(64, 'c');
  const Result<ProcessSpec> spec = launcher_->BuildCommand(job);
  ProcessResult result = MakeLocalExecutor()->Execute(*spec, job.limits, {});
  EXPECT_TRUE(launcher_->Finish(job, &result.outcome).ok());
  EXPECT_EQ(result.outcome.kind, OutcomeKind::kNotStarted);
}

TEST_P(ContainerRun, AnotherImageIsNotAccepted) {
  Job job = MakeJob("true");
  Job other = job;
  other.image.digest = world_->second().digest;
  ASSERT_TRUE(launcher_->Prepare(job.image).ok());
  ASSERT_TRUE(launcher_->Prepare(other.image).ok());
  const std::string reference =
      fmt::format("{}/ml/tiny@{}", world_->registry(), world_->second().digest);
  ASSERT_TRUE(ContainerWorld::Run({"podman", "create", "--pull=never", "--network=none",
                                   "--name=" + ContainerName(job), reference, "true"})
                  .outcome.Succeeded());
  Outcome outcome;
  outcome.kind = OutcomeKind::kExited;
  const Result<ImageProof> proof = launcher_->Finish(job, &outcome);
  ASSERT_FALSE(proof.ok());
  EXPECT_EQ(proof.error().code, ErrorCode::kIntegrity);
  EXPECT_FALSE(Exists(job));
}

INSTANTIATE_TEST_SUITE_P(Engines, ContainerRun, testing::Values("podman", "docker"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace rharness
