// Files of a run beside what was signed for them.
#include "harness/incident/held_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/attestation/endorsement.h"
#include "harness/base/digest.h"
#include "tests/attestation/attested.h"
#include "tests/manifest/example.h"

namespace rharness {
namespace {

using testing::HasSubstr;

// One checkpoint as recorded, for which Ada answered at an older content and at this one.
class EndorsedCheckpoint : public testing::Test {
 protected:
  EndorsedCheckpoint() {
    manifest_.artifacts = {{.role = "weights", .path = "model.bin"}};
    manifest_.artifacts[0].sha256 = Sha256HexOf("new");
    std::string trust = world_.PolicyText();
    const std::string families = "families: [\"mlp*\"]";
    trust.replace(trust.find(families), families.size(), "predicates: [\"urn:rharness:*\"]");
    Put("trust.yaml", trust);
    Endorse("old", 2);
    Endorse("new", 1);
  }
  std::filesystem::path At(const std::string& name) const { return folder_.path() / name; }
  void Put(const std::string& name, const std::string& text) const {
    ASSERT_TRUE(WriteFileAtomic(At(name), text).ok());
  }
  void Endorse(const std::string& content, int days_ago) const {
    Put("model.bin", content);
    const auto file = At("model.bin");
    ASSERT_TRUE(EndorseFile(file, EndorsementPath(file), "",
                            world_.now - std::chrono::hours(24 * days_ago), world_.ada.get())
                    .ok());
  }
  HeldFiles Held() const {
    auto held = HoldFilesToRecord(
        manifest_,
        {.places = {}, .artifacts = folder_.path(), .signatures = {}, .trust = At("trust.yaml")},
        world_.now);
    EXPECT_TRUE(held.ok()) << held.error().ToString();
    return held.ok() ? std::move(*held) : HeldFiles();
  }

  const AttestedWorld world_;
  const ScopedTempDir folder_ = *ScopedTempDir::Make("rharness-held-");
  Manifest manifest_ = ExampleManifest();
};

TEST_F(EndorsedCheckpoint, IsNotTamperedWithForALineOfAnOlderContent) {
  const HeldFiles held = Held();
  EXPECT_FALSE(held.tampered) << held.damage;
  ASSERT_EQ(held.signatures.size(), 1U);
  EXPECT_EQ(held.signatures[0].state, "verified");
  EXPECT_THAT(held.signatures[0].words, HasSubstr("answered for, signed by ada"));
}

TEST_F(EndorsedCheckpoint, IsTamperedWithWhereItsContentIsTheOlderOne) {
  Put("model.bin", "old");
  manifest_.artifacts[0].sha256 = Sha256HexOf("old");
  const HeldFiles held = Held();
  EXPECT_TRUE(held.tampered);
  ASSERT_EQ(held.signatures.size(), 1U);
  EXPECT_THAT(held.signatures[0].words, HasSubstr("is an older content"));
}

}  // namespace
}  // namespace rharness
