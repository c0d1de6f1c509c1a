// A drill that tries again at once: drill_main HISTORY OUT JOBS [--resume]. Exits as
// `rharness drill`.
//
// Role: what the shim is loaded into. Not here: options, output.
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "harness/drill/drill.h"

int main(int argc, char** argv) {
  using namespace rharness;
  if (argc < 4) return 2;
  DrillOptions options;
  options.history = argv[1];
  options.out = argv[2];
  options.places.root = ".";
  options.plan.jobs = std::atoi(argv[3]);
  options.plan.slots.cpus = options.plan.jobs;
  options.resume = argc > 4 && std::string_view(argv[4]) == "--resume";
  options.retry.first_wait = std::chrono::milliseconds(1);
  const auto report = RunDrill(options, {}, &SystemClock());
  if (report.ok()) return report->exit_code;
  std::fprintf(stderr, "%s: %s\n", std::string(ErrorCodeName(report.error().code)).c_str(),
               report.error().ToString().c_str());
  switch (report.error().code) {
    case ErrorCode::kIntegrity:
      return 5;
    case ErrorCode::kInvalidInput:
    case ErrorCode::kNotFound:
    case ErrorCode::kUnsupported:
      return 2;
    default:
      return 4;
  }
}
