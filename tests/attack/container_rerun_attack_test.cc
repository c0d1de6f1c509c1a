// Whole reruns of strangers in real containers: what the attacks on host runs do, from inside.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <memory>

#include "harness/base/digest.h"
#include "harness/execution/launch/container_launcher.h"
#include "harness/execution/rerun/rerun.h"
#include "tests/attack/attack_world.h"
#include "tests/execution/launch/container_world.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

class ContainerRerun : public AttackWorld {
 protected:
  static void SetUpTestSuite() { world_ = std::make_unique<ContainerWorld>(); }
  static void TearDownTestSuite() { world_.reset(); }
  void SetUp() override {
    if (!world_->ready()) GTEST_SKIP() << "no containers here: " << world_->problem();
    Write("outside/secret.safetensors", OneTensor(42));
    manifest_.image.kind = ImageKind::kOci;
    manifest_.image.registry = world_->registry();
    manifest_.image.repository = "ml/tiny";
    manifest_.image.digest = world_->first().digest;
    manifest_.artifacts = {Artifact{.role = "weights", .path = "model.safetensors"}};
  }

  // Of a shell that has busybox's commands by their names.
  Evidence Rerun(const std::string& script) {
    const std::string names =
        "for c in $(/bin/busybox --list); do alias $c=\"/bin/busybox $c\"; done\n";
    manifest_.command = {"/bin/busybox", "sh", "-c", names + "eval '" + script + "'"};
    ContainerLauncher podman(*FindEngine("podman"));
    EXPECT_TRUE(podman.Prepare(manifest_.image).ok());
    const auto executor = MakeLocalExecutor();
    const RerunContext context{.folder = folder() / "drill",
                               .launchers = {{"podman", &podman}},
                               .executor = executor.get(),
                               .cache = &cache_,
                               .clock = &SystemClock()};
    const auto result = CarryOut({.launcher = "podman",
                                  .resources = {.disk_bytes = 64 << 20, .timeout_seconds = 60},
                                  .places = places_,
                                  .manifest = manifest_},
                                 context);
    EXPECT_TRUE(result.ok()) << result.error().ToString();
    if (!result.ok()) return {};
    said_ = "";
    for (const char* name : {"stdout.log", "stderr.log"}) {
      const auto text = ReadFile(place() / name);
      if (text.ok()) said_ += *text;
    }
    EXPECT_FALSE(fs::exists(place() / "workspace")) << "nothing of it stays";
    EXPECT_EQ(Read(folder() / "outside/secret.safetensors"), OneTensor(42));
    return result->evidence;
  }
  fs::path place() const { return folder() / "drill/runs/r/1"; }
  // Nothing was taken, and one remark says why.
  void ExpectRefusal(const std::string& script, const std::string& why) {
    const Evidence evidence = Rerun(script);
    EXPECT_EQ(evidence.obstacle, "");
    EXPECT_TRUE(evidence.outcome.Succeeded()) << evidence.outcome.ToString() << said_;
    EXPECT_TRUE(evidence.artifacts.empty());
    ASSERT_EQ(evidence.remarks.size(), 1U);
    EXPECT_EQ(evidence.remarks[0].code, "output_unreadable");
    EXPECT_THAT(evidence.remarks[0].message, HasSubstr(why));
    EXPECT_THAT(ToJson(evidence).Dump(), Not(HasSubstr("root:")));
  }

  std::string said_;  // by the run
  static std::unique_ptr<ContainerWorld> world_;
};

std::unique_ptr<ContainerWorld> ContainerRerun::world_;

TEST_F(ContainerRerun, LeavesNoLinkForAnOutputThatIsFollowed) {
  ExpectRefusal(
      fmt::format("ln -s {} model.safetensors", (folder() / "outside/secret.safetensors").string()),
      "symbolic link");
}

TEST_F(ContainerRerun, LeavesNoLinkForTheFolderOfAnOutputThatIsFollowed) {
  manifest_.artifacts[0].path = "out/secret.safetensors";
  ExpectRefusal(fmt::format("ln -s {} out", (folder() / "outside").string()), "symbolic link");
}

