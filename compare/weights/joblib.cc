// The stream that gives the pickle machine a dump without its arrays.
#include "compare/weights/joblib.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <span>

#include "compare/weights/pickle_stream.h"

namespace rharness {
namespace {

constexpr std::size_t kFeedBytes = std::size_t{8} << 10;  // the opcodes between two arrays fit
constexpr std::size_t kInflateBytes = std::size_t{64} << 10;

bool IsPickle(std::string_view head) {
  return head.size() > 2 && head[0] == '\x80' && head[1] >= 2 && head[1] <= 5;
}

// By the header of RFC 1950 (zlib) or RFC 1952 (gzip).
bool IsDeflated(std::string_view head) {
  if (head.size() < 2) return false;
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(head[i]); };
  if (byte(0) == 0x1f && byte(1) == 0x8b) return true;
  return byte(0) == 0x78 && (byte(0) * 256U + byte(1)) % 31 == 0;
}

// At most `limit` bytes of what a file inflates to. *complete: its checksum was reached.
Result<std::string> Inflate(const InputFile& file, std::uint64_t limit, bool* complete) {
  z_stream stream{};
  constexpr int kZlibOrGzip = 15 + 32;
  if (inflateInit2(&stream, kZlibOrGzip) != Z_OK) return InternalError("zlib has no memory");
  const std::unique_ptr<z_stream, int (*)(z_stream*)> end(&stream, inflateEnd);
  std::string out, block, piece(kInflateBytes, '\0');
  int state = Z_OK;
  for (std::uint64_t at = 0; at < file.size_bytes() && state == Z_OK && out.size() < limit;) {
    block.resize(std::min<std::uint64_t>(kInflateBytes, file.size_bytes() - at));
    RETURN_IF_ERROR(file.ReadAt(at, std::as_writable_bytes(std::span(block))));
    stream.next_in = reinterpret_cast<Bytef*>(block.data());
    stream.avail_in = static_cast<uInt>(block.size());
    do {
      stream.next_out = reinterpret_cast<Bytef*>(piece.data());
      stream.avail_out = static_cast<uInt>(piece.size());
      state = inflate(&stream, Z_NO_FLUSH);
      out.append(piece, 0, piece.size() - stream.avail_out);
    } while (state == Z_OK && stream.avail_in > 0 && out.size() < limit);
    at += block.size() - stream.avail_in;
    if (state == Z_STREAM_END) *complete = at == file.size_bytes();
    if (state == Z_BUF_ERROR) state = Z_OK;
  }
  if (out.size() > limit) out.resize(limit);
  return out;
}

class DumpStream : public PickleStream {
 public:
  DumpStream(const DumpBytes& source, std::uint64_t begin, int depth, const std::string& where,
             PickledDump* dump)
      : source_(source), next_(begin), depth_(depth), where_(where), dump_(*dump) {}

  Status Feed(std::string* bytes, std::size_t size) override {
    const std::uint64_t left = source_.size_bytes - next_;
    const std::uint64_t take = std::min<std::uint64_t>(std::max(size, kFeedBytes), left);
    const std::size_t before = bytes->size();
    bytes->resize(before + take);
    RETURN_IF_ERROR(source_.Read(next_, std::as_writable_bytes(std::span(*bytes)).subspan(before)));
    next_ += take;
    return {};
  }

  Status AfterBuild(const Pickle& pickle, PickleId object, std::string* bytes,
                    std::size_t position) override;

  std::uint64_t next() const { return next_; }

 private:
  Error Refuse(std::uint64_t at, std::string text) const {
    return InvalidInput(std::move(text), fmt::format("{}: byte {}", where_, at));
  }
  Status SkipArray(NumpyArray array, bool aligned, PickleId object, std::uint64_t at);
  Status SkipObjects(PickleId object, std::uint64_t at);

