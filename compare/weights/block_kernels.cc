// The loops in plain C++, and the table of kernels per dtype on this machine.
#include "compare/weights/block_kernels.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include <array>

#include "compare/weights/scalar_kernel.h"
#include "harness/base/result.h"

namespace rharness {
namespace {

template <class Format>
void AddElements(const std::byte* a, const std::byte* b, std::size_t begin, std::size_t end,
                 BlockDifference* block) {
  for (std::size_t i = begin; i < end; ++i) {
    const auto pair = LoadPair<Format>(a, b, i);
    AddPair(pair, Format::ValueOf(pair.x), Format::ValueOf(pair.y), 1, i % BlockDifference::kLanes,
            block);
  }
}

// Two components an element: each is measured, but an element changes once.
template <class Format>
void AddComplex(const std::byte* a, const std::byte* b, std::size_t begin, std::size_t end,
                BlockDifference* block) {
  for (std::size_t i = begin; i < end; ++i) {
    bool differs = false, changes_kind = false, changes_nan = false, changes_zero_sign = false;
    for (const std::size_t part : {2 * i, 2 * i + 1}) {
      const auto pair = LoadPair<Format>(a, b, part);
      differs |= pair.Differs();
      changes_kind |= pair.ChangesKind();
      changes_nan |= pair.ChangesNan();
      changes_zero_sign |= pair.ChangesZeroSign();
      if (!pair.IsFinite()) continue;
      AddFinitePair(pair, Format::ValueOf(pair.x), Format::ValueOf(pair.y), 1,
                    part % BlockDifference::kLanes, block);
    }
    block->differing += differs;
    block->non_finite_changes += changes_kind;
    block->nan_changes += changes_nan;
    block->zero_sign_changes += changes_zero_sign;
  }
}

// Elements packed from the least significant bit of each byte up; only whether they differ.
template <std::size_t kBits>
void AddPacked(const std::byte* a, const std::byte* b, std::size_t begin, std::size_t end,
               BlockDifference* block) {
  for (std::size_t i = begin; i < end; ++i) {
    const std::size_t byte = i * kBits / 8, shift = i * kBits % 8;
    unsigned changed = std::to_integer<unsigned>(a[byte] ^ b[byte]) >> shift;
    if (shift + kBits > 8) {
      changed |= std::to_integer<unsigned>(a[byte + 1] ^ b[byte + 1]) << (8 - shift);
    }
    block->differing += (changed & ((1u << kBits) - 1)) != 0;
  }
}

template <class Format>
const std::array<double, 256>& EightBitValues() {
  static const std::array<double, 256> values = [] {
    std::array<double, 256> table{};
    for (unsigned bits = 0; bits < 256; ++bits) {
      const auto pattern = static_cast<std::uint8_t>(bits);
      if (Format::IsFinite(pattern)) table[bits] = Format::ValueOf(pattern);
    }
    return table;
  }();
  return values;
}

template <class Format>
void AddCounts(const std::uint32_t* counts, BlockDifference* block) {
  const std::array<double, 256>& values = EightBitValues<Format>();
  for (unsigned x = 0; x < 256; ++x) {
    for (unsigned y = 0; y < 256; ++y) {
      const std::uint32_t times = counts[256 * x + y];
      if (times == 0) continue;
      const ElementPair<Format> pair{static_cast<std::uint8_t>(x), static_cast<std::uint8_t>(y)};
      AddPair(pair, values[x], values[y], times, 0, block);
    }
  }
}

template <class Format>
constexpr DTypeKernels Pairs() {
  return {AddElements<Format>, nullptr, nullptr, true};
}

template <class Format>
constexpr DTypeKernels Counts() {
  return {nullptr, nullptr, AddCounts<Format>, true};
}

// How each dtype is measured without vectors.
DTypeKernels ScalarKernelsFor(DType dtype) {
  switch (dtype) {
    case DType::kF4:
      return {AddPacked<4>, nullptr, nullptr, false};
    case DType::kF6E2M3:
    case DType::kF6E3M2:
      return {AddPacked<6>, nullptr, nullptr, false};
    case DType::kBlocks:
      return {AddPacked<8>, nullptr, nullptr, false};
    case DType::kBool:
    case DType::kU8:
      return Counts<IntegerFormat<std::uint8_t>>();
    case DType::kI8:
      return Counts<IntegerFormat<std::int8_t>>();
    case DType::kF8E5M2:
      return Counts<F8E5M2Format>();
    case DType::kF8E4M3:
      return Counts<F8E4M3Format>();
    case DType::kF8E8M0:
      return Counts<F8E8M0Format>();
    case DType::kF8E4M3Fnuz:
      return Counts<FnuzFormat<3, 8>>();
    case DType::kF8E5M2Fnuz:
      return Counts<FnuzFormat<2, 16>>();
    case DType::kI16:
      return Pairs<IntegerFormat<std::int16_t>>();
    case DType::kU16:
      return Pairs<IntegerFormat<std::uint16_t>>();
    case DType::kF16:
      return Pairs<F16Format>();
    case DType::kBF16:
      return Pairs<BF16Format>();
    case DType::kI32:
      return Pairs<IntegerFormat<std::int32_t>>();
    case DType::kU32:
      return Pairs<IntegerFormat<std::uint32_t>>();
    case DType::kF32:
      return Pairs<F32Format>();
    case DType::kC64:
      return {AddComplex<F32Format>, nullptr, nullptr, true};
    case DType::kC128:
      return {AddComplex<F64Format>, nullptr, nullptr, true};
    case DType::kF64:
      return Pairs<F64Format>();
    case DType::kI64:
      return Pairs<IntegerFormat<std::int64_t>>();
    case DType::kU64:
      return Pairs<IntegerFormat<std::uint64_t>>();
  }
  Abort("unknown DType");
}

#if defined(__x86_64__)
// Asked of the processor itself: not every compiler's __builtin_cpu_supports knows these two.
bool HasF16cAndLzcnt() {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  if (__get_cpuid(1, &eax, &ebx, &ecx, &edx) == 0 || (ecx & bit_F16C) == 0) return false;
  return __get_cpuid(0x80000001, &eax, &ebx, &ecx, &edx) != 0 && (ecx & bit_LZCNT) != 0;
}
#endif

}  // namespace

bool MachineHas(Kernel kernel) {
  if (kernel == Kernel::kScalar) return true;
#if defined(__x86_64__)
  const bool avx2 =
      __builtin_cpu_supports("avx2") && __builtin_cpu_supports("popcnt") && HasF16cAndLzcnt();
  if (kernel == Kernel::kAvx2) return avx2;
  return avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512cd");
#else
  return false;
#endif
}

Kernel BestKernel() {
  static const Kernel best = [] {
    if (MachineHas(Kernel::kAvx512)) return Kernel::kAvx512;
    return MachineHas(Kernel::kAvx2) ? Kernel::kAvx2 : Kernel::kScalar;
  }();
  return best;
}

DTypeKernels KernelsFor(DType dtype, [[maybe_unused]] Kernel kernel) {
  DTypeKernels kernels = ScalarKernelsFor(dtype);
#if defined(__x86_64__)
  if (kernel == Kernel::kAvx2) kernels.add_vectors = Avx2KernelFor(dtype);
  if (kernel == Kernel::kAvx512) kernels.add_vectors = Avx512KernelFor(dtype);
#endif
  return kernels;
}

}  // namespace rharness
