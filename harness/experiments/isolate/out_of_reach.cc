// What cannot be set, and why; see out_of_reach.h.
#include "harness/experiments/isolate/out_of_reach.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>

#include "harness/judge/facts_of.h"
#include "harness/judge/gang_facts.h"
#include "reports/short_digest.h"
#include "reports/text.h"

namespace rharness {
namespace {

constexpr std::size_t kMostTold = 3;
constexpr std::string_view kInput = "input.";

struct Unreachable {
  std::string_view prefix;
  std::string_view why;
};
constexpr Unreachable kUnreachable[] = {
    {kGangNodeOrder,
     "is the scheduler's: with --dispatch slurm, --axis node:NAME,NAME sets it, unless the command "
     "starts its ranks itself; on this machine all nodes are one"},
    {kGangNodeSet,
     "is the scheduler's: with --dispatch slurm, --axis node:NAME,NAME sets it; on this machine "
     "all nodes are one"},
    {kInput,
     "nothing declares it, so that no copy of it is kept: declared by --data or --code-file, it "
     "could be set"},
    {"package.",
     "is the host's: an image that has it, or for Python --axis python:FOLDER, would set it"},
    {"software.", "is the host's, or follows from what is set"},
    {"cpu.", "is the machine's: with --dispatch slurm, --axis node:NAME sets it"},
    {"gpu.", "is the machine's: with --dispatch slurm, --axis node:NAME sets it"},
    {"variable.", "is one node's: --axis 'env:NAME=VALUE on node N' sets it there"},
    {"seed.",
     "no argument of the command was found to pass it: --axis argument:NAME=VALUE sets it"},
};
constexpr std::string_view kFollows = "follows from something else, which is not recorded";
constexpr std::string_view kOfTheFamily =
    "runs of the family differ in their seeds: it makes another run, and no drift";

std::vector<FactDifference> DifferencesOf(const Manifest& recorded, const Manifest& drifted) {
  std::vector<Fact> now = FactsOf(drifted);
  // A rerun shows everything that it read; for another run of the family that is not known.
  if (drifted.run_id == recorded.run_id && drifted.observation && drifted.observation->inputs) {
    now.push_back({.layer = Layer::kData,
                   .key = std::string(kInput),
                   .value = "undeclared inputs",
                   .kind = FactKind::kComplete});
  }
  std::vector<Fact> then = FactsOf(recorded);
  GangFacts parts = FactsOfGang(recorded, drifted);
  std::ranges::move(parts.recorded, std::back_inserter(then));
  std::ranges::move(parts.observed, std::back_inserter(now));
  std::vector<FactDifference> differences;
  for (LayerComparison& layer : CompareFacts(then, now)) {
    std::ranges::move(layer.differences, std::back_inserter(differences));
  }
  return differences;
}

// For people: a file appears by its path.
std::string NameOf(const FactDifference& difference) {
  if (!difference.key.starts_with(kInput)) return difference.key;
  return "input " + difference.key.substr(kInput.size());
}

void AddFact(const FactDifference& difference, std::string_view why, std::vector<Axis>* axes) {
  Axis axis{.kind = AxisKind::kFact, .layer = difference.layer, .name = NameOf(difference)};
  axis.values = {{.text = difference.recorded.value_or("(absent)")},
                 {.text = difference.observed.value_or("(absent)")}};
  axis.cannot_be_set = why;
  axes->push_back(std::move(axis));
}

std::optional<std::int64_t> WholeNumber(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

bool NamesSeed(std::string_view name) {
  std::string lower;
  for (const char c : name) lower += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return lower.find("seed") != std::string::npos;
}

// Behind the last '=': "seed=3" has 3.
std::string_view ValueIn(std::string_view text) {
  const auto equals = text.rfind('=');
  return equals == text.npos ? text : text.substr(equals + 1);
}

// One name of both, with these two values.
bool AreSeeds(const Manifest& recorded, const Manifest& drifted, std::int64_t then,
              std::int64_t now) {
  return std::ranges::any_of(recorded.seeds, [&](const auto& seed) {
    const auto other = drifted.seeds.find(seed.first);
    return seed.second == then && other != drifted.seeds.end() && other->second == now;
  });
}

bool IsSeedAxis(const Axis& axis, const Manifest& recorded, const Manifest& drifted) {
  if (axis.kind == AxisKind::kFact) return axis.name.starts_with("seed.");
  if (axis.kind != AxisKind::kArgument && axis.kind != AxisKind::kVariable) return false;
  const auto then = WholeNumber(ValueIn(axis.values.front().text));
  const auto now = WholeNumber(ValueIn(axis.values.back().text));
  if (!then || !now) return false;
  return NamesSeed(axis.subject) || AreSeeds(recorded, drifted, *then, *now);
}

}  // namespace

void AddOutOfReach(const Manifest& recorded, const Manifest& drifted, std::vector<Axis>* axes) {
  const bool seeds_by_command = recorded.command != drifted.command;
  const bool python_is_set =
      std::ranges::any_of(*axes, [](const Axis& axis) { return axis.kind == AxisKind::kPython; });
  std::vector<FactDifference> differences = DifferencesOf(recorded, drifted);
  std::erase_if(differences, [&](const FactDifference& one) {
    return python_is_set &&
           (one.key == "software.python" || one.key.starts_with("package.python."));
  });
  for (const FactDifference& difference : differences) {
    for (const Unreachable& one : kUnreachable) {
      if (!difference.key.starts_with(one.prefix)) continue;
      if (one.prefix == "seed." && seeds_by_command) continue;
      // Those of the whole run are axes that can be set.
      if (one.prefix == "variable." && difference.key.find(kOnNode) == std::string::npos) continue;
      AddFact(difference, one.why, axes);
    }
  }
  if (!axes->empty()) return;
  for (const FactDifference& difference : differences) AddFact(difference, kFollows, axes);
}

void SetSeedsAside(const Manifest& recorded, const Manifest& drifted, std::vector<Axis>* axes) {
  const bool siblings = recorded.run_id != drifted.run_id && recorded.family == drifted.family;
  if (!siblings || recorded.family.empty()) return;
  for (Axis& axis : *axes) {
    if (!IsSeedAxis(axis, recorded, drifted)) continue;
    axis.of_family = true;
    axis.cannot_be_set = kOfTheFamily;
  }
}

std::string OutOfReachWords(const std::vector<Axis>& axes) {
  std::vector<const Axis*> told;
  for (const Axis& axis : axes) {
    if (!axis.cannot_be_set.empty()) told.push_back(&axis);
  }
  std::stable_partition(told.begin(), told.end(),
                        [](const Axis* axis) { return !axis->of_family; });
  std::vector<std::string> words;
  for (std::size_t i = 0; i < std::min(told.size(), kMostTold); ++i) {
    words.push_back(fmt::format("{} {} -> {}", SafeText(told[i]->name, 200),
                                SafeText(ShortDigest(told[i]->values.front().text), 80),
                                SafeText(ShortDigest(told[i]->values.back().text), 80)));
  }
  std::string text = fmt::format("{}", fmt::join(words, "; "));
  if (told.size() > kMostTold) text += fmt::format("; and {} more", told.size() - kMostTold);
  return text;
}

}  // namespace rharness
