// Runs that get at their repository, and commits that get at the machine.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "harness/base/digest.h"
#include "harness/execution/rerun/checkout.h"
#include "tests/attack/attack_world.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

class Repository : public AttackWorld {
 protected:
  Result<Checkout> CheckOut(const std::string& commit, const std::string& to = "out") {
    fs::create_directories(folder() / to);
    return CheckOutCommit(repository(), commit, folder() / to, places_, limits_);
  }
  // Writes an object of this content, however malformed; its name.
  std::string Put(const std::string& type, const std::string& content) {
    Write("object", content);
    Git({"init", "--quiet"});
    return Git({"hash-object", "-t", type, "-w", "--literally", (folder() / "object").string()});
  }
  // An entry of a tree as git keeps it: "100644 train.py" and the name of an object.
  static std::string Entry(const std::string& mode_and_name, const std::string& object) {
    std::string bytes = mode_and_name + '\0';
    for (std::size_t i = 0; i < object.size(); i += 2) {
      bytes += static_cast<char>(std::stoi(object.substr(i, 2), nullptr, 16));
    }
    return bytes;
  }
  std::string CommitOf(const std::string& tree) {
    return Put("commit", "tree " + tree +
                             "\nauthor T <t@localhost> 1 +0000\ncommitter T <t@localhost> 1 +0000"
                             "\n\nx\n");
  }
  // 10^13 names in a few kilobytes.
  std::string Bomb() {
    std::string object = Put("blob", "x");
    for (int depth = 0; depth < 13; ++depth) {
      std::string tree;
      for (char name = '0'; name <= '9'; ++name) {
        tree += Entry((depth == 0 ? "100644 " : "40000 ") + std::string(1, name), object);
      }
      object = Put("tree", tree);
    }
    return CommitOf(object);
  }
  // That preparing ends with the fault of the code, for a reason of these words.
  void ExpectTheCodesFault(const std::string& words) {
    const auto workspace = Prepare();
    ASSERT_TRUE(workspace.ok()) << workspace.error().ToString();
    ASSERT_TRUE(workspace->obstacle);
    EXPECT_EQ(workspace->obstacle->layer, Layer::kCode);
    EXPECT_THAT(workspace->obstacle->reason, HasSubstr(words));
    EXPECT_TRUE(FilesOf(workspace->path).empty());
  }
  // All files below a folder, relative.
  static std::set<std::string> FilesOf(const fs::path& folder) {
    std::set<std::string> files;
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
      if (!entry.is_directory()) files.insert(entry.path().lexically_relative(folder).string());
    }
    return files;
  }
  static std::set<ino_t> InodesOf(const fs::path& folder) {
    std::set<ino_t> inodes;
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
      struct stat info {};
      if (::lstat(entry.path().c_str(), &info) == 0) inodes.insert(info.st_ino);
    }
    return inodes;
  }
};

TEST_F(Repository, SharesNoInodeWithARunAndShowsItNothingButItsCommit) {
  Write("root/secret.txt", "of another branch");
  const std::string other = Commit();
  Git({"rm", "--quiet", "secret.txt"});
  Write("root/train.py", "print(1)\n");
  Write("root/deep/tool", "#!/bin/sh\n");
  fs::permissions(repository() / "deep/tool", fs::perms::owner_all);
  fs::create_symlink("train.py", repository() / "link");
  const std::string commit = Commit();
  const auto checkout = CheckOut(commit);
  ASSERT_TRUE(checkout.ok()) << checkout.error().ToString();
  EXPECT_THAT(FilesOf(folder() / "out"), ElementsAre("deep/tool", "link", "train.py"));
  EXPECT_EQ(checkout->files.size(), 3U);
  EXPECT_EQ(fs::read_symlink(folder() / "out/link"), "train.py");
  EXPECT_EQ(::access((folder() / "out/deep/tool").c_str(), X_OK), 0);
  const std::set<ino_t> repository_inodes = InodesOf(repository());
  for (const ino_t inode : InodesOf(folder() / "out")) {
    EXPECT_FALSE(repository_inodes.contains(inode));
  }
}

TEST_F(Repository, OutlivesARunThatWritesOverAllThatItWasGiven) {
  Write("root/train.py", "print(1)\n");
  manifest_.code.commit = Commit();
  const auto workspace = Prepare();
  ASSERT_TRUE(workspace.ok()) << workspace.error().ToString();
  ASSERT_FALSE(workspace->obstacle) << workspace->obstacle->reason;
  for (const std::string& file : FilesOf(workspace->path)) {
    const fs::path path = workspace->path / file;
    ::chmod(path.c_str(), 0600);
    ASSERT_EQ(::truncate(path.c_str(), 0), 0) << file;
  }
  Git({"fsck", "--strict", "--full"});
  const auto remarks = VerifyAfterRun(*workspace, &cache_).value();
  ASSERT_EQ(remarks.size(), 1U);
  EXPECT_EQ(remarks[0].code, "code_changed_during_run");
}

