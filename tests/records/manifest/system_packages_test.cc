// What dpkg, rpm and apk say is installed: from files as they leave them, rpm's by rpm itself.
#include "harness/records/manifest/system_packages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <optional>

#include "harness/base/files.h"
#include "harness/base/subprocess.h"
#include "harness/records/manifest/packages.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;

class SystemPackagesTest : public testing::Test {
 protected:
  void SetUp() override {
    auto folder = ScopedTempDir::Make();
    ASSERT_TRUE(folder.ok());
    folder_.emplace(std::move(*folder));
  }
  fs::path At(const std::string& path) const { return folder_->path() / path; }
  void Write(const std::string& path, const std::string& content) const {
    ASSERT_TRUE(WriteFileAtomic(At(path), content).ok());
  }
  ProcessResult Sh(const std::string& script) const {
    return RunProcess({{"sh", "-ec", script}, PickEnvironment({"PATH"}), folder_->path()});
  }
  std::map<std::string, PackageList> Capture(const std::string& mapped,
                                             PackageOwners* owners = nullptr) const {
    Footprint footprint;
    footprint.mapped.insert(mapped);
    return CapturePackages(footprint, At("root"), owners);
  }

 private:
  std::optional<ScopedTempDir> folder_;
};

constexpr char kSpec[] = R"(Name: NAME
Version: 1.2
Release: RELEASE.el9
Epoch: 4
Summary: s
License: MIT
BuildArch: noarch
%description
d
%install
mkdir -p %{buildroot}/usr/bin %{buildroot}/usr/share %{buildroot}/usr/lib64
echo x > %{buildroot}/usr/bin/NAME
echo x > %{buildroot}/usr/lib64/libNAME.so.1
echo x > %{buildroot}/usr/share/NAME.txt
%files
/usr/bin/NAME
/usr/lib64/libNAME.so.1
/usr/share/NAME.txt
)";

TEST_F(SystemPackagesTest, OfRpmAreReadAsRpmWroteThem) {
  if (!Sh("command -v rpm rpmbuild").outcome.Succeeded())
    GTEST_SKIP() << "no rpm (apt install rpm)";
  Write("spec", kSpec);
  fs::create_directories(At("root/var/lib/rpm"));
  const ProcessResult made = Sh(
      "for one in 'tool 3' 'kernel 1' 'kernel 2'; do set -- $one\n"
      "sed \"s/NAME/$1/g; s/RELEASE/$2/\" spec > $1.spec\n"
      "HOME=$PWD rpmbuild -bb --quiet --define \"_topdir $PWD/top\" --define \"_rpmdir $PWD/out\" "
      "$1.spec; done\n"
      "rpm --dbpath $PWD/root/var/lib/rpm --define '_db_backend sqlite' -i --justdb --nodeps "
      "--force out/noarch/*.rpm");
  ASSERT_TRUE(made.outcome.Succeeded()) << made.stderr_text;
  PackageOwners owners;
  const auto packages = Capture("/usr/lib64/libtool.so.1", &owners);
  ASSERT_TRUE(packages.contains(kRpm));
  const PackageList& list = packages.at(kRpm);
  ASSERT_EQ(list.size(), 2U);
  EXPECT_EQ(list.at("tool.noarch").version, "4:1.2-3.el9");
  EXPECT_EQ(list.at("tool.noarch").use, PackageUse::kUsed);
  EXPECT_EQ(list.at("kernel.noarch").version, "4:1.2-1.el9, 4:1.2-2.el9");
  EXPECT_EQ(list.at("kernel.noarch").use, PackageUse::kNotUsed);
  EXPECT_EQ(owners.at("/usr/lib64/libtool.so.1").manager, kRpm);
  EXPECT_EQ(owners.at("/usr/lib64/libtool.so.1").name, "tool.noarch");
}

TEST_F(SystemPackagesTest, OfRpmAreNoneWhereTheDatabaseIsNone) {
  for (const std::string& content :
       {std::string(), std::string("SQLite format 3"), "SQLite format 3" + std::string(5000, '\0'),
        std::string(5000, 'x')}) {
    Write("root/var/lib/rpm/rpmdb.sqlite", content);
    EXPECT_TRUE(ReadSystemPackages(At("root")).empty());
  }
}

