// The five layers, and what counts as a difference between recorded and observed facts.
#include "compare/facts.h"

#include <gtest/gtest.h>

namespace rharness {
namespace {

Fact Environment(const std::string& key, std::optional<std::string> value,
                 FactWeight weight = FactWeight::kContext) {
  return {Layer::kEnvironment, key, std::move(value), weight};
}

const LayerComparison& EnvironmentOf(const std::array<LayerComparison, 5>& comparisons) {
  return comparisons[2];
}

TEST(Facts, NameTheFiveLayers) {
  const std::array<std::string_view, 5> names = {"data", "code", "environment", "hardware",
                                                 "randomness"};
  for (std::size_t i = 0; i < names.size(); ++i) {
    EXPECT_EQ(LayerName(kLayers[i]), names[i]);
    const auto layer = ParseLayer(names[i]);
    ASSERT_TRUE(layer.ok());
    EXPECT_EQ(*layer, kLayers[i]);
  }
  EXPECT_EQ(ParseLayer("Data").error().code, ErrorCode::kInvalidInput);
  EXPECT_EQ(LayerStateName(LayerState::kSame), "same");
  EXPECT_EQ(LayerStateName(LayerState::kDiffers), "differs");
  EXPECT_EQ(LayerStateName(LayerState::kUnknown), "unknown");
}

TEST(Facts, MakeNoClaimWhereNothingWasRecordedOrSeen) {
  const Fact fact = Environment("environment.LANG", "C");
  for (const auto& comparisons :
       {CompareFacts({}, {}), CompareFacts({fact}, {}), CompareFacts({}, {fact})}) {
    for (std::size_t i = 0; i < kLayers.size(); ++i) {
      EXPECT_EQ(comparisons[i].layer, kLayers[i]);
      EXPECT_EQ(comparisons[i].state, LayerState::kUnknown);
    }
  }
}

TEST(Facts, OnOneSideOnlyAreNoDifference) {
  const auto comparisons =
      CompareFacts({Environment("a", "1"), Environment("b", "2"), Environment("c", "3")},
                   {Environment("a", "1"), Environment("d", "4")});
  const LayerComparison& layer = EnvironmentOf(comparisons);
  EXPECT_EQ(layer.state, LayerState::kSame);
  EXPECT_EQ(layer.compared, 1);
  EXPECT_EQ(layer.only_recorded, 2);
  EXPECT_TRUE(layer.differences.empty());
}

TEST(Facts, DifferInTheirOwnLayerOnly) {
  const auto comparisons = CompareFacts({{Layer::kData, "k", "1", FactWeight::kIdentity},
                                         {Layer::kCode, "k", "1", FactWeight::kIdentity}},
                                        {{Layer::kData, "k", "1", FactWeight::kIdentity},
                                         {Layer::kCode, "k", "2", FactWeight::kIdentity}});
  EXPECT_EQ(comparisons[0].state, LayerState::kSame);
  ASSERT_EQ(comparisons[1].state, LayerState::kDiffers);
  EXPECT_EQ(comparisons[1].differences[0].layer, Layer::kCode);
  EXPECT_EQ(comparisons[1].differences[0].recorded, "1");
  EXPECT_EQ(comparisons[1].differences[0].observed, "2");
  EXPECT_EQ(comparisons[2].state, LayerState::kUnknown);
}

TEST(Facts, TellAbsentFromEmpty) {
  const auto absent = Environment("V", std::nullopt), empty = Environment("V", "");
  EXPECT_EQ(EnvironmentOf(CompareFacts({absent}, {absent})).state, LayerState::kSame);
  const auto comparisons = CompareFacts({absent}, {empty});
  const LayerComparison& layer = EnvironmentOf(comparisons);
  ASSERT_EQ(layer.state, LayerState::kDiffers);
  EXPECT_FALSE(layer.differences[0].recorded.has_value());
  EXPECT_EQ(layer.differences[0].observed, "");
}

TEST(Facts, ListDifferencesByWeightThenKey) {
  std::vector<Fact> recorded, observed;
  const auto add = [&](const char* key, FactWeight weight) {
    recorded.push_back(Environment(key, "old", weight));
    observed.push_back(Environment(key, "new", weight));
  };
  add("b.context", FactWeight::kContext);
  add("z.identity", FactWeight::kIdentity);
  add("m.class", FactWeight::kClass);
  add("a.context", FactWeight::kContext);
  add("y.identity", FactWeight::kIdentity);
  const auto comparisons = CompareFacts(recorded, observed);
  std::vector<std::string> keys;
  for (const auto& difference : EnvironmentOf(comparisons).differences) {
    keys.push_back(difference.key);
  }
  EXPECT_EQ(keys, (std::vector<std::string>{"y.identity", "z.identity", "m.class", "a.context",
                                            "b.context"}));
}

TEST(Facts, TakeTheStricterOfTwoWeights) {
  const auto comparisons = CompareFacts({Environment("k", "1", FactWeight::kContext)},
                                        {Environment("k", "2", FactWeight::kIdentity)});
  EXPECT_EQ(EnvironmentOf(comparisons).differences.at(0).weight, FactWeight::kIdentity);
}

TEST(Facts, CountTheFirstOfTwoWithOneKey) {
  const auto comparisons =
      CompareFacts({Environment("k", "1"), Environment("k", "2")}, {Environment("k", "1")});
  EXPECT_EQ(EnvironmentOf(comparisons).state, LayerState::kSame);
  EXPECT_EQ(EnvironmentOf(comparisons).compared, 1);
}

// Python packages as a record has them: all there are, by name and version.
std::vector<Fact> Packages(const std::vector<std::pair<std::string, std::string>>& versions) {
  std::vector<Fact> facts = {{.layer = Layer::kEnvironment,
                              .key = "package.python.",
                              .value = "Python packages",
                              .kind = FactKind::kComplete}};
  for (const auto& [name, version] : versions) {
    facts.push_back(Environment("package.python." + name, version));
  }
  return facts;
}

Fact NoPackages() {
  return {.layer = Layer::kEnvironment,
          .key = "package.python.",
          .value = "Python packages",
          .kind = FactKind::kNotKnown};
}

std::vector<Fact> Joined(std::vector<Fact> facts, const std::vector<Fact>& more) {
  facts.insert(facts.end(), more.begin(), more.end());
  return facts;
}

std::vector<std::string> KeysOf(const LayerComparison& layer) {
  std::vector<std::string> keys;
  for (const FactDifference& difference : layer.differences) keys.push_back(difference.key);
  return keys;
}

using Texts = std::vector<std::string>;

TEST(Facts, CallNothingTheSameOfWhichAPartWasNotRecorded) {
  const Fact known = Environment("variable.LANG", "C");
  const auto before =
      CompareFacts({known, NoPackages()}, Joined(Packages({{"jax", "1"}}), {known}));
  EXPECT_EQ(EnvironmentOf(before).state, LayerState::kPartlyKnown);
  EXPECT_EQ(EnvironmentOf(before).not_known, Texts{"Python packages not recorded"});
  EXPECT_EQ(EnvironmentOf(before).compared, 1);
  const auto after = CompareFacts(Joined(Packages({{"jax", "1"}}), {known}), {known, NoPackages()});
  EXPECT_EQ(EnvironmentOf(after).state, LayerState::kPartlyKnown);
  EXPECT_EQ(EnvironmentOf(after).not_known, Texts{"Python packages not observed"});
  EXPECT_EQ(LayerStateName(LayerState::kPartlyKnown), "partly_known");
  // Said once where neither side knows, and no claim at all where there is nothing else.
  const auto neither = CompareFacts({NoPackages()}, {NoPackages()});
  EXPECT_EQ(EnvironmentOf(neither).not_known.size(), 1u);
  EXPECT_EQ(EnvironmentOf(neither).state, LayerState::kUnknown);
  const auto both = CompareFacts(Joined(Packages({{"jax", "1"}}), {known}),
                                 Joined(Packages({{"jax", "1"}}), {known}));
  EXPECT_EQ(EnvironmentOf(both).state, LayerState::kSame);
}

TEST(Facts, CompareCompleteListsByNameAndVersion) {
  const auto comparisons =
      CompareFacts(Packages({{"jax", "0.10.2"}, {"numpy", "1.26.4"}, {"old", "3"}, {"wheel", "1"}}),
                   Packages({{"jax", "0.4.35"}, {"numpy", "2.4.6"}, {"new", "4"}, {"wheel", "1"}}));
  const LayerComparison& layer = EnvironmentOf(comparisons);
  EXPECT_EQ(KeysOf(layer), (Texts{"package.python.jax", "package.python.numpy",
                                  "package.python.new", "package.python.old"}));
  EXPECT_EQ(layer.compared, 5);
  EXPECT_EQ(layer.only_recorded, 0);
  EXPECT_FALSE(layer.differences[2].recorded.has_value());
  EXPECT_EQ(layer.differences[2].observed, "4");
  EXPECT_FALSE(layer.differences[3].observed.has_value());
}

TEST(Facts, TakeAnEmptyListBesideAFullOneForNotSeen) {
  const Fact known = Environment("variable.LANG", "C");
  const auto full = Joined(Packages({{"jax", "1"}, {"numpy", "2"}}), {known});
  const auto empty = Joined(Packages({}), {known});
  const auto later = EnvironmentOf(CompareFacts(full, empty));
  EXPECT_EQ(later.state, LayerState::kPartlyKnown);
  EXPECT_EQ(later.not_known, Texts{"Python packages not observed"});
  const auto before = EnvironmentOf(CompareFacts(empty, full));
  EXPECT_EQ(before.not_known, Texts{"Python packages not recorded"});
  EXPECT_TRUE(before.differences.empty());
  EXPECT_EQ(EnvironmentOf(CompareFacts(empty, empty)).state, LayerState::kSame);
}

TEST(Facts, NeverCompareWhatStandsForAValueByTwoKeys) {
  const auto noted = [](std::string value, std::string realm) {
    Fact fact = Environment("variable.JAX_URL", std::move(value));
    fact.realm = std::move(realm);
    return fact;
  };
  const auto state = [](const Fact& a, const Fact& b) {
    return EnvironmentOf(CompareFacts({a, Environment("k", "1")}, {b, Environment("k", "1")}))
        .state;
  };
  EXPECT_EQ(state(noted("aa", "key 1"), noted("aa", "key 1")), LayerState::kSame);
  EXPECT_EQ(state(noted("aa", "key 1"), noted("bb", "key 1")), LayerState::kDiffers);
  EXPECT_EQ(state(noted("aa", "key 1"), noted("bb", "key 2")), LayerState::kPartlyKnown);
  EXPECT_EQ(state(noted("aa", "sha256"), noted("bb", "key 2")), LayerState::kPartlyKnown);
  EXPECT_EQ(state(noted("redacted", "redacted"), noted("redacted", "redacted")),
            LayerState::kPartlyKnown);
  EXPECT_EQ(state(noted("redacted", "redacted"), Environment("variable.JAX_URL", std::nullopt)),
            LayerState::kDiffers)
      << "set or not is known";
  const auto alone =
      CompareFacts({noted("aa", "redacted"), Environment("k", "1")}, {Environment("k", "1")});
  EXPECT_EQ(EnvironmentOf(alone).not_known, Texts{"JAX_URL (its value is not written down)"});
}

TEST(Facts, NameWhatTellsMostFirstAndDigestsLast) {
  std::vector<Fact> recorded, observed;
  const auto add = [&](const char* key, FactUse use = FactUse::kNotKnown,
                       FactWeight weight = FactWeight::kContext) {
    Fact fact = Environment(key, "old", weight);
    fact.use = use;
    recorded.push_back(fact);
    fact.value = "new";
    observed.push_back(fact);
  };
  add("software.lock_sha256");
  add("package.python.unrelated", FactUse::kNotUsed);
  add("package.dpkg.tzdata:all");
  add("package.python.cowsay");
  add("package.python.certifi", FactUse::kUsed);
  add("package.python.numpy", FactUse::kUsed);
  add("software.kernel");
  add("variable.LANG");
  add("variable.OPENBLAS_CORETYPE");
  add("setting.z", FactUse::kNotKnown, FactWeight::kIdentity);
  EXPECT_EQ(
      KeysOf(EnvironmentOf(CompareFacts(recorded, observed))),
      (Texts{"setting.z", "variable.OPENBLAS_CORETYPE", "package.python.numpy",
             "package.python.certifi", "package.python.cowsay", "software.kernel", "variable.LANG",
             "package.dpkg.tzdata:all", "package.python.unrelated", "software.lock_sha256"}));
}

TEST(Facts, LeaveOutWhatAnotherDifferenceSaysAlready) {
  const std::vector<Fact> recorded = {
      Environment("software.host_packages", "aaaa"), Environment("package.dpkg.htop:amd64", "3.2"),
      Environment("software.numpy", "1.26.4"), Environment("package.python.numpy", "1.26.4")};
  std::vector<Fact> observed = {
      Environment("software.host_packages", "bbbb"), Environment("package.dpkg.htop:amd64", "3.3"),
      Environment("software.numpy", "2.4.6"), Environment("package.python.numpy", "2.4.6")};
  EXPECT_EQ(KeysOf(EnvironmentOf(CompareFacts(recorded, observed))),
            (Texts{"software.numpy", "package.dpkg.htop:amd64"}));
  observed[1].value = "3.2";  // nothing explains the digest any more
  EXPECT_EQ(KeysOf(EnvironmentOf(CompareFacts(recorded, observed))),
            (Texts{"software.numpy", "software.host_packages"}));
}

TEST(Facts, OfSeveralRerunsClaimNoMoreThanAllOfThemShow) {
  const Fact known = Environment("variable.LANG", "C"), other = Environment("variable.LANG", "de");
  const auto same = CompareFacts({known}, {known});
  const auto partly = CompareFacts({known}, {known, NoPackages()});
  const auto differs = CompareFacts({known}, {other});
  EXPECT_EQ(EnvironmentOf(MergeLayers({same, same})).state, LayerState::kSame);
  EXPECT_EQ(EnvironmentOf(MergeLayers({same, partly})).state, LayerState::kPartlyKnown);
  EXPECT_EQ(EnvironmentOf(MergeLayers({same, partly})).not_known.size(), 1u);
  const auto merged = MergeLayers({partly, differs, same});
  EXPECT_EQ(EnvironmentOf(merged).state, LayerState::kDiffers);
  EXPECT_EQ(KeysOf(EnvironmentOf(merged)), Texts{"variable.LANG"});
  EXPECT_EQ(EnvironmentOf(MergeLayers({})).state, LayerState::kUnknown);
  EXPECT_EQ(EnvironmentOf(MergeLayers({})).layer, Layer::kEnvironment);
}

// Packages as a bundle, as lists of them come.
Fact BundleOf(const std::vector<std::pair<std::string, std::string>>& versions,
              const std::string& digest = "") {
  auto bundle = std::make_shared<FactBundle>();
  for (const auto& [name, version] : versions) {
    bundle->facts.push_back(Environment("package.python." + name, version));
    bundle->facts.back().digest = digest;
  }
  Fact fact = Environment("package.python.", "Python packages");
  fact.kind = FactKind::kComplete;
  fact.bundle = std::move(bundle);
  return fact;
}

TEST(FactBundles, ThatAreSharedAgreeAndAreCounted) {
  const Fact list = BundleOf({{"jax", "0.4"}, {"numpy", "1.26"}});
  const LayerComparison layer = EnvironmentOf(CompareFacts(
      {Environment("variable.LANG", "C"), list}, {Environment("variable.LANG", "C"), list}));
  EXPECT_EQ(layer.state, LayerState::kSame);
  EXPECT_EQ(layer.compared, 3);
}

TEST(FactBundles, AreComparedAsTheFactsInThemAre) {
  const std::vector<Fact> recorded = {Environment("software.os", "12"),
                                      BundleOf({{"jax", "0.4"}, {"numpy", "1.26"}, {"old", "1"}})};
  const std::vector<Fact> seen = {BundleOf({{"jax", "0.4"}, {"new", "2"}, {"numpy", "2.0"}}),
                                  Environment("software.os", "12")};
  const auto bundled = CompareFacts(recorded, seen);
  const auto one_by_one = CompareFacts(Unbundled(recorded), Unbundled(seen));
  const LayerComparison& layer = EnvironmentOf(bundled);
  EXPECT_EQ(layer.compared, 5);
  ASSERT_EQ(layer.differences.size(), 3u);
  ASSERT_EQ(EnvironmentOf(one_by_one).differences.size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(layer.differences[i].key, EnvironmentOf(one_by_one).differences[i].key);
    EXPECT_EQ(layer.differences[i].recorded, EnvironmentOf(one_by_one).differences[i].recorded);
    EXPECT_EQ(layer.differences[i].observed, EnvironmentOf(one_by_one).differences[i].observed);
  }
}

TEST(FactBundles, ThatAreEmptyOnOneSideAreNotKnownThere) {
  const LayerComparison layer =
      EnvironmentOf(CompareFacts({BundleOf({{"jax", "0.4"}})}, {BundleOf({})}));
  EXPECT_TRUE(layer.differences.empty());
  EXPECT_EQ(layer.not_known.size(), 1u);
}

TEST(Digests, TellOneVersionFromItsRebuild) {
  const std::string a = "sha256:" + std::string(64, 'a'), b = "sha256:" + std::string(64, 'b');
  const auto compare = [](const std::string& recorded, const std::string& seen) {
    return EnvironmentOf(CompareFacts({BundleOf({{"numpy", "1.26"}}, recorded)},
                                      {BundleOf({{"numpy", "1.26"}}, seen)}));
  };
  const LayerComparison differs = compare(a, b);
  ASSERT_EQ(differs.differences.size(), 1u);
  EXPECT_EQ(differs.differences[0].recorded, "1.26 (sha256 aaaaaaaaaaaa...)");
  EXPECT_EQ(differs.differences[0].observed, "1.26 (sha256 bbbbbbbbbbbb...)");
  EXPECT_EQ(compare(a, a).state, LayerState::kSame);
  // A record of before has none; another algorithm's says nothing.
  EXPECT_EQ(compare("", a).state, LayerState::kSame);
  EXPECT_EQ(compare(a, "").state, LayerState::kSame);
  EXPECT_EQ(compare(a, "md5:" + std::string(32, 'c')).state, LayerState::kSame);
}

}  // namespace
}  // namespace rharness
