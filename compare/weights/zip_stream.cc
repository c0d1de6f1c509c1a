// Stored bytes unchanged, deflated ones through zlib, those of zstd as a chunk; the CRC-32 over
// all.
#include "compare/weights/zip_stream.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>

#include "compare/weights/chunk_stream.h"

namespace rharness {
namespace {

constexpr std::size_t kInputBytes = std::size_t{32} << 10;
constexpr std::size_t kSkipBytes = std::size_t{16} << 10;

std::uint32_t Crc32(std::uint32_t crc, std::span<const std::byte> bytes) {
  return static_cast<std::uint32_t>(
      ::crc32_z(crc, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

}  // namespace

struct ZipStream::State {
  State(const InputFile& input_file, const ZipMember& zip_member)
      : file(input_file), member(zip_member) {}
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() {
    if (inflating) ::inflateEnd(&zlib);
  }

  Status Begin();
  Status Refill();
  Status Inflate(std::span<std::byte> out);
  Status CheckDeflateEnd();
  Status Finish();

  std::string Where() const {
    return fmt::format("{}: byte {}", file.name(), member.data_offset + consumed - zlib.avail_in);
  }
  Error Malformed(std::string_view message) const {
    return InvalidInput(fmt::format("{}: {}", ZipMemberText(member), message), Where());
  }

  const InputFile& file;
  const ZipMember& member;
  std::uint64_t position = 0;  // in the content
  std::uint64_t consumed = 0;  // bytes of the file handed to zlib
  std::uint32_t crc = 0;
  bool inflating = false;
  bool ended = false;  // zlib has seen the last deflated block
  bool finished = false;
  z_stream zlib{};
  std::array<std::byte, kInputBytes> input;
  std::optional<ChunkStream> chunk;  // of a member by zstd
};

Status ZipStream::State::Begin() {
  if (member.zstd && !chunk) {
    chunk.emplace(StoredChunk{&file, member.data_offset, member.stored_bytes, nullptr},
                  ChunkCoding::kZstd, member.size_bytes);
  }
  if (inflating || !member.deflated) return {};
  if (::inflateInit2(&zlib, -MAX_WBITS) != Z_OK) {
    return InternalError(fmt::format("{}: zlib cannot start", ZipMemberText(member)), Where());
  }
  inflating = true;
  return {};
}

Status ZipStream::State::Refill() {
  if (zlib.avail_in != 0) return {};
  const auto part =
      std::span(input).first(std::min<std::uint64_t>(input.size(), member.stored_bytes - consumed));
  RETURN_IF_ERROR(file.ReadAt(member.data_offset + consumed, part));
  consumed += part.size();
  zlib.next_in = reinterpret_cast<Bytef*>(input.data());
  zlib.avail_in = static_cast<uInt>(part.size());
  return {};
}

Status ZipStream::State::Inflate(std::span<std::byte> out) {
  while (!out.empty()) {
    if (ended) {
      return IntegrityError(
          fmt::format("{}: inflates to {} bytes; expected {}", ZipMemberText(member),
                      member.size_bytes - out.size(), member.size_bytes),
          Where());
    }
    RETURN_IF_ERROR(Refill());
    const std::size_t wanted = std::min<std::size_t>(out.size(), std::size_t{1} << 30);
    zlib.next_out = reinterpret_cast<Bytef*>(out.data());
    zlib.avail_out = static_cast<uInt>(wanted);
    const int code = ::inflate(&zlib, Z_NO_FLUSH);
    if (code == Z_BUF_ERROR) return Malformed("the deflated bytes end in the middle of a block");
    if (code != Z_OK && code != Z_STREAM_END) {
      return Malformed(fmt::format("malformed deflated bytes ({}); expected DEFLATE",
                                   zlib.msg == nullptr ? "no reason given" : zlib.msg));
    }
    ended = code == Z_STREAM_END;
    out = out.subspan(wanted - zlib.avail_out);
  }
  return {};
}

// All content has been read; the deflated bytes must end here, too, both in zlib and in the file.
Status ZipStream::State::CheckDeflateEnd() {
  while (!ended) {
    RETURN_IF_ERROR(Refill());
    std::byte surplus{};
    zlib.next_out = reinterpret_cast<Bytef*>(&surplus);
    zlib.avail_out = 1;
    const int code = ::inflate(&zlib, Z_NO_FLUSH);
    if (zlib.avail_out == 0) {
      return IntegrityError(fmt::format("{}: inflates to more than the stated {} bytes",
                                        ZipMemberText(member), member.size_bytes),
                            Where());
    }
    if (code != Z_OK && code != Z_STREAM_END) {
      return Malformed("the deflated bytes do not end with the content");
    }
    ended = code == Z_STREAM_END;
  }
  if (zlib.avail_in == 0 && consumed == member.stored_bytes) return {};
  return Malformed(fmt::format("{} bytes after the end of the deflated ones; expected none",
                               member.stored_bytes - consumed + zlib.avail_in));
}

Status ZipStream::State::Finish() {
  finished = true;
  if (member.deflated) RETURN_IF_ERROR(CheckDeflateEnd());
  if (crc == member.crc32) return {};
  return IntegrityError(
      fmt::format("{}: CRC-32 {:08x}; expected {:08x}", ZipMemberText(member), crc, member.crc32),
      fmt::format("{}: byte {}", file.name(), member.data_offset));
}

ZipStream::ZipStream(const InputFile& file, const ZipMember& member)
    : state_(std::make_unique<State>(file, member)) {}
ZipStream::~ZipStream() = default;
ZipStream::ZipStream(ZipStream&&) noexcept = default;
ZipStream& ZipStream::operator=(ZipStream&&) noexcept = default;

std::uint64_t ZipStream::position() const { return state_->position; }

Status ZipStream::Read(std::span<std::byte> out) {
  State& state = *state_;
  const ZipMember& member = state.member;
  if (out.size() > member.size_bytes - state.position) Abort("read beyond the end of a zip member");
  RETURN_IF_ERROR(state.Begin());
  if (member.deflated) {
    RETURN_IF_ERROR(state.Inflate(out));
  } else if (member.zstd) {
    RETURN_IF_ERROR(state.chunk->Read(out));
  } else {
    RETURN_IF_ERROR(state.file.ReadAt(member.data_offset + state.position, out));
  }
  state.crc = Crc32(state.crc, out);
  state.position += out.size();
  if (state.position == member.size_bytes && !state.finished) return state.Finish();
  return {};
}

Status ZipStream::Skip(std::uint64_t count) {
  std::array<std::byte, kSkipBytes> buffer;
  do {
    const auto part = std::span(buffer).first(std::min<std::uint64_t>(buffer.size(), count));
    RETURN_IF_ERROR(Read(part));
    count -= part.size();
  } while (count != 0);
  return {};
}

}  // namespace rharness
