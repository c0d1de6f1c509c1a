// What a run leaves to chance, and the switches that were in force, as facts.
#include "harness/judge/chance_facts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <string_view>
#include <utility>

namespace rharness {
namespace {

void AddFact(Layer layer, std::string key, std::string value, std::vector<Fact>* out) {
  out->push_back({.layer = layer, .key = std::move(key), .value = std::move(value)});
}

}  // namespace

// Draws without a seed, and orders left to chance, are on both sides and compare as equal: they
// make the layer partly unknown.
void AddChance(const Observation& seen, std::vector<Fact>* out) {
  std::vector<std::string> sources;
  for (const auto& [source, values] : seen.seeds) {
    // From the run's own places if there are any: they are more telling than those of packages.
    std::vector<std::string> own, of_packages;
    for (const std::string& value : values) {
      if (!IsDrawn(value)) continue;
      std::string place = PlaceOfDraw(value);
      (place.starts_with(kPackagePlace) ? of_packages : own).push_back(std::move(place));
    }
    if (own.empty() && of_packages.empty()) continue;
    AddFact(Layer::kRandomness, "unseeded." + source,
            fmt::format("{}", fmt::join(own.empty() ? of_packages : own, ", ")), out);
    if (!own.empty() && source != kSystemSource) sources.push_back(source);
  }
  const auto add_order = [&](std::string_view flag, std::string_view of) {
    const auto place = seen.flags.find(std::string(flag));
    if (place == seen.flags.end()) return;
    AddFact(Layer::kRandomness, fmt::format("unordered.{}", of), place->second, out);
  };
  const auto salt = seen.flags.find(std::string(kHashSeedFlag));
  if (salt != seen.flags.end()) {
    add_order(kSetOrderFlag, "sets");
    const bool by_set = salt->second == kSalted && seen.flags.contains(std::string(kSetOrderFlag));
    if (by_set) sources.emplace_back("the order of sets");
  }
  add_order(kWorkerOrderFlag, "workers");
  add_order(kFileTimesFlag, "times");
  for (const auto& [name, count] : seen.nondeterministic) {
    AddFact(Layer::kRandomness, "nondeterministic." + name, "warned", out);
  }
  if (sources.empty()) return;
  out->push_back({.layer = Layer::kRandomness,
                  .key = "chance.",
                  .value = fmt::format("what was left to chance ({})", fmt::join(sources, ", ")),
                  .kind = FactKind::kNotKnown});
}

// `again`: for a rerun, whose variables are all known.
void AddFlags(const Observation& seen, bool again, std::vector<Fact>* out) {
  for (const auto& [name, value] : seen.flags) {
    if (name == kCpusFlag) {
      AddFact(Layer::kHardware, "cpu.available", value, out);
      continue;
    }
    if (name == kChildEndsFlag) {
      out->push_back({.layer = Layer::kEnvironment, .key = "child_ends", .value = value});
      continue;
    }
    if (name == kFileTimesFlag || name == kSetOrderFlag || name == kWorkerOrderFlag ||
        name == kListingFlag)
      continue;
    if (name.starts_with(kUnrecordedFlag)) {
      if (!again) {
        AddFact(Layer::kEnvironment, "unrecorded." + name.substr(kUnrecordedFlag.size()), value,
                out);
      }
      continue;
    }
    if (name.starts_with(kFileOrderFlag)) {
      AddFact(Layer::kData, name, value, out);
      continue;
    }
    const Layer layer = name.ends_with("threads") ? Layer::kEnvironment : Layer::kRandomness;
    AddFact(layer, "flag." + name, value, out);
  }
}

}  // namespace rharness
