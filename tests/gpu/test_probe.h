// Runs one probe of this program by its name, on the false machine.
#ifndef RHARNESS_TESTS_GPU_TEST_PROBE_H_
#define RHARNESS_TESTS_GPU_TEST_PROBE_H_

#include <cstdlib>
#include <string>
#include <string_view>

#include "harness/base/result.h"
#include "probes/probe.h"

namespace rharness {

// A variable for as long as the object lives.
class ScopedVariable {
 public:
  ScopedVariable(const char* name, const char* value) : name_(name) { ::setenv(name, value, 1); }
  ~ScopedVariable() { ::unsetenv(name_); }
  ScopedVariable(const ScopedVariable&) = delete;
  ScopedVariable& operator=(const ScopedVariable&) = delete;

 private:
  const char* name_;
};

inline ProbeResult RunOnFakes(std::string_view name, int repeats = 1) {
  ProbeContext context{.device = "cuda:0", .repeats = repeats};
  context.library_paths = {std::string(FAKE_CUDA_DIR) + "/working"};
  for (const Probe& probe : Probes()) {
    if (probe.name == name) return probe.run(context);
  }
  Abort("no such probe");
}

}  // namespace rharness

#endif  // RHARNESS_TESTS_GPU_TEST_PROBE_H_
