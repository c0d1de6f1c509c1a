// Deleting by a list: what is on record when it is killed, and that nothing else goes.
#include "harness/retention/carry_out.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <csignal>

#include "tests/retention/retention_world.h"

namespace rharness {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class CarryOutTest : public RetentionWorld {
 protected:
  CarryOutTest() {
    for (const char* run : {"a", "b", "c"}) AddRun(run, kDay1);
    AddRun("z", kDay2);
    list_ = Plan().list;
  }
  // `stop_at`: before this item an error ends it, as a kill would.
  Result<CarriedOut> Go(int stop_at = -1) {
    int item = 0;
    return CarryOut(
        list_, "Ada", "Bob", &clock_,
        [&](const DeletionItem&) -> Status {
          if (item++ != stop_at) return {};
          return Error{ErrorCode::kIo, "stopped", ""};
        },
        store_.get());
  }
  std::vector<std::pair<int, DeletionStep>> Steps() {
    std::vector<std::pair<int, DeletionStep>> steps;
    for (const DeletedItem& one : *store_->DeletedItems(DigestOf(list_))) {
      steps.emplace_back(one.item, one.step);
    }
    std::ranges::sort(steps);
    return steps;
  }

  DeletionList list_;
  FakeClock clock_{At(kDay3)};
};

TEST_F(CarryOutTest, DeletesEachFileOnRecordBeforeAndAfter) {
  ASSERT_EQ(list_.items.size(), 3u);
  const auto done = Go();
  ASSERT_TRUE(done.ok()) << done.error().ToString();
  EXPECT_EQ(done->files, 3u);
  EXPECT_EQ(done->bytes, 3 * std::string("weights of a").size());
  for (const char* name : {"a.bin", "b.bin", "c.bin"}) EXPECT_FALSE(IsThere(name)) << name;
  EXPECT_TRUE(IsThere("z.bin"));
  const auto about = DeletionStep::kAbout;
  const auto gone = DeletionStep::kGone;
  EXPECT_THAT(Steps(), ElementsAre(std::pair(0, about), std::pair(0, gone), std::pair(1, about),
                                   std::pair(1, gone), std::pair(2, about), std::pair(2, gone)));
  EXPECT_THAT(*FindUnfinished(store_.get()), IsEmpty());
  EXPECT_EQ(store_->Deletions()->at(0).body, TextOf(list_));
  EXPECT_TRUE(store_->Get("a").ok()) << "manifests stay";
}

TEST_F(CarryOutTest, GoesOnWhereItWasStoppedBetweenFiles) {
  EXPECT_FALSE(Go(1).ok());
  EXPECT_FALSE(IsThere("a.bin"));
  EXPECT_TRUE(IsThere("b.bin"));
  const auto unfinished = FindUnfinished(store_.get());
  ASSERT_TRUE(unfinished.ok());
  ASSERT_EQ(unfinished->size(), 1u);
  EXPECT_EQ(DigestOf(unfinished->front().list), DigestOf(list_));
  const auto done = Go();
  ASSERT_TRUE(done.ok()) << done.error().ToString();
  EXPECT_EQ(done->files, 2u);
  EXPECT_EQ(done->before, 1u);
  EXPECT_THAT(done->missing, IsEmpty());
}

TEST_F(CarryOutTest, GoesOnWhereItWasKilledBetweenFiles) {
  const auto killed = [&] {
    store_.reset();
    store_ = OpenStore();
    int item = 0;
    (void)CarryOut(
        list_, "Ada", "Bob", &clock_,
        [&](const DeletionItem&) -> Status {
          if (item++ == 2) std::raise(SIGKILL);
          return {};
        },
        store_.get());
  };
  EXPECT_EXIT(killed(), testing::KilledBySignal(SIGKILL), "");
  EXPECT_FALSE(IsThere("a.bin"));
  EXPECT_FALSE(IsThere("b.bin"));
  EXPECT_TRUE(IsThere("c.bin"));
  EXPECT_EQ(Steps().size(), 4u);
  const auto done = Go();
  ASSERT_TRUE(done.ok()) << done.error().ToString();
  EXPECT_EQ(done->before, 2u);
  EXPECT_EQ(done->files, 1u);
}

TEST_F(CarryOutTest, TakesWhatWasAboutToGoAndIsNotThereForGone) {
  // Killed after the call, before it was entered.
  ASSERT_TRUE(
      store_->BeginDeletion({DigestOf(list_), At(kDay3), "Ada", "Bob", TextOf(list_)}).ok());
  ASSERT_TRUE(store_->AddDeleted({DigestOf(list_), 0, DeletionStep::kAbout, At(kDay3), 12}).ok());
  std::filesystem::remove(Root() / "a.bin");
  // Taken away by somebody else.
  std::filesystem::remove(Root() / "b.bin");
  const auto done = Go();
  ASSERT_TRUE(done.ok()) << done.error().ToString();
  EXPECT_EQ(done->files, 2u);
  EXPECT_THAT(done->missing, ElementsAre("b.bin"));
}

TEST_F(CarryOutTest, LeavesWhatIsSomethingElseByNow) {
  Put("root/a.bin", "weights of x");
  std::filesystem::remove(Root() / "b.bin");
  std::filesystem::create_symlink("z.bin", Root() / "b.bin");
  const auto done = Go();
  ASSERT_TRUE(done.ok()) << done.error().ToString();
  EXPECT_EQ(done->files, 1u);
  ASSERT_EQ(done->changed.size(), 2u);
  EXPECT_THAT(done->changed[0], HasSubstr("a.bin is not what was recorded"));
  EXPECT_TRUE(IsThere("a.bin"));
  EXPECT_TRUE(IsThere("b.bin"));
  EXPECT_TRUE(IsThere("z.bin"));
}

TEST_F(CarryOutTest, DoesNotFollowAFolderThatBecameALink) {
  namespace fs = std::filesystem;
  Put("root/deep/d.bin", "deep");
  Add(Made("d", kDay1, "deep/d.bin", "deep"));
  list_ = Plan().list;
  ASSERT_EQ(list_.items.size(), 4u);
  fs::rename(Root() / "deep", folder_.path() / "elsewhere");
  fs::create_symlink(folder_.path() / "elsewhere", Root() / "deep");
  const auto done = Go();
  ASSERT_TRUE(done.ok()) << done.error().ToString();
  EXPECT_TRUE(fs::exists(folder_.path() / "elsewhere/d.bin"));
  EXPECT_EQ(done->changed.size(), 1u);
}

TEST_F(CarryOutTest, IsRefusedWhereTheRootIsAnotherFolderByNow) {
  namespace fs = std::filesystem;
  fs::rename(Root(), folder_.path() / "elsewhere");
  fs::create_symlink(folder_.path() / "elsewhere", Root());
  const auto done = Go();
  ASSERT_FALSE(done.ok());
  EXPECT_EQ(done.error().code, ErrorCode::kIntegrity);
  EXPECT_TRUE(fs::exists(folder_.path() / "elsewhere/a.bin"));
}

TEST_F(CarryOutTest, ListsThatAreNotOursAreRefused) {
  const auto refused = [&](const std::string& from, const std::string& to, const char* says) {
    std::string text = TextOf(list_);
    const auto at = text.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    text.replace(at, from.size(), to);
    const auto list = ParseDeletionList(text, "list");
    ASSERT_FALSE(list.ok()) << to;
    EXPECT_EQ(list.error().code, ErrorCode::kIntegrity);
    EXPECT_THAT(list.error().ToString(), HasSubstr(says));
  };
  refused("\"a.bin\"", "\"../a.bin\"", "$.items[0].path");
  refused("\"a.bin\"", "\"/etc/passwd\"", "$.items[0].path");
  refused("\"a.bin\"", "\"x/./a.bin\"", "$.items[0].path");
  refused("deletion_list/v1", "deletion_list/v2", "v2");
}

}  // namespace
}  // namespace rharness
