// A GGUF file as a checkpoint: the header in memory, tensor bytes on demand.
#include "compare/weights/gguf.h"

#include <algorithm>
#include <bit>

namespace rharness {
namespace {

static_assert(std::endian::native == std::endian::little, "tensor bytes are used as they are");

class GgufCheckpoint : public Checkpoint {
 public:
  GgufCheckpoint(InputFile file, GgufHeader header)
      : file_(std::move(file)), header_(std::move(header)) {
    const auto shared = std::make_shared<const InputFile>(file_);
    for (std::size_t i = 0; i < header_.metadata.size(); ++i) {
      const std::string& key = header_.metadata[i].first;
      if (key.starts_with("general.") && key != "general.architecture") continue;
      const auto [begin, size_bytes] = header_.value_ranges[i];
      unread_.push_back({.name = "metadata " + key,
                         .why = "it is loaded with the tensors",
                         .file = shared,
                         .begin = begin,
                         .size_bytes = size_bytes,
                         .content = {},
                         .kind = PartKind::kModel});
    }
    std::ranges::sort(unread_, {}, &UnreadPart::name);
  }

  const std::vector<TensorInfo>& tensors() const override { return header_.tensors; }
  const std::vector<std::pair<std::string, std::string>>& metadata() const override {
    return header_.metadata;
  }
  const std::vector<UnreadPart>& unread() const override { return unread_; }
  Status Read(std::size_t index, std::uint64_t offset, std::span<std::byte> out) const override {
    const std::uint64_t size = header_.tensors.at(index).size_bytes;
    if (offset > size || out.size() > size - offset) Abort("read beyond the end of a tensor");
    return file_.ReadAt(header_.offsets[index] + offset, out);
  }
  Status CheckUnchanged() const override { return file_.CheckUnchanged(); }

 private:
  InputFile file_;
  GgufHeader header_;
  std::vector<UnreadPart> unread_;
};

}  // namespace

Result<std::unique_ptr<Checkpoint>> OpenGguf(InputFile file) {
  const ReadBytes read = [&](std::uint64_t offset, std::span<std::byte> out) {
    return file.ReadAt(offset, out);
  };
  ASSIGN_OR_RETURN(GgufHeader header, ParseGguf(read, file.size_bytes(), file.name()));
  return std::unique_ptr<Checkpoint>(
      std::make_unique<GgufCheckpoint>(std::move(file), std::move(header)));
}

}  // namespace rharness
