// Sentences out of a manifest.
#include "harness/trust/audit/run_facts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <utility>

#include "harness/records/manifest/lineage.h"
#include "reports/text.h"

namespace rharness {
namespace {

constexpr std::size_t kMostListed = 40;

// "." is the folder of --root: a record does not have its place.
std::string RepositoryWords(const std::string& repository) {
  if (repository.empty()) return "";
  if (repository == ".") return "the repository at the root, whose address is not recorded, ";
  return repository + ", ";
}

std::string CodeWords(const Code& code) {
  std::string words =
      code.commit.empty()
          ? std::string("no commit is recorded")
          : fmt::format("{}commit {}", RepositoryWords(code.repository), code.commit);
  if (code.dirty) {
    words += fmt::format(", with changes that nobody committed (diff sha256 {}, {})",
                         code.diff_sha256.empty() ? "not recorded" : code.diff_sha256,
                         code.kept_diff_sha256.empty() ? "not kept" : "kept");
  }
  if (!code.files.empty()) {
    words += fmt::format("; {} by hash", Counted(code.files.size(), "file"));
  }
  return words;
}

std::string ImageWords(const Image& image) {
  if (image.kind == ImageKind::kHost) return "none: it ran on the host";
  if (image.kind != ImageKind::kOci) {
    return fmt::format("{} {}, {}", NameIn(kImageKindNames, image.kind), image.location,
                       image.digest);
  }
  return fmt::format("{}/{}{}@{}", image.registry, image.repository,
                     image.tag.empty() ? "" : ":" + image.tag,
                     image.digest.empty() ? "no digest" : image.digest);
}

std::string DataWords(const DataItem& item) {
  std::string words =
      item.sha256.empty()
          ? fmt::format("no sha256{}{}", item.other_digest.empty() ? "" : ", ", item.other_digest)
          : fmt::format("sha256 {}", item.sha256);
  words += fmt::format(", {}", FormatBytes(item.size_bytes));
  const std::string& from = item.source.empty() ? item.location : item.source;
  if (!from.empty()) words += ", from " + from;
  if (item.made_by) words += ", made by " + InWords(*item.made_by);
  return words;
}

template <class Map>
std::string PairsWords(const Map& map, std::string (*value)(const typename Map::mapped_type&)) {
  std::vector<std::string> parts;
  for (const auto& [name, one] : map) {
    if (parts.size() == kMostListed) break;
    parts.push_back(fmt::format("{}={}", name, value(one)));
  }
  std::string words = fmt::format("{}", fmt::join(parts, ", "));
  if (map.size() > parts.size()) words += fmt::format(" and {} more", map.size() - parts.size());
  return words;
}

std::string NumberWords(const std::int64_t& number) { return std::to_string(number); }
std::string JsonWords(const Json& json) { return json.Dump(); }
std::string TextWords(const std::string& text) { return text; }

std::string MetricWords(const Metric& metric) {
  std::string words = FormatNumber(metric.value);
  if (metric.primary) words += ", primary";
  if (metric.margin) words += fmt::format(", margin {}", FormatNumber(*metric.margin));
  if (!metric.evaluated_on.empty()) words += fmt::format(", on '{}'", metric.evaluated_on);
  return words;
}

// What a run was seen to read that its record does not declare.
void AddInputs(const std::vector<SeenInput>& inputs, std::vector<AuditFact>* facts) {
  for (std::size_t i = 0; i < std::min(inputs.size(), kMostListed); ++i) {
    facts->push_back({"also read " + inputs[i].path,
                      fmt::format("{}, {}, seen as it ran, and declared by nobody",
                                  inputs[i].sha256.empty() ? "too large to be hashed in passing"
                                                           : "sha256 " + inputs[i].sha256,
                                  FormatBytes(inputs[i].size_bytes))});
  }
  if (inputs.size() > kMostListed) {
    facts->push_back({"also read", fmt::format("{} more", inputs.size() - kMostListed)});
  }
}

void AddLibraries(const std::vector<SeenLibrary>& libraries, std::vector<AuditFact>* facts) {
  std::vector<std::string> foreign;
  for (const SeenLibrary& one : libraries) {
    if (one.manager.empty()) foreign.push_back(one.path);
  }
  if (foreign.empty()) return;
  const std::size_t all = foreign.size();
  foreign.resize(std::min(all, kMostListed));
  facts->push_back(
      {"also loaded",
       fmt::format("not from a known package: {}{}", fmt::join(foreign, ", "),
                   all > foreign.size() ? fmt::format(" and {} more", all - foreign.size()) : "")});
}

void AddSeen(const std::optional<Observation>& seen, std::vector<AuditFact>* facts) {
  if (!seen || !seen->inputs) {
    facts->push_back({"also read", "not known: nothing looked at what it read while it ran"});
  } else {
    AddInputs(*seen->inputs, facts);
  }
  if (!seen) return;
  AddLibraries(seen->libraries, facts);
  for (const std::string& one : seen->unseen) facts->push_back({"not seen", one});
}

}  // namespace

std::string HardwareWords(const Hardware& hardware) {
  std::map<std::string, std::size_t> gpus;
  for (const Gpu& gpu : hardware.gpus) ++gpus[gpu.model];
  std::vector<std::string> parts;
  for (const auto& [model, count] : gpus) parts.push_back(fmt::format("{} {}", count, model));
  if (!hardware.gpu_driver.empty()) parts.push_back("driver " + hardware.gpu_driver);
  if (!hardware.cpu.model.empty()) {
    parts.push_back(fmt::format("{} ({} cores)", hardware.cpu.model, hardware.cpu.logical_cores));
  }
  if (hardware.memory_bytes > 0) parts.push_back(FormatBytes(hardware.memory_bytes));
  return parts.empty() ? "not recorded" : fmt::format("{}", fmt::join(parts, ", "));
}

std::string SoftwareWords(const Environment& environment) {
  return PairsWords(environment.software, TextWords);
}

std::vector<AuditFact> RunFacts(const Manifest& manifest) {
  std::vector<AuditFact> facts = {
      {"made",
       fmt::format("{} to {} ({})", FormatTime(manifest.started), FormatTime(manifest.ended),
                   FormatDuration(Seconds(manifest.duration_seconds)))},
      {kAuditCommand, manifest.command.empty()
                          ? "not recorded"
                          : fmt::format("{}", fmt::join(manifest.command, " "))},
      {"code", CodeWords(manifest.code)},
      {"image", ImageWords(manifest.image)},
  };
  const auto add = [&](std::string name, std::string value) {
    if (!value.empty()) facts.push_back({std::move(name), std::move(value)});
  };
  for (std::size_t i = 0; i < std::min(manifest.data.size(), kMostListed); ++i) {
    add("data " + manifest.data[i].name, DataWords(manifest.data[i]));
  }
  if (manifest.data.size() > kMostListed) {
    add("data", fmt::format("and {} more", manifest.data.size() - kMostListed));
  }
  if (manifest.data.empty()) add("data", "none recorded");
  AddSeen(manifest.observation, &facts);
  add("seeds", manifest.seeds.empty() ? "none recorded" : PairsWords(manifest.seeds, NumberWords));
  add("hyperparameters", PairsWords(manifest.hyperparameters, JsonWords));
  add("hardware", HardwareWords(manifest.environment.hardware));
  add("software", SoftwareWords(manifest.environment));
  for (const auto& [manager, list] : manifest.environment.packages) {
    add(manager + " packages", FormatCount(list.size()));
  }
  std::string scope = manifest.determinism.scope;
  std::ranges::replace(scope, '_', ' ');  // "hardware_class"
  add("declared", fmt::format("{}, holds for the same {}", manifest.determinism.declared, scope));
  for (const Metric& metric : manifest.metrics) add("metric " + metric.name, MetricWords(metric));
  for (const Artifact& artifact : manifest.artifacts) {
    add(artifact.role, fmt::format("{}, sha256 {}, {}", artifact.path, artifact.sha256,
                                   FormatBytes(artifact.size_bytes)));
  }
  if (manifest.origin) {
    add("imported from", fmt::format("{} {}, as {}", manifest.origin->kind, manifest.origin->source,
                                     manifest.origin->id));
  }
  return facts;
}

}  // namespace rharness
