// The tree of RFC 6962: published roots and paths, and every small tree beside the recursive
// definitions of the RFC.
#include "harness/trust/audit/merkle.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <string>
#include <vector>

namespace rharness {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::string Bytes(std::string_view hex) {
  std::string bytes;
  for (std::size_t i = 0; i < hex.size(); i += 2) {
    bytes.push_back(static_cast<char>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16)));
  }
  return bytes;
}

// The eight leaves of the tests of google/certificate-transparency (merkletree), and the roots over
// the first n of them, from the empty tree on.
constexpr const char* kLeaves[] = {"",
                                   "00",
                                   "10",
                                   "2021",
                                   "3031",
                                   "40414243",
                                   "5051525354555657",
                                   "606162636465666768696a6b6c6d6e6f"};
constexpr const char* kRoots[] = {
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328"};

// The nodes of a tree in memory, as they would lie in a file.
class HeldNodes : public NodeSource {
 public:
  explicit HeldNodes(const std::vector<std::string>& leaves, std::size_t at_a_time = 1) {
    std::vector<std::string_view> views(leaves.begin(), leaves.end());
    for (std::size_t i = 0; i < views.size(); i += at_a_time) {
      const std::size_t count = std::min(at_a_time, views.size() - i);
      grower_.Add(std::span(views).subspan(i, count), &bytes_);
    }
  }
  Result<TreeHash> Node(int level, std::uint64_t index) override {
    TreeHash hash;
    const std::string at = bytes_.substr(NodePlace(level, index) * 32, 32);
    if (at.size() != 32) return IntegrityError("no such node");
    std::ranges::copy(at, hash.begin());
    return hash;
  }
  TreeHash Root() const { return grower_.Root(); }
  const std::string& bytes() const { return bytes_; }

 private:
  TreeGrower grower_;
  std::string bytes_;
};

std::vector<std::string> PublishedLeaves(std::size_t count) {
  std::vector<std::string> leaves;
  for (std::size_t i = 0; i < count; ++i) leaves.push_back(Bytes(kLeaves[i]));
  return leaves;
}
std::vector<std::string> NumberedLeaves(std::size_t count) {
  std::vector<std::string> leaves;
  for (std::size_t i = 0; i < count; ++i) leaves.push_back("leaf " + std::to_string(i * i));
  return leaves;
}

std::vector<std::string> Hex(const TreePath& path) {
  std::vector<std::string> hex;
  for (const TreeHash& hash : path) hex.push_back(ToHex(hash));
  return hex;
}

// The definitions of RFC 6962, section 2.1, as they stand there.
TreeHash HashOf(const std::string& text) {
  return Sha256Of(std::as_bytes(std::span(text.data(), text.size())));
}
std::string Text(const TreeHash& hash) { return std::string(hash.begin(), hash.end()); }
std::size_t K(std::size_t n) {
  std::size_t k = 1;
  while (k * 2 < n) k *= 2;
  return k;
}
using Leaves = std::span<const std::string>;
TreeHash Mth(Leaves d) {
  if (d.empty()) return HashOf("");
  if (d.size() == 1) return HashOf(std::string(1, '\0') + d[0]);
  const std::size_t k = K(d.size());
  return HashOf("\1" + Text(Mth(d.first(k))) + Text(Mth(d.subspan(k))));
}
TreePath RfcPath(std::size_t m, Leaves d) {
  if (d.size() == 1) return {};
  const std::size_t k = K(d.size());
  TreePath path = m < k ? RfcPath(m, d.first(k)) : RfcPath(m - k, d.subspan(k));
  path.push_back(m < k ? Mth(d.subspan(k)) : Mth(d.first(k)));
  return path;
}
TreePath SubProof(std::size_t m, Leaves d, bool b) {
  if (m == d.size()) return b ? TreePath() : TreePath{Mth(d)};
  const std::size_t k = K(d.size());
  TreePath path = m <= k ? SubProof(m, d.first(k), b) : SubProof(m - k, d.subspan(k), false);
  path.push_back(m <= k ? Mth(d.subspan(k)) : Mth(d.first(k)));
  return path;
}

TEST(Merkle, ComesToThePublishedRoots) {
  EXPECT_EQ(ToHex(EmptyTreeHash()), kRoots[0]);
  for (std::size_t n = 0; n <= 8; ++n) {
    HeldNodes nodes(PublishedLeaves(n));
    EXPECT_EQ(ToHex(nodes.Root()), kRoots[n]) << n;
    EXPECT_EQ(ToHex(*TreeRoot(&nodes, n)), kRoots[n]) << n;
  }
}

TEST(Merkle, ComesToThePublishedRootsOfAllBeginningsOfOneTree) {
  HeldNodes nodes(PublishedLeaves(8));
  for (std::size_t n = 0; n <= 8; ++n) EXPECT_EQ(ToHex(*TreeRoot(&nodes, n)), kRoots[n]) << n;
}

TEST(Merkle, MakesThePublishedInclusionPaths) {
  constexpr char kOf0[] = "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d";
  constexpr char kOf1[] = "96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7";
  constexpr char kOf2To3[] = "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e";
  constexpr char kOf4To7[] = "6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4";
  constexpr char kOf4[] = "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b";
  constexpr char kOf6To7[] = "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0";
  HeldNodes nodes(PublishedLeaves(8));
  EXPECT_THAT(*InclusionPath(&nodes, 0, 1), IsEmpty());
  EXPECT_THAT(Hex(*InclusionPath(&nodes, 0, 8)), ElementsAre(kOf1, kOf2To3, kOf4To7));
  EXPECT_THAT(Hex(*InclusionPath(&nodes, 5, 8)), ElementsAre(kOf4, kOf6To7, kRoots[4]));
  EXPECT_THAT(Hex(*InclusionPath(&nodes, 2, 3)), ElementsAre(kRoots[2]));
  EXPECT_THAT(Hex(*InclusionPath(&nodes, 1, 5)), ElementsAre(kOf0, kOf2To3, kOf4));
}

TEST(Merkle, MakesThePublishedConsistencyPaths) {
  constexpr char kOf1[] = "96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7";
  constexpr char kOf2To3[] = "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e";
  constexpr char kOf4To7[] = "6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4";
  constexpr char kOf4To5[] = "0ebc5d3437fbe2db158b9f126a1d118e308181031d0a949f8dededebc558ef6a";
  constexpr char kOf6To7[] = "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0";
  constexpr char kOf4[] = "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b";
  HeldNodes nodes(PublishedLeaves(8));
  EXPECT_THAT(*ConsistencyPath(&nodes, 1, 1), IsEmpty());
  EXPECT_THAT(Hex(*ConsistencyPath(&nodes, 1, 8)), ElementsAre(kOf1, kOf2To3, kOf4To7));
  EXPECT_THAT(Hex(*ConsistencyPath(&nodes, 6, 8)), ElementsAre(kOf4To5, kOf6To7, kRoots[4]));
  EXPECT_THAT(Hex(*ConsistencyPath(&nodes, 2, 5)), ElementsAre(kOf2To3, kOf4));
}

TEST(Merkle, DoesInEverySmallTreeWhatTheDefinitionsSay) {
  constexpr std::size_t kMost = 66;
  const std::vector<std::string> leaves = NumberedLeaves(kMost);
  HeldNodes nodes(leaves);
  for (std::size_t n = 1; n <= kMost; ++n) {
    const Leaves d = Leaves(leaves).first(n);
    const TreeHash root = Mth(d);
    ASSERT_EQ(*TreeRoot(&nodes, n), root) << n;
    for (std::size_t m = 0; m < n; ++m) {
      const TreePath path = *InclusionPath(&nodes, m, n);
      ASSERT_EQ(path, RfcPath(m, d)) << m << " of " << n;
      ASSERT_EQ(RootOfInclusion(LeafHash(leaves[m]), m, n, path), root) << m << " of " << n;
      const TreePath proof = *ConsistencyPath(&nodes, m + 1, n);
      ASSERT_EQ(proof, SubProof(m + 1, d, true)) << m + 1 << " in " << n;
      ASSERT_TRUE(IsConsistent({m + 1, Mth(d.first(m + 1))}, {n, root}, proof)) << m + 1;
    }
  }
}

TEST(Merkle, TakesNoPathThatIsChangedCutOrForAnotherPlace) {
  constexpr std::size_t kSize = 13;
  const std::vector<std::string> leaves = NumberedLeaves(kSize);
  HeldNodes nodes(leaves);
  const TreeHash root = nodes.Root();
  for (std::size_t m = 0; m < kSize; ++m) {
    const TreePath path = *InclusionPath(&nodes, m, kSize);
    const TreeHash leaf = LeafHash(leaves[m]);
    for (std::size_t at = 0; at < path.size(); ++at) {
      TreePath changed = path;
      changed[at][at % 32] ^= 1;
      EXPECT_NE(RootOfInclusion(leaf, m, kSize, changed), root);
    }
    TreePath longer = path;
    longer.push_back(root);
    EXPECT_NE(RootOfInclusion(leaf, m, kSize, longer), root);
    EXPECT_NE(RootOfInclusion(leaf, m, kSize, std::span(path).first(path.size() - 1)), root);
    for (std::size_t other = 0; other < kSize; ++other) {
      if (other == m) continue;
      EXPECT_NE(RootOfInclusion(leaf, other, kSize, path), root);
    }
    EXPECT_EQ(RootOfInclusion(leaf, kSize, kSize, path), std::nullopt);
  }
}

TEST(Merkle, TakesNoConsistencyOfOtherTrees) {
  const std::vector<std::string> leaves = NumberedLeaves(21);
  HeldNodes nodes(leaves);
  const SizedRoot all{21, nodes.Root()};
  for (std::size_t m = 1; m <= 20; ++m) {
    const TreePath path = *ConsistencyPath(&nodes, m, 21);
    SizedRoot first{m, *TreeRoot(&nodes, m)};
    EXPECT_TRUE(IsConsistent(first, all, path));
    for (std::size_t at = 0; at < path.size(); ++at) {
      TreePath changed = path;
      changed[at][0] ^= 0x80;
      EXPECT_FALSE(IsConsistent(first, all, changed)) << m;
    }
    EXPECT_FALSE(IsConsistent({m + 1, first.root}, all, path)) << m;
    first.root[31] ^= 1;
    EXPECT_FALSE(IsConsistent(first, all, path)) << m;
  }
  EXPECT_FALSE(IsConsistent(all, {20, *TreeRoot(&nodes, 20)}, {}));
  EXPECT_TRUE(IsConsistent(all, all, {}));
}

TEST(Merkle, HashesThousandsAtOnceAsItHashesThemOneByOne) {
  for (const std::size_t count : {1023U, 1024U, 1025U, 2048U, 3100U}) {
    std::vector<std::string> leaves = NumberedLeaves(count);
    for (std::size_t i = 0; i < count; i += 7) leaves[i].append(i % 300, 'x');
    const HeldNodes slow(leaves);
    for (const std::size_t at_a_time : {3U, 1000U, 1024U, 5000U}) {
      const HeldNodes fast(leaves, at_a_time);
      EXPECT_EQ(fast.bytes(), slow.bytes()) << count << " " << at_a_time;
      EXPECT_EQ(fast.Root(), Mth(leaves)) << count << " " << at_a_time;
    }
  }
}

TEST(Merkle, GoesOnWhereATreeEnded) {
  const std::vector<std::string> leaves = NumberedLeaves(40);
  HeldNodes nodes(leaves);
  for (std::size_t n = 0; n <= 40; ++n) {
    auto grower = TreeGrower::Resume(&nodes, n);
    ASSERT_TRUE(grower.ok());
    EXPECT_EQ(grower->Root(), Mth(Leaves(leaves).first(n)));
    std::string more;
    const std::vector<std::string_view> rest(leaves.begin() + static_cast<std::ptrdiff_t>(n),
                                             leaves.end());
    grower->Add(rest, &more);
    EXPECT_EQ(grower->Root(), Mth(leaves));
    EXPECT_EQ(nodes.bytes().substr(NodesOf(n) * 32), more);
  }
}

}  // namespace
}  // namespace rharness
