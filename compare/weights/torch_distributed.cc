// A distributed checkpoint as a whole: reads of a tensor become reads of its chunks.
#include "compare/weights/torch_distributed.h"

#include <fmt/format.h>

#include <algorithm>

#include "compare/weights/input_file.h"
#include "compare/weights/names.h"
#include "compare/weights/pickle.h"
#include "compare/weights/torch_zip.h"
#include "compare/weights/union_checkpoint.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

using Sizes = std::vector<std::uint64_t>;

// An open chunk: a checkpoint of one tensor.
struct OpenChunk {
  DistributedChunk box;
  std::unique_ptr<Checkpoint> archive;
};

// Elements of one chunk that follow one another both in the tensor and in the chunk.
struct Run {
  std::uint64_t first_in_chunk = 0;  // flat C-order index
  std::uint64_t count = 0;
};

// The run that begins with the element at `index`, which is in the box.
Run RunAt(const DistributedChunk& box, const Sizes& shape, const Sizes& index) {
  Run run;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    run.first_in_chunk = run.first_in_chunk * box.sizes[i] + (index[i] - box.offsets[i]);
  }
  // Rows go on one after another as long as the box is as wide as the tensor.
  std::uint64_t row = 1;   // elements of the box along the dimensions behind `i`
  std::uint64_t past = 0;  // of them before `index`
  run.count = 1;
  for (std::size_t i = shape.size(); i-- > 0;) {
    past += (index[i] - box.offsets[i]) * row;
    row *= box.sizes[i];
    run.count = row - past;
    if (box.sizes[i] != shape[i]) break;
  }
  return run;
}

Sizes IndexOf(std::uint64_t flat, const Sizes& shape) {
  Sizes index(shape.size());
  for (std::size_t i = shape.size(); i-- > 0;) {
    index[i] = flat % shape[i];
    flat /= shape[i];
  }
  return index;
}

bool Holds(const DistributedChunk& box, const Sizes& index) {
  for (std::size_t i = 0; i < index.size(); ++i) {
    if (index[i] < box.offsets[i] || index[i] - box.offsets[i] >= box.sizes[i]) return false;
  }
  return true;
}

class DistributedCheckpoint : public Checkpoint {
 public:
  DistributedCheckpoint(std::vector<TensorInfo> tensors, std::vector<std::vector<OpenChunk>> chunks,
                        std::vector<InputFile> files)
      : tensors_(std::move(tensors)), chunks_(std::move(chunks)), files_(std::move(files)) {}

  const std::vector<TensorInfo>& tensors() const override { return tensors_; }
  const std::vector<std::pair<std::string, std::string>>& metadata() const override {
    static const std::vector<std::pair<std::string, std::string>> kNone;  // objects have it
    return kNone;
  }
  const std::vector<UnreadPart>& unread() const override { return NothingUnread(); }
  Status Read(std::size_t index, std::uint64_t offset, std::span<std::byte> out) const override;
  Status CheckStored(std::size_t index) const override {
    for (const OpenChunk& chunk : chunks_.at(index)) RETURN_IF_ERROR(chunk.archive->CheckStored(0));
    return {};
  }
  Status CheckUnchanged() const override {
    for (const InputFile& file : files_) RETURN_IF_ERROR(file.CheckUnchanged());
    return {};
  }

 private:
  const OpenChunk& ChunkWith(const std::vector<OpenChunk>& chunks, const Sizes& index) const;

  std::vector<TensorInfo> tensors_;
  std::vector<std::vector<OpenChunk>> chunks_;  // of each tensor, sorted by offsets
  std::vector<InputFile> files_;                // .metadata too
};

// The last chunk that does not begin after the element, in C order, or one before it.
const OpenChunk& DistributedCheckpoint::ChunkWith(const std::vector<OpenChunk>& chunks,
                                                  const Sizes& index) const {
  auto chunk = std::ranges::upper_bound(
      chunks, index, {}, [](const OpenChunk& candidate) -> auto& { return candidate.box.offsets; });
  while (chunk != chunks.begin()) {
    --chunk;
    if (Holds(chunk->box, index)) return *chunk;
  }
  Abort("an element that no chunk covers");
}

