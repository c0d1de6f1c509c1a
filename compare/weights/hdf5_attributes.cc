// The parts of an attribute's message, and texts of variable length; see hdf5_attributes.h.
#include "compare/weights/hdf5_attributes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compare/weights/element_formats.h"
#include "compare/weights/hdf5_file.h"
#include "compare/weights/hdf5_types.h"
#include "harness/base/digest.h"

namespace rharness {
namespace {

constexpr std::size_t kReferenceBytes = 16;  // of a text of variable length: size, heap, index

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
    const std::size_t size = Hdf5Number(content, 2 + 2 * i, 2);
    const std::size_t stored = padded ? (size + 7) / 8 * 8 : size;
    if (stored > content.size() - at) return std::nullopt;
    *all[i] = content.substr(at, size);
    at += stored;
  }
  parts.data = content.substr(at);
  return parts;
}

// The sizes of a space; none: it has no values. `valid`: whether it could be read.
std::optional<std::vector<std::uint64_t>> ShapeOf(std::string_view space, bool* valid) {
  constexpr std::size_t kMostDimensions = 32;  // H5S_MAX_RANK
  constexpr char kNull = 2;
  *valid = space.size() >= 4 && (space[0] == 1 || space[0] == 2);
  if (!*valid) return std::nullopt;
  const bool second = space[0] == 2;
  if (second && space[3] == kNull) return std::nullopt;
  const std::size_t rank = static_cast<unsigned char>(space[1]), begin = second ? 4 : 8;
  *valid = rank <= kMostDimensions && space.size() >= begin + 8 * rank;
  if (!*valid) return std::nullopt;
  std::vector<std::uint64_t> shape;
  for (std::size_t i = 0; i < rank; ++i) shape.push_back(Hdf5Number(space, begin + 8 * i, 8));
  return shape;
}

// None: more than a file can hold.
std::optional<std::uint64_t> CountOf(const std::vector<std::uint64_t>& shape) {
  std::uint64_t count = 1;
  for (const std::uint64_t size : shape) {
    if (__builtin_mul_overflow(count, size, &count)) return std::nullopt;
  }
  return count;
}

// A list of texts that end with their first zero, or are filled up with zeros.
Result<std::vector<std::string>> FixedTexts(const AttributeParts& parts, std::uint64_t count) {
  constexpr unsigned kEndsWithZero = 0;
  const std::size_t size = Hdf5Number(parts.type, 4, 4);
  if (size == 0 || count > parts.data.size() / size) {
    return WrongAttribute("texts beyond their attribute");
  }
  const bool ends = (static_cast<unsigned>(parts.type[1]) & 15U) == kEndsWithZero;
  std::vector<std::string> texts;
  for (std::uint64_t i = 0; i < count; ++i) {
    std::string_view text = parts.data.substr(i * size, size);
    text = text.substr(0, ends ? text.find('\0') : text.find_last_not_of('\0') + 1);
    texts.emplace_back(text);
  }
  return texts;
}

Result<std::vector<std::string>> VariableTexts(const AttributeParts& parts, std::uint64_t count,
                                               Hdf5GlobalHeaps* heaps) {
  if (count > parts.data.size() / kReferenceBytes) {
    return WrongAttribute("texts beyond their attribute");
  }
  std::vector<std::string> texts;
  std::uint64_t bytes = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::string_view reference = parts.data.substr(i * kReferenceBytes, kReferenceBytes);
    const std::uint64_t size = Hdf5Number(reference, 0, 4);
    bytes += size;
    if (bytes > kMaxHdf5TextBytes) return WrongAttribute("an attribute of too many bytes");
    std::string text;
    if (size != 0) {
      ASSIGN_OR_RETURN(
          text, heaps->Object(Hdf5Number(reference, 4, 8), Hdf5Number(reference, 12, 4), size));
    }
    texts.push_back(std::move(text));
  }
  return texts;
}

template <class Format>
double ValueAt(std::uint64_t bits) {
  using Bits = typename Format::Bits;
  const auto own = static_cast<Bits>(bits);
  if (Format::IsFinite(own) || Format::KindOf(own) == NonFinite::kNan) {
    return Format::IsFinite(own) ? Format::ValueOf(own) : std::nan("");
  }
  return Format::KindOf(own) == NonFinite::kPlusInfinity ? HUGE_VAL : -HUGE_VAL;
}

