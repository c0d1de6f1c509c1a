// Text made safe to print, its width in columns, and numbers in words.
#include "reports/text.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "reports/words.h"
#include "tests/reports/hostile.h"

namespace rharness {
namespace {

TEST(SafeText, KeepsOrdinaryTextOfEveryScript) {
  const std::string text = "naïve 模型 модель 🙂 α ≤ 0.05";
  EXPECT_EQ(SafeText(text), text);
}

TEST(SafeText, SpellsOutControlsAndInvalidBytes) {
  EXPECT_EQ(SafeText("a\x07\x1b]b\x7f"), "a\\x07\\x1b]b\\x7f");
  EXPECT_EQ(SafeText("\xff\xc3("), "\\xff\\xc3(");
  EXPECT_EQ(SafeText("\xc0\xaf"), "\\xc0\\xaf");                    // overlong
  EXPECT_EQ(SafeText("\xed\xa0\x80"), "\\xed\\xa0\\x80");           // surrogate
  EXPECT_EQ(SafeText("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");  // above U+10FFFF
  EXPECT_EQ(SafeText("a\u202Eb\u0085"), "a\\u{202e}b\\u{0085}");
}

TEST(SafeText, DropsColoursAndJoinsOrKeepsLines) {
  EXPECT_EQ(SafeText("\x1b[1;31mred\x1b[0m"), "red");
  EXPECT_EQ(SafeText("a\r\nb\rc\td"), "a b c d");
  EXPECT_EQ(SafeText("a\r\nb\rc\td", 100, Lines::kKeep), "a\nb\nc\td");
}

TEST(SafeText, CutsOnACharacterAndSaysSo) {
  EXPECT_EQ(SafeText("ααα", 3), "α… [cut: 6 B in all]");
  EXPECT_EQ(SafeText("ααα", 6), "ααα");
  EXPECT_LT(SafeText(std::string(1'000'000, 'a'), 100).size(), 150U);
}

TEST(SafeText, IsAFixedPoint) {
  for (const std::string& text : HostileTexts()) {
    const std::string once = SafeText(text, 500);
    EXPECT_EQ(SafeText(once, 1000), once);
    EXPECT_LE(once.size(), 500U + 40U);
  }
}

TEST(Tail, KeepsTheEndOnACharacter) {
  EXPECT_EQ(Tail("abcdef", 3), "def");
  EXPECT_EQ(Tail("ααα", 3), "α");
  EXPECT_EQ(Tail("ab", 3), "ab");
}

TEST(Width, CountsColumnsAndNotBytes) {
  EXPECT_EQ(DisplayWidth("abc"), 3);
  EXPECT_EQ(DisplayWidth("模型"), 4);
  EXPECT_EQ(DisplayWidth("e\u0301"), 1);
  EXPECT_EQ(ElideMiddle("abcdefghij", 7), "abc…hij");
  EXPECT_EQ(ElideMiddle("abc", 3), "abc");
  EXPECT_EQ(ElideEnd("abcdef", 4), "abc…");
  for (int columns = 0; columns < 12; ++columns) {
    EXPECT_LE(DisplayWidth(ElideMiddle("模型-модель-x", columns)), columns);
    EXPECT_LE(DisplayWidth(ElideEnd("模型-модель-x", columns)), columns);
  }
}

TEST(Width, ASentenceLosesFoldersOfItsPathBeforeItsEnd) {
  const std::string text =
      "drawn from: random (/tmp/rharness-RAWYbK/rharness-g26kdJ/test_it.py:7).";
  EXPECT_EQ(ElideEnd(text, DisplayWidth(text)), text);
  EXPECT_EQ(ElideEnd(text, 60), "drawn from: random (/tmp/rharness-RAWYbK/rha…/test_it.py:7).");
  EXPECT_EQ(ElideEnd(text, 37), "drawn from: random (/…/test_it.py:7).");
  EXPECT_EQ(ElideEnd(text, 30), "drawn from: random (/tmp/rhar…");
  EXPECT_EQ(ElideEnd("drawn from: random (.../longer_one/tests/a.py:7)", 34),
            "drawn from: random (.../l…/a.py:7)");
  EXPECT_EQ(ElideEnd("loss is 3 items/second slower", 20), "loss is 3 items/sec…");
  EXPECT_EQ(ElideEnd("layers.0/self_attn/kernel differs", 20), "layers.0/self_attn/…");
  EXPECT_EQ(ElideEnd("a/b and a long end", 10), "a/b and a…");
  for (int columns = 0; columns < 70; ++columns) {
    EXPECT_LE(DisplayWidth(ElideEnd(text, columns)), columns);
  }
}

TEST(Numbers, ReadWell) {
  EXPECT_EQ(FormatNumber(0.97125), "0.97125");
  EXPECT_EQ(FormatNumber(-0.0), "0");
  EXPECT_EQ(FormatNumber(0.0613333, 4), "0.06133");
  EXPECT_EQ(FormatNumber(std::nan("")), "NaN");
  EXPECT_EQ(FormatNumber(-std::numeric_limits<double>::infinity()), "-inf");
  EXPECT_EQ(FormatCount(0), "0");
  EXPECT_EQ(FormatCount(999), "999");
  EXPECT_EQ(FormatCount(1'234'567), "1,234,567");
  EXPECT_EQ(FormatBytes(1023), "1023 B");
  EXPECT_EQ(FormatBytes(1536), "1.5 KiB");
  EXPECT_EQ(FormatBytes(734'003'200), "700.0 MiB");
  EXPECT_EQ(FormatBytes(std::numeric_limits<std::uint64_t>::max()), "16.0 EiB");
  EXPECT_EQ(Counted(1, "run"), "1 run");
  EXPECT_EQ(Counted(1200, "run"), "1,200 runs");
}

TEST(ElideApart, KeepsLabelsDifferentThatAreDifferent) {
  const std::vector<std::string> names = {"gpt3_mcore_te_tp1_pp4_resume_a__golden_values_dev_h100",
                                          "gpt3_mcore_te_tp1_pp4_resume_b__golden_values_dev_h100",
                                          "short",
                                          "t5__golden_values_dev_of_another_model_altogether_h100"};
  const std::vector<std::string> labels = ElideApart(names, 24);
  ASSERT_EQ(labels.size(), 4u);
  EXPECT_EQ(labels[0], "…a__golden_v…es_dev_h100");
  EXPECT_EQ(labels[1], "…b__golden_v…es_dev_h100");
  EXPECT_EQ(labels[2], "short");
  EXPECT_EQ(labels[3], ElideMiddle(names[3], 24));
  // What differs is within what is left out, at both ends of it.
  std::vector<std::string> hidden;
  for (const char* first : {"x", "y"}) {
    for (const char* last : {"x", "y"}) {
      hidden.push_back("begin_of_many_" + std::string(first) + std::string(60, '-') + last +
                       "_end_of_many_names");
    }
  }
  const std::vector<std::string> numbered = ElideApart(hidden, 20);
  EXPECT_EQ(std::set<std::string>(numbered.begin(), numbered.end()).size(), 4u);
  for (const std::string& label : numbered) EXPECT_LE(DisplayWidth(label), 20) << label;
  EXPECT_EQ(ElideApart({"same_same_same_same", "same_same_same_same"}, 9)[0],
            ElideApart({"same_same_same_same", "same_same_same_same"}, 9)[1]);
}

TEST(ReasonWords, HaveTheCodeInWordsAndTheSentenceAsItIs) {
  EXPECT_EQ(ReasonWords(Reason{"data_changed", "data 'a_b' is new"}),
            "data changed: data 'a_b' is new");
  EXPECT_EQ(ReasonWords(Reason{"", "a_b: c"}), "a_b: c");
}

}  // namespace
}  // namespace rharness
