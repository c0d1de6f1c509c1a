// Regions by equal bits, and one region's outputs as sums.
#include "probes/cpu/matrix_product.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>
#include <utility>

#include "probes/cpu/reveal_case.h"
#include "probes/order/at.h"

namespace rharness {
namespace {

// All outputs the same sum: every row of A alike, every column of B, every element of C.
template <class T>
std::vector<T> SameEverywhere(const MatrixProduct<T>& product, std::uint64_t seed) {
  const auto m = At(product.shape.m), n = At(product.shape.n), k = At(product.shape.k);
  const std::vector<T> row = RandomNumbers<T>(seed, k), column = RandomNumbers<T>(seed + 1, k);
  std::vector<T> a(m * k), b,
      c(m * n, product.adds_to_old ? RandomNumbers<T>(seed + 2, 1)[0] : T(0));
  for (std::size_t p = 0; p < k; ++p) std::fill_n(a.begin() + p * m, m, row[p]);
  for (std::size_t j = 0; j < n; ++j) b.insert(b.end(), column.begin(), column.end());
  product.run(a.data(), b.data(), c.data());
  return c;
}

// Splits the classes of outputs by their bits; returns how many there are then.
template <class T>
int Refine(const std::vector<T>& bits, std::vector<int>* classes) {
  using Key = std::pair<int, std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>>;
  std::map<Key, int> known;
  auto last = known.end();
  for (std::size_t i = 0; i < bits.size(); ++i) {
    const Key key{(*classes)[i], std::bit_cast<typename Key::second_type>(bits[i])};
    if (last == known.end() || last->first != key) {
      last = known.emplace(key, static_cast<int>(known.size())).first;
    }
    (*classes)[i] = last->second;
  }
  return static_cast<int>(known.size());
}

}  // namespace

std::string GemmShape::Name() const { return fmt::format("{}x{}x{}", m, n, k); }

template <class T>
std::vector<Region> FindRegions(const MatrixProduct<T>& product, std::uint64_t seed) {
  constexpr int kQuiet = 12, kMost = 64;
  std::vector<int> classes(At(product.outputs()), 0);
  int count = 1, quiet = 0;
  for (int input = 0; input < kMost && quiet < kQuiet && product.outputs() > 1; ++input) {
    const int before = count;
    count = Refine(SameEverywhere(product, seed + 16 * At(input)), &classes);
    quiet = count == before ? quiet + 1 : 0;
  }
  std::vector<Region> regions(At(count));
  for (std::size_t i = 0; i < classes.size(); ++i) {
    regions[At(classes[i])].push_back(static_cast<int>(i));
  }
  // The first output's is class 0.
  std::ranges::stable_sort(regions.begin() + 1, regions.end(), std::greater<>(),
                           [](const Region& region) { return region.size(); });
  return regions;
}

template <class T>
RegionSum<T>::RegionSum(const MatrixProduct<T>& product, const Region& region) : product_(product) {
  const int m = product.shape.m;
  std::vector<int> in_column(At(product.shape.n), 0), in_row(At(m), 0);
  for (const int output : region) ++in_column[At(output / m)], ++in_row[At(output % m)];
  const auto column = std::ranges::max_element(in_column), row = std::ranges::max_element(in_row);
  of_rows_ = *column >= *row;
  across_ = static_cast<int>(of_rows_ ? column - in_column.begin() : row - in_row.begin());
  for (const int output : region) {
    if ((of_rows_ ? output / m : output % m) == across_) {
      lines_.push_back(of_rows_ ? output % m : output / m);
    }
  }
}

template <class T>
Status RegionSum<T>::Sum(std::span<const T> rows, std::span<const T> b, std::span<T> results) {
  const auto m = At(product_.shape.m), n = At(product_.shape.n), k = At(product_.shape.k);
  const std::size_t terms = At(product_.terms()), skip = terms - k;
  if (product_.outputs() == 1 && skip == 0) {
    product_.run(rows.data(), b.data(), results.data());
    return {};
  }
  // Lines without a question repeat the last one, so that the shape is the same.
  std::vector<const T*> line(of_rows_ ? m : n, &rows[(results.size() - 1) * terms]);
  for (std::size_t q = 0; q < results.size(); ++q) line[At(lines_[q])] = &rows[q * terms];
  FillOther(b.subspan(skip));
  std::vector<T>& asked = of_rows_ ? left_ : right_;
  asked.resize(line.size() * k);
  for (std::size_t j = 0; j < n && !of_rows_; ++j) {
    std::copy_n(line[j] + skip, k, asked.begin() + static_cast<std::ptrdiff_t>(j * k));
  }
  // In blocks of a cache line of each row.
  constexpr std::size_t kBlock = 64 / sizeof(T);
  for (std::size_t block = 0; block < k && of_rows_; block += kBlock) {
    const std::size_t end = std::min(block + kBlock, k);
    for (std::size_t i = 0; i < m; ++i) {
      for (std::size_t p = block; p < end; ++p) asked[i + p * m] = line[i][skip + p];
    }
  }
  std::vector<T> c(m * n, T(0));
  for (std::size_t i = 0; i < m * n && skip > 0; ++i) {
    c[i] = line[of_rows_ ? i % m : i / m][0] * b[0];
  }
  product_.run(left_.data(), right_.data(), c.data());
  for (std::size_t q = 0; q < results.size(); ++q) {
    results[q] = of_rows_ ? c[At(lines_[q]) + At(across_) * m] : c[At(across_) + At(lines_[q]) * m];
  }
  return {};
}

template <class T>
void RegionSum<T>::FillOther(std::span<const T> b) {
  if (std::ranges::equal(b, other_)) return;
  other_.assign(b.begin(), b.end());
  if (of_rows_) {
    right_.clear();
    for (int j = 0; j < product_.shape.n; ++j) right_.insert(right_.end(), b.begin(), b.end());
  } else {
    left_.clear();
    for (const T value : b) left_.insert(left_.end(), At(product_.shape.m), value);
  }
}

template <class T>
Status RegionSum<T>::Ones(const std::vector<T>& rows, std::span<double> totals) {
  const std::vector<T> ones(At(size()), T(1));
  std::vector<T> results(totals.size());
  RETURN_IF_ERROR(Sum(rows, ones, results));
  std::ranges::copy(results, totals.begin());
  return {};
}

template <class T>
Status RegionSum<T>::Count(std::span<const MaskPair> pairs, UnitRange units,
                           std::span<double> counts) {
  std::vector<T> rows(pairs.size() * At(size()));
  for (std::size_t q = 0; q < pairs.size(); ++q) {
    FillMasked<T>(pairs[q], units, std::span(rows).subspan(q * At(size()), At(size())));
  }
  return Ones(rows, counts.first(pairs.size()));
}

template <class T>
std::int64_t RegionSum<T>::packed_count() const {
  return std::int64_t{1} << std::numeric_limits<T>::digits;
}

template <class T>
Status RegionSum<T>::CountPacked(std::span<const std::int64_t> units,
                                 std::span<const std::vector<MaskPair>> sums,
                                 std::span<double> totals) {
  std::vector<T> rows;
  for (std::size_t at = 0; at < sums.size(); at += lines_.size()) {
    const std::size_t count = std::min(lines_.size(), sums.size() - at);
    rows.resize(count * At(size()));
    for (std::size_t q = 0; q < count; ++q) {
      FillPacked<T>(sums[at + q], units, std::span(rows).subspan(q * At(size()), At(size())));
    }
    RETURN_IF_ERROR(Ones(rows, totals.subspan(at, count)));
  }
  return {};
}

template std::vector<Region> FindRegions(const MatrixProduct<float>&, std::uint64_t);
template std::vector<Region> FindRegions(const MatrixProduct<double>&, std::uint64_t);
template class RegionSum<float>;
template class RegionSum<double>;

}  // namespace rharness
