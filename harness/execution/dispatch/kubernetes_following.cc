// Follows submitted attempts: one look at the server per round, and a decision on each task.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <system_error>

#include "harness/base/files.h"
#include "harness/base/log.h"
#include "harness/execution/dispatch/kubernetes_dispatcher.h"
#include "harness/execution/dispatch/task_folder.h"
#include "harness/execution/rerun/framed_files.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

// A pod that is not running by then has its reasons looked up.
constexpr auto kIdleLimit = std::chrono::seconds(8);

// A node of a gang that did its part is not waited for.
bool IsRunning(const KubernetesTask& view) {
  const auto running = std::ranges::count_if(view.pods, [](const KubernetesPod& pod) {
    return pod.phase == "Running" && !pod.leaving && pod.container.waiting.empty();
  });
  const auto done = std::ranges::count(view.pods, "Succeeded", &KubernetesPod::phase);
  return running > 0 && static_cast<std::size_t>(running + done) >= view.wanted;
}

// Notes which pods of a gang went first: its Job makes the others go then.
void NoteWhoWent(const KubernetesTask& view, std::map<std::string, std::string>* nodes,
                 std::string* gone) {
  std::string went;
  for (const auto& [name, node] : *nodes) {
    const auto pod = std::ranges::find(view.pods, name, &KubernetesPod::name);
    if (pod != view.pods.end() && !pod->leaving) continue;
    went += fmt::format("{}{} on {}", went.empty() ? "" : ", ", name, node);
  }
  if (gone->empty()) *gone = went;
  for (const KubernetesPod& pod : view.pods) {
    if (!pod.node.empty()) (*nodes)[pod.name] = pod.node;
  }
}

}  // namespace

struct KubernetesDispatcher::Seen {
  KubernetesObjects objects;
  std::map<std::pair<std::string, std::string>, std::vector<KubernetesPod>> pods;  // by job, index
  std::multimap<std::string, KubernetesEvent> events;                              // by object
  std::map<std::string, KubernetesWorkload> workloads;                             // by Job
};

std::optional<KubernetesDispatcher::Seen> KubernetesDispatcher::Look() {
  auto objects =
      client_.Get("jobs,pods", fmt::format("{}={}", kDrillLabel, DrillLabel(options_.drill_id)));
  if (!objects.ok()) {
    TellSilence(objects.error().ToString());
    return std::nullopt;
  }
  Seen seen{.objects = std::move(*objects)};
  // Before a Job counts as gone: is this the cluster that had it?
  const bool missing = std::ranges::any_of(tasks_, [&](const Task& task) {
    return task.index && !task.ended && batches_.at(task.batch).submitted &&
           !seen.objects.jobs.contains(task.job);
  });
  if (missing && !IsStillTheCluster()) return std::nullopt;
  silent_ = false;
  for (KubernetesPod& pod : seen.objects.pods) {
    seen.pods[{pod.job, pod.index}].push_back(std::move(pod));
  }
  return seen;
}

bool KubernetesDispatcher::IsStillTheCluster() {
  const auto cluster = client_.Identify();
  if (!cluster.ok()) {
    TellSilence(cluster.error().ToString());
    return false;
  }
  if (IsSameCluster(*cluster, cluster_)) return true;
  TellSilence(fmt::format("another cluster does, {}, where this drill's is {}", NameOf(*cluster),
                          NameOf(cluster_)));
  return false;
}

// Why reruns do not run although they may. A user without read access gets less detail.
void KubernetesDispatcher::LookCloser(Seen* seen) {
  const MonotonicTime now = clock_.Monotonic();
  const bool idle = std::ranges::any_of(
      tasks_, [&](const Task& task) { return task.idle && now - *task.idle >= kIdleLimit; });
  if (!idle) return;
  if (auto found = client_.Get("events", ""); found.ok()) {
    for (KubernetesEvent& event : found->events) seen->events.emplace(event.object, event);
  }
  if (auto found = client_.Get("nodes", ""); found.ok()) seen->objects.nodes = found->nodes;
  if (pod_.Queue().empty()) return;
  if (auto found = client_.Get("workloads.kueue.x-k8s.io", ""); found.ok()) {
    for (KubernetesWorkload& one : found->workloads) seen->workloads[one.job] = one;
  }
}

