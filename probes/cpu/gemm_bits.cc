// Bits of matrix products, tile by tile, so that a difference has a place.
#include <fmt/format.h>

#include "probes/cpu/blas.h"

namespace rharness {
namespace {

constexpr int kTile = 64;

template <class T>
std::vector<T> Product(const Blas& blas, const GemmShape& s, std::uint64_t seed) {
  const auto m = static_cast<std::size_t>(s.m), n = static_cast<std::size_t>(s.n);
  const auto k = static_cast<std::size_t>(s.k);
  const std::vector<T> a = RandomNumbers<T>(seed, m * k), b = RandomNumbers<T>(seed + 1, k * n);
  std::vector<T> c(m * n, T(0));
  blas.Gemm(s, a.data(), b.data(), T(0), c.data());
  return c;
}

// Hashes by "256x192x300 rows 64.. columns 128..", of doubles with "fp64 " before it, with one
// thread " threads 1" behind it.
template <class T>
std::map<std::string, std::string> TilesOf(const GemmShape& s, const std::vector<T>& c,
                                           const std::string& threads) {
  std::map<std::string, std::string> tiles;
  for (int row = 0; row < s.m; row += kTile) {
    for (int column = 0; column < s.n; column += kTile) {
      std::vector<T> tile;
      for (int j = column; j < std::min(s.n, column + kTile); ++j) {
        const auto begin = c.begin() + static_cast<std::ptrdiff_t>(j) * s.m + row;
        tile.insert(tile.end(), begin, begin + std::min(kTile, s.m - row));
      }
      tiles[fmt::format("{}{} rows {}.. columns {}..{}", sizeof(T) == 8 ? "fp64 " : "", s.Name(),
                        row, column, threads)] = DigestOf(tile);
    }
  }
  return tiles;
}

template <class T>
void AddTiles(const ProbeContext& context, const Blas& blas, const GemmShape& s,
              const std::string& threads, ProbeResult* result) {
  const auto first = TilesOf(s, Product<T>(blas, s, context.seed), threads);
  for (int repeat = 1; repeat < context.repeats; ++repeat) {
    for (const auto& [tile, bits] : TilesOf(s, Product<T>(blas, s, context.seed), threads)) {
      auto& unstable = result->unstable;
      const bool known = std::find(unstable.begin(), unstable.end(), tile) != unstable.end();
      if (bits != first.at(tile) && !known) unstable.push_back(tile);
    }
  }
  result->bits.insert(first.begin(), first.end());
}

ProbeResult RunGemmBits(const ProbeContext& context) {
  return WithBlas(context, [&](const Blas& blas, ProbeResult* result) {
    WithThreads(blas, [&](const std::string& threads) {
      for (const GemmShape& s : {GemmShape{256, 192, 300}, {100, 100, 100}, {8, 8, 4096}}) {
        AddTiles<float>(context, blas, s, threads, result);
        AddTiles<double>(context, blas, s, threads, result);
      }
    });
  });
}

const RegisterProbe kGemmBitsProbe({.name = "gemm_bits",
                                    .family = "gemm",
                                    .summary = "bits of fp32 and fp64 matrix products, by tile",
                                    .run = RunGemmBits});

}  // namespace
}  // namespace rharness
