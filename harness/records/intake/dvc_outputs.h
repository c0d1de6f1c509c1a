// Outputs of a stage: artifacts, metrics and curves.
//
// Role: private to DVC's importer.
#ifndef RHARNESS_HARNESS_RECORDS_INTAKE_DVC_OUTPUTS_H_
#define RHARNESS_HARNESS_RECORDS_INTAKE_DVC_OUTPUTS_H_

#include <string>

#include "harness/records/intake/dvc_run.h"

namespace rharness {

inline constexpr std::size_t kMostDvcArtifacts = 10'000;  // of one run; further ones are a remark
inline constexpr std::size_t kMostDvcPlots = 1'000;       // files of one directory of plots

// The place of a stage; folders are below the repository's.
struct DvcStagePlace {
  std::string folder;  // base of its paths
  std::string base;    // the run's working directory: `folder`, or "" if a path leaves it
  std::string lock;    // "a/dvc.lock"
  std::string where;   // "a/dvc.lock stages.train": the stated origin of values
  std::string commit;  // that may have its files; may be empty
};

// The grade of a result, found or not, at `where`.
Worth WorthOf(const std::string& where, const Result<DvcContent>& content);

void AddDvcOutputs(const DvcStageRun& from, const DvcRepository& repository,
                   const DvcStagePlace& place, ImportedRun* run);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_RECORDS_INTAKE_DVC_OUTPUTS_H_
