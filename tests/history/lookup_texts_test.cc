// What pages search by, held to manifests' texts.
#include "harness/history/lookup_texts.h"

#include <gtest/gtest.h>

namespace rharness {
namespace {

constexpr char kToday[] =
    R"({"schema":"x","code":{"repository":"a } \" {","commit":"c1","files":[{"path":"b"}]},)"
    R"("image":{"kind":"oci","registry":"r.example","repository":"ml/t","tag":"1","digest":"sha256:d"},)"
    R"("data":[{"code":{"commit":"other"}}]})";
constexpr char kImage[] = "r.example/ml/t:1@sha256:d";

TEST(LookupTexts, AreThoseOfTheManifestAndNoOthers) {
  EXPECT_TRUE(AreLookupsOf(kToday, {"c1", kImage}));
  EXPECT_FALSE(AreLookupsOf(kToday, {"c2", kImage}));
  EXPECT_FALSE(AreLookupsOf(kToday, {"other", kImage}));
  EXPECT_FALSE(AreLookupsOf(kToday, {"", kImage}));
  EXPECT_FALSE(AreLookupsOf(kToday, {"c1", "r.example/ml/t:2@sha256:d"}));
  EXPECT_FALSE(AreLookupsOf(kToday, {"c1", ""}));
}

TEST(LookupTexts, AreFoundHoweverTheManifestIsSpelled) {
  const char* const spaced =
      "{ \"image\" : { \"location\" : \"i.sif\" },\n \"code\" : { \"commit\" : \"c\" } }";
  EXPECT_TRUE(AreLookupsOf(spaced, {"c", "i.sif"}));
  EXPECT_FALSE(AreLookupsOf(spaced, {"", ""}));
  // Another "code" stands before the manifest's own.
  const char* const nested = R"({"a":{"code":{"commit":"n"},"image":{}},"code":{"commit":"c"}})";
  EXPECT_TRUE(AreLookupsOf(nested, {"c", ""}));
  EXPECT_TRUE(AreLookupsOf("{}", {"", ""}));
  EXPECT_FALSE(AreLookupsOf("{}", {"c", ""}));
}

TEST(LookupTexts, OfWhatIsNoManifestAreToldByItsDigest) {
  EXPECT_TRUE(AreLookupsOf("no JSON", {"c", "i"}));
  EXPECT_TRUE(AreLookupsOf(R"({"code":{"commit":"c)", {"c", "i"}));
}

}  // namespace
}  // namespace rharness
