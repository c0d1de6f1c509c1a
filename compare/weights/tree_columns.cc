// Values appended as the bytes of their dtypes.
#include "compare/weights/tree_columns.h"

#include <fmt/format.h>

#include <span>

namespace rharness {
namespace {

template <class T>
bool Append(auto value, std::string* bytes) {
  const auto as = static_cast<T>(value);
  bytes->append(reinterpret_cast<const char*>(&as), sizeof(T));
  if constexpr (std::is_integral_v<T>) return static_cast<std::int64_t>(as) == value;
  return true;
}

}  // namespace

bool TreeColumns::Add(std::string_view name, std::int64_t value) {
  Column& column = columns_.find(name)->second;
  ++column.count;
  switch (column.dtype) {
    case DType::kU8:
      return Append<std::uint8_t>(value, &column.bytes);
    case DType::kI32:
      return Append<std::int32_t>(value, &column.bytes);
    case DType::kI64:
      return Append<std::int64_t>(value, &column.bytes);
    case DType::kF32:
      return Append<float>(value, &column.bytes);
    default:
      return Append<double>(value, &column.bytes);
  }
}

bool TreeColumns::Add(std::string_view name, double value) {
  Column& column = columns_.find(name)->second;
  ++column.count;
  if (column.dtype == DType::kF32) return Append<float>(value, &column.bytes);
  return column.dtype == DType::kF64 && Append<double>(value, &column.bytes);
}

void TreeColumns::MoveTo(std::string_view stated_at, PlacedParts* parts) {
  for (auto& [name, column] : columns_) {
    parts->tensors.push_back({.name = name,
                              .dtype = column.dtype,
                              .shape = {column.count},
                              .runs = {},
                              .content = std::move(column.bytes),
                              .crc32c = {},
                              .stated_at = std::string(stated_at)});
  }
  columns_.clear();
}

Result<std::string> ReadTreeModel(const InputFile& file) {
  if (file.size_bytes() > kMaxTreeModelBytes) {
    return Unsupported(fmt::format("a model of trees of {} bytes; expected at most {}",
                                   file.size_bytes(), kMaxTreeModelBytes),
                       file.name());
  }
  std::string text(file.size_bytes(), '\0');
  RETURN_IF_ERROR(file.ReadAt(0, std::as_writable_bytes(std::span(text))));
  return text;
}

}  // namespace rharness
