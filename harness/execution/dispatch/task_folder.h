// The folders that a dispatcher and its tasks share, below the folder of a drill.
//
// Role: shared by all dispatchers over a shared file system. dispatch/BATCH/ holds the attempts of
// one call: batch.json (which attempts), and INDEX/ for each with ticket.json, and out/, the folder
// of `rharness rerun`, which writes its end marker last.
#ifndef RHARNESS_HARNESS_EXECUTION_DISPATCH_TASK_FOLDER_H_
#define RHARNESS_HARNESS_EXECUTION_DISPATCH_TASK_FOLDER_H_

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "harness/base/clock.h"
#include "harness/base/result.h"
#include "harness/execution/dispatch/dispatcher.h"
#include "harness/execution/rerun/end_marker.h"

namespace rharness {

// The path of this program on other machines with the same files. Errors: io.
Result<std::filesystem::path> ThisProgram();

// Makes the folder dispatch/NUMBER with batch.json and a folder with its ticket for each attempt.
// Errors: io.
Status WriteTasks(const std::filesystem::path& batch, const std::vector<Attempt>& attempts);

// The folders dispatch/NUMBER below a drill's folder, by number. Errors: io.
Result<std::vector<std::filesystem::path>> ListBatches(const std::filesystem::path& folder);
// The number of such a folder; 0: not such a folder.
int BatchNumber(const std::filesystem::path& batch);

// The tasks left in a batch. Errors: io.
Result<std::vector<std::filesystem::path>> ListTasks(const std::filesystem::path& batch);

bool IsMarked(const std::filesystem::path& task);   // its end marker is there
bool IsClaimed(const std::filesystem::path& task);  // it was taken up

// Moves back results that a killed process had moved to the drill and not journalled.
void MoveBack(const std::filesystem::path& task, const std::filesystem::path& folder,
              const Ticket& ticket);

// Moves a task's results below `folder`, reports them, and removes the task. Errors: those of
// HeldFolder, io, those of `on_step`.
Result<AttemptEnd> CollectTask(const std::filesystem::path& task,
                               const std::filesystem::path& folder, const Ticket& ticket,
                               std::size_t index, ProvenEnd end,
                               const std::function<Status(const RerunStep&)>& on_step);

// The end of an attempt without evidence: `why` is one sentence.
AttemptEnd EndWithoutEvidence(const Ticket& ticket, std::size_t index, AttemptEnd::Kind kind,
                              OutcomeKind outcome, const std::string& why, WallTime now);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_EXECUTION_DISPATCH_TASK_FOLDER_H_
