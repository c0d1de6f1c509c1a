// Croissant: files of a data set as data of a manifest, and what of it is no hash.
#include "harness/records/intake/croissant.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/base/digest.h"
#include "harness/base/files.h"
#include "tests/records/intake/intake_world.h"

namespace rharness {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

const WallTime kDay(std::chrono::days(20'000));

class CroissantTest : public testing::Test {
 protected:
  CroissantTest() { manifest_.run_id = "one"; }
  void Put(const std::string& name, std::string_view text) const {
    ASSERT_TRUE(WriteFileAtomic(folder_.path() / name, text).ok());
  }
  // Of these elements of "distribution".
  Croissant Parse(const std::string& distribution, const std::string& more = "") const {
    const auto json = ParseJson(R"({"@type": "sc:Dataset", "name": "digits", "version": "1.0", )" +
                                    more + R"("distribution": [)" + distribution + "]}",
                                "c.json");
    EXPECT_TRUE(json.ok()) << json.error().ToString();
    const auto croissant = ParseCroissant(*json, "c.json");
    EXPECT_TRUE(croissant.ok()) << croissant.error().ToString();
    return croissant.ok() ? *croissant : Croissant();
  }
  Result<CroissantUse> Apply(const Croissant& croissant) {
    return ApplyCroissant(croissant, folder_.path(), folder_.path(), kDay, &manifest_);
  }
  static std::string FileObject(const std::string& name, const std::string& url,
                                const std::string& sha256) {
    return R"({"@type": "cr:FileObject", "@id": ")" + name + R"(", "contentUrl": ")" + url +
           R"(", "sha256": ")" + sha256 + "\"}";
  }

  ScopedTempDir folder_ = *ScopedTempDir::Make();
  Manifest manifest_;
};

TEST_F(CroissantTest, FillsAnItemByItsNamePathOrFileName) {
  manifest_.data.resize(2);
  manifest_.data[0].name = "train";
  manifest_.data[0].path = "data/train.csv";
  manifest_.data[1].name = "labels";
  manifest_.data[1].path = "labels.csv";
  const std::string hash(64, 'a');
  const auto use = Apply(Parse(FileObject("x", "https://example.org/v1/train.csv", hash)));
  ASSERT_TRUE(use.ok()) << use.error().ToString();
  EXPECT_EQ(use->files, 1u);
  ASSERT_THAT(manifest_.data, SizeIs(2));
  EXPECT_EQ(manifest_.data[0].sha256, hash);
  EXPECT_EQ(manifest_.data[0].source, "https://example.org/v1/train.csv");
  EXPECT_EQ(manifest_.data[0].path, "data/train.csv");
  EXPECT_EQ(manifest_.data[1].sha256, "");
  EXPECT_THAT(WorthOf(manifest_, "data[0].sha256"),
              HasSubstr("hint Croissant 'digits' '1.0', distribution[0]"));
}

TEST_F(CroissantTest, HoldsFilesAtHandToWhatItStates) {
  Put("data/train.csv", "1,2\n");
  const std::string hash = Sha256HexOf("1,2\n");
  const Croissant croissant = Parse(FileObject("train.csv", "data/train.csv", hash));
  const auto use = Apply(croissant);
  ASSERT_TRUE(use.ok()) << use.error().ToString();
  EXPECT_EQ(use->verified, 1u);
  EXPECT_EQ(manifest_.data.at(0).size_bytes, 4u);
  EXPECT_EQ(manifest_.data[0].location, "data/train.csv");
  Put("data/train.csv", "1,3\n");
  const auto changed = Apply(croissant);
  ASSERT_FALSE(changed.ok());
  EXPECT_THAT(changed.error().ToString(), HasSubstr("data/train.csv: has sha256 "));
  EXPECT_THAT(changed.error().ToString(), HasSubstr("distribution[0] states " + hash));
}

TEST_F(CroissantTest, IsRefusedWhereTheRecordSaysOtherwise) {
  manifest_.data.resize(1);
  manifest_.data[0].name = "train.csv";
  manifest_.data[0].path = "train.csv";
  manifest_.data[0].sha256 = std::string(64, 'b');
  const auto use = Apply(Parse(FileObject("train.csv", "train.csv", std::string(64, 'a'))));
  ASSERT_FALSE(use.ok());
  EXPECT_THAT(use.error().ToString(), HasSubstr("the record of data 'train.csv' has sha256 bbbb"));
}

// The lengths that the specification's own examples have.
TEST_F(CroissantTest, TakesNoShortHashForAPin) {
  for (const std::size_t length : {32u, 63u, 65u}) {
    manifest_.data.clear();
    const auto use = Apply(Parse(FileObject("a.csv", "a.csv", std::string(length, 'a'))));
    ASSERT_TRUE(use.ok()) << use.error().ToString();
    EXPECT_THAT(use->remarks,
                Contains(HasSubstr("has " + std::to_string(length) + " characters; expected 64")));
    EXPECT_EQ(manifest_.data.at(0).sha256, "");
    EXPECT_EQ(manifest_.data[0].other_digest, "croissant-sha256:" + std::string(length, 'a'));
    EXPECT_THAT(WorthOf(manifest_, "data[0].other_digest"), HasSubstr("hint "));
  }
  const auto upper = Parse(FileObject("a", "a", std::string(64, 'A')));
  EXPECT_EQ(upper.files.at(0).sha256, std::string(64, 'a'));
  EXPECT_EQ(Parse(FileObject("a", "a", std::string(64, 'g'))).files.at(0).sha256, "");
}

TEST_F(CroissantTest, TellsOfLiveDataAndOfSetsWithoutAHash) {
  const auto croissant =
      Parse(FileObject("zip", "https://example.org/a.zip", std::string(64, 'a')) +
                R"(, {"@type": "cr:FileSet", "@id": "images", "name": "images",
                      "containedIn": {"@id": "zip"}, "includes": "*.png"},
                     {"@type": "cr:FileObject", "@id": "inner", "contentUrl": "inner.csv",
                      "containedIn": {"@id": "zip"}}, {"@type": "sc:Thing"}, 7)",
            R"("isLiveDataset": true, )");
  const auto use = Apply(croissant);
  ASSERT_TRUE(use.ok()) << use.error().ToString();
  EXPECT_THAT(use->remarks, Contains(HasSubstr("the data set is live")));
  EXPECT_THAT(use->remarks, Contains(HasSubstr("a FileSet ('*.png' of 'zip') has no hash")));
  EXPECT_THAT(use->remarks, Contains(HasSubstr("distribution[3] is neither")));
  ASSERT_THAT(manifest_.data, SizeIs(1)) << "what lies in the archive comes with it";
  EXPECT_EQ(manifest_.data[0].name, "zip");
}

