// Facts compared layer by layer.
#include "compare/facts.h"

#include <algorithm>
#include <iterator>
#include <set>

#include "compare/fact_order.h"

namespace rharness {
namespace {

using Bundles = std::set<const FactBundle*>;

Bundles BundlesOf(const std::vector<Fact>& facts) {
  Bundles bundles;
  for (const Fact& fact : facts) {
    if (fact.bundle != nullptr) bundles.insert(fact.bundle.get());
  }
  return bundles;
}

// Those of both sides.
Bundles Shared(const std::vector<Fact>& a, const std::vector<Fact>& b) {
  const Bundles of_a = BundlesOf(a), of_b = BundlesOf(b);
  Bundles shared;
  std::ranges::set_intersection(of_a, of_b, std::inserter(shared, shared.end()));
  return shared;
}

// Facts of one layer, sorted by key. The first of two facts with one key counts.
class FactsByKey {
 public:
  // Keeps no fact of the bundles in `shared`, only their number.
  FactsByKey(const std::vector<Fact>& facts, Layer layer, const Bundles& shared) {
    for (const Fact& fact : facts) {
      if (fact.layer != layer) continue;
      facts_.push_back(&fact);
      if (fact.bundle == nullptr) continue;
      if (shared.contains(fact.bundle.get())) {
        in_shared_ += static_cast<int>(fact.bundle->facts.size());
      } else {
        for (const Fact& one : fact.bundle->facts) facts_.push_back(&one);
      }
    }
    const auto key = [](const Fact* fact) -> std::string_view { return fact->key; };
    if (!std::ranges::is_sorted(facts_, {}, key)) std::ranges::stable_sort(facts_, {}, key);
    const auto same = [&](const Fact* a, const Fact* b) { return key(a) == key(b); };
    facts_.erase(std::unique(facts_.begin(), facts_.end(), same), facts_.end());
  }

  auto begin() const { return facts_.begin(); }
  auto end() const { return facts_.end(); }
  auto LowerBound(std::string_view key) const {
    return std::ranges::lower_bound(facts_, key, {},
                                    [](const Fact* fact) -> std::string_view { return fact->key; });
  }
  // nullptr: there is none.
  const Fact* Find(std::string_view key) const {
    const auto at = LowerBound(key);
    return at != facts_.end() && (*at)->key == key ? *at : nullptr;
  }
  int in_shared() const { return in_shared_; }

 private:
  std::vector<const Fact*> facts_;
  int in_shared_ = 0;
};

bool HasValueBelow(const FactsByKey& facts, std::string_view keys) {
  for (auto at = facts.LowerBound(keys); at != facts.end() && (*at)->key.starts_with(keys); ++at) {
    if ((*at)->kind == FactKind::kValue) return true;
  }
  return false;
}

// Whether a complete, empty list stands beside one that is not empty: its source, such as a Python
// that lived for some milliseconds, may have been missed.
bool MissesAll(const FactsByKey& facts, const FactsByKey& others, std::string_view keys) {
  const auto is_complete = [&](const FactsByKey& of) {
    const Fact* marker = of.Find(keys);
    return marker != nullptr && marker->kind == FactKind::kComplete;
  };
  return is_complete(facts) && is_complete(others) && !HasValueBelow(facts, keys) &&
         HasValueBelow(others, keys);
}

// The prefixes of keys below which a missing fact is absent: those of complete lists.
std::vector<std::string_view> AbsentBelow(const FactsByKey& here, const FactsByKey& there) {
  std::vector<std::string_view> keys;
  for (const Fact* fact : here) {
    if (fact->kind == FactKind::kComplete && !MissesAll(here, there, fact->key)) {
      keys.emplace_back(fact->key);
    }
  }
  return keys;
}

bool IsBelow(const std::vector<std::string_view>& keys, std::string_view key) {
  return std::ranges::any_of(keys, [&](std::string_view above) { return key.starts_with(above); });
}

// Whether both have a digest of the content, and the digests differ.
bool HasOtherContent(const Fact& a, const Fact& b) {
  const auto algorithm = [](const Fact& fact) {
    return std::string_view(fact.digest).substr(0, fact.digest.find(':'));
  };
  return a.value && !a.digest.empty() && algorithm(a) == algorithm(b) && a.digest != b.digest;
}

// "1.26.4 (sha256 b448e38675cf...)".
std::string WithContent(const Fact& fact) {
  constexpr std::size_t kShown = 12;
  const auto colon = fact.digest.find(':');
  return *fact.value + " (" + fact.digest.substr(0, colon) + " " +
         fact.digest.substr(colon + 1, kShown) + "...)";
}

bool IsComparable(const Fact& a, const Fact& b) {
  if (!a.value || !b.value) return true;  // set or not is known of a hidden value as well
  return a.realm == b.realm && a.realm != kRedacted;
}

// One layer in the making.
class LayerOfFacts {
 public:
  LayerOfFacts(Layer layer, const FactsByKey& recorded, const FactsByKey& observed)
      : recorded_(recorded),
        observed_(observed),
        not_recorded_below_(AbsentBelow(recorded, observed)),
        not_observed_below_(AbsentBelow(observed, recorded)) {
    out_.layer = layer;
    out_.compared = recorded.in_shared();
  }

