// A history for who may read and nothing else: what it sees, and what it leaves behind.
#include "harness/history/untouched.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <atomic>
#include <thread>

#include "harness/history/held_record.h"
#include "tests/history/store_fixture.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::SizeIs;

class Untouched : public HistoryTest {
 protected:
  void SetUp() override {
    HistoryTest::SetUp();
    if (!IsSkipped()) Add("a");
  }
  void Add(const std::string& run_id) const {
    ASSERT_TRUE(OpenStore()->Add(MakeManifest(run_id, kDay1), At(kDay1)).ok());
  }
  std::unique_ptr<HistoryStore> OpenUntouched() const {
    auto store = OpenUntouchedHistory(Url());
    EXPECT_TRUE(store.ok()) << store.error().ToString();
    return store.ok() ? std::move(*store) : nullptr;
  }
};

TEST_P(Untouched, SeesWhatIsWrittenMeanwhileAndWritesNothing) {
  const auto auditor = OpenUntouched();
  EXPECT_THAT(*auditor->List(true), SizeIs(1));
  Add("b");
  EXPECT_THAT(*auditor->List(true), SizeIs(2)) << "in the file";
  const auto writer = OpenStore();
  ASSERT_TRUE(writer->Add(MakeManifest("c", kDay2), At(kDay2)).ok());
  EXPECT_THAT(*auditor->List(true), SizeIs(3)) << "in SQLite's log, or the server";
  const auto held = ReadHeldRecords(Url());
  ASSERT_TRUE(held.ok()) << held.error().ToString();
  EXPECT_THAT(held->records, SizeIs(6));
  const Status refused = auditor->Retire("a", "why", At(kDay2));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::kIo) << refused.error().ToString();
}

INSTANTIATE_TEST_SUITE_P(Both, Untouched, BothDatabases(), DatabaseName);

using UntouchedFile = HistoryFileTest;

TEST_F(UntouchedFile, IsReadByAnyNameAndHasNothingBesideIt) {
  const fs::path path = folder_.path() / "a b%20?x=1#&c.db";
  ASSERT_TRUE(OpenStoreAt(path)->Add(MakeManifest("a", kDay1), At(kDay1)).ok());
  const auto auditor = OpenUntouchedHistory(path.string());
  ASSERT_TRUE(auditor.ok()) << auditor.error().ToString();
  EXPECT_THAT(*(*auditor)->List(true), SizeIs(1));
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_.path()), fs::directory_iterator()), 1);
}

TEST_F(UntouchedFile, ThatIsNoHistoryIsTold) {
  const auto says = [](const fs::path& path) {
    const auto store = OpenUntouchedHistory(path.string());
    return store.ok() ? "opened" : store.error().message;
  };
  EXPECT_THAT(says(Path()), HasSubstr("no such history"));
  EXPECT_THAT(says(folder_.path()), HasSubstr("is no file"));
  ASSERT_TRUE(WriteFileAtomic(Path(), "").ok());
  EXPECT_THAT(says(Path()), HasSubstr("is empty"));
  ASSERT_TRUE(WriteFileAtomic(Path(), std::string(5000, 'x')).ok());
  EXPECT_THAT(says(Path()), HasSubstr("not an SQLite database"));
}

// A file that changes with every look at it is not reported as anything that was read of it.
TEST_F(UntouchedFile, IsNotBelievedWhereItWasWrittenToMeanwhile) {
  OpenStore()->Add(MakeManifest("a", kDay1), At(kDay1)).ok();
  const auto auditor = OpenUntouchedHistory(Path().string());
  ASSERT_TRUE(auditor.ok());
  int calls = 0;
  const Status status = (*auditor)->EachVerdict([&] { ++calls; }, [](const VerdictStep&) {});
  ASSERT_TRUE(status.ok()) << status.error().ToString();
  const int once = calls;
  calls = 0;
  const Status touched = (*auditor)->EachVerdict(
      [&] {
        ++calls;
        const timespec times[2] = {{calls, 0}, {calls, 0}};
        EXPECT_EQ(::utimensat(AT_FDCWD, Path().c_str(), times, 0), 0);
      },
      [](const VerdictStep&) {});
  EXPECT_EQ(calls, 5 * once);
  ASSERT_FALSE(touched.ok());
  EXPECT_EQ(touched.error().code, ErrorCode::kTimeout);
  EXPECT_THAT(touched.error().message, HasSubstr("was written to while it was read"));
}

TEST_F(UntouchedFile, IsOpenedOrToldAsOneThatIsWrittenToWhileSomebodyWrites) {
  ASSERT_TRUE(OpenStore()->Add(MakeManifest("a", kDay1), At(kDay1)).ok());
  std::atomic<bool> done = false;
  std::thread writer([&] {
    for (int second = 1; !done; ++second) {
      const timespec times[2] = {{second, 0}, {second, 0}};
      ::utimensat(AT_FDCWD, Path().c_str(), times, 0);
    }
  });
  int touched = 0;
  for (int i = 0; i < 300 && touched < 20; ++i) {
    const auto store = OpenUntouchedHistory(Path().string());
    if (store.ok()) continue;
    EXPECT_EQ(store.error().code, ErrorCode::kTimeout) << store.error().ToString();
    ++touched;
  }
  done = true;
  writer.join();
}

}  // namespace
}  // namespace rharness
