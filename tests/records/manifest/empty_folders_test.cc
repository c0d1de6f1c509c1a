// Empty folders of data: what a record holds of them, and what two records say to each other.
#include "harness/records/manifest/empty_folders.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/records/manifest/lineage.h"
#include "harness/records/manifest/manifest.h"
#include "tests/records/manifest/example.h"

namespace rharness {
namespace {

using testing::HasSubstr;

Result<Manifest> WithFolders(std::string_view json) {
  Manifest manifest = ExampleManifest();
  manifest.data[0].empty_folders = {{"placeholder"}};
  std::string text = ToJson(manifest).Dump();
  const std::string written = R"(["placeholder"])";
  const auto at = text.find(written);
  EXPECT_NE(at, text.npos) << text;
  text.replace(at, written.size(), json);
  return ParseManifest(*ParseJson(text, "m.json"), "m.json");
}

TEST(EmptyFolders, AreWordedByTheFirstAndTheirNumber) {
  EXPECT_EQ(OtherEmptyFolders({{"a", "b"}}, {{"a", "b"}}), "");
  EXPECT_EQ(OtherEmptyFolders({{}}, {{"a"}}), "has the empty folder 'a', not in the record");
  EXPECT_EQ(OtherEmptyFolders({{"a", "b", "c"}}, {{"b"}}), "lacks the empty folder 'a' and 1 more");
  EXPECT_EQ(OtherEmptyFolders({{"a"}}, {{"b"}}),
            "has the empty folder 'b', not in the record; lacks the empty folder 'a'");
  EXPECT_EQ(OtherEmptyFolders({}, {{"a"}}), "") << "an older record says nothing of them";
}

TEST(EmptyFolders, ThatARecordCannotHoldAreNotInIt) {
  EXPECT_EQ(RecordableFolders({"a/b"})->size(), 1U);
  EXPECT_FALSE(RecordableFolders({"two\nlines"}));
  EXPECT_FALSE(RecordableFolders({"latin\xe9"}));
  EXPECT_FALSE(RecordableFolders(std::vector<std::string>(kMostEmptyFolders + 1, "a")));
}

TEST(EmptyFolders, OfARecordAreRelativePathsInOrder) {
  EXPECT_EQ(WithFolders(R"(["a","b/c"])")->data[0].empty_folders, EmptyFolders({"a", "b/c"}));
  EXPECT_EQ(WithFolders("[]")->data[0].empty_folders, EmptyFolders(std::vector<std::string>()));
  EXPECT_EQ(WithFolders("null")->data[0].empty_folders, EmptyFolders());
  for (const auto* json : {R"(["../up"])", R"(["/abs"])", R"(["b","a"])", R"(["a","a"])",
                           R"(["a//b"])", R"([""])", R"([1])", R"("a")"}) {
    const auto manifest = WithFolders(json);
    ASSERT_FALSE(manifest.ok()) << json;
    EXPECT_THAT(manifest.error().ToString(), HasSubstr("$.data[0].empty_folders")) << json;
  }
}

TEST(EmptyFolders, MakeOtherDataOfTheSameFiles) {
  Manifest plain = ExampleManifest(), stated = plain, more = plain;
  stated.data[0].empty_folders.emplace();
  more.data[0].empty_folders = {{"class"}};
  EXPECT_EQ(ConfigurationKey(plain), ConfigurationKey(stated));
  EXPECT_NE(ConfigurationKey(plain), ConfigurationKey(more));
  EXPECT_EQ(CompareContent(plain.data[0], more.data[0]), SameContent::kYes);
  EXPECT_EQ(CompareContent(stated.data[0], more.data[0]), SameContent::kNo);
}

}  // namespace
}  // namespace rharness
