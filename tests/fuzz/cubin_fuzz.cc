// Fuzzes the reader of a cubin's sections: they lie inside the file and together are no larger, and
// every kernel with code has a digest.
//
// Run: rharness-cubin-fuzz -max_total_time=60 -dict=cubin.dict CORPUS cubin_seeds
#include <algorithm>
#include <string_view>

#include "harness/base/digest.h"
#include "probes/gpu/cubin.h"
#include "tests/fuzz/fuzz_check.h"

namespace rharness {
namespace {

constexpr std::string_view kCode = ".text.";

void Check(std::string_view cubin) {
  const auto sections = CubinSections(cubin);
  const auto digests = CodeDigests(cubin);
  Require(sections.ok() || !digests.ok());
  if (!digests.ok()) RequireError(digests.error(), {ErrorCode::kIntegrity}, "");
  if (!sections.ok()) return RequireError(sections.error(), {ErrorCode::kIntegrity}, "");
  std::size_t bytes = 0, kernels = 0;
  for (const auto& [name, content] : *sections) {
    Require(content.empty() || (content.data() >= cubin.data() &&
                                content.data() + content.size() <= cubin.data() + cubin.size()));
    bytes += content.size();
    if (!name.starts_with(kCode)) continue;
    ++kernels;
    Require(digests->contains(name.substr(kCode.size())));
  }
  Require(bytes <= cubin.size());
  Require(digests.ok() == (kernels > 0) && (!digests.ok() || digests->size() == kernels));
  if (!digests.ok()) return;
  Require(std::ranges::all_of(*digests, [](const auto& one) { return IsSha256Hex(one.second); }));
}

}  // namespace
}  // namespace rharness

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  rharness::Check(rharness::TextOf(data, size));
  return 0;
}
