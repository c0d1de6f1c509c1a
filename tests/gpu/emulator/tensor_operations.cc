// mma.sync and wgmma.mma_async: which lane's register holds which element. Source: PTX ISA, "Matrix
// Fragments for mma.m16n8k16" and the like, "Asynchronous Warpgroup Level Matrix Instructions".
#include <fmt/format.h>

#include <charconv>
#include <cstring>
#include <vector>

#include "tests/gpu/emulator/lane_values.h"
#include "tests/gpu/emulator/memory_access.h"
#include "tests/gpu/emulator/tensor_core.h"

namespace rharness {
namespace {

struct Shape {
  int m = 0, n = 0, k = 0;
};

// "m16n8k8"
Shape ShapeOf(const PtxInstruction& i) {
  Shape shape;
  for (const std::string& modifier : i.modifiers) {
    if (modifier.size() < 6 || modifier[0] != 'm' || modifier.find('n') == std::string::npos)
      continue;
    const char* end = modifier.data() + modifier.size();
    const auto m = std::from_chars(modifier.data() + 1, end, shape.m);
    if (m.ec != std::errc() || m.ptr == end || *m.ptr != 'n') continue;
    const auto n = std::from_chars(m.ptr + 1, end, shape.n);
    if (n.ec != std::errc() || n.ptr == end || *n.ptr != 'k') continue;
    std::from_chars(n.ptr + 1, end, shape.k);
  }
  return shape;
}

// Rows of a dense matrix.
class Matrix {
 public:
  Matrix(int rows, int columns)
      : columns_(static_cast<std::size_t>(columns)),
        values_(static_cast<std::size_t>(rows) * columns_) {}
  double& At(int row, int column) {
    return values_[static_cast<std::size_t>(row) * columns_ + static_cast<std::size_t>(column)];
  }
  std::span<const double> Row(int row) const {
    return {values_.data() + static_cast<std::size_t>(row) * columns_, columns_};
  }

