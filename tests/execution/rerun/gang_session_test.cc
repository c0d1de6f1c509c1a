// Nodes of a gang, as threads over one folder.
#include "harness/execution/rerun/gang_session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "harness/base/files.h"

namespace rharness {
namespace {

using std::chrono::milliseconds;
using ::testing::HasSubstr;

constexpr GangTimes kQuick{.poll = milliseconds(5),
                           .beat = milliseconds(20),
                           .lost = milliseconds(400),
                           .gather = milliseconds(300)};

class GangSessions : public ::testing::Test {
 protected:
  void SetUp() override {
    auto folder = ScopedTempDir::Make("rharness-gang-");
    ASSERT_TRUE(folder.ok());
    folder_.emplace(std::move(*folder));
  }
  std::unique_ptr<GangSession> Node(int node, int nodes, std::function<bool()> cancel = {}) {
    EXPECT_TRUE(TakeNode(folder_->path() / "g", node, nodes).ok());
    return std::make_unique<GangSession>(folder_->path() / "g", node, nodes, std::move(cancel),
                                         kQuick);
  }
  static NodeReady Ready(const std::string& host) {
    NodeReady ready;
    ready.machine.host = host;
    return ready;
  }
  static FirstFailure Failure(int rank, int code) {
    FirstFailure failure;
    failure.rank = rank;
    failure.node = rank;
    failure.outcome.kind = OutcomeKind::kExited;
    failure.outcome.exit_code = code;
    return failure;
  }

