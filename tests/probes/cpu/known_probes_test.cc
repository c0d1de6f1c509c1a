// What a policy's reader knows of probes is what there is.
#include "harness/records/policy/known_probes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "probes/probe.h"

namespace rharness {
namespace {

TEST(RegisteredProbes, AreKnownWithTheirFamiliesToWhoReadsAPolicy) {
  ASSERT_FALSE(Probes().empty());
  for (const Probe& probe : Probes()) {
    const auto known = std::ranges::find(KnownProbes(), probe.name, &KnownProbe::name);
    ASSERT_NE(known, KnownProbes().end()) << probe.name;
    EXPECT_EQ(known->family, probe.family) << probe.name;
  }
}

}  // namespace
}  // namespace rharness
