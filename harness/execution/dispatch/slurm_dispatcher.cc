// Submitting, polling, collecting and adopting Slurm's tasks.
#include "harness/execution/dispatch/slurm_dispatcher.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <system_error>
#include <utility>

#include "harness/base/files.h"
#include "harness/base/log.h"
#include "harness/execution/dispatch/task_folder.h"
#include "harness/execution/rerun/gang_merge.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::nanoseconds kFirstPoll = std::chrono::seconds(1);
constexpr std::chrono::nanoseconds kLongestPoll = std::chrono::seconds(30);

std::uint64_t JobOf(const std::string& task) {
  std::uint64_t job = 0;
  std::from_chars(task.data(), task.data() + task.size(), job);
  return job;
}

}  // namespace

SlurmDispatcher::SlurmDispatcher(SlurmOptions options, SlurmClient* client, Clock* clock,
                                 std::function<Status(const RerunStep&)> on_step,
                                 std::function<bool()> should_cancel)
    : options_(std::move(options)),
      client_(*client),
      clock_(*clock),
      on_step_(std::move(on_step)),
      should_cancel_(std::move(should_cancel)) {}

Status SlurmDispatcher::Adopt() {
  ASSIGN_OR_RETURN(const std::vector<fs::path> batches, ListBatches(options_.folder));
  for (const fs::path& batch : batches) {
    RETURN_IF_ERROR(AdoptBatch(batch));
    batches_ = BatchNumber(batch);
  }
  // What was never submitted is dropped at once, if Slurm answers.
  const Result<bool> answers = FindNumbers();
  return answers.ok() ? Status() : answers.error();
}

Status SlurmDispatcher::AdoptBatch(const fs::path& batch) {
  ASSIGN_OR_RETURN(const std::vector<fs::path> folders, ListTasks(batch));
  if (folders.empty()) return {};
  // Its number is not on record if the process was killed during the call.
  std::optional<std::uint64_t> job;
  if (const auto text = ReadFile(batch / "job"); text.ok()) {
    ASSIGN_OR_RETURN(job, ParseSbatch(*text));
  }
  for (const fs::path& folder : folders) {
    auto ticket = LoadTicket(folder / "ticket.json");
    if (!ticket.ok()) continue;
    MoveBack(folder, options_.folder, *ticket);
    tasks_.push_back({.id = job ? fmt::format("{}_{}", *job, folder.filename().string()) : "",
                      .folder = folder,
                      .ticket = std::move(*ticket)});
  }
  LogInfo(fmt::format("found {} that an earlier process handed to Slurm",
                      folders.size() == 1 ? "a rerun" : fmt::format("{} reruns", folders.size())));
  return {};
}

Status SlurmDispatcher::Submit(std::vector<Attempt> attempts) {
  std::map<ResourceClass, std::vector<Attempt>> by_class;
  for (Attempt& attempt : attempts) {
    const auto adopted = std::ranges::find_if(tasks_, [&](const Task& task) {
      return !task.index && task.ticket.job() == attempt.ticket.job();
    });
    if (adopted != tasks_.end()) {
      adopted->index = attempt.index;
      continue;
    }
    by_class[ClassOf(attempt.ticket)].push_back(std::move(attempt));
  }
  for (auto& [needs, members] : by_class) {
    RETURN_IF_ERROR(SubmitClass(needs, std::move(members)));
  }
  interval_ = kFirstPoll;
  next_poll_ = clock_.Monotonic() + interval_;
  return {};
}

Status SlurmDispatcher::SubmitClass(const ResourceClass& needs, std::vector<Attempt> attempts) {
  const auto most = static_cast<std::size_t>(std::max(1, client_.MaxArray() - 1));
  for (std::size_t at = 0; at < attempts.size(); at += most) {
    const auto end = std::min(attempts.size(), at + most);
    RETURN_IF_ERROR(SubmitBatch(
        needs, {std::make_move_iterator(attempts.begin() + static_cast<std::ptrdiff_t>(at)),
                std::make_move_iterator(attempts.begin() + static_cast<std::ptrdiff_t>(end))}));
  }
  return {};
}

