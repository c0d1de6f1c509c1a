// The metrics of runs and of their family: their values and decisions.
//
// Role: turns records into the types of compare/metrics. Pure.
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

// The seeds of a run as one text: runs with equal seeds are no independent units. Empty if none is
// recorded: then every run is a unit, and its reruns are draws of their own.
std::string SeedsOf(const Manifest& manifest);

// The recorded metrics of a run, and the identity of its draw.
struct RecordedMetrics {
  std::string run_id;
  std::string configuration;  // ConfigurationKey
  std::string seeds;          // SeedsOf
  std::vector<Metric> metrics;
};
RecordedMetrics RecordedMetricsOf(const Manifest& manifest);

// The recorded values of a family's metrics, by configuration: the basis of its noise. And the
// moved tags of its images.
class Family {
 public:
  explicit Family(const std::vector<Manifest>& members);
  explicit Family(const std::vector<RecordedMetrics>& members);
  // By configuration one value per unit, the mean of its runs.
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

// A run and its compared reruns; the envelope outlives the call.
struct ComparedRun {
  RecordedMetrics recorded;
  std::vector<ReportedMetrics> reruns;
  const Envelope* envelope = nullptr;  // effect of rounding on its configuration; may be none
};
ComparedRun ComparedRunOf(const Manifest& manifest, const std::vector<Evidence>& compared,
                          const Envelope* envelope = nullptr);

struct DecidedMetrics {
  // One list per run, in the order of its record; empty without a compared rerun.
  std::vector<std::vector<MetricDecision>> runs;
  // Over the runs with seeds, by their paired differences; empty if fewer than 3 seeds were rerun.
  std::vector<MetricDecision> family;
  std::vector<std::size_t> apart;  // places of the runs that moved on their own
};

// `runs`: of one configuration. With recorded seeds a run is compared with its own record and with
// the others' differences (compare/metrics/paired.h). Without them its reruns are compared with all
// recorded runs of the configuration (compare/metrics/decision.h). The variance prior comes from
// the family's other configurations.
DecidedMetrics DecideMetrics(const std::vector<ComparedRun>& runs, const Family& family);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_JUDGE_DECIDE_METRICS_H_
