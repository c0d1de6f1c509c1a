// Whether a record's files are those that a rerun wrote, or that are kept.
#include "harness/judge/file_proof.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/base/digest.h"
#include "harness/base/files.h"

namespace rharness {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

Artifact Sharded() {
  Artifact artifact{.role = "weights", .path = "out/model.index.json"};
  artifact.sha256 = std::string(64, 'a');
  artifact.tensor_digest = std::string(64, 'd');
  artifact.parts = {{.path = "one.safetensors", .sha256 = std::string(64, '1')},
                    {.path = "two.safetensors", .sha256 = std::string(64, '2')}};
  return artifact;
}

std::string WhyUnproven(const Artifact& recorded, const Artifact& seen, const Places& places = {}) {
  std::vector<std::string> damage;
  const auto found = FindUnproven(recorded, seen, places, &damage);
  EXPECT_TRUE(found.ok()) << found.error().ToString();
  return found.ok() && *found ? (*found)->message : "";
}

TEST(FileProof, IsARerunThatWroteEachFileThatTheRecordNames) {
  const Artifact seen = Sharded();
  EXPECT_TRUE(IsWrittenAs(Sharded(), seen));
  Artifact other = Sharded();
  other.parts[1].sha256 = std::string(64, '3');
  EXPECT_FALSE(IsWrittenAs(other, seen));
  other = Sharded();
  other.sha256 = std::string(64, 'b');
  EXPECT_FALSE(IsWrittenAs(other, seen));
}

TEST(FileProof, IsNoneWhereTheRecordNamesNoShardsOrMoreThanARerunWrote) {
  const Artifact seen = Sharded();
  Artifact recorded = Sharded();
  recorded.parts.clear();
  EXPECT_FALSE(IsWrittenAs(recorded, seen));
  EXPECT_THAT(WhyUnproven(recorded, seen), HasSubstr("other parts than a rerun wrote"));
  recorded = Sharded();
  recorded.parts.push_back({.path = "evil.safetensors", .sha256 = std::string(64, 'e')});
  EXPECT_FALSE(IsWrittenAs(recorded, seen));
  EXPECT_THAT(WhyUnproven(recorded, seen), HasSubstr("other parts than a rerun wrote"));
  // Without a digest of its own it names a part all the same.
  recorded.sha256.clear();
  EXPECT_THAT(WhyUnproven(recorded, seen), HasSubstr("other parts than a rerun wrote"));
}

TEST(FileProof, NeedsNothingOfAnOlderRecordThatIsLoadedBesideTheTensors) {
  Artifact seen = Sharded();
  seen.parts.push_back({.path = "config.json", .sha256 = std::string(64, 'c'), .loaded = true});
  EXPECT_TRUE(IsWrittenAs(Sharded(), seen));
}

TEST(FileProof, IsAKeptFileOfTheRecordedBytesAndTensors) {
  const ScopedTempDir folder = *ScopedTempDir::Make("rharness-proof-");
  const std::string file = (folder.path() / "model.bin").string();
  ASSERT_TRUE(WriteFileAtomic(file, "weights").ok());
  Places places;
  places.root = folder.path();
  Artifact recorded{.role = "weights", .path = "model.bin"};
  recorded.location = file;
  recorded.sha256 = Sha256HexOf("weights");
  recorded.tensor_digest = recorded.sha256;  // no reader opens it
  Artifact seen = recorded;
  seen.sha256 = std::string(64, 'b');
  EXPECT_THAT(WhyUnproven(recorded, seen, places), IsEmpty());
  recorded.tensor_digest = std::string(64, 'd');
  EXPECT_THAT(WhyUnproven(recorded, seen, places), HasSubstr("the kept file"));
  recorded.tensor_digest = recorded.sha256 = std::string(64, 'e');
  EXPECT_THAT(WhyUnproven(recorded, seen, places), HasSubstr("has sha256"));
  recorded.location.clear();
  EXPECT_THAT(WhyUnproven(recorded, seen, places), HasSubstr("it was not kept"));
}

}  // namespace
}  // namespace rharness