Status KubernetesDispatcher::Poll(std::vector<AttemptEnd>* ends) {
  RETURN_IF_ERROR(CreateWhatIsMissing());
  std::ranges::move(std::exchange(ended_, {}), std::back_inserter(*ends));
  if (tasks_.empty()) {
    ClearFinished();
    return {};
  }
  // Of a server that does not answer only what has left its evidence ends.
  std::optional<Seen> seen = Look();
  if (seen) LookCloser(&*seen);
  const Seen nothing;
  std::vector<Task> left;
  for (Task& task : tasks_) {
    std::optional<AttemptEnd> end;
    if (task.index && (seen || IsMarked(task.folder))) {
      ASSIGN_OR_RETURN(end, Settle(&task, seen ? *seen : nothing));
      if (!seen) task.ended.reset();
    }
    if (end) {
      ends->push_back(std::move(*end));
    } else {
      left.push_back(std::move(task));
    }
  }
  tasks_ = std::move(left);
  ClearFinished();
  return {};
}

KubernetesTask KubernetesDispatcher::ViewOf(Task* task, const Seen& seen) const {
  KubernetesTask view{.nodes = seen.objects.nodes,
                      .needs = task->needs.resources,
                      .wanted = static_cast<std::size_t>(task->needs.nodes),
                      .image = task->needs.image,
                      .claimed = IsClaimed(task->folder),
                      .by_log = options_.evidence_in_log};
  const auto add_events = [&](const std::string& object) {
    const auto [begin, end] = seen.events.equal_range(object);
    for (auto event = begin; event != end; ++event) view.events.push_back(event->second);
  };
  if (const auto job = seen.objects.jobs.find(task->job); job != seen.objects.jobs.end()) {
    view.job = job->second;
    add_events(task->job);
  }
  if (const auto pods = seen.pods.find({task->job, task->name}); pods != seen.pods.end()) {
    view.pods = pods->second;
  }
  for (const KubernetesPod& pod : view.pods) {
    add_events(pod.name);
    if (!pod.disruption.empty()) task->disruption = pod.disruption;
  }
  if (const auto found = seen.workloads.find(task->job); found != seen.workloads.end()) {
    view.workload = found->second;
  }
  view.disruption = task->disruption;
  if (view.wanted > 1) NoteWhoWent(view, &task->nodes, &task->gone);
  view.gone = task->gone;
  const MonotonicTime now = clock_.Monotonic();
  if (!IsRunning(view) && !task->idle) task->idle = now;
  if (IsRunning(view)) task->idle.reset();
  const KubernetesTrouble trouble = TroubleOf(view);
  if (trouble.kind == KubernetesTrouble::Kind::kNone) {
    task->trouble.reset();
  } else if (!task->trouble || task->trouble->first != trouble.name) {
    task->trouble = {trouble.name, now};
  }
  if (task->trouble) view.since_trouble = now - task->trouble->second;
  return view;
}

Result<std::optional<AttemptEnd>> KubernetesDispatcher::Settle(Task* task, const Seen& seen) {
  const std::optional<AttemptEnd> nothing;
  // Not handed over yet.
  if (!batches_.at(task->batch).submitted && !seen.objects.jobs.contains(task->job) &&
      !IsClaimed(task->folder) && !cancelled_) {
    return nothing;
  }
  KubernetesTask view = ViewOf(task, seen);
  const bool live = IsLive(view);
  // Its marker ends it, even before the node's report reaches the server.
  const bool marked = IsMarked(task->folder);
  if (live) {
    task->ended.reset();
  } else {
    if (!task->ended) task->ended = clock_.Monotonic();
    view.since_ended = clock_.Monotonic() - *task->ended;
    if (!marked) Refresh(task->folder);
  }
  if (!live || marked) {
    const Status fetched = live || marked ? Status() : FetchFromLog(task, view);
    auto end = fetched.ok() ? ReadEndMarker(task->folder / "out", task->ticket)
                            : Result<std::optional<ProvenEnd>>(fetched.error());
    // An attempt stopped by somebody else has no answer; Kubernetes reports who did it.
    view.stopped = end.ok() && *end && !cancelled_ &&
                   (*end)->result.evidence.outcome.kind == OutcomeKind::kCancelled;
    if (end.ok() && *end && !view.stopped) {
      ASSIGN_OR_RETURN(AttemptEnd collected,
                       CollectTask(task->folder, options_.folder, task->ticket, *task->index,
                                   std::move(**end), on_step_));
      if (collected.kind == AttemptEnd::Kind::kInfrastructure) {
        TellAgain(*task, collected.evidence.obstacle);
      }
      return std::optional(std::move(collected));
    }
    if (!end.ok()) {
      return std::optional(
          GiveUp(task, view, {TaskDecision::Kind::kRetry, end.error().ToString(), ""}));
    }
  }
  if (silent_) return nothing;
  if (cancelled_ && !view.claimed) {
    return std::optional(GiveUp(task, view, {TaskDecision::Kind::kRetry, "before it started", ""}));
  }
  TaskDecision decision = DecideTask(view);
  if (decision.kind == TaskDecision::Kind::kWait) {
    if (!decision.why.empty() && task->trouble) TellWaits(task->trouble->first, decision.why);
    return nothing;
  }
  decision.why += task->no_log;
  return std::optional(GiveUp(task, view, decision));
}

