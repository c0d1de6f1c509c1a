// Compares every tensor without a counterpart with the possible twins on its side.
#include "compare/tied_weights.h"

#include <algorithm>
#include <cstring>
#include <set>
#include <span>
#include <string_view>

namespace rharness {
namespace {

constexpr std::size_t kMostLookedAt = 16;
// Tensors that are not twins nearly always part here.
constexpr std::uint64_t kFirstLookBytes = std::uint64_t{4} << 10;

// Whether two tensors of one dtype and shape have the same bits, and not one value throughout.
class TwinCheck {
 public:
  explicit TwinCheck(const Checkpoint& checkpoint)
      : checkpoint_(checkpoint), x_(kReadBlockBytes), y_(kReadBlockBytes) {}

  Result<bool> AreTwins(std::size_t x, std::size_t y) {
    const TensorInfo& info = checkpoint_.tensors()[x];
    const auto element = std::max<std::size_t>(1, static_cast<std::size_t>(BitsOf(info.dtype)) / 8);
    bool varies = false;
    std::uint64_t block = kFirstLookBytes;
    for (std::uint64_t offset = 0; offset < info.size_bytes; block = kReadBlockBytes) {
      const auto size = std::min<std::uint64_t>(block, info.size_bytes - offset);
      const auto of_x = std::span(x_).first(size), of_y = std::span(y_).first(size);
      RETURN_IF_ERROR(checkpoint_.Read(x, offset, of_x));
      RETURN_IF_ERROR(checkpoint_.Read(y, offset, of_y));
      if (std::memcmp(of_x.data(), of_y.data(), size) != 0) return false;
      if (offset == 0) first_.assign(x_.begin(), x_.begin() + static_cast<std::ptrdiff_t>(element));
      varies = varies || Varies(of_x);
      offset += size;
    }
    return varies;
  }

 private:
  bool Varies(std::span<const std::byte> block) const {
    for (std::size_t at = 0; at + first_.size() <= block.size(); at += first_.size()) {
      if (!std::ranges::equal(block.subspan(at, first_.size()), first_)) return true;
    }
    return false;
  }

  const Checkpoint& checkpoint_;
  std::vector<std::byte> x_, y_;
  std::vector<std::byte> first_;  // element
};

// Names of tensors that both sides have, equal bit for bit.
std::set<std::string_view> EqualOnBoth(const std::vector<std::string_view>& names_a,
                                       const std::vector<std::string_view>& names_b,
                                       const CheckpointDifference& difference) {
  std::set<std::string_view> equal;
  std::ranges::set_intersection(names_a, names_b, std::inserter(equal, equal.end()));
  for (const std::string& name : difference.shape_or_dtype) equal.erase(name);
  for (const TensorDifference& tensor : difference.differing) equal.erase(tensor.name);
  return equal;
}

template <class Tensor>
std::set<std::string_view> EqualOnBoth(const std::vector<Tensor>& a, const std::vector<Tensor>& b,
                                       const CheckpointDifference& difference) {
  std::vector<std::string_view> names_a, names_b;
  for (const Tensor& tensor : a) names_a.push_back(tensor.name);
  for (const Tensor& tensor : b) names_b.push_back(tensor.name);
  std::ranges::sort(names_a);
  std::ranges::sort(names_b);
  return EqualOnBoth(names_a, names_b, difference);
}

// For every name of `alone` the first tensor of its side that is equal on both and for which
// `is_twin(x, y)` holds.
template <class Tensor, class IsTwin>
Status FindTwins(const std::vector<Tensor>& tensors, const std::vector<std::string>& alone,
                 const std::set<std::string_view>& equal, bool in_a, IsTwin is_twin,
                 std::vector<TiedTensor>* tied) {
  for (std::size_t i = 0; i < std::min(alone.size(), kMostLookedAt); ++i) {
    const auto x = std::ranges::find(tensors, alone[i], &Tensor::name);
    if (x == tensors.end()) continue;
    for (auto y = tensors.begin(); y != tensors.end(); ++y) {
      const bool alike = y->dtype == x->dtype && y->block_format == x->block_format &&
                         y->shape == x->shape && equal.contains(y->name);
      if (!alike) continue;
      ASSIGN_OR_RETURN(const bool twin, is_twin(static_cast<std::size_t>(x - tensors.begin()),
                                                static_cast<std::size_t>(y - tensors.begin())));
      if (!twin) continue;
      tied->push_back({alone[i], y->name, in_a});
      break;
    }
  }
  return {};
}

}  // namespace

Result<std::vector<TiedTensor>> FindTied(const Checkpoint& a, const Checkpoint& b,
                                         const CheckpointDifference& difference) {
  std::vector<TiedTensor> tied;
  if (difference.only_a.empty() && difference.only_b.empty()) return tied;
  const auto equal = EqualOnBoth(a.tensors(), b.tensors(), difference);
  for (const Checkpoint* side : {&a, &b}) {
    const bool in_a = side == &a;
    TwinCheck check(*side);
    const auto is_twin = [&](std::size_t x, std::size_t y) { return check.AreTwins(x, y); };
    RETURN_IF_ERROR(FindTwins(side->tensors(), in_a ? difference.only_a : difference.only_b, equal,
                              in_a, is_twin, &tied));
  }
  return tied;
}

std::vector<TiedTensor> FindTied(const std::vector<TensorDigest>& a,
                                 const std::vector<TensorDigest>& b,
                                 const CheckpointDifference& difference) {
  std::vector<TiedTensor> tied;
  const auto equal = EqualOnBoth(a, b, difference);
  for (const auto* side : {&a, &b}) {
    const bool in_a = side == &a;
    const auto is_twin = [&](std::size_t x, std::size_t y) -> Result<bool> {
      return (*side)[x].shape.size() >= 2 && !(*side)[x].sha256.empty() &&
             (*side)[x].sha256 == (*side)[y].sha256;
    };
    (void)FindTwins(*side, in_a ? difference.only_a : difference.only_b, equal, in_a, is_twin,
                    &tied);
  }
  return tied;
}

}  // namespace rharness
