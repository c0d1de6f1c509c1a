// All nodes of a gang on one machine.
#include <exception>
#include <thread>
#include <vector>

#include "harness/base/files.h"
#include "harness/base/log.h"
#include "harness/execution/rerun/gang_side.h"
#include "harness/execution/rerun/rerun.h"

namespace rharness {

Result<RerunResult> CarryOutHere(const Ticket& ticket, const RerunContext& context) {
  if (!IsGang(ticket)) return CarryOut(ticket, context);
  // Of a drill that was killed in this attempt: nobody else works here.
  RETURN_IF_ERROR(RemoveTree(GangFolder(context.folder, ticket)));
  for (int node = 0; node < ticket.manifest.gang->nodes; ++node) {
    RETURN_IF_ERROR(
        TakeNode(GangFolder(context.folder, ticket), node, ticket.manifest.gang->nodes));
  }
  std::vector<std::jthread> others;
  for (int node = 1; node < ticket.manifest.gang->nodes; ++node) {
    others.emplace_back([&, node] {
      RerunContext mine = context;
      mine.node = node;
      mine.on_step = {};
      // Nothing may leave a thread. Node 0 misses the beat of one that ends so.
      try {
        const auto ended = CarryOut(ticket, mine);
        if (!ended.ok()) LogWarning(ticket.job() + ": " + ended.error().ToString());
      } catch (const std::exception& failure) {
        LogWarning(ticket.job() + ": " + failure.what());
      }
    });
  }
  Result<RerunResult> result = CarryOut(ticket, context);
  others.clear();  // waits for them
  if (!result.ok()) return result;
  // A node that came late writes once more where node 0 has tidied up.
  RemoveGangFolder(GangFolder(context.folder, ticket));
  return result;
}

}  // namespace rharness
