// The quick way through JSON against the careful one: what it takes, the other takes, too, as the
// same value.
#include "harness/base/json_quick.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

namespace rharness {
namespace {

bool Same(const Json& a, const Json& b) {
  if (a.kind() != b.kind()) return false;
  if (a.IsArray()) return std::ranges::equal(a.AsArray(), b.AsArray(), Same);
  if (!a.IsObject()) return a.Dump() == b.Dump();
  return std::ranges::equal(a.AsObject(), b.AsObject(), [](const auto& x, const auto& y) {
    return x.first == y.first && Same(x.second, y.second);
  });
}

// Whether the quick way took it; else nothing is claimed.
bool TakesAsTheCarefulWay(const std::string& text) {
  const std::optional<Json> quick = ParseJsonQuickly(text);
  if (!quick) return false;
  const Result<Json> careful = ParseJsonCarefully(text, "f");
  EXPECT_TRUE(careful.ok()) << text << ": " << careful.error().ToString();
  EXPECT_TRUE(careful.ok() && Same(*quick, *careful)) << text;
  return true;
}

const std::vector<std::string> kOrdinary = {
    R"({"schema": "rharness.manifest/v1", "seeds": {"numpy": 1, "torch": -7}, "lr": 1e-3})",
    R"([0, -0, 0.0, -0.0, 1, -1, 1.5, 1e5, 1E+5, 1e-5, 123456789012345678, 2.2250738585072014e-308])",
    R"([18446744073709551615, -9223372036854775808, 9007199254740993, 0.1, 1.7976931348623157e308])",
    R"({"a": {"b": {"c": [[], {}, [{}], "x"]}}, "": null, "t": true, "f": false})",
    R"(["\"\\\/\b\f\n\r\t", "\u00e9\u0001\u20ac", "é€😀", "~\u007f", "a\u0000b"])",
    R"("text")",
    R"(  -12.5e2  )",
};

TEST(JsonQuick, TakesOrdinaryDocumentsAsTheCarefulWayDoes) {
  for (const std::string& text : kOrdinary) EXPECT_TRUE(TakesAsTheCarefulWay(text)) << text;
}

TEST(JsonQuick, LeavesWhatItCannotMakeToTheCarefulWay) {
  for (const char* text :
       {"18446744073709551616", "-9223372036854775809", "1e-400", "1e400", "\"\\ud83d\\ude00\"",
        "\"\\udc00\"", "\xef\xbb\xbf{}", "{\"a\":1,\"b\":2,\"a\":3}", "[1,]", "\"\xc3\x28\"", "",
        "01", "[1] 2"}) {
    EXPECT_FALSE(ParseJsonQuickly(text)) << text;
  }
  std::string deep(200, '[');
  EXPECT_FALSE(ParseJsonQuickly(deep + std::string(200, ']')));
}

// Bytes replaced, removed, doubled and moved between documents.
TEST(JsonQuick, NeverTakesMoreThanTheCarefulWayNorAnotherValue) {
  const std::string letters =
      "{}[]\":,\\u0dD8eE+-.19 tfn/\xc3\xa9\xf0\x9f\x98\x80\xed\xa0\n\x01\x7f";
  std::mt19937 random(5);
  const auto below = [&](std::size_t n) { return random() % n; };
  int taken = 0;
  for (int trial = 0; trial < 60'000; ++trial) {
    std::string text = kOrdinary[below(kOrdinary.size())];
    for (std::size_t changes = 1 + below(4); changes > 0 && !text.empty(); --changes) {
      const std::size_t at = below(text.size());
      const std::string& other = kOrdinary[below(kOrdinary.size())];
      switch (below(4)) {
        case 0:
          text[at] = letters[below(letters.size())];
          break;
        case 1:
          text.erase(at, 1 + below(3));
          break;
        case 2:
          text.insert(at, text.substr(below(text.size()), below(8)));
          break;
        default:
          text.insert(at, other.substr(below(other.size()), below(12)));
      }
    }
    if (TakesAsTheCarefulWay(text)) ++taken;
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_GT(taken, 3'000);
}

}  // namespace
}  // namespace rharness
