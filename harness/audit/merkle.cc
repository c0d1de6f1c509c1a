// Hashes, paths and checks of RFC 6962.
#include "harness/audit/merkle.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <tuple>
#include <utility>

namespace rharness {
namespace {

constexpr int kBatchLevel = 10;  // 1024 leaves are hashed level by level
constexpr std::size_t kBatchLeaves = std::size_t{1} << kBatchLevel;
constexpr std::size_t kParentBytes = 1 + 2 * sizeof(TreeHash);

std::span<const std::byte> AsBytes(const std::vector<std::byte>& bytes, std::size_t size) {
  return {bytes.data(), size};
}

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
  bool whole = true;  // what is left of the first tree is the first tree itself
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

// `hash` of a complete subtree behind what is there, and the parents that it completes.
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

void TreeGrower::HashLeaves(std::span<const std::string_view> leaves, TreeHash* out) {
  const auto put = [](std::string_view leaf, std::vector<std::byte>* bytes) {
    if (bytes->size() <= leaf.size()) bytes->resize(std::max<std::size_t>(512, 2 * leaf.size()));
    (*bytes)[0] = std::byte{0};
    std::memcpy(bytes->data() + 1, leaf.data(), leaf.size());
  };
  for (std::size_t i = 0; i + 1 < leaves.size(); i += 2) {
    put(leaves[i], &scratch_[0]);
    put(leaves[i + 1], &scratch_[1]);
    std::tie(out[i], out[i + 1]) = pair_.FinishBoth(AsBytes(scratch_[0], leaves[i].size() + 1),
                                                    AsBytes(scratch_[1], leaves[i + 1].size() + 1));
  }
  if (leaves.size() % 2 == 1) out[leaves.size() - 1] = LeafHash(leaves.back());
}

// kBatchLeaves of them, behind a multiple of as many.
void TreeGrower::AddBatch(std::span<const std::string_view> leaves, std::string* nodes) {
  std::vector<std::vector<TreeHash>> levels(kBatchLevel + 1);
  levels[0].resize(kBatchLeaves);
  HashLeaves(leaves, levels[0].data());
  std::array<std::byte, kParentBytes> left;
  std::array<std::byte, kParentBytes> right;
  for (std::size_t level = 1; level <= kBatchLevel; ++level) {
    const std::vector<TreeHash>& below = levels[level - 1];
    std::vector<TreeHash>& here = levels[level];
    here.resize(below.size() / 2);
    for (std::size_t i = 0; i + 1 < here.size(); i += 2) {
      PutParent(below[2 * i], below[2 * i + 1], left.data());
      PutParent(below[2 * i + 2], below[2 * i + 3], right.data());
      std::tie(here[i], here[i + 1]) = pair_.FinishBoth(left, right);
    }
    if (here.size() == 1) here[0] = ParentHash(below[0], below[1]);
  }
  for (std::size_t leaf = 0; leaf < kBatchLeaves; ++leaf) {
    const auto completed = static_cast<std::size_t>(std::countr_zero(leaf + 1));
    for (std::size_t level = 0; level <= completed; ++level) {
      AppendHash(levels[level][((leaf + 1) >> level) - 1], nodes);
    }
  }
  AddSubtree(kBatchLevel, levels[kBatchLevel][0], nodes);
}

void TreeGrower::Add(std::span<const std::string_view> leaves, std::string* nodes) {
  while (!leaves.empty()) {
    if (size_ % kBatchLeaves == 0 && leaves.size() >= kBatchLeaves) {
      AddBatch(leaves.first(kBatchLeaves), nodes);
      leaves = leaves.subspan(kBatchLeaves);
      continue;
    }
    const TreeHash leaf = LeafHash(leaves.front());
    AppendHash(leaf, nodes);
    AddSubtree(0, leaf, nodes);
    leaves = leaves.subspan(1);
  }
}

TreeHash TreeGrower::Root() const {
  if (peaks_.empty()) return EmptyTreeHash();
  TreeHash hash = peaks_.back().hash;
  for (std::size_t i = peaks_.size() - 1; i-- > 0;) hash = ParentHash(peaks_[i].hash, hash);
  return hash;
}

}  // namespace rharness
