// The metrics of runs and of their family: the values that they decide by, and the decisions.
//
// Role: turns records into what compare/metrics understands. Pure.
#ifndef RHARNESS_HARNESS_JUDGE_DECIDE_METRICS_H_
#define RHARNESS_HARNESS_JUDGE_DECIDE_METRICS_H_

#include <map>
#include <string>
#include <vector>

#include "compare/metrics/decision.h"
#include "harness/judge/envelope.h"
#include "harness/judge/image_tags.h"
#include "harness/records/manifest/evidence.h"
#include "harness/records/manifest/manifest.h"

namespace rharness {

// The seeds of a run as one text: runs with equal ones are no independent units. Empty where none
// is recorded: then every run is a unit, and its reruns are draws of their own.
std::string SeedsOf(const Manifest& manifest);

// The metrics that a run has on record, and what says which draw they are.
struct RecordedMetrics {
  std::string run_id;
  std::string configuration;  // ConfigurationKey
  std::string seeds;          // SeedsOf
  std::vector<Metric> metrics;
};
RecordedMetrics RecordedMetricsOf(const Manifest& manifest);

// The recorded values of a family's metrics, by configuration: what its noise is known from. And
// which tags of its images moved.
class Family {
 public:
  explicit Family(const std::vector<Manifest>& members);
  explicit Family(const std::vector<RecordedMetrics>& members);
  // By configuration one value a unit, the mean of its runs.
  using ByConfiguration = std::map<std::string, std::vector<double>>;
  // Values of one metric; empty when no member has it.
  const ByConfiguration& Values(const std::string& metric) const;
  const std::vector<TagMove>& tag_moves() const { return tag_moves_; }

 private:
  void Add(const std::vector<RecordedMetrics>& members);

  std::map<std::string, ByConfiguration> values_;  // by metric name
  std::vector<TagMove> tag_moves_;
};

// What a run reported, by metric.
using ReportedMetrics = std::map<std::string, double>;

// A run and its reruns that were compared; the envelope outlives the call.
struct ComparedRun {
  RecordedMetrics recorded;
  std::vector<ReportedMetrics> reruns;
  const Envelope* envelope = nullptr;  // how far rounding carries its configuration; may be none
};
ComparedRun ComparedRunOf(const Manifest& manifest, const std::vector<Evidence>& compared,
                          const Envelope* envelope = nullptr);

struct DecidedMetrics {
  // One list a run, in the order of its record; empty without a compared rerun.
  std::vector<std::vector<MetricDecision>> runs;
  // Of the runs with seeds, by their paired differences; empty where fewer than 3 seeds were
  // rerun.
  std::vector<MetricDecision> family;
  std::vector<std::size_t> apart;  // places of the runs that moved on their own
};

// `runs`: of one configuration. Where seeds are recorded a run is held to its own record and to
// what the others did (compare/metrics/paired.h). Where they are not, its reruns are held to all
// recorded runs of the configuration (compare/metrics/decision.h). The variance prior comes from
// the family's other configurations.
DecidedMetrics DecideMetrics(const std::vector<ComparedRun>& runs, const Family& family);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_JUDGE_DECIDE_METRICS_H_
