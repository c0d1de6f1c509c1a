// The canonical tensor digest: equal tensors have equal digests, whatever file they lie in.
//
// leaf(tensor) = SHA-256("rharness.tensor/v1\0" | u64 length of dtype name | dtype name | u64 rank
// |
//                        u64 dims... | element bytes, little-endian, C order)
// digest       = SHA-256("rharness.checkpoint/v1\0" | u64 tensor count | for every tensor in
//                        byte order of names: u64 length of name | name | leaf)
// The dtype name is FormatName's: quantised tensors carry that of their blocks ("Q4_K"). All u64
// little-endian. What is loaded with the tensors and is none (PartKind::kModel) has a digest of its
// own, since the same tensors lie in formats with and without it:
//
// beside       = SHA-256("rharness.beside/v1\0" | for every such part in byte order of names:
//                        u64 length of name | name | SHA-256 of its content)
// -0 and +0, and NaNs of different payload, are different. Metadata, tensor
// order, padding and file layout do not count. Values that are not finite are counted on the way.
#ifndef RHARNESS_COMPARE_WEIGHTS_TENSOR_DIGEST_H_
#define RHARNESS_COMPARE_WEIGHTS_TENSOR_DIGEST_H_

#include <string>
#include <vector>

#include "compare/weights/checkpoint.h"
#include "compare/weights/non_finite.h"
#include "compare/weights/side_files.h"
#include "harness/base/digest.h"

namespace rharness {

struct TensorDigest {
  std::string name;
  DType dtype = DType::kF32;
  std::vector<std::uint64_t> shape;
  std::string sha256;            // of the leaf, hex
  std::string block_format;      // as in TensorInfo
  std::uint64_t non_finite = 0;  // elements that are not finite and should be (non_finite.h)
};

struct CheckpointDigest {
  std::string sha256;                       // hex
  std::string beside;                       // hex; empty: there is no such part
  std::vector<PartDigest> beside_parts;     // in byte order of names
  std::vector<TensorDigest> tensors;        // sorted by name bytes
  std::uint64_t size_bytes = 0;             // of all tensors
  std::vector<NonFiniteTensor> non_finite;  // unexpected ones, sorted by name
};

// Memory: a block per thread, whatever the checkpoint's size. `threads` 0: one per core. Errors:
// those of Checkpoint::Read and CheckUnchanged; unsupported if a part of it is not read (unread()),
// which a digest would not cover.
Result<CheckpointDigest> DigestCheckpoint(const Checkpoint& checkpoint, int threads = 0);

// The same root from leaves alone, so that a manifest's list can be verified. Returns empty, which
// no digest equals, when a leaf is not 64 lower-case hex digits.
std::string CombineDigests(const std::vector<TensorDigest>& sorted_tensors);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_WEIGHTS_TENSOR_DIGEST_H_
