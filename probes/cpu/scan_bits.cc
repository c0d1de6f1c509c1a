// Prefix sums: the standard library's, and a scan in blocks as GPUs do it.
#include <numeric>

#include "probes/cpu/reveal_case.h"

namespace rharness {
namespace {

constexpr std::size_t kTerms = 10'000;
constexpr std::size_t kBlock = 128;

// Each block scans itself by doubling distances, then adds the sum of all before it.
std::vector<float> BlockScan(const std::vector<float>& x) {
  std::vector<float> out = x;
  float before = 0.0F;
  for (std::size_t at = 0; at < out.size(); at += kBlock) {
    const auto block = std::span(out).subspan(at, std::min(kBlock, out.size() - at));
    for (std::size_t distance = 1; distance < block.size(); distance *= 2) {
      for (std::size_t i = block.size(); i-- > distance;) block[i] += block[i - distance];
    }
    for (float& value : block) value += before;
    before = block.back();
  }
  return out;
}

ProbeResult RunScanBits(const ProbeContext& context) {
  ProbeResult result;
  result.parameters = Json::MakeObject({{"seed", context.seed}, {"terms", kTerms}});
  const std::vector<float> x = RandomFloats(context.seed, kTerms);
  AddBits(
      context, "fp32 std::inclusive_scan",
      [&] {
        std::vector<float> out(x.size());
        std::inclusive_scan(x.begin(), x.end(), out.begin());
        return out;
      },
      &result);
  AddBits(
      context, "fp32 block scan", [&] { return BlockScan(x); }, &result);
  return result;
}

const RegisterProbe kScanBitsProbe({.name = "scan_bits",
                                    .family = "reduction",
                                    .summary = "bits of prefix sums",
                                    .run = RunScanBits});

}  // namespace
}  // namespace rharness
