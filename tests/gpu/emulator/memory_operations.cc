// ld, st, atom, red. Source: PTX ISA, "Data Movement and Conversion Instructions", "Parallel
// Synchronization and Communication Instructions".
#include <algorithm>
#include <cstring>

#include "tests/gpu/emulator/lane_values.h"
#include "tests/gpu/emulator/memory_access.h"

namespace rharness {
namespace {

std::uint64_t AddressOf(WarpState& warp, const PtxOperand& operand, unsigned lane) {
  return warp.Slot(operand.slots[0])[lane] + static_cast<std::uint64_t>(operand.offset);
}

// A signed value is extended: its register may be wider.
std::uint64_t ReadValue(const std::byte* from, PtxType type) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, from, PtxBytes(type));
  switch (type) {
    case PtxType::kS8:
      return static_cast<std::uint64_t>(FromBits<std::int8_t>(bits));
    case PtxType::kS16:
      return static_cast<std::uint64_t>(FromBits<std::int16_t>(bits));
    case PtxType::kS32:
      return static_cast<std::uint64_t>(FromBits<std::int32_t>(bits));
    default:
      return bits;
  }
}

MemoryAccess AccessOf(const PtxInstruction& i, std::size_t values) {
  MemoryAccess access{i.space, 0, PtxBytes(i.type), static_cast<unsigned>(values)};
  access.strong = i.Has("volatile") || i.Has("relaxed");
  return access;
}

void LoadMemory(WarpState& warp, const PtxInstruction& i) {
  const std::vector<int>& to = i.operands[0].slots;
  MemoryAccess access = AccessOf(i, to.size());
  ForActive(warp, [&](unsigned lane) {
    access.address = AddressOf(warp, i.operands[1], lane);
    const std::byte* from = Reach(warp, i, lane, access);
    if (from == nullptr) return;
    for (std::size_t k = 0; k < to.size(); ++k) {
      warp.Slot(to[k])[lane] = ReadValue(from + k * access.bytes, i.type);
    }
  });
}

void StoreMemory(WarpState& warp, const PtxInstruction& i) {
  const std::vector<int>& values = i.operands[1].slots;
  MemoryAccess access = AccessOf(i, values.size());
  access.write = true;
  ForActive(warp, [&](unsigned lane) {
    access.address = AddressOf(warp, i.operands[0], lane);
    std::byte* to = Reach(warp, i, lane, access);
    if (to == nullptr) return;
    for (std::size_t k = 0; k < values.size(); ++k) {
      std::memcpy(to + k * access.bytes, &warp.Slot(values[k])[lane], access.bytes);
    }
  });
}

// The parser has put a parameter's place into the offset.
std::byte* Argument(WarpState& warp, const PtxInstruction& i, const PtxOperand& operand,
                    unsigned lane, std::size_t bytes) {
  const unsigned area = warp.frame->function->argument_bytes;
  const auto offset = static_cast<std::uint64_t>(operand.offset);
  if (offset + bytes > area) {
    Fail(warp, i, lane, FaultKind::kOutOfBounds, "beyond the parameters");
    return nullptr;
  }
  return warp.frame->arguments.data() + std::size_t{lane} * area + offset;
}

template <bool kLoad>
void MoveParameter(WarpState& warp, const PtxInstruction& i) {
  const std::vector<int>& values = i.operands[kLoad ? 0 : 1].slots;
  const std::size_t bytes = PtxBytes(i.type);
  ForActive(warp, [&](unsigned lane) {
    std::byte* at = Argument(warp, i, i.operands[kLoad ? 1 : 0], lane, bytes * values.size());
    if (at == nullptr) return;
    for (std::size_t k = 0; k < values.size(); ++k, at += bytes) {
      std::uint64_t& value = warp.Slot(values[k])[lane];
      if (kLoad) {
        value = ReadValue(at, i.type);
      } else {
        std::memcpy(at, &value, bytes);
      }
    }
  });
}

struct Added {
  template <class T>
  static T Of(T a, T b) {
    if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
    } else {
      return a + b;
    }
  }
};
struct AtLeast {
  template <class T>
  static T Of(T a, T b) {
    return std::max(a, b);
  }
};
struct AtMost {
  template <class T>
  static T Of(T a, T b) {
    return std::min(a, b);
  }
};
struct Exchanged {
  template <class T>
  static T Of(T, T b) {
    return b;
  }
};

