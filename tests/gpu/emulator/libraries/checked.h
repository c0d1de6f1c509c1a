// Checks of a library's calls in a process of its own.
#ifndef RHARNESS_TESTS_GPU_EMULATOR_LIBRARIES_CHECKED_H_
#define RHARNESS_TESTS_GPU_EMULATOR_LIBRARIES_CHECKED_H_

#include <fmt/format.h>

#include "tests/gpu/emulator/libraries/emulated_probe.h"

namespace rharness {

// `check(context, result)` calls ExpectStatus; what it finds fails the test.
template <class Check>
void ExpectAsDocumented(const Check& check, const Changes& changes = {}) {
  const auto run = [&]() -> ProbeResult {
    ProbeContext context{.device = "cuda:0"};
    context.library_paths = {EMULATOR_DIR};
    ProbeResult result;
    const Status done = check(context, &result);
    return done.ok() ? result : FailedProbe(done.error().ToString());
  };
  const auto result = RunForked(changes, run);
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->status, ProbeStatus::kOk) << result->message;
  for (const std::string& note : result->notes) ADD_FAILURE() << note;
  EXPECT_TRUE(result->counts.contains("checked"));
}

template <class Code>
void ExpectStatus(std::string_view what, Code got, Code wanted, ProbeResult* result) {
  ++result->counts["checked"];
  if (got == wanted) return;
  result->notes.push_back(fmt::format("{}: status {}, expected {}", what, static_cast<int>(got),
                                      static_cast<int>(wanted)));
}

// Of an enumeration, whether it has it or not.
template <class Enumeration>
Enumeration Numbered(int number) {
  return static_cast<Enumeration>(number);
}

}  // namespace rharness

#endif  // RHARNESS_TESTS_GPU_EMULATOR_LIBRARIES_CHECKED_H_
