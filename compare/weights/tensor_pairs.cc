// The threads' common tasks over paired tensors, range by range, with two blocks a thread.
#include "compare/weights/tensor_pairs.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>

#include "compare/weights/workers.h"

namespace rharness {
namespace {

struct Range {
  std::size_t pair = 0;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

// The flat index of the element at a range's first byte.
std::uint64_t FirstElement(DType dtype, std::uint64_t begin) {
  return begin / kRangeBytes * (kRangeBytes * 8 / static_cast<std::uint64_t>(BitsOf(dtype)));
}

// Hands out ranges of kRangeBytes in order. Guarded by whoever owns it.
class RangeQueue {
 public:
  // `size_of` gives the bytes of a pair's tensors.
  RangeQueue(std::size_t pairs, std::function<std::uint64_t(std::size_t)> size_of)
      : pairs_(pairs), size_of_(std::move(size_of)) {}

  std::optional<Range> Next() {
    for (; next_pair_ < pairs_; SkipPair(next_pair_)) {
      const std::uint64_t size = size_of_(next_pair_);
      if (next_offset_ >= size) continue;
      const std::uint64_t begin = next_offset_;
      next_offset_ += std::min(kRangeBytes, size - begin);
      return Range{next_pair_, begin, next_offset_};
    }
    return std::nullopt;
  }
  // No more ranges of this pair.
  void SkipPair(std::size_t pair) {
    if (pair != next_pair_) return;
    ++next_pair_;
    next_offset_ = 0;
  }

 private:
  std::size_t pairs_;
  std::function<std::uint64_t(std::size_t)> size_of_;
  std::size_t next_pair_ = 0;
  std::uint64_t next_offset_ = 0;
};

// What both passes share: the queue, the buffers and the reading.
class Pass {
 public:
  Pass(const Checkpoint& a, const Checkpoint& b, const std::vector<TensorPair>& pairs)
      : a_(a),
        b_(b),
        pairs_(pairs),
        queue_(pairs.size(), [this](std::size_t pair) { return InfoOf(pair).size_bytes; }) {}

 protected:
  using Block = std::span<const std::byte>;

  const TensorInfo& InfoOf(std::size_t pair) const { return a_.tensors()[pairs_[pair].a]; }

  // Calls `on_block` for each block of a range until it returns false.
  template <class OnBlock>
  Status ReadRange(const Range& range, std::span<std::byte> buffers, OnBlock on_block) const {
    for (std::uint64_t offset = range.begin; offset < range.end; offset += kReadBlockBytes) {
      const std::size_t size = std::min<std::uint64_t>(kReadBlockBytes, range.end - offset);
      const auto block_a = buffers.first(size);
      const auto block_b = buffers.subspan(kReadBlockBytes, size);
      RETURN_IF_ERROR(a_.Read(pairs_[range.pair].a, offset, block_a));
      RETURN_IF_ERROR(b_.Read(pairs_[range.pair].b, offset, block_b));
      if (!on_block(Block(block_a), Block(block_b))) break;
    }
    return {};
  }

  // Runs `work(buffers)` on every thread; it takes ranges until NextRange has none.
  template <class Work>
  Status RunThreads(int threads, Work work) {
    RunOnWorkers(WorkerCount(threads), [&work] {
      const auto memory = std::make_unique_for_overwrite<std::byte[]>(2 * kReadBlockBytes);
      work(std::span<std::byte>(memory.get(), 2 * kReadBlockBytes));
    });
    return first_error_.status();
  }

  std::optional<Range> NextRange() {
    const std::lock_guard lock(mutex_);
    return queue_.Next();
  }

  const Checkpoint& a_;
  const Checkpoint& b_;
  const std::vector<TensorPair>& pairs_;
  std::mutex mutex_;  // guards the queue and the threads' common results
  RangeQueue queue_;
  FirstError first_error_;
};

class BitPass : private Pass {
 public:
  using Pass::Pass;

  Result<std::vector<std::size_t>> Run(int threads, std::vector<NonFiniteCounts>* non_finite) {
    differs_.assign(pairs_.size(), false);
    non_finite_ = non_finite;
    if (non_finite != nullptr) non_finite->assign(pairs_.size(), {});
    RETURN_IF_ERROR(RunThreads(threads, [this](std::span<std::byte> buffers) { Work(buffers); }));
    std::vector<std::size_t> differing;
    for (std::size_t pair = 0; pair < pairs_.size(); ++pair) {
      if (differs_[pair]) differing.push_back(pair);
    }
    return differing;
  }

