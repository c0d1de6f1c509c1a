// zstd and zlib behind one forward reader; see chunk_stream.h.
#include "compare/weights/chunk_stream.h"

#include <fmt/format.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

namespace rharness {
namespace {

constexpr std::size_t kChunkInputBytes = std::size_t{128} << 10;  // a block of zstd and its header
constexpr int kMostWindowLog = 23;  // 8 MB, the most that a decoder has to support (RFC 8878)

using ZstdContext = std::shared_ptr<ZSTD_DCtx>;

ZstdContext NewZstd() {
  ZstdContext context(ZSTD_createDCtx(), ZSTD_freeDCtx);
  if (context != nullptr) {
    ZSTD_DCtx_setParameter(context.get(), ZSTD_d_windowLogMax, kMostWindowLog);
  }
  return context;
}

std::string WhereOf(const StoredChunk& stored, std::uint64_t at) {
  if (stored.file == nullptr) return "a value that is stored with its key";
  return fmt::format("{}: byte {}", stored.file->name(), stored.begin + at);
}

}  // namespace

Status ReadStored(const StoredChunk& stored, std::uint64_t begin, std::span<std::byte> out) {
  if (begin > stored.size_bytes || out.size() > stored.size_bytes - begin) {
    Abort("read beyond the end of a stored chunk");
  }
  if (stored.file != nullptr) return stored.file->ReadAt(stored.begin + begin, out);
  if (!out.empty()) std::memcpy(out.data(), stored.memory->data() + begin, out.size());
  return {};
}

struct ChunkStream::State {
  State(StoredChunk chunk, ChunkCoding coded, std::uint64_t bytes)
      : stored(std::move(chunk)),
        coding(stored.plain ? ChunkCoding::kPlain : coded),
        content_bytes(bytes) {}
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() {
    if (inflating) ::inflateEnd(&zlib);
  }

  Error Malformed(std::string message) const {
    return InvalidInput(std::move(message), WhereOf(stored, consumed - left()));
  }
  std::size_t left() const { return available - taken; }
  Status Begin();
  Status Refill();
  Status Step(std::span<std::byte> out, std::size_t* made);
  Status StepZstd(std::span<std::byte> out, std::size_t* made);
  Status StepGzip(std::span<std::byte> out, std::size_t* made);
  Status Finish();
  Status Decode(std::span<std::byte> out);
  Status Unshuffle();

