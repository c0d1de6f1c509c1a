// The rules of a gang that no single member shows.
#include <fmt/format.h>

#include <algorithm>

#include "harness/base/json_reader.h"
#include "harness/base/strict_member_reader.h"
#include "harness/records/manifest/gang_members.h"

namespace rharness {

void CheckMembers(JsonReader& reader, const GangParts& parts) {
  const auto is_out = [&](const GangRank& rank) {
    return static_cast<std::size_t>(rank.node) >= parts.nodes.size();
  };
  const auto out = std::ranges::find_if(parts.ranks, is_out);
  if (out == parts.ranks.end()) return;
  reader.Fail(fmt::format("rank {} is on node {}; expected one of {} nodes",
                          out - parts.ranks.begin(), out->node, parts.nodes.size()),
              "ranks");
}

void CheckMembers(JsonReader& reader, const Gang& gang) {
  if (gang.nodes < 1 || gang.nodes > kMostGangNodes) {
    return reader.Fail(fmt::format("expected 1 to {} nodes", kMostGangNodes), "nodes");
  }
  if (gang.tasks_per_node < 1 || gang.tasks_per_node > kMostGangTasks / gang.nodes) {
    return reader.Fail(
        fmt::format("expected 1 task or more, and at most {} in all", kMostGangTasks),
        "tasks_per_node");
  }
  const auto nodes = gang.parts.nodes.size();
  if (nodes != 0 && nodes != static_cast<std::size_t>(gang.nodes)) {
    reader.Fail(fmt::format("has {} nodes; expected {}, or none", nodes, gang.nodes), "parts");
  }
}

}  // namespace rharness
