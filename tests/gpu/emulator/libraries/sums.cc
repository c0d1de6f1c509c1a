// Sums of products.
#include "tests/gpu/emulator/libraries/sums.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <string_view>
#include <unordered_map>

namespace rharness {
namespace {

constexpr std::size_t kWorthLooking = std::size_t{1} << 19;  // multiplications

std::size_t At(int index) { return static_cast<std::size_t>(index); }

// Different rows, and which of them each row is.
struct Distinct {
  std::vector<double> rows;
  std::vector<int> of_row;
  int count = 0;
};

// `worth_it`: false leaves all as they are, where looking takes as long as computing.
Distinct DistinctRows(const std::vector<double>& rows, int count, int k, bool worth_it) {
  Distinct found;
  if (!worth_it) {
    found.rows = rows;
    for (; found.count < count; ++found.count) found.of_row.push_back(found.count);
    return found;
  }
  std::unordered_map<std::string_view, int> known;
  for (int row = 0; row < count; ++row) {
    const double* at = rows.data() + At(row) * At(k);
    const std::string_view text(reinterpret_cast<const char*>(at), At(k) * sizeof(double));
    const auto [place, is_new] = known.emplace(text, found.count);
    if (is_new) found.rows.insert(found.rows.end(), at, at + k);
    if (is_new) ++found.count;
    found.of_row.push_back(place->second);
  }
  return found;
}

int SliceLength(const SumOrder& order, int k) {
  const int least = (k + order.slices - 1) / order.slices;
  return (least + order.group - 1) / order.group * order.group;
}

// One row of a with all columns: `b` is k rows of n.
template <class T>
void MultiplyRow(const SumOrder& order, const double* a, const std::vector<T>& b, int n, int k,
                 std::vector<T>* total) {
  const int length = SliceLength(order, k);
  total->assign(At(n), T{0});
  std::vector<T> sums(At(order.lanes) * At(n));
  bool first = true;
  for (int part = 0; part < order.slices; ++part) {
    const int slice = static_cast<int>((At(part) + order.turn) % At(order.slices));
    const int begin = std::min(k, slice * length), end = std::min(k, begin + length);
    if (begin == end) continue;
    std::ranges::fill(sums, T{0});
    for (int i = begin; i < end; ++i) {
      T* lane = sums.data() + At((i - begin) % order.lanes) * At(n);
      const T factor = static_cast<T>(a[i]);
      const T* row = b.data() + At(i) * At(n);
      for (int j = 0; j < n; ++j) lane[j] += factor * row[j];
    }
    for (int half = order.lanes / 2; half >= 1; half /= 2) {
      for (std::size_t x = 0; x < At(half) * At(n); ++x) sums[x] += sums[x + At(half) * At(n)];
    }
    for (int j = 0; j < n; ++j) {
      (*total)[At(j)] = first ? sums[At(j)] : (*total)[At(j)] + sums[At(j)];
    }
    first = false;
  }
}

template <class T>
std::vector<double> MultiplyPlain(const SumOrder& order, const Distinct& a, const Distinct& b,
                                  int k) {
  std::vector<T> columns(At(b.count) * At(k));
  for (int j = 0; j < b.count; ++j) {
    for (int i = 0; i < k; ++i) {
      columns[At(i) * At(b.count) + At(j)] = static_cast<T>(b.rows[At(j) * At(k) + At(i)]);
    }
  }
  std::vector<double> made(At(a.count) * At(b.count));
  std::vector<T> row;
  for (int i = 0; i < a.count; ++i) {
    MultiplyRow(order, a.rows.data() + At(i) * At(k), columns, b.count, k, &row);
    for (int j = 0; j < b.count; ++j) {
      made[At(j) * At(a.count) + At(i)] = static_cast<double>(row[At(j)]);
    }
  }
  return made;
}

// Rows as fp32, which holds their numbers and products of short ones, and which groups are not
// zero.
struct GroupedRows {
  std::vector<float> values;
  std::vector<std::vector<int>> groups;  // where they begin
};

GroupedRows GroupRows(const SumOrder& order, const Distinct& rows, int k) {
  GroupedRows made;
  made.values.assign(rows.rows.begin(), rows.rows.end());
  const int length = SliceLength(order, k);
  for (int row = 0; row < rows.count; ++row) {
    const float* at = made.values.data() + At(row) * At(k);
    made.groups.emplace_back();
    for (int slice = 0; slice < k; slice += length) {
      const int end = std::min(k, slice + length);
      for (int i = slice; i < end; i += order.group) {
        const bool is_zero = std::all_of(at + i, at + std::min(i + order.group, end),
                                         [](float value) { return value == 0.0F; });
        if (!is_zero) made.groups.back().push_back(i);
      }
    }
  }
  return made;
}

// 2^exponent, of a normal number.
float PowerOfTwo(int exponent) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(exponent + 127) << 23);
}
double LongPowerOfTwo(int exponent) {
  return std::bit_cast<double>(static_cast<std::uint64_t>(exponent + 1023) << 52);
}

