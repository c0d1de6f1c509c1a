// Fuzzes the readers of HELM's statistics and of lm-evaluation-harness's results: no crash, no
// undefined behaviour; errors with their file, and names that are no empty text.
//
// Run: rharness-helm-fuzz -max_total_time=120 CORPUS helm_seeds
#include "harness/records/logs/evaluation_results.h"
#include "tests/fuzz/fuzz_check.h"

namespace rharness {
namespace {

void CheckRead(const Result<EvaluationResults>& results) {
  if (!results.ok()) return RequireError(results.error(), {ErrorCode::kInvalidInput}, "fuzz");
  for (const auto& [name, value] : results->values) Require(!name.empty());
  for (const std::string& remark : results->remarks) Require(remark.starts_with("fuzz: "));
}

}  // namespace
}  // namespace rharness

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace rharness;
  const std::string_view text = TextOf(data, size);
  CheckRead(ParseHelmStats(text, "fuzz"));
  CheckRead(ParseHarnessResults(text, "fuzz"));
  LooksLikeHelmStats(text);
  LooksLikeHarnessResults(text);
  return 0;
}