Status SlurmDispatcher::SubmitBatch(const ResourceClass& needs, std::vector<Attempt> attempts) {
  const fs::path batch = options_.folder / "dispatch" / std::to_string(++batches_);
  RETURN_IF_ERROR(WriteBatch(batch, attempts));
  auto job = client_.Submit(SbatchArguments(options_, batch, needs, attempts.size(), avoid_));
  // It may be that only with nodes that failed there are enough: then they get another chance.
  if (needs.nodes > 1 && !avoid_.empty() && !job.ok() &&
      job.error().code == ErrorCode::kInvalidInput) {
    avoid_.clear();
    job = client_.Submit(SbatchArguments(options_, batch, needs, attempts.size(), avoid_));
  }
  if (job.ok()) RETURN_IF_ERROR(WriteFileAtomic(batch / "job", std::to_string(*job) + "\n"));
  if (!job.ok() && job.error().code == ErrorCode::kNotFound) return job.error();
  // A failed call may have taken effect all the same.
  const bool refused = !job.ok() && job.error().code == ErrorCode::kInvalidInput;
  if (!job.ok() && !refused) TellSilence(job.error());
  for (std::size_t i = 0; i < attempts.size(); ++i) {
    Task task{.id = job.ok() ? fmt::format("{}_{}", *job, i) : "",
              .folder = batch / std::to_string(i),
              .ticket = std::move(attempts[i].ticket),
              .index = attempts[i].index,
              .trouble = job.ok() ? "" : ": " + job.error().ToString()};
    if (refused) {
      ended_.push_back(WithoutEvidence(task, AttemptEnd::Kind::kCutShort, OutcomeKind::kNotStarted,
                                       "Slurm refused it" + task.trouble));
    } else {
      tasks_.push_back(std::move(task));
    }
  }
  return refused ? RemoveTree(batch) : Status();
}

// Once, until it answers again: a controller may be down for hours.
void SlurmDispatcher::TellSilence(const Error& error) {
  if (!std::exchange(silent_, true)) {
    LogWarning("Slurm does not answer; waiting: " + error.ToString());
  }
}

// Finds batches without a recorded number by their names.
Result<bool> SlurmDispatcher::FindNumbers() {
  std::set<fs::path> batches;
  for (const Task& task : tasks_) {
    if (task.id.empty()) batches.insert(task.folder.parent_path());
  }
  for (const fs::path& batch : batches) {
    const auto job = client_.FindByName(BatchName(options_, batch));
    if (!job.ok()) {
      TellSilence(job.error());
      return false;
    }
    if (*job) RETURN_IF_ERROR(WriteFileAtomic(batch / "job", std::to_string(**job) + "\n"));
    std::erase_if(tasks_, [&](Task& task) {
      if (task.folder.parent_path() != batch) return false;
      if (*job) task.id = fmt::format("{}_{}", **job, task.folder.filename().string());
      // A started attempt was submitted, whatever Slurm knows now.
      std::error_code error;
      if (*job || fs::exists(task.folder / "out", error)) return false;
      if (task.index) {
        ended_.push_back(WithoutEvidence(task, AttemptEnd::Kind::kInfrastructure,
                                         OutcomeKind::kNotStarted,
                                         "Slurm refused it" + task.trouble));
      }
      fs::remove_all(task.folder, error);
      return true;
    });
  }
  return true;
}

AttemptEnd SlurmDispatcher::WithoutEvidence(const Task& task, AttemptEnd::Kind kind,
                                            OutcomeKind outcome, const std::string& why) const {
  return EndWithoutEvidence(task.ticket, task.index.value_or(0), kind, outcome, why, clock_.Now());
}

