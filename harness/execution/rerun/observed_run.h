// One run under observation: what `record` and a rerun ask of harness/records/observe, and what
// they make of the answer.
#ifndef RHARNESS_HARNESS_EXECUTION_RERUN_OBSERVED_RUN_H_
#define RHARNESS_HARNESS_EXECUTION_RERUN_OBSERVED_RUN_H_

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "harness/base/files.h"
#include "harness/execution/launch/job.h"
#include "harness/execution/rerun/record.h"
#include "harness/execution/rerun/ticket.h"
#include "harness/execution/rerun/workspace.h"
#include "harness/records/manifest/evidence.h"
#include "harness/records/observe/image_observer.h"
#include "harness/records/observe/observed_findings.h"
#include "harness/records/observe/observer.h"

namespace rharness {

// Whether a rerun's processes are this one's own, on this host or in the pod that is its image.
bool RunsAmongUs(const Ticket& ticket);

class ObservedRun {
 public:
  // `folder`: the current one, canonical. Of the recording code and data are there.
  ObservedRun(const RecordRequest& request, const Recording& recording,
              const std::filesystem::path& folder);
  // A rerun is looked at as its record was, and not at all where that has no observation. A pod is
  // its image: a rerun in it is looked at as one on this host.
  ObservedRun(const Ticket& ticket, const Workspace& workspace);

  void AddTo(std::map<std::string, std::string>* environment);
  // Of a rerun, whose job is complete. A container gets three folders more (door.h), and a program
  // that becomes the command; nothing of its declared environment changes here.
  void AddTo(Job* job);
  // After the run: its packages, for the environment, and what was seen.
  void Collect(Footprint footprint, WallTime started, Environment* environment,
               std::optional<Observation>* observation);

  // The same of a rerun, before its container is taken away. A command that could not be started in
  // its image is told in the outcome.
  void Collect(ProcessResult* result, WallTime started, Evidence* evidence);
  // After its container was. Whether the engine did not start it, for whatever reason: then it is
  // to be started again, and gets nothing of all this.
  bool GivesUp(Evidence* evidence);

 private:
  void WatchImage(const Job& job);
  bool MakeFolder();

  std::optional<ScopedTempDir> folder_;  // for the notes
  std::optional<Observer> observer_;
  std::optional<LookRequest> image_;  // what to look for in a container
  std::unique_ptr<ImageObserver> look_;
  bool is_host_ = true;
  std::filesystem::path given_;  // of a rerun: the Python environment that it is to run in
  std::filesystem::path base_;   // the code's root, for the command
  std::optional<std::filesystem::path> recorded_in_;  // its folder; none: of a rerun
  bool has_entered_ = false;
};

// `before`: OwnMemoryKills before the run. That more were killed since is a remark, of a run that
// ended with 0: others of its control group may have been meant, and the run went on without one.
void NoteMemoryKills(std::optional<std::uint64_t> before, Recording* out);

// What was seen against what was declared, as sentences of a recording; what its remarks say
// already is left out.
void AddFindings(const RecordRequest& request, Recording* recording);
// As remarks of evidence, which decide nothing.
void AddFindings(const Manifest& manifest, Evidence* evidence);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_EXECUTION_RERUN_OBSERVED_RUN_H_
