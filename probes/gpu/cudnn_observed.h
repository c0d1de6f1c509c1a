// Compares an engine's own notes with its observed behaviour.
//
// Role: the judgement of cudnn_conv_bits, without a device. A note can be wrong: frameworks that
// request determinism rely on the note alone.
#ifndef RHARNESS_PROBES_GPU_CUDNN_OBSERVED_H_
#define RHARNESS_PROBES_GPU_CUDNN_OBSERVED_H_

#include <optional>
#include <string>

#include "harness/base/json.h"
#include "probes/gpu/number_type.h"
#include "probes/library/cudnn_graph.h"

namespace rharness {

struct EngineObserved {
  bool repeated = true;        // every repeat in this process had the same bits
  double largest_error = 0.0;  // against the exact result, of integers
};

// Winograd and FFT: they add transformed values, so that they have no order of addition over the
// summands, and are exact for no input.
bool Transforms(const CudnnConfig& config);

// DescribeConfig with "repeated", "note_holds" (it repeated, or carries the nondeterministic note)
// and "largest_error".
Json DescribeObserved(const CudnnConfig& config, const EngineObserved& observed);

// The fault of the note: none when the engine repeated, or has the nondeterministic note.
std::optional<std::string> NoteComplaint(const CudnnConfig& config, const EngineObserved& observed);

// The fault of the answer: any error of an engine that adds products; for one that transforms, more
// than kTransformError.
std::optional<std::string> WrongAnswer(const CudnnConfig& config, const EngineObserved& observed);
// Sums here stay below 256 in size, and transforms in half precision lose a few percent of that.
inline constexpr double kTransformError = 8.0;

// An fp32 convolution that frameworks run only when they allow tf32: on tensor cores, or with its
// inputs cut down.
bool UsesTf32(NumberType type, const CudnnConfig& config);

}  // namespace rharness

#endif  // RHARNESS_PROBES_GPU_CUDNN_OBSERVED_H_