  std::optional<ScopedTempDir> folder_;
};

TEST_F(GangSessions, AllStartOnceAllAreReady) {
  auto head = Node(0, 3);
  ASSERT_TRUE(head->Join().ok());
  std::vector<std::jthread> others;
  std::array<std::string, 3> ids;
  for (int node = 1; node < 3; ++node) {
    others.emplace_back([&, node] {
      auto session = Node(node, 3);
      if (!session->Join().ok()) return;
      if (!session->TellReady(Ready("n" + std::to_string(node))).ok()) return;
      const auto start = session->WaitForStart();
      if (start.ok()) ids[static_cast<std::size_t>(node)] = start->id;
      PartEnd end;
      end.evidence.run_id = "run";
      end.evidence.rerun = 1;
      (void)session->TellEnd(end);
    });
  }
  ASSERT_TRUE(head->TellReady(Ready("n0")).ok());
  const auto ready = head->WaitForReady();
  ASSERT_TRUE(ready.ok()) << ready.error().ToString();
  ASSERT_EQ(ready->size(), 3U);
  EXPECT_EQ((*ready)[2].machine.host, "n2");
  ASSERT_TRUE(head->Start({.address = "a", .port = 1, .hosts = {}, .id = "run.1"}).ok());
  const auto ends = head->WaitForEnds();
  ASSERT_TRUE(ends.ok());
  EXPECT_TRUE((*ends)[1].has_value());
  EXPECT_TRUE((*ends)[2].has_value());
  others.clear();
  EXPECT_EQ(ids[1], "run.1");
  EXPECT_EQ(ids[2], "run.1");
}

TEST_F(GangSessions, ANodeThatNeverComesUpIsNamed) {
  auto head = Node(0, 3);
  auto one = Node(1, 3);
  ASSERT_TRUE(head->Join().ok());
  ASSERT_TRUE(one->Join().ok());
  ASSERT_TRUE(head->TellReady(Ready("n0")).ok());
  ASSERT_TRUE(one->TellReady(Ready("n1")).ok());
  const auto ready = head->WaitForReady();
  ASSERT_FALSE(ready.ok());
  EXPECT_EQ(ready.error().code, ErrorCode::kTimeout);
  EXPECT_THAT(ready.error().message, HasSubstr("node 2 did not come up"));
  ASSERT_TRUE(head->CallOff("node 2 did not come up").ok());
  const auto start = one->WaitForStart();
  ASSERT_FALSE(start.ok());
  EXPECT_THAT(start.error().message, HasSubstr("called off"));
}

TEST_F(GangSessions, ANumberIsTakenOnce) {
  const auto take = [&](std::optional<int> node) {
    const auto taken = TakeNode(folder_->path() / "g", node, 3);
    EXPECT_TRUE(taken.ok());
    return taken.ok() ? *taken : std::nullopt;
  };
  EXPECT_EQ(take(1), 1);
  EXPECT_EQ(take(1), std::nullopt);
  EXPECT_EQ(take({}), 0) << "the next that is free";
  EXPECT_EQ(take({}), 2);
  EXPECT_EQ(take({}), std::nullopt);
}

TEST_F(GangSessions, TheFirstFailureStopsAllAndStaysTheFirst) {
  auto head = Node(0, 2);
  auto one = Node(1, 2);
  ASSERT_TRUE(head->Join().ok());
  ASSERT_TRUE(one->Join().ok());
  EXPECT_FALSE(head->MustStop());
  one->Tell(Failure(1, 7));
  head->Tell(Failure(0, 1));
  for (int i = 0; i < 400 && !head->MustStop(); ++i) std::this_thread::sleep_for(milliseconds(5));
  EXPECT_TRUE(head->MustStop());
  const auto first = head->First();
  ASSERT_TRUE(first.has_value());
  EXPECT_EQ(first->rank, 1);
  EXPECT_EQ(first->outcome.exit_code, 7);
}

TEST_F(GangSessions, TheFirstThatBeginsToFailIsTheCauseThoughOthersTellTheirEndBefore) {
  auto head = Node(0, 3);
  auto one = Node(1, 3);
  auto two = Node(2, 3);
  for (auto* node : {&head, &one, &two}) ASSERT_TRUE((*node)->Join().ok());
  two->TellFailing(2, "n2");  // it takes long to end what it started
  one->TellFailing(1, "n1");
  one->Tell(Failure(1, 1));
  ASSERT_TRUE(head->First().has_value());
  EXPECT_EQ(head->First()->rank, 2);
  EXPECT_EQ(head->First()->outcome.kind, OutcomeKind::kLost) << "its node may be gone by now";
  FirstFailure killed = Failure(2, 0);
  killed.outcome.kind = OutcomeKind::kSignalled;
  killed.outcome.signal = 11;
  two->Tell(killed);
  EXPECT_EQ(head->First()->rank, 2);
  EXPECT_EQ(head->First()->outcome.signal, 11);
}

TEST_F(GangSessions, ANodeThatEndedBeforeTheStartIsNotAwaited) {
  auto head = Node(0, 2);
  ASSERT_TRUE(head->Join().ok());
  ASSERT_TRUE(head->TellReady(Ready("n0")).ok());
  {
    auto one = Node(1, 2);
    ASSERT_TRUE(one->Join().ok());
    PartEnd end;
    end.evidence.run_id = "run";
    end.evidence.rerun = 1;
    ASSERT_TRUE(one->TellEnd(end).ok());
  }
  const auto ready = head->WaitForReady();
  ASSERT_FALSE(ready.ok());
  EXPECT_EQ(ready.error().message, "node 1 ended before the start");
}

TEST_F(GangSessions, WhyNoNodeWillComeIsSaidBeforeTheTimeIsOver) {
  auto head = Node(0, 2);
  ASSERT_TRUE(head->Join().ok());
  ASSERT_TRUE(head->TellReady(Ready("n0")).ok());
  const auto ready = head->WaitForReady([](std::chrono::nanoseconds waited) {
    return waited > milliseconds(50) ? "srun: error: n1: launch failed" : "";
  });
  ASSERT_FALSE(ready.ok());
  EXPECT_EQ(ready.error().message, "node 1 did not come up: srun: error: n1: launch failed");
}

// Beats are numbers, and no file's time is looked at: an hour more or less changes nothing.
TEST_F(GangSessions, ClocksThatDifferByAnHourAreNoMatter) {
  auto head = Node(0, 2);
  auto one = Node(1, 2);
  ASSERT_TRUE(head->Join().ok());
  ASSERT_TRUE(one->Join().ok());
  std::error_code gone;  // a beat is replaced meanwhile
  int shifted = 0;
  for (int i = 0; i < 120; ++i) {
    for (const auto& [name, by] : {std::pair("beat-0", -1), std::pair("beat-1", 1)}) {
      const auto now = std::filesystem::file_time_type::clock::now();
      std::filesystem::last_write_time(folder_->path() / "g" / name, now + std::chrono::hours(by),
                                       gone);
      shifted += gone ? 0 : 1;
    }
    std::this_thread::sleep_for(milliseconds(5));
  }
  EXPECT_GT(shifted, 0);
  EXPECT_THAT(head->Lost(), ::testing::IsEmpty());
  EXPECT_THAT(one->Lost(), ::testing::IsEmpty());
  EXPECT_FALSE(one->MustStop());
}

TEST_F(GangSessions, ANodeThatFallsSilentIsLostAndItsEndIsNotAwaited) {
  auto head = Node(0, 2);
  ASSERT_TRUE(head->Join().ok());
  {
    auto one = Node(1, 2);
    ASSERT_TRUE(one->Join().ok());
    std::this_thread::sleep_for(milliseconds(50));
  }  // it beats no more
  const auto ends = head->WaitForEnds();
  ASSERT_TRUE(ends.ok());
  EXPECT_FALSE((*ends)[1].has_value());
  EXPECT_THAT(head->Lost(), ::testing::ElementsAre(1));
  EXPECT_TRUE(head->MustStop());
}

TEST_F(GangSessions, OthersStopWhenNodeZeroFallsSilent) {
  auto one = Node(1, 2);
  {
    auto head = Node(0, 2);
    ASSERT_TRUE(head->Join().ok());
    ASSERT_TRUE(one->Join().ok());
    std::this_thread::sleep_for(milliseconds(50));
  }
  const auto start = one->WaitForStart();
  ASSERT_FALSE(start.ok());
  EXPECT_THAT(start.error().message, HasSubstr("fell silent"));
  EXPECT_TRUE(one->MustStop());
}

TEST_F(GangSessions, ANoteThatIsNotOursIsAnErrorWithItsFile) {
  auto head = Node(0, 2);
  ASSERT_TRUE(head->Join().ok());
  ASSERT_TRUE(WriteFileAtomic(folder_->path() / "g/end-1.json", "{\"evidence\": 3}").ok());
  const auto ends = head->WaitForEnds();
  ASSERT_FALSE(ends.ok());
  EXPECT_THAT(ends.error().ToString(), HasSubstr("end-1.json"));
}

}  // namespace
}  // namespace rharness
