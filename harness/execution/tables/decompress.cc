// Decompression by snappy's C interface, zstd and zlib.
#include "harness/execution/tables/decompress.h"

#include <fmt/format.h>
#include <snappy-c.h>
#include <zlib.h>
#include <zstd.h>

#include <array>

namespace rharness {
namespace {

bool Unsnap(std::string_view bytes, std::string* out) {
  std::size_t size = 0;
  if (snappy_uncompressed_length(bytes.data(), bytes.size(), &size) != SNAPPY_OK) return false;
  return size == out->size() &&
         snappy_uncompress(bytes.data(), bytes.size(), out->data(), &size) == SNAPPY_OK;
}

// A frame or several; zstd writes no further than it is allowed to.
bool Unzstd(std::string_view bytes, std::string* out) {
  return ZSTD_decompress(out->data(), out->size(), bytes.data(), bytes.size()) == out->size();
}

bool Unzip(std::string_view bytes, std::string* out) {
  z_stream stream{};
  constexpr int kGzipOrZlib = 15 + 32;
  if (inflateInit2(&stream, kGzipOrZlib) != Z_OK) return false;
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(out->data());
  stream.avail_out = static_cast<uInt>(out->size());
  const int code = inflate(&stream, Z_FINISH);
  const bool whole = code == Z_STREAM_END && stream.avail_out == 0;
  inflateEnd(&stream);
  return whole;
}

}  // namespace

std::string CodecName(int codec) {
  constexpr std::array<std::string_view, 8> kNames = {"UNCOMPRESSED", "SNAPPY", "GZIP", "LZO",
                                                      "BROTLI",       "LZ4",    "ZSTD", "LZ4_RAW"};
  const auto index = static_cast<std::size_t>(codec);
  return codec >= 0 && index < kNames.size() ? std::string(kNames[index])
                                             : fmt::format("{}", codec);
}

Status Decompress(int codec, std::string_view bytes, std::size_t size, std::string* out) {
  out->resize(size);
  bool whole = false;
  switch (codec) {
    case static_cast<int>(Codec::kNone):
      whole = bytes.size() == size;
      if (whole) out->assign(bytes);
      break;
    case static_cast<int>(Codec::kSnappy):
      whole = Unsnap(bytes, out);
      break;
    case static_cast<int>(Codec::kGzip):
      whole = Unzip(bytes, out);
      break;
    case static_cast<int>(Codec::kZstd):
      whole = Unzstd(bytes, out);
      break;
    default:
      return Unsupported(
          fmt::format("a page is compressed by {}; expected UNCOMPRESSED, SNAPPY, "
                      "GZIP or ZSTD",
                      CodecName(codec)));
  }
  if (whole) return {};
  return InvalidInput(fmt::format("a page is no {} data of {} bytes", CodecName(codec), size));
}

}  // namespace rharness
