// A safetensors file as a checkpoint: sizes first, then the header; tensor bytes on demand.
#include "compare/weights/safetensors.h"

#include <fmt/format.h>

#include <array>
#include <bit>

namespace rharness {
namespace {

static_assert(std::endian::native == std::endian::little, "tensor bytes are used as they are");

constexpr std::uint64_t kLengthBytes = 8;

class SafetensorsCheckpoint : public Checkpoint {
 public:
  SafetensorsCheckpoint(InputFile file, SafetensorsHeader header, std::uint64_t data_begin)
      : file_(std::move(file)), header_(std::move(header)), data_begin_(data_begin) {}

  const std::vector<TensorInfo>& tensors() const override { return header_.tensors; }
  const std::vector<std::pair<std::string, std::string>>& metadata() const override {
    return header_.metadata;
  }
  const std::vector<UnreadPart>& unread() const override { return NothingUnread(); }
  Status Read(std::size_t index, std::uint64_t offset, std::span<std::byte> out) const override {
    const std::uint64_t size = header_.tensors.at(index).size_bytes;
    if (offset > size || out.size() > size - offset) Abort("read beyond the end of a tensor");
    return file_.ReadAt(data_begin_ + header_.offsets[index] + offset, out);
  }
  Status CheckUnchanged() const override { return file_.CheckUnchanged(); }

 private:
  InputFile file_;
  SafetensorsHeader header_;
  std::uint64_t data_begin_;
};

Result<std::uint64_t> ReadHeaderLength(const InputFile& file) {
  const std::string where = file.name() + ": byte 0";
  if (file.size_bytes() < kLengthBytes) {
    return InvalidInput(fmt::format("the file has {} bytes; expected at least 8, the length of a "
                                    "safetensors header",
                                    file.size_bytes()),
                        where);
  }
  std::uint64_t length = 0;
  RETURN_IF_ERROR(file.ReadAt(0, std::as_writable_bytes(std::span(&length, 1))));
  if (length > kMaxSafetensorsHeaderBytes) {
    return InvalidInput(fmt::format("header length {}; expected at most {}, the limit of the "
                                    "safetensors format",
                                    length, kMaxSafetensorsHeaderBytes),
                        where);
  }
  if (length > file.size_bytes() - kLengthBytes) {
    return InvalidInput(fmt::format("header length {}; expected at most {}, the bytes that follow",
                                    length, file.size_bytes() - kLengthBytes),
                        where);
  }
  return length;
}

}  // namespace

Result<std::unique_ptr<Checkpoint>> OpenSafetensors(InputFile file) {
  ASSIGN_OR_RETURN(const std::uint64_t length, ReadHeaderLength(file));
  std::string text(length, '\0');
  RETURN_IF_ERROR(file.ReadAt(kLengthBytes, std::as_writable_bytes(std::span(text))));
  const std::uint64_t data_begin = kLengthBytes + length;
  ASSIGN_OR_RETURN(SafetensorsHeader header,
                   ParseSafetensorsHeader(text, file.size_bytes() - data_begin, file.name()));
  return std::unique_ptr<Checkpoint>(
      std::make_unique<SafetensorsCheckpoint>(std::move(file), std::move(header), data_begin));
}

}  // namespace rharness
