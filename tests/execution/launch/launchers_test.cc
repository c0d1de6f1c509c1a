// The argument vectors that launchers build, word by word.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "harness/execution/launch/container_launcher.h"
#include "harness/execution/launch/host_launcher.h"

namespace rharness {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::Not;
using testing::StartsWith;

const std::string kDigest = "sha256:" + std::string(64, '7');

Job MakeJob() {
  Job job;
  job.name = "RUN.1";
  job.command = {"python3", "train.py", "--seed=3", "; rm -rf /", "$HOME"};
  job.workspace = "/srv/job 1";
  job.working_directory = "code";
  job.mounts = {{"/data/digits", "/data/digits"}};
  job.environment = {{"A", "1"}, {"EMPTY", ""}};
  job.image.kind = ImageKind::kOci;
  job.image.registry = "registry.example.org";
  job.image.repository = "ml/train";
  job.image.digest = kDigest;
  return job;
}

// An ordinary user's machine, and root's.
constexpr ContainerHost kUsers;
constexpr ContainerHost kRoots = {
    .rootful = true, .memory_bytes = std::uint64_t{8} << 30, .can_limit_processes = true};

TEST(HostLauncher, RunsTheCommandAsItIs) {
  const Result<ProcessSpec> spec = HostLauncher().BuildCommand(MakeJob());
  ASSERT_TRUE(spec.ok());
  EXPECT_EQ(spec->argv, MakeJob().command);
  EXPECT_EQ(spec->environment, MakeJob().environment);
  EXPECT_EQ(spec->working_directory, "/srv/job 1/code");
}

TEST(HostLauncher, CannotMoveDataNorStandInForAnImage) {
  Job job = MakeJob();
  job.mounts[0].target = "/elsewhere";
  EXPECT_EQ(HostLauncher().BuildCommand(job).error().code, ErrorCode::kInvalidInput);
  EXPECT_TRUE(HostLauncher().Prepare(Image{}).ok());
  EXPECT_EQ(HostLauncher().Prepare(job.image).error().code, ErrorCode::kUnsupported);
}

TEST(EveryLauncher, RefusesJobsThatLeaveTheirPlace) {
  ContainerLauncher podman(*FindEngine("podman"));
  HostLauncher host;
  for (const Launcher* launcher :
       {static_cast<const Launcher*>(&podman), static_cast<const Launcher*>(&host)}) {
    std::vector<Job> bad(6, MakeJob());
    bad[0].command.clear();
    bad[1].working_directory = "../other";
    bad[2].working_directory = "/etc";
    bad[3].workspace = "relative";
    bad[4].mounts = {{"/data", "/"}};
    bad[5].mounts = {{"/data/../etc", "/data/../etc"}};
    for (const Job& job : bad) {
      EXPECT_EQ(launcher->BuildCommand(job).error().code, ErrorCode::kInvalidInput);
    }
  }
}

TEST(ContainerLauncher, BuildsPodmansCommandLine) {
  const Result<ProcessSpec> spec =
      ContainerLauncher(*FindEngine("podman"), kUsers).BuildCommand(MakeJob());
  ASSERT_TRUE(spec.ok());
  EXPECT_THAT(
      spec->argv,
      ElementsAre("podman", "run", "--name=" + ContainerName(MakeJob()), "--pull=never",
                  "--network=none", "--hostname=job", "--read-only", "--cap-drop=all",
                  "--security-opt=no-new-privileges", "--log-driver=none", "--entrypoint=",
                  "--workdir=/srv/job 1/code", "--replace", "--http-proxy=false", "--user=0:0",
                  "--tmpfs=/tmp:rw,nosuid,nodev,noexec,size=1073741824", "--shm-size=1073741824",
                  "--cpus=1", "--mount=type=bind,source=/srv/job 1,target=/srv/job 1,nosuid,nodev",
                  "--mount=type=bind,source=/data/digits,target=/data/digits,readonly,nosuid,nodev",
                  "--env=A=1", "--env=EMPTY=", "registry.example.org/ml/train@" + kDigest,
                  "python3", "train.py", "--seed=3", "; rm -rf /", "$HOME"));
}

TEST(ContainerLauncher, GivesAFolderInMemoryBesideTmp) {
  Job job = MakeJob();
  job.scratch = {.target = "/run/notes", .size_bytes = 4096};
  for (const char* engine : {"podman", "docker"}) {
    const ContainerLauncher launcher(*FindEngine(engine), kUsers);
    job.scratch->target = "/run/notes";
    EXPECT_THAT(launcher.BuildCommand(job)->argv,
                Contains("--tmpfs=/run/notes:rw,nosuid,nodev,noexec,mode=1777,size=4096"));
    for (const char* bad : {"notes", "/", "/run/../notes", "/run/no,tes"}) {
      job.scratch->target = bad;
      EXPECT_FALSE(launcher.BuildCommand(job).ok()) << bad;
    }
  }
}

TEST(ContainerLauncher, UnderRootRunsAsAUserWithoutRightsUnlessToldOtherwise) {
  Job job = MakeJob();
  const ContainerLauncher podman(*FindEngine("podman"), kRoots);
  const ContainerLauncher docker(*FindEngine("docker"), kRoots);
  EXPECT_THAT(podman.BuildCommand(job)->argv, Contains("--uidmap=0:1878982656:65536"));
  EXPECT_THAT(podman.BuildCommand(job)->argv, Contains("--gidmap=0:1878982656:65536"));
  EXPECT_THAT(docker.BuildCommand(job)->argv, Contains("--user=1878982656:1878982656"));
  job.container_root = true;
  EXPECT_THAT(podman.BuildCommand(job)->argv, Not(Contains(StartsWith("--uidmap"))));
  EXPECT_THAT(docker.BuildCommand(job)->argv,
              Contains(fmt::format("--user={}:{}", ::geteuid(), ::getegid())));
}

TEST(ContainerLauncher, LimitsWhatNobodyAskedToLimitByWhatTheMachineHas) {
  Job job = MakeJob();
  job.limits.disk_bytes = 4096;
  const auto spec = ContainerLauncher(*FindEngine("podman"), kRoots).BuildCommand(job);
  for (const char* word : {"--memory=8589934592", "--memory-swap=8589934592", "--pids-limit=16384",
                           "--tmpfs=/tmp:rw,nosuid,nodev,noexec,size=4096"}) {
    EXPECT_THAT(spec->argv, Contains(word));
  }
}

TEST(ContainerHost, KnowsAControllerByItsWholeName) {
  EXPECT_TRUE(HoldsController("cpuset cpu io memory pids\n", "memory"));
  EXPECT_FALSE(HoldsController("cpuset cpu io\n", "memory"));
  EXPECT_FALSE(HoldsController("hugetlb_memory", "memory"));
}

TEST(ContainerLauncher, DockerDiffersWhereItMust) {
  const ContainerLauncher launcher(*FindEngine("docker"), kUsers);
  Job job = MakeJob();
  job.resources.gpus = 2;
  const Result<ProcessSpec> spec = launcher.BuildCommand(job);
  ASSERT_TRUE(spec.ok());
  EXPECT_EQ(spec->argv[0], "docker");
  EXPECT_THAT(spec->argv, Contains(fmt::format("--user={}:{}", ::geteuid(), ::getegid())));
  EXPECT_THAT(spec->argv, Contains("--gpus=all"));
  EXPECT_THAT(spec->argv, Not(Contains(StartsWith("--replace"))));
  EXPECT_THAT(spec->argv, Not(Contains(StartsWith("--http-proxy"))));
}

TEST(ContainerLauncher, PassesResourcesOn) {
  Job job = MakeJob();
  job.resources.cpus = 4;
  job.resources.gpus = 1;
  job.resources.memory_bytes = 1 << 30;
  const ContainerLauncher launcher(*FindEngine("podman"));
  Result<ProcessSpec> spec = launcher.BuildCommand(job);
  ASSERT_TRUE(spec.ok());
  for (const char* word : {"--cpus=4", "--device=nvidia.com/gpu=all", "--memory=1073741824",
                           "--memory-swap=1073741824", "--shm-size=1073741824"}) {
    EXPECT_THAT(spec->argv, Contains(word));
  }
  job.limits.memory_bytes = 1 << 29;
  spec = launcher.BuildCommand(job);
  EXPECT_THAT(spec->argv, Contains("--memory=536870912")) << "the job's limit goes first";
}

TEST(ContainerLauncher, RefusesWhatTheCommandLineCannotCarry) {
  std::vector<Job> bad(6, MakeJob());
  bad[0].workspace = "/srv/a,target=/etc";
  bad[1].mounts = {{"/data/a,b", "/data/x"}};
  bad[2].mounts = {{"/data/a", "/data/x,rw"}};
  bad[3].mounts = {{"/data/\"a", "/data/x"}};
  bad[4].environment = {{"A=B", "1"}};
  bad[5].environment = {{"", "1"}};
  for (const Job& job : bad) {
    EXPECT_EQ(ContainerLauncher(*FindEngine("podman")).BuildCommand(job).error().code,
              ErrorCode::kInvalidInput);
  }
}

TEST(ContainerName, IsSafeBoundedAndTellsWorkspacesApart) {
  Job job = MakeJob();
  job.name = std::string(300, 'x') + "; rm/";
  EXPECT_LE(ContainerName(job).size(), 128u);
  job.name = "a b/c;d";
  EXPECT_THAT(ContainerName(job), StartsWith("rharness-a_b_c_d-"));
  Job other = job;
  other.workspace = "/srv/job 2";
  EXPECT_NE(ContainerName(job), ContainerName(other));
  EXPECT_EQ(ContainerName(job), ContainerName(Job(job)));
}

TEST(MakeLauncher, KnowsTheTable) {
  EXPECT_EQ((*MakeLauncher("host"))->name(), "host");
  EXPECT_EQ(MakeLauncher("lxc").error().code, ErrorCode::kInvalidInput);
  const char* path = ::getenv("PATH");
  const std::string saved = path == nullptr ? "" : path;
  ::setenv("PATH", "/nowhere", 1);
  EXPECT_EQ(MakeLauncher("podman").error().code, ErrorCode::kNotFound);
  ::setenv("PATH", saved.c_str(), 1);
}

}  // namespace
}  // namespace rharness
