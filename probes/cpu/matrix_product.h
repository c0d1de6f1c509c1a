// Routines whose outputs are sums of products, and the properties that determine all outputs.
//
// Role: from a product of the BLAS to a case's tree, its arithmetic, the regions of the output with
// each of these, and the share of ordinary inputs whose bits they predict.
#ifndef RHARNESS_PROBES_CPU_MATRIX_PRODUCT_H_
#define RHARNESS_PROBES_CPU_MATRIX_PRODUCT_H_

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "probes/order/products.h"
#include "probes/order/reveal.h"
#include "probes/probe.h"

namespace rharness {

struct GemmShape {
  int m = 1;
  int n = 1;
  int k = 1;
  std::string Name() const;  // "64x64x1000"
};

// C = A B, or C + A B; column-major, A m by k, B k by n.
template <class T>
struct MatrixProduct {
  GemmShape shape;
  bool adds_to_old = false;  // then C's own value is the first summand
  bool plain = false;        // the routine adds given values: the caller multiplies
  std::function<void(const T* a, const T* b, T* c)> run;

  int terms() const { return shape.k + (adds_to_old ? 1 : 0); }
  int outputs() const { return shape.m * shape.n; }
};

// Outputs, row + column m, that had the same bits whenever all of them had the same summands.
using Region = std::vector<int>;

// All outputs in regions, that of the first output first, then the largest. Draws inputs until
// twelve in a row separate no further region, 64 at most. Cost: one product per input.
template <class T>
std::vector<Region> FindRegions(const MatrixProduct<T>& product, std::uint64_t seed);

// One region as sums: the outputs of its row or column with the most of them; each answers a
// separate question.
template <class T>
class RegionSum final : public ProductSum<T>, public MaskedSum {
 public:
  RegionSum(const MatrixProduct<T>& product, const Region& region);
  int size() const override { return product_.terms(); }
  int max_batch() const override { return static_cast<int>(lines_.size()); }
  Status Sum(std::span<const T> rows, std::span<const T> b, std::span<T> results) override;
  Status Count(std::span<const MaskPair> pairs, UnitRange units, std::span<double> counts) override;
  std::int64_t packed_count() const override;
  Status CountPacked(std::span<const std::int64_t> units,
                     std::span<const std::vector<MaskPair>> sums,
                     std::span<double> totals) override;

 private:
  // As many sums of `rows`, times ones, as there are totals.
  Status Ones(const std::vector<T>& rows, std::span<double> totals);
  // Every line of the matrix without a question is `b`; kept between questions.
  void FillOther(std::span<const T> b);

  const MatrixProduct<T>& product_;
  bool of_rows_ = true;  // the questions are rows of A; else columns of B
  int across_ = 0;       // the column, or row, that the answers are read from
  std::vector<int> lines_;
  std::vector<T> left_, right_;  // A and B
  std::vector<T> other_;         // content of the lines of one of them
};

// Reveals each region, asks for its arithmetic, replays 200 ordinary inputs, and adds the results:
// the first output's tree, with the other regions beside it. Notes name everything not revealed or
// not predicted. Counts "outputs", "outputs covered", "inputs replayed" and "inputs predicted" grow
// beside those of AddTree. An error fails the probe.
template <class T>
void AddProduct(const ProbeContext& context, const std::string& name,
                const MatrixProduct<T>& product, ProbeResult* result);

}  // namespace rharness

#endif  // RHARNESS_PROBES_CPU_MATRIX_PRODUCT_H_
