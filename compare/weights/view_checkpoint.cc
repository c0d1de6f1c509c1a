// Views against their sources, then reads: straight from the file, inflated, or gathered in bands.
#include "compare/weights/view_checkpoint.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <list>
#include <map>
#include <mutex>

#include "compare/weights/gather.h"
#include "compare/weights/zip_stream.h"
#include "harness/base/files.h"

namespace rharness {
namespace {

static_assert(std::endian::native == std::endian::little, "tensor bytes are used as they are");

constexpr std::size_t kBandBytes = std::size_t{4} << 20;
constexpr std::size_t kBands = 16;
constexpr std::size_t kIdleStreams = 32;

std::size_t ElementBytes(DType dtype) { return static_cast<std::size_t>(BitsOf(dtype)) / 8; }

// Bytes whose order is reversed together: a complex number has two.
std::size_t NumberBytes(DType dtype) {
  const bool complex = dtype == DType::kC64 || dtype == DType::kC128;
  return ElementBytes(dtype) / (complex ? 2 : 1);
}

// Deflated members, read by anybody from anywhere: an idle stream that is not yet past the place
// goes on, else a new one begins.
class Inflaters {
 public:
  Status Read(const InputFile& file, const ZipMember& member, std::uint64_t offset,
              std::span<std::byte> out) {
    ZipStream stream = Take(file, member, offset);
    RETURN_IF_ERROR(stream.Skip(offset - stream.position()));
    RETURN_IF_ERROR(stream.Read(out));
    if (stream.position() < member.size_bytes) Keep(member, std::move(stream));
    return {};
  }

 private:
  struct Idle {
    const ZipMember* member;
    ZipStream stream;
  };

  ZipStream Take(const InputFile& file, const ZipMember& member, std::uint64_t offset) {
    const std::lock_guard lock(mutex_);
    auto best = idle_.end();
    for (auto it = idle_.begin(); it != idle_.end(); ++it) {
      if (it->member != &member || it->stream.position() > offset) continue;
      if (best == idle_.end() || best->stream.position() < it->stream.position()) best = it;
    }
    if (best == idle_.end()) return ZipStream(file, member);
    ZipStream stream = std::move(best->stream);
    idle_.erase(best);
    return stream;
  }
  void Keep(const ZipMember& member, ZipStream stream) {
    const std::lock_guard lock(mutex_);
    if (idle_.size() == kIdleStreams) idle_.pop_front();
    idle_.push_back({&member, std::move(stream)});
  }

  std::mutex mutex_;
  std::list<Idle> idle_;  // the longest unused first
};

// How a tensor's bytes are found.
struct Place {
  std::uint64_t offset_bytes = 0;
  std::size_t source = 0;
  bool direct = true;  // its bytes are contiguous in the source
  bool swapped = false;
  std::vector<std::uint64_t> strides;  // empty when direct
};

class ViewCheckpoint : public Checkpoint {
 public:
  ViewCheckpoint(InputFile file, ViewCheckpointParts parts)
      : file_(std::move(file)),
        sources_(std::move(parts.sources)),
        metadata_(std::move(parts.metadata)),
        unread_(std::move(parts.unread)) {
    const std::uint64_t size = parts.size_bytes.value_or(file_.size_bytes());
    const auto shared = std::make_shared<const InputFile>(file_);
    for (UnreadPart& part : unread_) {
      if (!part.content.empty()) continue;
      part.file = shared;
      part.begin = parts.begin;
      part.size_bytes = size;
    }
    std::ranges::stable_sort(unread_, {}, &UnreadPart::name);
  }

  void Add(TensorInfo info, Place place) {
    tensors_.push_back(std::move(info));
    places_.push_back(std::move(place));
  }
  const std::vector<TensorInfo>& tensors() const override { return tensors_; }
  const std::vector<std::pair<std::string, std::string>>& metadata() const override {
    return metadata_;
  }
  const std::vector<UnreadPart>& unread() const override { return unread_; }
  Status CheckUnchanged() const override { return file_.CheckUnchanged(); }
  Status CheckStored(std::size_t index) const override {
    const std::size_t source = places_.at(index).source;
    if (!sources_[source].stored) return {};  // deflated ones are checked during inflation
    const std::lock_guard lock(checked_mutex_);
    const auto known = checked_.find(source);
    if (known != checked_.end()) return known->second;
    return checked_.emplace(source, CheckZipMember(file_, *sources_[source].stored)).first->second;
  }

