// Fuzzes the reader of a profiler's list of kernels: families are known ones, every kernel tells
// its families or is named as unknown, and a list of the unknown ones alone tells none.
//
// Run: rharness-kernel-list-fuzz -max_total_time=60 -dict=kernel_list.dict CORPUS kernel_list_seeds
#include <algorithm>
#include <set>
#include <string>

#include "harness/records/manifest/kernel_families.h"
#include "tests/fuzz/fuzz_check.h"

namespace rharness {
namespace {

// As CSV, so that no name is taken for a header or cut at a comma.
std::string CsvOf(const std::vector<std::string>& names) {
  std::string csv = "Calls,Name\n";
  for (const std::string& name : names) {
    csv += "1,\"";
    for (const char c : name) csv += c == '"' ? "\"\"" : std::string(1, c);
    csv += "\"\n";
  }
  return csv;
}

void CheckAccepted(const KernelFamilies& found) {
  static const std::set<std::string> known = {"collective", "compiler", "convolution",
                                              "gemm",       "math",     "reduction"};
  Require(found.kernels > 0 && found.unknown.size() <= static_cast<std::size_t>(found.kernels));
  Require(std::ranges::is_sorted(found.families, std::less_equal<>()));
  Require(std::ranges::all_of(found.families, [](const auto& one) { return known.contains(one); }));
  if (found.unknown.empty()) return;
  const auto again = FamiliesOfKernels(CsvOf(found.unknown), "written");
  Require(again.ok() && again->families.empty() && again->unknown == found.unknown);
}

}  // namespace
}  // namespace rharness

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto found = rharness::FamiliesOfKernels(rharness::TextOf(data, size), "fuzz");
  if (found.ok()) {
    rharness::CheckAccepted(*found);
  } else {
    rharness::RequireError(found.error(), {rharness::ErrorCode::kInvalidInput}, "fuzz");
  }
  return 0;
}
