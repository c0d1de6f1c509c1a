// URLs as they are said: what lets others in is not.
#include "harness/base/shown_url.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rharness {
namespace {

using testing::ElementsAre;

TEST(ShownUrl, HidesTheValuesOfAQueryAndKeepsTheirNames) {
  EXPECT_EQ(ShownUrl("https://s3.example/b/k?X-Amz-Expires=60&X-Amz-Signature=ab12"),
            "https://s3.example/b/k?X-Amz-Expires=***&X-Amz-Signature=***");
  EXPECT_EQ(ShownUrl("https://h.example/f?token=a=b&sig=&secret"),
            "https://h.example/f?token=***&sig=&***");
  EXPECT_EQ(ShownUrl("https://h.example?sig=1"), "https://h.example?sig=***");
  EXPECT_EQ(ShownUrl("https://h.example/f#access_token=1"), "https://h.example/f#***");
  EXPECT_EQ(ShownUrl("https://h.example/f#?sig=1"), "https://h.example/f#***");
  EXPECT_EQ(ShownUrl("https://h.example/f?a=1#b?c=2"), "https://h.example/f?a=***#***");
}

TEST(ShownUrl, HidesUserAndPassword) {
  EXPECT_EQ(ShownUrl("https://ada:secret@h.example:8080/x?v=1"), "https://h.example:8080/x?v=***");
  EXPECT_EQ(ShownUrl("https://h.example/a@b"), "https://h.example/a@b");
  EXPECT_EQ(ShownUrl("https://h.example?a@b=1"), "https://h.example?a@b=***");
}

TEST(ShownUrl, KeepsWhatLetsNobodyIn) {
  for (const char* plain : {"s3://bucket/a b/c?versionId=v.1", "https://h.example/a/b",
                            "data/x?y=1", "https://h.example/?", "delta:folder@3", ""}) {
    const std::string_view all(plain);
    EXPECT_EQ(ShownUrl(all), all.ends_with("/?") ? all.substr(0, all.size() - 1) : all);
  }
}

TEST(HiddenValues, AreThoseThatAreLongEnoughToBeASecret) {
  EXPECT_THAT(HiddenValues("https://h.example/f?X-Amz-Signature=0123456789&n=1&longsecret"
                           "&versionId=0123456789#0123456789"),
              ElementsAre("0123456789", "longsecret"));
  EXPECT_THAT(HiddenValues("https://h.example/f"), ElementsAre());
}

}  // namespace
}  // namespace rharness
