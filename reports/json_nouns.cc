// The members that are no plain list: five layers in their places, a histogram without its tail.
#include "reports/json_nouns.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "reports/json_parts.h"

namespace rharness {

void LayerMembers(MemberWriter& io, const std::array<LayerComparison, 5>& layers) {
  io.List("layers", layers);
}

void LayerMembers(MemberReader& io, std::array<LayerComparison, 5>& layers) {
  for (std::size_t i = 0; i < layers.size(); ++i) layers[i].layer = kLayers[i];
  std::vector<LayerComparison> read;
  io.List("layers", read);
  if (!io.json().ok()) return;
  for (LayerComparison& one : read) {
    for (FactDifference& difference : one.differences) difference.layer = one.layer;
    *std::ranges::find(layers, one.layer, &LayerComparison::layer) = std::move(one);
  }
}

void HistogramMembers(MemberWriter& io, const UlpHistogram& histogram) {
  const auto last = std::find_if(histogram.rbegin(), histogram.rend(),
                                 [](std::uint64_t count) { return count > 0; });
  io.Plain("ulp_histogram", std::vector<std::uint64_t>(histogram.begin(), last.base()));
}

void HistogramMembers(MemberReader& io, UlpHistogram& histogram) {
  std::vector<std::uint64_t> counts;
  io.Plain("ulp_histogram", counts);
  if (counts.size() > histogram.size()) {
    return io.json().Fail(fmt::format("expected at most {} counts", histogram.size()),
                          "ulp_histogram");
  }
  std::ranges::copy(counts, histogram.begin());
}

void CountMembers(MemberWriter& io, const VerdictCounts& counts, const About&) {
  io.Must("counts", CountsJson(counts));
}

void CountMembers(MemberReader& io, VerdictCounts& counts, const About&) {
  ReadCounts(io.json(), &counts);
}

}  // namespace rharness
