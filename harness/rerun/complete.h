// Completing: what an imported record does not say, put in afterwards.
//
// Role: the effects behind `rharness complete`; intake/blockers.h names what is missing.
#ifndef RHARNESS_HARNESS_RERUN_COMPLETE_H_
#define RHARNESS_HARNESS_RERUN_COMPLETE_H_

#include <filesystem>
#include <string>

#include "harness/rerun/record.h"

namespace rharness {

// What the user says now. Of `said` what is empty stays as it is in the manifest; data, code files
// and artifacts are looked up in the current folder and hashed as they are today.
struct Completion {
  RecordRequest said;
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
// artifact by its path. A metric that is declared must have a value in the record.
// Errors: invalid_input for what no manifest can hold, for content that is another one than the
// SHA-256 in the record, and where nothing is said; not_found and io for what is to be hashed.
Result<Manifest> CompleteManifest(Manifest manifest, const Completion& completion, WallTime now);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_RERUN_COMPLETE_H_
