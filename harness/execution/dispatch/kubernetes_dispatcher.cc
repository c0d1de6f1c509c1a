// Submitting, adopting and cancelling. What is made of the server's words: kubernetes_following.cc.
#include "harness/execution/dispatch/kubernetes_dispatcher.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <system_error>

#include "harness/base/files.h"
#include "harness/base/log.h"
#include "harness/execution/dispatch/kubernetes_cluster.h"
#include "harness/execution/dispatch/task_folder.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::nanoseconds kFirstPodPoll = std::chrono::seconds(1);
constexpr const char* kJobs = "jobs.json";
constexpr const char* kSubmitted = "submitted";
constexpr const char* kCleared = "cleared";

}  // namespace

KubernetesDispatcher::KubernetesDispatcher(KubernetesOptions options, KubernetesClient* client,
                                           Clock* clock,
                                           std::function<Status(const RerunStep&)> on_step,
                                           std::function<bool()> should_cancel)
    : options_(std::move(options)),
      client_(*client),
      clock_(*clock),
      on_step_(std::move(on_step)),
      should_cancel_(std::move(should_cancel)) {}

Status KubernetesDispatcher::Adopt() {
  ASSIGN_OR_RETURN(cluster_, FindCluster(options_.folder, &client_, &clock_));
  ASSIGN_OR_RETURN(
      pod_, LoadPodTemplate(options_.pod_template,
                            options_.evidence_in_log ? fs::path() : options_.folder, &client_));
  ASSIGN_OR_RETURN(const std::vector<fs::path> batches, ListBatches(options_.folder));
  for (const fs::path& batch : batches) {
    RETURN_IF_ERROR(AdoptBatch(batch));
    last_batch_ = BatchNumber(batch);
  }
  if (!tasks_.empty()) {
    LogInfo(fmt::format("found {} that an earlier process handed to Kubernetes",
                        tasks_.size() == 1 ? "a rerun" : fmt::format("{} reruns", tasks_.size())));
  }
  return {};
}

Status KubernetesDispatcher::AdoptBatch(const fs::path& folder) {
  const auto jobs = ReadJsonFile(folder / kJobs);
  // Killed before anything could be submitted.
  if (!jobs.ok() && jobs.error().code == ErrorCode::kNotFound) return RemoveTree(folder);
  if (!jobs.ok()) return jobs.error();
  if (IsThere(folder / kCleared)) return {};
  const int number = BatchNumber(folder);
  const std::string text = jobs->Dump();
  batches_[number] = {.folder = folder,
                      .indexed = text.find("\"backoffLimitPerIndex\"") != std::string::npos,
                      .submitted = IsThere(folder / kSubmitted),
                      .avoids = text.find("\"metadata.name\"") != std::string::npos,
                      .kinds = KindsIn(*jobs)};
  ASSIGN_OR_RETURN(const std::vector<fs::path> tasks, ListTasks(folder));
  for (const fs::path& task : tasks) {
    auto ticket = LoadTicket(task / "ticket.json");
    if (!ticket.ok()) continue;
    MoveBack(task, options_.folder, *ticket);
    const auto needs = NeedsOf(*ticket, pod_);
    const std::string name = task.filename().string();
    tasks_.push_back({.batch = number,
                      .name = name,
                      .folder = task,
                      .job = JobName(options_, number, name, batches_[number].indexed),
                      .ticket = std::move(*ticket),
                      .needs = needs.ok() ? *needs : PodNeeds()});
  }
  return {};
}

