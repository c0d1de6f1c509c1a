// What cupti.h declares, held against NVIDIA's headers: those of the toolkit of this machine, and
// of the wheels in the folder that `./dev peers` made, which RHARNESS_PEERS names. Without any the
// test says so and is skipped.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "harness/base/subprocess.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

// Options for each set of headers: those of wheels, and of a toolkit.
std::vector<std::vector<std::string>> HeaderSets() {
  std::vector<fs::path> roots = {"/usr/local/cuda"};
  std::error_code error;
  const char* peers = std::getenv("RHARNESS_PEERS");
  for (const auto& entry :
       fs::directory_iterator(fs::path(peers ? peers : "") / "venv/lib", error)) {
    const fs::path wheels = entry.path() / "site-packages/nvidia";
    for (const auto& wheel : fs::directory_iterator(wheels, error)) roots.push_back(wheel.path());
  }
  std::vector<std::vector<std::string>> sets;
  for (const fs::path& root : roots) {
    if (!fs::exists(root / "include/cupti_callbacks.h", error)) continue;
    const fs::path runtime = root.parent_path() / "cuda_runtime/include";
    sets.push_back({"-I" + (root / "include").string(), "-I" + runtime.string()});
  }
  return sets;
}

ProcessResult Compile(const std::vector<std::string>& includes, const std::string& extra = "") {
  ProcessSpec spec;
  spec.argv = {"c++", "-std=c++20", "-fsyntax-only", "-Wno-invalid-offsetof",
               std::string("-I") + RHARNESS_SOURCE_DIR};
  spec.argv.insert(spec.argv.end(), includes.begin(), includes.end());
  if (!extra.empty()) spec.argv.push_back(extra);
  spec.argv.push_back(std::string(RHARNESS_SOURCE_DIR) + "/tests/records/observe/cupti_layout.cc");
  spec.environment = PickEnvironment({"PATH"});
  return RunProcess(spec);
}

TEST(CuptiHeaders, SayWhatIsDeclaredHere) {
  const auto sets = HeaderSets();
  if (sets.empty()) {
    GTEST_SKIP()
        << "no toolkit with CUPTI here; ./dev peers installs its wheels, set RHARNESS_PEERS";
  }
  for (const auto& includes : sets) {
    const ProcessResult result = Compile(includes);
    EXPECT_TRUE(result.outcome.Succeeded()) << includes[0] << "\n" << result.stderr_text;
    EXPECT_FALSE(Compile(includes, "-DPLANTED=1").outcome.Succeeded()) << includes[0];
    std::printf("held against %s\n", includes[0].c_str() + 2);
  }
}

}  // namespace
}  // namespace rharness
