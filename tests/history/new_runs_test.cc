// Many runs entered at once: all or none, once, and whole when the process that enters them dies.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <thread>

#include "tests/history/store_fixture.h"

namespace rharness {
namespace {

std::vector<NewRun> Runs(int first, int count) {
  std::vector<NewRun> runs;
  for (int i = first; i < first + count; ++i) {
    runs.push_back(NewRunOf(MakeManifest("run-" + std::to_string(i), kDay1)));
  }
  return runs;
}

class NewRunsTest : public HistoryTest {};
INSTANTIATE_TEST_SUITE_P(Both, NewRunsTest, BothDatabases(), DatabaseName);

TEST_P(NewRunsTest, AreEnteredOnceHoweverOftenTheyCome) {
  const auto store = OpenStore();
  std::vector<NewRun> runs = Runs(0, 3);
  EXPECT_EQ(store->AddAll(runs, At(kDay1)).value(), 3U);
  runs.push_back(NewRunOf(MakeManifest("run-3", kDay2)));
  runs.push_back(runs.back());
  EXPECT_EQ(store->AddAll(runs, At(kDay2)).value(), 1U);
  EXPECT_EQ(store->List(true).value().size(), 4U);
  const Manifest held = store->Get("run-3").value();
  EXPECT_EQ(ToJson(held).Dump(), runs.back().body);
  EXPECT_EQ(store->Find("run-3")->configuration, ConfigurationKey(held));
  EXPECT_EQ(store->AddAll({}, At(kDay2)).value(), 0U);
}

TEST_P(NewRunsTest, AreAllLeftOutWhereOneIsAnotherUnderAKnownName) {
  const auto store = OpenStore();
  ASSERT_TRUE(store->Add(MakeManifest("run-1", kDay2), At(kDay2)).ok());
  const auto added = store->AddAll(Runs(0, 3), At(kDay3));
  ASSERT_FALSE(added.ok());
  EXPECT_EQ(added.error().code, ErrorCode::kInvalidInput);
  EXPECT_NE(added.error().message.find("run 'run-1' is in the history with another manifest: "
                                       "$.started is "),
            std::string::npos)
      << added.error().message;
  EXPECT_EQ(store->List(true).value().size(), 1U);
}

TEST_P(NewRunsTest, AreKnownByTheirContent) {
  const auto store = OpenStore();
  NewRun run = Runs(0, 1).front();
  EXPECT_EQ(store->Compare(run).value(), HeldContent::kNone);
  ASSERT_TRUE(store->AddAll({&run, 1}, At(kDay1)).ok());
  EXPECT_EQ(store->Compare(run).value(), HeldContent::kSame);
  EXPECT_EQ(store->Compare(NewRunOf(MakeManifest("run-0", kDay2))).value(), HeldContent::kOther);
}

using NewRunsFileTest = HistoryFileTest;

// Enters runs until it is killed.
[[noreturn]] void EnterWithoutEnd(const std::filesystem::path& path, int together) {
  const auto store = OpenStoreAt(path);
  for (int first = 0;; first += together) {
    if (!store->AddAll(Runs(first, together), At(kDay1)).ok()) ::_exit(1);
  }
}

TEST_F(NewRunsFileTest, AreAllThereOrNoneOfThemWhenTheProcessIsKilled) {
  constexpr int kTogether = 50;
  for (int round = 0; round < 3; ++round) {
    const auto path = folder_.path() / ("history-" + std::to_string(round));
    OpenStoreAt(path);
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) EnterWithoutEnd(path, kTogether);
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    const auto store = OpenStoreAt(path);
    while (store->List(true).value().size() <= static_cast<std::size_t>(round * kTogether) &&
           std::chrono::steady_clock::now() < deadline) {
      std::this_thread::yield();
    }
    ::kill(child, SIGKILL);
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFSIGNALED(status));
    const auto entries = OpenStoreAt(path)->List(true).value();
    ASSERT_GT(entries.size(), static_cast<std::size_t>(round * kTogether));
    EXPECT_EQ(entries.size() % kTogether, 0U);
    for (const HistoryEntry& entry : entries) EXPECT_TRUE(store->Get(entry.run_id).ok());
    // The same again goes on where it ended.
    const int held = static_cast<int>(entries.size());
    EXPECT_EQ(store->AddAll(Runs(held - 1, 3), At(kDay2)).value(), 2U);
  }
}

}  // namespace
}  // namespace rharness
