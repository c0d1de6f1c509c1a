// A checkpoint in several files: listed by an index, or simply side by side.
//
// Role: joins several Checkpoints into one, so that another split into files changes nothing.
// Source: the documentation of huggingface/transformers and huggingface_hub on sharded checkpoints.
// Not here: what a shard's format is.
#ifndef RHARNESS_COMPARE_WEIGHTS_SHARDED_H_
#define RHARNESS_COMPARE_WEIGHTS_SHARDED_H_

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compare/weights/checkpoint.h"
#include "compare/weights/input_file.h"

namespace rharness {

// Limits of this reader, far above any published checkpoint.
inline constexpr std::uint64_t kMaxShardIndexBytes = std::uint64_t{256} << 20;
inline constexpr std::size_t kMaxShardedTensors = 2'000'000;
inline constexpr std::size_t kMaxShards = 100'000;
inline constexpr std::size_t kMaxShardIndexItemBytes = std::size_t{1} << 20;  // "metadata"

struct ShardIndex {
  struct Tensor {
    std::string name;
    std::size_t shard = 0;  // in `shards`
  };
  std::vector<std::string> shards;  // sorted; plain names of files in the index's folder
  std::vector<Tensor> tensors;      // sorted by name bytes; names are unique
  std::optional<std::uint64_t> total_size_bytes;
  std::vector<std::pair<std::string, std::string>> metadata;  // but for total_size, as JSON text
};

// Parses {"metadata": {"total_size": BYTES, ...}, "weight_map": {TENSOR: FILE, ...}}; ignores
// unknown members. Pure. Errors, with `where` "FILE: byte N": invalid_input (JSON, a shard that is
// no plain file name, a tensor listed twice, no tensor at all), unsupported (a limit above).
Result<ShardIndex> ParseShardIndex(std::string_view text, std::string_view file);

// The same for an open file. Errors also: those of InputFile::ReadAt.
Result<ShardIndex> ReadShardIndex(const InputFile& file);

// The checkpoint that an index describes. Every mapped tensor is in its shard, no shard has further
// ones, and the index's total_size, if stated, is the sum of the tensors' bytes; a PyTorch index
// counts tensors that share memory once, so there it may be less. `files`: receives the shards'
// names. Errors: not_found (missing shards, named), invalid_input, and those of the shards'
// readers.
Result<std::unique_ptr<Checkpoint>> OpenShardIndex(InputFile file,
                                                   std::vector<std::string>* files = nullptr);

// All tensors of several files of one folder, whose names do not collide (invalid_input otherwise,
// naming both files). Errors: not_found, and those of the files' readers.
Result<std::unique_ptr<Checkpoint>> OpenUnion(
    const std::vector<std::filesystem::path>& files,
    const std::shared_ptr<const HeldFolder>& below = nullptr);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_WEIGHTS_SHARDED_H_
