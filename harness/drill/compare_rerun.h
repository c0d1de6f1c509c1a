// Manifest beside evidence: one rerun's comparison, and one run's over all its reruns.
//
// Role: turns records into what compare/ understands. Reads original weights where they were kept.
#ifndef RHARNESS_HARNESS_DRILL_COMPARE_RERUN_H_
#define RHARNESS_HARNESS_DRILL_COMPARE_RERUN_H_

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "compare/verdict.h"
#include "harness/drill/workspace.h"
#include "harness/manifest/evidence.h"
#include "harness/manifest/manifest.h"

namespace rharness {

// Facts in five layers, and every declared checkpoint, metric and curve bit for bit. A rerun with
// an obstacle is kNotComparable (with its layer) or kInfra; one that did not succeed, or whose
// declared outputs are missing or unreadable, is kFailed; one whose inputs changed under it,
// kNotComparable.
RerunComparison CompareRerun(const Manifest& manifest, const Evidence& evidence,
                             const Places& places, const std::filesystem::path& drill_folder);

// The recorded values of a family's metrics, by configuration: what its noise is known from.
class Family {
 public:
  explicit Family(const std::vector<Manifest>& members);
  using ByConfiguration = std::map<std::string, std::vector<double>>;
  // Values of one metric; empty when no member has it.
  const ByConfiguration& Values(const std::string& metric) const;

 private:
  std::map<std::string, ByConfiguration> values_;  // by metric name
};

// The metric decisions of one run: its compared reruns against the recorded runs of the same
// configuration, with a variance prior from the family's other configurations.
std::vector<MetricDecision> DecideMetrics(const Manifest& manifest, const Family& family,
                                          const std::vector<Evidence>& compared);

// Sentences for a report's "what was compared": "weights model.safetensors: 4 tensors, equal".
std::vector<std::string> DescribeCompared(const RerunComparison& rerun);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_DRILL_COMPARE_RERUN_H_
