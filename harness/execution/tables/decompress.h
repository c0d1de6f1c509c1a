// The compressions of Parquet's pages, each into exactly the size stated by the page.
//
// Role: private to this folder; decompress.cc is the fence around snappy, zstd and zlib.
#ifndef RHARNESS_HARNESS_EXECUTION_TABLES_DECOMPRESS_H_
#define RHARNESS_HARNESS_EXECUTION_TABLES_DECOMPRESS_H_

#include <cstddef>
#include <string>
#include <string_view>

#include "harness/base/result.h"

namespace rharness {

// By their numbers in Parquet's CompressionCodec.
enum class Codec { kNone = 0, kSnappy = 1, kGzip = 2, kZstd = 6 };

// "UNCOMPRESSED", "SNAPPY", "LZ4_RAW", ...; a number without a name.
std::string CodecName(int codec);

// `size` bytes into `out`. Errors: unsupported (a codec that is none of the above), invalid_input
// (damaged, or another length).
Status Decompress(int codec, std::string_view bytes, std::size_t size, std::string* out);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_EXECUTION_TABLES_DECOMPRESS_H_
