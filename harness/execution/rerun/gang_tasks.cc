// A thread for each task.
#include "harness/execution/rerun/gang_tasks.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <memory>
#include <thread>
#include <utility>

#include "harness/base/clean_text.h"
#include "harness/base/files.h"
#include "harness/base/joint_memory.h"
#include "harness/base/trouble.h"
#include "harness/execution/rerun/rerun_job.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostJoined = std::size_t{16} << 20;

// srun and mpirun inside the command need what the allocation says.
void AddAllocation(const Gang& gang, std::map<std::string, std::string>* variables) {
  if (gang.start != GangStart::kOnce) return;
  for (const auto& [name, value] : ProcessEnvironment()) {
    if (name.starts_with("SLURM_") && name != "SLURM_JWT") (*variables)[name] = value;
  }
}

void Override(const EnvironmentOverrides& overrides,
              std::map<std::string, std::string>* variables) {
  for (const auto& [name, value] : overrides) {
    if (value) (*variables)[name] = *value;
    if (!value) variables->erase(name);
  }
}

// The program is that of the rerun, which may lie elsewhere than the recorded one.
void SetCommand(const std::vector<std::string>& own, const Manifest& manifest, Job* job) {
  std::string program = job->command.empty() ? own[0] : job->command[0];
  if (own[0] != manifest.command[0]) program = own[0];
  job->command = own;
  job->command[0] = std::move(program);
}

class Task {
 public:
  Task(const TasksOfNode& node, int local, int tasks_here, std::shared_ptr<JointMemory> memory)
      : node_(node), memory_(std::move(memory)) {
    const Gang& gang = *node.ticket.manifest.gang;
    place_ = {.rank = node.node * tasks_here + local,
              .tasks = gang.nodes * tasks_here,
              .local_rank = local,
              .node = node.node,
              .nodes = gang.nodes,
              .launcher = {},
              .id = {}};
    end_.rank = place_.rank;
  }

  // Nothing may leave a thread.
  void Run(WallTime started) {
    try {
      Carry(started);
    } catch (const std::exception& failure) {
      launched_ = InternalError(failure.what());
      end_.outcome.kind = OutcomeKind::kLost;
      TellFailure("");
    }
  }

  TaskEnd& end() { return end_; }
  const Evidence& evidence() const { return evidence_; }
  const ImageProof& proof() const { return proof_; }
  const Status& launched() const { return launched_; }
  const std::string& full() const { return full_; }

 private:
  void Carry(WallTime started) {
    ObservedRun observed(node_.ticket, node_.workspace, node_.notes);
    const Job job = BuildJob(&observed);
    launched_ = node_.launcher->HandOver(job);
    const auto spec =
        launched_.ok() ? node_.launcher->BuildCommand(job) : Result<ProcessSpec>(launched_.error());
    if (!spec.ok()) {
      launched_ = spec.error();
      end_.outcome.kind = OutcomeKind::kNotStarted;
      end_.outcome.detail = spec.error().message;
      return TellFailure("");
    }
    const ExecutionHooks hooks{
        .on_start =
            [&](int pid) {
              if (place_.local_rank == 0 && node_.on_start) node_.on_start(pid);
            },
        .should_cancel = [&] { return node_.session->MustStop(); },
        .on_failure = [&] { node_.session->TellFailing(place_.rank, NodeName(ThisMachine())); }};
    ProcessResult result = node_.executor->Execute(*spec, job.limits, hooks);
    evidence_.outcome = result.outcome;
    observed.Collect(&result, started, &evidence_);
    auto proof = node_.launcher->Finish(job, &evidence_.outcome);
    if (proof.ok()) proof_ = std::move(*proof);
    if (!proof.ok()) launched_ = proof.error();
    end_.outcome = evidence_.outcome;
    end_.stopped = end_.outcome.kind == OutcomeKind::kCancelled;
    end_.silence = result.silence;
    end_.last_line = result.last_line;
    if (!end_.outcome.Succeeded() && !end_.stopped) {
      // Before the others have ended there may be room again.
      if (const auto full = WhyFull(node_.workspace.path)) {
        full_ = fmt::format("rank {} {} where its file system is full: {}", place_.rank,
                            end_.outcome.ToString(), *full);
      }
      TellFailure(LastLine(result.stderr_text));
    }
    (void)WriteFileAtomic(LogOf(node_.logs, "stdout", place_.rank), result.stdout_text);
    (void)WriteFileAtomic(LogOf(node_.logs, "stderr", place_.rank), result.stderr_text);
    end_.observation = std::move(evidence_.observation);
  }

