// What a run in a real container can leave behind or take.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <memory>

#include "harness/execution/launch/container_launcher.h"
#include "tests/attack/attack_world.h"
#include "tests/execution/launch/container_world.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

class Container : public AttackWorld {
 protected:
  static void SetUpTestSuite() { containers_ = std::make_unique<ContainerWorld>(); }
  static void TearDownTestSuite() { containers_.reset(); }
  void SetUp() override {
    if (!containers_->ready()) GTEST_SKIP() << "no containers here: " << containers_->problem();
  }

  ProcessResult Run(const std::string& script, const std::vector<Mount>& mounts = {},
                    bool container_root = false) {
    Job job;
    job.name = "attack.1";
    job.command = {"/bin/busybox", "sh", "-c", script};
    job.workspace = folder() / "drill" / "workspace";
    fs::create_directories(job.workspace);
    job.mounts = mounts;
    job.image.kind = ImageKind::kOci;
    job.image.registry = containers_->registry();
    job.image.repository = "ml/tiny";
    job.image.digest = containers_->first().digest;
    job.limits.timeout = std::chrono::seconds(50);
    job.limits.disk_bytes = 4 << 20;
    job.limits.disk_root = job.workspace;
    job.container_root = container_root;
    ContainerLauncher podman(*FindEngine("podman"));
    EXPECT_TRUE(podman.Prepare(job.image).ok());
    ProcessResult result;
    result.outcome.kind = OutcomeKind::kNotStarted;
    const Status given = podman.HandOver(job);
    if (!given.ok()) {
      result.outcome.detail = given.error().ToString();
      return result;
    }
    const auto spec = podman.BuildCommand(job);
    EXPECT_TRUE(spec.ok());
    result = MakeLocalExecutor()->Execute(*spec, job.limits, {});
    EXPECT_TRUE(podman.Finish(job, &result.outcome).ok());
    return result;
  }
  struct stat Left(const std::string& name) {
    struct stat info {};
    EXPECT_EQ(::lstat((folder() / "drill/workspace" / name).c_str(), &info), 0) << name;
    return info;
  }
  static bool Rootful() { return DescribeContainerHost().rootful; }

  static std::unique_ptr<ContainerWorld> containers_;
};

std::unique_ptr<ContainerWorld> Container::containers_;

TEST_F(Container, LeavesNoProgramThatIsRoots) {
  const ProcessResult result =
      Run("/bin/busybox cp /bin/busybox shell; /bin/busybox chmod 4755 shell");
  EXPECT_TRUE(result.outcome.Succeeded()) << result.stderr_text;
  if (!Rootful()) GTEST_SKIP() << "no engine runs as this machine's root here";
  EXPECT_EQ(Left("shell").st_uid, kFirstContainerUser);
}

TEST_F(Container, SeesSetUserIdBitsAndDevicesOnNoMount) {
  const fs::path data = folder() / "data";
  fs::create_directories(data);
  const ProcessResult result = Run("/bin/busybox cat /proc/self/mounts", {{data, "/data"}});
  for (const std::string& at :
       {(folder() / "drill/workspace").string(), std::string("/data"), std::string("/tmp")}) {
    const std::size_t begin = result.stdout_text.find(" " + at + " ");
    ASSERT_NE(begin, std::string::npos) << result.stdout_text;
    const std::string line =
        result.stdout_text.substr(begin, result.stdout_text.find('\n', begin) - begin);
    EXPECT_THAT(line, HasSubstr("nosuid")) << line;
    EXPECT_THAT(line, HasSubstr("nodev")) << line;
  }
}

TEST_F(Container, IsNotThisMachinesRoot) {
  if (!Rootful()) GTEST_SKIP() << "no engine runs as this machine's root here";
  const ProcessResult mapped = Run("/bin/busybox cat /proc/self/uid_map");
  EXPECT_THAT(mapped.stdout_text, HasSubstr(std::to_string(kFirstContainerUser)));
  const ProcessResult root = Run("/bin/busybox cat /proc/self/uid_map", {}, true);
  EXPECT_THAT(root.stdout_text, HasSubstr(" 0 ")) << root.stderr_text;
  EXPECT_THAT(root.stdout_text, Not(HasSubstr(std::to_string(kFirstContainerUser))));
}

TEST_F(Container, IsToldOfDataThatItCouldNotRead) {
  if (!Rootful()) GTEST_SKIP() << "no engine runs as this machine's root here";
  Write("data/private", "x");
  ASSERT_EQ(::chmod((folder() / "data/private").c_str(), 0600), 0);
  const std::vector<Mount> mounts = {{folder() / "data/private", "/data"}};
  EXPECT_THAT(Run("true", mounts).outcome.detail, HasSubstr("--container-root"));
  EXPECT_EQ(Run("/bin/busybox cat /data", mounts, true).stdout_text, "x");
}

TEST_F(Container, CannotFillTmpBeyondItsDisk) {
  const ProcessResult result =
      Run("for f in a b c; do /bin/busybox head -c 2000000 /dev/zero > /tmp/$f; echo $?; done");
  EXPECT_EQ(result.stdout_text, "0\n0\n1\n") << result.stderr_text;
}

TEST_F(Container, CannotHideDiskInFilesWithoutAName) {
  const ProcessResult result =
      Run("for n in 3 4 5; do eval \"exec $n>f$n\"; /bin/busybox rm f$n; "
          "/bin/busybox head -c 3000000 /dev/zero >&$n; done; /bin/busybox sleep 60");
  EXPECT_EQ(result.outcome.kind, OutcomeKind::kDiskLimit) << result.outcome.ToString();
}

TEST_F(Container, HasALimitOfMemoryAndProcessesThoughNobodyAskedForOne) {
  const ContainerHost host = DescribeContainerHost();
  if (host.memory_bytes == 0 || !host.can_limit_processes) {
    GTEST_SKIP() << "no cgroups of memory and pids here";
  }
  const ProcessResult result =
      Run("for f in memory/memory.limit_in_bytes pids/pids.max memory.max pids.max; do "
          "/bin/busybox cat /sys/fs/cgroup/$f 2>/dev/null; done");
  EXPECT_THAT(result.stdout_text, HasSubstr(std::to_string(host.memory_bytes)));
  EXPECT_THAT(result.stdout_text, HasSubstr("16384"));
}

TEST_F(Container, CannotHarmTheRepositoryOfItsCode) {
  Write("root/train.py", "print(1)\n");
  manifest_.code.commit = Commit();
  const auto workspace = Prepare();
  ASSERT_TRUE(workspace.ok() && !workspace->obstacle);
  Run("/bin/busybox find . -type f -exec /bin/busybox chmod u+w {} \\; "
      "-exec /bin/busybox cp /which {} \\;");
  EXPECT_EQ(Read(workspace->path / "train.py"), "first");
  Git({"fsck", "--strict", "--full"});
  EXPECT_EQ(VerifyAfterRun(*workspace, &cache_).value().size(), 1U);
}

}  // namespace
}  // namespace rharness