 private:
  void Work(std::span<std::byte> buffers) {
    while (const auto range = NextRange()) {
      bool equal = true;
      NonFiniteCounts counts;
      const DType dtype = InfoOf(range->pair).dtype;
      const Status status = ReadRange(*range, buffers, [&](Block a, Block b) {
        equal = std::memcmp(a.data(), b.data(), a.size()) == 0;
        if (equal && non_finite_ != nullptr) counts.Add(CountNonFinite(dtype, a));
        return equal;
      });
      if (!first_error_.Check(status)) return;
      if (equal && counts.Total() == 0) continue;
      const std::lock_guard lock(mutex_);
      if (non_finite_ != nullptr) (*non_finite_)[range->pair].Add(counts);
      if (equal) continue;
      differs_[range->pair] = true;
      queue_.SkipPair(range->pair);
    }
  }

  std::vector<bool> differs_;
  std::vector<NonFiniteCounts>* non_finite_ = nullptr;
};

class MeasurePass : private Pass {
 public:
  using Pass::Pass;

  Result<std::vector<MeasuredPair>> Run(int threads) {
    measured_.resize(pairs_.size());
    range_sums_.resize(pairs_.size());
    for (std::size_t pair = 0; pair < pairs_.size(); ++pair) {
      range_sums_[pair].resize((InfoOf(pair).size_bytes + kRangeBytes - 1) / kRangeBytes);
    }
    RETURN_IF_ERROR(RunThreads(threads, [this](std::span<std::byte> buffers) { Work(buffers); }));
    for (std::size_t pair = 0; pair < pairs_.size(); ++pair) {
      for (const TensorSums& sums : range_sums_[pair]) measured_[pair].difference.sums.Add(sums);
    }
    return std::move(measured_);
  }

 private:
  void Work(std::span<std::byte> buffers) {
    RangeMeter meter;
    while (const auto range = NextRange()) {
      const DType dtype = InfoOf(range->pair).dtype;
      meter.Start(dtype, FirstElement(dtype, range->begin));
      MeasuredPair counted;
      const Status status = ReadRange(*range, buffers, [&](Block a, Block b) {
        meter.Add(a, b);
        counted.non_finite_a.Add(CountNonFinite(dtype, a));
        counted.non_finite_b.Add(CountNonFinite(dtype, b));
        return true;
      });
      if (!first_error_.Check(status)) return;
      const RangeDifference difference = meter.Finish();
      const std::lock_guard lock(mutex_);
      MeasuredPair& whole = measured_[range->pair];
      whole.difference.stats.Merge(difference.stats);
      whole.non_finite_a.Add(counted.non_finite_a);
      whole.non_finite_b.Add(counted.non_finite_b);
      range_sums_[range->pair][range->begin / kRangeBytes] = difference.sums;
    }
  }

  std::vector<MeasuredPair> measured_;
  std::vector<std::vector<TensorSums>> range_sums_;  // added at the end, in the tensor's order
};

}  // namespace

Result<std::vector<std::size_t>> FindDiffering(const Checkpoint& a, const Checkpoint& b,
                                               const std::vector<TensorPair>& pairs, int threads,
                                               std::vector<NonFiniteCounts>* non_finite) {
  return BitPass(a, b, pairs).Run(threads, non_finite);
}

Result<std::vector<MeasuredPair>> MeasurePairs(const Checkpoint& a, const Checkpoint& b,
                                               const std::vector<TensorPair>& pairs, int threads) {
  return MeasurePass(a, b, pairs).Run(threads);
}

RangeDifference MeasureBytes(DType dtype, std::span<const std::byte> a,
                             std::span<const std::byte> b, Kernel kernel) {
  RangeMeter meter(kernel);
  RangeDifference whole;
  for (std::size_t begin = 0; begin < a.size(); begin += kRangeBytes) {
    const std::size_t end = std::min<std::size_t>(begin + kRangeBytes, a.size());
    meter.Start(dtype, FirstElement(dtype, begin));
    for (std::size_t offset = begin; offset < end; offset += kReadBlockBytes) {
      const std::size_t size = std::min(kReadBlockBytes, end - offset);
      meter.Add(a.subspan(offset, size), b.subspan(offset, size));
    }
    const RangeDifference range = meter.Finish();
    whole.stats.Merge(range.stats);
    whole.sums.Add(range.sums);
  }
  return whole;
}

}  // namespace rharness
