// Hashes, paths and checks of RFC 6962.
#include "harness/trust/audit/merkle.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <tuple>
#include <utility>

namespace rharness {
namespace {

constexpr int kMostBatchLevel = 10;  // up to 1024 leaves are hashed level by level
constexpr std::size_t kParentBytes = 1 + 2 * sizeof(TreeHash);

// 0x01 || left || right, in 65 bytes at `out`.
void PutParent(const TreeHash& left, const TreeHash& right, std::byte* out) {
  out[0] = std::byte{1};
  std::memcpy(out + 1, left.data(), left.size());
  std::memcpy(out + 1 + left.size(), right.data(), right.size());
}

void AppendHash(const TreeHash& hash, std::string* out) {
  out->append(reinterpret_cast<const char*>(hash.data()), hash.size());
}

// The largest power of two below n; n > 1.
std::uint64_t SplitOf(std::uint64_t n) { return std::bit_floor(n - 1); }

// MTH(D[begin:end]); begin is a multiple of the largest power of two up to end - begin.
Result<TreeHash> RangeRoot(NodeSource* nodes, std::uint64_t begin, std::uint64_t end) {
  const std::uint64_t n = end - begin;
  if (std::has_single_bit(n)) return nodes->Node(std::countr_zero(n), begin / n);
  const std::uint64_t middle = begin + SplitOf(n);
  ASSIGN_OR_RETURN(const TreeHash left, RangeRoot(nodes, begin, middle));
  ASSIGN_OR_RETURN(const TreeHash right, RangeRoot(nodes, middle, end));
  return ParentHash(left, right);
}

}  // namespace

TreeHash LeafHash(std::string_view leaf) {
  Sha256 hash;
  hash.Update(std::string_view("\0", 1));
  hash.Update(leaf);
  return hash.Finish();
}

TreeHash ParentHash(const TreeHash& left, const TreeHash& right) {
  std::array<std::byte, kParentBytes> bytes;
  PutParent(left, right, bytes.data());
  return Sha256Of(bytes);
}

TreeHash EmptyTreeHash() { return Sha256Of({}); }

std::optional<TreeHash> ParseTreeHash(std::string_view hex) {
  if (!IsSha256Hex(hex)) return std::nullopt;
  const auto digit = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
  TreeHash hash;
  for (std::size_t i = 0; i < hash.size(); ++i) {
    hash[i] = static_cast<std::uint8_t>(digit(hex[2 * i]) * 16 + digit(hex[2 * i + 1]));
  }
  return hash;
}

std::uint64_t NodesOf(std::uint64_t leaves) {
  return 2 * leaves - static_cast<std::uint64_t>(std::popcount(leaves));
}

std::uint64_t NodePlace(int level, std::uint64_t index) {
  const std::uint64_t last_leaf = ((index + 1) << level) - 1;
  return NodesOf(last_leaf) + static_cast<std::uint64_t>(level);
}

Result<TreeHash> TreeRoot(NodeSource* nodes, std::uint64_t size) {
  if (size == 0) return EmptyTreeHash();
  return RangeRoot(nodes, 0, size);
}

Result<TreePath> InclusionPath(NodeSource* nodes, std::uint64_t index, std::uint64_t size) {
  TreePath path;
  std::uint64_t begin = 0;
  for (std::uint64_t end = size; end - begin > 1;) {
    const std::uint64_t middle = begin + SplitOf(end - begin);
    const bool left = index < middle;
    ASSIGN_OR_RETURN(const TreeHash other,
                     left ? RangeRoot(nodes, middle, end) : RangeRoot(nodes, begin, middle));
    path.push_back(other);
    (left ? end : begin) = middle;
  }
  std::ranges::reverse(path);
  return path;
}

Result<TreePath> ConsistencyPath(NodeSource* nodes, std::uint64_t first, std::uint64_t second) {
  TreePath path;
  bool whole = true;  // the rest of the first tree is the first tree itself
  std::uint64_t begin = 0;
  std::uint64_t end = second;
  while (first != end) {
    const std::uint64_t middle = begin + SplitOf(end - begin);
    const bool left = first <= middle;
    ASSIGN_OR_RETURN(const TreeHash other,
                     left ? RangeRoot(nodes, middle, end) : RangeRoot(nodes, begin, middle));
    path.push_back(other);
    (left ? end : begin) = middle;
    whole = whole && left;
  }
  if (!whole) {
    ASSIGN_OR_RETURN(const TreeHash rest, RangeRoot(nodes, begin, end));
    path.push_back(rest);
  }
  std::ranges::reverse(path);
  return path;
}

std::optional<TreeHash> RootOfInclusion(const TreeHash& leaf, std::uint64_t index,
                                        std::uint64_t size, std::span<const TreeHash> path) {
  if (index >= size) return std::nullopt;
  std::uint64_t node = index;
  std::uint64_t last = size - 1;
  TreeHash hash = leaf;
  for (const TreeHash& other : path) {
    if (last == 0) return std::nullopt;
    if ((node & 1) == 1 || node == last) {
      hash = ParentHash(other, hash);
      while ((node & 1) == 0 && node != 0) {
        node >>= 1;
        last >>= 1;
      }
    } else {
      hash = ParentHash(hash, other);
    }
    node >>= 1;
    last >>= 1;
  }
  if (last != 0) return std::nullopt;
  return hash;
}

bool IsConsistent(const SizedRoot& first, const SizedRoot& second, std::span<const TreeHash> path) {
  if (first.size > second.size) return false;
  if (first.size == second.size) return path.empty() && first.root == second.root;
  if (first.size == 0) return path.empty() && first.root == EmptyTreeHash();
  std::vector<TreeHash> steps(path.begin(), path.end());
  if (std::has_single_bit(first.size)) steps.insert(steps.begin(), first.root);
  if (steps.empty()) return false;
  std::uint64_t node = first.size - 1;
  std::uint64_t last = second.size - 1;
  for (; (node & 1) == 1; node >>= 1) last >>= 1;
  TreeHash of_first = steps.front();
  TreeHash of_second = steps.front();
  for (std::size_t i = 1; i < steps.size(); ++i) {
    if (last == 0) return false;
    if ((node & 1) == 1 || node == last) {
      of_first = ParentHash(steps[i], of_first);
      of_second = ParentHash(steps[i], of_second);
      while ((node & 1) == 0 && node != 0) {
        node >>= 1;
        last >>= 1;
      }
    } else {
      of_second = ParentHash(of_second, steps[i]);
    }
    node >>= 1;
    last >>= 1;
  }
  return last == 0 && of_first == first.root && of_second == second.root;
}

Result<TreeGrower> TreeGrower::Resume(NodeSource* nodes, std::uint64_t size) {
  TreeGrower grower;
  grower.size_ = size;
  std::uint64_t begin = 0;
  for (int level = 63; level >= 0; --level) {
    const std::uint64_t leaves = std::uint64_t{1} << level;
    if ((size & leaves) == 0) continue;
    ASSIGN_OR_RETURN(const TreeHash hash, nodes->Node(level, begin >> level));
    grower.peaks_.push_back({level, hash});
    begin += leaves;
  }
  return grower;
}

// Adds `hash` of a complete subtree at the end, and the parents that it completes.
void TreeGrower::AddSubtree(int level, TreeHash hash, std::string* nodes) {
  size_ += std::uint64_t{1} << level;
  while (!peaks_.empty() && peaks_.back().level == level) {
    hash = ParentHash(peaks_.back().hash, hash);
    peaks_.pop_back();
    ++level;
    AppendHash(hash, nodes);
  }
  peaks_.push_back({level, hash});
}

void TreeGrower::HashLeaves(std::span<const std::string_view> leaves) {
  const auto put = [](std::string_view leaf, std::vector<std::byte>* bytes) {
    const std::size_t room = PaddedBlocks(leaf.size() + 1) * Sha256Pair::kBlockBytes;
    if (bytes->size() < room) bytes->resize(std::max<std::size_t>(512, 2 * room));
    (*bytes)[0] = std::byte{0};
    std::memcpy(bytes->data() + 1, leaf.data(), leaf.size());
    PadMessage(bytes->data(), leaf.size() + 1);
    return room / Sha256Pair::kBlockBytes;
  };
  std::vector<TreeHash>& out = levels_[0];
  for (std::size_t i = 0; i < leaves.size(); i += 2) {
    const std::size_t blocks = put(leaves[i], &scratch_[0]);
    if (put(leaves[i + 1], &scratch_[1]) == blocks) {
      std::tie(out[i], out[i + 1]) =
          pair_.FinishPadded(scratch_[0].data(), scratch_[1].data(), blocks);
    } else {
      out[i] = LeafHash(leaves[i]);
      out[i + 1] = LeafHash(leaves[i + 1]);
    }
  }
}

// All of this level, of those below it.
void TreeGrower::HashParents(std::size_t level) {
  constexpr std::size_t kBlocks = PaddedBlocks(kParentBytes);
  const std::vector<TreeHash>& below = levels_[level - 1];
  std::vector<TreeHash>& here = levels_[level];
  std::array<std::byte, kBlocks * Sha256Pair::kBlockBytes> left;
  std::array<std::byte, kBlocks * Sha256Pair::kBlockBytes> right;
  PadMessage(left.data(), kParentBytes);
  PadMessage(right.data(), kParentBytes);
  for (std::size_t i = 0; i + 1 < here.size(); i += 2) {
    PutParent(below[2 * i], below[2 * i + 1], left.data());
    PutParent(below[2 * i + 2], below[2 * i + 3], right.data());
    std::tie(here[i], here[i + 1]) = pair_.FinishPadded(left.data(), right.data(), kBlocks);
  }
  if (here.size() == 1) here[0] = ParentHash(below[0], below[1]);
}

// 2^level of them, behind a multiple of as many; level > 0.
void TreeGrower::AddBatch(int level, std::span<const std::string_view> leaves, std::string* nodes) {
  const auto top = static_cast<std::size_t>(level);
  levels_.resize(std::max(levels_.size(), top + 1));
  for (std::size_t i = 0; i <= top; ++i) levels_[i].resize(leaves.size() >> i);
  HashLeaves(leaves);
  for (std::size_t i = 1; i <= top; ++i) HashParents(i);
  std::size_t end = nodes->size();
  nodes->resize(end + (2 * leaves.size() - 1) * sizeof(TreeHash));
  for (std::size_t leaf = 0; leaf < leaves.size(); ++leaf) {
    const auto completed = static_cast<std::size_t>(std::countr_zero(leaf + 1));
    for (std::size_t i = 0; i <= completed; ++i, end += sizeof(TreeHash)) {
      std::memcpy(nodes->data() + end, &levels_[i][((leaf + 1) >> i) - 1], sizeof(TreeHash));
    }
  }
  AddSubtree(level, levels_[top][0], nodes);
}

void TreeGrower::Add(std::span<const std::string_view> leaves, std::string* nodes) {
  while (!leaves.empty()) {
    // The largest complete subtree that begins here with all leaves present.
    const int level =
        std::min({size_ == 0 ? 63 : std::countr_zero(size_),
                  static_cast<int>(std::bit_width(leaves.size())) - 1, kMostBatchLevel});
    const std::size_t count = std::size_t{1} << level;
    if (level > 0) {
      AddBatch(level, leaves.first(count), nodes);
    } else {
      const TreeHash leaf = LeafHash(leaves.front());
      AppendHash(leaf, nodes);
      AddSubtree(0, leaf, nodes);
    }
    leaves = leaves.subspan(count);
  }
}

TreeHash TreeGrower::Root() const {
  if (peaks_.empty()) return EmptyTreeHash();
  TreeHash hash = peaks_.back().hash;
  for (std::size_t i = peaks_.size() - 1; i-- > 0;) hash = ParentHash(peaks_[i].hash, hash);
  return hash;
}

}  // namespace rharness
