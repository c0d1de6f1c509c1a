// Completing: what an imported record does not say, put in afterwards.
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

// What the user says now. Of `said` what is empty stays as it is in the manifest; data, code files
// and artifacts are looked up in the current folder and hashed as they are today.
struct Completion {
  RecordRequest said;
  std::string run_id;  // another name than the importer's
  // Where the run writes what the record has elsewhere, path by path: a file, or a folder, of which
  // everything in it is meant ("." for all).
  std::vector<std::pair<std::string, std::string>> outputs;
  std::string repository;
  std::string commit;
  std::string working_directory;
  WallTime started{};  // {}: not said
  WallTime ended{};
  bool here = false;         // environment and hardware of this machine, where none is recorded
  bool determinism = false;  // whether said.determinism was said
  bool otherwise = false;    // something was put in by other means, and nothing more need be said
};

// The manifest with what was said, each such field a hint in its origin that gives the day: nobody
// has seen that it was so when the run ran. Data are matched by name, else by path, else added; an
// artifact by its path; outputs get their paths before anything else. A metric that is declared
// must have a value in the record. Errors: invalid_input for what no manifest can hold, outputs
// that the record does not have or two at one path, for content that is another one than the
// SHA-256 in the record, and where nothing is said; not_found and io for what is to be hashed.
Result<Manifest> CompleteManifest(Manifest manifest, const Completion& completion, WallTime now);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_EXECUTION_RERUN_COMPLETE_H_
