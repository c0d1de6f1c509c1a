// A recording in a repository whose configuration, or the user's, would have git run something.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>

#include "harness/base/digest.h"
#include "harness/execution/rerun/git_tree.h"
#include "tests/attack/attack_world.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class RecordedTree : public AttackWorld {
 protected:
  std::string witness() const { return (folder() / "witness").string(); }
  // What git would run if it read this: on every question to it.
  std::string Planted() const {
    const std::string run = "touch " + witness();
    return "[core]\n\tfsmonitor = " + run + "\n\thooksPath = " + (folder() / "hooks").string() +
           "\n[filter \"planted\"]\n\tclean = " + run + "; cat\n\tsmudge = " + run +
           "; cat\n\trequired = true\n[diff \"planted\"]\n\tcommand = " + run +
           "\n\ttextconv = " + run + "\n[diff]\n\texternal = " + run + "\n[alias]\n\tstatus = !" +
           run + "\n";
  }
  void Plant(const fs::path& config) const {
    const std::string path = config.lexically_relative(folder()).string();
    Write(path, (fs::exists(config) ? Read(config) : std::string()) + Planted());
  }
  // As `record` asks, with the user's configuration in HOME.
  GitTree Describe() const {
    const char* home = ::getenv("HOME");
    const std::string saved = home == nullptr ? "" : home;
    ::setenv("HOME", (folder() / "home").c_str(), 1);
    const auto tree = DescribeGitTree(repository());
    ::setenv("HOME", saved.c_str(), 1);
    EXPECT_TRUE(tree.has_value());
    return tree.value_or(GitTree{});
  }
  // The content that was committed, with a new time: git looks into the file again.
  void Touch(const fs::path& file) const {
    const std::string content = Read(file);
    fs::remove(file);
    Write(file.lexically_relative(folder()).string(), content);
    fs::last_write_time(file, fs::file_time_type::clock::now() - std::chrono::hours(1));
  }
};

TEST_F(RecordedTree, RunsNothingOfAnyConfiguration) {
  Write("root/.gitattributes", "*.py filter=planted diff=planted\n");
  Write("root/train.py", "print(1)\n");
  Write("hooks/post-index-change", "#!/bin/sh\ntouch " + witness() + "\n");
  fs::permissions(folder() / "hooks/post-index-change", fs::perms::owner_all);
  const std::string commit = Commit();
  Plant(repository() / ".git/config");
  Plant(folder() / "home/.gitconfig");
  Touch(repository() / "train.py");
  GitTree tree = Describe();
  EXPECT_EQ(tree.complaint, "");
  EXPECT_EQ(tree.commit, commit);
  EXPECT_EQ(tree.root, fs::canonical(repository()));
  EXPECT_FALSE(tree.dirty);
  EXPECT_TRUE(IsTracked(tree, "train.py"));
  EXPECT_FALSE(IsTracked(tree, "other.py"));
  Write("root/train.py", "print(2)\n");
  tree = Describe();
  EXPECT_TRUE(tree.dirty);
  EXPECT_FALSE(fs::exists(witness()));
  fs::remove(repository() / ".git/config");
  EXPECT_EQ(tree.diff_sha256, Sha256HexOf(Git({"diff", "HEAD"}) + "\n"));
}

TEST_F(RecordedTree, LooksIntoASubmoduleWithoutItsConfiguration) {
  Write("part/library.py", "y = 2\n");
  Write("part/.gitattributes", "*.py filter=planted\n");
  Commit(folder() / "part");
  Git({"init", "--quiet"});
  Git({"submodule", "--quiet", "add", (folder() / "part").string(), "vendor/part"});
  Commit();
  Plant(repository() / ".git/modules/vendor/part/config");
  Touch(repository() / "vendor/part/library.py");
  EXPECT_FALSE(Describe().dirty);
  Write("root/vendor/part/library.py", "y = 3\n");
  const GitTree first = Describe();
  EXPECT_TRUE(first.dirty);
  Write("root/vendor/part/library.py", "y = 4\n");
  EXPECT_NE(Describe().diff_sha256, first.diff_sha256);
  EXPECT_FALSE(fs::exists(witness()));
}

TEST_F(RecordedTree, KnowsItsCommitHoweverTheRepositoryKeepsIt) {
  Git({"init", "--quiet", "--object-format=sha256"});
  Write("root/train.py", "print(1)\n");
  const std::string commit = Commit();
  ASSERT_EQ(commit.size(), 64U);
  EXPECT_EQ(Describe().commit, commit);
  Git({"pack-refs", "--all"});
  Git({"gc", "--quiet"});
  EXPECT_EQ(Describe().commit, commit);
  EXPECT_FALSE(Describe().dirty);
  Git({"worktree", "add", "--quiet", (folder() / "linked").string()});
  Write("linked/train.py", "print(2)\n");
  const auto linked = DescribeGitTree(folder() / "linked");
  ASSERT_TRUE(linked);
  EXPECT_EQ(linked->commit, commit);
  EXPECT_TRUE(linked->dirty);
  Git({"checkout", "--quiet", "--detach"});
  Git({"config", "core.fileMode", "false"});
  fs::permissions(repository() / "train.py", fs::perms::owner_all);
  EXPECT_EQ(Describe().commit, commit);
  EXPECT_FALSE(Describe().dirty);
}

// The user's leave (safe.directory) is for a configuration that is not read here.
TEST_F(RecordedTree, MayBelongToSomebodyElse) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give files away";
  Write("root/train.py", "print(1)\n");
  const std::string commit = Commit();
  for (const fs::path& path : {repository(), repository() / ".git"}) {
    ASSERT_EQ(::chown(path.c_str(), 65534, 65534), 0);
  }
  EXPECT_EQ(Describe().commit, commit);
  EXPECT_EQ(Describe().complaint, "");
}

TEST_F(RecordedTree, IsNotLookedForInACeilingOrAboveIt) {
  Write("root/deep/below/train.py", "print(1)\n");
  Commit();
  const fs::path deep = repository() / "deep";
  const auto found = [&](const fs::path& ceiling) {
    ::setenv("GIT_CEILING_DIRECTORIES", ("/nowhere:" + ceiling.string()).c_str(), 1);
    const bool tree = DescribeGitTree(deep / "below").has_value();
    ::unsetenv("GIT_CEILING_DIRECTORIES");
    return tree;
  };
  EXPECT_TRUE(found("/elsewhere"));
  EXPECT_FALSE(found(deep));
  EXPECT_FALSE(found(repository()));
  EXPECT_TRUE(found(deep / "below")) << "the folder itself is always looked into";
}

TEST_F(RecordedTree, IsNoneOutsideOfOne) {
  EXPECT_FALSE(DescribeGitTree(repository()).has_value());
  Git({"init", "--quiet"});
  EXPECT_EQ(Describe().commit, "");
}

}  // namespace
}  // namespace rharness
