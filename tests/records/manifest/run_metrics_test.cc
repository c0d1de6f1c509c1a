// What is saved of a metrics file that is not what it should be.
#include "harness/records/manifest/run_metrics.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cmath>
#include <limits>

namespace rharness {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

SalvagedMetrics Salvaged(std::string_view text) {
  auto salvaged = SalvageRunMetrics(text, "m.json");
  EXPECT_TRUE(salvaged.ok()) << salvaged.error().ToString();
  return salvaged.ok() ? std::move(*salvaged) : SalvagedMetrics();
}

TEST(SalvagedMetrics, AreAllOfAFileThatIsAsItShouldBe) {
  const SalvagedMetrics salvaged = Salvaged(
      R"({"metrics": {"a": 1}, "curves": {"l": {"steps": [1, 2], "values": [3, 4]}},
          "software": {"torch": "2.1"}, "x-host": "n1"})");
  EXPECT_THAT(salvaged.left_out, IsEmpty());
  EXPECT_EQ(salvaged.metrics.metrics.at("a"), 1.0);
  EXPECT_EQ(salvaged.metrics.curves.at(0).values, (std::vector<double>{3, 4}));
  EXPECT_EQ(salvaged.metrics.software.at("torch"), "2.1");
}

TEST(SalvagedMetrics, KeepTheRestAndNameWhatIsUnknown) {
  const SalvagedMetrics salvaged = Salvaged(
      R"({"metrics": {"a": 1}, "epochs": 3, "host": {"name": "n1"},
          "curves": {"l": {"steps": [1, 2], "values": [3, 4], "unit": "nats"}}})");
  EXPECT_THAT(salvaged.left_out,
              ElementsAre("m.json: $: unknown member \"epochs\"; left out; a metric belongs in "
                          "\"metrics\"",
                          "m.json: $: unknown member \"host\"; left out",
                          "m.json: $.curves.l: unknown member \"unit\"; left out"));
  EXPECT_EQ(salvaged.metrics.metrics.at("a"), 1.0);
  EXPECT_EQ(salvaged.metrics.curves.at(0).steps, (std::vector<std::int64_t>{1, 2}));
}

TEST(SalvagedMetrics, KeepTheRestWhereAMemberIsNotWhatItShouldBe) {
  const SalvagedMetrics salvaged = Salvaged(
      R"({"metrics": {"a": 1, "table": [[1, 2]], "none": null},
          "curves": {"short": {"steps": [1, 2], "values": [1]}, "l": {"steps": [1], "values": [2]}},
          "software": {"torch": 2, "jax": "0.4"}})");
  EXPECT_THAT(salvaged.left_out,
              ElementsAre(HasSubstr("m.json: $.metrics.table: expected a number"),
                          HasSubstr("m.json: $.metrics.none: "),
                          HasSubstr("m.json: $.curves.short.values: has 1 values for 2 steps"),
                          HasSubstr("m.json: $.software.torch: expected a string, found 2; left "
                                    "out")));
  EXPECT_THAT(salvaged.metrics.metrics, SizeIs(1));
  EXPECT_THAT(salvaged.metrics.curves, SizeIs(1));
  EXPECT_EQ(salvaged.metrics.software.at("jax"), "0.4");
}

TEST(SalvagedMetrics, KeepTheTextOfWhatMayBeAResultAndWasNotReadExactly) {
  const SalvagedMetrics salvaged = Salvaged(
      R"({"metrics": {"a": 1, "loss": "1,5", "list": [1], "none": null, "big": 9007199254740993,
                      "low": -9007199254740993, "even": 9007199254740992,
                      "top": 18446744073709551615, "over": 18446744073709551617},
          "curves": {"l": {"steps": [1], "values": [2], "more": 3}, "m": 4},
          "eval": {"f1": 0.5}, "host": "n1", "software": {"torch": 2}})");
  const std::map<std::string, std::string> expected = {{"metrics.loss", "\"1,5\""},
                                                       {"metrics.list", "[1]"},
                                                       {"metrics.none", "null"},
                                                       {"metrics.big", "9007199254740993"},
                                                       {"metrics.over", "18446744073709551617"},
                                                       {"metrics.low", "-9007199254740993"},
                                                       {"metrics.top", "18446744073709551615"},
                                                       {"curves.l.more", "3"},
                                                       {"curves.m", "4"},
                                                       {"eval", "{\"f1\":0.5}"}};
  EXPECT_EQ(salvaged.unread, expected);
  EXPECT_THAT(Salvaged(R"({"metrics": {"n": 9007199254740993}})").unread, SizeIs(1));
  const std::string longer = R"({"metrics": {"t": ")" + std::string(100, 'x') + "\"}}";
  EXPECT_THAT(Salvaged(longer).unread.at("metrics.t"),
              testing::MatchesRegex("sha256 [0-9a-f]{64}"));
}

TEST(SalvagedMetrics, KeepTextWithinBounds) {
  const auto text = [](int last) {
    std::string members = "\"metrics\": {\"a\": 1}, \"" + std::string(300, 'k') + "\": [1]";
    for (int i = 0; i < 2000; ++i) {
      members += fmt::format(", \"m{:04}\": {}", i, i == 1999 ? last : i);
    }
    return "{" + members + "}";
  };
  const SalvagedMetrics salvaged = Salvaged(text(1));
  EXPECT_THAT(salvaged.unread, SizeIs(1000));
  EXPECT_EQ(salvaged.unread.at("m0000"), "0");
  const std::string more = "1002 more members";  // the long name is among them
  EXPECT_EQ(salvaged.unread.at(more), Salvaged(text(1)).unread.at(more));
  EXPECT_NE(salvaged.unread.at(more), Salvaged(text(2)).unread.at(more));
}

TEST(SalvagedMetrics, TakeNotANumberAsPythonWritesIt) {
  const SalvagedMetrics salvaged = Salvaged(
      R"({"metrics": {"NaN of \"NaN\"": NaN, "b": Infinity},
          "curves": {"l": {"steps": [1, 2], "values": [-Infinity, 2]}}})");
  EXPECT_THAT(salvaged.left_out, ElementsAre(HasSubstr("NaN and Infinity are no JSON")));
  EXPECT_TRUE(std::isnan(salvaged.metrics.metrics.at("NaN of \"NaN\"")));
  EXPECT_EQ(salvaged.metrics.metrics.at("b"), std::numeric_limits<double>::infinity());
  EXPECT_EQ(salvaged.metrics.curves.at(0).values[0], -std::numeric_limits<double>::infinity());
}

TEST(SalvagedMetrics, NameTenMembersAndCountTheOthers) {
  std::string text = R"({"metrics": {"a": 1})";
  for (int i = 0; i < 12; ++i) text += ", \"m" + std::to_string(i) + "\": \"x\"";
  const SalvagedMetrics salvaged = Salvaged(text + "}");
  ASSERT_THAT(salvaged.left_out, SizeIs(10));
  EXPECT_THAT(salvaged.left_out[8], HasSubstr("\"m8\""));
  EXPECT_EQ(salvaged.left_out[9], "m.json: 3 more members left out");
}

TEST(SalvagedMetrics, AreNoneOfATextThatIsNoJsonObject) {
  for (const char* text : {"", "{", R"({"metrics": {"a": NaN})", "[1]", "accuracy 0.5"}) {
    const auto salvaged = SalvageRunMetrics(text, "m.json");
    ASSERT_FALSE(salvaged.ok()) << text;
    EXPECT_THAT(salvaged.error().ToString(), HasSubstr("m.json: ")) << text;
  }
}

}  // namespace
}  // namespace rharness