TEST_F(ContainerRerun, LeavesNoLinkForAShardThatIsFollowed) {
  manifest_.artifacts[0].path = "model.safetensors.index.json";
  ExpectRefusal(
      fmt::format("echo \"{{\\\"weight_map\\\": {{\\\"w\\\": \\\"s.safetensors\\\"}}}}\" > "
                  "model.safetensors.index.json; ln -s {} s.safetensors",
                  (folder() / "outside/secret.safetensors").string()),
      "symbolic link");
}

TEST_F(ContainerRerun, LeavesNoLinkForItsMetricsThatIsFollowed) {
  manifest_.artifacts.clear();
  manifest_.metrics_path = "metrics.json";
  ExpectRefusal("ln -s /etc/passwd metrics.json", "symbolic link");
}

TEST_F(ContainerRerun, LeavesNoPipeThatIsWaitedFor) {
  ExpectRefusal("mkfifo model.safetensors", "no regular file");
}

TEST_F(ContainerRerun, LeavesNoFolderOrSocketForAnOutput) {
  ExpectRefusal("mkdir model.safetensors; chmod 0 model.safetensors", "");
}

TEST_F(ContainerRerun, LeavesNothingThatCannotBeRemoved) {
  const Evidence evidence = Rerun(
      "mkdir -p a/b; echo x > a/b/c; chmod 0 a/b/c a/b a; "
      "n=d; i=0; while test $i -lt 300; do mkdir $n && cd $n && i=$((i+1)) || exit 1; done; "
      "touch \"$(printf \"x\\033[31m\\ny\")\"; chmod 0 .");
  EXPECT_TRUE(evidence.outcome.Succeeded()) << evidence.outcome.ToString() << said_;
  EXPECT_EQ(evidence.obstacle, "");
}

TEST_F(ContainerRerun, CannotMoveMountOrLeaveItsWorkspace) {
  const Evidence evidence = Rerun(
      "w=$PWD; mv $w $w.old; mount -t tmpfs none $w; mount --bind / $w; umount $w; "
      "unshare -m true; chroot / true; ls $w.old; true");
  EXPECT_TRUE(evidence.outcome.Succeeded()) << said_;
  for (const char* done : {"resource busy|Read-only", "mount: permission denied"}) {
    EXPECT_THAT(said_, testing::ContainsRegex(done));
  }
  ASSERT_EQ(evidence.remarks.size(), 1U);
  EXPECT_EQ(evidence.remarks[0].code, "output_missing");
}

// Its session is its own, and nothing in its environment tells whose it is.
TEST_F(ContainerRerun, ThatDetachesAndEmptiesItsEnvironmentEndsWithItsRun) {
  const std::string mark = fmt::format("3{}.5", ::getpid());
  const Evidence evidence =
      Rerun(fmt::format("(setsid env -i /bin/busybox sleep {} > /dev/null 2>&1 &); true", mark));
  EXPECT_TRUE(evidence.outcome.Succeeded()) << said_;
  for (const auto& entry : fs::directory_iterator("/proc")) {
    const auto line = ReadFile(entry.path() / "cmdline");
    EXPECT_FALSE(line.ok() && line->find(mark) != line->npos) << entry.path();
  }
}

TEST_F(ContainerRerun, CannotTouchTheMachineThroughItsFileSystems) {
  const Evidence evidence = Rerun(
      "for f in /proc/sys/kernel/core_pattern /proc/sys/kernel/hostname /proc/sysrq-trigger "
      "/sys/kernel/uevent_helper /sys/fs/cgroup/cgroup.procs /sys/power/state /which "
      "/etc/resolv.conf /etc/hosts; do test -e $f && (echo x >> $f) 2> /dev/null && echo wrote $f; "
      "done; for f in /dev/mem /dev/kmsg /dev/vda /dev/sda /proc/kcore /dev/fuse /dev/net/tun; do "
      "(head -c 1 $f > /dev/null) 2> /dev/null && test -s $f && echo read $f; done; "
      "mknod d b 8 0 2> /dev/null && echo made; mknod c c 1 1 2> /dev/null && echo made; true");
  EXPECT_TRUE(evidence.outcome.Succeeded()) << said_;
  EXPECT_EQ(said_, "");
}

