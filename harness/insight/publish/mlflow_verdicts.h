// A drill's verdict on each run, in the form for an MLflow server.
//
// Role: pure. Between a report and the requests that write it (mlflow_writer.h).
#ifndef RHARNESS_HARNESS_INSIGHT_PUBLISH_MLFLOW_VERDICTS_H_
#define RHARNESS_HARNESS_INSIGHT_PUBLISH_MLFLOW_VERDICTS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/records/manifest/manifest.h"
#include "reports/model.h"

namespace rharness {

inline constexpr char kVerdictTag[] = "rharness.verdict";
inline constexpr char kDrillTag[] = "rharness.drill";
inline constexpr char kDecidedTag[] = "rharness.decided";
inline constexpr char kReproducedMetric[] = "rharness.reproduced";

struct MlflowVerdict {
  std::string run_id;     // of the manifest
  std::string mlflow_id;  // of the run at the server
  Verdict verdict = Verdict::kInconclusive;
  WallTime decided{};
  std::vector<std::pair<std::string, std::string>> tags;  // in the order in which they are set
  // 1 or 0; empty if the verdict shows neither that the run reproduced nor that it drifted.
  std::optional<double> reproduced;
  std::int64_t timestamp_ms = 0;  // of the metric: when the drill ended, since 1970
};

// The id at MLflow of a run imported from there; empty for all else, and for an id with other
// characters than letters, digits, '-' and '_'.
std::string MlflowIdOf(const Manifest& manifest);

// One per run of the report in `ids` (run_id to the id at MLflow), in the report's order. The tag
// has the decisive reasons, 4,900 bytes at most: MLflow 2 refuses 5,000.
std::vector<MlflowVerdict> MlflowVerdictsOf(const Report& report, std::string_view report_sha256,
                                            const std::map<std::string, std::string>& ids);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_INSIGHT_PUBLISH_MLFLOW_VERDICTS_H_
