// Calls of whole probes made to fail, of the driver and of every library: which probes, on which
// machine, and how each run may end.
//
// Role: for failures_test.cc, which fails some calls in every test run, and failure_table_main.cc,
// which fails all of them.
#ifndef RHARNESS_TESTS_GPU_EMULATOR_LIBRARIES_FAILURE_LOOP_H_
#define RHARNESS_TESTS_GPU_EMULATOR_LIBRARIES_FAILURE_LOOP_H_

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "tests/gpu/emulator/libraries/emulated_probe.h"

namespace rharness {

// How much of a probe a test run can afford.
enum class FailureCost { kQuick, kSlow, kSlowest, kByRequest };
struct FailureLoop {
  std::string probe;
  Changes changes;  // of the emulated machine
  FailureCost cost = FailureCost::kQuick;
};
// Of the probes that this build has.
std::vector<FailureLoop> FailureLoops();

// A run without failures, and how often each function was called in it. Texts are left out: they
// have no status.
struct Undisturbed {
  ProbeResult result;
  std::map<std::string, int> calls;
};
// `folder`: keeps results that are made again, and the log of calls meanwhile.
Undisturbed RunUndisturbed(const FailureLoop& loop, const std::filesystem::path& folder);

enum class FailureEnd {
  kFailed,       // the probe failed
  kFailedCases,  // it ended well, and counts cases that failed
  kUnharmed,     // what failed tidies up, and all facts are the same
  kWrong,        // anything else: a crash, or "ok"
};
// `failure`: as EMULATED_FAIL has it, of one function. `last`: it fails the last call alone.
// `message`: the probe's.
FailureEnd RunWithFailure(const FailureLoop& loop, const std::filesystem::path& folder,
                          const std::string& failure, bool last, const Undisturbed& undisturbed,
                          std::string* message);

// Whether a function is called when all is known, or sets a context or stream for that.
bool TidiesUp(const std::string& function, bool last);

// User and system time of all processes that were waited for.
double ChildSeconds();

}  // namespace rharness

#endif  // RHARNESS_TESTS_GPU_EMULATOR_LIBRARIES_FAILURE_LOOP_H_
