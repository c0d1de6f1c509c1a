// Metrics files with values that no double holds, or that are no numbers at all.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>

#include "harness/base/files.h"
#include "harness/judge/comparison/compare_subjects.h"
#include "harness/judge/comparison/subject.h"

namespace rharness {
namespace {

using testing::HasSubstr;

class UnreadMetrics : public testing::Test {
 protected:
  Comparison Compare(const std::string& a, const std::string& b) {
    const auto load = [&](const char* name, const std::string& text) {
      EXPECT_TRUE(WriteFileAtomic(folder_.path() / name, text).ok());
      auto subject = LoadSubject(folder_.path() / name, {});
      EXPECT_TRUE(subject.ok()) << subject.error().ToString();
      return subject.ok() ? std::move(*subject) : Subject{};
    };
    auto comparison = CompareSubjects(load("a.json", a), load("b.json", b), {}, {});
    EXPECT_TRUE(comparison.ok()) << comparison.error().ToString();
    return comparison.ok() ? std::move(*comparison) : Comparison{};
  }
  // Of files with the metric "acc" and these members beside it.
  Verdict OfMembers(const std::string& a, const std::string& b) {
    return Compare(R"({"metrics": {"acc": 0.5, )" + a + "}}",
                   R"({"metrics": {"acc": 0.5, )" + b + "}}")
        .verdict;
  }

 private:
  ScopedTempDir folder_ = std::move(ScopedTempDir::Make()).value();
};

TEST_F(UnreadMetrics, ThatDifferNeverPass) {
  const std::vector<std::pair<const char*, const char*>> pairs = {
      {R"("loss": "1,5")", R"("loss": "1,6")"},
      {R"("loss": [1])", R"("loss": [2])"},
      {R"("eval": {"loss": 1})", R"("eval": {"loss": 2})"},
      {R"("ok": true)", R"("ok": false)"},
      {R"("b": null)", R"("x": null)"}};
  for (const auto& [a, b] : pairs) {
    EXPECT_EQ(OfMembers(a, b), Verdict::kInconclusive) << a << " against " << b;
    EXPECT_EQ(OfMembers(a, a), Verdict::kIdentical) << a;
  }
  EXPECT_EQ(OfMembers(R"("n": 9007199254740993)", R"("n": 9007199254740992)"),
            Verdict::kInconclusive);
  EXPECT_EQ(OfMembers(R"("n": 9007199254740993)", R"("n": 9007199254740993)"), Verdict::kIdentical);
  EXPECT_EQ(OfMembers(R"("n": 18446744073709551617)", R"("n": 18446744073709551616)"),
            Verdict::kInconclusive);
  EXPECT_EQ(OfMembers(R"("iteration-time": "3 s")", R"("iteration-time": "4 s")"),
            Verdict::kIdentical);
}

TEST_F(UnreadMetrics, AreNamedWithBothTexts) {
  const Comparison comparison =
      Compare(R"({"metrics": {"acc": 0.5}, "f1": 3})", R"({"metrics": {"acc": 0.5}, "f1": 4})");
  EXPECT_EQ(comparison.verdict, Verdict::kInconclusive);
  ASSERT_FALSE(comparison.findings.empty());
  EXPECT_EQ(comparison.findings.front().code, "not_compared");
  EXPECT_THAT(comparison.findings.front().message, HasSubstr("differs: 3 in A, 4 in B"));
}

// A record keeps the text; one of before does not, and says nothing of it.
TEST_F(UnreadMetrics, OfRecordsAreComparedWhereBothKnowThem) {
  const auto differs = [&](std::optional<UnreadMembers> a, std::optional<UnreadMembers> b) {
    Manifest manifest;
    manifest.run_id = "r";
    manifest.command = {"train"};
    manifest.metrics = {Metric{.name = "acc", .value = 0.5, .primary = true}};
    manifest.unread_metrics = std::move(a);
    const std::string first = ToJson(manifest).Dump();
    manifest.unread_metrics = std::move(b);
    const Comparison comparison = Compare(first, ToJson(manifest).Dump());
    return std::ranges::find(comparison.findings, "not_compared", &Finding::code) !=
           comparison.findings.end();
  };
  EXPECT_TRUE(differs({{{"eval", "1"}}}, {{{"eval", "2"}}}));
  EXPECT_TRUE(differs({{{"eval", "1"}}}, UnreadMembers{}));
  EXPECT_FALSE(differs({{{"eval", "1"}}}, {{{"eval", "1"}}}));
  EXPECT_FALSE(differs({{{"eval", "1"}}}, std::nullopt));
}

}  // namespace
}  // namespace rharness