Status DistributedCheckpoint::Read(std::size_t index, std::uint64_t offset,
                                   std::span<std::byte> out) const {
  const TensorInfo& info = tensors_.at(index);
  if (offset > info.size_bytes || out.size() > info.size_bytes - offset) {
    Abort("read beyond the end of a tensor");
  }
  const auto item_bytes = static_cast<std::uint64_t>(BitsOf(info.dtype) / 8);
  while (!out.empty()) {
    const std::uint64_t inside = offset % item_bytes;  // of the first element
    const Sizes element = IndexOf(offset / item_bytes, info.shape);
    const OpenChunk& chunk = ChunkWith(chunks_[index], element);
    const Run run = RunAt(chunk.box, info.shape, element);
    const std::size_t size = std::min<std::uint64_t>(out.size(), run.count * item_bytes - inside);
    RETURN_IF_ERROR(
        chunk.archive->Read(0, run.first_in_chunk * item_bytes + inside, out.first(size)));
    out = out.subspan(size);
    offset += size;
  }
  return {};
}

class Opener {
 public:
  Opener(fs::path folder, std::shared_ptr<const HeldFolder> below)
      : folder_(std::move(folder)), below_(std::move(below)) {}

  Result<std::unique_ptr<Checkpoint>> Open(std::vector<std::string>* files) {
    ASSIGN_OR_RETURN(InputFile metadata_file,
                     InputFile::Open(folder_ / kDistributedIndex, pool_, below_));
    ASSIGN_OR_RETURN(DistributedMetadata metadata, ReadDistributedMetadata(metadata_file));
    RETURN_IF_ERROR(OpenFiles(metadata.files));
    std::vector<TensorInfo> tensors;
    std::vector<std::vector<OpenChunk>> chunks;
    for (DistributedTensor& tensor : metadata.tensors) {
      chunks.emplace_back();
      for (DistributedChunk& box : tensor.chunks) {
        if (std::ranges::find(box.sizes, 0U) != box.sizes.end()) continue;
        ASSIGN_OR_RETURN(auto archive, OpenArchive(tensor.info, box));
        chunks.back().push_back({std::move(box), std::move(archive)});
      }
      tensors.push_back(std::move(tensor.info));
    }
    std::vector<CheckpointPart> parts;
    std::vector<UnreadPart> unread;
    for (const DistributedObject& object : metadata.objects) {
      RETURN_IF_ERROR(OpenObject(object, &parts, &unread));
    }
    if (files != nullptr) *files = std::move(metadata.files);
    files_.push_back(std::move(metadata_file));
    auto tiled = std::make_unique<DistributedCheckpoint>(std::move(tensors), std::move(chunks),
                                                         std::move(files_));
    if (parts.empty() && unread.empty()) return std::unique_ptr<Checkpoint>(std::move(tiled));
    parts.insert(parts.begin(), {".metadata", "", std::move(tiled)});
    ASSIGN_OR_RETURN(auto whole, UnionCheckpoint::Make(std::move(parts), {}, {}, std::move(unread),
                                                       folder_.string()));
    return std::unique_ptr<Checkpoint>(std::move(whole));
  }

 private:
  Status OpenFiles(const std::vector<std::string>& names) {
    std::vector<std::string> missing;
    for (const std::string& name : names) {
      Result<InputFile> file = InputFile::Open(folder_ / name, pool_, below_);
      if (file.ok()) {
        files_.push_back(std::move(*file));
      } else if (file.error().code == ErrorCode::kNotFound) {
        missing.push_back(Quoted(name));
      } else {
        return file.error();
      }
    }
    if (missing.empty()) return {};
    const std::size_t count = missing.size();
    missing.resize(std::min<std::size_t>(count, 10));
    return NotFound(fmt::format("{} of {} files are missing: {}{}", count, names.size(),
                                fmt::join(missing, ", "), count > 10 ? ", ..." : ""),
                    folder_.string());
  }

