// A checkpoint whose tensors are views: laid over stored bytes by strides, perhaps deflated or of
// the other byte order.
//
// Role: private to this folder; the result of PyTorch's and numpy's readers. Checks their views
// against the source. Not here: any file format.
#ifndef RHARNESS_COMPARE_WEIGHTS_VIEW_CHECKPOINT_H_
#define RHARNESS_COMPARE_WEIGHTS_VIEW_CHECKPOINT_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compare/weights/checkpoint.h"
#include "compare/weights/input_file.h"
#include "compare/weights/zip_archive.h"

namespace rharness {

// Limits of this reader, far above any published checkpoint.
inline constexpr std::size_t kMaxViews = 500'000;
inline constexpr std::size_t kMaxViewRank = 64;                          // PyTorch's and numpy's
inline constexpr std::size_t kMaxViewDimensions = 4'000'000;             // of all tensors together
inline constexpr std::size_t kMaxViewNameBytes = std::size_t{64} << 20;  // of all tensors together
inline constexpr std::uint64_t kMaxViewMultiple = 64;  // bytes of all views over those of the file,
inline constexpr std::uint64_t kViewMultipleFloor = std::uint64_t{16} << 20;  // or over 16 MB
inline constexpr std::uint64_t kMaxInflatedMultiple =
    64;  // bytes of deflated sources over those of
inline constexpr std::uint64_t kInflatedFloor = std::uint64_t{1} << 30;  // the file, or 1 GiB

// Bytes that views are laid over.
struct ViewSource {
  std::uint64_t begin = 0;  // in the file; 0 for a deflated member
  std::uint64_t size_bytes = 0;
  std::optional<ZipMember> deflated;          // the member to inflate
  std::optional<ZipMember> stored;            // the member with these bytes, for CheckStored
  std::shared_ptr<const std::string> memory;  // bytes that are not literally in the file
};

ViewSource SourceOf(const ZipMember& member);

struct View {
  std::string name;
  DType dtype = DType::kF32;  // no sub-byte type
  std::vector<std::uint64_t> shape;
  std::vector<std::uint64_t> strides;  // in elements, one per dimension
  std::uint64_t offset_bytes = 0;      // of element [0, ..., 0] in its source
  std::size_t source = 0;              // index
  bool swapped = false;                // big-endian numbers
  std::uint64_t stated_at = 0;         // for errors: "WHERE: byte N"
};

// Strides of C order (the last dimension is the densest) or of Fortran order (the first is).
// Meaningless when the shape's product exceeds 64 bits, which MakeViewCheckpoint refuses.
std::vector<std::uint64_t> DenseStrides(const std::vector<std::uint64_t>& shape, bool fortran);

struct ViewCheckpointParts {
  std::vector<ViewSource> sources;  // within the file
  std::vector<View> views;          // in any order
  std::string where;                // "FILE", or "FILE: member 'NAME'": the statement of the views
  std::vector<std::pair<std::string, std::string>> metadata;
  // Names and reasons. Without content of their own their bytes are those of the whole archive:
  // equal archives have equal parts.
  std::vector<UnreadPart> unread;
  std::uint64_t begin = 0;                  // of the archive in the file
  std::optional<std::uint64_t> size_bytes;  // none: all of the file
};

// Checks that every element of every view is in its source and that names are unique; sorts. Reads
// of dense views go to the file; others are gathered in bands; at most 16 bands of 4 MB are kept
// (64 MB). Deflated sources are inflated from their beginning, or from the end of an earlier read:
// reading in order costs one pass, transposed views of them one pass per band. CRC-32 of deflated
// members is checked when a read reaches their end. Errors: invalid_input, unsupported (a limit
// above); the message names the tensor.
Result<std::unique_ptr<Checkpoint>> MakeViewCheckpoint(InputFile file, ViewCheckpointParts parts);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_WEIGHTS_VIEW_CHECKPOINT_H_
