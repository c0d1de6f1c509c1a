// Logic, shifts, moves and selections. Source: PTX ISA, "Logic and Shift Instructions", "Data
// Movement and Conversion Instructions".
#include <algorithm>

#include "tests/gpu/emulator/lane_values.h"

namespace rharness {
namespace {

std::uint64_t MaskOf(unsigned bytes) {
  return bytes >= 8 ? ~std::uint64_t{0} : (std::uint64_t{1} << (8 * bytes)) - 1;
}

// Of predicates one bit counts, of the others those of the type.
template <class F>
void OnBits(WarpState& warp, const PtxInstruction& i, F f) {
  const std::uint64_t mask = i.type == PtxType::kPredicate ? 1 : MaskOf(PtxBytes(i.type));
  std::uint64_t* d = warp.Slot(i.Slot(0));
  const std::uint64_t* a = warp.Slot(i.Slot(1));
  const std::uint64_t* b = warp.Slot(i.Slot(i.operands.size() > 2 ? 2 : 1));
  ForActive(warp, [&](unsigned lane) { d[lane] = f(a[lane] & mask, b[lane] & mask) & mask; });
}

void And(WarpState& warp, const PtxInstruction& i) {
  OnBits(warp, i, [](std::uint64_t a, std::uint64_t b) { return a & b; });
}
void Or(WarpState& warp, const PtxInstruction& i) {
  OnBits(warp, i, [](std::uint64_t a, std::uint64_t b) { return a | b; });
}
void Xor(WarpState& warp, const PtxInstruction& i) {
  OnBits(warp, i, [](std::uint64_t a, std::uint64_t b) { return a ^ b; });
}
void Not(WarpState& warp, const PtxInstruction& i) {
  OnBits(warp, i, [](std::uint64_t a, std::uint64_t) { return ~a; });
}

// Shift amounts are 32 bits and are cut to the width, so that all bits go.
template <class T, bool kLeft>
void Shift(WarpState& warp, const PtxInstruction& i) {
  constexpr std::uint32_t kBits = 8 * sizeof(T);
  std::uint64_t* d = warp.Slot(i.Slot(0));
  const std::uint64_t *a = warp.Slot(i.Slot(1)), *b = warp.Slot(i.Slot(2));
  ForActive(warp, [&](unsigned lane) {
    const T value = FromBits<T>(a[lane]);
    std::uint32_t by = static_cast<std::uint32_t>(b[lane]);
    if (by >= kBits) {
      const bool ones = std::is_signed_v<T> && !kLeft && value < 0;
      d[lane] = ToBits(static_cast<T>(ones ? -1 : 0));
      return;
    }
    d[lane] = ToBits(static_cast<T>(kLeft ? static_cast<std::uint64_t>(value) << by
                                          : static_cast<std::uint64_t>(value >> by)));
  });
}

template <bool kLeft>
PtxOperation ShiftOf(PtxType type) {
  switch (type) {
    case PtxType::kU16:
      return Shift<std::uint16_t, kLeft>;
    case PtxType::kS16:
      return Shift<std::int16_t, kLeft>;
    case PtxType::kU32:
      return Shift<std::uint32_t, kLeft>;
    case PtxType::kS32:
      return Shift<std::int32_t, kLeft>;
    case PtxType::kU64:
      return Shift<std::uint64_t, kLeft>;
    case PtxType::kS64:
      return Shift<std::int64_t, kLeft>;
    default:
      return nullptr;
  }
}

void Move(WarpState& warp, const PtxInstruction& i) {
  OnBits(warp, i, [](std::uint64_t a, std::uint64_t) { return a; });
}
// mov.b64 {%r1,%r2}, %rd1: the first has the low bits.
void Unpack(WarpState& warp, const PtxInstruction& i) {
  const std::vector<int>& parts = i.operands[0].slots;
  const unsigned bytes = PtxBytes(i.type) / static_cast<unsigned>(parts.size());
  const std::uint64_t* a = warp.Slot(i.Slot(1));
  ForActive(warp, [&](unsigned lane) {
    const std::uint64_t value = a[lane];
    for (std::size_t k = 0; k < parts.size(); ++k) {
      warp.Slot(parts[k])[lane] = (value >> (8 * bytes * k)) & MaskOf(bytes);
    }
  });
}
void Pack(WarpState& warp, const PtxInstruction& i) {
  const std::vector<int>& parts = i.operands[1].slots;
  const unsigned bytes = PtxBytes(i.type) / static_cast<unsigned>(parts.size());
  std::uint64_t* d = warp.Slot(i.Slot(0));
  ForActive(warp, [&](unsigned lane) {
    std::uint64_t value = 0;
    for (std::size_t k = 0; k < parts.size(); ++k) {
      value |= (warp.Slot(parts[k])[lane] & MaskOf(bytes)) << (8 * bytes * k);
    }
    d[lane] = value;
  });
}

void Select(WarpState& warp, const PtxInstruction& i) {
  std::uint64_t* d = warp.Slot(i.Slot(0));
  const std::uint64_t *a = warp.Slot(i.Slot(1)), *b = warp.Slot(i.Slot(2)),
                      *p = warp.Slot(i.Slot(3));
  const std::uint64_t mask = MaskOf(PtxBytes(i.type));
  ForActive(warp, [&](unsigned lane) { d[lane] = ((p[lane] & 1) != 0 ? a : b)[lane] & mask; });
}

// prmt.b32: each byte of the result is one of eight, or eight times the sign of one.
void Permute(WarpState& warp, const PtxInstruction& i) {
  std::uint64_t* d = warp.Slot(i.Slot(0));
  const std::uint64_t *a = warp.Slot(i.Slot(1)), *b = warp.Slot(i.Slot(2)),
                      *c = warp.Slot(i.Slot(3));
  ForActive(warp, [&](unsigned lane) {
    const std::uint64_t bytes = (a[lane] & 0xffffffffU) | (b[lane] << 32);
    std::uint64_t result = 0;
    for (unsigned k = 0; k < 4; ++k) {
      const std::uint64_t selector = c[lane] >> (4 * k);
      std::uint64_t byte = (bytes >> (8 * (selector & 7))) & 0xff;
      if ((selector & 8) != 0) byte = byte >= 0x80 ? 0xff : 0;
      result |= byte << (8 * k);
    }
    d[lane] = result;
  });
}

// bfi: b with `length` bits of a at `position`.
void InsertField(WarpState& warp, const PtxInstruction& i) {
  const unsigned bits = 8 * PtxBytes(i.type);
  std::uint64_t* d = warp.Slot(i.Slot(0));
  const std::uint64_t *a = warp.Slot(i.Slot(1)), *b = warp.Slot(i.Slot(2)),
                      *c = warp.Slot(i.Slot(3)), *e = warp.Slot(i.Slot(4));
  ForActive(warp, [&](unsigned lane) {
    const std::uint64_t position = c[lane] & 0xff, length = e[lane] & 0xff;
    std::uint64_t field = length >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << length) - 1;
    field = position >= bits ? 0 : (field << position) & MaskOf(PtxBytes(i.type));
    const std::uint64_t moved = position >= bits ? 0 : a[lane] << position;
    d[lane] = ((b[lane] & ~field) | (moved & field)) & MaskOf(PtxBytes(i.type));
  });
}

// clz, popc, brev.
void CountBits(WarpState& warp, const PtxInstruction& i) {
  const unsigned bits = 8 * PtxBytes(i.type);
  std::uint64_t* d = warp.Slot(i.Slot(0));
  const std::uint64_t* a = warp.Slot(i.Slot(1));
  ForActive(warp, [&](unsigned lane) {
    const std::uint64_t value = a[lane] & MaskOf(PtxBytes(i.type));
    if (i.opcode == "popc") {
      d[lane] = static_cast<std::uint64_t>(std::popcount(value));
    } else if (i.opcode == "clz") {
      d[lane] = static_cast<std::uint64_t>(std::countl_zero(value)) - (64 - bits);
    } else {
      std::uint64_t turned = 0;
      for (unsigned k = 0; k < bits; ++k) turned |= ((value >> k) & 1) << (bits - 1 - k);
      d[lane] = turned;
    }
  });
}

}  // namespace

PtxOperation BitOperation(const PtxInstruction& i) {
  const std::string& name = i.opcode;
  if (name == "mov") {
    if (i.operands[0].slots.size() > 1) return Unpack;
    return i.operands[1].slots.size() > 1 ? Pack : Move;
  }
  if (name == "and") return And;
  if (name == "or") return Or;
  if (name == "xor") return Xor;
  if (name == "not") return Not;
  if (name == "shl") return ShiftOf<true>(i.type);
  if (name == "shr") return ShiftOf<false>(i.type);
  if (name == "selp") return Select;
  if (name == "prmt" && i.modifiers.size() == 1) return Permute;
  if (name == "bfi") return InsertField;
  return name == "clz" || name == "popc" || name == "brev" ? CountBits : nullptr;
}

}  // namespace rharness
