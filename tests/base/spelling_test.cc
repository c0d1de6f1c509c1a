// Distances are counted by hand.
#include "harness/base/spelling.h"

#include <gtest/gtest.h>

namespace rharness {
namespace {

TEST(Spelling, CountsLettersPutInTakenOutAndReplaced) {
  EXPECT_EQ(EditDistance("", ""), 0U);
  EXPECT_EQ(EditDistance("", "abc"), 3U);
  EXPECT_EQ(EditDistance("kitten", "sitting"), 3U);
  EXPECT_EQ(EditDistance("histroy", "history"), 2U);
}

TEST(Spelling, FindsTheNameThatWasMeant) {
  const std::vector<std::string> known = {"record", "admit", "history", "drill", "report"};
  EXPECT_EQ(NearestName("histroy", known), "history");
  EXPECT_EQ(NearestName("dril", known), "drill");
  EXPECT_EQ(NearestName("drilll", known), "drill");
  EXPECT_EQ(NearestName("recrod", known), "record");
  EXPECT_EQ(NearestName("hist", known), "history");  // its beginning
}

TEST(Spelling, GuessesNothingFarFetched) {
  const std::vector<std::string> known = {"record", "admit", "history", "drill", "report"};
  EXPECT_EQ(NearestName("drill", known), "");  // known itself
  EXPECT_EQ(NearestName("banana", known), "");
  EXPECT_EQ(NearestName("re", known), "");  // of two names, and too short
  EXPECT_EQ(NearestName("", known), "");
  EXPECT_EQ(NearestName(std::string(65, 'a'), {std::string(66, 'a')}), "");
}

}  // namespace
}  // namespace rharness
