// Numbers and texts as bytes in the order of their values; see tf_slice.h.
#include "compare/weights/tf_slice.h"

namespace rharness {
namespace {

using std::string_view_literals::operator""sv;  // NOLINT: used in literals, unseen by clang-tidy

// OrderedCode::WriteNumIncreasing and WriteSignedNumIncreasing: texts in the order of the numbers.
void AppendOrdered(std::uint64_t value, std::string* out) {
  std::string digits;
  for (; value != 0; value >>= 8) digits.insert(digits.begin(), static_cast<char>(value));
  *out += static_cast<char>(digits.size());
  *out += digits;
}
void AppendOrderedSigned(std::int64_t value, std::string* out) {
  const auto bits = static_cast<std::uint64_t>(value < 0 ? ~value : value);
  // Of n bytes, n bits say so, and one is the sign.
  std::size_t size = 1;
  while (size < 10 && (bits >> (7 * size - 1)) != 0 && 7 * size - 1 < 64) ++size;
  std::string bytes(10, value < 0 ? '\xff' : '\0');
  for (std::size_t i = 0; i < 8; ++i) bytes[9 - i] = static_cast<char>(value >> (8 * i));
  bytes.erase(0, 10 - size);
  const std::uint64_t mark = 0xffffU << (16 - size) & 0xffffU;
  bytes[0] = static_cast<char>(bytes[0] ^ static_cast<char>(mark >> 8));
  if (size > 1) bytes[1] = static_cast<char>(bytes[1] ^ static_cast<char>(mark));
  *out += bytes;
}

}  // namespace

std::string KeyOfTfSlice(std::string_view name, const TfSlice& slice) {
  std::string key;
  AppendOrdered(0, &key);
  for (const char c : name) {
    key += c;
    if (c == '\0') key += '\xff';
    if (c == '\xff') key += '\0';
  }
  key += "\0\1"sv;
  AppendOrdered(slice.size(), &key);
  for (const TfExtent& extent : slice) {
    AppendOrderedSigned(extent.start, &key);
    AppendOrderedSigned(extent.length, &key);
  }
  return key;
}

}  // namespace rharness
