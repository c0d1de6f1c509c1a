// Probe gemm_bits_cuda: the bits of cuBLAS matrix products of seeded data, by tile of 64 by 64.
#include <fmt/format.h>

#include <algorithm>

#include "probes/gpu/gemm.h"
#include "probes/gpu/probe_tools.h"

namespace rharness {
namespace {

constexpr int kTile = 64;

std::vector<std::byte> TileOf(const std::vector<std::byte>& d, const DeviceGemmShape& shape,
                              int row, int column) {
  const std::size_t size = BytesOf(shape.output);
  const int rows = std::min(kTile, shape.m - row);
  std::vector<std::byte> tile;
  for (int j = column; j < std::min(column + kTile, shape.n); ++j) {
    const auto at = static_cast<std::ptrdiff_t>(
        (static_cast<std::size_t>(j) * static_cast<std::size_t>(shape.m) +
         static_cast<std::size_t>(row)) *
        size);
    const auto bytes = static_cast<std::ptrdiff_t>(static_cast<std::size_t>(rows) * size);
    tile.insert(tile.end(), d.begin() + at, d.begin() + at + bytes);
  }
  return tile;
}

Status RecordGemmBits(const ProbeContext& context, const BlasContext& blas,
                      const DeviceGemmShape& shape, const std::string& name, ProbeResult* result) {
  const auto gemm = Gemm::Create(blas, shape);
  if (!gemm.ok() && gemm.error().code == ErrorCode::kNotFound) {
    result->notes.push_back(gemm.error().ToString());
    return {};
  }
  if (!gemm.ok()) return gemm.error();
  const auto a = EncodeAll(shape.input, RoundingValues(shape.a_size(), context.seed));
  const auto b = EncodeAll(shape.input, RoundingValues(shape.b_size(), context.seed + 1));
  ASSIGN_OR_RETURN(const auto d,
                   RecordBits(
                       context, name, [&] { return (*gemm)->Run(a, b, {}); }, result));
  for (int row = 0; row < shape.m; row += kTile) {
    for (int column = 0; column < shape.n; column += kTile) {
      result->bits[fmt::format("{} tile {},{}", name, row / kTile, column / kTile)] =
          HashOf(TileOf(d, shape, row, column));
    }
  }
  return {};
}

Result<ProbeResult> MeasureGemmBits(const ProbeContext& context) {
  ASSIGN_OR_RETURN(const auto blas, BlasContext::Open(context));
  ProbeResult result;
  result.parameters.Set("layout", "TN").Set("seed", context.seed).Set("tile", kTile);
  blas.Describe(&result);
  using T = NumberType;
  constexpr std::pair<T, T> types[] = {
      {T::kFp32, T::kFp32}, {T::kTf32, T::kFp32}, {T::kBf16, T::kFp32}, {T::kBf16, T::kBf16},
      {T::kFp16, T::kFp32}, {T::kFp16, T::kFp16}, {T::kE4m3, T::kFp32}, {T::kFp64, T::kFp64}};
  for (const auto& [input, output] : types) {
    for (const DeviceGemmShape& shape : {DeviceGemmShape{256, 256, 1024, input, output},
                                         DeviceGemmShape{16, 16, 4096, input, output}}) {
      const std::string name = fmt::format("{} {}", NumberTypeName(input), shape.Name());
      NoteUnsupported(RecordGemmBits(context, blas, shape, name, &result), name, &result);
    }
  }
  return result;
}

ProbeResult RunGemmBits(const ProbeContext& context) { return Finish(MeasureGemmBits(context)); }

const RegisterProbe kGemmBitsProbe({.name = "gemm_bits_cuda",
                                    .family = "gemm",
                                    .summary = "bits of cuBLAS matrix products of seeded data",
                                    .device = ProbeDevice::kGpu,
                                    .run = RunGemmBits});

}  // namespace
}  // namespace rharness
