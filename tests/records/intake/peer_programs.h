// Programs of the tools whose records are imported, run in a folder of the test's.
#ifndef RHARNESS_TESTS_RECORDS_INTAKE_PEER_PROGRAMS_H_
#define RHARNESS_TESTS_RECORDS_INTAKE_PEER_PROGRAMS_H_

#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "harness/base/subprocess.h"
#include "tests/records/intake/source_tree.h"

namespace rharness {

// RHARNESS_PEERS names the folder that `./dev peers` made; without it tests say so and are skipped.
class PeerPrograms : public SourceTree {
 protected:
  void SetUp() override {
    const char* folder = std::getenv("RHARNESS_PEERS");
    if (folder == nullptr) {
      GTEST_SKIP() << "./dev peers installs the tools; set RHARNESS_PEERS to their folder";
    }
    programs_ = std::filesystem::path(folder) / "venv/bin";
    std::filesystem::create_directories(root());
  }

  // A script of tests/records/intake/peers; its last line, "" after a failure of the test.
  std::string RunScript(const std::string& name, std::vector<std::string> arguments) const {
    ProcessSpec spec;
    spec.argv = {programs_ / "python", RHARNESS_SOURCE_DIR "/tests/records/intake/peers/" + name};
    spec.argv.insert(spec.argv.end(), arguments.begin(), arguments.end());
    spec.working_directory = root();
    spec.environment = PickEnvironment({"PATH"});
    spec.environment["HOME"] = root().parent_path();
    ProcessLimits limits;
    limits.timeout = std::chrono::minutes(15);
    const ProcessResult result = RunProcess(spec, limits);
    EXPECT_TRUE(result.outcome.Succeeded())
        << result.outcome.ToString() << result.stdout_text << result.stderr_text;
    std::string text = result.stdout_text;
    while (text.ends_with('\n')) text.pop_back();
    return text.substr(text.rfind('\n') + 1);
  }

 private:
  std::filesystem::path programs_;
};

}  // namespace rharness

#endif  // RHARNESS_TESTS_RECORDS_INTAKE_PEER_PROGRAMS_H_
