// Tensors of two sets, paired by name.
#include "compare/weights/weight_sets.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "compare/weights/names.h"
#include "compare/weights/tensor_pairs.h"

namespace rharness {
namespace {

constexpr auto kLoaderOrder = std::to_array<std::string_view>(
    {"model.safetensors", "model.safetensors.index.json", "pytorch_model.bin",
     "pytorch_model.bin.index.json", "adapter_model.safetensors", "adapter_model.bin",
     "diffusion_pytorch_model.safetensors", "diffusion_pytorch_model.safetensors.index.json",
     "diffusion_pytorch_model.bin"});

}  // namespace

std::optional<std::string> FirstForLoaders(const std::vector<std::string>& names) {
  for (const std::string_view wanted : kLoaderOrder) {
    if (std::ranges::find(names, wanted) != names.end()) return std::string(wanted);
  }
  return std::nullopt;
}

bool IsForOtherLoader(std::string_view name) { return name.starts_with("consolidated."); }

Result<SetComparison> CompareSets(const Checkpoint& first, const Checkpoint& second) {
  std::vector<TensorPair> pairs;
  std::vector<std::string> other;
  const std::vector<TensorInfo>& tensors = first.tensors();
  for (std::size_t i = 0; i < second.tensors().size(); ++i) {
    const TensorInfo& info = second.tensors()[i];
    const auto twin = std::ranges::lower_bound(tensors, info.name, {}, &TensorInfo::name);
    if (twin == tensors.end() || twin->name != info.name) continue;
    const bool alike = twin->dtype == info.dtype && twin->shape == info.shape &&
                       twin->block_format == info.block_format;
    if (!alike) other.push_back(info.name);
    if (alike) pairs.push_back({static_cast<std::size_t>(twin - tensors.begin()), i});
  }
  const std::size_t shared = pairs.size() + other.size();
  if (shared == 0) return SetComparison();
  if (other.empty()) {
    ASSIGN_OR_RETURN(const std::vector<std::size_t> differing,
                     FindDiffering(first, second, pairs, 0));
    for (const std::size_t pair : differing) other.push_back(tensors[pairs[pair].a].name);
  }
  if (!other.empty()) {
    return SetComparison{
        SetRelation::kOther,
        fmt::format("{} of {} tensors of equal names are not the same, first {}", other.size(),
                    shared, Quoted(*std::ranges::min_element(other)))};
  }
  const bool all = shared == second.tensors().size();
  return SetComparison{all ? SetRelation::kRepeats : SetRelation::kApart, {}};
}

}  // namespace rharness
