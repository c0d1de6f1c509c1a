// Alignment of two sequences of calls.
#include "compare/traces/align_calls.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace rharness {
namespace {

struct Range {
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  std::uint32_t size() const { return to - from; }
};

bool IsSame(const CallEntry& a, const CallEntry& b) {
  return a.key == b.key && a.given == b.given && a.made == b.made && !a.unknown && !b.unknown;
}

struct Occurrence {
  std::uint64_t identity = 0;
  std::uint32_t at = 0;
};

// Of each identity, by identity and place.
template <class Identity>
std::vector<Occurrence> SortedBy(std::span<const CallEntry> entries, Range range,
                                 const Identity& identity) {
  std::vector<Occurrence> sorted;
  sorted.reserve(range.size());
  for (std::uint32_t i = range.from; i < range.to; ++i) sorted.push_back({identity(entries[i]), i});
  std::ranges::sort(sorted, {},
                    [](const Occurrence& one) { return std::pair(one.identity, one.at); });
  return sorted;
}

// The longest part of the pairs that ascends on both sides. Pairs are sorted by a.
std::vector<std::pair<std::uint32_t, std::uint32_t>> Ascending(
    const std::vector<std::pair<std::uint32_t, std::uint32_t>>& pairs) {
  std::vector<std::size_t> tails;  // index of the pair that ends the best sequence of each length
  std::vector<std::size_t> before(pairs.size());
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const auto place = std::ranges::lower_bound(tails, pairs[i].second, {},
                                                [&](std::size_t one) { return pairs[one].second; });
    before[i] = place == tails.begin() ? i : *(place - 1);
    if (place == tails.end())
      tails.push_back(i);
    else
      *place = i;
  }
  std::vector<std::pair<std::uint32_t, std::uint32_t>> longest(tails.size());
  std::size_t at = tails.empty() ? 0 : tails.back();
  for (std::size_t i = tails.size(); i-- > 0; at = before[at]) longest[i] = pairs[at];
  return longest;
}

class Aligner {
 public:
  Aligner(std::span<const CallEntry> a, std::span<const CallEntry> b)
      : a_(a), b_(b), partner_(a.size(), kNoCall), taken_(b.size(), false) {}

  std::vector<CallMatch> Run() {
    Range a{0, static_cast<std::uint32_t>(a_.size())};
    Range b{0, static_cast<std::uint32_t>(b_.size())};
    while (a.size() > 0 && b.size() > 0 && IsSame(a_[a.from], b_[b.from])) Pair(a.from++, b.from++);
    while (a.size() > 0 && b.size() > 0 && IsSame(a_[a.to - 1], b_[b.to - 1])) Pair(--a.to, --b.to);
    PairUnique(a, b, Level::kWhole);
    const std::vector<std::pair<std::uint32_t, std::uint32_t>> moved = Moved(a, b);
    return AllMatches(moved);
  }

 private:
  void Pair(std::uint32_t a, std::uint32_t b) {
    partner_[a] = b;
    taken_[b] = true;
  }

  // By how many properties calls are one and the same.
  enum class Level { kWhole, kGiven, kSite };

  static std::uint64_t IdentityOf(const CallEntry& one, Level level) {
    if (level == Level::kSite) return one.key * 31 + one.site;
    if (one.unknown) return 0;
    return one.key * 31 + one.given * 17 + (level == Level::kWhole ? one.made : 0);
  }
  bool Matches(std::uint32_t at_a, std::uint32_t at_b, Level level) const {
    const CallEntry& a = a_[at_a];
    const CallEntry& b = b_[at_b];
    if (level == Level::kWhole) return IsSame(a, b);
    const bool known = !a.unknown && !b.unknown;
    return a.key == b.key &&
           (level == Level::kGiven ? known && a.given == b.given : a.site == b.site && a.site != 0);
  }

