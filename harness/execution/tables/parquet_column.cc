// Pages: a header, levels that mark rows with a value, and the values.
#include "harness/execution/tables/parquet_column.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "harness/execution/tables/decompress.h"
#include "harness/execution/tables/thrift_reader.h"

namespace rharness {
namespace {

constexpr std::int64_t kMostPageBytes = std::int64_t{32} << 20;

// By their numbers in Parquet's PageType and Encoding.
enum PageKind { kDataPage = 0, kIndexPage = 1, kDictionaryPage = 2, kDataPage2 = 3 };
enum Encoding {
  kPlain = 0,
  kPlainDictionary = 2,
  kRunLength = 3,
  kDeltaNumbersEncoding = 5,
  kDeltaLengths = 6,
  kDeltaTextsEncoding = 7,
  kDictionaryEncoding = 8,
};

int BitsFor(int most) { return std::bit_width(static_cast<unsigned>(most)); }

}  // namespace

struct ParquetColumn::PageHeader {
  std::int64_t kind = -1;
  std::int64_t size = 0;        // as it will be in memory
  std::int64_t compressed = 0;  // as it is in the file
  std::int64_t values = 0;
  std::int64_t encoding = -1;
  std::int64_t definition_encoding = kRunLength;
  std::int64_t repetition_encoding = kRunLength;
  std::int64_t definition_bytes = 0;  // of version 2
  std::int64_t repetition_bytes = 0;
  bool is_compressed = true;

