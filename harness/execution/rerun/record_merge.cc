// The parts of a recording as one manifest.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "harness/execution/rerun/record_gang.h"
#include "harness/records/manifest/admission.h"

namespace rharness {
namespace {

std::string WhoIs(const RecordedPart& part) {
  return fmt::format("rank {} on {}", part.rank, part.host);
}

void MergeData(const RecordedPart& part, Manifest* manifest) {
  for (const DataItem& item : part.manifest.data) {
    const auto same = std::ranges::find(manifest->data, item.path, &DataItem::path);
    if (same == manifest->data.end()) {
      DataItem added = item;
      if (std::ranges::find(manifest->data, item.name, &DataItem::name) != manifest->data.end()) {
        added.name = fmt::format("{}-rank{}", item.name, part.rank);
      }
      manifest->data.push_back(std::move(added));
    } else if (same->sha256 != item.sha256) {
      manifest->notes.push_back(fmt::format(
          "data '{}' {}: its bytes differ between the nodes: sha256 {} on rank 0, {} on {}",
          item.name, kNotRecorded, same->sha256, item.sha256, WhoIs(part)));
    }
  }
}

void MergeCode(const RecordedPart& part, Manifest* manifest) {
  if (part.manifest.code.commit != manifest->code.commit) {
    manifest->notes.push_back(
        fmt::format("the code of {} {}: it is at commit {}, that of rank 0 at {}", WhoIs(part),
                    kNotRecorded, part.manifest.code.commit, manifest->code.commit));
  }
  for (const CodeFile& file : part.manifest.code.files) {
    const auto same = std::ranges::find(manifest->code.files, file.path, &CodeFile::path);
    if (same == manifest->code.files.end()) {
      manifest->code.files.push_back(file);
    } else if (same->sha256 != file.sha256) {
      manifest->notes.push_back(fmt::format(
          "code file '{}' {}: its bytes differ between the nodes: sha256 {} on rank 0, {} on {}",
          file.path, kNotRecorded, same->sha256, file.sha256, WhoIs(part)));
    }
  }
}

// Only the first task of a node is given the data to hash; the others read them undeclared.
bool IsOfDeclared(const std::string& note, const Manifest& manifest) {
  return std::ranges::any_of(manifest.data, [&](const DataItem& item) {
    return note.starts_with(fmt::format("undeclared input {},", item.path));
  });
}

// What all ranks say is said once.
void MergeNotes(const RecordedPart& part, Manifest* manifest) {
  for (const std::string& note : part.manifest.notes) {
    if (IsOfDeclared(note, *manifest)) continue;
    if (std::ranges::find(manifest->notes, note) != manifest->notes.end()) continue;
    manifest->notes.push_back(note);
  }
  for (const std::string& source : part.manifest.rng_sources) {
    auto& sources = manifest->rng_sources;
    if (std::ranges::find(sources, source) == sources.end()) sources.push_back(source);
  }
}

Environment WithoutRendezvous(Environment environment) {
  std::erase_if(environment.variables,
                [](const auto& variable) { return IsRendezvousVariable(variable.first); });
  return environment;
}

GangParts PartsOfRecord(const TaskPlace& place, const std::vector<RecordedPart>& parts,
                        const Manifest& manifest) {
  std::vector<SeenNode> nodes(static_cast<std::size_t>(place.nodes));
  std::vector<SeenTask> tasks(static_cast<std::size_t>(place.tasks));
  for (SeenNode& node : nodes) node.environment = manifest.environment;
  nodes[0].host = NodeName(ThisMachine());
  tasks[0].observation = manifest.observation;
  for (const RecordedPart& part : parts) {
    SeenTask& task = tasks[static_cast<std::size_t>(part.rank)];
    task.node = part.node;
    task.observation = part.manifest.observation;
    SeenNode& node = nodes[static_cast<std::size_t>(part.node)];
    if (part.node == 0 || !node.host.empty()) continue;
    node.host = part.host;
    node.environment = WithoutRendezvous(part.manifest.environment);
  }
  return PartsOf(nodes, tasks);
}

}  // namespace

void MergeRecords(const TaskPlace& place, const std::vector<RecordedPart>& parts, bool once,
                  Manifest* manifest) {
  manifest->environment = WithoutRendezvous(std::move(manifest->environment));
  Gang gang{.nodes = place.nodes,
            .tasks_per_node = place.tasks_per_node(),
            .start = once                          ? GangStart::kOnce
                     : place.tasks_per_node() == 1 ? GangStart::kPerNode
                                                   : GangStart::kPerTask,
            .workspace = GangWorkspace::kShared,
            .rendezvous = RendezvousNames(ProcessEnvironment()),
            .parts = PartsOfRecord(place, parts, *manifest)};
  for (const RecordedPart& part : parts) {
    const auto& seen = part.manifest.observation;
    if (once && manifest->observation && seen && seen->means.empty()) {
      for (const std::string& what : seen->unseen) {
        manifest->observation->unseen.push_back(fmt::format("on {}: {}", part.host, what));
      }
    }
    if (!part.sees_folder) gang.workspace = GangWorkspace::kLocal;
    MergeData(part, manifest);
    MergeCode(part, manifest);
    MergeNotes(part, manifest);
  }
  for (const Finding& found :
       DifferencesWithin(gang.parts, gang.start, manifest->environment, manifest->observation)) {
    manifest->notes.push_back("the nodes of this run differ: " + found.message);
  }
  manifest->gang = std::move(gang);
}

void DescribeAllocation(const Variables& environment, Manifest* manifest) {
  const int nodes = NodesOfAllocation(environment);
  if (nodes == 0) return;
  Gang gang = manifest->gang.value_or(Gang{.nodes = nodes});
  gang.tasks_per_node = std::max(1, TasksPerNodeOfAllocation(environment));
  gang.rendezvous.clear();
  // What the batch script set; its tasks get the rest from who starts them.
  for (const char* name : {"MASTER_ADDR", "MASTER_PORT"}) {
    if (environment.contains(name)) gang.rendezvous.emplace_back(name);
  }
  if (manifest->observation && gang.parts.nodes.empty()) {
    manifest->observation->unseen.push_back(
        fmt::format("what ran on the other nodes of the allocation of {}", nodes));
  }
  manifest->gang = std::move(gang);
}

}  // namespace rharness
