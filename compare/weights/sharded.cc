// Many files as one checkpoint: opened within a bound of descriptors, checked against an index.
#include "compare/weights/sharded.h"

#include <fmt/format.h>

#include <algorithm>

#include "compare/weights/names.h"
#include "compare/weights/open_checkpoint.h"
#include "compare/weights/union_checkpoint.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

// Opens all files before any is read, so that every missing one is named.
Result<std::vector<InputFile>> OpenFiles(const std::vector<fs::path>& paths, std::string_view where,
                                         const std::shared_ptr<const HeldFolder>& below) {
  const auto pool = std::make_shared<DescriptorPool>();
  constexpr std::size_t kNamed = 10;
  std::vector<InputFile> files;
  std::vector<std::string> missing;
  for (const fs::path& path : paths) {
    Result<InputFile> file = InputFile::Open(path, pool, below);
    if (file.ok()) {
      files.push_back(std::move(*file));
    } else if (file.error().code == ErrorCode::kNotFound) {
      missing.push_back(Quoted(path.filename().string()));
    } else {
      return file.error();
    }
  }
  if (missing.empty()) return files;
  const std::size_t more = missing.size() - std::min(missing.size(), kNamed);
  missing.resize(missing.size() - more);
  return NotFound(
      fmt::format("{} of {} files are missing: {}{}", missing.size() + more, paths.size(),
                  fmt::join(missing, ", "), more == 0 ? "" : fmt::format(" and {} more", more)),
      std::string(where));
}

Result<std::vector<CheckpointPart>> OpenParts(const std::vector<fs::path>& paths,
                                              std::string_view where,
                                              const std::shared_ptr<const HeldFolder>& below) {
  ASSIGN_OR_RETURN(std::vector<InputFile> files, OpenFiles(paths, where, below));
  std::vector<CheckpointPart> parts;
  for (std::size_t i = 0; i < files.size(); ++i) {
    ASSIGN_OR_RETURN(auto checkpoint, OpenCheckpointFile(std::move(files[i])));
    parts.push_back({paths[i].filename().string(), "", std::move(checkpoint)});
  }
  return parts;
}

// The index's list and the tensors of the files, both sorted by name, must be one list.
Status CheckWeightMap(const ShardIndex& index, const UnionCheckpoint& whole,
                      const std::string& where) {
  const std::vector<TensorInfo>& tensors = whole.tensors();
  for (std::size_t i = 0; i < index.tensors.size() || i < tensors.size(); ++i) {
    const auto* listed = i < index.tensors.size() ? &index.tensors[i] : nullptr;
    if (listed == nullptr || (i < tensors.size() && tensors[i].name < listed->name)) {
      return InvalidInput(fmt::format("{} holds tensor {}, which the index does not list",
                                      Quoted(whole.FileOf(i)), Quoted(tensors[i].name)),
                          where);
    }
    const std::string& shard = index.shards[listed->shard];
    if (i >= tensors.size() || listed->name < tensors[i].name) {
      return InvalidInput(fmt::format("the index expects tensor {} in {}, which does not hold it",
                                      Quoted(listed->name), Quoted(shard)),
                          where);
    }
    if (whole.FileOf(i) != shard) {
      return InvalidInput(fmt::format("the index expects tensor {} in {}, but it lies in {}",
                                      Quoted(listed->name), Quoted(shard), Quoted(whole.FileOf(i))),
                          where);
    }
  }
  return {};
}

Status CheckTotalSize(const ShardIndex& index, const UnionCheckpoint& whole,
                      const std::string& where) {
  if (!index.total_size_bytes) return {};
  std::uint64_t sum = 0;
  for (const TensorInfo& info : whole.tensors()) {
    if (__builtin_add_overflow(sum, info.size_bytes, &sum)) {
      return InvalidInput("the tensors have more than 2^64 - 1 bytes", where);
    }
  }
  const bool may_share_memory = std::ranges::none_of(
      index.shards, [](const std::string& shard) { return shard.ends_with(".safetensors"); });
  const std::uint64_t total = *index.total_size_bytes;
  if (total == sum || (may_share_memory && total < sum)) return {};
  return InvalidInput(fmt::format("total_size is {}, but the tensors have {} bytes; expected one "
                                  "number",
                                  total, sum),
                      where);
}

}  // namespace

Result<ShardIndex> ReadShardIndex(const InputFile& file) {
  if (file.size_bytes() > kMaxShardIndexBytes) {
    return Unsupported(fmt::format("an index of {} bytes; expected at most {}", file.size_bytes(),
                                   kMaxShardIndexBytes),
                       file.name());
  }
  std::string text(file.size_bytes(), '\0');
  RETURN_IF_ERROR(file.ReadAt(0, std::as_writable_bytes(std::span(text))));
  return ParseShardIndex(text, file.name());
}

Result<std::unique_ptr<Checkpoint>> OpenShardIndex(InputFile file,
                                                   std::vector<std::string>* files) {
  const std::string where = file.name();
  ASSIGN_OR_RETURN(ShardIndex index, ReadShardIndex(file));
  const fs::path folder = fs::path(where).parent_path();
  std::vector<fs::path> paths;
  for (const std::string& shard : index.shards) paths.push_back(folder / shard);
  ASSIGN_OR_RETURN(std::vector<CheckpointPart> parts, OpenParts(paths, where, file.below()));
  std::vector<InputFile> keep;
  keep.push_back(std::move(file));
  ASSIGN_OR_RETURN(auto whole, UnionCheckpoint::Make(std::move(parts), std::move(index.metadata),
                                                     std::move(keep), {}, where));
  RETURN_IF_ERROR(CheckWeightMap(index, *whole, where));
  RETURN_IF_ERROR(CheckTotalSize(index, *whole, where));
  if (files != nullptr) *files = std::move(index.shards);
  return std::unique_ptr<Checkpoint>(std::move(whole));
}

Result<std::unique_ptr<Checkpoint>> OpenUnion(const std::vector<fs::path>& files,
                                              const std::shared_ptr<const HeldFolder>& below) {
  const std::string where = files.empty() ? std::string() : files.front().parent_path().string();
  ASSIGN_OR_RETURN(std::vector<CheckpointPart> parts, OpenParts(files, where, below));
  ASSIGN_OR_RETURN(auto whole, UnionCheckpoint::Make(std::move(parts), {}, {}, {}, where));
  return std::unique_ptr<Checkpoint>(std::move(whole));
}

}  // namespace rharness
