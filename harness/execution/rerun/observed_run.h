// One run under observation: the calls of `record` and of a rerun to harness/records/observe, and
// their use of the results.
#ifndef RHARNESS_HARNESS_EXECUTION_RERUN_OBSERVED_RUN_H_
#define RHARNESS_HARNESS_EXECUTION_RERUN_OBSERVED_RUN_H_

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/files.h"
#include "harness/base/folder_lock.h"
#include "harness/execution/launch/job.h"
#include "harness/execution/rerun/record.h"
#include "harness/execution/rerun/ticket.h"
#include "harness/execution/rerun/workspace.h"
#include "harness/records/manifest/evidence.h"
#include "harness/records/observe/image_observer.h"
#include "harness/records/observe/observed_findings.h"
#include "harness/records/observe/observer.h"

namespace rharness {

// Whether a rerun's processes are visible here: on this host or in the pod that is its image.
bool RunsAmongUs(const Ticket& ticket);

inline constexpr char kNotesPrefix[] = "rharness-observe-";

class ObservedRun {
 public:
  // `folder`: the current one, canonical. The recording has code and data.
  ObservedRun(const RecordRequest& request, const Recording& recording,
              const std::filesystem::path& folder);
  // A rerun is observed in the same way as its record, and not at all if that has no observation. A
  // pod is its image: a rerun in it is observed like one on this host.
  ObservedRun(const Ticket& ticket, const Workspace& workspace, const NotesAt& notes = {});

  void AddTo(std::map<std::string, std::string>* environment);
  // For a rerun, whose job is complete. A container gets three further folders (door.h), and a
  // program that becomes the command; its declared environment is unchanged here.
  void AddTo(Job* job);
  // After the run: its packages, for the environment, and the observation.
  void Collect(Footprint footprint, WallTime started, Environment* environment,
               std::optional<Observation>* observation);

  // What NCCL's log says that it chose, of what the run printed and its files of logs.
  void AddNccl(std::string_view output, WallTime started,
               std::optional<Observation>* observation) const;

  // The same for a rerun, before its container is removed. The outcome reports a command that could
  // not be started in its image.
  void Collect(ProcessResult* result, WallTime started, Evidence* evidence);
  // After its container was removed. Whether the engine did not start it, for any reason: then
  // start it again without observation.
  bool GivesUp(Evidence* evidence);

 private:
  void CollectSeen(ProcessResult* result, WallTime started, Evidence* evidence);
  void WatchImage(const Job& job);
  bool MakeFolder(const NotesAt& notes);

  std::optional<ScopedTempDir> folder_;  // for the notes
  std::optional<FolderLock> lock_;       // of it, unless nodes share it
  std::optional<Observer> observer_;
  std::optional<LookRequest> image_;  // request for a container's observation
  std::unique_ptr<ImageObserver> look_;
  bool is_host_ = true;
  std::filesystem::path given_;              // of a rerun: its Python environment
  std::map<std::string, std::string> nccl_;  // NCCL_DEBUG and NCCL_DEBUG_FILE
  std::filesystem::path command_folder_;
  std::filesystem::path base_;                        // the code's root, for the command
  std::optional<std::filesystem::path> recorded_in_;  // its folder; none for a rerun
  bool has_entered_ = false;
  std::set<std::string> given_variables_;  // names, of the command
  bool is_task_ = false;                   // of several: a rerun makes its rendezvous variables
};

// `before`: OwnMemoryKills before the run. Further kills are a remark, for a run that ended with 0:
// they may have hit other processes of its control group, or the run continued without one of its
// own.
void NoteMemoryKills(std::optional<std::uint64_t> before, Recording* out);

// Observed against declared, as sentences of a recording; leaves out those in its remarks.
void AddFindings(const RecordRequest& request, Recording* recording);
// As remarks of evidence, which decide nothing.
void AddFindings(const Manifest& manifest, Evidence* evidence);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_EXECUTION_RERUN_OBSERVED_RUN_H_
