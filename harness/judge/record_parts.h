// Parts of manifests and evidence in the types of compare/: checkpoints, curves, configuration.
// With facts_of.h the bridge from records to comparison. Reads bytes only through OpenRecorded.
#ifndef RHARNESS_HARNESS_JUDGE_RECORD_PARTS_H_
#define RHARNESS_HARNESS_JUDGE_RECORD_PARTS_H_

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "compare/compare_checkpoints.h"
#include "compare/curves/series.h"
#include "compare/facts.h"
#include "harness/base/result.h"
#include "harness/records/manifest/manifest.h"

namespace rharness {

// A recorded checkpoint by its digests alone. Errors: integrity when the list of tensors and the
// root digest contradict each other.
Result<RecordedCheckpoint> RecordedFrom(const Artifact& artifact);

// What was recorded as loaded with the tensors.
std::vector<PartDigest> PartDigestsOf(const Artifact& artifact);

// The same with its bytes, if there are any at `at`; else adds a line to `notes`. Errors:
// integrity, also when kept bytes can no longer be read.
Result<RecordedCheckpoint> OpenRecorded(const Artifact& artifact,
                                        const std::optional<std::filesystem::path>& at,
                                        const std::vector<std::string>& strip_prefixes,
                                        std::vector<std::string>* notes);

std::vector<CurveSeries> CurvesOf(const std::vector<Curve>& curves);

// Facts that a drill replays, and that two independent runs may not share: hyperparameters,
// command, determinism flags, sources of randomness.
void AddConfiguration(const Manifest& manifest, std::vector<Fact>* facts);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_JUDGE_RECORD_PARTS_H_
