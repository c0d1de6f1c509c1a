// How Parquet writes numbers and texts within a page.
//
// Role: private to this folder. Pure. Source: apache/parquet-format, Encodings.md.
#ifndef RHARNESS_HARNESS_EXECUTION_TABLES_PARQUET_VALUES_H_
#define RHARNESS_HARNESS_EXECUTION_TABLES_PARQUET_VALUES_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "harness/execution/tables/parquet_file.h"

namespace rharness {

// Small numbers as runs and as packed bits ("RLE/bit-packing hybrid"): levels, and indices into a
// dictionary.
class HybridReader {
 public:
  HybridReader() = default;
  // Numbers of `bits` bits, at most 32.
  HybridReader(std::string_view bytes, int bits) : bytes_(bytes), bits_(bits) {}
  // False if the bytes end or are malformed.
  bool Next(std::uint32_t* value);

 private:
  bool NextRun();

  std::string_view bytes_;
  int bits_ = 0;
  std::uint64_t left_ = 0;  // of the run
  bool packed_ = false;
  std::uint32_t repeated_ = 0;
  std::string_view packed_bytes_;
  std::uint64_t packed_bit_ = 0;
};

// A number or a text, by the type of its column. Texts are valid until the next read.
struct ParquetValue {
  std::int64_t number = 0;
  std::string_view text;
};

// Values one after another ("PLAIN").
class PlainReader {
 public:
  PlainReader() = default;
  PlainReader(std::string_view bytes, ParquetType type) : bytes_(bytes), type_(type) {}
  bool Next(ParquetValue* value);

 private:
  std::string_view bytes_;
  ParquetType type_ = ParquetType::kByteArray;
};

// Numbers as differences in blocks ("DELTA_BINARY_PACKED").
class DeltaReader {
 public:
  DeltaReader() = default;
  explicit DeltaReader(std::string_view bytes);
  bool ok() const { return ok_; }
  std::uint64_t left() const { return left_; }
  bool Next(std::int64_t* value);
  // The bytes after the numbers; call it after the last of them.
  std::string_view rest() const { return bytes_; }

 private:
  bool NextBlock();
  bool NextMiniblock();

  std::string_view bytes_;
  bool ok_ = false;
  std::uint64_t left_ = 0;
  std::uint64_t miniblocks_ = 0;      // in a block
  std::uint64_t miniblock_size_ = 0;  // values
  std::uint64_t value_ = 0;           // wraps, as the format has it
  bool first_ = true;
  std::uint64_t smallest_ = 0;      // difference of the block
  std::string_view widths_;         // of the miniblocks to come
  std::uint64_t in_miniblock_ = 0;  // values left
  std::string_view packed_;
  std::uint64_t bit_ = 0;
  int width_ = 0;
};

// Texts by their lengths ("DELTA_LENGTH_BYTE_ARRAY"), or by the prefix shared with the text before
// ("DELTA_BYTE_ARRAY").
class DeltaTextReader {
 public:
  DeltaTextReader() = default;
  DeltaTextReader(std::string_view bytes, bool prefixes);
  // Valid until the next call.
  bool Next(ParquetValue* value);

 private:
  bool prefixes_ = false;
  DeltaReader prefix_;
  DeltaReader length_;
  std::string_view texts_;
  std::string last_;
};

}  // namespace rharness

#endif  // RHARNESS_HARNESS_EXECUTION_TABLES_PARQUET_VALUES_H_
