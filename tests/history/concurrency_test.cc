// Several writers, as threads with a connection each and as processes, lose nothing.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <set>
#include <thread>

#include "tests/history/store_fixture.h"

namespace rharness {
namespace {

constexpr int kRunsEach = 25;

using ConcurrencyTest = HistoryTest;

// Opens the history, which may not exist yet, and adds runs and a drill for each. One run,
// "shared", is added by every writer.
Status WriteAll(const std::string& url, const std::string& writer) {
  ASSIGN_OR_RETURN(const auto store, HistoryStore::Open(url));
  for (int i = 0; i < kRunsEach; ++i) {
    const std::string id = writer + "-" + std::to_string(i);
    ASSIGN_OR_RETURN(const AddOutcome outcome, store->Add(MakeManifest(id, kDay1), At(kDay1)));
    if (outcome != AddOutcome::kAdded) return InternalError("another writer's run");
    ASSIGN_OR_RETURN(const AddOutcome shared, store->Add(MakeManifest("shared", kDay1), At(kDay1)));
    if (i > 0 && shared != AddOutcome::kAlreadyThere) return InternalError("lost the shared run");
    RETURN_IF_ERROR(store->AddDrill(id, At(kDay1), {}, {MakeVerdict(id, id, "identical", kDay1)}));
  }
  return {};
}

void ExpectEverything(const std::string& url, const std::vector<std::string>& writers) {
  const auto store = std::move(HistoryStore::Open(url)).value();
  std::set<std::string> expected = {"shared"};
  for (const std::string& writer : writers) {
    for (int i = 0; i < kRunsEach; ++i) expected.insert(writer + "-" + std::to_string(i));
  }
  std::set<std::string> found;
  const std::vector<HistoryEntry> entries = store->List(true).value();
  for (const HistoryEntry& entry : entries) {
    found.insert(entry.run_id);
    EXPECT_EQ(NameOf(entry.last_verdict), entry.run_id == "shared" ? "" : "identical");
    EXPECT_TRUE(store->Get(entry.run_id).ok());
  }
  EXPECT_EQ(found, expected);
  if (url.starts_with("postgresql:")) return;
  EXPECT_EQ(RawDatabase(url).Rows("PRAGMA integrity_check"), std::vector<std::string>{"ok"});
  EXPECT_TRUE(RawDatabase(url).Rows("PRAGMA foreign_key_check").empty());
}

TEST_P(ConcurrencyTest, LetsThreadsCreateAndFillOneHistory) {
  const std::vector<std::string> writers = {"t1", "t2", "t3"};
  std::vector<Status> results(writers.size());
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < writers.size(); ++i) {
      threads.emplace_back([&, i] { results[i] = WriteAll(Url(), writers[i]); });
    }
  }
  for (const Status& result : results) {
    EXPECT_TRUE(result.ok()) << result.error().ToString();
  }
  ExpectEverything(Url(), writers);
}

TEST_P(ConcurrencyTest, LetsProcessesCreateAndFillOneHistory) {
  const std::vector<std::string> writers = {"p1", "p2", "p3"};
  std::vector<pid_t> children;
  for (const std::string& writer : writers) {
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      const Status result = WriteAll(Url(), writer);
      if (!result.ok()) ::dprintf(STDERR_FILENO, "%s\n", result.error().ToString().c_str());
      ::_exit(result.ok() ? 0 : 1);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  ExpectEverything(Url(), writers);
}

TEST_P(ConcurrencyTest, LosesNoCommittedRunWhenAWriterIsKilled) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const auto store = std::move(HistoryStore::Open(Url())).value();
    for (int i = 0;; ++i) {
      if (!store->Add(MakeManifest("run-" + std::to_string(i), kDay1), At(kDay1)).ok()) ::_exit(1);
      if (::write(ends[1], ".", 1) != 1) ::_exit(1);
    }
  }
  // Killed in the middle of its work, once ten runs are known to be committed.
  char dot = 0;
  for (int i = 0; i < 10; ++i) ASSERT_EQ(::read(ends[0], &dot, 1), 1);
  ASSERT_EQ(::kill(child, SIGKILL), 0);
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  ::close(ends[0]);
  ::close(ends[1]);
  const auto entries = OpenStore()->List(true).value();
  EXPECT_GE(entries.size(), 10u);
  for (const HistoryEntry& entry : entries) EXPECT_TRUE(OpenStore()->Get(entry.run_id).ok());
}

INSTANTIATE_TEST_SUITE_P(Both, ConcurrencyTest, BothDatabases(), DatabaseName);

}  // namespace
}  // namespace rharness
