// A checkpoint as named tensors, whatever its file format; nothing is loaded until it is asked for.
//
// Role: the one interface between formats (a reader each) and everything that looks at weights.
#ifndef RHARNESS_COMPARE_WEIGHTS_CHECKPOINT_H_
#define RHARNESS_COMPARE_WEIGHTS_CHECKPOINT_H_

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/result.h"

namespace rharness {

enum class DType {
  kBool, kF4, kF6E2M3, kF6E3M2, kU8, kI8, kF8E5M2, kF8E4M3, kF8E8M0, kF8E4M3Fnuz, kF8E5M2Fnuz,
  kI16, kU16, kF16, kBF16, kI32, kU32, kF32, kC64, kF64, kI64, kU64,
};
std::string_view DTypeName(DType dtype);   // the safetensors spelling: "F32", "BF16", "F8_E4M3"
Result<DType> ParseDType(std::string_view name);
int BitsOf(DType dtype);                   // of one element: 4, 6, 8, 16, 32 or 64

struct TensorInfo {
  std::string name;
  DType dtype = DType::kF32;
  std::vector<std::uint64_t> shape;  // [] is a scalar; zero-sized dimensions are legal
  std::uint64_t elements = 1;        // product of shape
  std::uint64_t size_bytes = 0;      // elements * bits / 8
};

// An open checkpoint. Immutable and safe to read from several threads.
class Checkpoint {
 public:
  virtual ~Checkpoint() = default;
  // Sorted by name bytes; names are unique.
  virtual const std::vector<TensorInfo>& tensors() const = 0;
  // The tensor's elements, little-endian, C order, contiguous, valid while the checkpoint lives.
  virtual std::span<const std::byte> Bytes(std::size_t index) const = 0;
  // Tells the checkpoint that the bytes of this tensor are not needed any more, so that memory
  // stays bounded on files larger than memory.
  virtual void Release(std::size_t index) const = 0;
  // Metadata that is not part of the weights: a timestamp, a framework version.
  virtual const std::vector<std::pair<std::string, std::string>>& metadata() const = 0;
};

// Opens a checkpoint file by its content. Errors: not_found, io, invalid_input (malformed, with
// the byte offset), unsupported (a format this version does not read, named).
Result<std::unique_ptr<Checkpoint>> OpenCheckpoint(const std::filesystem::path& path);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_WEIGHTS_CHECKPOINT_H_
