// Percent-encoding and UTF-8: what is decoded, what is refused.
#include <gtest/gtest.h>

#include <string>

#include "harness/base/percent.h"
#include "harness/base/utf8.h"

namespace rharness {
namespace {

TEST(Percent, DecodesTwoHexDigitsOnceAndInEitherCase) {
  EXPECT_EQ(PercentDecoded("a%20b%2fc%2Fd"), "a b/c/d");
  EXPECT_EQ(PercentDecoded("%2520"), "%20");
  EXPECT_EQ(PercentDecoded(""), "");
  EXPECT_EQ(PercentDecoded("%C3%A4"), "\u00e4");
}

TEST(Percent, RefusesAnEscapeWithoutItsDigitsAndLeavesItWhereNothingMayBeEncoded) {
  for (const char* text : {"%", "a%", "%4", "100%!", "%4g", "%g4", "%+1", "%-1", "% 1", "%0x"}) {
    EXPECT_FALSE(PercentDecoded(text)) << text;
    EXPECT_EQ(PercentDecodedWhereEncoded(text), text);
  }
  EXPECT_EQ(PercentDecodedWhereEncoded("5%%20of%20it"), "5% of it");
}

TEST(Utf8, HasTheCodeAndTheLengthOfItsFirstCharacter) {
  const auto first = [](std::string_view text) {
    const auto found = FirstUtf8(text);
    return found ? std::pair(static_cast<unsigned>(found->code), found->bytes) : std::pair(0U, 0UL);
  };
  EXPECT_EQ(first("ab"), std::pair(0x61U, 1UL));
  EXPECT_EQ(first(std::string_view("\0", 1)), std::pair(0U, 1UL));
  EXPECT_EQ(first("\xC2\x80"), std::pair(0x80U, 2UL));
  EXPECT_EQ(first("\xE0\xA0\x80"), std::pair(0x800U, 3UL));
  EXPECT_EQ(first("\xEF\xBF\xBF"), std::pair(0xFFFFU, 3UL));
  EXPECT_EQ(first("\xF0\x90\x80\x80"), std::pair(0x10000U, 4UL));
  EXPECT_EQ(first("\xF4\x8F\xBF\xBF"), std::pair(0x10FFFFU, 4UL));
}

// Unicode 15, table 3-7: one below and one above each range of it.
TEST(Utf8, IsNeitherOverlongNorASurrogateNorBeyondTheLastCharacterNorCutOff) {
  for (const char* text :
       {"\x80", "\xBF", "\xC0\x80", "\xC1\xBF", "\xE0\x9F\xBF", "\xED\xA0\x80", "\xED\xBF\xBF",
        "\xF0\x8F\xBF\xBF", "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xFF", "\xC2", "\xE1\x80",
        "\xF1\x80\x80", "\xC2\x41", "\xE1\x80\x41", "\xF1\x80\x80\xC0"}) {
    EXPECT_FALSE(FirstUtf8(text)) << testing::PrintToString(std::string(text));
    EXPECT_FALSE(IsUtf8(std::string("whole ") + text));
  }
  EXPECT_TRUE(IsUtf8("whole \xED\x9F\xBF \xEE\x80\x80"));
  EXPECT_TRUE(IsUtf8(""));
}

}  // namespace
}  // namespace rharness