  StoredChunk stored;
  ChunkCoding coding;
  std::uint64_t content_bytes = 0;
  std::uint64_t position = 0;  // in the content
  std::uint64_t consumed = 0;  // stored bytes that were read
  std::vector<std::byte> input;
  std::size_t available = 0;  // bytes of `input`
  std::size_t taken = 0;      // of them decoded
  bool ended = false;         // the decoder has seen the end of the stream
  ZstdContext zstd;
  z_stream zlib{};
  std::vector<std::byte> whole;  // of a shuffled chunk, as it was before
  bool inflating = false;
};

Status ChunkStream::State::Begin() {
  if (!input.empty()) return {};
  input.resize(kChunkInputBytes);
  if (coding == ChunkCoding::kZstd) {
    zstd = NewZstd();
    if (zstd == nullptr) return InternalError("zstd cannot start", WhereOf(stored, 0));
  } else {
    constexpr int kGzip = 16 + MAX_WBITS;
    if (::inflateInit2(&zlib, coding == ChunkCoding::kGzip ? kGzip : MAX_WBITS) != Z_OK) {
      return InternalError("zlib cannot start", WhereOf(stored, 0));
    }
    inflating = true;
  }
  return {};
}

Status ChunkStream::State::Refill() {
  if (left() != 0) return {};
  taken = 0;
  available = std::min<std::uint64_t>(input.size(), stored.size_bytes - consumed);
  RETURN_IF_ERROR(ReadStored(stored, consumed, std::span(input).first(available)));
  consumed += available;
  return {};
}

Status ChunkStream::State::StepZstd(std::span<std::byte> out, std::size_t* made) {
  ZSTD_inBuffer from{input.data(), available, taken};
  ZSTD_outBuffer to{out.data(), out.size(), 0};
  const std::size_t code = ZSTD_decompressStream(zstd.get(), &to, &from);
  taken = from.pos;
  *made = to.pos;
  if (ZSTD_isError(code) != 0) {
    return Malformed(fmt::format("malformed zstd bytes ({})", ZSTD_getErrorName(code)));
  }
  ended = code == 0;
  return {};
}

Status ChunkStream::State::StepGzip(std::span<std::byte> out, std::size_t* made) {
  zlib.next_in = reinterpret_cast<Bytef*>(input.data() + taken);
  zlib.avail_in = static_cast<uInt>(left());
  const std::size_t wanted = std::min<std::size_t>(out.size(), std::size_t{1} << 30);
  zlib.next_out = reinterpret_cast<Bytef*>(out.data());
  zlib.avail_out = static_cast<uInt>(wanted);
  const int code = ::inflate(&zlib, Z_NO_FLUSH);
  taken = available - zlib.avail_in;
  *made = wanted - zlib.avail_out;
  if (code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR) {
    return Malformed(fmt::format("malformed gzip bytes ({})",
                                 zlib.msg == nullptr ? "no reason given" : zlib.msg));
  }
  ended = code == Z_STREAM_END;
  return {};
}

// Decodes at least a byte of content, or reaches the end of the stream.
Status ChunkStream::State::Step(std::span<std::byte> out, std::size_t* made) {
  do {
    RETURN_IF_ERROR(Refill());
    const std::size_t before = left();
    RETURN_IF_ERROR(coding == ChunkCoding::kZstd ? StepZstd(out, made) : StepGzip(out, made));
    if (*made == 0 && !ended && before == left() && consumed == stored.size_bytes) {
      return Malformed("the compressed bytes end before their content does");
    }
  } while (*made == 0 && !ended);
  return {};
}

// All content has been read: the stream and the stored bytes end here, too.
Status ChunkStream::State::Finish() {
  std::byte surplus{};
  std::size_t made = 0;
  if (!ended) RETURN_IF_ERROR(Step(std::span(&surplus, 1), &made));
  if (made != 0 || !ended || left() != 0 || consumed != stored.size_bytes) {
    return Malformed(
        fmt::format("a chunk of more than {} bytes of content; expected as many", content_bytes));
  }
  return {};
}

ChunkStream::ChunkStream(StoredChunk stored, ChunkCoding coding, std::uint64_t content_bytes)
    : state_(std::make_unique<State>(std::move(stored), coding, content_bytes)) {}
ChunkStream::~ChunkStream() = default;
ChunkStream::ChunkStream(ChunkStream&&) noexcept = default;
ChunkStream& ChunkStream::operator=(ChunkStream&&) noexcept = default;

std::uint64_t ChunkStream::position() const { return state_->position; }

std::uint64_t ChunkStream::held_bytes() const {
  return state_->whole.empty() ? 0 : state_->whole.size() + kHeldChunkExtra;
}

// The next bytes as they are stored, decoded.
Status ChunkStream::State::Decode(std::span<std::byte> out) {
  if (coding == ChunkCoding::kPlain) {
    RETURN_IF_ERROR(ReadStored(stored, position, out));
    position += out.size();
    return {};
  }
  RETURN_IF_ERROR(Begin());
  while (!out.empty()) {
    if (ended) {
      return Malformed(
          fmt::format("a chunk of {} bytes of content; expected {}", position, content_bytes));
    }
    std::size_t made = 0;
    RETURN_IF_ERROR(Step(out, &made));
    out = out.subspan(made);
    position += made;
  }
  return position == content_bytes ? Finish() : Status();
}

// Section IV.A.2.l of HDF5: byte i of all elements, for each i; what is no whole element follows.
Status ChunkStream::State::Unshuffle() {
  std::vector<std::byte> bytes(content_bytes);
  RETURN_IF_ERROR(Decode(bytes));
  position = 0;
  whole = bytes;
  input = {};
  const std::uint64_t count = content_bytes / stored.shuffled;
  for (std::uint64_t i = 0; i < stored.shuffled; ++i) {
    for (std::uint64_t k = 0; k < count; ++k) whole[k * stored.shuffled + i] = bytes[i * count + k];
  }
  return {};
}

Status ChunkStream::Read(std::span<std::byte> out) {
  State& state = *state_;
  if (out.size() > state.content_bytes - state.position) Abort("read beyond the end of a chunk");
  if (state.stored.shuffled == 0) return state.Decode(out);
  if (state.whole.empty()) {
    const std::uint64_t at = state.position;
    state.position = 0;
    RETURN_IF_ERROR(state.Unshuffle());
    state.position = at;
  }
  std::ranges::copy(std::span(state.whole).subspan(state.position, out.size()), out.begin());
  state.position += out.size();
  return {};
}

Status ChunkStream::Skip(std::uint64_t count) {
  if (state_->coding == ChunkCoding::kPlain || state_->stored.shuffled != 0) {
    state_->position += count;
    return {};
  }
  std::array<std::byte, std::size_t{16} << 10> buffer;
  while (count != 0) {
    const auto part = std::span(buffer).first(std::min<std::uint64_t>(buffer.size(), count));
    RETURN_IF_ERROR(Read(part));
    count -= part.size();
  }
  return {};
}

Result<std::string> DecodeZstd(std::string_view bytes, std::size_t most, const std::string& where) {
  const ZstdContext context = NewZstd();
  if (context == nullptr) return InternalError("zstd cannot start", where);
  std::string content;
  std::string block(std::size_t{64} << 10, '\0');
  ZSTD_inBuffer from{bytes.data(), bytes.size(), 0};
  for (std::size_t code = 1; code != 0;) {
    ZSTD_outBuffer to{block.data(), block.size(), 0};
    code = ZSTD_decompressStream(context.get(), &to, &from);
    if (ZSTD_isError(code) != 0) {
      return InvalidInput(fmt::format("malformed zstd bytes ({})", ZSTD_getErrorName(code)), where);
    }
    if (content.size() + to.pos > most) {
      return Unsupported(fmt::format("more than {} bytes of content", most), where);
    }
    content.append(block.data(), to.pos);
    if (code != 0 && to.pos == 0 && from.pos == from.size) {
      return InvalidInput("the compressed bytes end before their content does", where);
    }
  }
  if (from.pos == from.size) return content;
  return InvalidInput(fmt::format("{} bytes after the compressed ones", from.size - from.pos),
                      where);
}

}  // namespace rharness
