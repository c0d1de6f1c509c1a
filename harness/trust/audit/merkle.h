// The Merkle tree of RFC 6962: hashes of leaves and nodes, roots, and proofs with their checks.
//
// Role: pure; the tree grows by leaves at its end, and every complete subtree is hashed once and
// kept by the caller. entry_file.h stores them. Source: RFC 6962, sections 2.1 to 2.1.2; the checks
// are those of RFC 9162, sections 2.1.3.2 and 2.1.4.2.
#ifndef RHARNESS_HARNESS_TRUST_AUDIT_MERKLE_H_
#define RHARNESS_HARNESS_TRUST_AUDIT_MERKLE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/digest.h"
#include "harness/base/digest_pair.h"
#include "harness/base/result.h"

namespace rharness {

using TreeHash = Sha256Bytes;
inline constexpr std::size_t kTreeHashBytes = sizeof(TreeHash);
using TreePath = std::vector<TreeHash>;

TreeHash LeafHash(std::string_view leaf);                          // SHA-256(0x00 || leaf)
TreeHash ParentHash(const TreeHash& left, const TreeHash& right);  // SHA-256(0x01 || l || r)
TreeHash EmptyTreeHash();                                          // SHA-256 of nothing
std::optional<TreeHash> ParseTreeHash(std::string_view hex);       // 64 lower-case digits

inline constexpr std::size_t kMostPathHashes = 64;  // of any proof over 2^63 leaves

// Complete subtrees in the order of their completion: each leaf, followed by the parents that it
// completes. Their number for this many leaves: 2 n - popcount(n).
std::uint64_t NodesOf(std::uint64_t leaves);
// The place in this order of the subtree over the leaves [index << level, (index + 1) << level).
std::uint64_t NodePlace(int level, std::uint64_t index);

// Gives the hash of a complete subtree, whose leaves are all there.
class NodeSource {
 public:
  virtual ~NodeSource() = default;
  virtual Result<TreeHash> Node(int level, std::uint64_t index) = 0;
};

// Of the tree of the first `size` leaves. Cost: as many nodes as the logarithm of the size,
// squared.
Result<TreeHash> TreeRoot(NodeSource* nodes, std::uint64_t size);
// PATH(index, D[size]); index < size.
Result<TreePath> InclusionPath(NodeSource* nodes, std::uint64_t index, std::uint64_t size);
// PROOF(first, D[second]); 0 < first <= second; empty if they are equal.
Result<TreePath> ConsistencyPath(NodeSource* nodes, std::uint64_t first, std::uint64_t second);

// The root of a leaf and its path; empty if the path does not fit such a tree.
std::optional<TreeHash> RootOfInclusion(const TreeHash& leaf, std::uint64_t index,
                                        std::uint64_t size, std::span<const TreeHash> path);
struct SizedRoot {
  std::uint64_t size = 0;
  TreeHash root{};
  bool operator==(const SizedRoot&) const = default;
};
// Whether the path shows that the first tree is a prefix of the second.
bool IsConsistent(const SizedRoot& first, const SizedRoot& second, std::span<const TreeHash> path);

// A tree as it grows. Computes two hashes at a time if many leaves come at once.
class TreeGrower {
 public:
  TreeGrower() = default;
  // Goes on where a tree of this size ended.
  static Result<TreeGrower> Resume(NodeSource* nodes, std::uint64_t size);

  // Adds leaves, and appends the completed nodes to `nodes` (32 bytes each, in their order).
  void Add(std::span<const std::string_view> leaves, std::string* nodes);
  std::uint64_t size() const { return size_; }
  TreeHash Root() const;

 private:
  void AddSubtree(int level, TreeHash hash, std::string* nodes);
  void AddBatch(int level, std::span<const std::string_view> leaves, std::string* nodes);
  void HashLeaves(std::span<const std::string_view> leaves);
  void HashParents(std::size_t level);

  std::uint64_t size_ = 0;
  struct Peak {
    int level = 0;
    TreeHash hash{};
  };
  std::vector<Peak> peaks_;  // complete subtrees without a parent yet, the largest first
  Sha256Pair pair_;
  std::vector<std::byte> scratch_[2];
  std::vector<std::vector<TreeHash>> levels_;  // of the subtree being added
};

}  // namespace rharness

#endif  // RHARNESS_HARNESS_TRUST_AUDIT_MERKLE_H_
