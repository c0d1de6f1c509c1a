// Runs that depend on one image, driver, GPU or node, and could not be rerun without it. Pure.
#ifndef RHARNESS_HARNESS_INSIGHT_TRENDS_LAST_CHANCE_H_
#define RHARNESS_HARNESS_INSIGHT_TRENDS_LAST_CHANCE_H_

#include <optional>
#include <string>
#include <vector>

#include "harness/insight/trends/stack.h"
#include "harness/insight/trends/tracks.h"
#include "reports/trends_report.h"

namespace rharness {

// `stacks`: by place.
std::vector<TrendOnly> OnlyWith(const Tracks& tracks, const std::vector<Stack>& stacks);

// A run never shown to reproduce, with its recorded environment; empty: not read.
struct UnshownRun {
  std::string run_id;
  std::string family;
  std::optional<Stack> recorded;
};

// Over all runs that are not retired. All of `gone` go together.
LastChance LastChanceOf(const Tracks& tracks, const std::vector<Stack>& stacks,
                        const std::vector<Gone>& gone, const std::vector<UnshownRun>& unshown);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_INSIGHT_TRENDS_LAST_CHANCE_H_
