// Tags that moved, told by when which digest was recorded.
#include "harness/judge/image_tags.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rharness {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Manifest RunOf(const std::string& run_id, const std::string& day, const std::string& tag,
               char digit) {
  Manifest run;
  run.run_id = run_id;
  run.started = *ParseTime("2026-01-" + day + "T00:00:00Z");
  run.image = {.kind = ImageKind::kOci,
               .registry = "r.example",
               .repository = "ml",
               .tag = tag,
               .digest = "sha256:" + std::string(3, digit)};
  return run;
}

TEST(TagMoves, AreToldInTheOrderOfTime) {
  EXPECT_THAT(TagMoves({RunOf("c", "05", "1", 'b'), RunOf("a", "01", "1", 'a'),
                        RunOf("b", "03", "1", 'a'), RunOf("d", "04", "2", 'c')}),
              ElementsAre("image tag r.example/ml:1 pointed to sha256:aaa on 2026-01-03 (run b), "
                          "to sha256:bbb on 2026-01-05 (run c)"));
}

TEST(TagMoves, AreFindingsOfTheRunsOfThatTagAlone) {
  const std::vector<Manifest> runs = {RunOf("a", "01", "1", 'a'), RunOf("b", "02", "1", 'b'),
                                      RunOf("c", "03", "2", 'c')};
  const std::vector<TagMove> moves = FindTagMoves(runs);
  for (const Manifest& run : {runs[0], runs[1]}) {
    const std::vector<Finding> findings = TagFindings(run, moves);
    ASSERT_EQ(findings.size(), 1u) << run.run_id;
    EXPECT_EQ(findings[0].code, "image_tag_moved");
    EXPECT_EQ(findings[0].layer, Layer::kEnvironment);
    EXPECT_EQ(findings[0].limit, "sha256:aaa");
    EXPECT_EQ(findings[0].observed, "sha256:bbb");
    EXPECT_FALSE(findings[0].decisive);
  }
  EXPECT_THAT(TagFindings(runs[2], moves), IsEmpty());
  EXPECT_THAT(TagFindings(Manifest(), moves), IsEmpty());
}

TEST(TagMoves, AreAtMostTheLastThree) {
  std::vector<Manifest> runs;
  for (int day = 1; day < 7; ++day) {
    runs.push_back(RunOf("r", "0" + std::to_string(day), "1", static_cast<char>('0' + day)));
  }
  const std::vector<Finding> findings = TagFindings(runs[0], FindTagMoves(runs));
  ASSERT_EQ(findings.size(), 3u);
  EXPECT_EQ(findings.back().observed, "sha256:666");
}

TEST(TagMoves, NeedATagAndADigest) {
  Manifest without_digest = RunOf("b", "02", "1", 'b');
  without_digest.image.digest.clear();
  EXPECT_THAT(TagMoves({RunOf("a", "01", "", 'a'), RunOf("b", "02", "", 'b')}), IsEmpty());
  EXPECT_THAT(TagMoves({RunOf("a", "01", "1", 'a'), without_digest}), IsEmpty());
  EXPECT_THAT(TagMoves({}), IsEmpty());
}

}  // namespace
}  // namespace rharness