  const DumpBytes& source_;
  std::uint64_t next_;  // to feed
  const int depth_;
  const std::string& where_;
  PickledDump& dump_;
};

// A pickle from `begin` on; *end becomes the place behind it.
Result<PickledDump> ReadFrom(const DumpBytes& bytes, std::uint64_t begin, int depth,
                             std::uint64_t* end) {
  const std::string where = fmt::format("{}: pickle from byte {}", bytes.file->name(), begin);
  PickledDump dump;
  DumpStream stream(bytes, begin, depth, where, &dump);
  std::size_t size = 0;
  ASSIGN_OR_RETURN(dump.pickle, ParsePickleStream(&stream, {}, where, &size));
  *end = stream.next() - (dump.pickle.source_bytes() - size);
  return dump;
}

Status DumpStream::AfterBuild(const Pickle& pickle, PickleId object, std::string* bytes,
                              std::size_t position) {
  bool aligned = false;
  if (!CallsNumpy(pickle, object, "joblib.numpy_pickle.NumpyArrayWrapper")) return {};
  const std::uint64_t at = next_ - (bytes->size() - position);
  auto array = ReadArrayWrapper(pickle, object, &aligned);
  if (!array) {
    return Unsupported("an array of a type that is not read",
                       fmt::format("{}: byte {}", where_, pickle.offset(object)));
  }
  bytes->resize(position);
  return array->type.objects ? SkipObjects(object, at)
                             : SkipArray(std::move(*array), aligned, object, at);
}

Status DumpStream::SkipArray(NumpyArray array, bool aligned, PickleId object, std::uint64_t at) {
  if (aligned) {
    if (at == source_.size_bytes) return Refuse(at, "expected a byte that counts padding");
    unsigned char padding = 0;
    RETURN_IF_ERROR(source_.Read(at, std::as_writable_bytes(std::span(&padding, 1))));
    at += std::uint64_t{1} + padding;
  }
  const auto size = BytesOf(array);
  if (!size || at > source_.size_bytes || *size > source_.size_bytes - at) {
    return Refuse(at,
                  fmt::format("an array '{}' of shape [{}]; expected it within the {} bytes of "
                              "the dump",
                              array.type.format, fmt::join(array.shape, ", "), source_.size_bytes));
  }
  dump_.arrays[object] = {std::move(array), at};
  next_ = at + *size;
  return {};
}

Status DumpStream::SkipObjects(PickleId object, std::uint64_t at) {
  if (depth_ == kMaxNestedDumps) {
    return Unsupported(fmt::format("more than {} pickles in one another", kMaxNestedDumps),
                       fmt::format("{}: byte {}", where_, at));
  }
  ASSIGN_OR_RETURN(PickledDump inner, ReadFrom(source_, at, depth_ + 1, &next_));
  dump_.objects[object] = std::make_unique<PickledDump>(std::move(inner));
  return {};
}

}  // namespace

Status DumpBytes::Read(std::uint64_t offset, std::span<std::byte> out) const {
  if (memory == nullptr) return file->ReadAt(offset, out);
  std::memcpy(out.data(), memory->data() + offset, out.size());
  return {};
}

Result<bool> LooksLikeDump(const InputFile& file) {
  std::string head(std::min<std::uint64_t>(4, file.size_bytes()), '\0');
  RETURN_IF_ERROR(file.ReadAt(0, std::as_writable_bytes(std::span(head))));
  if (!IsDeflated(head)) return IsPickle(head);
  bool complete = false;
  ASSIGN_OR_RETURN(const std::string begin, Inflate(file, head.size(), &complete));
  return IsPickle(begin);
}

Result<DumpBytes> OpenDump(const InputFile& file) {
  DumpBytes bytes{.file = &file, .memory = {}, .size_bytes = file.size_bytes()};
  std::string head(std::min<std::uint64_t>(2, file.size_bytes()), '\0');
  RETURN_IF_ERROR(file.ReadAt(0, std::as_writable_bytes(std::span(head))));
  if (!IsDeflated(head)) return bytes;
  bool complete = false;
  ASSIGN_OR_RETURN(std::string whole, Inflate(file, kMaxInflatedDump + 1, &complete));
  if (whole.size() > kMaxInflatedDump) {
    return Unsupported(fmt::format("inflates to more than {} bytes", kMaxInflatedDump),
                       file.name());
  }
  if (!complete) {
    return InvalidInput("is deflated and damaged; expected a checksum that fits at its end",
                        file.name());
  }
  bytes.size_bytes = whole.size();
  bytes.memory = std::make_shared<const std::string>(std::move(whole));
  return bytes;
}

Result<PickledDump> ReadDump(const DumpBytes& bytes) {
  std::uint64_t end = 0;
  ASSIGN_OR_RETURN(PickledDump dump, ReadFrom(bytes, 0, 0, &end));
  if (end == bytes.size_bytes) return dump;
  return InvalidInput(
      fmt::format("{} bytes after the pickle; expected none", bytes.size_bytes - end),
      fmt::format("{}: byte {}", bytes.file->name(), end));
}

}  // namespace rharness
