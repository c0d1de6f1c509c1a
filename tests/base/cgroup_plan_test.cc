// Which control groups can be had, decided from texts as kernels wrote them.
#include "harness/base/cgroup_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rharness {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// Version 1 for every controller, version 2 beside it for none.
constexpr char kHybridOwn[] =
    "9:name=systemd:/\n8:pids:/\n7:blkio:/\n4:memory:/api/0b9e\n1:cpu:/\n0::/\n";
constexpr char kHybridMounts[] =
    "30 23 0:5 / /dev rw,relatime - devtmpfs devtmpfs rw,size=12339436k\n"
    "31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755\n"
    "32 31 0:29 / /sys/fs/cgroup/cpu rw,relatime - cgroup cgroup rw,cpu\n"
    "35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n"
    "39 31 0:36 / /sys/fs/cgroup/pids rw,relatime - cgroup cgroup rw,pids\n"
    "41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n";

// systemd, version 2 alone.
constexpr char kUnifiedMounts[] =
    "35 24 0:30 / /sys/fs/cgroup rw,nosuid,nodev,noexec,relatime shared:9 - cgroup2 cgroup2 "
    "rw,nsdelegate,memory_recursiveprot\n";
constexpr char kScopeOwn[] =
    "0::/user.slice/user-1000.slice/user@1000.service/app.slice/run-u7.scope\n";
constexpr char kScope[] =
    "/sys/fs/cgroup/user.slice/user-1000.slice/user@1000.service/app.slice/run-u7.scope";

// A scope of one's own (systemd-run --user --scope -p Delegate=yes), as it is at the start.
CgroupStates Delegated() {
  return {.controllers = "cpu memory pids\n",
          .subtree_control = "\n",
          .is_ours = true,
          .holds_processes = true};
}

TEST(FindCgroups, OfAHybridTreeAreInTheirHierarchies) {
  const CgroupFolders folders = FindCgroups(kHybridOwn, kHybridMounts);
  EXPECT_EQ(folders.unified, "/sys/fs/cgroup/unified");
  EXPECT_EQ(folders.memory, "/sys/fs/cgroup/memory/api/0b9e");
  EXPECT_EQ(folders.pids, "/sys/fs/cgroup/pids");
  EXPECT_THAT(
      FindCgroupMounts(kHybridMounts),
      ElementsAre("/sys/fs/cgroup/memory", "/sys/fs/cgroup/pids", "/sys/fs/cgroup/unified"));
}

TEST(FindCgroups, OfVersionTwoIsTheProcessesOwn) {
  const CgroupFolders folders = FindCgroups(kScopeOwn, kUnifiedMounts);
  EXPECT_EQ(folders.unified, kScope);
  EXPECT_EQ(folders.memory, "");
  EXPECT_EQ(folders.pids, "");
}

TEST(FindCgroups, OfASupervisorIsTheOneAboveIt) {
  EXPECT_EQ(FindCgroups("0::/a.scope/rharness.supervisor\n", kUnifiedMounts).unified,
            "/sys/fs/cgroup/a.scope");
}

// docker run --cgroupns=private: the container's own group is the top of what it sees.
TEST(FindCgroups, InAPrivateNamespaceIsTheTopOfIt) {
  const char mounts[] =
      "652 650 0:30 / /sys/fs/cgroup ro,nosuid,nodev,noexec,relatime - cgroup2 cgroup rw\n";
  EXPECT_EQ(FindCgroups("0::/\n", mounts).unified, "/sys/fs/cgroup");
}

// Version 1 in a container: the folder shows the container's group, and not those above it.
TEST(FindCgroups, BelowTheGroupThatIsMountedIsRelativeToIt) {
  const char mounts[] =
      "703 700 0:32 /docker/8f3a /sys/fs/cgroup/memory ro,nosuid - cgroup cgroup rw,memory\n"
      "704 700 0:36 /docker/8f3a /sys/fs/cgroup/pids ro,nosuid - cgroup cgroup rw,pids\n";
  const CgroupFolders folders =
      FindCgroups("11:pids:/docker/8f3a/sub\n4:memory:/docker/8f3a\n0::/\n", mounts);
  EXPECT_EQ(folders.memory, "/sys/fs/cgroup/memory");
  EXPECT_EQ(folders.pids, "/sys/fs/cgroup/pids/sub");
  EXPECT_EQ(folders.unified, "");
}

TEST(FindCgroups, KnowsHierarchiesOfSeveralControllers) {
  const CgroupFolders folders = FindCgroups(
      "4:pids,memory:/x\n", "9 1 0:1 / /sys/fs/cgroup/both rw - cgroup cgroup rw,pids,memory\n");
  EXPECT_EQ(folders.memory, "/sys/fs/cgroup/both/x");
  EXPECT_EQ(folders.pids, folders.memory);
}

TEST(FindCgroups, IsNoneWhereTheProcessIsNotBelowWhatIsMounted) {
  EXPECT_EQ(FindCgroups("0::/../other\n", kUnifiedMounts).unified, "");
  EXPECT_EQ(FindCgroups("0::/b\n", "9 1 0:1 /a /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n").unified,
            "");
  EXPECT_EQ(FindCgroups("0::/ab\n", "9 1 0:1 /a /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n").unified,
            "");
  EXPECT_EQ(FindCgroups("", "").unified, "");
  EXPECT_THAT(FindCgroupMounts("23 1 0:1 / / rw - ext4 /dev/vda rw\n"), IsEmpty());
}

