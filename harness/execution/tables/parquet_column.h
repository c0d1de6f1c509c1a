// A column of one row group, row by row, with one page in memory at a time.
//
// Role: private to this folder.
#ifndef RHARNESS_HARNESS_EXECUTION_TABLES_PARQUET_COLUMN_H_
#define RHARNESS_HARNESS_EXECUTION_TABLES_PARQUET_COLUMN_H_

#include <cstdint>
#include <string>
#include <vector>

#include "harness/execution/tables/parquet_file.h"
#include "harness/execution/tables/parquet_values.h"

namespace rharness {

// A number or a text, by the type of its column.
struct ColumnValue {
  std::int64_t number = 0;
  std::string text;
};

// Data pages of version 1 and 2 with PLAIN, dictionary and DELTA encodings. Memory: a page and a
// dictionary, 32 MiB each at most.
class ParquetColumn {
 public:
  // `file` outlives it. The leaf is one of the file's.
  ParquetColumn(const ParquetFile& file, const RowGroup& group, int leaf);

  // The values of the next row: none if it is null, several if the column is repeated. Errors:
  // invalid_input (damaged, or fewer rows than requested), unsupported (an unknown encoding,
  // compression or type), io.
  Status NextRow(std::vector<ColumnValue>* values);

 private:
  struct PageHeader;
  Result<PageHeader> ReadHeader();
  Status NextPage();
  Status OpenDictionary(const PageHeader& header, std::string_view bytes);
  Status OpenPage(const PageHeader& header, std::string_view bytes);
  Status OpenPage2(const PageHeader& header, std::string_view bytes);
  Status OpenValues(int encoding, std::string_view bytes);
  Status NextCell();
  Status TakeCell(std::vector<ColumnValue>* values);
  bool NextValue(ParquetValue* value);

  enum class Form { kPlain, kDictionary, kDeltaNumbers, kDeltaTexts };

  const ParquetFile& file_;
  const ParquetLeaf& leaf_;
  ColumnChunk chunk_;
  std::int64_t at_;    // of the next page
  std::int64_t left_;  // cells of pages to come
  std::int64_t in_page_ = 0;
  bool has_cell_ = false;  // one was read ahead
  std::uint32_t repetition_ = 0;
  std::uint32_t definition_ = 0;
  std::string page_;
  std::string dictionary_page_;
  std::vector<ParquetValue> dictionary_;
  HybridReader repetitions_;
  HybridReader definitions_;
  Form form_ = Form::kPlain;
  PlainReader plain_;
  HybridReader indices_;
  DeltaReader delta_;
  DeltaTextReader delta_texts_;
};

}  // namespace rharness

#endif  // RHARNESS_HARNESS_EXECUTION_TABLES_PARQUET_COLUMN_H_