// One number, its bytes from the least on.
Json NumberOf(DType dtype, std::uint64_t bits) {
  switch (dtype) {
    case DType::kBool:
      return bits <= 1 ? Json(bits == 1) : Json(bits);
    case DType::kI8:
      return static_cast<std::int8_t>(bits);
    case DType::kI16:
      return static_cast<std::int16_t>(bits);
    case DType::kI32:
      return static_cast<std::int32_t>(bits);
    case DType::kI64:
      return static_cast<std::int64_t>(bits);
    case DType::kF16:
      return ValueAt<F16Format>(bits);
    case DType::kBF16:
      return ValueAt<BF16Format>(bits);
    case DType::kF32:
      return ValueAt<F32Format>(bits);
    case DType::kF64:
      return ValueAt<F64Format>(bits);
    default:
      return bits;
  }
}

Json::Array NumbersOf(const Hdf5NumberType& type, std::string_view data, std::uint64_t count) {
  const std::size_t size = static_cast<std::size_t>(BitsOf(type.dtype)) / 8;
  Json::Array values;
  for (std::uint64_t i = 0; i < count; ++i) {
    std::string bytes(data.substr(i * size, size));
    if (type.swapped) std::ranges::reverse(bytes);
    values.push_back(NumberOf(type.dtype, Hdf5Number(bytes, 0, size)));
  }
  return values;
}

Json ShaOf(const AttributeParts& parts, std::string_view data) {
  Sha256 sha;
  for (const std::string_view part : {parts.type, parts.space, data}) {
    sha.UpdateU64(part.size());
    sha.Update(part);
  }
  return Json::MakeObject({{"sha256", ToHex(sha.Finish())}});
}

// A text that JSON cannot hold stands there by its digest.
Json::Array TextsAsJson(const std::vector<std::string>& texts) {
  Json::Array values;
  for (const std::string& text : texts) {
    Json value(text);
    const auto again = ParseJson(value.Dump(), "");
    const bool holds = again.ok() && again->AsString() == text;
    values.push_back(holds ? std::move(value) : Json::MakeObject({{"sha256", Sha256HexOf(text)}}));
  }
  return values;
}

Json Shaped(Json::Array values, const std::vector<std::uint64_t>& shape) {
  if (shape.empty() && values.size() == 1) return std::move(values.front());
  if (shape.size() == 1) return Json::MakeArray(std::move(values));
  Json::Array sizes(shape.begin(), shape.end());
  return Json::MakeObject({{"shape", Json::MakeArray(std::move(sizes))},
                           {"values", Json::MakeArray(std::move(values))}});
}

// What the values of a type point to, or hold in a form of their own; empty: they are plain bytes.
std::string_view UnreadType(Hdf5Class kind) {
  switch (kind) {
    case Hdf5Class::kCompound:
      return "is a compound of values";
    case Hdf5Class::kReference:
      return "is a reference";
    case Hdf5Class::kVariable:
      return "is a sequence of a length of its own";
    case Hdf5Class::kArray:
      return "is an array as a type";
    default:
      return {};
  }
}

// Whether a type may hold what points elsewhere, at any depth: each type begins with a byte of its
// version and class. A name in a compound that has such a byte is taken for one.
bool MayPoint(std::string_view type) {
  return std::ranges::any_of(type, [](char byte) {
    const std::string_view head(&byte, 1);
    const Hdf5Class kind = Hdf5ClassOf(head);
    constexpr unsigned kNewestVersion = 5;
    const unsigned version = static_cast<unsigned char>(byte) >> 4U;
    return (kind == Hdf5Class::kReference || kind == Hdf5Class::kVariable) && version > 0 &&
           version <= kNewestVersion;
  });
}

