// Bits of single-precision matrix products, tile by tile, so that a difference has a place.
#include <fmt/format.h>

#include "probes/cpu/blas.h"

namespace rharness {
namespace {

constexpr int kTile = 64;

std::vector<float> Product(const Blas& blas, const GemmShape& s, std::uint64_t seed) {
  const auto m = static_cast<std::size_t>(s.m), n = static_cast<std::size_t>(s.n);
  const auto k = static_cast<std::size_t>(s.k);
  const std::vector<float> a = RandomFloats(seed, m * k), b = RandomFloats(seed + 1, k * n);
  std::vector<float> c(m * n, 0.0F);
  blas.Gemm(s, a.data(), b.data(), 0.0F, c.data());
  return c;
}

// Hashes by "256x192x300 rows 64.. columns 128..".
std::map<std::string, std::string> TilesOf(const GemmShape& s, const std::vector<float>& c) {
  std::map<std::string, std::string> tiles;
  for (int row = 0; row < s.m; row += kTile) {
    for (int column = 0; column < s.n; column += kTile) {
      std::vector<float> tile;
      for (int j = column; j < std::min(s.n, column + kTile); ++j) {
        const auto begin = c.begin() + static_cast<std::ptrdiff_t>(j) * s.m + row;
        tile.insert(tile.end(), begin, begin + std::min(kTile, s.m - row));
      }
      tiles[fmt::format("{} rows {}.. columns {}..", s.Name(), row, column)] = BitsOf(tile);
    }
  }
  return tiles;
}

ProbeResult RunGemmBits(const ProbeContext& context) {
  return WithBlas(context, [&](const Blas& blas, ProbeResult* result) {
    for (const GemmShape& s : {GemmShape{256, 192, 300}, {100, 100, 100}, {8, 8, 4096}}) {
      const auto first = TilesOf(s, Product(blas, s, context.seed));
      for (int repeat = 1; repeat < context.repeats; ++repeat) {
        for (const auto& [tile, bits] : TilesOf(s, Product(blas, s, context.seed))) {
          auto& unstable = result->unstable;
          const bool known = std::find(unstable.begin(), unstable.end(), tile) != unstable.end();
          if (bits != first.at(tile) && !known) unstable.push_back(tile);
        }
      }
      result->bits.insert(first.begin(), first.end());
    }
  });
}

const RegisterProbe kGemmBitsProbe({.name = "gemm_bits",
                                    .family = "gemm",
                                    .summary = "bits of fp32 matrix products, by tile",
                                    .run = RunGemmBits});

}  // namespace
}  // namespace rharness