  // Fields 1 to 4 of a header of version 1 or of a dictionary.
  void Read(ThriftReader& in) {
    in.ReadStruct([&](int id, ThriftType type) {
      if (id == 1) {
        values = in.ReadInt(type);
      } else if (id == 2) {
        encoding = in.ReadInt(type);
      } else if (id == 3 && kind == kDataPage) {
        definition_encoding = in.ReadInt(type);
      } else if (id == 4 && kind == kDataPage) {
        repetition_encoding = in.ReadInt(type);
      } else {
        in.Skip(type);
      }
    });
  }
  void Read2(ThriftReader& in) {
    in.ReadStruct([&](int id, ThriftType type) {
      switch (id) {
        case 1:
          values = in.ReadInt(type);
          break;
        case 4:
          encoding = in.ReadInt(type);
          break;
        case 5:
          definition_bytes = in.ReadInt(type);
          break;
        case 6:
          repetition_bytes = in.ReadInt(type);
          break;
        case 7:
          is_compressed = in.ReadBool(type);
          break;
        default:
          in.Skip(type);
      }
    });
  }
};

ParquetColumn::ParquetColumn(const ParquetFile& file, const RowGroup& group, int leaf)
    : file_(file),
      leaf_(file.leaves()[static_cast<std::size_t>(leaf)]),
      chunk_(group.columns[static_cast<std::size_t>(leaf)]),
      at_(chunk_.offset),
      left_(chunk_.values) {}

Result<ParquetColumn::PageHeader> ParquetColumn::ReadHeader() {
  // Most are short; one that quotes long values in its statistics is read again in whole.
  for (const std::size_t most : {std::size_t{1} << 10, std::size_t{1} << 20}) {
    const std::int64_t end = chunk_.offset + chunk_.size_bytes;
    std::string bytes;
    RETURN_IF_ERROR(file_.ReadAt(at_, std::min(most, static_cast<std::size_t>(end - at_)), &bytes));
    ThriftReader in(bytes);
    PageHeader header;
    in.ReadStruct([&](int id, ThriftType type) {
      if (id == 1) {
        header.kind = in.ReadInt(type);
      } else if (id == 2) {
        header.size = in.ReadInt(type);
      } else if (id == 3) {
        header.compressed = in.ReadInt(type);
      } else if ((id == 5 || id == 7) && type == ThriftType::kStruct) {
        header.Read(in);
      } else if (id == 8 && type == ThriftType::kStruct) {
        header.Read2(in);
      } else {
        in.Skip(type);
      }
    });
    if (!in.ok()) continue;
    at_ += static_cast<std::int64_t>(in.position());
    if (header.size < 0 || header.size > kMostPageBytes || header.compressed < 0 ||
        header.compressed > end - at_ || header.values < 0) {
      return file_.Damaged(fmt::format("a page of column {} has {} bytes; expected at most {}",
                                       leaf_.path, header.size, kMostPageBytes));
    }
    return header;
  }
  return file_.Damaged(fmt::format("a page's header in column {}, at byte {}", leaf_.path, at_));
}

Status ParquetColumn::OpenDictionary(const PageHeader& header, std::string_view bytes) {
  RETURN_IF_ERROR(
      Decompress(chunk_.codec, bytes, static_cast<std::size_t>(header.size), &dictionary_page_));
  if (header.encoding != kPlain && header.encoding != kPlainDictionary) {
    return Unsupported(fmt::format("a dictionary has encoding {}", header.encoding));
  }
  PlainReader plain(dictionary_page_, static_cast<ParquetType>(leaf_.type));
  dictionary_.clear();
  for (std::int64_t i = 0; i < header.values; ++i) {
    ParquetValue value;
    if (!plain.Next(&value)) return InvalidInput("a dictionary is shorter than it says");
    dictionary_.push_back(value);
  }
  return {};
}

Status ParquetColumn::OpenValues(int encoding, std::string_view bytes) {
  const bool texts = leaf_.type == static_cast<int>(ParquetType::kByteArray);
  if (encoding == kPlain) {
    form_ = Form::kPlain;
    plain_ = PlainReader(bytes, static_cast<ParquetType>(leaf_.type));
  } else if (encoding == kPlainDictionary || encoding == kDictionaryEncoding) {
    form_ = Form::kDictionary;
    const int bits = bytes.empty() ? 0 : static_cast<std::uint8_t>(bytes.front());
    if (bits > 32) return InvalidInput("indices into a dictionary have more than 32 bits");
    indices_ = HybridReader(bytes.substr(bytes.empty() ? 0 : 1), bits);
  } else if (encoding == kDeltaNumbersEncoding && !texts) {
    form_ = Form::kDeltaNumbers;
    delta_ = DeltaReader(bytes);
  } else if ((encoding == kDeltaLengths || encoding == kDeltaTextsEncoding) && texts) {
    form_ = Form::kDeltaTexts;
    delta_texts_ = DeltaTextReader(bytes, encoding == kDeltaTextsEncoding);
  } else {
    return Unsupported(
        fmt::format("has encoding {}; expected PLAIN, a dictionary or DELTA", encoding));
  }
  return {};
}

Status ParquetColumn::OpenPage(const PageHeader& header, std::string_view bytes) {
  RETURN_IF_ERROR(Decompress(chunk_.codec, bytes, static_cast<std::size_t>(header.size), &page_));
  std::string_view rest = page_;
  const auto levels = [&](int most, std::int64_t encoding, HybridReader* reader) -> Status {
    if (most == 0) return {};
    if (encoding != kRunLength) return Unsupported("has levels of the old encoding BIT_PACKED");
    std::uint32_t size = 0;
    if (rest.size() >= sizeof(size)) std::memcpy(&size, rest.data(), sizeof(size));
    if (rest.size() < sizeof(size) || size > rest.size() - sizeof(size)) {
      return InvalidInput("its levels are longer than the page");
    }
    *reader = HybridReader(rest.substr(sizeof(size), size), BitsFor(most));
    rest.remove_prefix(sizeof(size) + size);
    return {};
  };
  RETURN_IF_ERROR(levels(leaf_.most_repetition, header.repetition_encoding, &repetitions_));
  RETURN_IF_ERROR(levels(leaf_.most_definition, header.definition_encoding, &definitions_));
  return OpenValues(static_cast<int>(header.encoding), rest);
}

// Its levels precede the compressed part.
Status ParquetColumn::OpenPage2(const PageHeader& header, std::string_view bytes) {
  const std::int64_t levels = header.repetition_bytes + header.definition_bytes;
  if (header.repetition_bytes < 0 || header.definition_bytes < 0 || levels > header.size ||
      levels > static_cast<std::int64_t>(bytes.size())) {
    return InvalidInput("its levels are longer than the page");
  }
  const auto size = static_cast<std::size_t>(header.size - levels);
  const std::string_view rest = bytes.substr(static_cast<std::size_t>(levels));
  const bool packed = header.is_compressed && !(rest.empty() && size == 0);
  std::string values;
  RETURN_IF_ERROR(Decompress(packed ? chunk_.codec : 0, rest, size, &values));
  page_ = std::string(bytes.substr(0, static_cast<std::size_t>(levels))) + values;
  const std::string_view page = page_;
  const auto split = static_cast<std::size_t>(header.repetition_bytes);
  const auto all = static_cast<std::size_t>(levels);
  repetitions_ = HybridReader(page.substr(0, split), BitsFor(leaf_.most_repetition));
  definitions_ = HybridReader(page.substr(split, all - split), BitsFor(leaf_.most_definition));
  return OpenValues(static_cast<int>(header.encoding), page.substr(all));
}

Status ParquetColumn::NextPage() {
  const int type = leaf_.type;
  if (type != static_cast<int>(ParquetType::kByteArray) &&
      type != static_cast<int>(ParquetType::kInt32) &&
      type != static_cast<int>(ParquetType::kInt64)) {
    return Unsupported(fmt::format("column {} has values of type {}", leaf_.path, type),
                       file_.name());
  }
  while (in_page_ == 0) {
    if (at_ >= chunk_.offset + chunk_.size_bytes) {
      return file_.Damaged(fmt::format("column {} ends before its values do", leaf_.path));
    }
    ASSIGN_OR_RETURN(const PageHeader header, ReadHeader());
    std::string bytes;
    RETURN_IF_ERROR(file_.ReadAt(at_, static_cast<std::size_t>(header.compressed), &bytes));
    at_ += header.compressed;
    Status opened;
    if (header.kind == kDictionaryPage) opened = OpenDictionary(header, bytes);
    if (header.kind == kDataPage) opened = OpenPage(header, bytes);
    if (header.kind == kDataPage2) opened = OpenPage2(header, bytes);
    if (!opened.ok()) {
      Error error = opened.error();
      error.message = fmt::format("column {}: {}", leaf_.path, error.message);
      error.where = file_.name();
      return error;
    }
    if (header.kind == kDataPage || header.kind == kDataPage2) in_page_ = header.values;
    if (in_page_ > left_) return file_.Damaged(leaf_.path + " has more values than it says");
  }
  return {};
}

// Reads the levels of the next cell.
Status ParquetColumn::NextCell() {
  if (left_ == 0) return file_.Damaged(fmt::format("column {} has too few rows", leaf_.path));
  if (in_page_ == 0) RETURN_IF_ERROR(NextPage());
  --in_page_;
  --left_;
  repetition_ = 0;
  definition_ = 0;
  if ((leaf_.most_repetition > 0 && !repetitions_.Next(&repetition_)) ||
      (leaf_.most_definition > 0 && !definitions_.Next(&definition_)) ||
      repetition_ > static_cast<unsigned>(leaf_.most_repetition) ||
      definition_ > static_cast<unsigned>(leaf_.most_definition)) {
    return file_.Damaged(fmt::format("the levels of column {}", leaf_.path));
  }
  has_cell_ = true;
  return {};
}

bool ParquetColumn::NextValue(ParquetValue* value) {
  std::uint32_t index = 0;
  switch (form_) {
    case Form::kPlain:
      return plain_.Next(value);
    case Form::kDictionary:
      if (!indices_.Next(&index) || index >= dictionary_.size()) return false;
      *value = dictionary_[index];
      return true;
    case Form::kDeltaNumbers:
      return delta_.Next(&value->number);
    case Form::kDeltaTexts:
      break;
  }
  return delta_texts_.Next(value);
}

Status ParquetColumn::TakeCell(std::vector<ColumnValue>* values) {
  has_cell_ = false;
  if (definition_ != static_cast<unsigned>(leaf_.most_definition)) return {};
  ParquetValue value;
  if (!NextValue(&value)) {
    return file_.Damaged(fmt::format("column {} has fewer values than its levels say", leaf_.path));
  }
  values->push_back({value.number, std::string(value.text)});
  return {};
}

Status ParquetColumn::NextRow(std::vector<ColumnValue>* values) {
  values->clear();
  if (!has_cell_) RETURN_IF_ERROR(NextCell());
  if (repetition_ != 0) return file_.Damaged(fmt::format("the rows of column {}", leaf_.path));
  RETURN_IF_ERROR(TakeCell(values));
  constexpr int kMostCells = 1 << 16;
  for (int cells = 0; leaf_.most_repetition > 0 && left_ > 0; ++cells) {
    RETURN_IF_ERROR(NextCell());
    if (repetition_ == 0) break;
    if (cells == kMostCells) return file_.Damaged("a row has too many values");
    RETURN_IF_ERROR(TakeCell(values));
  }
  return {};
}

}  // namespace rharness