Status KubernetesDispatcher::FetchFromLog(Task* task, const KubernetesTask& view) {
  if (!options_.evidence_in_log) return {};
  for (const KubernetesPod& pod : view.pods) {
    if (!pod.IsOver()) continue;
    // A log that is not available now may be later; DecideTask limits the wait.
    const auto log = client_.Log(pod.name);
    task->no_log = log.ok() ? "" : "; its log is not available: " + log.error().ToString();
    if (!log.ok()) continue;
    const auto found = UnpackRerun(*log, task->ticket, task->folder / "out");
    if (!found.ok()) {
      return Error{found.error().code, found.error().message, "log of pod " + pod.name};
    }
    if (*found) return {};
  }
  return {};
}

// Told now, once for each trouble: the report comes when all attempts are used up.
void KubernetesDispatcher::TellAgain(const Task& task, const std::string& why) {
  const std::string trouble = "again: " + (task.trouble ? task.trouble->first : "");
  if (!told_.insert(trouble).second) return;
  LogWarning(fmt::format("trying again: {}/{}: {}", task.job, task.name, why));
}

AttemptEnd KubernetesDispatcher::GiveUp(Task* task, const KubernetesTask& view,
                                        const TaskDecision& decision) {
  using Kind = TaskDecision::Kind;
  Kind kind = decision.kind;
  const Batch& batch = batches_.at(task->batch);
  // It may be that only nodes that failed would fit: then they get another chance.
  if (kind == Kind::kRefused && batch.avoids && task->trouble &&
      task->trouble->first == "unschedulable") {
    avoid_.clear();
    kind = Kind::kRetry;
  }
  if (!decision.avoid.empty()) avoid_.insert(decision.avoid);
  if (!batch.indexed) {
    unwanted_jobs_.push_back(task->job);
  } else {
    for (const KubernetesPod& pod : view.pods) {
      if (!pod.IsOver()) unwanted_pods_.push_back(pod.name);
    }
  }
  std::error_code error;
  const fs::path kept = task->folder.parent_path() / ("failed." + task->name);
  fs::rename(task->folder, kept, error);
  const std::string where = fmt::format("{}/{}", task->job, task->name);
  const std::string why = fmt::format("{}: {}", where, decision.why);
  if (cancelled_) {
    return EndWithoutEvidence(task->ticket, *task->index, AttemptEnd::Kind::kCutShort,
                              OutcomeKind::kCancelled, decision.why, clock_.Now());
  }
  if (kind == Kind::kOutOfMemory) {
    AttemptEnd end = EndWithoutEvidence(task->ticket, *task->index, AttemptEnd::Kind::kCutShort,
                                        OutcomeKind::kMemoryLimit, decision.why, clock_.Now());
    end.evidence.obstacle.clear();
    return end;
  }
  if (kind == Kind::kRetry) TellAgain(*task, decision.why);
  const AttemptEnd::Kind end = kind == Kind::kRefused     ? AttemptEnd::Kind::kCutShort
                               : kind == Kind::kPreempted ? AttemptEnd::Kind::kPreempted
                                                          : AttemptEnd::Kind::kInfrastructure;
  return EndWithoutEvidence(task->ticket, *task->index, end,
                            kind == Kind::kRefused ? OutcomeKind::kNotStarted : OutcomeKind::kLost,
                            why, clock_.Now());
}

}  // namespace rharness