Result<std::vector<AttemptEnd>> SlurmDispatcher::Wait(std::chrono::nanoseconds longest) {
  std::vector<AttemptEnd> ends = std::exchange(ended_, {});
  if (!ends.empty()) return ends;
  if (!cancelled_ && should_cancel_ && should_cancel_()) CancelAll();
  const MonotonicTime now = clock_.Monotonic();
  if (now < next_poll_) {
    clock_.SleepFor(std::min<std::chrono::nanoseconds>(longest, next_poll_ - now));
    return ends;
  }
  RETURN_IF_ERROR(Poll(&ends));
  // As long as something happens it is worth looking often.
  interval_ = ends.empty() ? std::min(kLongestPoll, interval_ + interval_ / 2) : kFirstPoll;
  next_poll_ = clock_.Monotonic() + interval_;
  return ends;
}

void SlurmDispatcher::CancelAll() {
  cancelled_ = true;
  std::set<std::string> jobs;
  for (const Task& task : tasks_) {
    if (!task.id.empty()) jobs.insert(std::to_string(JobOf(task.id)));
  }
  if (jobs.empty()) return;
  const Status cancelled = client_.Cancel({jobs.begin(), jobs.end()});
  if (!cancelled.ok()) LogWarning("cannot cancel: " + cancelled.error().ToString());
  interval_ = kFirstPoll;
  next_poll_ = clock_.Monotonic() + interval_;
}

Status SlurmDispatcher::Poll(std::vector<AttemptEnd>* ends) {
  ASSIGN_OR_RETURN(const bool answers, FindNumbers());
  std::ranges::move(std::exchange(ended_, {}), std::back_inserter(*ends));
  if (!answers) return SettleAll({}, std::nullopt, ends);
  std::set<std::uint64_t> asked;
  for (const Task& task : tasks_) {
    if (task.index && !task.id.empty()) asked.insert(JobOf(task.id));
  }
  const std::vector<std::uint64_t> jobs(asked.begin(), asked.end());
  const auto queue = jobs.empty() ? Result<SlurmTasks>(SlurmTasks()) : client_.Queue(jobs);
  // A controller that is down says nothing about the tasks: those without evidence are waited for.
  if (!queue.ok()) {
    TellSilence(queue.error());
    return SettleAll({}, std::nullopt, ends);
  }
  silent_ = false;
  std::optional<SlurmTasks> accounting;
  const bool gone = std::ranges::any_of(
      tasks_, [&](const Task& task) { return task.index && !queue->contains(task.id); });
  if (gone && !jobs.empty()) {
    auto answer = client_.Accounting(jobs);
    if (answer.ok()) accounting = std::move(*answer);
  }
  return SettleAll(*queue, accounting, ends);
}

Status SlurmDispatcher::SettleAll(const SlurmTasks& queue,
                                  const std::optional<SlurmTasks>& accounting,
                                  std::vector<AttemptEnd>* ends) {
  std::vector<Task> left;
  for (Task& task : tasks_) {
    std::optional<AttemptEnd> end;
    if (task.index && (!silent_ || IsMarked(task.folder))) {
      ASSIGN_OR_RETURN(end, Settle(&task, queue, accounting));
      if (silent_) task.ended.reset();
    }
    if (end) {
      ends->push_back(std::move(*end));
    } else {
      left.push_back(std::move(task));
    }
  }
  tasks_ = std::move(left);
  // Whatever Slurm says of it: no two attempts at once, and nothing is left running.
  if (!given_up_.empty()) (void)client_.Cancel(std::exchange(given_up_, {}));
  return {};
}

std::chrono::nanoseconds SlurmDispatcher::SinceOut(Task* task, const TaskView& view,
                                                   MonotonicTime now) {
  const bool out = view.queue && IsNodeOut(*view.queue) && !task->ticket.node.empty();
  if (!out) task->out_since.reset();
  if (out && !task->out_since) task->out_since = now;
  return out ? now - *task->out_since : std::chrono::nanoseconds(0);
}