Status KubernetesDispatcher::Submit(std::vector<Attempt> attempts) {
  std::map<PodNeeds, std::vector<Attempt>> by_needs;
  for (Attempt& attempt : attempts) {
    const auto adopted = std::ranges::find_if(tasks_, [&](const Task& task) {
      return !task.index && task.ticket.job() == attempt.ticket.job();
    });
    if (adopted != tasks_.end()) {
      adopted->index = attempt.index;
      continue;
    }
    auto needs = NeedsOf(attempt.ticket, pod_);
    if (options_.evidence_in_log && needs.ok()) {
      if (const Status fits = FitsASecret(attempt.ticket); !fits.ok()) needs = fits.error();
      if (needs.ok() && needs->nodes > 1) {
        needs =
            Unsupported(fmt::format("ran on {} nodes, which meet in a folder that all see; "
                                    "expected a volume (without --pod-evidence log)",
                                    needs->nodes));
      }
    }
    if (needs.ok()) {
      by_needs[*needs].push_back(std::move(attempt));
    } else {
      ended_.push_back(EndWithoutEvidence(attempt.ticket, attempt.index,
                                          AttemptEnd::Kind::kCutShort, OutcomeKind::kNotStarted,
                                          needs.error().ToString(), clock_.Now()));
    }
  }
  const bool indexed = IsIndexed(cluster_.version, pod_) && !options_.evidence_in_log;
  for (auto& [needs, members] : by_needs) {
    const std::size_t most = indexed && needs.nodes == 1 ? kMostIndexes : kMostJobs;
    for (std::size_t at = 0; at < members.size(); at += most) {
      const auto begin = members.begin() + static_cast<std::ptrdiff_t>(at);
      const auto end =
          members.begin() + static_cast<std::ptrdiff_t>(std::min(members.size(), at + most));
      RETURN_IF_ERROR(
          SubmitBatch(needs, {std::make_move_iterator(begin), std::make_move_iterator(end)}));
    }
  }
  interval_ = kFirstPodPoll;
  next_poll_ = clock_.Monotonic() + interval_;
  return {};
}

Status KubernetesDispatcher::SubmitBatch(const PodNeeds& needs, std::vector<Attempt> attempts) {
  const int number = ++last_batch_;
  KubernetesBatch batch{
      .number = number,
      .folder = options_.folder / "dispatch" / std::to_string(number),
      .needs = needs,
      .avoid = avoid_,
      // A Secret a task takes a Job a task.
      .indexed = IsIndexed(cluster_.version, pod_) && !options_.evidence_in_log && needs.nodes == 1,
      .numbered = HasNodeNumbers(cluster_.version),
      .tickets = {}};
  RETURN_IF_ERROR(WriteTasks(batch.folder, attempts));
  for (std::size_t i = 0; i < attempts.size(); ++i) {
    const std::string name = std::to_string(i);
    batch.indexes.push_back(name);
    if (options_.evidence_in_log) batch.tickets.push_back(ToJson(attempts[i].ticket).Dump());
    tasks_.push_back({.batch = number,
                      .name = name,
                      .folder = batch.folder / name,
                      .job = JobName(options_, number, name, batch.indexed),
                      .ticket = std::move(attempts[i].ticket),
                      .needs = needs,
                      .index = attempts[i].index});
  }
  const Json jobs = BuildJobs(options_, pod_, batch);
  RETURN_IF_ERROR(WriteJsonFile(batch.folder / kJobs, jobs));
  batches_[number] = {.folder = batch.folder,
                      .indexed = batch.indexed,
                      .avoids = !batch.avoid.empty(),
                      .kinds = KindsIn(jobs)};
  return Create(number);
}

// Also one for which the result of an earlier call is unknown.
Status KubernetesDispatcher::Create(int number) {
  Batch& batch = batches_.at(number);
  auto created = tried_ ? Status() : client_.Create(batch.folder / kJobs, true);
  tried_ = tried_ || created.ok();
  const bool asked = created.ok();
  if (asked) created = client_.Create(batch.folder / kJobs);
  if (created.ok()) {
    batch.submitted = true;
    return WriteFileAtomic(batch.folder / kSubmitted, "");
  }
  const Error& error = created.error();
  if (error.code == ErrorCode::kNotFound) return error;
  if (error.code != ErrorCode::kInvalidInput) {
    TellSilence(error.ToString());
  } else if (IsQuotaInUse(error.message)) {
    TellWaits("quota of Jobs", error.ToString());
  } else {
    Refuse(number, "Kubernetes refused it: " + error.ToString(), asked);
  }
  return {};
}

// Of a list the server may have made a part: `asked`.
void KubernetesDispatcher::Refuse(int number, const std::string& why, bool asked) {
  if (asked) {
    const Status gone = Remove(
        fmt::format("{}={},{}={}", kDrillLabel, DrillLabel(options_.drill_id), kBatchLabel, number),
        batches_.at(number).kinds);
    if (!gone.ok()) LogWarning("cannot delete what was made of it: " + gone.error().ToString());
  }
  std::erase_if(tasks_, [&](const Task& task) {
    if (task.batch != number) return false;
    if (task.index) {
      ended_.push_back(EndWithoutEvidence(task.ticket, *task.index, AttemptEnd::Kind::kCutShort,
                                          OutcomeKind::kNotStarted, why, clock_.Now()));
    }
    return true;
  });
  const Status removed = RemoveTree(batches_.at(number).folder);
  if (!removed.ok()) LogWarning(removed.error().ToString());
  batches_.erase(number);
}