TEST_F(Repository, RunsNoFilterOfTheUserOrItself) {
  Write("root/.gitattributes", "* filter=planted\n");
  Write("root/train.py", "print(1)\n");
  const std::string commit = Commit();
  const std::string witness = (folder() / "witness").string();
  const std::string smudge = "touch " + witness + "; tr 1 2";
  Write("home/.gitconfig", "[filter \"planted\"]\n\tsmudge = " + smudge + "\n\trequired = true\n");
  Git({"config", "filter.planted.smudge", smudge});
  Git({"config", "core.fsmonitor", "touch " + witness});
  Write("root/.git/hooks/post-checkout", "#!/bin/sh\ntouch " + witness + "\n");
  fs::permissions(repository() / ".git/hooks/post-checkout", fs::perms::owner_all);
  const char* home = ::getenv("HOME");
  const std::string saved = home == nullptr ? "" : home;
  ::setenv("HOME", (folder() / "home").c_str(), 1);
  const auto checkout = CheckOut(commit);
  ::setenv("HOME", saved.c_str(), 1);
  ASSERT_TRUE(checkout.ok()) << checkout.error().ToString();
  EXPECT_FALSE(fs::exists(witness));
  EXPECT_EQ(Read(folder() / "out/train.py"), "print(1)\n");
}

TEST_F(Repository, AttributesLeaveOutAndChangeNothing) {
  const std::map<std::string, std::string> files = {
      {"hidden.py", "x = 1\n"},
      {"windows.txt", "a\nb\n"},
      {"keyword.c", "// $Id$\n"},
      {"version.txt", "$Format:%H$\n"},
      {"utf16.txt", "text\n"},
      {".gitattributes",
       "hidden.py export-ignore\nwindows.txt text eol=crlf\nkeyword.c ident\n"
       "version.txt export-subst\nutf16.txt text working-tree-encoding=UTF-16\n"}};
  for (const auto& [name, content] : files) {
    if (name != ".gitattributes") Write("root/" + name, content);
  }
  Commit();
  Write("root/.gitattributes", files.at(".gitattributes"));
  Git({"add", ".gitattributes"});
  Git({"commit", "--quiet", "-m", "attributes"});
  Write("root/.git/info/attributes", "* text eol=crlf\n");
  const auto checkout = CheckOut(Git({"rev-parse", "HEAD"}));
  ASSERT_TRUE(checkout.ok()) << checkout.error().ToString();
  for (const auto& [name, content] : files) EXPECT_EQ(Read(folder() / "out" / name), content);
}

// The loose object of one name gets the content of another, as a hard link let a run do.
TEST_F(Repository, AForgedFileFolderOrCommitIsNoLongerTheRecordedOne) {
  Write("root/code/train.py", "print('harmless')\n");
  const std::string commit = Commit();
  const std::vector<std::string> names = {Git({"rev-parse", "HEAD:code/train.py"}),
                                          Git({"rev-parse", "HEAD:code"}),
                                          Git({"rev-parse", "HEAD^{tree}"}), commit};
  Write("root/code/train.py", "print('foreign')\n");
  Commit();
  const std::vector<std::string> forged = {
      Git({"rev-parse", "HEAD:code/train.py"}), Git({"rev-parse", "HEAD:code"}),
      Git({"rev-parse", "HEAD^{tree}"}), Git({"rev-parse", "HEAD"})};
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::string genuine = Read(LooseObject(names[i]));
    ::chmod(LooseObject(names[i]).c_str(), 0600);
    Write(LooseObject(names[i]).lexically_relative(folder()).string(),
          Read(LooseObject(forged[i])));
    const auto checkout = CheckOut(commit, "out" + std::to_string(i));
    ASSERT_FALSE(checkout.ok()) << i;
    EXPECT_TRUE(checkout.error().code == ErrorCode::kIntegrity ||
                checkout.error().code == ErrorCode::kProcess)
        << checkout.error().ToString();
    Write(LooseObject(names[i]).lexically_relative(folder()).string(), genuine);
  }
  EXPECT_TRUE(CheckOut(commit, "genuine").ok());
}

