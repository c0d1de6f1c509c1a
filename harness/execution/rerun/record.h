// Recording: runs a command and makes the manifest for reruns of it.
//
// Role: the effects behind `rharness record`; the manifest itself is built by a pure function.
// Incomplete records are not refused here: admission reports them.
#ifndef RHARNESS_HARNESS_EXECUTION_RERUN_RECORD_H_
#define RHARNESS_HARNESS_EXECUTION_RERUN_RECORD_H_

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "harness/base/subprocess.h"
#include "harness/execution/rerun/kept_files.h"
#include "harness/records/manifest/kernel_families.h"
#include "harness/records/manifest/manifest.h"

namespace rharness {

inline constexpr char kFindMetrics[] = "auto";
inline constexpr std::size_t kMostFoundInputs = 1'000'000;

struct Recording;

// Where the processes of a run make their notes.
struct NotesAt {
  std::filesystem::path path;  // not there yet; empty: in a temporary folder
  // False: only processes that another node's command starts here make any.
  bool starts_command = true;
};

// What the user says about the run.
struct RecordRequest {
  std::string run_id;
  std::string family;
  Image image;  // for a file: its location, and its digest if stated
  // Name and path, for a table also kind and source; the rest is looked up.
  std::vector<DataItem> data;
  std::vector<Artifact> artifacts;  // role and path; the rest is looked up after the run
  std::string metrics_path;     // a log, or a folder with one; kFindMetrics: found after the run
  std::string metrics_kind;     // the expected kind (run_log.h); empty: any
  std::string metrics_step;     // the name of its step; empty: a known one
  std::vector<Metric> metrics;  // declarations; values come from the run
  std::map<std::string, MadeBy> made_by;  // by the name of data, which need not be in `data`
  std::map<std::string, std::int64_t> seeds;
  std::vector<std::string> rng_sources;  // beyond those that have seeds
  std::map<std::string, Json> hyperparameters;
  Determinism determinism;
  std::set<std::string> variables;      // recorded beside the watched ones
  std::vector<std::string> code_files;  // relative to the current folder
  Resources resources;                  // timeout_seconds is enforced
  std::vector<std::string> probe_families;
  // List of kernels that the command launched, for FamiliesOfKernels, relative to the current
  // folder; read after the run. Its families are added to probe_families; a kernel of unknown
  // family makes the run depend on all. Without it: of the kernels that were observed.
  std::string kernel_list;
  std::vector<std::string> command;
  bool observe = true;         // see observed_run.h
  bool python_hooks = false;   // and in each Python
  bool kernels = false;        // and in each CUDA driver
  std::filesystem::path keep;  // artifacts are copied below it; empty: not kept
  // Folder for lock files and the diff of a changed tree (kept_files.h); empty: none.
  std::filesystem::path kept;
  bool keep_diff = true;        // of files that git knows
  bool keep_untracked = false;  // and of untracked files
  std::filesystem::path root;   // folders below it are recorded relative to it; may be empty
  bool find = false;            // what is not stated above is found (record_find.h)
  // Of a task of several (record_gang.h): whether it measures what all of them write, and what is
  // called before and after its command; may be empty.
  bool measures = true;
  NotesAt notes;
  std::function<void()> before_command;
  std::function<void(Recording*)> after_command;
};

// What was found rather than stated.
struct FoundFacts {
  std::string family;
  std::map<std::string, std::int64_t> seeds;
  std::vector<std::string> rng_sources;
  std::vector<Metric> metrics;      // declarations
  std::size_t artifacts = 0;        // that are found
  std::vector<FieldOrigin> fields;  // one for each guess
};

// Observations before, during and after the run.
struct Recording {
  std::vector<std::string> command;  // as a rerun starts it; empty: as requested
  std::string working_directory;     // relative to the code's root
  Code code;
  std::vector<DataItem> data;  // as hashed before the run
  std::map<std::string, std::uint64_t>
      newest;  // versions of tables before it, by their data's names
  std::string packages_sha256;
  Image image;                  // the requested one, completed from its file if it is one
  bool image_was_here = false;  // its file, before the run
  Environment environment;      // with the packages available to the command
  std::optional<Observation> observation;
  WallTime started{};
  WallTime ended{};
  Seconds duration{0};
  Outcome outcome;
  std::string metrics_path;  // the request's, or what was found
  RunMetrics metrics;
  std::map<std::string, double> item_means;  // by score, of items; metrics, too
  std::optional<UnreadMembers> unread_metrics;
  std::optional<KernelFamilies> kernels;
  std::vector<Artifact> artifacts;
  std::vector<std::string> changed_inputs;   // one sentence each
  std::vector<std::string> missing_outputs;  // missing or unreadable ones, one sentence each
  std::vector<std::string> remarks;          // one sentence each
  std::map<std::string, std::string> lock_files;
  KeptFiles to_keep;  // files that the manifest's writer must write first
  std::string kept;   // their folder, as a location; empty: nothing
  FoundFacts found;
};

// Pure. Metrics: those declared, in that order, then the others of the run by name; a declared one
// without a value is omitted. Sources of randomness: those with seeds, then the others. Notes: all
// sentences of the recording, and the command's failure.
Manifest BuildManifest(const RecordRequest& request, const Recording& recording);

// Captures code, data, environment; runs the command in the current folder with this process's
// environment, stdout and stderr (stdin is /dev/null); hashes inputs again; measures outputs. An
// output that the run did not write counts as missing. A failing command is no Error. Errors, all
// before the command starts: invalid_input for a request that would make no readable manifest,
// not_found and io for inputs. Later there is none: a file that cannot be read or kept then is a
// sentence in the recording.
Result<Recording> RecordRun(const RecordRequest& request,
                            const std::function<bool()>& should_cancel = {});

}  // namespace rharness

#endif  // RHARNESS_HARNESS_EXECUTION_RERUN_RECORD_H_