  // What occurs once on each side is paired as far as it ascends; then what lies between.
  void PairUnique(Range a, Range b, Level level) {
    if (a.size() == 0 || b.size() == 0) return;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs = Unique(a, b, level);
    std::ranges::sort(pairs);
    for (const auto& [at_a, at_b] : Ascending(pairs)) {
      PairBetween({a.from, at_a}, {b.from, at_b}, level);
      Pair(at_a, at_b);
      a.from = at_a + 1;
      b.from = at_b + 1;
    }
    PairBetween(a, b, level);
  }
  void PairBetween(Range a, Range b, Level level) {
    if (level == Level::kSite) return PairGap(a, b);
    PairUnique(a, b, level == Level::kWhole ? Level::kGiven : Level::kSite);
  }

  std::vector<std::pair<std::uint32_t, std::uint32_t>> Unique(Range a, Range b, Level level) const {
    const auto identity = [level](const CallEntry& one) { return IdentityOf(one, level); };
    const std::vector<Occurrence> of_a = SortedBy(a_, a, identity);
    const std::vector<Occurrence> of_b = SortedBy(b_, b, identity);
    std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs;
    for (std::size_t i = 0, j = 0; i < of_a.size() && j < of_b.size();) {
      const std::uint64_t one = of_a[i].identity;
      const std::uint64_t other = of_b[j].identity;
      const std::size_t from_a = i;
      const std::size_t from_b = j;
      while (one <= other && i < of_a.size() && of_a[i].identity == one) ++i;
      while (other <= one && j < of_b.size() && of_b[j].identity == other) ++j;
      const bool once = one == other && i == from_a + 1 && j == from_b + 1;
      if (once && Matches(of_a[from_a].at, of_b[from_b].at, level)) {
        pairs.emplace_back(of_a[from_a].at, of_b[from_b].at);
      }
    }
    return pairs;
  }

  void PairGap(Range a, Range b) {
    const auto same = [this](std::uint32_t i, std::uint32_t j) { return a_[i].key == b_[j].key; };
    while (a.size() > 0 && b.size() > 0 && same(a.from, b.from)) Pair(a.from++, b.from++);
    while (a.size() > 0 && b.size() > 0 && same(a.to - 1, b.to - 1)) Pair(--a.to, --b.to);
    if (a.size() == 0 || b.size() == 0) return;
    if (!PairByEdits(a, b)) PairByNumber(a, b);
  }

  // Myers' greedy search, whose furthest places are kept for the way back. False: too many edits.
  bool PairByEdits(Range a, Range b) {
    const auto n = static_cast<int>(std::min<std::uint32_t>(a.size(), 1u << 30));
    const auto m = static_cast<int>(std::min<std::uint32_t>(b.size(), 1u << 30));
    if (std::abs(n - m) > kMostEdits) return false;
    std::vector<std::vector<int>> rounds;
    std::vector<int> furthest(2 * kMostEdits + 3, 0);
    constexpr int kZero = kMostEdits + 1;
    for (int edits = 0; edits <= kMostEdits; ++edits) {
      rounds.emplace_back(furthest.begin() + kZero - edits - 1,
                          furthest.begin() + kZero + edits + 2);
      for (int k = -edits; k <= edits; k += 2) {
        const bool down =
            k == -edits || (k != edits && furthest[kZero + k - 1] < furthest[kZero + k + 1]);
        int x = down ? furthest[kZero + k + 1] : furthest[kZero + k - 1] + 1;
        int y = x - k;
        while (x < n && y < m && y >= 0 && KeysEqual(a, x, b, y)) ++x, ++y;
        furthest[kZero + k] = x;
        if (x >= n && y >= m) {
          WalkBack(a, b, rounds, n, m);
          return true;
        }
      }
    }
    return false;
  }

  bool KeysEqual(Range a, int x, Range b, int y) const {
    return a_[a.from + static_cast<std::uint32_t>(x)].key ==
           b_[b.from + static_cast<std::uint32_t>(y)].key;
  }

