// Deleting by a list: what is on record when it is killed, and that nothing else goes.
#include "harness/trust/retention/carry_out.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <functional>

#include "harness/trust/retention/begun_lists.h"
#include "tests/trust/retention/retention_world.h"

namespace rharness {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// Keeps nothing, unless a test says otherwise.
class Watch : public DeletionWatch {
 public:
  explicit Watch(HistoryStore* history) : history_(history) { (void)Renew(); }
  Result<std::string> WhyHeld(const DeletionItem& item) override {
    return why ? why(item, renewed) : std::string();
  }
  HistoryMark mark() const override { return mark_; }
  Status Renew() override {
    ASSIGN_OR_RETURN(mark_, history_->Mark());
    ++renewed;
    return {};
  }

  std::function<Result<std::string>(const DeletionItem&, int renewed)> why;
  int renewed = -1;

 private:
  HistoryStore* history_;
  HistoryMark mark_;
};

class CarryOutTest : public RetentionWorld {
 protected:
  CarryOutTest() {
    for (const char* run : {"a", "b", "c"}) AddRun(run, kDay1);
    AddRun("z", kDay2);
    list_ = Plan().list;
  }
  using Why = std::function<Result<std::string>(const DeletionItem&, int renewed)>;
  Result<CarriedOut> GoAsking(Why why) {
    Watch watch(store_.get());
    watch.why = std::move(why);
    auto done = CarryOut({list_, kStatement, "Ada", "Bob"}, &clock_, &watch, store_.get());
    renewed_ = watch.renewed;
    return done;
  }
  // `stop_at`: before this file an error ends it, as a kill would.
  Result<CarriedOut> Go(const std::string& stop_at = "") {
    return GoAsking([&](const DeletionItem& item, int) -> Result<std::string> {
      if (item.path != stop_at) return std::string();
      return Error{ErrorCode::kIo, "stopped", ""};
    });
  }
  // What somebody does in another process when this file is asked for, once.
  Result<CarriedOut> GoWhile(const std::string& path, const std::function<void()>& happens) {
    bool happened = false;
    return GoAsking([&, path](const DeletionItem& item, int) -> Result<std::string> {
      if (item.path == path && !happened) {
        happened = true;
        happens();
      }
      return std::string();
    });
  }
  DeletionRecord Record() const {
    return {DigestOf(list_), At(kDay3), "Ada", "Bob", TextOf(list_)};
  }
  std::vector<std::pair<int, DeletionStep>> Steps() {
    std::vector<std::pair<int, DeletionStep>> steps;
    const auto items = store_->DeletedItems(DigestOf(list_));
    EXPECT_TRUE(items.ok()) << items.error().ToString();
    for (const DeletedItem& one : *items) steps.emplace_back(one.item, one.step);
    std::ranges::sort(steps);
    return steps;
  }

