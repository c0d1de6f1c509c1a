// Which lines are entries, to the letter.
#include "harness/trust/audit/entry.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace rharness {
namespace {

constexpr char kDigest[] = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

std::string Line(const std::string& index, const std::string& kind, const std::string& name,
                 const std::string& time = "2026-11-25T08:00:00.000Z") {
  return R"({"index":)" + index + R"(,"kind":")" + kind + R"(","name":")" + name +
         R"(","sha256":")" + kDigest + R"(","time":")" + time + R"("})";
}

TEST(AuditEntry, IsReadAsItIsSpelled) {
  struct Case {
    std::string index, kind, name;
    bool plain;
  };
  for (const Case& one : std::vector<Case>{{"0", "manifest", "mlp-1", true},
                                           {"18446744073709551615", "a_b", "x y/z~", true},
                                           {"7", "verdict", R"(a\"b)", false},
                                           {"7", "verdict", R"(a\\)", false},
                                           {"7", "verdict", R"(\\\"\\)", false},
                                           {"7", "verdict", "na\u00efve", false},
                                           {"7", "verdict", "a\x7f", false},
                                           {"7", "verdict", std::string(400, 'n'), true}}) {
    const std::string line = Line(one.index, one.kind, one.name);
    EntryParts parts;
    ASSERT_TRUE(ScanEntry(line, &parts)) << line;
    EXPECT_EQ(std::to_string(parts.index), one.index);
    EXPECT_EQ(parts.kind, one.kind);
    EXPECT_EQ(parts.name, one.name);
    EXPECT_EQ(parts.sha256, kDigest);
    EXPECT_EQ(parts.time, "2026-11-25T08:00:00.000Z");
    EXPECT_EQ(parts.plain, one.plain) << line;
  }
}

TEST(AuditEntry, IsNothingThatIsSpelledOtherwise) {
  const std::string good = Line("3", "manifest", "mlp-1");
  EntryParts parts;
  ASSERT_TRUE(ScanEntry(good, &parts));
  for (std::size_t size = 0; size < good.size(); ++size) {
    EXPECT_FALSE(ScanEntry(std::string_view(good).substr(0, size), &parts)) << size;
  }
  const std::vector<std::string> others = {
      good + " ",
      " " + good,
      Line("03", "manifest", "mlp-1"),
      Line("-3", "manifest", "mlp-1"),
      Line("18446744073709551616", "manifest", "mlp-1"),
      Line("", "manifest", "mlp-1"),
      Line("3", "", "mlp-1"),
      Line("3", "Manifest", "mlp-1"),
      Line("3", "mani-fest", "mlp-1"),
      Line("3", std::string(41, 'm'), "mlp-1"),
      Line("3", "manifest", ""),
      Line("3", "manifest", R"(mlp\)"),  // its quote is escaped
      Line("3", "manifest", R"(a"b)"),
      Line("3", "manifest", std::string(kMostEntryBytes, 'n')),
      Line("3", "manifest", "mlp-1", "2026-11-25 08:00:00.000Z"),
      Line("3", "manifest", "mlp-1", "2026-11-25T08:00:00.000z"),
      Line("3", "manifest", "mlp-1", "2026-11-2/T08:00:00.000Z"),
      Line("3", "manifest", "mlp-1", "2026-11-2:T08:00:00.000Z"),
      Line("3", "manifest", "mlp-1", "2026-11-25T08:00:00.00Z"),
  };
  for (const std::string& line : others) EXPECT_FALSE(ScanEntry(line, &parts)) << line;
}

TEST(AuditEntry, HasAPlainNameUnlessOneOfItsCharactersIsNot) {
  EntryParts parts;
  for (std::size_t size = 1; size <= 50; ++size) {
    const std::string plain(size, 'n');
    ASSERT_TRUE(ScanEntry(Line("7", "verdict", plain), &parts) && parts.plain) << size;
    for (std::size_t at = 0; at < size; ++at) {
      std::string name = plain;
      for (const char other : {'\x01', '\x1f', '\x7f', '\xc3'}) {
        name[at] = other;
        ASSERT_TRUE(ScanEntry(Line("7", "verdict", name), &parts) && !parts.plain) << size << at;
      }
      name[at] = '"';
      ASSERT_FALSE(ScanEntry(Line("7", "verdict", name), &parts)) << size << " " << at;
      name[at] = '\\';  // it escapes the character behind it, and at the end the quote
      ASSERT_EQ(ScanEntry(Line("7", "verdict", name), &parts), at + 1 < size) << size << " " << at;
      ASSERT_FALSE(parts.plain) << size << " " << at;
    }
  }
}

// Entries are told apart from lines that only look like one: JSON has other spellings of a name,
// and a calendar has no such days.
TEST(AuditEntry, HasOneSpelling) {
  EXPECT_TRUE(ParseEntry(Line("3", "verdict", R"(a\"b)"), "").ok());
  EXPECT_EQ(ParseEntry(Line("3", "verdict", R"(a\"b)"), "")->name, "a\"b");
  EXPECT_FALSE(ParseEntry(Line("3", "verdict", R"(\u0061)"), "").ok());
  EXPECT_FALSE(ParseEntry(Line("3", "verdict", R"(a\q)"), "").ok());
  EXPECT_FALSE(ParseEntry(Line("3", "verdict", "a\xff"), "").ok());
  EXPECT_FALSE(ParseEntry(Line("3", "verdict", "mlp-1", "2026-02-30T08:00:00.000Z"), "").ok());
  EXPECT_FALSE(ParseEntry(Line("3", "verdict", "mlp-1", "2026-02-20T25:00:00.000Z"), "").ok());
}

}  // namespace
}  // namespace rharness
