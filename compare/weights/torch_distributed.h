// PyTorch's distributed checkpoints (torch.distributed.checkpoint, PyTorch 1.13 and later): a
// .metadata pickle and __RANK_N.distcp files whose parts are torch.save archives.
//
// Role: one reader of Checkpoint. Joins tensors that were saved in chunks, so that the number of
// ranks that wrote them does not count. Source: metadata.py and filesystem.py in
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

inline constexpr std::string_view kDistributedIndex = ".metadata";

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

// A value that is no tensor: a step, a learning rate, a scheduler.
struct DistributedObject {
  std::string name;
  std::size_t file = 0;  // in DistributedMetadata::files
  std::uint64_t offset_bytes =
      0;  // of its torch.save archive, or of bytes of its own, in that file
  std::uint64_t length_bytes = 0;
};

struct DistributedMetadata {
  std::vector<std::string> files;          // sorted; plain names of files in the folder
  std::vector<DistributedTensor> tensors;  // sorted by name bytes
  std::vector<DistributedObject> objects;  // sorted by name bytes
};

// Parses a .metadata file: a pickle that is never executed; only the members of the format are
// read. Chunks without a hole or an overlap make up each tensor, and every object has one part.
// Pure. Errors, with `where` "FILE: byte N": invalid_input, unsupported (a part that was compressed
// or otherwise transformed, a limit above).
Result<DistributedMetadata> ParseDistributedMetadata(std::string bytes, std::string_view file);

// The same for an open file. Errors also: those of InputFile::ReadAt.
Result<DistributedMetadata> ReadDistributedMetadata(const InputFile& file);

// Opens the folder; the tensors stay in its files. Every chunk is an archive of one tensor of the
// dtype and shape that .metadata states. An object's values are metadata, and its tensors tensors,
// below its name; one whose part is no archive is among unread(). `files`: receives the names of
// the files that .metadata lists. Errors: not_found (missing files, named), those of
// ParseDistributedMetadata, of the chunks' archives and of InputFile.
Result<std::unique_ptr<Checkpoint>> OpenTorchDistributed(
    const std::filesystem::path& folder, const std::shared_ptr<const HeldFolder>& below = nullptr,
    std::vector<std::string>* files = nullptr);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_WEIGHTS_TORCH_DISTRIBUTED_H_
