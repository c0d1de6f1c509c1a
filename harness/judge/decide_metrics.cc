// Gathering the values that a metric decision needs: pairs, replicates, and the family's noise.
#include "harness/judge/decide_metrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <string_view>

#include "compare/metrics/paired.h"

namespace rharness {
namespace {

double Variance(const std::vector<double>& values) {
  double mean = 0.0;
  for (const double value : values) mean += value / static_cast<double>(values.size());
  double sum = 0.0;
  for (const double value : values) sum += (value - mean) * (value - mean);
  return sum / static_cast<double>(values.size() - 1);
}

// The prior comes from the other configurations: this one's own runs count on their own.
VariancePrior PriorOf(const Family::ByConfiguration& by_configuration, const std::string& own) {
  std::vector<double> variances;
  std::vector<double> dfs;
  for (const auto& [configuration, values] : by_configuration) {
    if (configuration == own || values.size() < 2) continue;
    variances.push_back(Variance(values));
    dfs.push_back(static_cast<double>(values.size() - 1));
  }
  return FitVariancePrior(variances, dfs);
}

// The finite values of the reruns, NaN for others; and how many did not report it.
std::vector<double> SeenValues(const std::string& metric,
                               const std::vector<ReportedMetrics>& reruns, int* missing) {
  std::vector<double> values;
  for (const ReportedMetrics& reported : reruns) {
    const auto seen = reported.find(metric);
    if (seen == reported.end()) {
      ++*missing;
    } else {
      values.push_back(IsMeasured(seen->second) ? seen->second
                                                : std::numeric_limits<double>::quiet_NaN());
    }
  }
  return values;
}

std::string UnitOf(const Metric& metric) { return metric.unit == "1" ? "" : metric.unit; }

// As the reruns reported them: an infinity stays one.
std::vector<double> ReportedValues(const std::string& metric,
                                   const std::vector<ReportedMetrics>& reruns) {
  std::vector<double> values;
  for (const ReportedMetrics& reported : reruns) {
    const auto seen = reported.find(metric);
    if (seen != reported.end()) values.push_back(seen->second);
  }
  return values;
}

// Against all recorded runs of the configuration: nothing shows which draw a rerun repeats.
MetricDecision DecideUnpaired(const ComparedRun& run, const Metric& metric,
                              const std::vector<double>& recorded, const VariancePrior& prior) {
  MetricInput input{.name = metric.name,
                    .unit = UnitOf(metric),
                    .primary = DecidesVerdict(metric, run.recorded.metrics),
                    .history = recorded,
                    .margin = metric.margin,
                    .quantum = metric.quantum,
                    .prior = prior};
  input.reruns = SeenValues(metric.name, run.reruns, &input.missing);
  MetricDecision decision = DecideMetric(input);
  decision.recorded = metric.value;
  const bool moved = decision.verdict == MetricVerdict::kDrifted ||
                     decision.verdict == MetricVerdict::kNeedsConfirmation;
  const bool equal =
      std::ranges::all_of(input.reruns, [&](double value) { return value == metric.value; });
  if (moved && equal && !input.reruns.empty()) {  // a run equal to its record did not move
    decision.verdict = MetricVerdict::kInconclusive;
    decision.reason = "equal";
  }
  return decision;
}

// One metric of all runs of a configuration.
class Decider {
 public:
  Decider(const std::vector<ComparedRun>& runs, const Family& family)
      : runs_(runs), family_(family), own_(runs.front().recorded.configuration) {
    for (const ComparedRun& run : runs_) {
      auto& places = places_.emplace_back();
      for (std::size_t i = 0; i < run.recorded.metrics.size(); ++i) {
        places.emplace(run.recorded.metrics[i].name, i);
      }
    }
  }

  DecidedMetrics Decide() {
    decided_.runs.resize(runs_.size());
    for (std::size_t i = 0; i < runs_.size(); ++i) {
      if (!runs_[i].reruns.empty()) {
        decided_.runs[i].resize(runs_[i].recorded.metrics.size());
      }
    }
    for (const std::string& metric : Names()) DecideMetric(metric);
    std::ranges::sort(decided_.apart);
    const auto again = std::unique(decided_.apart.begin(), decided_.apart.end());
    decided_.apart.erase(again, decided_.apart.end());
    return std::move(decided_);
  }

 private:
  std::vector<std::string> Names() const {
    std::vector<std::string> names;
    std::set<std::string_view> known;
    for (const ComparedRun& run : runs_) {
      for (const Metric& metric : run.recorded.metrics) {
        if (known.insert(metric.name).second) names.push_back(metric.name);
      }
    }
    return names;
  }

  MetricDecision& Place(std::size_t run, const std::string& name) {
    return decided_.runs[run][places_[run].at(name)];
  }
  const Metric* Find(std::size_t run, const std::string& name) const {
    const auto at = places_[run].find(name);
    return at == places_[run].end() ? nullptr : &runs_[run].recorded.metrics[at->second];
  }