Status KubernetesDispatcher::CreateWhatIsMissing() {
  std::set<int> missing;
  for (const Task& task : tasks_) {
    if (task.index && !batches_.at(task.batch).submitted) missing.insert(task.batch);
  }
  for (const int batch : missing) {
    if (!cancelled_) RETURN_IF_ERROR(Create(batch));
  }
  return {};
}

// Once, until it answers again: a server may be down for hours.
void KubernetesDispatcher::TellSilence(const std::string& what) {
  if (!std::exchange(silent_, true)) LogWarning("Kubernetes does not answer; waiting: " + what);
}

// Once for each trouble: it may be that of a thousand reruns.
void KubernetesDispatcher::TellWaits(const std::string& trouble, const std::string& why) {
  if (told_.insert(trouble).second) LogWarning("waiting: " + why);
}

Result<std::vector<AttemptEnd>> KubernetesDispatcher::Wait(std::chrono::nanoseconds longest) {
  std::vector<AttemptEnd> ends = std::exchange(ended_, {});
  if (!ends.empty()) return ends;
  if (!cancelled_ && should_cancel_ && should_cancel_()) CancelAll();
  const MonotonicTime now = clock_.Monotonic();
  if (now < next_poll_) {
    clock_.SleepFor(std::min<std::chrono::nanoseconds>(longest, next_poll_ - now));
    return ends;
  }
  RETURN_IF_ERROR(Poll(&ends));
  // While something happens frequent polls are worthwhile; waiting states must be reported soon,
  // and of a gang which of its pods went first.
  const bool watched = std::ranges::any_of(
      tasks_, [](const Task& task) { return task.idle || task.needs.nodes > 1; });
  const auto most = std::chrono::seconds(watched ? 5 : 15);
  interval_ = ends.empty() ? std::min<std::chrono::nanoseconds>(most, interval_ + interval_ / 2)
                           : kFirstPodPoll;
  next_poll_ = clock_.Monotonic() + interval_;
  return ends;
}

void KubernetesDispatcher::CancelAll() {
  cancelled_ = true;
  std::set<std::string> kinds = {"jobs"};
  for (const auto& [number, batch] : batches_) kinds.insert(batch.kinds.begin(), batch.kinds.end());
  const Status deleted =
      Remove(fmt::format("{}={}", kDrillLabel, DrillLabel(options_.drill_id)), kinds);
  if (!deleted.ok()) LogWarning("cannot cancel: " + deleted.error().ToString());
  interval_ = kFirstPodPoll;
  next_poll_ = clock_.Monotonic() + interval_;
}

// Jobs first: what else there is, their pods use.
Status KubernetesDispatcher::Remove(const std::string& labels, std::set<std::string> kinds) {
  if (kinds.erase("jobs") > 0) RETURN_IF_ERROR(client_.DeleteAll("jobs", labels));
  for (const std::string& kind : kinds) RETURN_IF_ERROR(client_.DeleteAll(kind, labels));
  return {};
}

// Deletes objects without remaining tasks from the server; retries failures.
void KubernetesDispatcher::ClearFinished() {
  for (const auto& [kind, names] :
       {std::pair("pods", &unwanted_pods_), std::pair("jobs", &unwanted_jobs_)}) {
    if (names->empty()) continue;
    const Status deleted = client_.DeleteNamed(kind, *names);
    if (deleted.ok()) names->clear();
  }
  std::vector<std::string> finished;
  std::set<std::string> kinds;
  for (const auto& [number, batch] : batches_) {
    const bool used =
        std::ranges::any_of(tasks_, [&, n = number](const Task& task) { return task.batch == n; });
    if (used) continue;
    finished.push_back(std::to_string(number));
    kinds.insert(batch.kinds.begin(), batch.kinds.end());
  }
  if (finished.empty()) return;
  const std::string labels =
      fmt::format("{}={},{} in ({})", kDrillLabel, DrillLabel(options_.drill_id), kBatchLabel,
                  fmt::join(finished, ","));
  if (!Remove(labels, std::move(kinds)).ok()) return;
  for (const std::string& number : finished) {
    const auto batch = batches_.find(std::stoi(number));
    (void)WriteFileAtomic(batch->second.folder / kCleared, "");
    batches_.erase(batch);
  }
}

}  // namespace rharness
