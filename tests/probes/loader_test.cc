// The loader against libraries built for it: which file is found, what it is, what it offers.
#include "probes/library/loader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/base/files.h"
#include "harness/base/subprocess.h"

namespace rharness {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

namespace fs = std::filesystem;

const fs::path kOne = RHARNESS_PROBED_DIR "/one";
const fs::path kTwo = RHARNESS_PROBED_DIR "/two";
const fs::path kUser = RHARNESS_PROBED_DIR "/user";
const fs::path kGone = RHARNESS_PROBED_DIR "/gone";

int Answer(const Library& library) {
  auto* answer = library.Get<int()>("ProbedAnswer");
  return answer == nullptr ? -1 : answer();
}

TEST(Loader, TakesTheFirstFolderThatHasTheLibrary) {
  const auto found = Library::Open({"libprobed.so.1"}, {"/nowhere", kTwo, kOne});
  ASSERT_TRUE(found.ok()) << found.error().ToString();
  EXPECT_EQ(Answer(**found), 2);
  EXPECT_EQ((*found)->soname(), "libprobed.so.1");
  EXPECT_EQ((*found)->path(), fs::canonical(kTwo / "libprobed.so.1"));
}

TEST(Loader, FindsAPatternInTheFoldersGivenAlone) {
  const ScopedTempDir folder = *ScopedTempDir::Make("loader-");
  fs::copy_file(kTwo / "libprobed.so.1", folder.path() / "libprobed-9f00.so");
  fs::copy_file(kOne / "libprobed.so.1", folder.path() / "libprobed-0a11.so");
  const auto found = Library::Open({"libprobed-*.so"}, {"/nowhere", folder.path()});
  ASSERT_TRUE(found.ok()) << found.error().ToString();
  EXPECT_EQ(Answer(**found), 1) << "the first by name";
  EXPECT_EQ((*found)->soname(), "libprobed-*.so");
  EXPECT_EQ((*found)->path().filename(), "libprobed-0a11.so");
  const auto none = Library::Open({"libm.so.*"}, {folder.path()});
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().code, ErrorCode::kNotFound);
}

TEST(Loader, TriesSonamesInOrder) {
  const auto found = Library::Open({"libprobed.so.9", "libprobed.so.1"}, {kOne});
  ASSERT_TRUE(found.ok()) << found.error().ToString();
  EXPECT_EQ(Answer(**found), 1);
}

TEST(Loader, TellsWhatTheLibraryIs) {
  const auto found = Library::Open({"libprobed.so.1"}, {kOne});
  ASSERT_TRUE(found.ok());
  // As given to the linker.
  EXPECT_EQ((*found)->BuildId(), "0123456789abcdef0123456789abcdef01234567");
  const ProcessResult sum = RunProcess(
      {.argv = {"sha256sum", kOne / "libprobed.so.1"}, .environment = {{"PATH", "/usr/bin:/bin"}}});
  ASSERT_EQ(sum.stdout_text.size() > 64, true) << sum.stderr_text;
  const Json json = WithDigest(DescribeLibrary(**found, "1.2"));
  EXPECT_EQ(json.Find("sha256")->AsString(), sum.stdout_text.substr(0, 64));
  EXPECT_EQ(json.Find("file"), nullptr);  // that would tell one machine from another
  EXPECT_EQ(json.Find("soname")->AsString(), "libprobed.so.1");
  EXPECT_EQ(json.Find("path")->AsString(), "libprobed.so.1.0");  // behind its link, no folder
  EXPECT_EQ(json.Find("version")->AsString(), "1.2");
}

TEST(Loader, SaysSoWhenThereIsNoBuildId) {
  const auto found = Library::Open({"libprobed.so.1"}, {kTwo});
  ASSERT_TRUE(found.ok());
  EXPECT_EQ((*found)->BuildId(), "");
}

TEST(Loader, FindsNoSymbolThatIsNotThere) {
  const auto found = Library::Open({"libprobed.so.1"}, {kOne});
  ASSERT_TRUE(found.ok());
  EXPECT_EQ((*found)->Find("NoSuchSymbol"), nullptr);
}

TEST(Loader, SearchesWhereTheSystemDoes) {
  const auto found = Library::Open({"libm.so.6"}, {});
  ASSERT_TRUE(found.ok()) << found.error().ToString();
  auto* root = (*found)->Get<double(double)>("sqrt");
  ASSERT_NE(root, nullptr);
  EXPECT_EQ(root(9.0), 3.0);
}

TEST(Loader, NamesEverythingThatItTried) {
  const auto found = Library::Open({"libabsent.so.2", "libabsent.so.1"}, {kOne});
  ASSERT_FALSE(found.ok());
  EXPECT_EQ(found.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(found.error().message, HasSubstr("libabsent.so.2, libabsent.so.1"));
}

// As MKL's libmkl_rt.so.3 where .2 is asked for: the system's other library would answer.
TEST(Loader, TakesNothingElseWhereAFolderHasAnotherVersion) {
  const ScopedTempDir folder = ScopedTempDir::Make("loader-").value();
  fs::copy_file(kTwo / "libprobed.so.1", folder.path() / "libprobed.so.3");
  const auto found = Library::Open({"libprobed.so.2", "libm.so.6"}, {folder.path()});
  ASSERT_FALSE(found.ok());
  EXPECT_EQ(found.error().code, ErrorCode::kUnsupported);
  EXPECT_THAT(found.error().ToString(),
              AllOf(HasSubstr((folder.path() / "libprobed.so.3").string()),
                    HasSubstr("libprobed.so.2, libm.so.6")));
  EXPECT_TRUE(FoldersUsed().contains(folder.path().string()));
  EXPECT_TRUE(Library::Open({"libprobed.so.3", "libm.so.6"}, {folder.path()}).ok());
}

TEST(Loader, TellsADamagedLibraryFromAMissingOne) {
  const ScopedTempDir folder = ScopedTempDir::Make("loader-").value();
  ASSERT_TRUE(WriteFileAtomic(folder.path() / "libdamaged.so.1", std::string(4096, 'x')).ok());
  const auto found = Library::Open({"libdamaged.so.1"}, {folder.path()});
  ASSERT_FALSE(found.ok());
  EXPECT_EQ(found.error().code, ErrorCode::kIo);
  EXPECT_THAT(found.error().message, HasSubstr("invalid ELF header"));
}

TEST(Loader, NamesTheDependencyThatIsMissing) {
  const auto found = Library::Open({"libprobed_user.so.1"}, {kUser});
  ASSERT_FALSE(found.ok());
  EXPECT_EQ(found.error().code, ErrorCode::kIo);
  EXPECT_THAT(found.error().message,
              AllOf(HasSubstr("libprobed_gone.so.1"), HasSubstr("No such file")));
}

// In a process of its own, since what was loaded once is found by its name ever after.
TEST(LoaderDeathTest, TakesADependencyFromTheFoldersGiven) {
  const auto answer = [] {
    const auto found = Library::Open({"libprobed_user.so.1"}, {kUser, kGone});
    ::_exit(found.ok() && (*found)->Find("UserAnswer") != nullptr ? 7 : 1);
  };
  EXPECT_EXIT(answer(), ::testing::ExitedWithCode(7), "");
}

TEST(Loader, RefusesPathsForNames) {
  for (const std::string name : {"", "../libprobed.so.1", "/lib/libm.so.6", "a/b.so"}) {
    const auto found = Library::Open({name}, {kOne});
    ASSERT_FALSE(found.ok()) << name;
    EXPECT_EQ(found.error().code, ErrorCode::kInvalidInput) << name;
  }
}

}  // namespace
}  // namespace rharness
