// Reads of a tensor as reads of its runs; see placed_checkpoint.h.
#include "compare/weights/placed_checkpoint.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "compare/weights/names.h"
#include "harness/base/crc32c.h"

namespace rharness {
namespace {

// Where a tensor's bytes lie.
struct PlacedBytes {
  std::vector<PlacedRun> runs;
  std::string content;
  std::optional<std::uint32_t> crc32c;
  std::string stated_at;
};

class PlacedCheckpoint : public Checkpoint {
 public:
  PlacedCheckpoint(std::vector<TensorInfo> tensors, std::vector<PlacedBytes> places,
                   PlacedParts parts)
      : tensors_(std::move(tensors)),
        places_(std::move(places)),
        files_(std::move(parts.files)),
        metadata_(std::move(parts.metadata)),
        unread_(std::move(parts.unread)) {}

  const std::vector<TensorInfo>& tensors() const override { return tensors_; }
  const std::vector<std::pair<std::string, std::string>>& metadata() const override {
    return metadata_;
  }
  const std::vector<UnreadPart>& unread() const override { return unread_; }
  Status Read(std::size_t index, std::uint64_t offset, std::span<std::byte> out) const override;
  Status CheckStored(std::size_t index) const override;
  Status CheckUnchanged() const override {
    for (const InputFile& file : files_) RETURN_IF_ERROR(file.CheckUnchanged());
    return {};
  }

 private:
  std::vector<TensorInfo> tensors_;
  std::vector<PlacedBytes> places_;  // of each tensor
  std::vector<InputFile> files_;
  std::vector<std::pair<std::string, std::string>> metadata_;
  std::vector<UnreadPart> unread_;
};

Status PlacedCheckpoint::Read(std::size_t index, std::uint64_t offset,
                              std::span<std::byte> out) const {
  const TensorInfo& info = tensors_.at(index);
  if (offset > info.size_bytes || out.size() > info.size_bytes - offset) {
    Abort("read beyond the end of a tensor");
  }
  const PlacedBytes& place = places_[index];
  if (!out.empty() && place.runs.empty()) {
    std::memcpy(out.data(), place.content.data() + offset, out.size());
    return {};
  }
  for (const PlacedRun& run : place.runs) {
    if (out.empty()) break;
    if (offset >= run.size_bytes) {
      offset -= run.size_bytes;
      continue;
    }
    const std::size_t size = std::min<std::uint64_t>(out.size(), run.size_bytes - offset);
    RETURN_IF_ERROR(files_[run.file].ReadAt(run.begin + offset, out.first(size)));
    out = out.subspan(size);
    offset = 0;
  }
  return {};
}

Status PlacedCheckpoint::CheckStored(std::size_t index) const {
  const TensorInfo& info = tensors_.at(index);
  const PlacedBytes& place = places_[index];
  if (!place.crc32c) return {};
  std::uint32_t crc = 0;
  std::string block;
  for (std::uint64_t offset = 0; offset < info.size_bytes; offset += block.size()) {
    block.resize(std::min<std::uint64_t>(kReadBlockBytes, info.size_bytes - offset));
    RETURN_IF_ERROR(Read(index, offset, std::as_writable_bytes(std::span(block))));
    crc = Crc32c(block, crc);
  }
  if (crc == *place.crc32c) return {};
  return IntegrityError(
      fmt::format("tensor {}: CRC-32C {:08x}; expected {:08x}, as the file states",
                  Quoted(info.name), crc, *place.crc32c),
      place.stated_at);
}

Status CheckRuns(const TensorInfo& info, const PlacedTensor& tensor,
                 const std::vector<InputFile>& files) {
  std::uint64_t bytes = tensor.runs.empty() ? tensor.content.size() : 0;
  for (const PlacedRun& run : tensor.runs) {
    const InputFile& file = files.at(run.file);
    if (run.begin > file.size_bytes() || run.size_bytes > file.size_bytes() - run.begin) {
      return InvalidInput(
          fmt::format("tensor {}: {} bytes from byte {} of {} on; expected them within its {} "
                      "bytes",
                      Quoted(info.name), run.size_bytes, run.begin, Quoted(file.name()),
                      file.size_bytes()),
          tensor.stated_at);
    }
    bytes += run.size_bytes;  // each is at most a file's size, and a file's runs are bounded
    if (bytes > info.size_bytes) break;
  }
  if (bytes == info.size_bytes) return {};
  return InvalidInput(
      fmt::format("tensor {}: {} bytes are stored; expected {}, of {} [{}]", Quoted(info.name),
                  bytes, info.size_bytes, DTypeName(info.dtype), fmt::join(info.shape, ", ")),
      tensor.stated_at);
}

}  // namespace

Status CompleteTensorInfo(TensorInfo* info, const std::string& where) {
  if (info->shape.size() > kMaxPlacedRank) {
    return Unsupported(fmt::format("tensor {}: {} dimensions; expected at most {}",
                                   Quoted(info->name), info->shape.size(), kMaxPlacedRank),
                       where);
  }
  info->elements = 1;
  const bool none = std::ranges::find(info->shape, 0U) != info->shape.end();
  for (const std::uint64_t size : info->shape) {
    if (none || !__builtin_mul_overflow(info->elements, size, &info->elements)) continue;
    return InvalidInput(
        fmt::format("tensor {}: the product of its shape is above 2^64 - 1", Quoted(info->name)),
        where);
  }
  if (none) info->elements = 0;
  const auto item = static_cast<std::uint64_t>(BitsOf(info->dtype) / 8);
  if (!__builtin_mul_overflow(info->elements, item, &info->size_bytes)) return {};
  return InvalidInput(fmt::format("tensor {}: it has more than 2^64 - 1 bytes", Quoted(info->name)),
                      where);
}

Result<std::unique_ptr<Checkpoint>> MakePlacedCheckpoint(PlacedParts parts) {
  if (parts.tensors.size() > kMaxPlacedTensors) {
    return Unsupported(
        fmt::format("{} tensors; expected at most {}", parts.tensors.size(), kMaxPlacedTensors),
        parts.tensors.front().stated_at);
  }
  std::ranges::stable_sort(parts.tensors, {}, &PlacedTensor::name);
  const auto twin = std::ranges::adjacent_find(parts.tensors, {}, &PlacedTensor::name);
  if (twin != parts.tensors.end()) {
    return InvalidInput(
        fmt::format("tensor {}: the name occurs twice; expected unique names", Quoted(twin->name)),
        (twin + 1)->stated_at);
  }
  std::vector<TensorInfo> tensors;
  std::vector<PlacedBytes> places;
  for (PlacedTensor& tensor : parts.tensors) {
    TensorInfo info{.name = tensor.name, .dtype = tensor.dtype, .shape = tensor.shape};
    RETURN_IF_ERROR(CompleteTensorInfo(&info, tensor.stated_at));
    RETURN_IF_ERROR(CheckRuns(info, tensor, parts.files));
    tensors.push_back(std::move(info));
    places.push_back({std::move(tensor.runs), std::move(tensor.content), tensor.crc32c,
                      std::move(tensor.stated_at)});
  }
  std::ranges::stable_sort(parts.unread, {}, &UnreadPart::name);
  return std::unique_ptr<Checkpoint>(
      std::make_unique<PlacedCheckpoint>(std::move(tensors), std::move(places), std::move(parts)));
}

}  // namespace rharness
