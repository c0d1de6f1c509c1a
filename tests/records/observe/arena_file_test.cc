// The file of notes: what is made of one that the run has changed at will.
#include "harness/records/observe/arena_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstddef>
#include <cstdio>
#include <cstring>
#include <random>

#include "harness/base/files.h"
#include "harness/records/observe/arena.h"

namespace rharness {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

std::string Empty() {
  std::string bytes(sizeof(Arena), '\0');
  std::memcpy(bytes.data(), &kArenaMagic, sizeof(kArenaMagic));
  return bytes;
}

// As the library writes it, `size` being what it says of the text.
void Put(std::size_t at, std::uint8_t kind, std::string_view text, std::uint16_t size,
         std::string* bytes) {
  ArenaEntry entry{.hash = 1, .kind = kind, .ready = 1, .size = size, .text = {}};
  std::memcpy(entry.text, text.data(), std::min(text.size(), sizeof(entry.text)));
  std::memcpy(bytes->data() + offsetof(Arena, entries) + at * sizeof(entry), &entry, sizeof(entry));
}
void Put(std::size_t at, std::uint8_t kind, std::string_view text, std::string* bytes) {
  Put(at, kind, text, static_cast<std::uint16_t>(text.size()), bytes);
}

TEST(Arena, IsReadByKind) {
  std::string bytes = Empty();
  Put(0, kEntryVariable, "BATCH", &bytes);
  Put(7, kEntryFile, "/a/config.json", &bytes);
  Put(9, kEntryOwnFile, "/a/out.json", &bytes);
  Put(10, kEntryLink, std::string("/a/link") + '\0' + "/b/data", &bytes);
  Put(11, kEntryLink, std::string("/a/link\0b", 9), &bytes);
  Put(8000, kEntryLibrary, "/l/libz.so.1", &bytes);
  Put(8191, kEntryProgram, "/b/python3", &bytes);
  const auto notes = ParseArena(bytes);
  ASSERT_TRUE(notes.ok());
  EXPECT_THAT(notes->variables, ElementsAre("BATCH"));
  EXPECT_THAT(notes->files, ElementsAre("/a/config.json", "/a/out.json"));
  EXPECT_THAT(notes->begun_from, ElementsAre("/a/config.json", "/b/data"));
  EXPECT_THAT(notes->links, ElementsAre(testing::Pair("/a/link", "/b/data")));
  EXPECT_THAT(notes->libraries, ElementsAre("/l/libz.so.1"));
  EXPECT_THAT(notes->programs, ElementsAre("/b/python3"));
  EXPECT_FALSE(notes->is_full);
  bytes[offsetof(Arena, dropped)] = 1;
  EXPECT_TRUE(ParseArena(bytes)->is_full);
}

TEST(Arena, CountsLossesAndLeavesOutWhatIsNone) {
  std::string bytes = Empty();
  Put(0, kEntrySignalled, "9 120", &bytes);
  Put(1, kEntrySignalled, "9 121", &bytes);
  Put(2, kEntrySignalled, "11 122", &bytes);
  Put(3, kEntryNotWritten, "28 /w/log.bin", &bytes);
  Put(4, kEntrySignalled, "many", &bytes);
  Put(5, kEntrySignalled, "99999999999 1", &bytes);
  Put(6, kEntryNotWritten, "28 ../up", &bytes);
  Put(7, kEntryNotWritten, "28", &bytes);
  const auto notes = ParseArena(bytes);
  ASSERT_TRUE(notes.ok());
  EXPECT_THAT(notes->child_ends, ElementsAre(std::pair(9, 2), std::pair(11, 1)));
  EXPECT_THAT(notes->not_written, ElementsAre(std::pair(28, std::string("/w/log.bin"))));
}

TEST(Arena, TellsHowAPythonWasStartedWhereThatIsWholeAndPrintable) {
  using std::string_literals::operator""s;
  std::string bytes = Empty();
  Put(0, kEntryPython, "/b/python3\0python3\0/w\0/home\0/p:/q"s, &bytes);
  Put(1, kEntryPython, "/b/pypy3\0\0/w\0\0"s, &bytes);
  Put(2, kEntryPython, "/b/short\0x"s, &bytes);
  Put(3, kEntryPython, "/b/long\0x\0/w\0/home\0/p\0more"s, &bytes);
  Put(4, kEntryPython, "python3\0x\0/w\0\0"s, &bytes);
  Put(5, kEntryPython, "/b/../../etc/x\0x\0/w\0\0"s, &bytes);
  Put(6, kEntryPython, "/b/red\0\x1b[31m\0/w\0\x1b\0\n"s, &bytes);
  const auto notes = ParseArena(bytes);
  ASSERT_TRUE(notes.ok());
  EXPECT_THAT(
      notes->pythons,
      UnorderedElementsAre(
          SeenProgram{"/b/python3", "python3", "/w", {{"HOME", "/home"}, {"PYTHONPATH", "/p:/q"}}},
          SeenProgram{"/b/pypy3", "", "/w", {}}, SeenProgram{"/b/red", "", "/w", {}}));
}

TEST(Arena, LeavesOutWhatNobodyShouldPrintOrFollow) {
  std::string bytes = Empty();
  Put(0, kEntryFile, "/a/\x1b[31mred", &bytes);
  Put(1, kEntryFile, "relative", &bytes);
  Put(2, kEntryFile, "/a/../../etc/shadow", &bytes);
  Put(3, kEntryVariable, std::string_view("A\nB", 3), &bytes);
  Put(4, kEntryFile, "/long", 60000, &bytes);
  Put(5, kEntryFile, "/none", 0, &bytes);
  Put(6, 'Q', "/of/no/kind", &bytes);
  const auto notes = ParseArena(bytes);
  ASSERT_TRUE(notes.ok());
  EXPECT_THAT(notes->files, IsEmpty());
  EXPECT_THAT(notes->variables, IsEmpty());
}

TEST(Arena, IsNoneOfAnotherSizeOrBeginning) {
  EXPECT_FALSE(ParseArena("").ok());
  EXPECT_FALSE(ParseArena(std::string(sizeof(Arena), '\0')).ok());
  EXPECT_FALSE(ParseArena(Empty().substr(1)).ok());
  EXPECT_FALSE(ParseArena(Empty() + "x").ok());
}

TEST(Arena, OfRandomBytesIsReadWithoutHarm) {
  std::mt19937 random(7);
  std::string bytes = Empty();
  for (std::size_t i = sizeof(kArenaMagic); i < bytes.size(); ++i) {
    bytes[i] = static_cast<char>(random() & (i % 5 == 0 ? 1 : 0xff));
  }
  const auto notes = ParseArena(bytes);
  ASSERT_TRUE(notes.ok());
  for (const std::string& file : notes->files) EXPECT_EQ(file.front(), '/');
}

TEST(Arena, OfGigabytesOrBehindALinkIsRefused) {
  const ScopedTempDir folder = *ScopedTempDir::Make();
  const auto held = HeldFolder::Open(folder.path());
  ASSERT_TRUE(held.ok());
  EXPECT_FALSE(ReadArena(*held).ok()) << "there is none";
  ASSERT_TRUE(MakeArena(folder.path(), "=A").ok());
  EXPECT_TRUE(ReadArena(*held).ok());
  struct stat info {};
  ASSERT_EQ(::stat((folder.path() / kArenaFile).c_str(), &info), 0);
  EXPECT_GE(info.st_blocks * 512, static_cast<off_t>(sizeof(Arena))) << "a full disk ends no run";
  std::filesystem::resize_file(folder.path() / kArenaFile, std::uint64_t{4} << 30);
  EXPECT_FALSE(ReadArena(*held).ok());
  std::filesystem::remove(folder.path() / kArenaFile);
  std::filesystem::create_symlink("/etc/passwd", folder.path() / kArenaFile);
  EXPECT_FALSE(ReadArena(*held).ok());
}

TEST(Arena, IsReadWhereSomethingWasWrittenAlone) {
  const ScopedTempDir folder = *ScopedTempDir::Make();
  ASSERT_TRUE(MakeArena(folder.path(), "=A").ok());
  std::string bytes = Empty();
  // At both ends, on both sides of a block's border, and alone.
  const std::vector<std::size_t> places = {0, 7, 8, 4000, 8191};
  for (const std::size_t at : places) {
    Put(at, kEntryFile, "/f/" + std::to_string(at), &bytes);
    std::FILE* file = std::fopen((folder.path() / kArenaFile).c_str(), "r+b");
    ASSERT_NE(file, nullptr);
    const std::size_t offset = offsetof(Arena, entries) + at * sizeof(ArenaEntry);
    std::fseek(file, static_cast<long>(offset), SEEK_SET);
    std::fwrite(bytes.data() + offset, 1, sizeof(ArenaEntry), file);
    std::fclose(file);
  }
  const auto held = HeldFolder::Open(folder.path());
  const auto notes = ReadArena(*held);
  ASSERT_TRUE(notes.ok()) << notes.error().ToString();
  EXPECT_EQ(notes->files, ParseArena(bytes)->files);
  EXPECT_EQ(notes->files.size(), places.size());
}

TEST(JoinNames, TellsWhatFoundNoRoom) {
  bool left_out = true;
  EXPECT_EQ(JoinNames({"=A", "^B_"}, &left_out), std::string("=A\0^B_\0", 7));
  EXPECT_FALSE(left_out);
  (void)JoinNames({std::string(kArenaNamesBytes, 'x')}, &left_out);
  EXPECT_TRUE(left_out);
}

}  // namespace
}  // namespace rharness
