// Records from strangers: cut off, bit by bit wrong, huge or nested; refused, never a crash.
#include <gtest/gtest.h>

#include "tests/records/manifest/example.h"

namespace rharness {
namespace {

TEST(HostileManifest, IsRefusedAtEveryLengthShortOfTheWhole) {
  for (std::size_t length = 0; length + 1 < kExampleManifest.size(); ++length) {
    EXPECT_FALSE(ParseManifestText(kExampleManifest.substr(0, length)).ok()) << length;
  }
}

TEST(HostileManifest, NamesThePlaceForEveryByteThatTurnsIntoAnother) {
  int refused = 0;
  for (std::size_t at = 0; at < kExampleManifest.size(); ++at) {
    for (const char byte : {'\0', '"', '{', '9', '\xff'}) {
      std::string text(kExampleManifest);
      text[at] = byte;
      const auto manifest = ParseManifestText(text);
      if (manifest.ok()) continue;
      EXPECT_TRUE(manifest.error().where.starts_with("run.json: ")) << manifest.error().ToString();
      ++refused;
    }
  }
  EXPECT_GT(refused, 1000);
}

TEST(HostileEvidence, IsRefusedAtEveryLengthShortOfTheWhole) {
  for (std::size_t length = 0; length + 1 < kExampleEvidence.size(); ++length) {
    EXPECT_FALSE(ParseEvidenceText(kExampleEvidence.substr(0, length)).ok()) << length;
  }
}

TEST(HostileManifest, RefusesEveryMemberOfAnotherType) {
  const Json whole = ToJson(ExampleManifest());
  for (const auto& [name, value] : whole.AsObject()) {
    Json wrong = whole;
    const bool array = value.IsArray();
    wrong.Set(name, array ? Json(true) : Json::MakeArray({Json::MakeArray()}));
    const auto manifest = ParseManifest(wrong, "run.json");
    ASSERT_FALSE(manifest.ok()) << name;
    EXPECT_EQ(manifest.error().where, "run.json: $." + name);
  }
}

TEST(HostileManifest, KeepsUnknownNamesShortInItsErrors) {
  const std::string name(1 << 20, 'n');
  const auto manifest = ParseManifestText(
      Replaced(kExampleManifest, "\"family\"", "\"" + name + "\": 1, \"family\""));
  ASSERT_FALSE(manifest.ok());
  EXPECT_LT(manifest.error().message.size(), 200u);
}

TEST(HostileManifest, MayNotNestHyperparametersWithoutEnd) {
  const std::string deep = std::string(100000, '[') + std::string(100000, ']');
  EXPECT_FALSE(
      ParseManifestText(Replaced(kExampleManifest, "\"lr\": 0.1", "\"lr\": " + deep)).ok());
}

}  // namespace
}  // namespace rharness
