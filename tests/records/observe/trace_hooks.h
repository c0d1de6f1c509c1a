// Runs Python programs under the hooks of rharness_trace.
//
// Role: the fixture of trace_hooks_test.cc and call_hooks_test.cc.
#ifndef RHARNESS_TESTS_RECORDS_OBSERVE_TRACE_HOOKS_H_
#define RHARNESS_TESTS_RECORDS_OBSERVE_TRACE_HOOKS_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "compare/traces/onset.h"
#include "harness/base/files.h"
#include "harness/base/subprocess.h"
#include "tests/records/observe/trace_program.h"

namespace rharness {

namespace fs = std::filesystem;

using Planted = std::map<std::string, std::string>;

class Hooks : public testing::Test {
 protected:
  Hooks() : folder_(*ScopedTempDir::Make("rharness-hooks-")) {}

  fs::path At(const std::string& name) const { return folder_.path() / name; }

  // A Python that has this package: of the peers where they are installed, else of the PATH.
  static std::string PythonWith(const std::string& package) {
    std::vector<std::string> pythons;
    if (const char* peers = std::getenv("RHARNESS_PEERS")) {
      pythons.push_back(std::string(peers) + "/venv/bin/python3");
    }
    pythons.insert(pythons.end(), {"python3", "/usr/bin/python3"});
    for (const std::string& python : pythons) {
      const ProcessResult result = Execute({python, "-c", "import " + package}, {});
      if (result.outcome.Succeeded()) return python;
    }
    return "";
  }

  static ProcessResult Execute(std::vector<std::string> argv, const Planted& variables) {
    ProcessLimits limits;
    limits.timeout = std::chrono::seconds(100);
    auto environment = PickEnvironment({"PATH", "TMPDIR", "LD_LIBRARY_PATH"});
    environment["HOME"] = "/";
    environment["PYTHONDONTWRITEBYTECODE"] = "1";
    for (const auto& [name, value] : variables) environment[name] = value;
    return RunProcess({std::move(argv), environment, "/"}, limits);
  }

  // A line a run of what the program prints.
  std::vector<std::string> Run(const std::string& python, const char* program,
                               const std::vector<std::string>& arguments, Planted variables = {}) {
    variables["PYTHONPATH"] = RHARNESS_SOURCE_DIR "/harness/records/observe/python";
    std::vector<std::string> argv = {python, "-c", program};
    argv.insert(argv.end(), arguments.begin(), arguments.end());
    const ProcessResult result = Execute(argv, variables);
    EXPECT_TRUE(result.outcome.Succeeded()) << result.stderr_text;
    errors_ = result.stderr_text;
    std::vector<std::string> lines;
    std::istringstream stream(result.stdout_text);
    for (std::string line; std::getline(stream, line);) lines.push_back(line);
    EXPECT_EQ(lines.size(), std::max<std::size_t>(1, arguments.size()));
    lines.resize(std::max<std::size_t>(1, arguments.size()));
    return lines;
  }
  // An argument of kTorch: a run with this trace below the test's folder.
  std::string Traced(const std::string& trace, const std::string& planted = "") const {
    return (At(trace) / "").string() + " WATCH=1" + (planted.empty() ? "" : " " + planted);
  }

  Onset Between(const std::string& a, const std::string& b) const {
    const auto of_a = LoadTraces(At(a));
    const auto of_b = LoadTraces(At(b));
    EXPECT_TRUE(of_a.ok()) << of_a.error().ToString();
    EXPECT_TRUE(of_b.ok()) << of_b.error().ToString();
    return of_a.ok() && of_b.ok() ? FindOnset(*of_a, *of_b) : Onset();
  }

  ScopedTempDir folder_;
  std::string errors_;  // of the last run
};

class TorchHooks : public Hooks {
 protected:
  void SetUp() override {
    python_ = PythonWith("torch, numpy");
    if (python_.empty()) GTEST_SKIP() << "no Python with torch and numpy (python3-torch, or peers)";
  }
  std::string python_;
};

}  // namespace rharness

#endif  // RHARNESS_TESTS_RECORDS_OBSERVE_TRACE_HOOKS_H_
