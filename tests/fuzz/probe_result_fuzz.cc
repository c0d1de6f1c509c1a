// Fuzzes the reader of what a probe's child process wrote: a result that is accepted is written and
// read again as the same.
//
// Run: rharness-probe-result-fuzz -max_total_time=60 -dict=fingerprint.dict CORPUS
// probe_result_seeds
#include <string>

#include "harness/base/digest.h"
#include "probes/runner.h"
#include "tests/fuzz/fuzz_check.h"

namespace rharness {
namespace {

void CheckAccepted(const ProbeResult& result) {
  for (const auto& [name, digest] : result.bits) Require(IsSha256Hex(digest));
  const Json written = ToJson(result);
  RequireReadable(written);
  const auto again = ParseProbeResult(written);
  Require(again.ok() && again->trees == result.trees && ToJson(*again).Dump() == written.Dump());
}

}  // namespace
}  // namespace rharness

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto json = rharness::ParseJson(rharness::TextOf(data, size), "fuzz");
  if (!json.ok()) return 0;
  const auto result = rharness::ParseProbeResult(*json);
  if (result.ok()) {
    rharness::CheckAccepted(*result);
  } else {
    rharness::RequireError(result.error(), {rharness::ErrorCode::kInvalidInput}, "result: $");
  }
  return 0;
}