  Status Read(std::size_t index, std::uint64_t offset, std::span<std::byte> out) const override {
    const std::uint64_t size = tensors_.at(index).size_bytes;
    if (offset > size || out.size() > size - offset) Abort("read beyond the end of a tensor");
    if (out.empty()) return {};
    const Place& place = places_[index];
    if (place.direct) return ReadSourceAt(place.source, place.offset_bytes + offset, out);
    return ReadBands(index, offset, out);
  }

 private:
  struct Band {
    std::mutex mutex;
    std::size_t index = 0;  // of the tensor
    std::uint64_t begin = 0;
    std::vector<std::byte> bytes;  // of [begin, begin + size) of the tensor; empty: none
  };

  Status ReadSourceAt(std::size_t source, std::uint64_t offset, std::span<std::byte> out) const {
    const ViewSource& from = sources_[source];
    if (from.memory != nullptr) {
      std::ranges::copy(std::as_bytes(std::span(*from.memory)).subspan(offset, out.size()),
                        out.begin());
      return {};
    }
    if (from.deflated) return inflaters_.Read(file_, *from.deflated, offset, out);
    return file_.ReadAt(from.begin + offset, out);
  }
  Status ReadBands(std::size_t index, std::uint64_t offset, std::span<std::byte> out) const;
  Status LoadBand(std::size_t index, std::uint64_t offset, Band* band) const;

  InputFile file_;
  std::vector<ViewSource> sources_;
  std::vector<std::pair<std::string, std::string>> metadata_;
  std::vector<UnreadPart> unread_;
  std::vector<TensorInfo> tensors_;
  std::vector<Place> places_;
  mutable Inflaters inflaters_;
  mutable std::mutex checked_mutex_;
  mutable std::map<std::size_t, Status> checked_;  // by source: several tensors may share one
  mutable std::array<Band, kBands> bands_;         // a tensor has one place, by its index
};

Status ViewCheckpoint::ReadBands(std::size_t index, std::uint64_t offset,
                                 std::span<std::byte> out) const {
  Band& band = bands_[index % kBands];
  const std::lock_guard lock(band.mutex);
  while (!out.empty()) {
    if (band.bytes.empty() || band.index != index || offset < band.begin ||
        offset - band.begin >= band.bytes.size()) {
      RETURN_IF_ERROR(LoadBand(index, offset, &band));
    }
    const auto rest = std::span(band.bytes).subspan(offset - band.begin);
    const std::size_t size = std::min(rest.size(), out.size());
    std::ranges::copy(rest.first(size), out.begin());
    out = out.subspan(size);
    offset += size;
  }
  return {};
}

Status ViewCheckpoint::LoadBand(std::size_t index, std::uint64_t offset, Band* band) const {
  const TensorInfo& info = tensors_[index];
  const Place& place = places_[index];
  const std::size_t item = ElementBytes(info.dtype);
  GatherBand box = BandOf(info.shape, place.strides, offset / item, kBandBytes / item);
  std::vector<std::byte> bytes(box.count * item);
  band->bytes.clear();
  const auto read = [&](std::uint64_t at, std::span<std::byte> out) {
    return ReadSourceAt(place.source, at, out);
  };
  RETURN_IF_ERROR(Gather(read, place.offset_bytes + box.source_offset * item,
                         std::move(box.dimensions), item, bytes));
  if (place.swapped) {
    const auto width = static_cast<std::ptrdiff_t>(NumberBytes(info.dtype));
    for (auto at = bytes.begin(); at != bytes.end(); at += width) std::reverse(at, at + width);
  }
  band->index = index;
  band->begin = box.first * item;
  band->bytes = std::move(bytes);
  return {};
}

class Builder {
 public:
  Builder(InputFile file, ViewCheckpointParts parts)
      : file_(std::move(file)), parts_(std::move(parts)) {
    available_bytes_ = file_.size_bytes();
    for (const ViewSource& source : parts_.sources) {
      if (source.deflated) available_bytes_ += source.size_bytes;
    }
    available_bytes_ = std::max(available_bytes_, kViewMultipleFloor);
  }
  Result<std::unique_ptr<Checkpoint>> Build();