TEST_F(Repository, ReplacementsCountNothing) {
  Write("root/train.py", "print('harmless')\n");
  const std::string commit = Commit();
  Write("root/train.py", "print('foreign')\n");
  Git({"replace", commit, Commit()});
  ASSERT_TRUE(CheckOut(commit).ok());
  EXPECT_EQ(Read(folder() / "out/train.py"), "print('harmless')\n");
}

TEST_F(Repository, SubmodulesComeAsFilesOnlyAndOneThatIsAbsentIsNamed) {
  Write("part/library.py", "y = 2\n");
  Commit(folder() / "part");
  Git({"init", "--quiet"});
  Git({"submodule", "--quiet", "add", (folder() / "part").string(), "vendor/part"});
  manifest_.code.commit = Commit();
  auto workspace = Prepare();
  ASSERT_TRUE(workspace.ok()) << workspace.error().ToString();
  ASSERT_FALSE(workspace->obstacle) << workspace->obstacle->reason;
  EXPECT_THAT(FilesOf(workspace->path), ElementsAre(".gitmodules", "vendor/part/library.py"));
  EXPECT_TRUE(workspace->remarks.empty());
  fs::remove_all(repository() / "vendor");
  workspace = Prepare();
  ASSERT_TRUE(workspace.ok() && !workspace->obstacle);
  ASSERT_EQ(workspace->remarks.size(), 1U);
  EXPECT_THAT(workspace->remarks[0].message, HasSubstr("submodule 'vendor/part' is not in"));
}

TEST_F(Repository, MayNameItsObjectsBySha256OrBeALinkedWorkTree) {
  Git({"init", "--quiet", "--object-format=sha256"});
  Write("root/train.py", "print(1)\n");
  const std::string commit = Commit();
  ASSERT_EQ(commit.size(), 64U);
  const auto checkout = CheckOut(commit);
  ASSERT_TRUE(checkout.ok()) << checkout.error().ToString();
  places_.root = folder();
  Git({"worktree", "add", "--quiet", (folder() / "linked").string()});
  fs::create_directories(folder() / "again");
  EXPECT_TRUE(CheckOutCommit(folder() / "linked", commit, folder() / "again", places_).ok());
  EXPECT_EQ(Read(folder() / "again/train.py"), "print(1)\n");
}

// What lies beside --root, a stranger's repository may point at but not reach.
TEST_F(Repository, OutsideOfTheDeclaredPlacesIsReachedByNoPointerOrLink) {
  Write("beside/secret.txt", "of somebody else");
  manifest_.code.commit = Commit(folder() / "beside");
  const fs::path beside = folder() / "beside/.git";
  const auto expect_refusal = [this] {
    ExpectTheCodesFault("outside of --root and of every --map");
    places_.maps = {{"beside", folder() / "beside"}};
    const auto workspace = Prepare();
    ASSERT_TRUE(workspace.ok()) << workspace.error().ToString();
    EXPECT_FALSE(workspace->obstacle) << workspace->obstacle->reason;
    places_.maps.clear();
  };
  Write("root/.git", "gitdir: " + beside.string() + "\n");
  expect_refusal();
  fs::remove(repository() / ".git");
  fs::create_directory_symlink(beside, repository() / ".git");
  expect_refusal();
  fs::remove(repository() / ".git");
  Write("root/.git/HEAD", "ref: refs/heads/none\n");
  Write("root/.git/commondir", "../../beside/.git\n");
  expect_refusal();
  fs::remove(repository() / ".git/commondir");
  Write("root/.git/objects/info/alternates", "# none\n../../../beside/.git/objects\n");
  expect_refusal();
  fs::remove_all(repository() / ".git/objects/info");
  for (const auto& entry : fs::directory_iterator(beside / "objects")) {
    fs::create_directory_symlink(entry.path(),
                                 repository() / ".git/objects" / entry.path().filename());
  }
  expect_refusal();
}

TEST_F(Repository, OutsideOfTheDeclaredPlacesIsReachedByNoSubmodule) {
  Write("beside/secret.txt", "of somebody else");
  const std::string secret = Commit(folder() / "beside");
  manifest_.code.commit = CommitOf(Put("tree", Entry("160000 part", secret)));
  fs::create_directory_symlink(folder() / "beside", repository() / "part");
  ExpectTheCodesFault("outside of --root and of every --map");
}