  void DecideMetric(const std::string& name) {
    const Family::ByConfiguration& values = family_.Values(name);
    const auto at = values.find(own_);
    const std::vector<double> recorded = at == values.end() ? std::vector<double>() : at->second;
    const VariancePrior prior = PriorOf(values, own_);
    PairedInput input{.name = name};
    std::vector<std::size_t> owners;
    for (std::size_t i = 0; i < runs_.size(); ++i) {
      const Metric* metric = Find(i, name);
      if (metric == nullptr || runs_[i].reruns.empty()) continue;
      const std::string& seed = runs_[i].recorded.seeds;
      if (seed.empty()) {
        Place(i, name) = DecideUnpaired(runs_[i], *metric, recorded, prior);
        continue;
      }
      if (owners.empty()) input.unit = UnitOf(*metric);
      const bool decides = DecidesVerdict(*metric, runs_[i].recorded.metrics);
      input.primary = owners.empty() ? decides : input.primary && decides;
      input.quantum = std::max(input.quantum, metric->quantum);
      PairedRun run{.recorded = metric->value, .seed = seed, .margin = metric->margin};
      run.reruns = SeenValues(name, runs_[i].reruns, &run.missing);
      if (runs_[i].envelope != nullptr && input.rounding.df <= 0.0) {
        input.rounding = RoundingOf(*runs_[i].envelope, name, input.quantum);
      }
      input.runs.push_back(std::move(run));
      owners.push_back(i);
    }
    if (owners.empty()) return;
    input.seeds = SpreadOfSeeds(recorded, prior, input.quantum);
    Take(name, owners, DecidePaired(input));
  }

  void Take(const std::string& name, const std::vector<std::size_t>& owners,
            PairedDecision paired) {
    for (std::size_t i = 0; i < owners.size(); ++i) {
      MetricDecision& decision = paired.runs[i];
      const Metric& metric = *Find(owners[i], name);
      decision.primary = DecidesVerdict(metric, runs_[owners[i]].recorded.metrics);
      if (decision.primary && decision.reason.find("apart") != std::string::npos) {
        decided_.apart.push_back(owners[i]);
      }
      Place(owners[i], name) = std::move(decision);
    }
    constexpr int kFewest = 3;
    const bool counts = paired.family.pairs + paired.apart >= kFewest;
    if (counts) decided_.family.push_back(std::move(paired.family));
  }

  const std::vector<ComparedRun>& runs_;
  const Family& family_;
  const std::string own_;
  std::vector<std::map<std::string_view, std::size_t>> places_;  // by run, of its metrics by name
  DecidedMetrics decided_;
};

}  // namespace

std::string SeedsOf(const Manifest& manifest) {
  std::string text;
  for (const auto& [source, seed] : manifest.seeds) text += fmt::format("{}={};", source, seed);
  return text;
}

RecordedMetrics RecordedMetricsOf(const Manifest& manifest) {
  return {manifest.run_id, ConfigurationKey(manifest), SeedsOf(manifest), manifest.metrics};
}

ComparedRun ComparedRunOf(const Manifest& manifest, const std::vector<Evidence>& compared,
                          const Envelope* envelope) {
  ComparedRun run{.recorded = RecordedMetricsOf(manifest), .envelope = envelope};
  for (const Evidence& evidence : compared) run.reruns.push_back(evidence.metrics.metrics);
  return run;
}

Family::Family(const std::vector<Manifest>& members) : tag_moves_(FindTagMoves(members)) {
  std::vector<RecordedMetrics> recorded;
  for (const Manifest& member : members) recorded.push_back(RecordedMetricsOf(member));
  Add(recorded);
}

Family::Family(const std::vector<RecordedMetrics>& members) { Add(members); }

void Family::Add(const std::vector<RecordedMetrics>& members) {
  struct Sum {
    double value = 0.0;
    int runs = 0;
  };
  // By metric, configuration and seeds, or by run without seeds.
  std::map<std::string, std::map<std::string, std::map<std::string, Sum>>> units;
  for (const RecordedMetrics& member : members) {
    const std::string unit = member.seeds.empty() ? "run " + member.run_id : member.seeds;
    for (const Metric& metric : member.metrics) {
      Sum& sum = units[metric.name][member.configuration][unit];
      sum.value += metric.value;
      ++sum.runs;
    }
  }
  for (const auto& [metric, configurations] : units) {
    for (const auto& [configuration, sums] : configurations) {
      std::vector<double>& values = values_[metric][configuration];
      for (const auto& [unit, sum] : sums) values.push_back(sum.value / sum.runs);
    }
  }
}

const Family::ByConfiguration& Family::Values(const std::string& metric) const {
  static const ByConfiguration kNone;
  const auto found = values_.find(metric);
  return found == values_.end() ? kNone : found->second;
}

DecidedMetrics DecideMetrics(const std::vector<ComparedRun>& runs, const Family& family) {
  if (runs.empty()) return {};
  DecidedMetrics decided = Decider(runs, family).Decide();
  // As the reruns reported them: an infinity stays one.
  for (std::size_t i = 0; i < runs.size(); ++i) {
    for (MetricDecision& decision : decided.runs[i]) {
      decision.reruns = ReportedValues(decision.name, runs[i].reruns);
    }
  }
  return decided;
}

}  // namespace rharness
