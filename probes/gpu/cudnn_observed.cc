// Notes against observations.
#include "probes/gpu/cudnn_observed.h"

#include <fmt/format.h>

namespace rharness {

bool Transforms(const CudnnConfig& config) {
  for (const auto note :
       {CUDNN_NUMERICAL_NOTE_FFT, CUDNN_NUMERICAL_NOTE_WINOGRAD,
        CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_4x4, CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_6x6,
        CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_13x13}) {
    if (config.Has(note)) return true;
  }
  return false;
}

Json DescribeObserved(const CudnnConfig& config, const EngineObserved& observed) {
  return DescribeConfig(config)
      .Set("repeated", observed.repeated)
      .Set("note_holds", !NoteComplaint(config, observed).has_value())
      .Set("largest_error", observed.largest_error);
}

std::optional<std::string> NoteComplaint(const CudnnConfig& config,
                                         const EngineObserved& observed) {
  if (observed.repeated || config.Has(CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC)) return std::nullopt;
  return "did not repeat, and does not carry the note that it is not deterministic";
}

std::optional<std::string> WrongAnswer(const CudnnConfig& config, const EngineObserved& observed) {
  const double limit = Transforms(config) ? kTransformError : 0.0;
  if (observed.largest_error <= limit) return std::nullopt;
  return fmt::format("is off by {} from the exact result; {} is expected of it at most",
                     observed.largest_error, limit);
}

bool UsesTf32(NumberType type, const CudnnConfig& config) {
  return BytesOf(type) == 4 && (config.Has(CUDNN_NUMERICAL_NOTE_TENSOR_CORE) ||
                                config.Has(CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS));
}

}  // namespace rharness