// A view that never ends in the place of the table.
TEST_F(SystemPackagesTest, ADatabaseThatWouldNeverEndIsLeft) {
  const ProcessResult made = Sh(
      "mkdir -p root/var/lib/rpm; python3 - <<'END'\n"
      "import sqlite3\n"
      "sqlite3.connect('root/var/lib/rpm/rpmdb.sqlite').executescript('''CREATE VIEW Packages AS "
      "WITH RECURSIVE n(hnum) AS (SELECT 1 UNION ALL SELECT hnum + 1 FROM n) "
      "SELECT hnum, CAST(hnum AS BLOB) AS blob FROM n;''')\n"
      "END\n");
  if (!made.outcome.Succeeded()) GTEST_SKIP() << "no Python: " << made.stderr_text;
  EXPECT_TRUE(ReadSystemPackages(At("root")).empty());
}

std::string Number(std::uint32_t value) {
  std::string bytes;
  for (const int shift : {24, 16, 8, 0}) bytes += static_cast<char>(value >> shift & 0xFFU);
  return bytes;
}
std::string Entry(std::uint32_t tag, std::uint32_t type, std::uint32_t at, std::uint32_t count) {
  return Number(tag) + Number(type) + Number(at) + Number(count);
}

TEST(RpmHeaders, SayNothingThatIsNotInThem) {
  const std::string store("tool\0001.2\000", 9);
  const std::string whole =
      Number(2) + Number(9) + Entry(1000, 6, 0, 1) + Entry(1001, 6, 5, 1) + store;
  EXPECT_EQ(ParseRpmHeader(whole).name, "tool");
  EXPECT_EQ(ParseRpmHeader(whole).version, "1.2");
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_EQ(ParseRpmHeader(whole.substr(0, size)).name, "") << size;
  }
  const std::uint32_t far = 0xFFFFFFFFU;
  for (const std::string& index :
       {Entry(1000, 6, far, 1) + Entry(1001, 6, 5, 1), Entry(1000, 4, 0, 1) + Entry(1001, 6, 5, 1),
        Entry(1000, 6, 8, far) + Entry(1001, 6, 5, far)}) {
    EXPECT_EQ(ParseRpmHeader(Number(2) + Number(9) + index + store).name, "");
  }
  // Folders and names that point outside of each other.
  const std::string files = whole.substr(8, 32) + Entry(1116, 4, 9, far) + Entry(1117, 8, 0, 2) +
                            Entry(1118, 8, 5, far) + store + Number(7) + Number(far);
  EXPECT_TRUE(ParseRpmHeader(Number(5) + Number(17) + files).files.empty());
  EXPECT_EQ(ParseRpmHeader(Number(far) + Number(far)).name, "");
}

TEST(RpmHeaders, DoNotFillTheMemoryWithOneLongFolderOfManyFiles) {
  constexpr std::uint32_t kFiles = 1000;
  const std::string names(kFiles, '\0');
  const std::string folder = "/" + std::string(1000, 'f') + std::string(1, '\0');
  const std::string store =
      std::string("t\0001\000", 4) + std::string(4 * kFiles, '\0') + names + folder;
  const std::uint32_t at = 4 + 4 * kFiles;
  const std::string header = Number(5) + Number(static_cast<std::uint32_t>(store.size())) +
                             Entry(1000, 6, 0, 1) + Entry(1001, 6, 2, 1) +
                             Entry(1116, 4, 4, kFiles) + Entry(1117, 8, at, kFiles) +
                             Entry(1118, 8, at + kFiles, 1) + store;
  const RpmPackage package = ParseRpmHeader(header);
  EXPECT_EQ(package.name, "t");
  ASSERT_FALSE(package.files.empty());
  EXPECT_EQ(package.files.front().size(), 1001U);
  EXPECT_LE(package.files.size() * 1001, 8 * header.size());
}

TEST_F(SystemPackagesTest, OfApkAreReadWithTheirFiles) {
  Write("root/lib/apk/db/installed",
        "C:Q1abc=\nP:musl\nV:1.2.5-r0\nA:x86_64\nF:lib\nR:ld-musl-x86_64.so.1\na:0:0:755\n"
        "\nP:busybox\nV:1.36.1-r29\nF:bin\nR:busybox\n\nP:\nV:9\n\nV:8\nQ\n");
  PackageOwners owners;
  const auto packages = Capture("/lib/ld-musl-x86_64.so.1", &owners);
  ASSERT_TRUE(packages.contains(kApk));
  const PackageList& list = packages.at(kApk);
  ASSERT_EQ(list.size(), 2U);
  EXPECT_EQ(list.at("musl").version, "1.2.5-r0");
  EXPECT_EQ(list.at("musl").use, PackageUse::kUsed);
  EXPECT_EQ(list.at("busybox").use, PackageUse::kNotUsed);
  EXPECT_EQ(owners.at("/lib/ld-musl-x86_64.so.1").version, "1.2.5-r0");
}

}  // namespace
}  // namespace rharness