Status ReadValue(const AttributeParts& parts, Hdf5GlobalHeaps* heaps, Hdf5Attribute* out) {
  bool valid = false;
  const auto shape = ShapeOf(parts.space, &valid);
  if (!valid) return WrongAttribute("an attribute without a shape");
  if (!shape) return {};
  const std::optional<std::uint64_t> count = CountOf(*shape);
  if (!count) return WrongAttribute("an attribute of more values than its bytes");
  const Hdf5Class kind = Hdf5ClassOf(parts.type);
  constexpr unsigned kTextOfVariable = 1;
  const bool variable = kind == Hdf5Class::kVariable &&
                        (static_cast<unsigned>(parts.type[1]) & 15U) == kTextOfVariable;
  if (kind == Hdf5Class::kText || variable) {
    if (*count > kMaxHdf5Texts) return WrongAttribute("an attribute of too many texts");
    ASSIGN_OR_RETURN(out->texts,
                     variable ? VariableTexts(parts, *count, heaps) : FixedTexts(parts, *count));
    out->value = Shaped(TextsAsJson(*out->texts), *shape);
    return {};
  }
  out->unread = UnreadType(kind);
  out->points = !out->unread.empty() && MayPoint(parts.type);
  if (!out->unread.empty()) return {};
  const std::uint64_t size = Hdf5Number(parts.type, 4, 4);
  if (size == 0 || *count > parts.data.size() / size) {
    return WrongAttribute("values beyond their attribute");
  }
  const auto type = Hdf5NumberTypeOf(parts.type);
  out->value = type && *count <= kMaxHdf5Numbers
                   ? Shaped(NumbersOf(*type, parts.data, *count), *shape)
                   : ShaOf(parts, parts.data.substr(0, *count * size));
  return {};
}

}  // namespace

Result<std::vector<Hdf5GlobalHeaps::Place>> Hdf5GlobalHeaps::PlacesOf(std::uint64_t heap) {
  ASSIGN_OR_RETURN(const std::string head, take_(heap, 16));
  if (!head.starts_with("GCOL")) return WrongAttribute("expected GCOL");
  const std::uint64_t collection = Hdf5Number(head, 8, 8);
  if (collection > 2 * kMaxHdf5TextBytes) return WrongAttribute("a global heap of too many bytes");
  std::vector<Place> places;
  for (std::uint64_t at = 16; at + 16 <= collection;) {
    ASSIGN_OR_RETURN(const std::string object, take_(heap + at, 16));
    const std::uint64_t index = Hdf5Number(object, 0, 2), bytes = Hdf5Number(object, 8, 8);
    if (index == 0 || bytes > collection - at - 16) break;
    if (++objects_ > kMaxHdf5HeapObjects) return WrongAttribute("global heaps of too many objects");
    places.push_back({.index = index, .at = heap + at + 16, .bytes = bytes});
    at += 16 + (bytes + 7) / 8 * 8;
  }
  std::ranges::stable_sort(places, {}, &Place::index);
  return places;
}

Result<std::string> Hdf5GlobalHeaps::Object(std::uint64_t heap, std::uint64_t index,
                                            std::uint64_t size) {
  auto known = known_.find(heap);
  if (known == known_.end()) {
    ASSIGN_OR_RETURN(std::vector<Place> places, PlacesOf(heap));
    known = known_.emplace(heap, std::move(places)).first;
  }
  const auto place = std::ranges::lower_bound(known->second, index, {}, &Place::index);
  if (place == known->second.end() || place->index != index) {
    return WrongAttribute("a text that is not in its heap");
  }
  if (size > place->bytes) return WrongAttribute("a text beyond its object in the heap");
  return take_(place->at, size);
}

Result<Hdf5Attribute> ReadHdf5Attribute(std::string_view content, Hdf5GlobalHeaps* heaps) {
  const std::optional<AttributeParts> parts = SplitAttribute(content);
  if (!parts) return WrongAttribute("a malformed attribute");
  Hdf5Attribute attribute;
  attribute.name = parts->name.substr(0, parts->name.find('\0'));
  const bool elsewhere = content[0] != 1 && (static_cast<unsigned char>(content[1]) & 3U) != 0;
  if (elsewhere) {
    attribute.unread = "has a type or a shape that is stored elsewhere";
    attribute.points = true;
    return attribute;
  }
  if (parts->type.size() < 8) return WrongAttribute("an attribute without a type");
  RETURN_IF_ERROR(ReadValue(*parts, heaps, &attribute));
  return attribute;
}

}  // namespace rharness
