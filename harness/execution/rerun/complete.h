// Completes an imported record with data that its source does not have.
//
// Role: the effects behind `rharness import --complete`; intake/blockers.h names what is missing.
#ifndef RHARNESS_HARNESS_EXECUTION_RERUN_COMPLETE_H_
#define RHARNESS_HARNESS_EXECUTION_RERUN_COMPLETE_H_

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "harness/execution/rerun/record.h"

namespace rharness {

// The user's additions. Empty members of `said` stay as in the manifest; data, code files and
// artifacts are looked up in the current folder and hashed as they are today.
struct Completion {
  RecordRequest said;
  std::string run_id;  // another name than the importer's
  // Where the run writes outputs that the record has elsewhere, path by path: a file, or a folder
  // for everything in it ("." for all).
  std::vector<std::pair<std::string, std::string>> outputs;
  std::string repository;
  std::string commit;
  std::string working_directory;
  WallTime started{};  // {}: not said
  WallTime ended{};
  bool here = false;         // environment and hardware of this machine, if none is recorded
  bool determinism = false;  // whether said.determinism is set
  bool otherwise = false;    // a field was set by other means, and no more is required
};

// The manifest with the additions, each a hint in its origin with the day: nobody has seen that it
// was so during the run. Data match by name, else by path, else they are added; an artifact by its
// path; outputs get their paths before anything else. A declared metric must have a value in the
// record. Errors: invalid_input for what no manifest can hold, outputs that the record does not
// have or two at one path, for content with another SHA-256 than recorded, and without any
// addition; not_found and io for files to hash.
Result<Manifest> CompleteManifest(Manifest manifest, const Completion& completion, WallTime now);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_EXECUTION_RERUN_COMPLETE_H_
