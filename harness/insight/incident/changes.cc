// Separates changes from seeds; see changes.h.
#include "harness/insight/incident/changes.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/records/manifest/manifest.h"
#include "reports/history_summary.h"

namespace rharness {
namespace {

bool IsSeedFact(const FactDifference& one) {
  const bool seed = one.key.starts_with("seed.") || one.key.starts_with("seed_set.");
  // One that a side alone has was given up or forgotten: a change.
  return seed && one.recorded && one.observed;
}

// The two commands are of one configuration: they differ in the runs' seeds only.
bool CommandsDifferInSeedsAlone(const Manifest& a, const Manifest& b) {
  Manifest then = a;
  then.hyperparameters.clear();
  Manifest now = then;
  now.command = b.command;
  now.seeds = b.seeds;
  return ConfigurationKey(then) == ConfigurationKey(now);
}

bool HyperparametersDifferInSeedsAlone(const Manifest& a, const Manifest& b) {
  Manifest then = a;
  then.command.clear();
  Manifest now = then;
  now.hyperparameters = b.hyperparameters;
  now.seeds = b.seeds;
  return ConfigurationKey(then) == ConfigurationKey(now);
}

void Settle(LayerComparison* layer) {
  if (!layer->differences.empty() || layer->state != LayerState::kDiffers) return;
  layer->state = layer->not_known.empty() ? LayerState::kSame : LayerState::kPartlyKnown;
}

KnownChange TurnOf(const IncidentFacts& in, const VerdictChange& broke) {
  const auto& verdicts = in.run_history.verdicts;
  return {.between = ChangeBetween::kDrills,
          .layers = broke.layers,
          .source = fmt::format("history: where drills {} and {} reran {}",
                                verdicts.at(broke.before).drill_id,
                                verdicts.at(broke.after).drill_id, in.run.run_id)};
}

}  // namespace

bool SeedsDiffer(const IncidentFacts& in) {
  if (!in.comparison) return false;
  return std::ranges::any_of(in.comparison->layers, [](const LayerComparison& layer) {
    return std::ranges::any_of(layer.differences, IsSeedFact);
  });
}

std::array<LayerComparison, 5> LayersBeyondSeeds(const IncidentFacts& in) {
  std::array<LayerComparison, 5> layers = in.comparison->layers;
  const bool command = CommandsDifferInSeedsAlone(*in.good, in.run);
  const bool parameters = HyperparametersDifferInSeedsAlone(*in.good, in.run);
  for (LayerComparison& layer : layers) {
    std::erase_if(layer.differences, [&](const FactDifference& one) {
      return IsSeedFact(one) || (command && one.key == "command") ||
             (parameters && one.key.starts_with("hyperparameter."));
    });
    Settle(&layer);
  }
  return layers;
}

bool SeedsAloneDiffer(const IncidentFacts& in) {
  return SeedsDiffer(in) && WordsOf(LayersBeyondSeeds(in)).empty();
}

// Different seeds give different results: a cause based on them says nothing.
std::vector<Cause> CausesBeyondSeeds(const IncidentFacts& in) {
  std::vector<Cause> causes = in.comparison->causes;
  if (!SeedsDiffer(in)) return causes;
  const auto layers = LayersBeyondSeeds(in);
  const auto rests_on_a_fact = [&](const std::string& evidence) {
    return std::ranges::any_of(layers, [&](const LayerComparison& layer) {
      return std::ranges::any_of(layer.differences, [&](const FactDifference& one) {
        return evidence.starts_with(one.key + ": ");
      });
    });
  };
  std::erase_if(causes, [&](const Cause& cause) {
    return std::ranges::none_of(cause.evidence, rests_on_a_fact);
  });
  return causes;
}

std::optional<KnownChange> ChangeOf(const IncidentFacts& in) {
  const RunOutlook outlook = Summarize(in.run_history);
  if (outlook.broke && in.run_history.changes.at(*outlook.broke).known) {
    return TurnOf(in, in.run_history.changes.at(*outlook.broke));
  }
  if (outlook.first_bad && in.run_history.from_record) {
    return KnownChange{.between = ChangeBetween::kRecord,
                       .layers = *in.run_history.from_record,
                       .source = fmt::format(
                           "history: where drill {} reran {}, beside its record",
                           in.run_history.verdicts.at(*outlook.first_bad).drill_id, in.run.run_id)};
  }
  if (outlook.first_bad || !in.comparison) return std::nullopt;
  return KnownChange{.between = ChangeBetween::kRuns,
                     .layers = LayersBeyondSeeds(in),
                     .source = "comparison of the two records"};
}

}  // namespace rharness
