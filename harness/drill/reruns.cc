// Leftovers ended, finished reruns taken up, the rest through the dispatcher.
#include "harness/drill/reruns.h"

#include <fmt/format.h>

#include <utility>

#include "harness/base/files.h"
#include "harness/base/held_folder.h"
#include "harness/base/log.h"
#include "harness/base/trouble.h"
#include "harness/drill/drill_folder.h"
#include "harness/execution/dispatch/scheduler.h"
#include "harness/execution/rerun/rerun.h"

namespace rharness {

namespace fs = std::filesystem;

Result<WorkFolder> BeginWorkFolder(const fs::path& out, const Json& header) {
  ASSIGN_OR_RETURN(FolderLock lock, FolderLock::TakeOwn(out));
  RemoveStrays(out);
  ASSIGN_OR_RETURN(Journal journal, Journal::Create(out / "journal.jsonl", header));
  RETURN_IF_ERROR(MakeRunsFolder(out));
  return WorkFolder{.lock = std::move(lock), .journal = std::move(journal), .past = {}};
}

Result<WorkFolder> ResumeWorkFolder(const fs::path& out) {
  RETURN_IF_ERROR(RequireDrill(out));
  ASSIGN_OR_RETURN(FolderLock lock, FolderLock::TakeOwn(out));
  for (const char* name : {"journal.jsonl", "runs"}) {
    const Status own = RequireOwn(out / name);
    if (!own.ok() && own.error().code != ErrorCode::kNotFound) return own.error();
  }
  RemoveStrays(out);
  RETURN_IF_ERROR(MakeRunsFolder(out));
  JournalContent past;
  ASSIGN_OR_RETURN(Journal journal, Journal::Open(out / "journal.jsonl", &past));
  return WorkFolder{
      .lock = std::move(lock), .journal = std::move(journal), .past = std::move(past)};
}

Status ResumeSettings(const DrillOptions& given, DrillSettings* settings) {
  RETURN_IF_ERROR(RefuseOtherSettings(given, *settings));
  RETURN_IF_ERROR(RefuseLinks(given.out, settings->run_ids));
  settings->options.out = given.out;
  settings->options.retry = given.retry;
  settings->options.quiet_hours = given.quiet_hours;
  return {};
}

Reruns::Reruns(const DrillSettings& settings, const DrillHooks& hooks, Clock* clock,
               WorkFolder folder)
    : settings_(settings),
      options_(settings.options),
      hooks_(hooks),
      clock_(*clock),
      folder_(std::move(folder)),
      storm_(options_.retry.storm) {}

Status Reruns::Begin(const std::vector<std::string>& launchers) {
  ASSIGN_OR_RETURN(substitutes_, Substitutes::Load(options_.substitutes, settings_.started));
  notes_ = substitutes_.Notes();
  EndLeftovers();
  RETURN_IF_ERROR(folder_.journal.AppendSession(JobSession()));
  RETURN_IF_ERROR(dispatching_.Begin(
      options_, settings_.drill_id, launchers,
      [this](const RerunStep& step) { return folder_.journal.Append(step); }, hooks_.should_stop,
      &clock_, &notes_));
  began_ = clock_.Monotonic();
  return {};
}

void Reruns::EndLeftovers() const {
  for (const std::string& session : folder_.past.sessions) KillSession(session);
  for (const auto& [job, entry] : folder_.past.last) {
    if (entry.state == AttemptState::kStarted && entry.pid > 0) {
      KillLeftoverGroup(entry.pid, entry.start_ticks);
    }
  }
}

Result<std::optional<Evidence>> Reruns::Finished(const PlannedRerun& rerun, const InputOf& input) {
  const std::optional<Evidence> none;
  const auto found = folder_.past.last.find(rerun.job);
  if (found == folder_.past.last.end() || found->second.state != AttemptState::kCollected) {
    return none;
  }
  Result<Evidence> evidence =
      LoadIntact(options_.out, rerun, ManifestSha256(input(rerun).manifest), found->second);
  if (evidence.ok()) {
    // That of a finished rerun may have outlived a process that was killed, or a disk in trouble.
    const fs::path workspace = RerunFolder({}, rerun.run_id, rerun.rerun) / "workspace";
    const Status removed =
        options_.keep_workspaces ? Status() : RemoveTreeBelow(options_.out, workspace);
    if (!removed.ok()) LogWarning(removed.error().ToString());
    return std::optional(std::move(*evidence));
  }
  if (IsTrouble(evidence.error())) return evidence.error();
  damage_.push_back(evidence.error().ToString() + "; it was rerun");
  LogWarning(evidence.error().ToString() + "; rerunning");
  return none;
}

Status Reruns::Execute(const std::vector<PlannedRerun>& reruns, const InputOf& input,
                       const Take& take) {
  std::vector<PlannedRerun> due;
  std::vector<std::pair<double, MonotonicTime>> took;
  for (const PlannedRerun& rerun : reruns) {
    ASSIGN_OR_RETURN(auto evidence, Finished(rerun, input));
    if (!evidence) {
      due.push_back(rerun);
      continue;
    }
    ++done_;
    if (evidence->outcome.Succeeded()) {
      took.emplace_back(rerun.expected_seconds, evidence->outcome.wall);
    }
    take(rerun, std::move(*evidence));
  }
  JobQueue queue(due, options_.plan.slots, options_.plan.jobs, options_.retry);
  for (const auto& [expected_seconds, wall] : took) queue.Learn(expected_seconds, wall);
  const auto ended = [&](const PlannedRerun& rerun, AttemptEnd end) {
    const Evidence& evidence = end.evidence;
    LogDebug(
        fmt::format("{}: {}", rerun.job,
                    evidence.obstacle.empty() ? evidence.outcome.ToString() : evidence.obstacle));
    take(rerun, std::move(end.evidence));
  };
  const SchedulerHooks hooks{
      .ticket = [&](const PlannedRerun& rerun,
                    const Start& start) { return TicketOf(rerun, start, input(rerun)); },
      .ended = ended,
      .progress = [this](const Progress& progress) { Show(progress); },
      .should_stop = hooks_.should_stop,
      .may_start = [this] { return !IsQuiet(options_.quiet_hours, LocalMinute(clock_.Now())); },
      .storm = &storm_};
  RETURN_IF_ERROR(RunQueue(&queue, dispatching_.dispatcher(), hooks, &clock_));
  done_ += queue.finished() - queue.dropped();
  return {};
}

bool Reruns::IsStopped() const {
  return storm_.Raging().has_value() || (hooks_.should_stop && hooks_.should_stop());
}

std::vector<std::string> Reruns::Notes() const {
  std::vector<std::string> notes = notes_;
  if (const auto storm = storm_.Raging()) notes.push_back(*storm + "; --resume continues");
  return notes;
}

// A queue knows of its own reruns alone.
void Reruns::Show(Progress progress) const {
  if (!hooks_.progress) return;
  progress.finished += done_;
  progress.total += done_;
  progress.elapsed = Elapsed();
  hooks_.progress(progress);
}

Ticket Reruns::TicketOf(const PlannedRerun& rerun, const Start& start, RerunInput input) const {
  LogDebug(fmt::format("{}: attempt {} starts", rerun.job, start.attempt));
  return {.drill_id = settings_.drill_id,
          .rerun = rerun.rerun,
          .attempt = start.attempt,
          .launcher = LauncherOf(input.manifest, options_),
          .container_root = options_.container_root,
          .keep_workspace = options_.keep_workspaces,
          .observe = !options_.no_observe,
          .resources = rerun.resources,
          // A scheduler gives its tasks GPUs itself.
          .gpus = options_.dispatch == "local" ? start.gpus : std::vector<int>(),
          .places = std::move(input.places),
          .environment = std::move(input.environment),
          .ranks = std::move(input.ranks),
          .substitutions = substitutes_.For(input.manifest),
          .node = rerun.node,
          .ports = options_.ports,
          .manifest = std::move(input.manifest)};
}

}  // namespace rharness
