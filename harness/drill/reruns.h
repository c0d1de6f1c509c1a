// The reruns of one folder: begun, carried out, journalled, and continued by --resume.
//
// Role: shared by a drill, a search for a cause and a game day. They choose the reruns and use the
// evidence.
#ifndef RHARNESS_HARNESS_DRILL_RERUNS_H_
#define RHARNESS_HARNESS_DRILL_RERUNS_H_

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "harness/base/folder_lock.h"
#include "harness/drill/dispatching.h"
#include "harness/drill/drill.h"
#include "harness/drill/journal.h"
#include "harness/drill/settings.h"
#include "harness/drill/substitutes.h"
#include "harness/execution/dispatch/storm_watch.h"

namespace rharness {

// A folder that this process alone works in.
struct WorkFolder {
  FolderLock lock;
  Journal journal;
  JournalContent past;  // of earlier processes; nothing for a new folder
};

// For new work, described by `header` for a resuming process. Errors: those of FolderLock::TakeOwn
// and Journal::Create.
Result<WorkFolder> BeginWorkFolder(const std::filesystem::path& out, const Json& header);
// As an earlier process left it. Errors: not_found if none did; invalid_input for folders of other
// users; those of FolderLock::TakeOwn and Journal::Open.
Result<WorkFolder> ResumeWorkFolder(const std::filesystem::path& out);
// The settings of the journal for this process: places as `given`, and those that may change
// between processes. Errors: those of RefuseOtherSettings and RefuseLinks.
Status ResumeSettings(const DrillOptions& given, DrillSettings* settings);

// The run of a rerun, the places of its data, its variables beside those of the record, and what
// single ranks get.
struct RerunInput {
  Manifest manifest;
  Places places;
  EnvironmentOverrides environment;
  std::vector<RankChange> ranks = {};
};

class Reruns {
 public:
  // `settings` and `hooks` outlive this.
  Reruns(const DrillSettings& settings, const DrillHooks& hooks, Clock* clock, WorkFolder folder);

  // Ends leftover processes of an earlier one, since they must not share the machine; then starts
  // the dispatcher, for these launchers. Errors: those of Substitutes::Load, Journal and
  // Dispatching::Begin.
  Status Begin(const std::vector<std::string>& launchers);

  // Calls `input` when a rerun starts, and for one that an earlier process finished; `take` gets
  // each one's evidence, that of earlier processes first. Reruns stopped before their start are not
  // taken. Damaged reruns of an earlier process are reported in `damage` and repeated.
  using InputOf = std::function<RerunInput(const PlannedRerun&)>;
  using Take = std::function<void(const PlannedRerun&, Evidence)>;
  Status Execute(const std::vector<PlannedRerun>& reruns, const InputOf& input, const Take& take);

  // By a person, or because no started rerun can end well.
  bool IsStopped() const;
  MonotonicTime Elapsed() const { return clock_.Monotonic() - began_; }  // since Begin
  // On substitutes, launchers, and the reason why no more reruns were started.
  std::vector<std::string> Notes() const;
  const std::vector<std::string>& damage() const { return damage_; }

 private:
  void EndLeftovers() const;
  Result<std::optional<Evidence>> Finished(const PlannedRerun& rerun, const InputOf& input);
  Ticket TicketOf(const PlannedRerun& rerun, const Start& start, RerunInput input) const;
  void Show(Progress progress) const;

  const DrillSettings& settings_;
  const DrillOptions& options_;
  const DrillHooks& hooks_;
  Clock& clock_;
  WorkFolder folder_;
  MonotonicTime began_{0};
  int done_ = 0;  // reruns of queues that have ended, and of earlier processes
  StormWatch storm_;
  Substitutes substitutes_;
  std::vector<std::string> notes_;
  std::vector<std::string> damage_;
  Dispatching dispatching_;  // last member: it uses the others
};

}  // namespace rharness

#endif  // RHARNESS_HARNESS_DRILL_RERUNS_H_
