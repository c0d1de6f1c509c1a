// Whether what the style sheet puts on what can be read, in its light and its dark colours.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>

#include "reports/site_links.h"

namespace rharness {
namespace {

using Colours = std::map<std::string, std::string>;  // "ink": "1c2024"

// Of the n-th block of :root.
Colours ColoursOf(const std::string& style, int block) {
  std::size_t at = 0;
  for (int i = 0; i <= block; ++i) at = style.find(":root {", at + 1 - (i == 0 ? 1 : 0));
  const std::string text = style.substr(at, style.find('}', at) - at);
  Colours colours;
  for (std::size_t name = text.find("--"); name != std::string::npos;
       name = text.find("--", name + 2)) {
    const std::size_t colon = text.find(':', name);
    const std::string value = text.substr(colon + 2, 7);
    if (value.front() == '#') {
      colours[text.substr(name + 2, colon - name - 2)] = value.substr(1);
    }
  }
  return colours;
}

// Source: WCAG 2.2, "relative luminance" and "contrast ratio".
double LuminanceOf(const std::string& hex) {
  const double weights[] = {0.2126, 0.7152, 0.0722};
  double sum = 0.0;
  for (std::size_t i = 0; i < 3; ++i) {
    const double part = std::stoi(hex.substr(i * 2, 2), nullptr, 16) / 255.0;
    sum += weights[i] * (part <= 0.04045 ? part / 12.92 : std::pow((part + 0.055) / 1.055, 2.4));
  }
  return sum;
}

double ContrastOf(const std::string& a, const std::string& b) {
  const auto [dark, light] = std::minmax({LuminanceOf(a), LuminanceOf(b)});
  return (light + 0.05) / (dark + 0.05);
}

TEST(Contrast, IsThatOfTheStandard) {
  EXPECT_NEAR(ContrastOf("000000", "ffffff"), 21.0, 1e-9);
  EXPECT_NEAR(ContrastOf("777777", "ffffff"), 4.48, 0.005) << "the grey that just fails";
}

TEST(Contrast, OfAllTextIsFourAndAHalfInLightAndInDark) {
  const std::string style(SiteStyle());
  for (const int block : {0, 1}) {
    Colours colours = ColoursOf(style, block);
    ASSERT_GT(colours.size(), 20U);
    const auto check = [&](const std::string& on, const std::string& below) {
      EXPECT_GE(ContrastOf(colours.at(on), colours.at(below)), 4.5)
          << on << " on " << below << (block == 0 ? ", light" : ", dark");
    };
    for (const char* below : {"bg", "panel"}) {
      for (const char* on : {"ink", "soft", "link"}) check(on, below);
      for (const char* on : {"ok", "eq", "bad", "open", "nc", "fail", "infra"}) check(on, below);
    }
    for (const std::string on : {"ok", "eq", "bad", "open", "nc", "fail", "infra"}) {
      check(on, on + "-bg");
    }
    check("focus", "bg");  // of what shows where the keyboard is, three would do
  }
  EXPECT_NE(ColoursOf(style, 0).at("bg"), ColoursOf(style, 1).at("bg"));
}

}  // namespace
}  // namespace rharness
