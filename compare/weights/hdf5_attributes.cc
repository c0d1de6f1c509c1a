// The parts of an attribute's message, and texts of variable length; see hdf5_attributes.h.
#include "compare/weights/hdf5_attributes.h"

#include <cstring>

namespace rharness {
namespace {

constexpr std::size_t kReferenceBytes = 16;  // of a text of variable length: size, heap, index

std::uint64_t LittleNumber(std::string_view bytes, std::size_t at, std::size_t size) {
  std::uint64_t value = 0;
  std::memcpy(&value, bytes.data() + at, size);
  return value;
}

Error WrongAttribute(std::string_view what) { return InvalidInput(std::string(what), ""); }

struct AttributeParts {
  std::string_view name, type, space, data;
};

// Version 1 pads each part to 8 bytes; version 3 has a byte for the name's character set.
std::optional<AttributeParts> SplitAttribute(std::string_view content) {
  if (content.size() < 9) return std::nullopt;
  const auto version = static_cast<unsigned char>(content[0]);
  const bool padded = version == 1;
  if (version < 1 || version > 3) return std::nullopt;
  std::size_t at = version == 3 ? 9 : 8;
  AttributeParts parts;
  std::string_view* const all[] = {&parts.name, &parts.type, &parts.space};
  for (std::size_t i = 0; i < 3; ++i) {
    const std::size_t size = LittleNumber(content, 2 + 2 * i, 2);
    const std::size_t stored = padded ? (size + 7) / 8 * 8 : size;
    if (stored > content.size() - at) return std::nullopt;
    *all[i] = content.substr(at, size);
    at += stored;
  }
  parts.data = content.substr(at);
  return parts;
}

// The number of values of a space; none: a version or rank that no list of texts has.
std::optional<std::uint64_t> CountOf(std::string_view space) {
  if (space.size() < 4) return std::nullopt;
  const auto rank = static_cast<unsigned char>(space[1]);
  const std::size_t begin = space[0] == 2 ? 4 : 8;
  if (rank == 0) return 1;
  if (rank > 1 || space.size() < begin + 8) return std::nullopt;
  return LittleNumber(space, begin, 8);
}

// The object of a global heap.
Result<std::string> HeapObject(std::uint64_t heap, std::uint64_t index, std::uint64_t size,
                               const TakeBytes& take) {
  ASSIGN_OR_RETURN(const std::string head, take(heap, 16));
  if (!head.starts_with("GCOL")) return WrongAttribute("expected GCOL");
  const std::uint64_t collection = LittleNumber(head, 8, 8);
  if (collection > 2 * kMaxHdf5TextBytes) return WrongAttribute("a global heap of too many bytes");
  for (std::uint64_t at = 16; at + 16 <= collection;) {
    ASSIGN_OR_RETURN(const std::string object, take(heap + at, 16));
    const std::uint64_t id = LittleNumber(object, 0, 2), bytes = LittleNumber(object, 8, 8);
    if (id == 0 || bytes > collection - at - 16) break;
    if (id == index) {
      if (size > bytes) return WrongAttribute("a text beyond its object in the heap");
      return take(heap + at + 16, size);
    }
    at += 16 + (bytes + 7) / 8 * 8;
  }
  return WrongAttribute("a text that is not in its heap");
}

Result<std::optional<std::vector<std::string>>> FixedTexts(const AttributeParts& parts,
                                                           std::uint64_t count) {
  const std::size_t size = LittleNumber(parts.type, 4, 4);
  if (size == 0 || count > parts.data.size() / size)
    return WrongAttribute("texts beyond their attribute");
  std::vector<std::string> texts;
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::string_view text = parts.data.substr(i * size, size);
    texts.emplace_back(text.substr(0, text.find('\0')));
  }
  return std::optional(std::move(texts));
}

Result<std::optional<std::vector<std::string>>> VariableTexts(const AttributeParts& parts,
                                                              std::uint64_t count,
                                                              const TakeBytes& take) {
  if (count > parts.data.size() / kReferenceBytes)
    return WrongAttribute("texts beyond their attribute");
  std::vector<std::string> texts;
  std::uint64_t bytes = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::string_view reference = parts.data.substr(i * kReferenceBytes, kReferenceBytes);
    const std::uint64_t size = LittleNumber(reference, 0, 4);
    bytes += size;
    if (bytes > kMaxHdf5TextBytes) return WrongAttribute("an attribute of too many bytes");
    std::string text;
    if (size != 0) {
      ASSIGN_OR_RETURN(text, HeapObject(LittleNumber(reference, 4, 8),
                                        LittleNumber(reference, 12, 4), size, take));
    }
    texts.push_back(std::move(text));
  }
  return std::optional(std::move(texts));
}

}  // namespace

Result<std::optional<Hdf5Attribute>> ReadHdf5Attribute(std::string_view content,
                                                       const TakeBytes& take) {
  const std::optional<AttributeParts> parts = SplitAttribute(content);
  if (!parts) return WrongAttribute("a malformed attribute");
  const bool elsewhere = content[0] != 1 && (static_cast<unsigned char>(content[1]) & 3U) != 0;
  if (elsewhere || parts->type.size() < 8) return std::optional<Hdf5Attribute>();
  const std::optional<std::uint64_t> count = CountOf(parts->space);
  if (!count || *count > kMaxHdf5Texts) return std::optional<Hdf5Attribute>();
  constexpr unsigned kText = 3, kVariable = 9, kTextOfVariable = 1;
  const auto kind = static_cast<unsigned>(parts->type[0]) & 15U;
  const bool variable =
      kind == kVariable && (static_cast<unsigned>(parts->type[1]) & 15U) == kTextOfVariable;
  if (kind != kText && !variable) return std::optional<Hdf5Attribute>();
  ASSIGN_OR_RETURN(auto texts,
                   variable ? VariableTexts(*parts, *count, take) : FixedTexts(*parts, *count));
  const std::string_view name = parts->name;
  return std::optional<Hdf5Attribute>(
      {std::string(name.substr(0, name.find('\0'))), std::move(*texts)});
}

}  // namespace rharness
