// Two evaluations with their items on the ladder: each verdict, and its reason.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "harness/base/files.h"
#include "harness/judge/comparison/compare_subjects.h"
#include "harness/judge/comparison/subject.h"

namespace rharness {
namespace {

using testing::Contains;
using testing::Field;
using testing::HasSubstr;

class Evaluations : public testing::Test {
 protected:
  // 1,000 items, every second one right, but for those that are flipped.
  static std::string Items(int flip_to_right, int flip_to_wrong, const std::string& prompt = "p") {
    std::string text;
    for (int i = 0; i < 1000; ++i) {
      bool right = i % 2 == 0;
      if (!right && i / 2 < flip_to_right) right = true;
      if (right && i % 2 == 0 && i / 2 < flip_to_wrong) right = false;
      text += R"({"id": )" + std::to_string(i) + R"(, "prompt": ")" + prompt + R"(", "correct": )" +
              (right ? "true" : "false") + "}\n";
    }
    return text;
  }
  // The same lines with a member of another name.
  static std::string Without(std::string text, const std::string& member) {
    for (auto at = text.find(member); at != text.npos; at = text.find(member, at + 1)) {
      text[at] = 'x';
    }
    return text;
  }
  Comparison Compare(const std::string& a, const std::string& b,
                     const std::map<std::string, double>& margins = {},
                     CompareOptions options = {}) {
    const auto load = [&](const char* name, const std::string& text) {
      EXPECT_TRUE(WriteFileAtomic(folder_.path() / name, text).ok());
      auto subject = LoadSubject(folder_.path() / name, {});
      EXPECT_TRUE(subject.ok()) << subject.error().ToString();
      return subject.ok() ? std::move(*subject) : Subject{};
    };
    options.margins = margins;
    auto comparison = CompareSubjects(load("a.jsonl", a), load("b.jsonl", b), {}, options);
    EXPECT_TRUE(comparison.ok()) << comparison.error().ToString();
    return comparison.ok() ? std::move(*comparison) : Comparison{};
  }

 private:
  ScopedTempDir folder_ = ScopedTempDir::Make().value();
};

TEST_F(Evaluations, AreIdenticalWhereEachItemHasItsScore) {
  EXPECT_EQ(Compare(Items(3, 1), Items(3, 1)).verdict, Verdict::kIdentical);
}

TEST_F(Evaluations, DriftWhereMoreItemsFlipOneWayThanChanceFlips) {
  const Comparison drifted = Compare(Items(0, 0), Items(20, 2), {{"correct", 0.01}});
  EXPECT_EQ(drifted.verdict, Verdict::kDrifted);
  EXPECT_THAT(drifted.findings, Contains(Field(&Finding::rule, HasSubstr("pairs of items"))));
  EXPECT_THAT(drifted.notes, Contains(HasSubstr("higher in B for 20: 1, 3, 5")));
}

TEST_F(Evaluations, AreEquivalentWithinTheMarginAndOpenWithoutOne) {
  EXPECT_EQ(Compare(Items(0, 0), Items(4, 3), {{"correct", 0.02}}).verdict, Verdict::kEquivalent);
  EXPECT_EQ(Compare(Items(0, 0), Items(4, 3)).verdict, Verdict::kInconclusive);
}

// What was said may differ where every score is the same.
TEST_F(Evaluations, AreNotIdenticalWhereTheirScoresAloneAre) {
  const auto said = [](const std::string& last) {
    std::string text;
    for (int i = 0; i < 12; ++i) {
      text += R"({"id": )" + std::to_string(i) + R"(, "score": 1, "output": ")" +
              (i == 11 ? last : "a") + "\"}\n";
    }
    return text;
  };
  EXPECT_EQ(Compare(said("a"), said("a")).verdict, Verdict::kIdentical);
  const Comparison other = Compare(said("a"), said("b"));
  EXPECT_EQ(other.verdict, Verdict::kEquivalent);
  EXPECT_EQ(other.metrics.front().reason, "other_answers");
  EXPECT_THAT(other.notes, Contains(HasSubstr("1 of 12 items have another answer, first 11")));
  CompareOptions bits;
  bits.expect_bitwise = true;
  const Comparison drifted = Compare(said("a"), said("b"), {}, bits);
  EXPECT_EQ(drifted.verdict, Verdict::kDrifted);
  EXPECT_THAT(drifted.findings,
              Contains(Field(&Finding::message, HasSubstr("score: items have other answers"))));
  // One side does not say what it answered.
  EXPECT_EQ(Compare(said("a"), Without(said("a"), "output")).verdict, Verdict::kIdentical);
}

// Five are lost and five won: the means are equal, bit for bit, and the items are not.
TEST_F(Evaluations, AreNotIdenticalWhereTheirMeansAloneAre) {
  const Comparison moved = Compare(Items(0, 0), Items(5, 5));
  EXPECT_EQ(moved.verdict, Verdict::kInconclusive);
  EXPECT_EQ(moved.metrics.front().difference, 0.0);
  EXPECT_THAT(moved.notes, Contains(HasSubstr("lower in B for 5: 0, 2, 4")));
  EXPECT_EQ(Compare(Items(0, 0), Items(5, 5), {{"correct", 0.02}}).verdict, Verdict::kEquivalent);
  CompareOptions bits;
  bits.expect_bitwise = true;
  const Comparison drifted = Compare(Items(0, 0), Items(5, 5), {}, bits);
  EXPECT_EQ(drifted.verdict, Verdict::kDrifted);
  EXPECT_EQ(drifted.headline, "correct: items have other scores");
}

TEST_F(Evaluations, OfOtherPromptsAreNotComparableAndSaySo) {
  const Comparison other = Compare(Items(0, 0), Items(0, 0, "q"), {{"correct", 0.02}});
  EXPECT_EQ(other.verdict, Verdict::kNotComparable);
  EXPECT_THAT(other.causes, Contains(Field(&Cause::code, "evaluation_changed")));
  EXPECT_THAT(other.notes, Contains(HasSubstr("1000 of 1000 items have another prompt")));
  // The items of a shorter run are other items.
  const std::string part = Items(0, 0).substr(0, Items(0, 0).find("{\"id\": 500,"));
  EXPECT_EQ(Compare(Items(0, 0), part, {{"correct", 0.02}}).verdict, Verdict::kNotComparable);
}

}  // namespace
}  // namespace rharness
