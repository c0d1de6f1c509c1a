// The words of states, read back strictly.
#include "harness/verdict/states.h"

#include <gtest/gtest.h>

namespace rharness {
namespace {

template <class T, std::size_t n>
void ExpectEachWordIsReadBack(const std::array<T, n>& values, std::string_view (*name)(T),
                              Result<T> (*parse)(std::string_view)) {
  for (const T value : values) EXPECT_EQ(parse(name(value)).value(), value) << name(value);
}

TEST(States, AreReadBackFromTheirWords) {
  ExpectEachWordIsReadBack(kPartStates, PartStateName, ParsePartState);
  ExpectEachWordIsReadBack(kPropertyStates, PropertyStateName, ParsePropertyState);
  ExpectEachWordIsReadBack(kProbeStatuses, ProbeStatusName, ParseProbeStatus);
  ExpectEachWordIsReadBack(kDirections, MetricDirectionName, ParseMetricDirection);
  EXPECT_EQ(PropertyStateName(PropertyState::kHeldWithin), "held_within");
  EXPECT_EQ(ProbeStatusName(ProbeStatus::kTimedOut), "timed_out");
}

TEST(States, RefuseAnotherWordAndListTheKnownOnes) {
  EXPECT_EQ(ParseMetricDirection("up").error().message,
            "expected one of \"higher\", \"lower\", \"none\", found \"up\"");
  EXPECT_FALSE(ParsePartState("").ok());
  EXPECT_FALSE(ParsePropertyState("HELD").ok());
}

}  // namespace
}  // namespace rharness
