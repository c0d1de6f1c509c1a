// What differs between the nodes and the ranks of one run.
#include "harness/records/manifest/gang.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace rharness {
namespace {

constexpr std::size_t kMostDifferences = 32;

// Every member of an environment by its path: "hardware.gpu_driver", "software.glibc".
using Flat = std::map<std::string, std::string>;

void Flatten(const Json& json, const std::string& path, Flat* out) {
  if (json.IsArray()) {
    const auto& values = json.AsArray();
    for (std::size_t i = 0; i < values.size(); ++i) {
      Flatten(values[i], fmt::format("{}[{}]", path, i), out);
    }
    return;
  }
  if (json.kind() != Json::Kind::kObject) {
    (*out)[path] = json.kind() == Json::Kind::kString ? json.AsString() : json.Dump();
    return;
  }
  for (const auto& [name, value] : json.AsObject()) {
    Flatten(value, path.empty() ? name : path + "." + name, out);
  }
}

// What names a board or its place, and the memory that a kernel leaves free: no two nodes agree.
bool IsOfOneMachine(std::string_view path) {
  constexpr std::array<std::string_view, 3> kEnds = {".uuid", ".bus_id", "hardware.memory_bytes"};
  return std::ranges::any_of(kEnds, [&](std::string_view end) { return path.ends_with(end); });
}

constexpr std::string_view kPackagesPath = "packages.";

// Without what one task of a node may have used and that of another not.
Flat Flattened(Environment environment) {
  Flat all;
  for (const auto& [manager, list] : environment.packages) {
    for (const auto& [name, package] : list) {
      all[fmt::format("{}{}.{}", kPackagesPath, manager, name)] =
          package.digest.empty() ? package.version : package.version + " " + package.digest;
    }
  }
  environment.packages.clear();
  Flatten(ToJson(environment), "", &all);
  std::erase_if(all, [](const auto& entry) { return IsOfOneMachine(entry.first); });
  return all;
}

// Paths with other values. Packages that one side alone has are none: it lists what it saw.
std::vector<std::string> Differing(const Flat& here, const Flat& there) {
  std::vector<std::string> paths;
  Flat all = here;
  all.insert(there.begin(), there.end());
  for (const auto& [path, value] : all) {
    const auto a = here.find(path);
    const auto b = there.find(path);
    const bool both = a != here.end() && b != there.end();
    if (both ? a->second != b->second : !path.starts_with(kPackagesPath)) paths.push_back(path);
  }
  return paths;
}

bool IsSame(const SeenLibrary& a, const SeenLibrary& b) {
  return a.path == b.path && a.build_id == b.build_id && a.version == b.version &&
         a.size_bytes == b.size_bytes;
}

bool AreSame(const std::vector<SeenLibrary>& a, const std::vector<SeenLibrary>& b) {
  return std::ranges::equal(a, b, IsSame);
}

class Differences {
 public:
  void Add(const std::string& where, Layer layer, const std::string& what, const std::string& here,
           const std::string& there, std::string_view other) {
    if (findings_.size() == kMostDifferences) return;
    const auto shown = [](const std::string& value) { return value.empty() ? "absent" : value; };
    findings_.push_back({.code = "nodes_differ",
                         .layer = layer,
                         .subject = fmt::format("{} on {}", what, where),
                         .observed = shown(here),
                         .limit = shown(there),
                         .rule = {},
                         .message = fmt::format("{} has {} {}; {} has {}", where, what, shown(here),
                                                other, shown(there))});
  }
  std::vector<Finding> Take() { return std::move(findings_); }

