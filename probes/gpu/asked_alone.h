// A routine that answers many questions at once, asked one at a time if its rows differ.
#ifndef RHARNESS_PROBES_GPU_ASKED_ALONE_H_
#define RHARNESS_PROBES_GPU_ASKED_ALONE_H_

#include <string>

#include "probes/gpu/probe_tools.h"
#include "probes/order/reveal.h"

namespace rharness {

// As RecordTree. When the answers of a batch fit no tree although each repeats, the questions are
// repeated one per launch, and a note says that the tree is that of the first row.
Status RecordTreeOfRows(const ProbeContext& context, const std::string& name, MaskedSum& sum,
                        ProbeResult* result);

}  // namespace rharness

#endif  // RHARNESS_PROBES_GPU_ASKED_ALONE_H_
