// Places for outputs that a command, or a recorded variable, names by absolute paths:
// `--output_dir /scratch/run7`.
//
// Role: a part of a recording that finds (record_find.h). A rerun would write over what is there,
// where no rerun is looked at: so the record names such a place by a path below the run's folder.
#ifndef RHARNESS_HARNESS_EXECUTION_RERUN_RECORD_PLACES_H_
#define RHARNESS_HARNESS_EXECUTION_RERUN_RECORD_PLACES_H_

#include <filesystem>
#include <string>
#include <vector>

#include "harness/execution/rerun/record.h"
#include "harness/execution/rerun/record_outputs.h"

namespace rharness {

struct NamedPlace {
  std::filesystem::path place;  // absolute; a folder or a file
  std::string in_rerun;         // relative to the run's folder
};

// After the run: absolute paths of the command and of recorded variables to which, or below which,
// the run wrote: below the root of the code, of which a rerun has its own; or elsewhere if it read
// nothing there that was there before. The outermost of several. None for a run in an image, and
// none of the temporary folder itself. `folder`: the run's own.
std::vector<NamedPlace> FindNamedPlaces(const RecordRequest& request,
                                        const std::filesystem::path& folder,
                                        const Recording& recording);

// Of files elsewhere that the run read and wrote over (Observation::overwritten), those of the
// command and its variables; others are caches of its libraries.
void KeepStartsOfCommand(const RecordRequest& request, Recording* out);

// The checkpoints in the first of the places outside of `folder` that has any, as FindOutputs
// finds them, by absolute paths.
std::vector<Artifact> FindOutputsAt(const std::vector<NamedPlace>& places,
                                    const std::filesystem::path& folder, Recording* out);
// The log in the first of these that has one, where MeasureMetrics found none below `folder`.
void MeasureMetricsAt(const RecordRequest& request, const std::vector<NamedPlace>& places,
                      const std::filesystem::path& folder, Recording* out);

// Files that the run wrote below `folder` or in one of the places and that nothing compares, as
// what was not found. After the outputs were measured.
void NoteUncompared(const std::vector<NamedPlace>& places, const std::filesystem::path& folder,
                    Recording* out);

// Once all is measured and kept: gives outputs, command and variables the paths of a rerun, for
// each place with an output that is compared, or that the run made. A remark on each other.
void TakePlacesOfRerun(const RecordRequest& request, const std::vector<NamedPlace>& places,
                       const std::filesystem::path& folder, Recording* out);

// Of what is older than the run in places outside of `folder`, by its path in a rerun: for
// RenumberVersions.
OutputIdentities OlderAt(const std::vector<NamedPlace>& places, const std::filesystem::path& folder,
                         WallTime started);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_EXECUTION_RERUN_RECORD_PLACES_H_
