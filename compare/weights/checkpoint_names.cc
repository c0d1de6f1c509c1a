// Names that checkpoints and models have, by their endings.
#include <algorithm>
#include <array>
#include <span>

#include "compare/weights/checkpoint_folder.h"

namespace rharness {
namespace {

constexpr std::array<std::string_view, 8> kOtherEndings = {".gguf", ".pt",   ".pth", ".pth.tar",
                                                           ".bin",  ".ckpt", ".npz", ".npy"};
// Models that may lie beside the weights that they were made of.
constexpr std::array<std::string_view, 6> kModelEndings = {".keras", ".onnx",   ".pt2",
                                                           ".ptl",   ".joblib", ".ubj"};
// Names of checkpoints that data sets have as well.
constexpr std::array<std::string_view, 3> kWeakEndings = {".h5", ".hdf5", ".msgpack"};

bool EndsWithAny(std::string_view name, std::span<const std::string_view> endings) {
  return std::ranges::any_of(endings,
                             [&](std::string_view ending) { return name.ends_with(ending); });
}

}  // namespace

bool IsCheckpointName(std::string_view name) {
  return name.ends_with(".safetensors") || EndsWithAny(name, kOtherEndings);
}

bool IsModelName(std::string_view name) {
  return IsCheckpointName(name) || EndsWithAny(name, kModelEndings);
}

bool MayHoldTensors(std::string_view name) {
  constexpr std::array<std::string_view, 4> kOthers = {".pkl", ".pickle", ".json", ".txt"};
  return IsCheckpointName(name) || MayBeCheckpointName(name) || EndsWithAny(name, kOthers);
}

bool MayBeCheckpointName(std::string_view name) {
  return EndsWithAny(name, kModelEndings) || EndsWithAny(name, kWeakEndings);
}

}  // namespace rharness
