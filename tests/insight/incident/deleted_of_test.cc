// A file that two people had deleted did not vanish.
#include "harness/insight/incident/deleted_of.h"

#include <gmock/gmock.h>

#include "harness/trust/approval/deletion_approval.h"
#include "tests/history/store_fixture.h"
#include "tests/trust/approval/people.h"

namespace rharness {
namespace {

using testing::HasSubstr;

TEST_F(HistoryFileTest, AMissingFileIsToldAsDeletedWithWhoSignedForThat) {
  const auto store = OpenStore();
  Manifest manifest = MakeManifest("a", kDay1);
  for (const char* path : {"model.bin", "other.bin"}) {
    Artifact artifact;
    artifact.role = "weights";
    artifact.path = path;
    artifact.sha256 = std::string(64, path[0] == 'm' ? 'c' : 'd');
    manifest.artifacts.push_back(artifact);
  }
  ASSERT_TRUE(store->Add(manifest, At(kDay1)).ok());
  const People people;
  const TrustPolicy trust = people.Trust();
  const DeletionList list{
      .root = "/srv/runs",
      .policy_sha256 = std::string(64, 'e'),
      .items = {{"a.bin", 7, std::string(64, 'c'), "weights", {"a"}, "old", "nothing"}}};
  ASSERT_TRUE(RequestDeletion(list, "disk is full", At(kDay3),
                              {people.ada.get(), &trust, At(kDay2)}, store.get())
                  .ok());
  ASSERT_TRUE(
      ApproveDeletion(DigestOf(list), {people.bob.get(), &trust, At(kDay2)}, store.get()).ok());
  ASSERT_TRUE(store->BeginDeletion({DigestOf(list), At(kDay2), "Ada", "Bob", TextOf(list)}).ok());
  for (const DeletionStep step : {DeletionStep::kAbout, DeletionStep::kGone}) {
    ASSERT_TRUE(store->AddDeleted({DigestOf(list), 0, step, At(kDay2), 7}).ok());
  }
  HeldFiles held;
  held.files = {{"model.bin", "weights", FileState::kMissing, "it is not there", true},
                {"other.bin", "weights", FileState::kMissing, "it is not there", true}};
  held.damage = "its file model.bin is gone";
  ASSERT_TRUE(TellDeletions(manifest, At(kDay3), store.get(), &held).ok());
  const std::string told =
      "was deleted at 2026-01-02T00:00:00.000Z, asked for by Ada and approved by Bob: disk is full";
  EXPECT_THAT(held.files[0].words, HasSubstr(told));
  EXPECT_EQ(held.files[1].words, "it is not there");
  EXPECT_THAT(held.damage, HasSubstr("its file model.bin " + told));
}

}  // namespace
}  // namespace rharness