TEST(DecideCgroups, TakesVersionOneWhereItHasTheControllers) {
  const CgroupPlan plan =
      DecideCgroups(FindCgroups(kHybridOwn, kHybridMounts),
                    {.is_root = true, .memory_is_writable = true, .pids_is_writable = true});
  EXPECT_EQ(plan.memory, Hierarchy::kLegacy);
  EXPECT_EQ(plan.pids, Hierarchy::kLegacy);
  EXPECT_FALSE(plan.leave || plan.hand_down);
  EXPECT_EQ(plan.why_not, "");
}

TEST(DecideCgroups, SaysWhichGroupOfVersionOneIsNotOurs) {
  const CgroupPlan plan = DecideCgroups(FindCgroups(kHybridOwn, kHybridMounts),
                                        {.is_root = true, .pids_is_writable = true});
  EXPECT_EQ(plan.memory, Hierarchy::kNone);
  EXPECT_EQ(plan.pids, Hierarchy::kLegacy);
  EXPECT_THAT(plan.why_not, HasSubstr("/sys/fs/cgroup/memory/api/0b9e is not ours to write"));
}

TEST(DecideCgroups, LeavesADelegatedGroupBeforeItHandsControllersDown) {
  const CgroupPlan plan = DecideCgroups(FindCgroups(kScopeOwn, kUnifiedMounts), Delegated());
  EXPECT_EQ(plan.memory, Hierarchy::kUnified);
  EXPECT_EQ(plan.pids, Hierarchy::kUnified);
  EXPECT_TRUE(plan.leave);
  EXPECT_TRUE(plan.hand_down);
  EXPECT_EQ(plan.why_not, "");
}

TEST(DecideCgroups, HasNothingToDoWhereItWasDoneBefore) {
  CgroupStates states = Delegated();
  states.subtree_control = "memory pids\n";
  states.holds_processes = false;
  const CgroupPlan plan = DecideCgroups(FindCgroups(kScopeOwn, kUnifiedMounts), states);
  EXPECT_EQ(plan.memory, Hierarchy::kUnified);
  EXPECT_FALSE(plan.leave || plan.hand_down);
}

TEST(DecideCgroups, MovesNobodyElsesProcesses) {
  CgroupStates states = Delegated();
  states.holds_others = true;
  const CgroupPlan plan = DecideCgroups(FindCgroups(kScopeOwn, kUnifiedMounts), states);
  EXPECT_EQ(plan.memory, Hierarchy::kNone);
  EXPECT_EQ(plan.pids, Hierarchy::kNone);
  EXPECT_FALSE(plan.leave || plan.hand_down);
  EXPECT_THAT(plan.why_not, HasSubstr("run-u7.scope holds other processes"));
}

TEST(DecideCgroups, TakesNothingThatIsNotDelegated) {
  CgroupStates states = Delegated();
  states.is_ours = false;
  CgroupPlan plan = DecideCgroups(FindCgroups(kScopeOwn, kUnifiedMounts), states);
  EXPECT_EQ(plan.memory, Hierarchy::kNone);
  EXPECT_THAT(plan.why_not, HasSubstr("is not delegated"));
  states = Delegated();
  states.controllers = "cpu pids\n";
  plan = DecideCgroups(FindCgroups(kScopeOwn, kUnifiedMounts), states);
  EXPECT_EQ(plan.memory, Hierarchy::kNone);
  EXPECT_EQ(plan.pids, Hierarchy::kUnified);
  EXPECT_THAT(plan.why_not, HasSubstr("has no controller 'memory'"));
}

// The one group to which the rule does not apply.
TEST(DecideCgroups, NeedNotLeaveTheRootOfAllGroups) {
  CgroupStates states = Delegated();
  states.is_root = true;
  states.holds_others = true;
  const CgroupPlan plan = DecideCgroups(FindCgroups("0::/\n", kUnifiedMounts), states);
  EXPECT_EQ(plan.memory, Hierarchy::kUnified);
  EXPECT_TRUE(plan.hand_down);
  EXPECT_FALSE(plan.leave);
}

TEST(DecideCgroups, SaysWhereThereAreNone) {
  const CgroupPlan plan = DecideCgroups({}, {});
  EXPECT_EQ(plan.memory, Hierarchy::kNone);
  EXPECT_EQ(plan.pids, Hierarchy::kNone);
  EXPECT_THAT(plan.why_not, HasSubstr("no control groups are mounted"));
}

TEST(CgroupCount, IsOfTheWholeKey) {
  const char text[] = "low 0\nhigh 0\nmax 12\noom 3\noom_kill 2\noom_group_kill 1\n";
  EXPECT_EQ(CgroupCount(text, "oom"), 3u);
  EXPECT_EQ(CgroupCount(text, "oom_kill"), 2u);
  EXPECT_EQ(CgroupCount("oom_kill_disable 1\nunder_oom 0\noom_kill 4\n", "oom_kill"), 4u);
  EXPECT_EQ(CgroupCount(text, "kill"), 0u);
  EXPECT_EQ(CgroupCount("", "max"), 0u);
}

}  // namespace
}  // namespace rharness