TEST_F(ContainerRerun, CannotWriteToDataThatItOnlySees) {
  Write("root/large.bin", "");
  const fs::path large = repository() / "large.bin";
  fs::resize_file(large, kCopyLimitBytes + 1);
  ASSERT_EQ(::chmod(large.c_str(), 0666), 0);
  manifest_.artifacts.clear();
  manifest_.data = {DataItem{.name = "large",
                             .location = "large.bin",
                             .path = "large.bin",
                             .kind = DataKind::kFile,
                             .sha256 = HashFile(large)->sha256,
                             .size_bytes = kCopyLimitBytes + 1}};
  Evidence evidence = Rerun(
      "echo x >> large.bin; truncate -s 1 large.bin; chmod 777 large.bin; touch large.bin; true");
  EXPECT_EQ(evidence.obstacle, "");
  EXPECT_TRUE(evidence.remarks.empty()) << evidence.remarks[0].message;
  // Its own name for them is another's to take, and is missed.
  evidence = Rerun("mv large.bin b; ln b c; rm -f b; true");
  EXPECT_EQ(evidence.remarks.size(), 1U);
  EXPECT_EQ(fs::file_size(large), kCopyLimitBytes + 1);
  EXPECT_EQ(HashFile(large)->sha256, manifest_.data[0].sha256);
}

// What it leaves looks like a repository that has programs of its own for every look at it.
TEST_F(ContainerRerun, RunsNothingOfARepositoryThatItMade) {
  Write("root/train.py", "print(1)\n");
  manifest_.code.commit = Commit();
  manifest_.artifacts.clear();
  const std::string mark = (folder() / "outside/ran").string();
  const Evidence evidence = Rerun(fmt::format(
      "mkdir -p .git/hooks .git/objects .git/refs; echo ref: refs/heads/main > .git/HEAD; "
      "printf \"[core]\\n fsmonitor = touch {0}\\n sshCommand = touch {0}\\n pager = touch {0}\\n"
      "[filter \\\"x\\\"]\\n clean = touch {0}\\n\" > .git/config; "
      "echo \"* filter=x\" > .gitattributes; "
      "for h in post-checkout post-index-change pre-commit; do printf \"#!/bin/sh\\ntouch {0}\\n\" "
      "> "
      ".git/hooks/$h; chmod 755 .git/hooks/$h; done",
      mark));
  EXPECT_TRUE(evidence.outcome.Succeeded()) << said_;
  EXPECT_FALSE(fs::exists(mark));
  EXPECT_EQ(Git({"status", "--porcelain"}), "");
}

TEST_F(ContainerRerun, KeepsAModeOfOursForWhatItWrote) {
  manifest_.artifacts[0].path = "model.bin";
  manifest_.artifacts[0].role = "other";
  const Evidence evidence = Rerun("cp /bin/busybox model.bin; chmod 6777 model.bin");
  ASSERT_EQ(evidence.artifacts.size(), 1U) << said_;
  struct stat info {};
  ASSERT_EQ(::stat((folder() / "drill" / evidence.artifacts[0].location).c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07022U, 0U);
  EXPECT_EQ(info.st_uid, ::geteuid());
}

TEST_F(ContainerRerun, CannotFillTheDiskByWhatItPrints) {
  manifest_.artifacts.clear();
  const Evidence evidence = Rerun("yes | head -c 300000000; yes | head -c 300000000 >&2");
  std::uint64_t bytes = 0;
  for (const auto& entry : fs::recursive_directory_iterator(folder() / "drill")) {
    if (entry.is_regular_file()) bytes += entry.file_size();
  }
  EXPECT_LT(bytes, std::uint64_t{80} << 20) << evidence.outcome.ToString();
}

}  // namespace
}  // namespace rharness
