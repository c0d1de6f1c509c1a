// Values appended as the bytes of their dtypes.
#include "compare/weights/tree_columns.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
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

constexpr auto kWords = std::to_array<std::pair<std::string_view, double>>({
    {"NaN", std::numeric_limits<double>::quiet_NaN()},
    {"nan", std::numeric_limits<double>::quiet_NaN()},
    {"Infinity", std::numeric_limits<double>::infinity()},
    {"inf", std::numeric_limits<double>::infinity()},
    {"-Infinity", -std::numeric_limits<double>::infinity()},
    {"-inf", -std::numeric_limits<double>::infinity()},
});

// The nearest number of T.
template <class T>
std::optional<T> NumberOf(std::string_view text) {
  const auto digits = text.substr(text.starts_with('-') ? 1 : 0);
  if (digits.empty() || digits[0] < '0' || digits[0] > '9') return std::nullopt;
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
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

bool TreeColumns::AddText(std::string_view name, std::string_view number) {
  if (number == "true" || number == "false") return Add(name, std::int64_t{number == "true"});
  const DType dtype = columns_.find(name)->second.dtype;
  if (dtype == DType::kF32) {
    if (const auto real = NumberOf<float>(number)) return Add(name, double{*real});
  } else if (const auto whole = NumberOf<std::int64_t>(number)) {
    return Add(name, *whole);
  }
  const auto word = std::ranges::find(kWords, number, [](const auto& row) { return row.first; });
  if (word != kWords.end()) return Add(name, word->second);
  const auto real = NumberOf<double>(number);
  if (!real) return false;
  if (dtype == DType::kF64) return Add(name, *real);
  // Too small for F32, or a whole number with a fraction of 0.
  if (dtype == DType::kF32) return std::abs(*real) < 1 && Add(name, *real);
  return std::abs(*real) < 0x1p53 && *real == std::trunc(*real) &&
         Add(name, static_cast<std::int64_t>(*real));
}

std::uint64_t TreeColumns::Count(std::string_view name) const {
  const auto column = columns_.find(name);
  return column == columns_.end() ? 0 : column->second.count;
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
