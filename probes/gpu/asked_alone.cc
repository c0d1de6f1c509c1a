// Questions one a launch.
#include "probes/gpu/asked_alone.h"

#include "probes/order/one_at_a_time.h"

namespace rharness {
namespace {

void Merge(ProbeResult from, ProbeResult* into) {
  into->trees.merge(from.trees);
  into->unstable.insert(into->unstable.end(), from.unstable.begin(), from.unstable.end());
  for (const auto& [name, count] : from.counts) into->counts[name] += count;
  into->notes.insert(into->notes.end(), from.notes.begin(), from.notes.end());
}

}  // namespace

Status RecordTreeOfRows(const ProbeContext& context, const std::string& name, MaskedSum& sum,
                        ProbeResult* result) {
  ProbeResult together;
  RETURN_IF_ERROR(RecordTree(context, name, sum, &together));
  if (!together.trees.empty() || !together.unstable.empty() || sum.max_batch() == 1) {
    Merge(std::move(together), result);
    return {};
  }
  ProbeResult alone;
  OneAtATime one(sum);
  RETURN_IF_ERROR(RecordTree(context, name, one, &alone));
  if (!alone.trees.empty()) {
    for (const std::string& note : together.notes) {
      alone.notes.push_back("the tree is the first row's: " + note);
    }
  }
  Merge(std::move(alone), result);
  return {};
}

}  // namespace rharness
