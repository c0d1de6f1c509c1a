// A disk that is really full: a small file system of its own for the drill's folder.
#include <sched.h>
#include <sys/mount.h>

#include <cstring>

#include "tests/faults/fault_trial.h"
#include "tests/sanitized.h"

namespace rharness {
namespace {

class FullDisk : public FaultTrial {
 protected:
  // A tmpfs of so many KiB at trial/out, for this process and its children alone.
  static std::string Mount(const std::string& at, int kib, unsigned long flags) {
    const std::string size = "mode=0700,size=" + std::to_string(kib) + "k";
    return ::mount("tmpfs", at.c_str(), "tmpfs", flags, size.c_str()) == 0 ? ""
                                                                           : std::strerror(errno);
  }
};

TEST_F(FullDisk, EndsNoRunForGood) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer's library must come before the shim";
  if (::unshare(CLONE_NEWNS) != 0 ||
      ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) {
    GTEST_SKIP() << "no file system can be mounted here: " << std::strerror(errno);
  }
  constexpr int kWeightsKib = 600;
  RecordBoth(kWeightsKib * 1024);
  int trials = 0, full = 0;
  // From no room for a journal to room for everything.
  for (const long kib : SampleOf(4000, 8)) {
    Reset();
    ASSERT_TRUE(MakeDirectories(Trial("out")).ok());
    const std::string out = Trial("out").string();
    ASSERT_EQ(Mount(out, static_cast<int>(kib + 3) / 4 * 4, 0), "");
    const ProcessResult faulty = RunDrill("", false);
    full += faulty.outcome.exit_code == 4 ? 1 : 0;
    ++trials;
    ASSERT_EQ(Mount(out, 1 << 16, MS_REMOUNT), "");
    const TrialEnd end = Examine(faulty);
    EXPECT_EQ(end.wrong, "") << kib << " KiB";
    EXPECT_EQ(end.stuck, "") << kib << " KiB";
    EXPECT_EQ(end.lost, "") << kib << " KiB";
    ASSERT_EQ(::umount(out.c_str()), 0) << std::strerror(errno);
  }
  EXPECT_GT(full, trials / 4) << "the disk was not full";
  std::printf("%d trials, the disk was full in %d\n", trials, full);
}

}  // namespace
}  // namespace rharness
