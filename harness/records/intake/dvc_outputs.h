// What a stage wrote: artifacts, metrics and curves.
//
// Role: private to the files of DVC's importer.
#ifndef RHARNESS_HARNESS_RECORDS_INTAKE_DVC_OUTPUTS_H_
#define RHARNESS_HARNESS_RECORDS_INTAKE_DVC_OUTPUTS_H_

#include <string>

#include "harness/records/intake/dvc_run.h"

namespace rharness {

inline constexpr std::size_t kMostDvcArtifacts = 10'000;  // of one run; more are a remark
inline constexpr std::size_t kMostDvcPlots = 1'000;       // files of one directory of plots

// Where a stage stands; folders are below the repository's.
struct DvcStagePlace {
  std::string folder;  // that its paths are relative to
  std::string base;    // the run's working directory: `folder`, or "" where a path leaves it
  std::string lock;    // "a/dvc.lock"
  std::string where;   // "a/dvc.lock stages.train": what values are said to be from
  std::string commit;  // that may have files of it; may be empty
};

// The worth of what was found, or not, at `where`.
Worth WorthOf(const std::string& where, const Result<DvcContent>& content);

void AddDvcOutputs(const DvcStageRun& from, const DvcRepository& repository,
                   const DvcStagePlace& place, ImportedRun* run);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_RECORDS_INTAKE_DVC_OUTPUTS_H_
