// Files as lines of a log: back as they were, or a clear error, whatever else the log holds.
#include "harness/execution/rerun/framed_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "harness/base/digest.h"

namespace rharness {
namespace {

using testing::HasSubstr;

const std::string kTicket(64, 'a');

std::vector<FramedFile> Files() {
  std::string all;
  for (int i = 0; i < 70'000; ++i) all += static_cast<char>(i * 7 % 256);
  return {{"runs/r/1/evidence.json", "{\"a\": 1}\n"},
          {"runs/r/1/stdout.log", all},
          {"runs/r/1/stderr.log", ""},
          {"ended.json", "x"}};
}

std::string Framed() { return *FrameFiles(kTicket, Files()); }

// As files, or the error's words.
std::string Read(const std::string& log) {
  const auto files = ParseFramedLog(log, kTicket);
  if (!files.ok()) {
    EXPECT_EQ(files.error().code, ErrorCode::kIntegrity);
    return files.error().ToString();
  }
  if (!*files) return "none";
  EXPECT_EQ((*files)->size(), Files().size());
  for (std::size_t i = 0; i < Files().size(); ++i) {
    EXPECT_EQ((**files)[i].path, Files()[i].path);
    EXPECT_EQ((**files)[i].content, Files()[i].content);
  }
  return "whole";
}

std::vector<std::string> LinesOf(const std::string& text) {
  std::vector<std::string> lines;
  std::size_t at = 0;
  for (auto end = text.find('\n'); end != std::string::npos; end = text.find('\n', at)) {
    lines.push_back(text.substr(at, end + 1 - at));
    at = end + 1;
  }
  return lines;
}

std::string Join(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line;
  return text;
}

TEST(FramedLog, ComesBackAsItWasAmongOtherLines) {
  EXPECT_EQ(Read(Framed()), "whole");
  std::string mixed = "rharness: a warning without an end of line";
  for (const std::string& line : LinesOf(Framed())) {
    mixed += line + "rharness: 3/4\n@rharness " + std::string(64, 'b') + " begin 1 x 1\n";
  }
  EXPECT_EQ(Read(mixed), "whole") << "frames of another ticket are others' business";
  for (const std::string& line : LinesOf(Framed())) EXPECT_LE(line.size(), 16384U);
  const auto none = FrameFiles(kTicket, {});
  ASSERT_TRUE(none.ok());
  EXPECT_TRUE((*ParseFramedLog(*none, kTicket))->empty());
}

TEST(FramedLog, IsNoneWhereNothingOfItBegins) {
  EXPECT_EQ(Read(""), "none");
  EXPECT_EQ(Read("killed\n"), "none");
  EXPECT_FALSE(ParseFramedLog(Framed(), std::string(64, 'c'))->has_value());
}

TEST(FramedLog, IsRefusedWhereItIsCutOffAnywhere) {
  const std::string whole = Framed();
  const std::size_t first = whole.find("begin");
  for (std::size_t size = first + 6; size + 1 < whole.size(); size += 97) {
    EXPECT_NE(Read(whole.substr(0, size)), "whole") << size;
  }
  EXPECT_THAT(Read(whole.substr(0, whole.size() / 2)), HasSubstr("no base64"));
  auto lines = LinesOf(whole);
  lines.pop_back();
  EXPECT_THAT(Read(Join(lines)), HasSubstr("cut off behind 12 of 12 lines"));
  // A log that was turned over has lost its front.
  EXPECT_THAT(Read(whole.substr(whole.size() / 2)), HasSubstr("has no beginning"));
}

TEST(FramedLog, IsRefusedWithLinesMissingRepeatedOrSwapped) {
  const auto lines = LinesOf(Framed());
  ASSERT_GT(lines.size(), 6U);
  for (std::size_t i = 1; i < lines.size(); ++i) {
    auto changed = lines;
    changed.erase(changed.begin() + static_cast<std::ptrdiff_t>(i));
    EXPECT_NE(Read(Join(changed)), "whole") << "without " << i;
    changed = lines;
    changed.insert(changed.begin() + static_cast<std::ptrdiff_t>(i), lines[i]);
    EXPECT_NE(Read(Join(changed)), "whole") << "twice " << i;
    if (i + 1 == lines.size()) break;
    changed = lines;
    std::swap(changed[i], changed[i + 1]);
    EXPECT_NE(Read(Join(changed)), "whole") << "swapped " << i;
  }
  EXPECT_THAT(Read(Framed() + Framed()), HasSubstr("goes on behind its end"));
}

TEST(FramedLog, IsRefusedWithAnyCharacterChanged) {
  const std::string whole = Framed();
  std::mt19937 draw(1);
  const std::size_t mark = whole.find("begin");
  for (int i = 0; i < 3000; ++i) {
    std::string changed = whole;
    const std::size_t at = mark + draw() % (whole.size() - mark);
    changed[at] = static_cast<char>(draw() % 256);
    if (changed[at] == whole[at]) continue;
    // The last end of line, and what makes of it another one, carry nothing.
    const bool end = at + 1 == whole.size() || (at > 0 && whole[at] == '\n');
    if (end) continue;
    EXPECT_NE(Read(changed), "whole") << at;
  }
}

// Made by somebody who knows the form.
TEST(FramedLog, BelievesNoHostileFrame) {
  const auto frame = [](const std::string& bytes, const std::string& digest) {
    return FrameFiles(kTicket, {}).ok()
               ? "@rharness " + kTicket + " begin " + bytes + " " + digest + " 1\n@rharness " +
                     kTicket + " 1 eA==\n@rharness " + kTicket + " end\n"
               : "";
  };
  EXPECT_THAT(Read(frame("1", Sha256HexOf("x"))), HasSubstr("log"));  // no JSON in it
  EXPECT_THAT(Read(frame("1", Sha256HexOf("y"))), HasSubstr("size and digest"));
  EXPECT_THAT(Read(frame("99999999999999999999", Sha256HexOf("x"))), HasSubstr("that it may have"));
  EXPECT_THAT(Read(frame("-1", Sha256HexOf("x"))), HasSubstr("that it may have"));
  EXPECT_THAT(Read(frame("1000000000", Sha256HexOf("x"))), HasSubstr("that it may have"));
  for (const char* path : {"/etc/passwd", "../x", "a/../../x", "", "a\nb", "."}) {
    const auto framed = FrameFiles(kTicket, {{path, "x"}});
    ASSERT_TRUE(framed.ok());
    const auto files = ParseFramedLog(*framed, kTicket);
    ASSERT_FALSE(files.ok()) << path;
    EXPECT_EQ(files.error().code, ErrorCode::kIntegrity);
  }
  EXPECT_THAT(
      ParseFramedLog(*FrameFiles(kTicket, {{"a", "x"}, {"a", "y"}}), kTicket).error().ToString(),
      HasSubstr("twice"));
}

TEST(FramedLog, TakesAnyTextWithoutHarm) {
  std::mt19937 draw(2);
  const std::vector<std::string> pieces = {"@rharness ",
                                           kTicket,
                                           " ",
                                           "begin",
                                           "end",
                                           "\n",
                                           "1",
                                           "2",
                                           "eA==",
                                           "0",
                                           "=",
                                           "{\"path\"",
                                           std::string(1, '\0'),
                                           "\r\n"};
  for (int i = 0; i < 20'000; ++i) {
    std::string text = draw() % 2 == 0 ? "@rharness " + kTicket + " " : "";
    for (std::size_t n = draw() % 30; n > 0; --n) text += pieces[draw() % pieces.size()];
    EXPECT_NE(Read(text), "whole");
  }
}

TEST(FramedLog, CarriesSoMuchAndNoMore) {
  const std::string most(kMostFramedBytes - 100, 'x');
  const auto framed = FrameFiles(kTicket, {{"a", most}});
  ASSERT_TRUE(framed.ok());
  EXPECT_LT(framed->size(), std::size_t{10} << 20);
  EXPECT_EQ((**ParseFramedLog(*framed, kTicket))[0].content, most);
  EXPECT_FALSE(FrameFiles(kTicket, {{"a", most + std::string(200, 'x')}}).ok());
}

}  // namespace
}  // namespace rharness
