// Pairs tensors by name, compares their bytes in blocks, and measures only if bits differ.
#include "compare/weights/tensor_diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <numeric>
#include <span>
#include <string_view>

#include "compare/weights/layer_groups.h"
#include "compare/weights/tensor_pairs.h"
#include "compare/weights/tensor_stats.h"

namespace rharness {
namespace {

constexpr double kUndefined = std::numeric_limits<double>::quiet_NaN();

// The name of a tensor that is called by the path of a checkpoint, with the file's name alone:
// every run has its folders elsewhere. Empty: it is not. Source: Lightning's
// ModelCheckpoint.state_dict(), whose best_k_models has scores by path.
std::string NameByFile(std::string_view name) {
  constexpr std::string_view kMember = ".best_k_models.";
  const std::size_t member = name.find(kMember), slash = name.rfind('/');
  if (member == name.npos || slash == name.npos || slash < member) return {};
  return fmt::format("{}{}", name.substr(0, member + kMember.size()), name.substr(slash + 1));
}

template <class Tensor>
bool AreAlike(const Tensor& a, const Tensor& b) {
  return a.dtype == b.dtype && a.block_format == b.block_format && a.shape == b.shape;
}

// Pairs tensors of one side alone that have one name by their file.
template <class Tensor>
void PairByFile(const std::vector<Tensor>& a, const std::vector<Tensor>& b,
                CheckpointDifference* difference, std::vector<TensorPair>* pairs) {
  std::map<std::string, std::array<std::vector<std::string>, 2>> names;
  for (const std::size_t side : {0, 1}) {
    for (const std::string& name : side == 0 ? difference->only_a : difference->only_b) {
      std::string file = NameByFile(name);
      if (!file.empty()) names[std::move(file)][side].push_back(name);
    }
  }
  const auto place = [](const std::vector<Tensor>& tensors, const std::string& name) {
    const auto found = std::ranges::lower_bound(tensors, name, {}, &Tensor::name);
    return static_cast<std::size_t>(found - tensors.begin());
  };
  for (const auto& [file, sides] : names) {
    if (sides[0].size() != 1 || sides[1].size() != 1) continue;
    const TensorPair pair{place(a, sides[0].front()), place(b, sides[1].front())};
    if (!AreAlike(a[pair.a], b[pair.b])) continue;
    std::erase(difference->only_a, sides[0].front());
    std::erase(difference->only_b, sides[1].front());
    pairs->push_back(pair);
  }
}

// Walks two name-sorted lists; names on one side only go to `difference`.
template <class Tensor>
std::vector<TensorPair> PairUp(const std::vector<Tensor>& a, const std::vector<Tensor>& b,
                               CheckpointDifference* difference) {
  std::vector<TensorPair> pairs;
  std::size_t i = 0, j = 0;
  while (i < a.size() || j < b.size()) {
    if (j == b.size() || (i < a.size() && a[i].name < b[j].name)) {
      difference->only_a.push_back(a[i++].name);
    } else if (i == a.size() || b[j].name < a[i].name) {
      difference->only_b.push_back(b[j++].name);
    } else if (!AreAlike(a[i], b[j])) {
      difference->shape_or_dtype.push_back(a[i].name);
      ++i, ++j;
    } else {
      pairs.push_back({i++, j++});
    }
  }
  PairByFile(a, b, difference, &pairs);
  difference->compared = pairs.size();
  return pairs;
}

std::uint64_t ElementsOf(const std::vector<std::uint64_t>& shape) {
  return std::accumulate(shape.begin(), shape.end(), std::uint64_t{1}, std::multiplies<>());
}

// Whether any tensor has an element; a shape without a zero has.
template <class Tensor>
bool HasElements(const std::vector<Tensor>& tensors) {
  return std::ranges::any_of(tensors, [](const Tensor& tensor) {
    return std::ranges::find(tensor.shape, 0u) == tensor.shape.end();
  });
}

template <class Tensor>
void Conclude(const std::vector<Tensor>& a, const std::vector<Tensor>& b,
              CheckpointDifference* difference) {
  difference->vacuous = !HasElements(a) || !HasElements(b);
  difference->bit_equal = !difference->vacuous && difference->only_a.empty() &&
                          difference->only_b.empty() && difference->shape_or_dtype.empty() &&
                          difference->differing.empty();
}

// Norms and cosine. A cosine beyond 1 would be rounding alone.
void DescribeSums(const TensorSums& sums, TensorDifference* difference) {
  difference->norm_a = std::sqrt(sums.a_squared);
  difference->norm_b = std::sqrt(sums.b_squared);
  difference->norm_difference = std::sqrt(sums.difference_squared);
  const double cosine = sums.product / difference->norm_a / difference->norm_b;
  difference->cosine = std::isnan(cosine) ? kUndefined : std::clamp(cosine, -1.0, 1.0);
}

void ForgetDistances(TensorDifference* difference) {
  difference->max_abs = difference->max_rel = kUndefined;
}

void ForgetNorms(TensorDifference* difference) {
  difference->norm_a = difference->norm_b = difference->norm_difference = kUndefined;
  difference->cosine = kUndefined;
}

TensorDifference Describe(const TensorInfo& info, const RangeDifference& measured) {
  const TensorStats& stats = measured.stats;
  TensorDifference difference;
  difference.name = info.name;
  difference.dtype = info.dtype;
  difference.shape = info.shape;
  difference.elements = info.dtype == DType::kBlocks ? info.size_bytes : info.elements;
  difference.differing = stats.differing;
  difference.first_index = stats.differing > 0 ? stats.first_index : 0;
  difference.max_abs = stats.max_abs;
  difference.max_rel = stats.max_rel;
  difference.max_ulp = stats.max_ulp;
  difference.ulp_histogram = stats.ulp_histogram;
  difference.non_finite_changes = stats.non_finite_changes;
  difference.nan_changes = stats.nan_changes;
  difference.zero_sign_changes = stats.zero_sign_changes;
  if (stats.differing > 0 && stats.max_ulp == 0) ForgetDistances(&difference);
  if (HasValues(info.dtype)) {
    DescribeSums(measured.sums, &difference);
  } else {
    ForgetNorms(&difference);
  }
  return difference;
}

// Of each tensor of A, by index.
struct Counted {
  std::vector<NonFiniteCounts> a, b;
};

// The tensors with unexpected non-finite values, on the side that has more of them.
Status AddNonFinite(const Checkpoint& a, const Checkpoint& b, const Counted& counts,
                    CheckpointDifference* difference) {
  std::map<std::string, NonFiniteTensor> worse;
  for (const bool in_a : {true, false}) {
    ASSIGN_OR_RETURN(const auto tensors,
                     UnexpectedNonFinite(in_a ? a : b, in_a ? counts.a : counts.b));
    for (const NonFiniteTensor& tensor : tensors) {
      NonFiniteTensor& kept = worse.try_emplace(tensor.name, tensor).first->second;
      if (kept.counts.Total() < tensor.counts.Total()) kept = tensor;
    }
  }
  for (auto& [name, tensor] : worse) difference->non_finite.push_back(std::move(tensor));
  return {};
}

// A tensor that differed when its bits were read and no longer does has been written meanwhile.
Status CheckStillDiffers(const TensorInfo& info, const RangeDifference& measured) {
  if (measured.stats.differing > 0) return {};
  return IntegrityError("changed while it was compared", info.name);
}

std::vector<TensorDigest> SortedByName(std::vector<TensorDigest> tensors) {
  std::ranges::stable_sort(tensors, {}, &TensorDigest::name);
  return tensors;
}

}  // namespace

TensorDifference DiffTensors(const TensorInfo& info, std::span<const std::byte> a,
                             std::span<const std::byte> b) {
  if (a.size() != info.size_bytes || b.size() != info.size_bytes) {
    Abort("tensor bytes do not have the tensor's size");
  }
  return Describe(info, MeasureBytes(info.dtype, a, b));
}

Result<CheckpointDifference> DiffCheckpoints(const Checkpoint& a, const Checkpoint& b,
                                             int threads) {
  CheckpointDifference difference;
  const std::vector<TensorPair> pairs = PairUp(a.tensors(), b.tensors(), &difference);
  std::vector<NonFiniteCounts> equal;  // of pairs
  ASSIGN_OR_RETURN(const std::vector<std::size_t> positions,
                   FindDiffering(a, b, pairs, threads, &equal));
  std::vector<TensorPair> differing;
  Counted counts{std::vector<NonFiniteCounts>(a.tensors().size()),
                 std::vector<NonFiniteCounts>(b.tensors().size())};
  for (std::size_t pair = 0; pair < pairs.size(); ++pair) counts.a[pairs[pair].a] = equal[pair];
  for (const std::size_t position : positions) differing.push_back(pairs[position]);
  ASSIGN_OR_RETURN(const auto measured, MeasurePairs(a, b, differing, threads));
  for (std::size_t i = 0; i < differing.size(); ++i) {
    counts.a[differing[i].a] = measured[i].non_finite_a;
    counts.b[differing[i].b] = measured[i].non_finite_b;
  }
  RETURN_IF_ERROR(AddNonFinite(a, b, counts, &difference));
  RETURN_IF_ERROR(a.CheckUnchanged());
  RETURN_IF_ERROR(b.CheckUnchanged());
  difference.differing.reserve(differing.size());
  for (std::size_t i = 0; i < differing.size(); ++i) {
    const TensorInfo& info = a.tensors()[differing[i].a];
    RETURN_IF_ERROR(CheckStillDiffers(info, measured[i].difference));
    difference.differing.push_back(Describe(info, measured[i].difference));
  }
  LayerGroups groups;
  auto next = difference.differing.begin();
  for (const TensorPair& pair : pairs) {
    const TensorInfo& info = a.tensors()[pair.a];
    difference.elements += info.elements;
    const bool differs = next != difference.differing.end() && next->name == info.name;
    groups.Add(info.name, info.elements, differs ? &*next++ : nullptr);
  }
  difference.groups = groups.Build();
  Conclude(a.tensors(), b.tensors(), &difference);
  return difference;
}

CheckpointDifference DiffDigests(const std::vector<TensorDigest>& a,
                                 const std::vector<TensorDigest>& b) {
  const std::vector<TensorDigest> sorted_a = SortedByName(a), sorted_b = SortedByName(b);
  CheckpointDifference difference;
  LayerGroups groups;
  for (const TensorPair& pair : PairUp(sorted_a, sorted_b, &difference)) {
    const TensorDigest& tensor = sorted_a[pair.a];
    const std::uint64_t non_finite = std::max(tensor.non_finite, sorted_b[pair.b].non_finite);
    if (non_finite > 0) {
      // Their kind is not recorded.
      difference.non_finite.push_back(
          {tensor.name, ElementsOf(tensor.shape), NonFiniteCounts{.nan = non_finite}});
    }
    if (tensor.sha256 == sorted_b[pair.b].sha256) {
      groups.Add(tensor.name, 0, nullptr);
      continue;
    }
    TensorDifference& entry = difference.differing.emplace_back();
    entry.name = tensor.name;
    entry.dtype = tensor.dtype;
    entry.shape = tensor.shape;
    ForgetDistances(&entry);
    ForgetNorms(&entry);
    groups.Add(tensor.name, 0, &entry);
  }
  difference.groups = groups.Build();
  Conclude(sorted_a, sorted_b, &difference);
  return difference;
}

}  // namespace rharness
