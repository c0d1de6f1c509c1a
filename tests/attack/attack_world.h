// What attacks need: a place, a repository, a run's workspace, and a secret that must stay one.
#ifndef RHARNESS_TESTS_ATTACK_ATTACK_WORLD_H_
#define RHARNESS_TESTS_ATTACK_ATTACK_WORLD_H_

#include <gtest/gtest.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "harness/base/files.h"
#include "harness/execution/rerun/workspace.h"

namespace rharness {

class AttackWorld : public testing::Test {
 protected:
  AttackWorld();

  const std::filesystem::path& folder() const { return folder_.path(); }
  std::filesystem::path repository() const { return folder() / "root"; }
  // Below folder().
  void Write(const std::string& relative, const std::string& content) const;
  static std::string Read(const std::filesystem::path& path);
  // `git ARGUMENT...` in the repository; its output without the last line break.
  std::string Git(std::vector<std::string> arguments,
                  const std::filesystem::path& where = {}) const;
  // Makes the repository if there is none, adds everything and commits; the commit.
  std::string Commit(const std::filesystem::path& where = {}) const;
  // The file of a loose object of the repository.
  std::filesystem::path LooseObject(const std::string& name) const;

  // Of manifest_, at folder()/drill/workspace.
  Result<Workspace> Prepare();

  Manifest manifest_;
  Places places_;
  CheckoutLimits limits_;
  ContentCache cache_;

 private:
  ScopedTempDir folder_;
};

// A safetensors file with one float32 tensor "w" of one element.
std::string OneTensor(float value);

}  // namespace rharness

#endif  // RHARNESS_TESTS_ATTACK_ATTACK_WORLD_H_