 private:
  std::string At(const View& view) const {
    return fmt::format("{}: byte {}", parts_.where, view.stated_at);
  }
  static std::string Text(const View& view) {
    return fmt::format("tensor '{}{}'", TerminalSafe(std::string_view(view.name).substr(0, 200)),
                       view.name.size() > 200 ? "..." : "");
  }
  Error Refuse(const View& view, std::string_view message) const {
    return InvalidInput(fmt::format("{}: {}", Text(view), message), At(view));
  }
  Error TooMuch(const View& view, std::string_view message) const {
    return Unsupported(fmt::format("{}: {}", Text(view), message), At(view));
  }
  Status CheckInflation() const;
  Status CheckLimits(const View& view);
  Result<TensorInfo> InfoOf(const View& view);
  Status CheckBounds(const View& view, const TensorInfo& info) const;
  Place PlaceOf(View* view, const TensorInfo& info) const;

  InputFile file_;
  ViewCheckpointParts parts_;
  std::uint64_t available_bytes_ = 0;
  std::uint64_t total_bytes_ = 0;
  std::size_t dimensions_ = 0;
  std::size_t name_bytes_ = 0;
};

Status Builder::CheckLimits(const View& view) {
  dimensions_ += view.shape.size();
  name_bytes_ += view.name.size();
  if (view.shape.size() > kMaxViewRank) {
    return TooMuch(
        view, fmt::format("{} dimensions; expected at most {}", view.shape.size(), kMaxViewRank));
  }
  if (dimensions_ > kMaxViewDimensions || name_bytes_ > kMaxViewNameBytes ||
      parts_.views.size() > kMaxViews) {
    return TooMuch(view, fmt::format("{} tensors of {} dimensions and {} bytes of names; expected "
                                     "at most {} of {} and {}",
                                     parts_.views.size(), dimensions_, name_bytes_, kMaxViews,
                                     kMaxViewDimensions, kMaxViewNameBytes));
  }
  return {};
}

Result<TensorInfo> Builder::InfoOf(const View& view) {
  TensorInfo info{.name = view.name, .dtype = view.dtype, .shape = view.shape};
  if (std::ranges::find(info.shape, 0u) != info.shape.end()) {
    info.elements = 0;
    return info;
  }
  for (const std::uint64_t dimension : info.shape) {
    if (__builtin_mul_overflow(info.elements, dimension, &info.elements)) {
      return Refuse(view, "the product of its shape is above 2^64 - 1");
    }
  }
  if (__builtin_mul_overflow(info.elements, ElementBytes(info.dtype), &info.size_bytes) ||
      __builtin_add_overflow(total_bytes_, info.size_bytes, &total_bytes_) ||
      total_bytes_ / kMaxViewMultiple > available_bytes_) {
    return TooMuch(view, fmt::format("{} elements; expected all tensors together to have at most "
                                     "{} times the file's bytes",
                                     info.elements, kMaxViewMultiple));
  }
  return info;
}

Status Builder::CheckBounds(const View& view, const TensorInfo& info) const {
  if (info.elements == 0) return {};
  std::uint64_t last = 0;  // element
  bool overflow = false;
  for (std::size_t d = 0; d < view.shape.size(); ++d) {
    std::uint64_t reach = 0;
    overflow |= __builtin_mul_overflow(view.shape[d] - 1, view.strides[d], &reach);
    overflow |= __builtin_add_overflow(last, reach, &last);
  }
  std::uint64_t end = 0;
  overflow |= __builtin_add_overflow(last, 1, &last);
  overflow |= __builtin_mul_overflow(last, ElementBytes(view.dtype), &end);
  overflow |= __builtin_add_overflow(end, view.offset_bytes, &end);
  const std::uint64_t room = parts_.sources.at(view.source).size_bytes;
  if (!overflow && end <= room) return {};
  return Refuse(view, fmt::format("shape [{}] with strides [{}] from byte {} on reaches beyond the "
                                  "{} bytes that it is laid over",
                                  fmt::join(view.shape, ", "), fmt::join(view.strides, ", "),
                                  view.offset_bytes, room));
}

Place Builder::PlaceOf(View* view, const TensorInfo& info) const {
  Place place{.offset_bytes = view->offset_bytes, .source = view->source};
  place.swapped = view->swapped && NumberBytes(view->dtype) > 1;
  if (info.elements == 0) return place;
  const std::vector<std::uint64_t> dense = DenseStrides(view->shape, false);
  place.direct = !place.swapped;
  for (std::size_t d = 0; d < dense.size(); ++d) {
    if (view->shape[d] > 1 && view->strides[d] != dense[d]) place.direct = false;
  }
  if (!place.direct) place.strides = std::move(view->strides);
  return place;
}

// A few megabytes of zeros deflated may take minutes to inflate.
Status Builder::CheckInflation() const {
  std::uint64_t inflated = 0;
  for (const ViewSource& source : parts_.sources) {
    if (source.deflated && __builtin_add_overflow(inflated, source.size_bytes, &inflated)) {
      inflated = ~std::uint64_t{0};
      break;
    }
  }
  if (inflated <= kInflatedFloor || inflated / kMaxInflatedMultiple <= file_.size_bytes()) {
    return {};
  }
  return Unsupported(
      fmt::format("{} bytes inflate to {}; expected at most {} times as many, or {} bytes",
                  file_.size_bytes(), inflated, kMaxInflatedMultiple, kInflatedFloor),
      parts_.where);
}

Result<std::unique_ptr<Checkpoint>> Builder::Build() {
  RETURN_IF_ERROR(CheckInflation());
  std::ranges::stable_sort(parts_.views, {}, &View::name);
  const auto twin = std::ranges::adjacent_find(parts_.views, {}, &View::name);
  if (twin != parts_.views.end()) {
    return Refuse(*(twin + 1), "the name occurs twice; expected unique names");
  }
  std::vector<std::pair<TensorInfo, Place>> tensors;
  for (View& view : parts_.views) {
    if (view.strides.size() != view.shape.size()) Abort("a view without a stride a dimension");
    RETURN_IF_ERROR(CheckLimits(view));
    ASSIGN_OR_RETURN(TensorInfo info, InfoOf(view));
    RETURN_IF_ERROR(CheckBounds(view, info));
    Place place = PlaceOf(&view, info);
    tensors.emplace_back(std::move(info), std::move(place));
  }
  auto checkpoint = std::make_unique<ViewCheckpoint>(std::move(file_), std::move(parts_));
  for (auto& [info, place] : tensors) checkpoint->Add(std::move(info), std::move(place));
  return std::unique_ptr<Checkpoint>(std::move(checkpoint));
}

}  // namespace

ViewSource SourceOf(const ZipMember& member) {
  ViewSource source{.size_bytes = member.size_bytes};
  if (member.deflated) {
    source.deflated = member;
  } else {
    source.begin = member.data_offset;
    source.stored = member;
  }
  return source;
}

std::vector<std::uint64_t> DenseStrides(const std::vector<std::uint64_t>& shape, bool fortran) {
  std::vector<std::uint64_t> strides(shape.size());
  std::uint64_t stride = 1;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const std::size_t d = fortran ? i : shape.size() - 1 - i;
    strides[d] = stride;
    stride *= shape[d];
  }
  return strides;
}

Result<std::unique_ptr<Checkpoint>> MakeViewCheckpoint(InputFile file, ViewCheckpointParts parts) {
  return Builder(std::move(file), std::move(parts)).Build();
}

}  // namespace rharness