// The accumulator and at most 32 products in one addition.
float AddGroup(float sum, const float* products, int count, int places) {
  std::int32_t largest = std::bit_cast<std::int32_t>(sum) & 0x7fffffff;
  for (int i = 0; i < count; ++i) {
    largest = std::max(largest, std::bit_cast<std::int32_t>(products[i]) & 0x7fffffff);
  }
  if (largest >= 0x7f800000) {
    for (int i = 0; i < count; ++i) sum += products[i];
    return sum;
  }
  const int top = std::max((largest >> 23) - 127, -100);
  const float scale = PowerOfTwo(places - top);
  std::int32_t total = 0;  // 32 terms below 2^26
  for (int i = 0; i < count; ++i) total += static_cast<std::int32_t>(products[i] * scale);
  const std::int64_t whole = std::int64_t{total} + static_cast<std::int64_t>(sum * scale);
  // What fp32 has no bits for is cut as well.
  const double exact = static_cast<double>(whole) * LongPowerOfTwo(top - places);
  const std::uint64_t bits = std::bit_cast<std::uint64_t>(exact) & ~((std::uint64_t{1} << 29) - 1);
  return static_cast<float>(std::bit_cast<double>(bits));
}

float MultiplyGroups(const Product& product, const float* a, const std::vector<int>& groups,
                     const float* b) {
  const SumOrder& order = product.order;
  const int length = SliceLength(order, product.k);
  float parts[64] = {}, products[32];
  for (const int i : groups) {
    const int slice = i / length;
    const int count = std::min({order.group, product.k - i, (slice + 1) * length - i});
    for (int x = 0; x < count; ++x) products[x] = a[i + x] * b[i + x];
    parts[slice] = AddGroup(parts[slice], products, count, product.places);
  }
  float total = 0;
  for (int part = 0; part < order.slices; ++part) {
    const std::size_t slice = (At(part) + order.turn) % At(order.slices);
    total = part == 0 ? parts[slice] : total + parts[slice];
  }
  return total;
}

// A group of zeros leaves a sum as it is.
std::vector<double> MultiplyTensor(const Product& product, const Distinct& a, const Distinct& b) {
  const GroupedRows rows = GroupRows(product.order, a, product.k);
  const std::vector<float> columns(b.rows.begin(), b.rows.end());
  std::vector<double> made(At(a.count) * At(b.count));
  for (int j = 0; j < b.count; ++j) {
    for (int i = 0; i < a.count; ++i) {
      made[At(j) * At(a.count) + At(i)] = static_cast<double>(
          MultiplyGroups(product, rows.values.data() + At(i) * At(product.k), rows.groups[At(i)],
                         columns.data() + At(j) * At(product.k)));
    }
  }
  return made;
}

std::vector<double> MultiplyDistinct(const Product& product, const Distinct& a, const Distinct& b) {
  switch (product.arithmetic) {
    case Arithmetic::kF64:
      return MultiplyPlain<double>(product.order, a, b, product.k);
    case Arithmetic::kI32:
      return MultiplyPlain<std::int32_t>(product.order, a, b, product.k);
    case Arithmetic::kTensor:
      return MultiplyTensor(product, a, b);
    default:
      return MultiplyPlain<float>(product.order, a, b, product.k);
  }
}

}  // namespace

std::vector<double> Multiply(const Product& product) {
  const bool worth_it = At(product.m) * At(product.n) * At(product.k) > kWorthLooking;
  const Distinct a = DistinctRows(product.a, product.m, product.k, worth_it);
  const Distinct b = DistinctRows(product.b, product.n, product.k, worth_it);
  const std::vector<double> distinct = MultiplyDistinct(product, a, b);
  std::vector<double> made(At(product.m) * At(product.n));
  for (int j = 0; j < product.n; ++j) {
    const double* column = distinct.data() + At(b.of_row[At(j)]) * At(a.count);
    for (int i = 0; i < product.m; ++i) {
      made[At(j) * At(product.m) + At(i)] = column[a.of_row[At(i)]];
    }
  }
  return made;
}

float AddInOrder(const SumOrder& order, const std::vector<float>& values) {
  const std::vector<double> factors(values.begin(), values.end());
  std::vector<float> total;
  const std::vector<float> ones(values.size(), 1.0F);
  MultiplyRow<float>(order, factors.data(), ones, 1, static_cast<int>(values.size()), &total);
  return total[0];
}

}  // namespace rharness
