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
  std::vector<std::uint64_t> begins;  // of each run in the tensor
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
  // The last run that begins at or before the offset.
  auto begin = std::ranges::upper_bound(place.begins, offset);
  if (!out.empty()) --begin;
  for (; !out.empty(); ++begin) {
    const PlacedRun& run = place.runs[static_cast<std::size_t>(begin - place.begins.begin())];
    const std::uint64_t inside = offset - *begin;
    const std::size_t size = std::min<std::uint64_t>(out.size(), run.size_bytes - inside);
    RETURN_IF_ERROR(files_[run.file].ReadAt(run.begin + inside, out.first(size)));
    out = out.subspan(size);
    offset += size;
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
  const auto bits = static_cast<std::uint64_t>(BitsOf(info->dtype));
  if (bits < 8) {
    if (info->elements % 8 * bits % 8 != 0) {
      return InvalidInput(fmt::format("tensor {}: {} elements of {} bits, which are no whole bytes",
                                      Quoted(info->name), info->elements, bits),
                          where);
    }
    info->size_bytes = info->elements / 8 * bits + info->elements % 8 * bits / 8;
    return {};
  }
  if (!__builtin_mul_overflow(info->elements, bits / 8, &info->size_bytes)) return {};
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
  std::uint64_t bytes = 0, stored_bytes = 0;
  bool above = false;
  for (const InputFile& file : parts.files) stored_bytes += file.size_bytes();
  for (PlacedTensor& tensor : parts.tensors) {
    TensorInfo info{.name = tensor.name, .dtype = tensor.dtype, .shape = tensor.shape};
    RETURN_IF_ERROR(CompleteTensorInfo(&info, tensor.stated_at));
    RETURN_IF_ERROR(CheckRuns(info, tensor, parts.files));
    above |= __builtin_add_overflow(bytes, info.size_bytes, &bytes);
    stored_bytes += tensor.content.size();
    tensors.push_back(std::move(info));
    std::vector<std::uint64_t> begins;
    std::uint64_t begin = 0;
    for (const PlacedRun& run : tensor.runs) {
      begins.push_back(begin);
      begin += run.size_bytes;
    }
    places.push_back({std::move(tensor.runs), std::move(begins), std::move(tensor.content),
                      tensor.crc32c, std::move(tensor.stated_at)});
  }
  // Tensors may share bytes, but not all of them each.
  if (above || (bytes > kPlacedFloor && bytes / kMaxPlacedMultiple > stored_bytes)) {
    return Unsupported(fmt::format("tensors of {} bytes in files of {}; expected at most {} times "
                                   "as many",
                                   bytes, stored_bytes, kMaxPlacedMultiple),
                       parts.files.empty() ? std::string() : parts.files.front().name());
  }
  std::ranges::stable_sort(parts.unread, {}, &UnreadPart::name);
  return std::unique_ptr<Checkpoint>(
      std::make_unique<PlacedCheckpoint>(std::move(tensors), std::move(places), std::move(parts)));
}

}  // namespace rharness
