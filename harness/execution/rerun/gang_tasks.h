// The tasks of a gang on one node: started together, ended together.
#ifndef RHARNESS_HARNESS_EXECUTION_RERUN_GANG_TASKS_H_
#define RHARNESS_HARNESS_EXECUTION_RERUN_GANG_TASKS_H_

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/execution/launch/job.h"
#include "harness/execution/rerun/gang_session.h"
#include "harness/execution/rerun/observed_run.h"
#include "harness/execution/rerun/ticket.h"
#include "harness/execution/rerun/workspace.h"

namespace rharness {

// What all tasks of a node share.
struct TasksOfNode {
  const Ticket& ticket;
  const Workspace& workspace;
  std::filesystem::path image_file;
  std::map<std::string, std::string> variables;  // without those of the rendezvous
  Launcher* launcher = nullptr;
  Executor* executor = nullptr;
  GangSession* session = nullptr;
  Rendezvous start;
  int node = 0;
  std::filesystem::path logs;             // a folder for their output, which all nodes see
  std::function<void(int pid)> on_start;  // of the first; may be empty
  NotesAt notes;
  ObservedRun* watch = nullptr;  // of a node without tasks; may be null
};

struct TasksResult {
  std::vector<TaskEnd> ends;            // by rank
  ImageProof proof;                     // of the first task
  std::uint64_t peak_memory_bytes = 0;  // of all together, at one moment
  // Why the launcher could not start them, or cannot prove their image; none: it could.
  Status launched;
  // Of a task that failed where the file system is full at that moment, in words; empty: none.
  std::string full;
};

// The tasks of this node by its record's start form. For kOnce other nodes than 0 have none: such a
// one waits for node 0, and leaves what ran on it as one task. The first that fails ends all, here
// and on the other nodes. Blocks. `evidence`: gets the packages and the Python that the node's
// first task used. The ticket's limit of memory holds for all tasks of the node together; in
// containers for each.
TasksResult RunTasks(const TasksOfNode& node, WallTime started, Evidence* evidence);

// Where a rank's output is while the nodes gather it.
std::filesystem::path LogOf(const std::filesystem::path& logs, std::string_view name, int rank);
// The output of all ranks in one text, equal ones once: "== ranks 0-3 ==" before each. `name`:
// "stdout" or "stderr". At most 16 MiB, the same share for each.
std::string JoinLogs(const std::filesystem::path& logs, std::string_view name, int tasks);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_EXECUTION_RERUN_GANG_TASKS_H_
