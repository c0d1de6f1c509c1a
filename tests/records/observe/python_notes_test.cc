// Notes of Python processes: what the hooks write, and what a run may put in their place.
#include "harness/records/observe/python_notes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "harness/base/files.h"
#include "harness/records/manifest/observation.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(ProcessNotes, KeepTheOrderInWhichOneProcessSetItsSeeds) {
  const ProcessNotes notes = ParseProcessNotes(
      "python\t3.11.7\t?\n"
      "seed\tnumpy.random.seed\t9\n"
      "seed\tnumpy.random.seed\t10\n"
      "seed\tnumpy.random.seed\t9\n"
      "flag\tpython.hash_seed\t0\n"
      "warned\tcumsum_cuda_kernel\t1\n"
      "warned\tcumsum_cuda_kernel\t5\n"
      "variable\tBATCH\t?\n"
      "program\t/usr/bin/python3.11\t?\n"
      "seed\trandom.seed\t1");
  EXPECT_THAT(notes.seeds.at("numpy.random.seed"), ElementsAre("9", "10"));
  EXPECT_FALSE(notes.seeds.contains("random.seed")) << "a line that was cut off";
  EXPECT_EQ(notes.flags.at("python.hash_seed"), "0");
  EXPECT_EQ(notes.nondeterministic.at("cumsum_cuda_kernel"), 5);
  EXPECT_THAT(notes.variables, ElementsAre("BATCH"));
  EXPECT_THAT(notes.programs, ElementsAre("/usr/bin/python3.11"));
  EXPECT_EQ(notes.unread_lines, 0U);
}

TEST(ProcessNotes, CountWorkersThatDrawFromOneState) {
  ProcessNotes one, other;
  one.seeds["numpy.random (worker)"] = {"inherited state 01020304"};
  other.seeds["numpy.random (worker)"] = {"inherited state ffffffff"};
  EXPECT_THAT(MergeProcessNotes({one, one, other}).seeds.at("numpy.random (worker)"),
              ElementsAre("inherited state ffffffff", "inherited state 01020304 (2 workers)"));
}

TEST(ProcessNotes, CountLinesThatNoHookWrites) {
  const ProcessNotes notes = ParseProcessNotes(
      "seed\t\x1b[31mred\t1\n"
      "seed\tname\n"
      "seed\tname\t1\t2\n"
      "{\"json\": true}\n"
      "\n"
      "secret\tname\t1\n"
      "warned\tname\tmany\n"
      "warned\tname\t-4\n" +
      ("seed\tlong\t" + std::string(4000, 'x') + "\n"));
  EXPECT_EQ(notes.unread_lines, 9U);
  EXPECT_THAT(notes.seeds, IsEmpty());
  EXPECT_THAT(notes.nondeterministic, IsEmpty());
}

TEST(ProcessNotes, OfAMillionLinesAreReadUpToALimit) {
  std::string text;
  for (int i = 0; i < 1'000'000; ++i) text += "seed\ts" + std::to_string(i) + "\t1\n";
  const ProcessNotes notes = ParseProcessNotes(text);
  EXPECT_LE(notes.seeds.size(), kMostSeenNames);
  EXPECT_EQ(notes.unread_lines, 1'000'000 - kMostPythonLines);
}

TEST(MergedNotes, OfSeveralProcessesAreSortedSoThatTheirOrderDoesNotCount) {
  const auto a = ParseProcessNotes("seed\ts\t10\nseed\ts\t9\nflag\tf\ton\nwarned\top\t2\n");
  const auto b = ParseProcessNotes("seed\ts\t100\nseed\ts\t9\nflag\tf\toff\nwarned\top\t3\n");
  for (const auto& merged : {MergeProcessNotes({a, b}), MergeProcessNotes({b, a})}) {
    EXPECT_THAT(merged.seeds.at("s"), ElementsAre("9", "10", "100"));
    EXPECT_EQ(merged.flags.at("f"), "off, on");
    EXPECT_EQ(merged.nondeterministic.at("op"), 5);
  }
  EXPECT_THAT(MergeProcessNotes({a}).seeds.at("s"), ElementsAre("10", "9"));
}

TEST(MergedNotes, AreCutWithTheNumberOfWhatIsLeftOut) {
  std::string text;
  for (int i = 0; i < 100; ++i) text += "seed\ts\t" + std::to_string(i) + "\n";
  const auto values = MergeProcessNotes({ParseProcessNotes(text)}).seeds.at("s");
  ASSERT_EQ(values.size(), kMostSeenValues + 1);
  EXPECT_EQ(values.back(), "(36 more)");
}

TEST(ReadPythonNotes, FollowsNoLinkWaitsForNoPipeAndReadsNoGigabytes) {
  const ScopedTempDir folder = *ScopedTempDir::Make();
  const auto at = [&](const char* name) { return folder.path() / name; };
  ASSERT_TRUE(WriteFileAtomic(at("python-1.txt"), "seed\ts\t1\n").ok());
  ASSERT_TRUE(WriteFileAtomic(at("elsewhere"), "seed\ts\t2\n").ok());
  fs::create_symlink(at("elsewhere"), at("python-2.txt"));
  ASSERT_EQ(::mkfifo(at("python-3.txt").c_str(), 0600), 0);
  ASSERT_TRUE(WriteFileAtomic(at("python-4.txt"), "").ok());
  fs::resize_file(at("python-4.txt"), std::uint64_t{8} << 30);
  fs::create_directory(at("python-5.txt"));
  const auto held = HeldFolder::Open(folder.path());
  ASSERT_TRUE(held.ok());
  const PythonNotes notes = ReadPythonNotes(*held);
  EXPECT_THAT(notes.all.seeds.at("s"), ElementsAre("1"));
  ASSERT_EQ(notes.troubles.size(), 1U);
  EXPECT_THAT(notes.troubles[0], HasSubstr("the notes of 4 Python processes could not be read"));
}

TEST(ReadPythonNotes, OfAFolderThatIsGoneIsEmpty) {
  auto folder = std::make_unique<ScopedTempDir>(*ScopedTempDir::Make());
  const auto held = HeldFolder::Open(folder->path());
  ASSERT_TRUE(held.ok());
  folder.reset();
  EXPECT_THAT(ReadPythonNotes(*held).all.seeds, IsEmpty());
}

}  // namespace
}  // namespace rharness
