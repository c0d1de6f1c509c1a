// Which C and mathematics library answers, and in which state a process starts to compute.
#include <gnu/libc-version.h>

#include <cfenv>
#include <limits>

#include "probes/library/loader.h"
#include "probes/probe.h"

namespace rharness {
namespace {

std::string_view RoundingName(int mode) {
  switch (mode) {
    case FE_TONEAREST:
      return "nearest";
    case FE_UPWARD:
      return "up";
    case FE_DOWNWARD:
      return "down";
    case FE_TOWARDZERO:
      return "zero";
    default:
      return "unknown";
  }
}

// Observed by the results of operations, so that it works on every processor.
Json FloatingPointState() {
  const volatile double smallest = std::numeric_limits<double>::min();
  const volatile double subnormal = std::numeric_limits<double>::denorm_min();
  const volatile double half = 0.5;
  const volatile double large = 0x1p100;
  const volatile double made = smallest * half;
  const volatile double read = subnormal * large;
  return Json()
      .Set("rounding", RoundingName(std::fegetround()))
      .Set("flushes_results_to_zero", made == 0.0)
      .Set("takes_subnormals_for_zero", read == 0.0);
}

ProbeResult RunEnvIdent(const ProbeContext&) {
  ProbeResult result;
  // Loaded in this process already: a library path cannot replace them.
  for (const char* soname : {"libc.so.6", "libm.so.6"}) {
    const auto library = Library::Open({soname}, {});
    if (!library.ok()) return FailedProbe(library.error().ToString());
    Json described = DescribeLibrary(**library, ::gnu_get_libc_version());
    result.choices[soname] = Json().Set("build_id", (*library)->BuildId());
    result.libraries.emplace(soname, std::move(described));
  }
  result.choices["floating-point state"] = FloatingPointState();
  return result;
}

const RegisterProbe kEnvIdentProbe({.name = "env_ident",
                                    .family = "identity",
                                    .summary = "C library, rounding mode, treatment of subnormals",
                                    .run = RunEnvIdent});

}  // namespace
}  // namespace rharness
