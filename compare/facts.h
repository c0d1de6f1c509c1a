// What was recorded against what was seen, layer by layer.
//
// Role: pure; the nouns are those of harness/verdict/facts.h. Not here: what a difference means for
// the verdict (comparison.h).
#ifndef RHARNESS_COMPARE_FACTS_H_
#define RHARNESS_COMPARE_FACTS_H_

#include <array>
#include <vector>

#include "harness/verdict/facts.h"

namespace rharness {

// Compares by (layer, key). A fact on one side only is no difference, unless the other side's facts
// of its kind are complete; a fact that is only recorded is counted. Of two facts with one key on a
// side the first counts. If the sides give different weights the difference has the stricter one. A
// difference that another difference covers is left out: the digest of a list that is compared by
// name, and a package whose version the run itself named. Returns the five layers in the order of
// kLayers.
std::array<LayerComparison, 5> CompareFacts(const std::vector<Fact>& recorded,
                                            const std::vector<Fact>& observed);

// Joins the layers of several reruns of one run: a layer differs if it differs in any rerun (the
// differences are those of the first such rerun), and is not known if not known in any rerun.
std::array<LayerComparison, 5> MergeLayers(
    const std::vector<std::array<LayerComparison, 5>>& reruns);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_FACTS_H_
