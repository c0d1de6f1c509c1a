// Trees and bits into results.
#include "probes/cpu/reveal_case.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/base/digest.h"
#include "probes/order/one_at_a_time.h"

namespace rharness {
void AddTree(const ProbeContext& context, const std::string& name, MaskedSum& sum,
             ProbeResult* result, int validate_pairs) {
  const RevealOptions options{.seed = context.seed,
                              .repeats = std::max(0, context.repeats - 1),
                              .validate_pairs = validate_pairs};
  auto revealed = RevealTree(sum, options);
  if (revealed.ok() && !revealed->tree && revealed->deterministic && sum.max_batch() > 1) {
    // Rows of one product may come from different kernels.
    OneAtATime alone(sum);
    const std::string why = revealed->why;
    revealed = RevealTree(alone, options);
    if (revealed.ok() && revealed->tree) {
      result->notes.push_back(fmt::format("{}: the tree is the first row's: {}", name, why));
    }
  }
  if (!revealed.ok()) {
    result->status = ProbeStatus::kFailed;
    result->message = fmt::format("{}: {}", name, revealed.error().ToString());
    return;
  }
  result->counts["masked sums"] += revealed->probes;
  result->counts["launches"] += revealed->launches;
  if (!revealed->deterministic) result->unstable.push_back(name);
  if (revealed->tree) {
    result->trees.emplace(name, std::move(*revealed->tree));
  } else {
    result->notes.push_back(fmt::format("{}: tree not revealed: {}", name, revealed->why));
  }
}

void AddBits(const ProbeContext& context, const std::string& name,
             const std::function<std::vector<float>()>& run, ProbeResult* result) {
  const std::string first = BitsOf(run());
  bool stable = true;
  for (int repeat = 1; repeat < context.repeats; ++repeat) stable &= BitsOf(run()) == first;
  result->bits[name] = first;
  if (!stable) result->unstable.push_back(name);
}

std::string BitsOf(std::span<const float> values) { return ToHex(Sha256Of(std::as_bytes(values))); }

std::vector<float> RandomFloats(std::uint64_t seed, std::size_t count) {
  // SplitMix64 (Steele, Lea, Flood, OOPSLA 2014): the same numbers on every platform.
  std::vector<float> values(count);
  for (float& value : values) {
    seed += 0x9E3779B97F4A7C15U;
    std::uint64_t z = seed;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
    z ^= z >> 31;
    value = static_cast<float>(static_cast<std::int64_t>(z >> 40) - (1 << 23)) * 0x1p-23F;
  }
  return values;
}

}  // namespace rharness