TEST_F(Repository, ACommitThatIsNotThereIsTheCodesFault) {
  Commit();
  manifest_.code.commit = std::string(40, 'a');
  const auto workspace = Prepare();
  ASSERT_TRUE(workspace.ok() && workspace->obstacle);
  EXPECT_EQ(workspace->obstacle->layer, Layer::kCode);
  EXPECT_THAT(workspace->obstacle->reason, HasSubstr("is not in"));
}

TEST_F(Repository, ACommitThatUnfoldsWithoutEndIsTheCodesFaultAndCanBeStopped) {
  manifest_.code.commit = Bomb();
  limits_.listing_bytes = 1 << 20;
  ExpectTheCodesFault("git ls-tree prints more than 1048576 bytes");
  limits_.listing_bytes = std::uint64_t{1} << 40;
  limits_.should_cancel = [] { return true; };
  const auto workspace = Prepare();
  ASSERT_FALSE(workspace.ok());
  EXPECT_EQ(workspace.error().code, ErrorCode::kProcess);
  EXPECT_THAT(workspace.error().message, HasSubstr("git ls-tree cancelled"));
}

TEST_F(Repository, ACommitOfMoreThanTheDiskLimitIsNotWritten) {
  Write("root/zeros", std::string(1 << 20, '\0'));
  manifest_.code.commit = Commit();
  limits_.disk_bytes = 1 << 20;
  ASSERT_FALSE(Prepare()->obstacle);
  limits_.disk_bytes -= 1;
  ExpectTheCodesFault("the commit's files take 1048576 bytes; the limit is 1048575");
  fs::remove(repository() / "zeros");
  for (const char* name : {"a", "b", "c/d"}) Write(std::string("root/") + name, "");
  manifest_.code.commit = Commit();
  limits_.disk_bytes = 3 * 4096;
  ExpectTheCodesFault("take 16384 bytes");
}

TEST_F(Repository, ATreeThatNoGitMakesIsTheCodesFault) {
  const std::string blob = Put("blob", "x");
  const std::string link = Put("blob", (folder() / "elsewhere").string());
  const std::string inner = Put("tree", Entry("100644 x", blob));
  fs::create_directories(folder() / "elsewhere");
  const std::vector<std::pair<std::string, std::string>> trees = {
      {Entry("120000 d", link) + Entry("40000 d", inner), "has d twice"},
      {Entry("100644 a", blob) + Entry("100644 a", link), "has a twice"},
      {Entry("40000 ..", inner), "invalid path"},
      {Entry("40000 .git", inner), "invalid path"},
      {Entry("160000 ..", blob), "invalid path"},
      {Entry("40000 ", inner), "empty filename"},
      {Entry("100644 ../x", blob), "is not what its name"},
      {"100644", "too-short"}};
  for (const auto& [tree, words] : trees) {
    manifest_.code.commit = CommitOf(Put("tree", tree));
    ExpectTheCodesFault(words);
  }
  manifest_.code.commit = inner;
  ExpectTheCodesFault("git cat-file exited with 128");
  EXPECT_TRUE(FilesOf(folder() / "elsewhere").empty());
}

TEST_F(Repository, AGitThatWasKilledIsNotTheCodesFault) {
  Write("root/train.py", "print(1)\n");
  manifest_.code.commit = Commit();
  Write("bin/git", "#!/bin/sh\nkill -KILL $$\n");
  fs::permissions(folder() / "bin/git", fs::perms::owner_all);
  const std::string path = ::getenv("PATH");
  ::setenv("PATH", ((folder() / "bin").string() + ":" + path).c_str(), 1);
  const auto workspace = Prepare();
  ::setenv("PATH", path.c_str(), 1);
  ASSERT_FALSE(workspace.ok());
  EXPECT_EQ(workspace.error().code, ErrorCode::kProcess);
  EXPECT_THAT(workspace.error().message, HasSubstr("SIGKILL"));
}

TEST_F(Repository, AFullDiskIsNotTheCodesFault) {
  Write("root/train.py", std::string(1 << 20, 'x'));
  manifest_.code.commit = Commit();
  fs::create_directories(folder() / "drill");
  if (::unshare(CLONE_NEWNS) != 0 || ::mount("", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
      ::mount("tmpfs", (folder() / "drill").c_str(), "tmpfs", 0, "size=64k") != 0) {
    GTEST_SKIP() << "cannot mount a small disk here: " << std::strerror(errno);
  }
  const auto workspace = Prepare();
  ::umount2((folder() / "drill").c_str(), MNT_DETACH);
  ASSERT_FALSE(workspace.ok());
  EXPECT_THAT(workspace.error().message, HasSubstr("No space left on device"));
}

}  // namespace
}  // namespace rharness
