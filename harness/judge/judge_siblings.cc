// Finds siblings, by what changed around the runs and by their traits.
#include "harness/judge/judge_siblings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "compare/fact_order.h"
#include "harness/judge/judge_run.h"

namespace rharness {
namespace {

std::string Lowered(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

// Hyperparameters and "--name value", "--name=value" and "--name" of the command; names in lower
// case without dashes in front.
std::vector<std::pair<std::string, std::string>> SettingsOf(const Manifest& manifest) {
  std::vector<std::pair<std::string, std::string>> settings;
  for (const auto& [name, value] : manifest.hyperparameters) {
    settings.emplace_back(Lowered(name),
                          value.kind() == Json::Kind::kString ? value.AsString() : value.Dump());
  }
  const std::vector<std::string>& command = manifest.command;
  for (std::size_t i = 0; i < command.size(); ++i) {
    if (!command[i].starts_with("--")) continue;
    const std::string text = command[i].substr(2);
    const std::size_t equals = text.find('=');
    const bool has_next = i + 1 < command.size() && !command[i + 1].starts_with("--");
    const std::string next = has_next ? command[i + 1] : "";
    settings.emplace_back(Lowered(text.substr(0, equals)),
                          equals == text.npos ? next : text.substr(equals + 1));
  }
  return settings;
}

// "dropout", "no dropout" or empty if not known.
std::string DropoutOf(const std::vector<std::pair<std::string, std::string>>& settings) {
  bool said = false;
  for (const auto& [name, value] : settings) {
    if (name.find("dropout") == name.npos) continue;
    char* end = nullptr;
    const double rate = std::strtod(value.c_str(), &end);
    if (value.empty() || *end != '\0') continue;
    if (rate > 0.0) return "dropout";
    said = true;
  }
  return said ? "no dropout" : "";
}

std::string PrecisionOf(const std::vector<std::pair<std::string, std::string>>& settings) {
  std::set<std::string> precisions;
  for (const auto& [name, value] : settings) {
    const bool names_it = name.find("precision") != name.npos || name.find("dtype") != name.npos;
    const bool is_one = name == "bf16" || name == "fp16" || name == "fp8" || name == "fp4";
    const std::string said = Lowered(value);
    if (names_it && !value.empty()) precisions.insert(said);
    if (is_one && said != "false" && said != "0") precisions.insert(name);
  }
  return fmt::format("{}", fmt::join(precisions, " "));
}

std::string DeviceOf(const Manifest& manifest) {
  const Hardware& hardware = manifest.environment.hardware;
  return manifest.resources.gpus > 0 && !hardware.gpus.empty() ? hardware.gpus.front().model
                                                               : hardware.cpu.model;
}

// The changes around a run, without those that no run is known to use: one key, and words for it.
struct Change {
  std::string key;
  std::string words;
};
Change ChangeOf(const Manifest& manifest, const Comparison& merged) {
  std::vector<FactDifference> changes;
  for (const Layer layer : {Layer::kEnvironment, Layer::kHardware}) {
    const auto& differences = merged.layers[static_cast<std::size_t>(layer)].differences;
    for (const FactDifference& difference : differences) {
      if (!IsUnusedPackage(difference)) changes.push_back(difference);
    }
  }
  std::ranges::stable_sort(changes, TellsMore);
  Change change{.key = manifest.image.digest + "\n" + DeviceOf(manifest), .words = {}};
  for (const FactDifference& one : changes) {
    change.key += fmt::format("\n{}\t{}\t{}", one.key, one.recorded.value_or("(absent)"),
                              one.observed.value_or("(absent)"));
  }
  if (changes.empty()) return change;
  change.words = fmt::format("{} changed", FactName(changes.front().key));
  if (changes.size() > 1) {
    change.words =
        fmt::format("{} and {} more changed", FactName(changes.front().key), changes.size() - 1);
  }
  return change;
}

// Results on other data, code or images say nothing about this change.
bool MayBeSibling(const Comparison& merged) {
  if (merged.declared_bitwise) return false;
  for (const LayerComparison& layer : merged.layers) {
    for (const FactDifference& difference : layer.differences) {
      if (difference.weight == FactWeight::kIdentity) return false;
    }
  }
  return std::ranges::any_of(
      merged.ends, [](const RerunEnd& end) { return end.state == RerunEnd::State::kCompared; });
}

// The names that distinguish changes or configurations of one drill.
struct Names {
  std::set<std::string> changes;
  std::map<std::string, std::map<std::string, std::string>> first_run;  // family, configuration
};

Sibling SiblingOf(const Names& names, const Change& change, RunState* run) {
  const Manifest& manifest = run->manifest;
  const std::string configuration = ConfigurationKey(manifest);
  const std::string traits = TraitsOf(manifest);
  const auto& configurations = names.first_run.at(manifest.family);
  const std::string where =
      names.changes.size() < 2 || change.words.empty() ? "" : " where " + change.words;
  const std::string with = traits.empty() ? "" : " with " + traits;
  const std::string own = configurations.size() < 2 ? manifest.family
                                                    : fmt::format("{} (as {})", manifest.family,
                                                                  configurations.at(configuration));
  const std::string wide = change.key + "\n\n" + traits;
  return {.comparison = &run->merged,
          .places = {{wide + "\n\n" + manifest.family + "\n\n" + configuration, own + where},
                     {wide + "\n\n" + manifest.family, manifest.family + with + where},
                     {wide, "all families" + with + where}}};
}

}  // namespace

std::string TraitsOf(const Manifest& manifest) {
  const auto settings = SettingsOf(manifest);
  const std::string dropout = DropoutOf(settings);
  const std::string precision = PrecisionOf(settings);
  return dropout + (dropout.empty() || precision.empty() ? "" : ", ") + precision;
}

std::vector<SiblingGroup> MergeAndJudgeSiblings(const std::vector<RunState*>& runs) {
  Names names;
  std::vector<std::pair<RunState*, Change>> members;
  for (RunState* run : runs) {
    std::vector<Comparison> reruns;
    for (const auto& [rerun, comparison] : run->reruns) reruns.push_back(comparison);
    run->merged = MergeReruns(run->manifest, reruns);
    if (!MayBeSibling(run->merged)) continue;
    Change change = ChangeOf(run->manifest, run->merged);
    names.changes.insert(change.key);
    names.first_run[run->manifest.family].emplace(ConfigurationKey(run->manifest),
                                                  run->manifest.run_id);
    members.emplace_back(run, std::move(change));
  }
  std::vector<Sibling> siblings;
  for (const auto& [run, change] : members) siblings.push_back(SiblingOf(names, change, run));
  return JudgeSiblings(siblings, "runs");
}

}  // namespace rharness
