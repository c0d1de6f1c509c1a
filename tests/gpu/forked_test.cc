// Parts of a probe in processes of their own, and the machine code that they run.
#include "probes/gpu/forked.h"

#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <cstring>

#include "probes/gpu/equal_sets.h"
#include "probes/gpu/fat_kernels.h"

namespace rharness {
namespace {

constexpr const char* kVariable = "RHARNESS_FORKED_TEST";

ProbeResult TellVariable() {
  const char* value = std::getenv(kVariable);
  ProbeResult result;
  result.notes.emplace_back(value == nullptr ? "unset" : value);
  return result;
}

TEST(RunForked, SetsAndUnsetsVariablesInTheChildAlone) {
  ::setenv(kVariable, "outside", 1);
  const auto set = RunForked({{kVariable, "inside"}}, TellVariable);
  ASSERT_TRUE(set.ok()) << set.error().ToString();
  EXPECT_EQ(set->notes, std::vector<std::string>{"inside"});
  const auto unset = RunForked({{kVariable, {}}}, TellVariable);
  ASSERT_TRUE(unset.ok()) << unset.error().ToString();
  EXPECT_EQ(unset->notes, std::vector<std::string>{"unset"});
  EXPECT_STREQ(std::getenv(kVariable), "outside");
  ::unsetenv(kVariable);
}

TEST(RunForked, BringsAWholeResultBack) {
  const auto back = RunForked({}, [] {
    ProbeResult result;
    result.bits["a"] = std::string(64, 'a');
    result.choices["b"] = Json::MakeObject().Set("c", 1);
    result.counts["d"] = 9'007'199'254'740'993;  // 2^53 + 1
    result.unstable = {"a"};
    // Longer than a pipe holds.
    result.notes = {std::string(1 << 20, 'n')};
    return result;
  });
  ASSERT_TRUE(back.ok()) << back.error().ToString();
  EXPECT_EQ(back->bits.at("a"), std::string(64, 'a'));
  EXPECT_EQ(back->choices.at("b").Dump(), Json::MakeObject().Set("c", 1).Dump());
  EXPECT_EQ(back->counts.at("d"), 9'007'199'254'740'993U);
  EXPECT_EQ(back->unstable, std::vector<std::string>{"a"});
  EXPECT_EQ(back->notes.at(0).size(), std::size_t{1} << 20);
}

TEST(RunForked, NamesTheSignalThatEndedTheChild) {
  const auto died = RunForked({}, []() -> ProbeResult {
    std::signal(SIGSEGV, SIG_DFL);
    std::raise(SIGSEGV);
    return {};
  });
  ASSERT_TRUE(died.ok()) << died.error().ToString();
  EXPECT_EQ(died->status, ProbeStatus::kFailed);
  EXPECT_EQ(died->message, "its process was ended by signal " + std::to_string(SIGSEGV));
  const auto exited = RunForked({}, []() -> ProbeResult { std::_Exit(7); });
  ASSERT_TRUE(exited.ok()) << exited.error().ToString();
  EXPECT_EQ(exited->message, "its process exited with code 7");
}

TEST(AddPart, TakesTheStatusOfAPartThatIsNotOkAndNothingElseOfIt) {
  ProbeResult whole;
  ProbeResult part;
  part.bits["one"] = "1";
  part.notes = {"first"};
  EXPECT_TRUE(AddPart("a", part, &whole));
  part.bits = {{"two", "2"}};
  EXPECT_TRUE(AddPart("b", part, &whole));
  EXPECT_EQ(whole.bits.size(), 2U);
  EXPECT_EQ(whole.notes.size(), 2U);
  EXPECT_FALSE(AddPart("c", AbsentProbe("no device"), &whole));
  EXPECT_EQ(whole.status, ProbeStatus::kAbsent);
  EXPECT_EQ(whole.message, "c: no device");
}

TEST(GroupEqual, WritesSetsInTheOrderOfTheirFirst) {
  EXPECT_EQ(GroupEqual({}).count, 0U);
  EXPECT_EQ(GroupEqual({}).text, "");
  EXPECT_EQ(GroupEqual({"x"}).text, "0");
  EXPECT_EQ(GroupEqual({"x", "x", "x"}).text, "0-2");
  const EqualSets mixed = GroupEqual({"b", "b", "a", "b", "a", "a", "c"});
  EXPECT_EQ(mixed.count, 3U);
  EXPECT_EQ(mixed.text, "0-1 3 | 2 4-5 | 6");
}

TEST(MachineCode, IsTheHighestOfTheDevicesMajorNumberThatIsNotAboveIt) {
  const std::string_view some = "75 80 86 90 100 120";
  EXPECT_EQ(MachineCodeFor(some, 75), 75);
  EXPECT_EQ(MachineCodeFor(some, 89), 86);
  EXPECT_EQ(MachineCodeFor(some, 80), 80);
  EXPECT_EQ(MachineCodeFor(some, 87), 86);
  EXPECT_EQ(MachineCodeFor(some, 90), 90);
  EXPECT_EQ(MachineCodeFor(some, 103), 100);
  EXPECT_EQ(MachineCodeFor(some, 121), 120);
  EXPECT_EQ(MachineCodeFor(some, 70), 0);
  EXPECT_EQ(MachineCodeFor(some, 110), 0);
  EXPECT_EQ(MachineCodeFor("", 90), 0);
  EXPECT_EQ(MachineCodeFor("90", 90), 90);
}

TEST(CompareDriverCode, TellsSameFromDifferentAndSeesAVariableThatWasNotHeeded) {
  ProbeResult result;
  result.bits = {{"machine code a", "1"}, {"forced a", "1"},     {"driver code a", "1"},
                 {"machine code b", "1"}, {"forced b", "2"},     {"driver code b", "2"},
                 {"machine code c", "1"}, {"forced c", "1"},     {"driver code c", "2"},
                 {"forced d", "2"},       {"driver code d", "2"}};
  CompareDriverCode(&result);
  ASSERT_EQ(result.choices.size(), 3U);
  EXPECT_EQ(result.choices.at("a").Find("driver_code")->AsString(), "same");
  EXPECT_EQ(result.choices.at("b").Find("driver_code")->AsString(), "differs");
  EXPECT_EQ(result.choices.at("c").Find("driver_code")->AsString(), "differs");
  ASSERT_EQ(result.notes.size(), 1U);
  EXPECT_EQ(result.notes[0], "c: CUDA_FORCE_PTX_JIT did not make the driver's code run");
  EXPECT_EQ(result.bits.size(), 11U);
}

TEST(FatKernels, AreWholeFatbinsOfTheirKernels) {
  for (const FatKernels* one : {&kReduceFat, &kCorpusFat, &kMathFat}) {
    ASSERT_GE(one->fatbin.size(), 16U);
    // The header of fatbinary.h: magic, version, its own size, the size of what follows.
    std::uint32_t magic = 0;
    std::uint16_t header = 0;
    std::uint64_t rest = 0;
    std::memcpy(&magic, one->fatbin.data(), 4);
    std::memcpy(&header, one->fatbin.data() + 6, 2);
    std::memcpy(&rest, one->fatbin.data() + 8, 8);
    EXPECT_EQ(magic, 0xBA55ED50U) << one->image->name;
    EXPECT_EQ(header + rest, one->fatbin.size()) << one->image->name;
    EXPECT_EQ(FatImage(*one).size(), one->fatbin.size());
    EXPECT_EQ(one->architectures, RHARNESS_MACHINE_CODE);
    EXPECT_GE(one->driver, 12000);
  }
  EXPECT_EQ(kReduceFat.image, &kReduceKernels);
  EXPECT_EQ(kMathFat.image, &kMathKernels);
}

// Kind (1: PTX, 2: machine code) and architecture of every entry; an entry's header has its own
// size at byte 4, the size of its content at 8 and the architecture at 28.
std::vector<std::pair<int, int>> EntriesOfFatbin(std::span<const unsigned char> fatbin) {
  std::vector<std::pair<int, int>> entries;
  for (std::size_t at = 16; at + 32 <= fatbin.size();) {
    std::uint16_t kind = 0;
    std::uint32_t header = 0, architecture = 0;
    std::uint64_t content = 0;
    std::memcpy(&kind, fatbin.data() + at, 2);
    std::memcpy(&header, fatbin.data() + at + 4, 4);
    std::memcpy(&content, fatbin.data() + at + 8, 8);
    std::memcpy(&architecture, fatbin.data() + at + 28, 4);
    entries.emplace_back(kind, static_cast<int>(architecture));
    at += header + content;
  }
  return entries;
}

TEST(FatKernels, HoldTheirPtxOnceAndMachineCodeOfEveryArchitecture) {
  for (const FatKernels* one : {&kReduceFat, &kCorpusFat, &kMathFat}) {
    std::string found;
    std::vector<int> ptx;
    for (const auto& [kind, architecture] : EntriesOfFatbin(one->fatbin)) {
      if (kind == 1) ptx.push_back(architecture);
      if (kind == 2) found += (found.empty() ? "" : " ") + std::to_string(architecture);
    }
    EXPECT_EQ(found, RHARNESS_MACHINE_CODE) << one->image->name;
    EXPECT_EQ(ptx, std::vector<int>{75}) << one->image->name;
  }
}

}  // namespace
}  // namespace rharness