 private:
  std::vector<Finding> findings_;
};

void AddNode(const std::string& where, const Flat& here, const Flat& there, Differences* out) {
  const auto in = [](const Flat& flat, const std::string& path) {
    const auto found = flat.find(path);
    return found == flat.end() ? std::string() : found->second;
  };
  for (const std::string& path : Differing(here, there)) {
    const Layer layer = path.starts_with("hardware.") ? Layer::kHardware : Layer::kEnvironment;
    out->Add(where, layer, path, in(here, path), in(there, path), "node 0");
  }
}

std::string InWords(const SeenLibrary& library) {
  return library.build_id.empty() ? fmt::format("{} bytes", library.size_bytes)
                                  : "build id " + library.build_id;
}

// A library that one rank alone mapped proves nothing: libraries are sampled.
void AddLibraries(const std::string& where, const std::vector<SeenLibrary>& here,
                  const std::vector<SeenLibrary>& there, std::string_view other, Differences* out) {
  for (const SeenLibrary& library : here) {
    const auto same = std::ranges::find_if(there, [&](const SeenLibrary& one) {
      return library.soname.empty() ? one.path == library.path : one.soname == library.soname;
    });
    if (same == there.end() || IsSame(library, *same)) continue;
    const std::string name = library.soname.empty() ? library.path : library.soname;
    out->Add(where, Layer::kEnvironment, name, InWords(library), InWords(*same), other);
  }
}

bool IsSeen(const std::vector<SeenTask>& tasks, std::size_t node) {
  return std::ranges::any_of(tasks, [node](const SeenTask& task) {
    return task.observation && !task.observation->means.empty() &&
           static_cast<std::size_t>(task.node) == node;
  });
}

}  // namespace

GangParts PartsOf(const std::vector<SeenNode>& nodes, const std::vector<SeenTask>& tasks) {
  GangParts parts;
  Flat head;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    GangNode& part = parts.nodes.emplace_back(GangNode{.host = nodes[i].host, .environment = {}});
    Environment environment = nodes[i].environment;
    // What no process was seen to use is not known.
    if (i > 0 && IsSeen(tasks, 0) && !IsSeen(tasks, i)) {
      environment.packages = nodes[0].environment.packages;
      environment.python = nodes[0].environment.python;
    }
    Flat flat = Flattened(environment);
    if (i == 0) {
      head = std::move(flat);
    } else if (!Differing(flat, head).empty()) {
      part.environment = std::move(environment);
    }
  }
  const Observation none;
  const Observation& first = tasks.empty() || !tasks[0].observation ? none : *tasks[0].observation;
  for (const SeenTask& task : tasks) {
    GangRank& rank = parts.ranks.emplace_back();
    rank.node = task.node;
    rank.outcome = task.outcome;
    if (!task.observation || task.observation->means.empty() || &*task.observation == &first) {
      continue;
    }
    if (task.observation->seeds != first.seeds) rank.seeds = task.observation->seeds;
    if (task.observation->flags != first.flags) rank.flags = task.observation->flags;
    if (task.observation->nccl != first.nccl) rank.nccl = task.observation->nccl;
    if (task.observation->kernels != first.kernels) rank.kernels = task.observation->kernels;
    if (!AreSame(task.observation->libraries, first.libraries)) {
      rank.libraries = task.observation->libraries;
    }
  }
  return parts;
}

std::vector<Finding> DifferencesWithin(const GangParts& parts, GangStart start,
                                       const Environment& head,
                                       const std::optional<Observation>& first) {
  Differences out;
  const Flat there = Flattened(head);
  for (std::size_t i = 1; i < parts.nodes.size(); ++i) {
    const GangNode& node = parts.nodes[i];
    if (!node.environment) continue;
    AddNode(fmt::format("node {} ({})", i, node.host), Flattened(*node.environment), there, &out);
  }
  for (std::size_t i = 1; first && i < parts.ranks.size(); ++i) {
    const GangRank& rank = parts.ranks[i];
    const auto node = static_cast<std::size_t>(rank.node);
    const std::string host = node < parts.nodes.size() ? parts.nodes[node].host : "";
    const bool of_node = start == GangStart::kOnce;
    const std::string where = host.empty() ? fmt::format("{} {}", of_node ? "node" : "rank", i)
                              : of_node    ? fmt::format("node {} ({})", i, host)
                                           : fmt::format("rank {} on {}", i, host);
    const char* const other_side = of_node ? "node 0" : "rank 0";
    if (rank.libraries) AddLibraries(where, *rank.libraries, first->libraries, other_side, &out);
    const auto add = [&](const auto& values, const auto& others, Layer layer, const char* of) {
      for (const auto& [name, value] : values) {
        const auto other = others.find(name);
        if (other == others.end() || other->second == value) continue;
        out.Add(where, layer, of + name, value, other->second, other_side);
      }
    };
    if (rank.flags) add(*rank.flags, first->flags, Layer::kRandomness, "");
    if (rank.nccl) add(*rank.nccl, first->nccl, Layer::kEnvironment, "NCCL's ");
  }
  return out.Take();
}

}  // namespace rharness