TEST_F(CroissantTest, TakesNoPathOutOfItsFolderAndNoSecrets) {
  Put("../outside.csv", "x");
  const auto use = Apply(
      Parse(FileObject("../outside.csv", "../outside.csv", Sha256HexOf("x")) + ", " +
            FileObject("https://ada:s3cret@example.org/b",
                       "https://ada:s3cret@example.org/b.csv?k=s3cret", std::string(64, 'b'))));
  std::filesystem::remove(folder_.path() / "../outside.csv");
  ASSERT_TRUE(use.ok()) << use.error().ToString();
  EXPECT_EQ(use->verified, 0u);
  ASSERT_THAT(manifest_.data, SizeIs(1));
  EXPECT_EQ(manifest_.data[0].source, "https://example.org/b.csv");
  EXPECT_EQ(ToJson(manifest_).Dump().find("s3cret"), std::string::npos);
}

TEST_F(CroissantTest, IsTheSameWhenItIsAppliedAgain) {
  const Croissant croissant = Parse(FileObject("a", "https://x.org/a.csv", std::string(64, 'a')));
  ASSERT_TRUE(Apply(croissant).ok());
  const std::string once = ToJson(manifest_).Dump();
  ASSERT_TRUE(Apply(croissant).ok());
  EXPECT_EQ(ToJson(manifest_).Dump(), once);
}

TEST(CroissantFiles, ThatAreNoneAreRefused) {
  for (const char* text :
       {"{}", "[]", "7", R"({"@type": "Dataset"})", R"({"@type": "Person", "distribution": []})"}) {
    EXPECT_FALSE(ParseCroissant(*ParseJson(text, ""), "c.json").ok()) << text;
  }
}

}  // namespace
}  // namespace rharness
