// Trees and bits into results.
#include "probes/cpu/reveal_case.h"

#include <fmt/format.h>

#include <algorithm>

#include "probes/order/one_at_a_time.h"

namespace rharness {

std::optional<SumTree> RevealCase(const ProbeContext& context, const std::string& name,
                                  const std::string& label, MaskedSum& sum, ProbeResult* result,
                                  int validate_pairs) {
  const int repeats = std::max(0, context.repeats - 1);
  RevealOptions options{.seed = context.seed,
                        .repeats = sum.max_batch() > 1 ? 0 : repeats,
                        .validate_pairs = validate_pairs};
  auto revealed = RevealTree(sum, options);
  const auto no_tree = [&] {
    return revealed.ok() && !revealed->tree && revealed->deterministic && sum.max_batch() > 1;
  };
  if (no_tree() && repeats > 0) {
    options.repeats = repeats;
    revealed = RevealTree(sum, options);
  }
  if (no_tree()) {
    // Rows of one product may come from different kernels.
    OneAtATime alone(sum);
    const std::string why = revealed->why;
    revealed = RevealTree(alone, options);
    if (revealed.ok() && revealed->tree) {
      result->notes.push_back(fmt::format("{}: the tree is the first row's: {}", label, why));
    }
  }
  if (!revealed.ok()) {
    result->status = ProbeStatus::kFailed;
    result->message = fmt::format("{}: {}", label, revealed.error().ToString());
    return std::nullopt;
  }
  result->counts["masked sums"] += revealed->probes;
  result->counts["launches"] += revealed->launches;
  if (!revealed->deterministic && (result->unstable.empty() || result->unstable.back() != name)) {
    result->unstable.push_back(name);
  }
  if (!revealed->tree) {
    result->notes.push_back(fmt::format("{}: tree not revealed: {}", label, revealed->why));
  }
  return std::move(revealed->tree);
}

void AddTree(const ProbeContext& context, const std::string& name, MaskedSum& sum,
             ProbeResult* result, int validate_pairs) {
  auto tree = RevealCase(context, name, name, sum, result, validate_pairs);
  if (tree) result->trees.emplace(name, std::move(*tree));
}

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
