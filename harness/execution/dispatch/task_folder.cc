// Writing, listing, collecting and removing the folders of tasks.
#include "harness/execution/dispatch/task_folder.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <system_error>
#include <utility>

#include "harness/base/files.h"
#include "harness/base/held_folder.h"
#include "harness/base/log.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

// Moves a rerun's folder from below one folder to below another of the same file system.
Status MoveRerun(const fs::path& from_folder, const fs::path& to_folder, const Ticket& ticket) {
  const fs::path here = RerunFolder({}, ticket.run_id(), ticket.rerun);
  RETURN_IF_ERROR(RemoveTreeBelow(to_folder, here));
  RETURN_IF_ERROR(MakeDirectoriesBelow(to_folder, here.parent_path()));
  ASSIGN_OR_RETURN(const HeldFolder from, HeldFolder::Open(from_folder));
  ASSIGN_OR_RETURN(const HeldFolder source, from.OpenFolder(here.parent_path()));
  ASSIGN_OR_RETURN(const HeldFolder to, HeldFolder::Open(to_folder));
  ASSIGN_OR_RETURN(const HeldFolder target, to.OpenFolder(here.parent_path()));
  const std::string name = here.filename().string();
  if (::renameat(source.fd(), name.c_str(), target.fd(), name.c_str()) != 0) {
    return IoErrorFromErrno("cannot move what a task left", errno, (from_folder / here).string());
  }
  ASSIGN_OR_RETURN(const HeldFolder moved, target.OpenFolder(name));
  return {};
}

// The folders below one whose names are numbers, by number.
Result<std::vector<fs::path>> ListNumbered(const fs::path& folder) {
  std::vector<fs::path> found;
  std::error_code error;
  fs::directory_iterator entry(folder, error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (name.find_first_not_of("0123456789") == std::string::npos) found.push_back(entry->path());
  }
  if (error) return IoErrorFromErrno("cannot list", error.value(), folder.string());
  std::ranges::sort(found, {}, BatchNumber);
  return found;
}

}  // namespace

Result<fs::path> ThisProgram() {
  std::error_code error;
  fs::path program = fs::read_symlink("/proc/self/exe", error);
  if (error) return IoErrorFromErrno("cannot read", error.value(), "/proc/self/exe");
  return program;
}

int BatchNumber(const fs::path& batch) {
  const std::string name = batch.filename().string();
  int number = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  return error == std::errc() && end == name.data() + name.size() ? number : 0;
}

Status WriteTasks(const fs::path& batch, const std::vector<Attempt>& attempts) {
  RETURN_IF_ERROR(MakeDirectories(batch));
  Json jobs = Json::MakeArray();
  for (std::size_t i = 0; i < attempts.size(); ++i) {
    const fs::path task = batch / std::to_string(i);
    RETURN_IF_ERROR(MakeDirectories(task));
    RETURN_IF_ERROR(WriteJsonFile(task / "ticket.json", ToJson(attempts[i].ticket)));
    jobs.Append(attempts[i].ticket.job());
  }
  return WriteJsonFile(batch / "batch.json",
                       Json::MakeObject({{"schema", "rharness.batch/v1"}, {"jobs", jobs}}));
}

Result<std::vector<fs::path>> ListBatches(const fs::path& folder) {
  if (!IsThere(folder / "dispatch")) return std::vector<fs::path>();
  ASSIGN_OR_RETURN(std::vector<fs::path> batches, ListNumbered(folder / "dispatch"));
  std::erase_if(batches, [](const fs::path& batch) { return BatchNumber(batch) == 0; });
  return batches;
}

Result<std::vector<fs::path>> ListTasks(const fs::path& batch) { return ListNumbered(batch); }

bool IsMarked(const fs::path& task) { return IsThere(task / "out" / "ended.json"); }

bool IsClaimed(const fs::path& task) { return IsThere(task / "out" / "claimed.json"); }

void MoveBack(const fs::path& task, const fs::path& folder, const Ticket& ticket) {
  const fs::path here = RerunFolder({}, ticket.run_id(), ticket.rerun);
  if (!IsMarked(task) || IsThere(task / "out" / here)) return;
  const Status back = MoveRerun(folder, task / "out", ticket);
  if (!back.ok()) LogDebug(back.error().ToString());
}

Result<AttemptEnd> CollectTask(const fs::path& task, const fs::path& folder, const Ticket& ticket,
                               std::size_t index, ProvenEnd end,
                               const std::function<Status(const RerunStep&)>& on_step) {
  RETURN_IF_ERROR(MoveRerun(task / "out", folder, ticket));
  const bool answer =
      !end.result.infrastructure && end.result.evidence.outcome.kind != OutcomeKind::kCancelled;
  if (answer && on_step) {
    RETURN_IF_ERROR(on_step({.job = ticket.job(),
                             .state = AttemptState::kCollected,
                             .attempt = ticket.attempt,
                             .evidence_sha256 = end.evidence_sha256,
                             .logs_sha256 = end.logs_sha256}));
  }
  RETURN_IF_ERROR(RemoveTree(task));
  return EndOf(index, std::move(end.result));
}

AttemptEnd EndWithoutEvidence(const Ticket& ticket, std::size_t index, AttemptEnd::Kind kind,
                              OutcomeKind outcome, const std::string& why, WallTime now) {
  AttemptEnd end{.index = index, .kind = kind};
  Evidence& evidence = end.evidence;
  NameTicket(ticket, &evidence);
  evidence.machine.node = ticket.node;
  evidence.started = evidence.ended = now;
  evidence.outcome.kind = outcome;
  evidence.outcome.detail = why;
  evidence.obstacle = why;
  return end;
}

}  // namespace rharness
