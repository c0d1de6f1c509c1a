// Numbers of every type that the libraries know.
#include "tests/gpu/emulator/libraries/elements.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstring>

#include "tests/gpu/emulator/short_floats.h"

namespace rharness {
namespace {

PtxType ShortTypeOf(Element element) {
  switch (element) {
    case Element::kBf16:
      return PtxType::kBf16;
    case Element::kE4m3:
      return PtxType::kE4m3;
    case Element::kE5m2:
      return PtxType::kE5m2;
    default:
      return PtxType::kF16;
  }
}

const std::vector<double>& ShortTable(Element element) {
  static std::array<std::vector<double>, 8> tables;
  std::vector<double>& table = tables[static_cast<std::size_t>(element)];
  if (table.empty()) {
    table.resize(std::size_t{1} << (8 * SizeOf(element)));
    const ShortFormat format = ShortFormatOf(ShortTypeOf(element));
    for (std::size_t i = 0; i < table.size(); ++i) {
      table[i] = DecodeShort(format, static_cast<std::uint32_t>(i));
    }
  }
  return table;
}

template <class T>
T Bits(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof(value));
  return value;
}

// The upper half of an fp32, its lower half rounded away.
std::uint16_t ToBf16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if (std::isnan(value)) return 0x7fff;
  return static_cast<std::uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

}  // namespace

std::size_t SizeOf(Element element) {
  constexpr std::size_t sizes[] = {8, 4, 2, 2, 1, 1, 1, 4};
  return sizes[static_cast<std::size_t>(element)];
}

double Load(Element element, const std::byte* at) {
  switch (element) {
    case Element::kF64:
      return Bits<double>(at);
    case Element::kF32:
      return Bits<float>(at);
    case Element::kI8:
      return Bits<std::int8_t>(at);
    case Element::kI32:
      return Bits<std::int32_t>(at);
    case Element::kBf16:
      return std::bit_cast<float>(std::uint32_t{Bits<std::uint16_t>(at)} << 16);
    case Element::kF16:
      return ShortTable(element)[Bits<std::uint16_t>(at)];
    default:
      return ShortTable(element)[Bits<std::uint8_t>(at)];
  }
}

void Store(Element element, double value, std::byte* at) {
  const auto put = [&](auto bits) { std::memcpy(at, &bits, sizeof(bits)); };
  switch (element) {
    case Element::kF64:
      return put(value);
    case Element::kF32:
      return put(static_cast<float>(value));
    case Element::kI8:
      return put(static_cast<std::int8_t>(value));
    case Element::kI32:
      return put(static_cast<std::int32_t>(value));
    case Element::kBf16:
      return put(ToBf16(static_cast<float>(value)));
    default:
      break;
  }
  const ShortFormat format = ShortFormatOf(ShortTypeOf(element));
  const std::uint32_t bits =
      EncodeShort(format, static_cast<float>(value), PtxRounding::kNearest, false);
  if (SizeOf(element) == 2) return put(static_cast<std::uint16_t>(bits));
  put(static_cast<std::uint8_t>(bits));
}

void LoadRun(Element element, const std::byte* from, std::size_t count, double* to) {
  const auto load = [&](auto zero) {
    for (std::size_t i = 0; i < count; ++i) {
      to[i] = static_cast<double>(Bits<decltype(zero)>(from + i * sizeof(zero)));
    }
  };
  const auto look_up = [&](auto zero) {
    const double* table = ShortTable(element).data();
    for (std::size_t i = 0; i < count; ++i) {
      to[i] = table[Bits<decltype(zero)>(from + i * sizeof(zero))];
    }
  };
  switch (element) {
    case Element::kF64:
      return load(0.0);
    case Element::kF32:
      return load(0.0F);
    case Element::kI8:
      return load(std::int8_t{0});
    case Element::kI32:
      return load(std::int32_t{0});
    case Element::kBf16:
    case Element::kF16:
      return look_up(std::uint16_t{0});
    default:
      return look_up(std::uint8_t{0});
  }
}

std::vector<double> LoadAll(Element element, const std::byte* from, std::size_t count) {
  std::vector<double> values(count);
  LoadRun(element, from, count, values.data());
  return values;
}

}  // namespace rharness
