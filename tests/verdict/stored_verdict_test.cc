// Reasons as a history keeps them.
#include "harness/verdict/stored_verdict.h"

#include <gtest/gtest.h>

namespace rharness {
namespace {

TEST(Reasons, AreACodeAndASentenceInOneText) {
  const Reason reason{"data_changed", "data 'train' is not the recorded one: 3 rows"};
  EXPECT_EQ(ReasonText(reason), "data_changed: data 'train' is not the recorded one: 3 rows");
  EXPECT_EQ(ReadReason(ReasonText(reason)), reason);
}

TEST(Reasons, WithoutACodeAreTheSentence) {
  for (const std::string text : {"Nothing was compared", "", "The run: it failed", ": x", "a:b"}) {
    EXPECT_EQ(ReadReason(text), (Reason{"", text})) << text;
    EXPECT_EQ(ReasonText({"", text}), text);
  }
}

}  // namespace
}  // namespace rharness