// atom d, [a], b and red [a], b: one lane after the other, in the order of the launch.
template <class T, class Op>
void Atomic(WarpState& warp, const PtxInstruction& i) {
  const bool result = i.opcode == "atom";
  const PtxOperand& at = i.operands[result ? 1 : 0];
  const std::uint64_t* b = warp.Slot(i.Slot(result ? 2 : 1));
  MemoryAccess access{.space = i.space, .bytes = sizeof(T), .write = true, .atomic = true};
  ForActive(warp, [&](unsigned lane) {
    access.address = AddressOf(warp, at, lane);
    std::byte* to = Reach(warp, i, lane, access);
    if (to == nullptr) return;
    T before;
    std::memcpy(&before, to, sizeof(T));
    const T after = FromBits<T>(ToBits(Op::Of(before, FromBits<T>(b[lane]))));
    std::memcpy(to, &after, sizeof(T));
    if (result) warp.Slot(i.Slot(0))[lane] = ToBits(before);
  });
}

template <class Op>
PtxOperation AtomicOf(PtxType type) {
  switch (type) {
    case PtxType::kU32:
      return Atomic<std::uint32_t, Op>;
    case PtxType::kS32:
      return Atomic<std::int32_t, Op>;
    case PtxType::kU64:
      return Atomic<std::uint64_t, Op>;
    case PtxType::kF32:
      return Atomic<float, Op>;
    case PtxType::kF64:
      return Atomic<double, Op>;
    default:
      return nullptr;
  }
}

// atom.cas d, [a], b, c: c where b was.
template <class T>
void CompareAndSwap(WarpState& warp, const PtxInstruction& i) {
  const std::uint64_t *b = warp.Slot(i.Slot(2)), *c = warp.Slot(i.Slot(3));
  MemoryAccess access{.space = i.space, .bytes = sizeof(T), .write = true, .atomic = true};
  ForActive(warp, [&](unsigned lane) {
    access.address = AddressOf(warp, i.operands[1], lane);
    std::byte* to = Reach(warp, i, lane, access);
    if (to == nullptr) return;
    T before;
    std::memcpy(&before, to, sizeof(T));
    const auto after = static_cast<T>(c[lane]);
    if (before == static_cast<T>(b[lane])) std::memcpy(to, &after, sizeof(T));
    warp.Slot(i.Slot(0))[lane] = before;
  });
}

PtxOperation ComparedOf(PtxType type) {
  if (type == PtxType::kU32) return CompareAndSwap<std::uint32_t>;
  return type == PtxType::kU64 ? CompareAndSwap<std::uint64_t> : nullptr;
}

PtxOperation AtomicOperation(const PtxInstruction& i) {
  const std::size_t operands = (i.opcode == "atom" ? 3U : 2U) + (i.Has("cas") ? 1U : 0U);
  if (i.operands.size() != operands || i.operands[i.opcode == "atom" ? 1 : 0].slots.size() != 1)
    return nullptr;
  if (i.Has("add")) return AtomicOf<Added>(i.type);
  if (i.Has("max")) return AtomicOf<AtLeast>(i.type);
  if (i.Has("min")) return AtomicOf<AtMost>(i.type);
  if (i.Has("cas") && i.opcode == "atom") return ComparedOf(i.type);
  return i.Has("exch") ? AtomicOf<Exchanged>(i.type) : nullptr;
}

}  // namespace

PtxOperation MemoryOperation(const PtxInstruction& i) {
  if (i.opcode == "atom" || i.opcode == "red") return AtomicOperation(i);
  const bool load = i.opcode == "ld";
  if (!load && i.opcode != "st") return nullptr;
  const std::size_t values = i.operands[load ? 0 : 1].slots.size();
  const std::size_t named = i.Has("v2") ? 2 : i.Has("v4") ? 4 : 1;
  if (values != named) return nullptr;
  if (i.space == PtxSpace::kParameter) return load ? MoveParameter<true> : MoveParameter<false>;
  if (i.operands[load ? 1 : 0].slots.size() != 1) return nullptr;
  return load ? LoadMemory : StoreMemory;
}

}  // namespace rharness