  Result<std::unique_ptr<Checkpoint>> OpenArchive(const TensorInfo& info,
                                                  const DistributedChunk& box) const {
    const InputFile& file = files_[box.file];
    const std::string where = fmt::format("{}: byte {}", file.name(), box.offset_bytes);
    RETURN_IF_ERROR(CheckPlace(file, fmt::format("tensor {}", Quoted(info.name)), box.offset_bytes,
                               box.length_bytes));
    ASSIGN_OR_RETURN(const ZipDirectory directory,
                     ReadZipDirectory(file, box.offset_bytes, box.length_bytes));
    ASSIGN_OR_RETURN(auto archive, OpenTorchZip(file, directory));
    const std::vector<TensorInfo>& tensors = archive->tensors();
    if (tensors.size() != 1 || tensors[0].dtype != info.dtype || tensors[0].shape != box.sizes) {
      return InvalidInput(
          fmt::format("tensor {}: its part at [{}] holds {}; expected one tensor, {} of [{}]",
                      Quoted(info.name), fmt::join(box.offsets, ", "),
                      tensors.size() != 1 ? fmt::format("{} tensors", tensors.size())
                                          : fmt::format("{} of [{}]", DTypeName(tensors[0].dtype),
                                                        fmt::join(tensors[0].shape, ", ")),
                      DTypeName(info.dtype), fmt::join(box.sizes, ", ")),
          where);
    }
    return archive;
  }

  Status OpenObject(const DistributedObject& object, std::vector<CheckpointPart>* parts,
                    std::vector<UnreadPart>* unread) const {
    const InputFile& file = files_[object.file];
    RETURN_IF_ERROR(CheckPlace(file, fmt::format("object {}", Quoted(object.name)),
                               object.offset_bytes, object.length_bytes));
    const auto open = [&]() -> Result<std::unique_ptr<Checkpoint>> {
      ASSIGN_OR_RETURN(const ZipDirectory directory,
                       ReadZipDirectory(file, object.offset_bytes, object.length_bytes));
      return OpenTorchZip(file, directory);
    };
    auto archive = open();
    if (archive.ok()) {
      parts->push_back({object.name, object.name + ".", std::move(*archive)});
    } else {
      unread->push_back({.name = object.name,
                         .why = archive.error().message,
                         .file = std::make_shared<const InputFile>(file),
                         .begin = object.offset_bytes,
                         .size_bytes = object.length_bytes});
    }
    return {};
  }

  static Status CheckPlace(const InputFile& file, std::string_view what, std::uint64_t begin,
                           std::uint64_t size) {
    if (begin <= file.size_bytes() && size <= file.size_bytes() - begin) return {};
    return InvalidInput(fmt::format("{}: a part of {} bytes; expected one that ends within the "
                                    "file's {} bytes",
                                    what, size, file.size_bytes()),
                        fmt::format("{}: byte {}", file.name(), begin));
  }

  fs::path folder_;
  std::shared_ptr<DescriptorPool> pool_ = std::make_shared<DescriptorPool>();
  std::shared_ptr<const HeldFolder> below_;
  std::vector<InputFile> files_;  // as the metadata lists them
};

}  // namespace

Result<DistributedMetadata> ReadDistributedMetadata(const InputFile& file) {
  if (file.size_bytes() > kMaxPickleBytes) {
    return Unsupported(
        fmt::format("{} bytes; expected at most {}", file.size_bytes(), kMaxPickleBytes),
        file.name());
  }
  std::string bytes(file.size_bytes(), '\0');
  RETURN_IF_ERROR(file.ReadAt(0, std::as_writable_bytes(std::span(bytes))));
  return ParseDistributedMetadata(std::move(bytes), file.name());
}

Result<std::unique_ptr<Checkpoint>> OpenTorchDistributed(
    const fs::path& folder, const std::shared_ptr<const HeldFolder>& below,
    std::vector<std::string>* files) {
  return Opener(folder, below).Open(files);
}

}  // namespace rharness
