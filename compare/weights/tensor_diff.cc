// Pairs tensors by name, compares their bytes in blocks, and measures only where bits differ.
#include "compare/weights/tensor_diff.h"

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <utility>

#include "compare/weights/tensor_stats.h"
#include "compare/weights/workers.h"

namespace rharness {
namespace {

// Bytes of one tensor that one thread compares at a time: large enough that handing out work costs
// nothing, and whole blocks.
constexpr std::uint64_t kRangeBytes = 64 * std::uint64_t{kReadBlockBytes};

struct Pair {
  std::size_t a = 0;
  std::size_t b = 0;
};

// Walks two name-sorted lists; what is on one side only goes to `difference`.
template <class Tensor>
std::vector<Pair> PairUp(const std::vector<Tensor>& a, const std::vector<Tensor>& b,
                         CheckpointDifference* difference) {
  std::vector<Pair> pairs;
  std::size_t i = 0, j = 0;
  while (i < a.size() || j < b.size()) {
    if (j == b.size() || (i < a.size() && a[i].name < b[j].name)) {
      difference->only_a.push_back(a[i++].name);
    } else if (i == a.size() || b[j].name < a[i].name) {
      difference->only_b.push_back(b[j++].name);
    } else if (a[i].dtype != b[j].dtype || a[i].block_format != b[j].block_format ||
               a[i].shape != b[j].shape) {
      difference->shape_or_dtype.push_back(a[i].name);
      ++i, ++j;
    } else {
      pairs.push_back({i++, j++});
    }
  }
  difference->compared = pairs.size();
  return pairs;
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

TensorDifference Describe(const TensorInfo& info, const TensorStats& stats) {
  TensorDifference difference;
  difference.name = info.name;
  difference.dtype = info.dtype;
  difference.shape = info.shape;
  difference.elements = info.dtype == DType::kBlocks ? info.size_bytes : info.elements;
  difference.differing = stats.differing;
  difference.first_index = stats.differing > 0 ? stats.first_index : 0;
  if (stats.differing > 0) {
    const bool measured = stats.max_abs != TensorStats::kNoDistance;
    difference.max_abs = measured ? stats.max_abs : std::numeric_limits<double>::quiet_NaN();
  }
  difference.max_ulp = stats.max_ulp;
  difference.non_finite_changes = stats.non_finite_changes;
  return difference;
}

// Compares paired tensors range by range; threads take ranges until none is left.
class PairComparison {
 public:
  PairComparison(const Checkpoint& a, const Checkpoint& b, std::vector<Pair> pairs)
      : a_(a), b_(b), pairs_(std::move(pairs)) {}

  // Statistics of the pairs that differ, by their position in `pairs`.
  Result<std::map<std::size_t, TensorStats>> Run(int threads) {
    RunOnWorkers(WorkerCount(threads), [this] { Work(); });
    RETURN_IF_ERROR(first_error_.status());
    return std::move(differing_);
  }

 private:
  struct Range {
    std::size_t pair = 0;
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
  };

  const TensorInfo& InfoOf(std::size_t pair) const { return a_.tensors()[pairs_[pair].a]; }

  std::optional<Range> NextRange() {
    const std::lock_guard lock(mutex_);
    while (next_pair_ < pairs_.size()) {
      const std::uint64_t size = InfoOf(next_pair_).size_bytes;
      if (next_offset_ < size) {
        const std::uint64_t begin = next_offset_;
        next_offset_ += std::min(kRangeBytes, size - begin);
        return Range{next_pair_, begin, next_offset_};
      }
      ++next_pair_;
      next_offset_ = 0;
    }
    return std::nullopt;
  }

  void Work() {
    const auto memory = std::make_unique_for_overwrite<std::byte[]>(2 * kReadBlockBytes);
    const std::span<std::byte> buffers(memory.get(), 2 * kReadBlockBytes);
    while (const auto range = NextRange()) {
      TensorStats stats;
      if (!first_error_.Check(CompareRange(*range, buffers, &stats))) return;
      if (stats.differing == 0) continue;
      const std::lock_guard lock(mutex_);
      differing_[range->pair].Merge(stats);
    }
  }

  Status CompareRange(const Range& range, std::span<std::byte> buffers, TensorStats* stats) const {
    const TensorInfo& info = InfoOf(range.pair);
    for (std::uint64_t offset = range.begin; offset < range.end; offset += kReadBlockBytes) {
      const std::size_t size = std::min<std::uint64_t>(kReadBlockBytes, range.end - offset);
      const auto block_a = buffers.first(size);
      const auto block_b = buffers.subspan(kReadBlockBytes, size);
      RETURN_IF_ERROR(a_.Read(pairs_[range.pair].a, offset, block_a));
      RETURN_IF_ERROR(b_.Read(pairs_[range.pair].b, offset, block_b));
      const std::uint64_t first_element =
          offset / kReadBlockBytes *
          (kReadBlockBytes * 8 / static_cast<std::uint64_t>(BitsOf(info.dtype)));
      AddDifferences(info.dtype, block_a, block_b, first_element, stats);
    }
    return {};
  }

  const Checkpoint& a_;
  const Checkpoint& b_;
  std::vector<Pair> pairs_;
  std::mutex mutex_;  // guards the three below
  std::size_t next_pair_ = 0;
  std::uint64_t next_offset_ = 0;
  std::map<std::size_t, TensorStats> differing_;
  FirstError first_error_;
};

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
  TensorStats stats;
  AddDifferences(info.dtype, a, b, 0, &stats);
  return Describe(info, stats);
}

Result<CheckpointDifference> DiffCheckpoints(const Checkpoint& a, const Checkpoint& b,
                                             int threads) {
  CheckpointDifference difference;
  const std::vector<Pair> pairs = PairUp(a.tensors(), b.tensors(), &difference);
  ASSIGN_OR_RETURN(const auto differing, PairComparison(a, b, pairs).Run(threads));
  RETURN_IF_ERROR(a.CheckUnchanged());
  RETURN_IF_ERROR(b.CheckUnchanged());
  for (const auto& [pair, stats] : differing) {
    difference.differing.push_back(Describe(a.tensors()[pairs[pair].a], stats));
  }
  Conclude(a.tensors(), b.tensors(), &difference);
  return difference;
}

CheckpointDifference DiffDigests(const std::vector<TensorDigest>& a,
                                 const std::vector<TensorDigest>& b) {
  const std::vector<TensorDigest> sorted_a = SortedByName(a), sorted_b = SortedByName(b);
  CheckpointDifference difference;
  for (const Pair& pair : PairUp(sorted_a, sorted_b, &difference)) {
    const TensorDigest& tensor = sorted_a[pair.a];
    if (tensor.sha256 == sorted_b[pair.b].sha256) continue;
    TensorDifference& entry = difference.differing.emplace_back();
    entry.name = tensor.name;
    entry.dtype = tensor.dtype;
    entry.shape = tensor.shape;
  }
  Conclude(sorted_a, sorted_b, &difference);
  return difference;
}

}  // namespace rharness
