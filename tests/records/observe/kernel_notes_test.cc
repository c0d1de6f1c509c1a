// The library in the CUDA driver, with a false CUPTI and a false driver: what processes note of
// their launches, and what is made of notes that the run has changed at will.
#include "harness/records/observe/kernel_notes.h"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstddef>
#include <cstring>
#include <random>
#include <thread>

#include "harness/base/files.h"
#include "harness/records/observe/arena.h"
#include "harness/records/observe/cupti.h"
#include "harness/records/observe/kernel_arena.h"
#include "harness/records/observe/observer.h"

namespace rharness {
namespace {

using cupti::Extents;
using cupti::kApiExit;
using testing::AnyOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

using FalseCall = void(std::uint32_t, std::uint32_t, const void*, int, const char*);

// A process whose driver has loaded the library.
class Launcher {
 public:
  Launcher() {
    void* cupti = ::dlopen(FALSE_CUPTI_LIBRARY, RTLD_NOW | RTLD_GLOBAL);
    void* driver = ::dlopen(FALSE_CUDA_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    void* own = ::dlopen(FindObserveParts()->kernels.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (cupti == nullptr || driver == nullptr || own == nullptr) ::_exit(97);
    call_ = reinterpret_cast<FalseCall*>(::dlsym(cupti, "FalseCall"));
    void* start = ::dlsym(own, "InitializeInjection");
    if (call_ == nullptr || start == nullptr) ::_exit(98);
    if (reinterpret_cast<int (*)()>(start)() != 1) ::_exit(99);
  }
  // One that has no CUPTI at all.
  explicit Launcher(std::nullptr_t) {
    void* own = ::dlopen(FindObserveParts()->kernels.c_str(), RTLD_NOW | RTLD_LOCAL);
    void* start = own == nullptr ? nullptr : ::dlsym(own, "InitializeInjection");
    if (start == nullptr || reinterpret_cast<int (*)()>(start)() != 1) ::_exit(99);
  }

  void Launch(const char* name, unsigned blocks, int result = 0,
              std::uint32_t id = cupti::kLaunchKernel) const {
    const cupti::LaunchKernelParameters parameters = {nullptr, {{blocks, 1, 1}, {256, 2, 1}, 64}};
    call_(id, 0, &parameters, 0, name);  // before the call: not counted
    call_(id, kApiExit, &parameters, result, name);
  }
  void LaunchEx(const char* name, unsigned blocks) const {
    const Extents extents = {{blocks, 2, 3}, {32, 1, 1}, 0};
    const cupti::LaunchKernelExParameters parameters = {&extents, nullptr};
    call_(cupti::kLaunchKernelEx, kApiExit, &parameters, 0, name);
  }
  void LaunchGraph() const { call_(cupti::kGraphLaunch, kApiExit, nullptr, 0, nullptr); }

 private:
  FalseCall* call_ = nullptr;
};

class KernelsSeen : public testing::Test {
 protected:
  KernelsSeen() : folder_(*ScopedTempDir::Make()) {
    EXPECT_TRUE(MakeKernelNotes(folder_.path()).ok());
  }
  // Each in a process of its own; its wait status.
  template <class F>
  int InProcess(F run) {
    const pid_t child = ::fork();
    if (child == 0) {
      ::setenv(kObserveVariable, folder_.path().c_str(), 1);
      run();
      ::_exit(0);
    }
    int status = -1;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    return status;
  }
  KernelNotes Notes() const {
    const auto folder = HeldFolder::Open(folder_.path());
    auto notes = ReadKernelNotes(*folder);
    EXPECT_TRUE(notes.ok()) << notes.error().ToString();
    return notes.ok() ? std::move(*notes) : KernelNotes();
  }
  std::vector<std::string> Orders() const { return Notes().kernels->orders; }

  ScopedTempDir folder_;
};

TEST_F(KernelsSeen, CountsLaunchesByNameWithTheirShapes) {
  ASSERT_EQ(InProcess([] {
              const Launcher run;
              run.Launch("sgemm", 4);
              run.Launch("sgemm", 4);
              run.Launch("sgemm", 5);
              run.Launch("refused", 4, 1);  // a launch that failed
              run.LaunchEx("nvjet", 6);
              run.Launch("cooperative", 1, 0, cupti::kLaunchCooperative);
            }),
            0);
  const KernelNotes notes = Notes();
  EXPECT_THAT(notes.unseen, IsEmpty());
  ASSERT_TRUE(notes.kernels);
  EXPECT_TRUE(notes.kernels->is_all);
  const auto& launched = notes.kernels->launched;
  ASSERT_EQ(launched.size(), 3U);
  EXPECT_EQ(launched[0].name, "cooperative");
  EXPECT_EQ(launched[1].name, "nvjet");
  EXPECT_THAT(launched[1].shapes, ElementsAre("6x2x3 of 32x1x1"));
  EXPECT_EQ(launched[2].name, "sgemm");
  EXPECT_EQ(launched[2].launches, 3U);
  EXPECT_THAT(launched[2].shapes,
              ElementsAre("4x1x1 of 256x2x1 + 64 bytes", "5x1x1 of 256x2x1 + 64 bytes"));
  ASSERT_EQ(notes.kernels->orders.size(), 1U);
  EXPECT_THAT(notes.kernels->orders[0], HasSubstr(" of 5 launches"));
}

// Three processes: two launch alike, one in another order.
TEST_F(KernelsSeen, KeepsTheOrderOfEachProcess) {
  const auto in_order = [](const Launcher& run, const std::vector<const char*>& names) {
    for (const char* name : names) run.Launch(name, 1);
  };
  for (int i = 0; i < 2; ++i) {
    ASSERT_EQ(InProcess([&] { in_order(Launcher(), {"a", "b", "c"}); }), 0);
  }
  ASSERT_EQ(InProcess([&] { in_order(Launcher(), {"b", "a", "c"}); }), 0);
  ASSERT_EQ(InProcess([] { Launcher(); }), 0);  // it launches nothing
  const auto orders = Orders();
  ASSERT_EQ(orders.size(), 3U);
  EXPECT_EQ(std::set<std::string>(orders.begin(), orders.end()).size(), 2U);
  const auto notes = Notes();
  for (const SeenKernel& kernel : notes.kernels->launched) EXPECT_EQ(kernel.launches, 3U);
}

TEST_F(KernelsSeen, SurviveTheirProcess) {
  const int status = InProcess([] {
    const Launcher run;
    run.Launch("a", 1);
    ::raise(SIGKILL);
  });
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
  EXPECT_EQ(Notes().kernels->launched.at(0).launches, 1U);
  EXPECT_EQ(Orders().size(), 1U);
}

TEST_F(KernelsSeen, OfManyThreadsAreCountedOnce) {
  ASSERT_EQ(InProcess([] {
              const Launcher run;
              std::vector<std::thread> threads;
              for (int t = 0; t < 8; ++t) {
                threads.emplace_back([&] {
                  for (int i = 0; i < 5000; ++i) {
                    run.Launch(std::to_string(i % 40).c_str(), 1 + static_cast<unsigned>(i % 4));
                  }
                });
              }
              for (std::thread& thread : threads) thread.join();
            }),
            0);
  const KernelNotes notes = Notes();
  ASSERT_EQ(notes.kernels->launched.size(), 40U);
  for (const SeenKernel& kernel : notes.kernels->launched) EXPECT_EQ(kernel.launches, 1000U);
  EXPECT_THAT(notes.kernels->orders[0], HasSubstr(" of 40000 launches"));
}

TEST_F(KernelsSeen, AreBoundedWhateverIsLaunched) {
  const std::string longest(3000, 'n');
  ASSERT_EQ(InProcess([&] {
              const Launcher run;
              for (unsigned i = 1; i <= 20; ++i) run.Launch("shapes", i);
              run.Launch((longest + "a").c_str(), 1);
              run.Launch((longest + "b").c_str(), 1);
              for (int i = 0; i < 5000; ++i) run.Launch(("k" + std::to_string(i)).c_str(), 1);
            }),
            0);
  const KernelNotes notes = Notes();
  ASSERT_TRUE(notes.kernels);
  EXPECT_FALSE(notes.kernels->is_all);
  EXPECT_THAT(notes.unseen, ElementsAre(HasSubstr("found no place in the notes")));
  EXPECT_LE(notes.kernels->launched.size(), kKernelEntries);
  EXPECT_GT(notes.kernels->launched.size(), kKernelEntries / 2);
  int cut = 0;
  for (const SeenKernel& kernel : notes.kernels->launched) {
    EXPECT_LE(kernel.name.size(), 256U);
    if (kernel.name.starts_with("nnn")) {
      ++cut;
      EXPECT_THAT(kernel.shapes, ElementsAre("1x1x1 of 256x2x1 + 64 bytes"));
    }
    if (kernel.name != "shapes") continue;
    EXPECT_EQ(kernel.shapes.size(), kKernelShapes + 1);
    EXPECT_EQ(kernel.shapes.back(), "other shapes");
  }
  EXPECT_EQ(cut, 2);
}

TEST_F(KernelsSeen, SayWhichOfGraphsAreNot) {
  ASSERT_EQ(InProcess([] {
              const Launcher run;
              run.Launch("captured", 1);
              run.LaunchGraph();
              run.LaunchGraph();
            }),
            0);
  const KernelNotes notes = Notes();
  EXPECT_TRUE(notes.kernels->is_all);
  EXPECT_EQ(notes.kernels->launched.at(0).name, kSeenGraphLaunch);
  EXPECT_THAT(notes.unseen, ElementsAre(HasSubstr("of 2 graph launches")));
}

TEST_F(KernelsSeen, SayInOneLineWhyThereAreNone) {
  for (const auto& [number, why] : std::initializer_list<std::pair<const char*, const char*>>{
           {"39", "another tool has subscribed to CUPTI already"},
           {"12", "another tool has subscribed to CUPTI already"},
           {"35", "CUPTI refuses it: no permission"},
           {"15", "CUPTI refuses it: error 15"}}) {
    const ScopedTempDir folder = *ScopedTempDir::Make();
    ASSERT_TRUE(MakeKernelNotes(folder.path()).ok());
    ASSERT_EQ(InProcess([&] {
                ::setenv(kObserveVariable, folder.path().c_str(), 1);
                ::setenv("FALSE_CUPTI", number, 1);
                Launcher().Launch("a", 1);
              }),
              0);
    const auto notes = ReadKernelNotes(*HeldFolder::Open(folder.path()));
    ASSERT_TRUE(notes.ok());
    EXPECT_FALSE(notes->kernels);
    EXPECT_THAT(notes->unseen, ElementsAre(HasSubstr(why)));
  }
  // That of a toolkit may be on this machine, and says that there is no driver.
  ASSERT_EQ(InProcess([] { Launcher(nullptr); }), 0);
  ASSERT_EQ(InProcess([] {
              ::setenv("FALSE_CUPTI_MISSES", "1", 1);
              Launcher().Launch("a", 1);
            }),
            0);
  EXPECT_FALSE(Notes().kernels);
  EXPECT_THAT(Notes().unseen,
              ElementsAre(HasSubstr("error 1"),
                          AnyOf(HasSubstr("error 999"), HasSubstr("no libcupti.so.11"))));
}

// Of the processes of one run some may be watched: then not all is seen.
TEST_F(KernelsSeen, AreNotAllWhereAProcessIsNotWatched) {
  ASSERT_EQ(InProcess([] { Launcher().Launch("a", 1); }), 0);
  ASSERT_EQ(InProcess([] { Launcher(nullptr); }), 0);
  ASSERT_TRUE(Notes().kernels);
  EXPECT_FALSE(Notes().kernels->is_all);
}

TEST_F(KernelsSeen, NeedNoNotesFolder) {
  ASSERT_EQ(InProcess([] {
              ::unsetenv(kObserveVariable);
              Launcher(nullptr);
            }),
            0);
  EXPECT_FALSE(Notes().kernels);
  EXPECT_THAT(Notes().unseen, IsEmpty());
}

TEST(KernelNotesFile, IsOnlyTextWhateverTheRunMadeOfIt) {
  EXPECT_FALSE(ParseKernelNotes("").ok());
  std::string bytes(sizeof(KernelArena), '\0');
  EXPECT_FALSE(ParseKernelNotes(bytes).ok());
  std::mt19937_64 random(7);
  for (int round = 0; round < 20; ++round) {
    for (std::size_t i = 0; i < bytes.size(); i += 1 + random() % 64) {
      bytes[i] = static_cast<char>(random());
    }
    std::memcpy(bytes.data(), &kKernelArenaMagic, sizeof(kKernelArenaMagic));
    // Every place in use, whatever else it has.
    for (std::size_t i = 0; i < kKernelEntries; ++i) {
      const std::uint32_t ready = 1;
      std::memcpy(bytes.data() + offsetof(KernelArena, entries) + i * sizeof(KernelEntry) +
                      offsetof(KernelEntry, ready),
                  &ready, sizeof(ready));
    }
    const auto notes = ParseKernelNotes(bytes);
    ASSERT_TRUE(notes.ok());
    if (!notes->kernels) continue;
    for (const SeenKernel& kernel : notes->kernels->launched) {
      EXPECT_LE(kernel.name.size(), 256U);
      EXPECT_FALSE(kernel.name.empty());
      for (const char c : kernel.name) EXPECT_TRUE(c >= 0x20 && c < 0x7f);
    }
  }
}

}  // namespace
}  // namespace rharness
