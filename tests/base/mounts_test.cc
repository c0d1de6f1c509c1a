// One name for what is mounted at two places.
#include "harness/base/mounts.h"

#include <gmock/gmock.h>

namespace rharness {
namespace {

using testing::Contains;
using testing::Field;

const std::vector<MountPoint> kMounts = {{"8:1", "/", "/"},
                                         {"8:2", "/", "/data"},
                                         {"8:2", "/sets/one", "/srv/set"},
                                         {"0:7", "/", "/data/sets/tmp"}};

std::string Found(const std::vector<MountPoint>& mounts, const std::string& path) {
  const PlaceOnDevice place = FindOnDevice(mounts, path);
  return place.device + " " + place.path.string();
}

TEST(Mounts, GiveAFolderOneNameWhereverItIsMounted) {
  EXPECT_EQ(Found(kMounts, "/etc/x"), "8:1 /etc/x");
  EXPECT_EQ(Found(kMounts, "/data/sets/one/x"), "8:2 /sets/one/x");
  EXPECT_EQ(Found(kMounts, "/srv/set/x"), "8:2 /sets/one/x");
  EXPECT_EQ(Found(kMounts, "/srv/set"), "8:2 /sets/one");
  EXPECT_EQ(Found(kMounts, "/srv/settings"), "8:1 /srv/settings");
  EXPECT_EQ(Found(kMounts, "/data/sets/tmp/x"), "0:7 /x");
}

TEST(Mounts, ThatCameLaterHideWhatIsBelowThem) {
  auto mounts = kMounts;
  mounts.push_back({"8:3", "/", "/data"});
  EXPECT_EQ(Found(mounts, "/data/sets/tmp/x"), "8:3 /sets/tmp/x");
}

TEST(Mounts, AreReadOfThisProcess) {
  const auto mounts = ReadMounts();
  ASSERT_TRUE(mounts.ok()) << mounts.error().ToString();
  EXPECT_THAT(*mounts, Contains(Field(&MountPoint::point, "/")));
  for (const MountPoint& one : *mounts) EXPECT_TRUE(one.point.is_absolute()) << one.point;
}

TEST(Mounts, CountAFolderAsBelowItself) {
  EXPECT_TRUE(IsAtOrBelow("/a/b", "/a"));
  EXPECT_TRUE(IsAtOrBelow("/a", "/a"));
  EXPECT_TRUE(IsAtOrBelow("/a", "/"));
  EXPECT_FALSE(IsAtOrBelow("/ab", "/a"));
  EXPECT_FALSE(IsAtOrBelow("/a", "/a/b"));
}

}  // namespace
}  // namespace rharness