Result<std::optional<AttemptEnd>> SlurmDispatcher::Settle(
    Task* task, const SlurmTasks& queue, const std::optional<SlurmTasks>& accounting) {
  const std::optional<AttemptEnd> nothing;
  const auto find = [&](const SlurmTasks& tasks) {
    auto found = tasks.find(task->id);
    if (found == tasks.end()) found = tasks.find(task->id.substr(0, task->id.find('_')));
    return found == tasks.end() ? std::nullopt : std::optional(found->second);
  };
  const MonotonicTime now = clock_.Monotonic();
  TaskView view{.queue = find(queue),
                .accounting = accounting ? find(*accounting) : std::nullopt,
                .accounting_answers = accounting.has_value()};
  view.since_out = SinceOut(task, view, now);
  const bool live = view.queue && PhaseOf(view.queue->state) == SlurmPhase::kLive;
  // Its marker ends it, even before the node's report reaches Slurm.
  const bool marked = IsMarked(task->folder);
  if (!live) {
    if (!task->ended) task->ended = now;
    view.since_ended = now - *task->ended;
    if (!marked) Refresh(task->folder);
  }
  if (!live || marked) {
    auto end = ReadEndMarker(task->folder / "out", task->ticket);
    // An attempt stopped by somebody else has no answer; Slurm reports who did it.
    view.stopped = end.ok() && *end && !cancelled_ &&
                   (*end)->result.evidence.outcome.kind == OutcomeKind::kCancelled;
    if (end.ok() && *end && !view.stopped) {
      ASSIGN_OR_RETURN(AttemptEnd collected,
                       CollectTask(task->folder, options_.folder, task->ticket, *task->index,
                                   std::move(**end), on_step_));
      for (const Finding& remark : collected.evidence.remarks) {
        if (remark.code == kNodeLost) avoid_.insert(remark.subject);
      }
      return std::optional(std::move(collected));
    }
    if (!end.ok()) {
      return std::optional(WithoutEvidence(*task, AttemptEnd::Kind::kInfrastructure,
                                           OutcomeKind::kLost, end.error().ToString()));
    }
    if (cancelled_ && !IsClaimed(task->folder)) {
      return std::optional(WithoutEvidence(*task, AttemptEnd::Kind::kCutShort,
                                           OutcomeKind::kCancelled, "before it started"));
    }
  }
  if (silent_) return nothing;
  const TaskDecision decision = DecideTask(view);
  if (decision.kind == TaskDecision::Kind::kWait) return nothing;
  return std::optional(GiveUp(*task, decision));
}

AttemptEnd SlurmDispatcher::GiveUp(const Task& task, const TaskDecision& decision) {
  given_up_.push_back(task.id);
  if (!decision.avoid.empty()) avoid_.insert(decision.avoid);
  const fs::path kept = task.folder.parent_path() / ("failed." + task.folder.filename().string());
  std::error_code error;
  fs::rename(task.folder, kept, error);
  std::string why = fmt::format("task {}: {}", task.id, decision.why);
  const ResourceClass needs = ClassOf(task.ticket);
  if (decision.kind == TaskDecision::Kind::kRefused && needs.nodes > 1) {
    why += fmt::format("; it needs {} nodes at once, each with {} CPUs and {} GPUs", needs.nodes,
                       needs.cpus, needs.gpus);
  }
  why += "; its log is " + (kept / "log.txt").string();
  if (cancelled_) {
    return WithoutEvidence(task, AttemptEnd::Kind::kCutShort, OutcomeKind::kCancelled, why);
  }
  // Told now, once for each trouble: the report comes when all attempts are used up.
  if (decision.kind == TaskDecision::Kind::kRetry && told_.insert(decision.why).second) {
    LogWarning(fmt::format("{} is lost: {}", task.ticket.run_id(), why));
  }
  const AttemptEnd::Kind kind =
      decision.kind == TaskDecision::Kind::kRefused     ? AttemptEnd::Kind::kCutShort
      : decision.kind == TaskDecision::Kind::kPreempted ? AttemptEnd::Kind::kPreempted
                                                        : AttemptEnd::Kind::kInfrastructure;
  return WithoutEvidence(task, kind, OutcomeKind::kLost, why);
}

}  // namespace rharness
