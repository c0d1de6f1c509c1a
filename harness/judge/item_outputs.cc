// Kept items of two sides; see item_outputs.h.
#include "harness/judge/item_outputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compare/comparison_predicates.h"
#include "compare/items/kept_items.h"
#include "harness/base/digest.h"
#include "harness/base/files.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMostKeptBytes = std::uint64_t{1} << 30;

Result<EvalItems> LoadKept(const Artifact& artifact, const fs::path& path) {
  ASSIGN_OR_RETURN(const std::string text, ReadFile(path, kMostKeptBytes));
  if (Sha256HexOf(text) != artifact.sha256) {
    return IntegrityError("the kept items have changed", path.string());
  }
  return ParseKeptItems(text, path.string());
}

bool IsOpen(const MetricDecision& metric) { return !IsEqual(metric); }

// Whether a logged metric is the mean of its items on both sides, but for what printing rounds off.
bool IsMeanOf(const MetricDecision& logged, const MetricDecision& items) {
  const auto has = [](const std::vector<double>& values, const std::vector<double>& mean) {
    return mean.size() == 1 && std::ranges::any_of(values, [&](double value) {
             return std::fabs(value - mean[0]) <= 1e-3 * std::max(1.0, std::fabs(mean[0]));
           });
  };
  return has(logged.history, items.history) && has(logged.reruns, items.reruns);
}

}  // namespace

KeptItems LoadKeptItems(const std::vector<Artifact>& artifacts,
                        const std::function<Result<fs::path>(const std::string&)>& locate,
                        std::vector<std::string>* notes) {
  KeptItems kept;
  for (const Artifact& artifact : artifacts) {
    if (artifact.role != kItemsRole || artifact.location.empty()) continue;
    auto path = locate(artifact.location);
    auto items = path.ok() ? LoadKept(artifact, *path) : Result<EvalItems>(path.error());
    if (items.ok()) {
      kept.emplace(artifact.path, std::move(*items));
    } else {
      notes->push_back(fmt::format("items {} are compared by their digest: {}", artifact.path,
                                   items.error().ToString()));
    }
  }
  return kept;
}

ItemOutputs CompareItemOutputs(const KeptItems& a, const KeptItems& b,
                               const std::vector<Metric>& declared) {
  ItemOutputs out;
  std::map<std::string, double> margins;
  for (const Metric& metric : declared) {
    if (metric.margin) margins[metric.name] = *metric.margin;
  }
  for (const auto& [path, items] : a) {
    const auto other = b.find(path);
    if (other == b.end()) continue;
    out.compared.insert(path);
    ItemComparison compared = CompareItems(items, other->second, margins);
    std::ranges::move(compared.decisions, std::back_inserter(out.decisions));
    std::ranges::move(compared.notes, std::back_inserter(out.notes));
    std::ranges::move(compared.facts_a, std::back_inserter(out.facts_a));
    std::ranges::move(compared.facts_b, std::back_inserter(out.facts_b));
  }
  return out;
}

void TakeItemDecisions(const std::vector<MetricDecision>& items,
                       std::vector<MetricDecision>* metrics) {
  for (const MetricDecision& decision : items) {
    const auto same = std::ranges::find(*metrics, decision.name, &MetricDecision::name);
    if (same == metrics->end()) {
      metrics->push_back(decision);
    } else if (IsEqual(*same) || IsMeanOf(*same, decision)) {
      *same = decision;
    } else {
      metrics->push_back(decision);
      metrics->back().name += " (items)";
    }
  }
}

std::vector<MetricDecision> MergeItemDecisions(const std::vector<Comparison>& reruns) {
  std::vector<MetricDecision> merged;
  std::map<std::string, std::pair<int, int>> drifts;  // of how many
  for (const Comparison& rerun : reruns) {
    for (const MetricDecision& decision : rerun.metrics) {
      auto& [drifted, seen] = drifts[decision.name];
      ++seen;
      drifted += decision.verdict == MetricVerdict::kDrifted ? 1 : 0;
      const auto same = std::ranges::find(merged, decision.name, &MetricDecision::name);
      if (same == merged.end()) {
        merged.push_back(decision);
      } else if (same->verdict == MetricVerdict::kWithin &&
                 (decision.verdict != MetricVerdict::kWithin ||
                  (IsOpen(decision) && !IsOpen(*same)))) {
        *same = decision;
      }
    }
  }
  for (MetricDecision& decision : merged) {
    const auto [drifted, seen] = drifts[decision.name];
    if (decision.verdict != MetricVerdict::kDrifted || drifted == seen) continue;
    decision.verdict = MetricVerdict::kInconclusive;
    decision.reason = "not_in_all_reruns";
  }
  return merged;
}

Manifest WithoutItems(Manifest manifest, const std::set<std::string>& compared) {
  std::erase_if(manifest.artifacts, [&](const Artifact& artifact) {
    return artifact.role == kItemsRole && compared.contains(artifact.path);
  });
  return manifest;
}

}  // namespace rharness