  Job BuildJob(ObservedRun* observed) const {
    const Gang& gang = *node_.ticket.manifest.gang;
    std::map<std::string, std::string> variables = node_.variables;
    for (auto& [name, value] : RendezvousVariables(gang, node_.start, place_)) {
      variables[name] = value;
    }
    AddAllocation(gang, &variables);
    Override(node_.ticket.environment, &variables);
    const auto own = std::ranges::find(node_.ticket.ranks, place_.rank, &RankChange::rank);
    const bool has_own = own != node_.ticket.ranks.end();
    if (has_own) Override(own->environment, &variables);
    Job job = BuildRerunJob(
        node_.ticket, node_.workspace, node_.image_file,
        fmt::format("{}.{}.{}", node_.ticket.job(), node_.ticket.attempt, place_.rank),
        std::move(variables));
    if (has_own && !own->command.empty()) SetCommand(own->command, node_.ticket.manifest, &job);
    job.command = CommandOn(std::move(job.command), node_.start, place_.node);
    observed->AddTo(&job);
    job.limits.joint_memory = memory_;
    return job;
  }

  void TellFailure(std::string last_line) const {
    node_.session->Tell({.node = place_.node,
                         .rank = place_.rank,
                         .host = NodeName(ThisMachine()),
                         .outcome = end_.outcome,
                         .last_line = std::move(last_line)});
  }

  const TasksOfNode& node_;
  const std::shared_ptr<JointMemory> memory_;
  TaskPlace place_;
  TaskEnd end_;
  Evidence evidence_;
  ImageProof proof_;
  Status launched_;
  std::string full_;
};

void WaitForHead(const GangSession& session) {
  while (!session.IsDone() && !session.MustStop()) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
}

}  // namespace

fs::path LogOf(const fs::path& logs, std::string_view name, int rank) {
  return logs / fmt::format("{}-{}", name, rank);
}

TasksResult RunTasks(const TasksOfNode& node, WallTime started, Evidence* evidence) {
  const int tasks = node.ticket.manifest.gang->starts_on(node.node);
  TasksResult result;
  if (tasks == 0) {
    WaitForHead(*node.session);
    ProcessResult none;
    none.outcome.kind = OutcomeKind::kExited;
    Evidence seen;
    if (node.watch != nullptr) node.watch->Collect(&none, started, &seen);
    evidence->environment.packages = std::move(seen.environment.packages);
    evidence->environment.python = std::move(seen.environment.python);
    result.ends.push_back(
        {.rank = node.node, .outcome = none.outcome, .observation = std::move(seen.observation)});
    return result;
  }
  const auto memory =
      std::make_shared<JointMemory>(tasks > 1 ? node.ticket.resources.memory_bytes : 0);
  std::vector<std::unique_ptr<Task>> all;
  for (int local = 0; local < tasks; ++local) {
    all.push_back(std::make_unique<Task>(node, local, tasks, memory));
  }
  {
    std::vector<std::jthread> threads;
    for (const auto& task : all) {
      threads.emplace_back([&task, started] { task->Run(started); });
    }
  }
  for (const auto& task : all) {
    if (result.launched.ok()) result.launched = task->launched();
    if (result.full.empty()) result.full = task->full();
    result.ends.push_back(std::move(task->end()));
  }
  result.peak_memory_bytes = memory->peak_bytes();
  result.proof = all[0]->proof();
  evidence->environment.packages = all[0]->evidence().environment.packages;
  evidence->environment.python = all[0]->evidence().environment.python;
  return result;
}

std::string JoinLogs(const fs::path& logs, std::string_view name, int tasks) {
  std::map<std::string, std::vector<int>> ranks;  // by text
  const std::size_t share = kMostJoined / static_cast<std::size_t>(std::max(1, tasks));
  std::vector<std::string> order;
  for (int rank = 0; rank < tasks; ++rank) {
    auto text = ReadFile(LogOf(logs, name, rank), kMostJoined);
    if (!text.ok() || text->empty()) continue;
    if (text->size() > share) text->resize(share);
    if (!ranks.contains(*text)) order.push_back(*text);
    ranks[*text].push_back(rank);
  }
  std::string joined;
  for (const std::string& text : order) {
    const std::vector<int>& same = ranks[text];
    joined += fmt::format("== rank{} {} ==\n{}{}", same.size() > 1 ? "s" : "", InRanges(same), text,
                          text.ends_with('\n') ? "" : "\n");
  }
  return joined;
}

}  // namespace rharness