  static constexpr char kStatement[] = "statement";
  DeletionList list_;
  FakeClock clock_{At(kDay3)};
  int renewed_ = 0;
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
  EXPECT_THAT(*FindUnfinished(Root(), store_.get()), IsEmpty());
  EXPECT_EQ(store_->Deletions()->at(0).body, TextOf(list_));
  EXPECT_TRUE(store_->Get("a").ok()) << "manifests stay";
}

TEST_F(CarryOutTest, GoesOnWhereItWasStoppedBetweenFiles) {
  EXPECT_FALSE(Go("b.bin").ok());
  EXPECT_FALSE(IsThere("a.bin"));
  EXPECT_TRUE(IsThere("b.bin"));
  const auto unfinished = FindUnfinished(Root(), store_.get());
  ASSERT_TRUE(unfinished.ok());
  ASSERT_EQ(unfinished->size(), 1u);
  EXPECT_TRUE(unfinished->front().here);
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
    (void)GoAsking([](const DeletionItem& item, int) -> Result<std::string> {
      if (item.path == "c.bin") std::raise(SIGKILL);
      return std::string();
    });
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
  ASSERT_TRUE(NoteBegun(*HeldFolder::Open(Root()), Record()).ok());
  ASSERT_TRUE(store_->BeginDeletion(Record()).ok());
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

TEST_F(CarryOutTest, StopsWhereItIsTakenBackMeanwhile) {
  const auto other = OpenStore();
  const auto done = GoWhile("b.bin", [&] {
    ASSERT_TRUE(
        other->AddWithdrawal({"back", "key", "withdrawal", kStatement, "Bob", At(kDay3), "{}"})
            .ok());
  });
  ASSERT_TRUE(done.ok()) << done.error().ToString();
  EXPECT_TRUE(done->taken_back);
  EXPECT_EQ(done->files, 1u);
  EXPECT_FALSE(IsThere("a.bin"));
  EXPECT_TRUE(IsThere("b.bin"));
  EXPECT_TRUE(IsThere("c.bin"));
  EXPECT_THAT(Steps(),
              ElementsAre(std::pair(0, DeletionStep::kAbout), std::pair(0, DeletionStep::kGone)));
  EXPECT_TRUE(Go()->taken_back) << "nor later";
}

TEST_F(CarryOutTest, LeavesTheFilesOfARunThatADrillTookMeanwhile) {
  const auto other = OpenStore();
  const auto done = GoWhile("b.bin", [&] {
    const Claimant drill{"night", "host", 1, "process", std::chrono::minutes(10)};
    ASSERT_EQ(other->TakeClaims(drill, {"b"}, 1)->taken.size(), 1u);
  });
  ASSERT_TRUE(done.ok()) << done.error().ToString();
  EXPECT_THAT(done->held, ElementsAre("b.bin: a drill has a run of it now"));
  EXPECT_TRUE(IsThere("b.bin"));
  EXPECT_FALSE(IsThere("c.bin"));
  EXPECT_EQ(Steps().size(), 4u);
  ASSERT_TRUE(store_->ReleaseClaims("night", "process").ok());
  EXPECT_EQ(Go()->files, 1u);
  EXPECT_FALSE(IsThere("b.bin"));
}

TEST_F(CarryOutTest, PlansAnewWhereTheHistoryGrewMeanwhile) {
  const auto other = OpenStore();
  const auto done = GoAsking([&](const DeletionItem& item, int renewed) -> Result<std::string> {
    if (item.path != "b.bin") return std::string();
    if (renewed > 0) return std::string("is data of run new");
    EXPECT_TRUE(other->Add(MakeManifest("new", kDay3), At(kDay3)).ok());
    return std::string();
  });
  ASSERT_TRUE(done.ok()) << done.error().ToString();
  EXPECT_EQ(renewed_, 1);
  EXPECT_THAT(done->held, ElementsAre("b.bin: is data of run new"));
  EXPECT_TRUE(IsThere("b.bin"));
  EXPECT_FALSE(IsThere("c.bin"));
}

TEST_F(CarryOutTest, LeavesWhatIsWrittenToBetweenItsHashAndItsTurn) {
  int asked = 0;
  const auto done = GoAsking([&](const DeletionItem& item, int) -> Result<std::string> {
    // Of the same size, and into the same file.
    if (item.path == "a.bin" && ++asked == 2) {
      std::ofstream(Root() / "a.bin", std::ios::in | std::ios::out) << "W";
    }
    return std::string();
  });
  ASSERT_TRUE(done.ok()) << done.error().ToString();
  EXPECT_EQ(asked, 2);
  ASSERT_EQ(done->changed.size(), 1u);
  EXPECT_THAT(done->changed[0], HasSubstr("a.bin is not what was recorded"));
  EXPECT_TRUE(IsThere("a.bin"));
  EXPECT_FALSE(IsThere("c.bin"));
}

TEST_F(CarryOutTest, DeletesNothingInAFolderThatIsMovedAwayMeanwhile) {
  namespace fs = std::filesystem;
  Put("root/deep/d.bin", "deep");
  Add(Made("d", kDay1, "deep/d.bin", "deep"));
  list_ = Plan().list;
  int asked = 0;
  const auto done = GoAsking([&](const DeletionItem& item, int) -> Result<std::string> {
    if (item.path == "deep/d.bin" && ++asked == 2) {
      fs::rename(Root() / "deep", folder_.path() / "archive");
    }
    return std::string();
  });
  ASSERT_TRUE(done.ok()) << done.error().ToString();
  EXPECT_THAT(done->changed, ElementsAre("deep/d.bin was replaced meanwhile"));
  EXPECT_TRUE(fs::exists(folder_.path() / "archive/d.bin"));
}

TEST_F(CarryOutTest, DeletesNothingByAListThatWasBegunInAnotherFolderOfItsPath) {
  ASSERT_TRUE(store_->BeginDeletion(Record()).ok());
  const auto unfinished = FindUnfinished(Root(), store_.get());
  ASSERT_TRUE(unfinished.ok());
  ASSERT_EQ(unfinished->size(), 1u);
  EXPECT_FALSE(unfinished->front().here);
  const auto done = Go();
  ASSERT_FALSE(done.ok());
  EXPECT_EQ(done.error().code, ErrorCode::kInvalidInput);
  EXPECT_THAT(done.error().message,
              HasSubstr("`rharness history prune withdraw " + DigestOf(list_)));
  EXPECT_TRUE(IsThere("a.bin"));
  EXPECT_THAT(Steps(), IsEmpty());
  // Noted at another time, it was another machine that began first.
  DeletionRecord later = Record();
  later.begun = At(kDay3) + std::chrono::seconds(1);
  ASSERT_TRUE(NoteBegun(*HeldFolder::Open(Root()), later).ok());
  EXPECT_FALSE(Go().ok());
  EXPECT_TRUE(IsThere("a.bin"));
}

TEST_F(CarryOutTest, FindsWhatWasBegunInThisFolderAlone) {
  EXPECT_FALSE(Go("b.bin").ok());
  std::filesystem::create_directories(folder_.path() / "second");
  EXPECT_THAT(*FindUnfinished(folder_.path() / "second", store_.get()), IsEmpty());
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
