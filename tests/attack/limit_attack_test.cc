// Disk that a quota might not see, and what a manifest asks for itself.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <vector>

#include "harness/base/disk_meter.h"
#include "harness/base/subprocess.h"
#include "tests/attack/attack_world.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class HiddenDisk : public AttackWorld {
 protected:
  static constexpr std::size_t kBytes = 1 << 20;
  fs::path place() const { return folder() / "drill"; }
  Descriptor Unlinked(const char* name) {
    Write(std::string("drill/") + name, std::string(kBytes, 'x'));
    Descriptor fd(::open((place() / name).c_str(), O_RDWR | O_CLOEXEC));
    fs::remove(place() / name);
    return fd;
  }
};

TEST_F(HiddenDisk, OfFilesWithoutANameIsCountedWhileTheyAreOpen) {
  DiskMeter meter(place());
  {
    const Descriptor first = Unlinked("a");
    const Descriptor second = Unlinked("b");
    const Descriptor again(::dup(first.get()));
    EXPECT_GE(meter.MeasureNow(), 2 * kBytes);
    EXPECT_LT(meter.MeasureNow(), 3 * kBytes) << "one file, counted once";
  }
  EXPECT_LT(meter.MeasureNow(), kBytes);
}

TEST_F(HiddenDisk, OfFilesThatAreOnlyMappedIsCounted) {
  Descriptor fd = Unlinked("a");
  void* const mapped = ::mmap(nullptr, kBytes, PROT_READ, MAP_SHARED, fd.get(), 0);
  ASSERT_NE(mapped, MAP_FAILED);
  fd.Close();
  const std::uint64_t used = DiskMeter(place()).MeasureNow();
  ::munmap(mapped, kBytes);
  if (::geteuid() != 0) GTEST_SKIP() << "only root may look at what is mapped";
  EXPECT_GE(used, kBytes);
}

TEST_F(HiddenDisk, OfAProcessIsLimited) {
  ProcessSpec spec{.argv = {"sh", "-c",
                            "for n in 3 4 5 6; do eval \"exec $n>f$n\"; rm f$n; "
                            "head -c 1000000 /dev/zero >&$n; done; sleep 60"},
                   .environment = PickEnvironment({"PATH"}),
                   .working_directory = place()};
  ProcessLimits limits;
  limits.timeout = std::chrono::seconds(50);
  limits.disk_bytes = 2 << 20;
  limits.disk_root = place();
  const ProcessResult result = RunProcess(spec, limits);
  EXPECT_EQ(result.outcome.kind, OutcomeKind::kDiskLimit) << result.outcome.ToString();
}

}  // namespace
}  // namespace rharness