 private:
  std::size_t columns_;
  std::vector<double> values_;
};

// Elements of a 32-bit register.
int PerRegister(PtxType type) {
  const unsigned bytes = PtxBytes(type);
  return static_cast<int>(4 / bytes);
}

double ElementOf(PtxType type, std::uint64_t bits, int element) {
  const unsigned width = 8 * PtxBytes(type);
  const std::uint64_t mask = width == 32 ? 0xffffffffU : (1U << width) - 1;
  return TensorElement(
      type, static_cast<std::uint32_t>((bits >> (width * static_cast<unsigned>(element))) & mask));
}

// Registers of A in a warp: those of odd number are eight rows lower, the upper half is along K.
void ReadRows(WarpState& warp, const PtxOperand& operand, PtxType type, int first_row, Matrix* a) {
  const int per = PerRegister(type);
  for (int lane = 0; lane < 32; ++lane) {
    for (int r = 0; r < static_cast<int>(operand.slots.size()); ++r) {
      const std::uint64_t bits = warp.Slot(operand.slots[static_cast<std::size_t>(r)])[lane];
      for (int e = 0; e < per; ++e) {
        a->At(first_row + lane / 4 + 8 * (r % 2), lane % 4 * per + e + r / 2 * 4 * per) =
            ElementOf(type, bits, e);
      }
    }
  }
}

// B by its columns, so that a column is a row of the matrix.
void ReadColumns(WarpState& warp, const PtxOperand& operand, PtxType type, Matrix* b) {
  const int per = PerRegister(type);
  for (int lane = 0; lane < 32; ++lane) {
    for (int r = 0; r < static_cast<int>(operand.slots.size()); ++r) {
      const std::uint64_t bits = warp.Slot(operand.slots[static_cast<std::size_t>(r)])[lane];
      for (int e = 0; e < per; ++e) {
        b->At(lane / 4, lane % 4 * per + e + r * 4 * per) = ElementOf(type, bits, e);
      }
    }
  }
}

// D of a warp: two neighbours of a row, then of the row eight below, then eight columns on.
void WriteSums(WarpState& warp, const PtxInstruction& i, const TensorAddition& addition,
               int first_row, const Matrix& a, const Matrix& b, const PtxOperand* c) {
  const PtxOperand& d = i.operands[0];
  for (int lane = 0; lane < 32; ++lane) {
    std::vector<float> sums;
    for (int e = 0; e < static_cast<int>(d.slots.size()); ++e) {
      const int row = first_row + lane / 4 + 8 * (e / 2 % 2),
                column = lane % 4 * 2 + e % 2 + e / 4 * 8;
      const float start =
          c == nullptr ? 0.0F
                       : FromBits<float>(warp.Slot(c->slots[static_cast<std::size_t>(e)])[lane]);
      sums.push_back(AddInTensorCore(addition, i.source, a.Row(row), b.Row(column), start));
    }
    for (std::size_t e = 0; e < sums.size(); ++e) warp.Slot(d.slots[e])[lane] = ToBits(sums[e]);
  }
}

void MultiplyInWarp(WarpState& warp, const PtxInstruction& i) {
  const Shape shape = ShapeOf(i);
  Matrix a(16, shape.k), b(8, shape.k);
  ReadRows(warp, i.operands[1], i.source, 0, &a);
  ReadColumns(warp, i.operands[2], i.source, &b);
  const TensorAddition addition =
      TensorAdditionOf(i.source, shape.k, false, warp.block->request->compute);
  WriteSums(warp, i, addition, 0, a, b, &i.operands[3]);
}

// m8n8k4 of double: a chain of fused multiply-adds, the products in rising order.
void MultiplyDouble(WarpState& warp, const PtxInstruction& i) {
  Matrix a(8, 4), b(8, 4), d(8, 8);
  for (int lane = 0; lane < 32; ++lane) {
    a.At(lane / 4, lane % 4) = FromBits<double>(warp.Slot(i.Slot(1))[lane]);
    b.At(lane / 4, lane % 4) = FromBits<double>(warp.Slot(i.Slot(2))[lane]);
    for (int e = 0; e < 2; ++e) {
      const int slot = i.operands[3].slots[static_cast<std::size_t>(e)];
      d.At(lane / 4, lane % 4 * 2 + e) = FromBits<double>(warp.Slot(slot)[lane]);
    }
  }
  for (int lane = 0; lane < 32; ++lane) {
    for (int e = 0; e < 2; ++e) {
      const int row = lane / 4, column = lane % 4 * 2 + e;
      double sum = d.At(row, column);
      for (int k = 0; k < 4; ++k) sum = std::fma(a.At(row, k), b.At(column, k), sum);
      warp.Slot(i.operands[0].slots[static_cast<std::size_t>(e)])[lane] = ToBits(sum);
    }
  }
}

// Where a matrix lies in shared memory, of a descriptor without swizzling: core matrices of eight
// columns by 16 bytes along K, `along_k` and `along_n` bytes apart.
struct Descriptor {
  std::uint64_t start = 0, along_k = 0, along_n = 0;
  bool swizzled = false;
};
Descriptor DescriptorOf(std::uint64_t bits) {
  return {(bits & 0x3fffU) << 4, (bits >> 16 & 0x3fffU) << 4, (bits >> 32 & 0x3fffU) << 4,
          bits >> 62 != 0 || (bits >> 49 & 7U) != 0};
}

bool ReadShared(WarpState& warp, const PtxInstruction& i, const Shape& shape, Matrix* b) {
  const Descriptor at = DescriptorOf(warp.Slot(i.Slot(2))[0]);
  if (at.swizzled) {
    Fail(warp, i, 0, FaultKind::kUnsupported, "a swizzled matrix");
    return false;
  }
  const unsigned bytes = PtxBytes(i.source);
  const int per_core = static_cast<int>(16 / bytes);
  for (int n = 0; n < shape.n; ++n) {
    for (int k = 0; k < shape.k; ++k) {
      const std::uint64_t offset = at.start + static_cast<std::uint64_t>(n / 8) * at.along_n +
                                   static_cast<std::uint64_t>(k / per_core) * at.along_k +
                                   static_cast<std::uint64_t>(n % 8 * 16) +
                                   static_cast<std::uint64_t>(k % per_core) * bytes;
      const std::byte* data = ReachByProxy(warp, i, offset, bytes);
      if (data == nullptr) return false;
      std::uint32_t raw = 0;
      std::memcpy(&raw, data, bytes);
      b->At(n, k) = TensorElement(i.source, raw);
    }
  }
  return true;
}

// d, a, descriptor of b, whether d is added, signs of a and b (1), whether b is transposed (0).
void MultiplyInWarpgroup(WarpState& first, const PtxInstruction& i) {
  const Shape shape = ShapeOf(i);
  const bool signs = first.Slot(i.Slot(4))[0] == 1 && first.Slot(i.Slot(5))[0] == 1;
  const bool transposed = i.operands.size() > 6 && first.Slot(i.Slot(6))[0] != 0;
  if (!signs || transposed) {
    return Fail(first, i, 0, FaultKind::kUnsupported, "a negated or transposed matrix");
  }
  Matrix a(64, shape.k), b(shape.n, shape.k);
  if (!ReadShared(first, i, shape, &b)) return;
  WarpState* warps = &first;
  for (int w = 0; w < 4; ++w) ReadRows(warps[w], i.operands[1], i.source, 16 * w, &a);
  const TensorAddition addition =
      TensorAdditionOf(i.source, shape.k, true, first.block->request->compute);
  const bool adds = (first.Slot(i.Slot(3))[0] & 1) != 0;
  for (int w = 0; w < 4; ++w) {
    WriteSums(warps[w], i, addition, 16 * w, a, b, adds ? &i.operands[0] : nullptr);
  }
}

// Whether the operands have the registers of the shape.
bool Fits(const PtxInstruction& i, std::initializer_list<std::size_t> counts) {
  if (i.operands.size() < counts.size()) return false;
  std::size_t at = 0;
  for (const std::size_t count : counts) {
    if (i.operands[at++].slots.size() != count) return false;
  }
  return true;
}

bool IsShort(PtxType type) {
  return type == PtxType::kF16 || type == PtxType::kBf16 || type == PtxType::kTf32 ||
         type == PtxType::kE4m3 || type == PtxType::kE5m2;
}

}  // namespace

PtxOperation TensorOperation(const PtxInstruction& i) {
  if (i.opcode != "mma" && i.opcode != "wgmma") return nullptr;
  const Shape shape = ShapeOf(i);
  if (i.type == PtxType::kF64 && i.opcode == "mma") {
    const bool known = shape.m == 8 && shape.n == 8 && shape.k == 4 && Fits(i, {2, 1, 1, 2});
    return known ? MultiplyDouble : nullptr;
  }
  if (i.type != PtxType::kF32 || !IsShort(i.source)) return nullptr;
  const int chunk = 4 * PerRegister(i.source);  // along K, of one register of each lane
  if (shape.k != chunk && shape.k != 2 * chunk) return nullptr;
  const auto halves = static_cast<std::size_t>(shape.k / chunk);
  if (i.opcode == "mma") {
    const bool known = shape.m == 16 && shape.n == 8 && Fits(i, {4, 2 * halves, halves, 4});
    return known && i.Has("row") && i.Has("col") ? MultiplyInWarp : nullptr;
  }
  if (shape.m != 64 || shape.n <= 0 || shape.n > 256 || shape.n % 8 != 0 || halves != 2)
    return nullptr;
  const auto sums = static_cast<std::size_t>(shape.n / 2);
  return Fits(i, {sums, 4, 1, 1, 1, 1}) ? MultiplyInWarpgroup : nullptr;
}

}  // namespace rharness