  // `rounds`: before each round the furthest x of the diagonals -edits - 1 to edits + 1.
  void WalkBack(Range a, Range b, const std::vector<std::vector<int>>& rounds, int x, int y) {
    for (int edits = static_cast<int>(rounds.size()) - 1; edits >= 0; --edits) {
      const std::vector<int>& furthest = rounds[static_cast<std::size_t>(edits)];
      const auto at = [&](int k) { return furthest[static_cast<std::size_t>(k + edits + 1)]; };
      const int k = x - y;
      const bool down = k == -edits || (k != edits && at(k - 1) < at(k + 1));
      const int before = edits == 0 ? 0 : down ? k + 1 : k - 1;
      const int from_x = edits == 0 ? 0 : at(before);
      const int from_y = edits == 0 ? 0 : from_x - before;
      while (x > from_x && y > from_y) {
        --x, --y;
        Pair(a.from + static_cast<std::uint32_t>(x), b.from + static_cast<std::uint32_t>(y));
      }
      x = from_x;
      y = from_y;
    }
  }

  // The n-th of a key with the n-th, as far as their order is one.
  void PairByNumber(Range a, Range b) {
    std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs = ByNumber(a, b);
    std::ranges::sort(pairs);
    for (const auto& [at_a, at_b] : Ascending(pairs)) Pair(at_a, at_b);
  }

  std::vector<std::pair<std::uint32_t, std::uint32_t>> ByNumber(Range a, Range b) const {
    const auto key = [](const CallEntry& one) { return one.key; };
    const std::vector<Occurrence> of_a = SortedBy(a_, a, key);
    const std::vector<Occurrence> of_b = SortedBy(b_, b, key);
    std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs;
    for (std::size_t i = 0, j = 0; i < of_a.size() && j < of_b.size();) {
      const bool free_a = partner_[of_a[i].at] == kNoCall;
      const bool free_b = !taken_[of_b[j].at];
      if (!free_a || of_a[i].identity < of_b[j].identity) {
        ++i;
      } else if (!free_b || of_b[j].identity < of_a[i].identity) {
        ++j;
      } else {
        pairs.emplace_back(of_a[i++].at, of_b[j++].at);
      }
    }
    return pairs;
  }

  // What neither pairing took, and both sides have.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> Moved(Range a, Range b) const {
    std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs = ByNumber(a, b);
    std::ranges::sort(pairs);
    return pairs;
  }

  std::vector<CallMatch> AllMatches(
      const std::vector<std::pair<std::uint32_t, std::uint32_t>>& moved) {
    std::vector<CallMatch> matches;
    matches.reserve(std::max(a_.size(), b_.size()));
    std::vector<bool> elsewhere(b_.size(), false);
    for (const auto& [a, b] : moved) elsewhere[b] = true;
    auto next_moved = moved.begin();
    std::uint32_t next = 0;
    const auto add_own = [&](std::uint32_t to) {
      for (; next < to; ++next) {
        if (!taken_[next] && !elsewhere[next]) matches.push_back({.b = next});
      }
    };
    for (std::uint32_t i = 0; i < a_.size(); ++i) {
      if (partner_[i] != kNoCall) {
        add_own(partner_[i]);
        matches.push_back({.a = i, .b = partner_[i]});
      } else if (next_moved != moved.end() && next_moved->first == i) {
        matches.push_back({.a = i, .b = next_moved->second, .moved = true});
        ++next_moved;
      } else {
        matches.push_back({.a = i});
      }
    }
    add_own(static_cast<std::uint32_t>(b_.size()));
    return matches;
  }

  std::span<const CallEntry> a_;
  std::span<const CallEntry> b_;
  std::vector<std::uint32_t> partner_;  // of each call of A
  std::vector<bool> taken_;             // of each call of B
};

}  // namespace

std::vector<CallMatch> AlignCalls(std::span<const CallEntry> a, std::span<const CallEntry> b) {
  return Aligner(a, b).Run();
}

}  // namespace rharness
