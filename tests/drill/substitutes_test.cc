// Which substitutes of a policy hold, and for which runs.
#include "harness/drill/substitutes.h"

#include <gtest/gtest.h>

#include <memory>

#include "harness/base/files.h"
#include "harness/base/json.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

class SubstitutesTest : public testing::Test {
 protected:
  void SetUp() override {
    auto made = ScopedTempDir::Make();
    ASSERT_TRUE(made.ok());
    folder_ = std::make_unique<ScopedTempDir>(std::move(*made));
  }
  // A fingerprint of these GPUs with bits of one case a probe, named FAMILY_bits.
  fs::path Fingerprint(const std::string& name, const std::string& model,
                       const std::map<std::string, char>& families) {
    Json probes = Json::MakeArray();
    for (const auto& [family, digit] : families) {
      probes.Append(
          Json::MakeObject({{"name", family + "_bits"},
                            {"family", family},
                            {"device", "cuda:0"},
                            {"status", "ok"},
                            {"deterministic", true},
                            {"bits", Json::MakeObject({{"case", std::string(64, digit)}})}}));
    }
    Json gpus = Json::MakeArray();
    gpus.Append(Json::MakeObject({{"model", model}}));
    const Json json = Json::MakeObject({{"schema", "rharness.fingerprint/v1"},
                                        {"stack", Json::MakeObject({{"gpus", std::move(gpus)}})},
                                        {"suite", "ok"},
                                        {"probes", std::move(probes)}});
    const fs::path path = folder_->path() / name;
    EXPECT_TRUE(WriteJsonFile(path, json).ok());
    return path;
  }
  static std::size_t HeldFor(const Substitutes& substitutes, std::vector<std::string> families) {
    Manifest run;
    run.probe_families = std::move(families);
    return substitutes.For(run).size();
  }
  static Substitutes Loaded(const Substitute& one, WallTime now = {}) {
    auto loaded = Substitutes::Load({one}, now);
    EXPECT_TRUE(loaded.ok()) << loaded.error().ToString();
    return loaded.ok() ? *loaded : Substitutes();
  }
  std::unique_ptr<ScopedTempDir> folder_;
};

TEST_F(SubstitutesTest, HoldUntilTheDayThatIsSigned) {
  const WallTime until = *ParseTime("2026-12-31T00:00:00Z");
  const Substitute one{.recorded = "A*",
                       .here = "B*",
                       .reason = "same chip",
                       .signed_by = "ada",
                       .until = until,
                       .proof = {}};
  const Substitutes before = Loaded(one, until - std::chrono::seconds(1));
  ASSERT_EQ(HeldFor(before, {}), 1u);
  EXPECT_EQ(before.For({}).front().why, "same chip, signed by ada (plain text, not verified)");
  EXPECT_TRUE(before.Notes().empty());
  const Substitutes after = Loaded(one, until);
  EXPECT_EQ(HeldFor(after, {}), 0u);
  EXPECT_EQ(after.Notes(), std::vector<std::string>{"substitute B* for A*: its day has ended"});
}

TEST_F(SubstitutesTest, AreProvedForRunsThatDependOnNothingThatDiffers) {
  const fs::path a = Fingerprint("a.json", "A", {{"gemm", 'a'}, {"math", 'b'}, {"scan", 'c'}});
  const fs::path b = Fingerprint("b.json", "B", {{"gemm", 'a'}, {"math", '0'}});
  const Substitutes proved = Loaded(
      {.recorded = "A", .here = "B", .reason = {}, .signed_by = {}, .until = {}, .proof = {a, b}});
  EXPECT_EQ(HeldFor(proved, {"gemm"}), 1u);
  EXPECT_EQ(HeldFor(proved, {"gemm", "math"}), 0u) << "math differs";
  EXPECT_EQ(HeldFor(proved, {"scan"}), 0u) << "shown on one side alone";
  EXPECT_EQ(HeldFor(proved, {"conv"}), 0u) << "shown on none";
  EXPECT_EQ(HeldFor(proved, {}), 0u) << "depends on everything";
  EXPECT_EQ(proved.Notes().size(), 1u);
}

TEST_F(SubstitutesTest, ProveEverythingWhereNothingDiffersAndScalarsForAll) {
  const fs::path a = Fingerprint("a.json", "A", {{"gemm", 'a'}, {"scalar", 'b'}});
  const fs::path same = Fingerprint("same.json", "B", {{"gemm", 'a'}, {"scalar", 'b'}});
  const fs::path other = Fingerprint("other.json", "B", {{"gemm", 'a'}, {"scalar", '0'}});
  Substitute one{
      .recorded = "A", .here = "B", .reason = {}, .signed_by = {}, .until = {}, .proof = {a, same}};
  EXPECT_EQ(HeldFor(Loaded(one), {}), 1u);
  EXPECT_TRUE(Loaded(one).Notes().empty());
  one.proof = {a, other};
  EXPECT_EQ(HeldFor(Loaded(one), {"gemm"}), 0u);
}

TEST_F(SubstitutesTest, RefuseAFingerprintOfOtherGpus) {
  const fs::path a = Fingerprint("a.json", "A", {{"gemm", 'a'}});
  const auto loaded = Substitutes::Load(
      {{.recorded = "A", .here = "B", .reason = {}, .signed_by = {}, .until = {}, .proof = {a, a}}},
      {});
  ASSERT_FALSE(loaded.ok());
  EXPECT_EQ(loaded.error().code, ErrorCode::kInvalidInput);
  EXPECT_NE(loaded.error().message.find("'A'"), std::string::npos);
}

}  // namespace
}  // namespace rharness
