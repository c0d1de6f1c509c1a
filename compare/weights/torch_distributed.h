// PyTorch's distributed checkpoints (torch.distributed.checkpoint, PyTorch 2.0 and later): a
// .metadata pickle and __RANK_N.distcp files of which every part is a torch.save archive.
//
// Role: one reader of Checkpoint. Tensors that were saved in chunks are put together again, so that
// the number of ranks that wrote them does not count. Source: metadata.py and filesystem.py in
// torch/distributed/checkpoint of pytorch/pytorch.
#ifndef RHARNESS_COMPARE_WEIGHTS_TORCH_DISTRIBUTED_H_
#define RHARNESS_COMPARE_WEIGHTS_TORCH_DISTRIBUTED_H_

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "compare/weights/checkpoint.h"

namespace rharness {

// Limits of this reader.
inline constexpr std::uint64_t kMaxDistributedChunks = 1'000'000;
inline constexpr std::size_t kMaxDistributedRank = 32;

// A box of a tensor's elements and where it lies.
struct DistributedChunk {
  std::vector<std::uint64_t> offsets;  // in the tensor
  std::vector<std::uint64_t> sizes;
  std::size_t file = 0;            // in DistributedMetadata::files
  std::uint64_t offset_bytes = 0;  // of its torch.save archive in that file
  std::uint64_t length_bytes = 0;
};

struct DistributedTensor {
  TensorInfo info;
  std::vector<DistributedChunk> chunks;  // sorted by offsets; they tile the tensor
};

struct DistributedMetadata {
  std::vector<std::string> files;          // sorted; plain names of files in the folder
  std::vector<DistributedTensor> tensors;  // sorted by name bytes
  std::vector<std::string> objects;        // names of entries that are no tensors; sorted
};

// Parses a .metadata file: a pickle that is never executed, of the classes of the format alone.
// Chunks without a hole or an overlap make up each tensor. Pure. Errors, with `where` "FILE: byte
// N": invalid_input, unsupported (another class, a part that was compressed or otherwise
// transformed, a limit above).
Result<DistributedMetadata> ParseDistributedMetadata(std::string bytes, std::string_view file);

// Opens the folder; the tensors stay in its files. Every chunk is an archive of one tensor of the
// dtype and shape that .metadata states. Errors: not_found (files that are missing, named), those
// of ParseDistributedMetadata, of the archives and of InputFile.
Result<std::unique_ptr<Checkpoint>> OpenTorchDistributed(
    const std::filesystem::path& folder, const std::shared_ptr<const HeldFolder>& below = nullptr);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_WEIGHTS_TORCH_DISTRIBUTED_H_
