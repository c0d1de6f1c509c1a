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

}  // namespace
}  // namespace rharness
