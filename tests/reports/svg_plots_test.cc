// The pictures of a comparison: positions worked out by hand, and the edges of doubles.
#include "reports/svg_plots.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <pugixml.hpp>

#include "reports/svg_axis.h"

namespace rharness {
namespace {

constexpr double kBroken = std::numeric_limits<double>::quiet_NaN();

pugi::xml_document ParsedPlot(const std::string& svg) {
  pugi::xml_document document;
  EXPECT_TRUE(document.load_buffer(svg.data(), svg.size())) << svg;
  return document;
}

std::string PathOf(const pugi::xml_document& document, const char* style) {
  return document.child("svg")
      .find_child_by_attribute("path", "class", style)
      .attribute("d")
      .value();
}

// Equal at step 0, then 1e-4, 1e-3 and 1e-2 apart, with a band of 1e-3.
CurveComparison KnownCurve() {
  CurveComparison curve;
  curve.name = "loss";
  curve.steps = {0, 10, 20, 30};
  curve.a = {0, 0, 0, 0};
  curve.b = {0, 1e-4, 1e-3, 1e-2};
  curve.band = {1e-3, 1e-3, 1e-3, 1e-3};
  curve.differing = 3;
  curve.first_difference = 10;
  curve.first_beyond = 30;
  curve.max_abs = 1e-2;
  return curve;
}

TEST(SvgDivergence, PlacesDistancesOnALogAxisOfWholeDecades) {
  const pugi::xml_document document = ParsedPlot(SvgDivergence(KnownCurve(), "id"));
  // 1e-4 to 1e-1 over 190 to 44: 48.67 units a decade; steps 0 to 30 over 52 to 550.
  EXPECT_EQ(PathOf(document, "gap"), "M52.0 204.0h.1L218.0 190.0L384.0 141.3L550.0 92.7");
  EXPECT_EQ(PathOf(document, "edge"), "M52.0 141.3L218.0 141.3L384.0 141.3L550.0 141.3");
  EXPECT_EQ(PathOf(document, "mark first"), "M218.0 4V204");
  EXPECT_EQ(PathOf(document, "mark over"), "M550.0 18V204");
}

TEST(SvgDivergence, SaysInWordsWhatItShows) {
  const pugi::xml_document document = ParsedPlot(SvgDivergence(KnownCurve(), "id"));
  const std::string words = document.child("svg").child("desc").text().get();
  EXPECT_EQ(words,
            "3 of 4 aligned steps differ; the largest distance is 0.01. First difference at step "
            "10. First step beyond the band: 30. The shaded area is the band.");
  EXPECT_STREQ(document.child("svg").attribute("aria-labelledby").value(), "id-t id-d");
}

TEST(SvgDivergence, DrawsNonFiniteStepsAsCrosses) {
  CurveComparison curve = KnownCurve();
  curve.b[1] = kBroken;
  curve.b[2] = std::numeric_limits<double>::infinity();
  const pugi::xml_document document = ParsedPlot(SvgDivergence(curve, "id"));
  EXPECT_EQ(PathOf(document, "cross"), "M215.0 41l6 6m0 -6l-6 6M381.0 41l6 6m0 -6l-6 6");
}

TEST(SvgDivergence, IsEmptyWhereNothingDiffersOrNothingIsFinite) {
  CurveComparison curve = KnownCurve();
  curve.differing = 0;
  EXPECT_EQ(SvgDivergence(curve, "id"), "");
  curve = KnownCurve();
  curve.b = {kBroken, kBroken, kBroken, kBroken};
  curve.band.clear();
  EXPECT_EQ(SvgDivergence(curve, "id"), "");
  EXPECT_EQ(SvgDivergence(CurveComparison{}, "id"), "");
}

TEST(SvgDivergence, HoldsTheExtremesOfDoubles) {
  CurveComparison curve = KnownCurve();
  curve.a = {0, -1e308, 0, 0};
  curve.b = {5e-324, 1e308, 1e300, 1e-300};
  const std::string svg = SvgDivergence(curve, "id");
  EXPECT_EQ(svg.find("nan"), std::string::npos);
  EXPECT_EQ(svg.find("inf"), std::string::npos);
  ParsedPlot(svg);
}

TEST(SvgCurves, DrawsBothCurvesOverOneScale) {
  const pugi::xml_document document = ParsedPlot(SvgCurves(KnownCurve(), "id"));
  // 0 to 0.01 with 5 % room on both sides, over 204 to 26.
  EXPECT_EQ(PathOf(document, "la"), "M52.0 195.9h.1L218.0 195.9L384.0 195.9L550.0 195.9");
  EXPECT_EQ(PathOf(document, "lb"), "M52.0 195.9h.1L218.0 194.3L384.0 179.7L550.0 34.1");
  EXPECT_EQ(SvgCurves(CurveComparison{}, "id"), "");
}

TEST(SvgCurves, KeepsASpikeOfALongCurve) {
  CurveComparison curve;
  for (int i = 0; i < 50'000; ++i) {
    curve.steps.push_back(i);
    curve.a.push_back(1.0);
    curve.b.push_back(i == 31'234 ? 9.0 : 1.0);
  }
  const std::string svg = SvgCurves(curve, "id");
  EXPECT_LT(svg.size(), 15'000U);
  // 9 lies at 5 % room below the top of 26: 26 + 178 * 0.05 / 1.1 = 34.1.
  EXPECT_NE(PathOf(ParsedPlot(svg), "lb").find(" 34.1"), std::string::npos);
}

TEST(SvgHistogram, DrawsABarAPowerOfTwoOnALogAxis) {
  UlpHistogram histogram{};
  histogram[0] = 100;
  histogram[3] = 1;
  const pugi::xml_document document = ParsedPlot(SvgHistogram(histogram, "id"));
  std::vector<pugi::xml_node> bars;
  for (pugi::xml_node bar : document.child("svg").children("rect")) bars.push_back(bar);
  ASSERT_EQ(bars.size(), 2U);
  // Eight slots of 62.25 from 52 on; a tenth of one stays free on each side.
  EXPECT_STREQ(bars[0].attribute("x").value(), "58.2");
  EXPECT_STREQ(bars[1].attribute("x").value(), "245.0");
  EXPECT_STREQ(bars[0].child("title").text().get(), "1 ULP: 100 elements");
  EXPECT_STREQ(bars[1].child("title").text().get(), "8 to 15 ULP: 1 element");
  // From 0.5 to 130 over 146 units: 100 reaches 146 ln(200) / ln(260), 1 reaches 146 ln 2 / ln 260.
  EXPECT_STREQ(bars[0].attribute("height").value(), "139.1");
  EXPECT_STREQ(bars[1].attribute("height").value(), "18.2");
}

TEST(SvgHistogram, HoldsTheLastBinAndLargeCounts) {
  UlpHistogram histogram{};
  EXPECT_EQ(SvgHistogram(histogram, "id"), "");
  histogram[63] = std::uint64_t{1} << 62;
  const std::string svg = SvgHistogram(histogram, "id");
  EXPECT_NE(svg.find("9,223,372,036,854,775,808 to 18,446,744,073,709,551,615 ULP"),
            std::string::npos);
}

TEST(SvgHeatStrip, NamesEveryCellAndItsShade) {
  std::vector<GroupDifference> groups(3);
  groups[0].group = "layers.0";
  groups[1] = {"layers.1", 9, 2, 100, 10, 1e-6, 1e-5, 4, 1e-6};
  groups[2] = {"layers.2", 9, 9, 100, 10, 1e-2, 1e-1, 64, 1e-2};
  const pugi::xml_document document = ParsedPlot(SvgHeatStrip(groups, "id"));
  const pugi::xml_node first = document.child("svg").child("rect");
  EXPECT_STREQ(first.attribute("class").value(), "h0");
  EXPECT_STREQ(first.child("title").text().get(), "layers.0: equal");
  const pugi::xml_node second = first.next_sibling("rect");
  EXPECT_STREQ(second.attribute("class").value(), "h1");
  EXPECT_STREQ(second.child("title").text().get(),
               "layers.1: 2 of 9 tensors differ, relative norm 1e-06, largest 4 ULP");
  const pugi::xml_node third = second.next_sibling("rect");
  EXPECT_STREQ(third.attribute("class").value(), "h8");
  EXPECT_GT(third.attribute("height").as_double(), second.attribute("height").as_double());
  EXPECT_STREQ(document.child("svg").child("desc").text().get(),
               "2 of 3 layers differ, the first is layers.1. The farthest is layers.2, relative "
               "norm 0.01.");
}

TEST(SvgHeatStrip, ThousandsOfLayersShareCells) {
  std::vector<GroupDifference> groups(5'000);
  groups[4'321].relative_norm = 1e-3;
  groups[4'321].differing_tensors = 1;
  const std::string svg = SvgHeatStrip(groups, "id");
  EXPECT_LT(svg.size(), 40'000U);
  EXPECT_NE(svg.find("class=\"h8\""), std::string::npos);
  EXPECT_EQ(SvgHeatStrip({}, "id"), "");
}

TEST(SvgAxis, ThinningKeepsTheEndsTheLargestAndWhatIsNoNumber) {
  std::vector<double> keys(1'000, 1.0);
  keys[123] = 7.0;
  keys[456] = kBroken;
  const std::vector<std::size_t> kept = ThinByLargest(keys, 10);
  EXPECT_LE(kept.size(), 12U);
  EXPECT_EQ(kept.front(), 0U);
  EXPECT_EQ(kept.back(), 999U);
  EXPECT_EQ(std::count(kept.begin(), kept.end(), 123U), 1);
  EXPECT_EQ(std::count(kept.begin(), kept.end(), 456U), 1);
  EXPECT_TRUE(std::is_sorted(kept.begin(), kept.end()));
  EXPECT_EQ(ThinByLargest({1, 2, 3}, 10), (std::vector<std::size_t>{0, 1, 2}));
  EXPECT_TRUE(ThinByLargest({}, 10).empty());
}

}  // namespace
}  // namespace rharness
