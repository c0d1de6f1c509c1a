// Manifest beside evidence: one rerun's comparison, and the values that a run's metrics decide by.
//
// Role: turns records into what compare/ understands. Reads weights where they were kept.
#ifndef RHARNESS_HARNESS_DRILL_COMPARE_RERUN_H_
#define RHARNESS_HARNESS_DRILL_COMPARE_RERUN_H_

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "compare/comparison.h"
#include "harness/drill/workspace.h"
#include "harness/manifest/evidence.h"
#include "harness/manifest/manifest.h"

namespace rharness {

// Facts in five layers and, of a rerun that was carried out, every declared checkpoint and curve;
// not judged yet, and without metrics, which all reruns of a run decide together. `ends` has the
// one rerun: with an obstacle it is kNotComparable (with its layer) or kInfra; if it did not
// succeed, or its declared outputs are missing or unreadable, kFailed; if its inputs changed under
// it, kNotComparable. Checkpoints are compared by their bytes where the digests differ and the
// recorded bytes were kept; else by digests, and a note says why. Kept bytes that are no longer
// themselves are told in `damage` as well; where the machine cannot read them the rerun is kInfra.
Comparison CompareRerun(const Manifest& manifest, const Evidence& evidence, const Places& places,
                        const std::filesystem::path& drill_folder,
                        std::vector<std::string>* damage);

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

}  // namespace rharness

#endif  // RHARNESS_HARNESS_DRILL_COMPARE_RERUN_H_
