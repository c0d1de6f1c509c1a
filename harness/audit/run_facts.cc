// Sentences out of a manifest.
#include "harness/audit/run_facts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <utility>

#include "harness/manifest/lineage.h"
#include "reports/text.h"

namespace rharness {
namespace {

constexpr std::size_t kMostListed = 40;

std::string CodeWords(const Code& code) {
  std::string words = code.commit.empty()
                          ? std::string("no commit is recorded")
                          : fmt::format("{}{}commit {}", code.repository,
                                        code.repository.empty() ? "" : ", ", code.commit);
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
  if (image.kind == "host") return "none: it ran on the host";
  if (image.kind != "oci") {
    return fmt::format("{} {}, {}", image.kind, image.location, image.digest);
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

}  // namespace

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
  add("seeds", manifest.seeds.empty() ? "none recorded" : PairsWords(manifest.seeds, NumberWords));
  add("hyperparameters", PairsWords(manifest.hyperparameters, JsonWords));
  add("hardware", HardwareWords(manifest.environment.hardware));
  add("software", PairsWords(manifest.environment.software, TextWords));
  for (const auto& [manager, list] : manifest.environment.packages) {
    add(manager + " packages", FormatCount(list.size()));
  }
  add("declared", fmt::format("{}, holds for the {}", manifest.determinism.declared,
                              manifest.determinism.scope));
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