  LayerComparison Compare() {
    for (const Fact* fact : recorded_) {
      if (fact->kind == FactKind::kValue) CompareRecorded(*fact);
      if (fact->kind == FactKind::kNotKnown) NotKnown(*fact, "not recorded");
      if (fact->kind != FactKind::kComplete) continue;
      if (MissesAll(recorded_, observed_, fact->key)) NotKnown(*fact, "not recorded");
      if (MissesAll(observed_, recorded_, fact->key)) NotKnown(*fact, "not observed");
    }
    for (const Fact* fact : observed_) {
      const Fact* other = recorded_.Find(fact->key);
      const bool alone = other == nullptr || other->kind != fact->kind;
      if (!alone) continue;
      if (fact->kind == FactKind::kNotKnown) NotKnown(*fact, "not observed");
      if (fact->kind != FactKind::kValue) continue;
      if (IsBelow(not_recorded_below_, fact->key)) Add(*fact, std::nullopt, fact->value);
    }
    DropExplained(&out_.differences);
    std::ranges::sort(out_.differences, TellsMore);
    Decide();
    return std::move(out_);
  }

 private:
  void CompareRecorded(const Fact& fact) {
    const Fact* other = observed_.Find(fact.key);
    if (other == nullptr || other->kind != FactKind::kValue) {
      if (IsBelow(not_observed_below_, fact.key)) {
        return Add(fact, fact.value, std::nullopt);
      }
      ++out_.only_recorded;
      if (!fact.realm.empty()) Hidden(fact);
      return;
    }
    if (!IsComparable(fact, *other)) return Hidden(fact);
    ++out_.compared;
    if (fact.value != other->value) return Differ(fact, *other, fact.value, other->value);
    if (HasOtherContent(fact, *other)) Differ(fact, *other, WithContent(fact), WithContent(*other));
  }

  void Differ(const Fact& fact, const Fact& other, std::optional<std::string> recorded,
              std::optional<std::string> observed) {
    const bool used = fact.use == FactUse::kUsed || other.use == FactUse::kUsed;
    out_.differences.push_back({out_.layer, fact.key, std::min(fact.weight, other.weight),
                                std::move(recorded), std::move(observed),
                                used                    ? FactUse::kUsed
                                : fact.use == other.use ? fact.use
                                                        : FactUse::kNotKnown});
  }

  // On one side alone, and known to be absent on the other.
  void Add(const Fact& fact, std::optional<std::string> recorded,
           std::optional<std::string> observed) {
    ++out_.compared;
    out_.differences.push_back(
        {out_.layer, fact.key, fact.weight, std::move(recorded), std::move(observed), fact.use});
  }

  void Hidden(const Fact& fact) {
    out_.not_known.push_back(FactName(fact.key) + " (its value is not written down)");
  }
  void NotKnown(const Fact& fact, std::string_view why) {
    out_.not_known.push_back(fact.value.value_or(fact.key) + " " + std::string(why));
  }

  void Decide() {
    if (!out_.differences.empty()) {
      out_.state = LayerState::kDiffers;
    } else if (out_.compared > 0) {
      out_.state = out_.not_known.empty() ? LayerState::kSame : LayerState::kPartlyKnown;
    }
  }

  const FactsByKey& recorded_;
  const FactsByKey& observed_;
  const std::vector<std::string_view> not_recorded_below_;
  const std::vector<std::string_view> not_observed_below_;
  LayerComparison out_;
};

// The rank of a state's claim: "differs" outweighs "not known", which outweighs "same".
int Claim(LayerState state) {
  constexpr std::array kRising = {LayerState::kUnknown, LayerState::kSame, LayerState::kPartlyKnown,
                                  LayerState::kDiffers};
  return static_cast<int>(std::ranges::find(kRising, state) - kRising.begin());
}

void MergeLayer(const LayerComparison& from, LayerComparison* to) {
  if (from.compared > to->compared) {
    to->compared = from.compared;
    to->only_recorded = from.only_recorded;
  }
  for (const std::string& part : from.not_known) {
    if (std::ranges::find(to->not_known, part) == to->not_known.end())
      to->not_known.push_back(part);
  }
  if (Claim(from.state) <= Claim(to->state)) return;
  to->state = from.state;
  to->differences = from.differences;
}

}  // namespace

std::array<LayerComparison, 5> CompareFacts(const std::vector<Fact>& recorded,
                                            const std::vector<Fact>& observed) {
  const Bundles shared = Shared(recorded, observed);
  std::array<LayerComparison, 5> comparisons;
  for (std::size_t i = 0; i < kLayers.size(); ++i) {
    const FactsByKey of_recorded(recorded, kLayers[i], shared);
    const FactsByKey of_observed(observed, kLayers[i], shared);
    comparisons[i] = LayerOfFacts(kLayers[i], of_recorded, of_observed).Compare();
  }
  return comparisons;
}

std::array<LayerComparison, 5> MergeLayers(
    const std::vector<std::array<LayerComparison, 5>>& reruns) {
  std::array<LayerComparison, 5> merged;
  for (std::size_t i = 0; i < kLayers.size(); ++i) {
    merged[i].layer = kLayers[i];
    for (const auto& rerun : reruns) MergeLayer(rerun[i], &merged[i]);
    if (merged[i].state == LayerState::kSame && !merged[i].not_known.empty()) {
      merged[i].state = LayerState::kPartlyKnown;
    }
  }
  return merged;
}

}  // namespace rharness
