// The picture of a metric: positions worked out by hand, and the edges of doubles.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <pugixml.hpp>

#include "reports/svg_plots.h"

namespace rharness {
namespace {

// History 10 and 12 around 11, margin 3, reruns at 14: the axis runs from 8 to 14 with 6 % room on
// each side, so 7.64 to 14.36, over 400 units from 70 on.
MetricDecision Known() {
  MetricDecision metric;
  metric.name = "loss";
  metric.unit = "nats";
  metric.history = {10, 12};
  metric.reruns = {14};
  metric.mean_history = 11;
  metric.difference = 3;
  metric.margin = 3;
  metric.ci_low = 2.5;
  metric.ci_high = 2.9;
  return metric;
}

pugi::xml_document Parsed(const MetricDecision& metric) {
  pugi::xml_document document;
  const std::string svg = SvgBand(metric, "id");
  EXPECT_TRUE(document.load_buffer(svg.data(), svg.size())) << svg;
  return document;
}

double XOf(double value) { return 70 + 400 * (value - 7.64) / (14.36 - 7.64); }

TEST(SvgBand, PlacesValuesAndMarginOnOneScale) {
  const pugi::xml_document document = Parsed(Known());
  const pugi::xml_node svg = document.child("svg");
  const pugi::xml_node band = svg.child("rect");
  EXPECT_NEAR(band.attribute("x").as_double(), XOf(8), 0.06);
  EXPECT_NEAR(band.attribute("width").as_double(), XOf(14) - XOf(8), 0.06);
  EXPECT_NEAR(svg.child("circle").attribute("cx").as_double(), XOf(10), 0.06);
  EXPECT_NEAR(svg.child("circle").next_sibling("circle").attribute("cx").as_double(), XOf(12),
              0.06);
}

TEST(SvgBand, IsDescribedInWordsForThoseWhoCannotSeeIt) {
  const pugi::xml_document document = Parsed(Known());
  const pugi::xml_node svg = document.child("svg");
  EXPECT_STREQ(svg.attribute("role").value(), "img");
  EXPECT_STREQ(svg.attribute("aria-labelledby").value(), "id-t id-d");
  EXPECT_STREQ(svg.child("title").attribute("id").value(), "id-t");
  EXPECT_STREQ(svg.child("desc").text().get(),
               "2 recorded values from 10 to 12; 1 rerun value from 14 to 14. Margin from 8 to 14 "
               "around the recorded mean 11. 90 % interval of the rerun mean from 13.5 to 13.9.");
}

TEST(SvgBand, TicksAreRoundNumbersWithinTheAxis) {
  const pugi::xml_document document = Parsed(Known());
  std::vector<std::string> labels;
  for (const pugi::xml_node text : document.child("svg").children("text")) {
    labels.emplace_back(text.text().get());
  }
  EXPECT_EQ(labels,
            (std::vector<std::string>{"8", "10", "12", "14", "nats", "history", "reruns", "90 %"}));
}

TEST(SvgBand, DrawsEqualValuesWithoutARange) {
  MetricDecision metric;
  metric.history = {0.5, 0.5};
  metric.reruns = {0.5};
  metric.mean_history = 0.5;
  const pugi::xml_document document = Parsed(metric);
  EXPECT_NEAR(document.child("svg").child("circle").attribute("cx").as_double(), 270, 0.06);
}

TEST(SvgBand, LeavesOutWhatIsNotFiniteAndSaysSo) {
  MetricDecision metric = Known();
  metric.reruns = {std::numeric_limits<double>::quiet_NaN(), 14};
  metric.ci_low = -std::numeric_limits<double>::infinity();
  const std::string svg = SvgBand(metric, "id");
  EXPECT_NE(svg.find("2 rerun values from 14 to 14, 1 of them not finite"), std::string::npos);
  EXPECT_EQ(svg.find("nan"), std::string::npos);
  EXPECT_EQ(svg.find("inf"), std::string::npos);
  EXPECT_EQ(svg.find("class=\"ci\""), std::string::npos);
}

TEST(SvgBand, DrawsNothingWhereNothingCanBeDrawn) {
  MetricDecision metric;
  EXPECT_EQ(SvgBand(metric, "id"), "");
  metric.reruns = {std::numeric_limits<double>::quiet_NaN()};
  EXPECT_EQ(SvgBand(metric, "id"), "");
  metric.reruns = {-1.7e308, 1.7e308};
  EXPECT_EQ(SvgBand(metric, "id"), "");
}

TEST(SvgBand, SurvivesTheEdgesOfDoubles) {
  for (const double scale : {5e-324, 1e-300, 1e-9, 1e9, 1e300}) {
    MetricDecision metric = Known();
    for (double& value : metric.history) value *= scale;
    for (double& value : metric.reruns) value *= scale;
    metric.mean_history *= scale;
    metric.margin *= scale;
    const std::string svg = SvgBand(metric, "id");
    EXPECT_EQ(svg.find("nan"), std::string::npos) << scale;
    EXPECT_LT(svg.size(), 6'000U) << scale;
  }
}

TEST(SvgBand, DrawsAtMostTwoHundredPointsALane) {
  MetricDecision metric = Known();
  metric.history.assign(100'000, 11.0);
  EXPECT_LT(SvgBand(metric, "id").size(), 30'000U);
}

}  // namespace
}  // namespace rharness
