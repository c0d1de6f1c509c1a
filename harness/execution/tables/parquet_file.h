// A Parquet file's footer: its columns, and the places of their pages.
//
// Role: private to this folder: checkpoints of Delta tables. Reads the subset that these use;
// refuses the rest by name. parquet_column.h reads pages.
// Source: apache/parquet-format, README.md and src/main/thrift/parquet.thrift.
#ifndef RHARNESS_HARNESS_EXECUTION_TABLES_PARQUET_FILE_H_
#define RHARNESS_HARNESS_EXECUTION_TABLES_PARQUET_FILE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/descriptor.h"
#include "harness/base/result.h"

namespace rharness {

class ThriftReader;

// By their numbers in Parquet's Type.
enum class ParquetType { kInt32 = 1, kInt64 = 2, kByteArray = 6 };

// A column that has values.
struct ParquetLeaf {
  std::string path;  // "add.deletionVector.offset"
  int type = -1;     // a ParquetType, or another number
  int most_definition = 0;
  int most_repetition = 0;
};

// Of one leaf in one row group.
struct ColumnChunk {
  int codec = 0;
  std::int64_t values = 0;      // nulls count
  std::int64_t offset = -1;     // of its first page, in the file
  std::int64_t size_bytes = 0;  // of all its pages
};

struct RowGroup {
  std::int64_t rows = 0;
  std::vector<ColumnChunk> columns;  // in the order of the leaves
};

// Movable. Not thread-safe.
class ParquetFile {
 public:
  // Errors: invalid_input (missing or damaged file; a footer of more than 64 MiB), unsupported
  // (encrypted), io. All name `name`.
  static Result<ParquetFile> Open(OpenedFile file, std::string name);

  const std::string& name() const { return name_; }
  const std::vector<ParquetLeaf>& leaves() const { return leaves_; }
  const std::vector<RowGroup>& row_groups() const { return row_groups_; }
  // The first leaf at `path` or below it ("protocol.readerFeatures"); -1: there is none.
  int FindLeaf(std::string_view path) const;
  // Up to `size` bytes; fewer only at the end of the file. Errors: io.
  Status ReadAt(std::int64_t offset, std::size_t size, std::string* out) const;
  Error Damaged(std::string_view what) const;

 private:
  ParquetFile(OpenedFile file, std::string name) : file_(std::move(file)), name_(std::move(name)) {}
  Status ReadFooter(std::string_view footer);
  Status CheckChunks() const;

  OpenedFile file_;
  std::string name_;
  std::vector<ParquetLeaf> leaves_;
  std::vector<RowGroup> row_groups_;
};

}  // namespace rharness

#endif  // RHARNESS_HARNESS_EXECUTION_TABLES_PARQUET_FILE_H_
