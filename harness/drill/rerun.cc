// Carrying out one rerun: prepare, launch, watch, collect, verify, write evidence.
#include "harness/drill/rerun.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <optional>
#include <set>
#include <system_error>

#include "harness/base/digest.h"
#include "harness/base/files.h"
#include "harness/base/held_folder.h"
#include "harness/base/log.h"
#include "harness/base/trouble.h"
#include "harness/drill/collect.h"
#include "harness/manifest/packages.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

// A program that is not here, or cannot be executed, is not here a few seconds later either.
bool StaysAway(const Outcome& outcome) {
  constexpr std::array kFinal = {ENOENT, ENOTDIR, EACCES, EPERM, ENOEXEC,
                                 E2BIG,  ELOOP,   EISDIR, EINVAL};
  return outcome.kind == OutcomeKind::kNotStarted &&
         std::find(kFinal.begin(), kFinal.end(), outcome.error_number) != kFinal.end();
}

// One attempt of one rerun, step by step.
class Attempt {
 public:
  Attempt(const Manifest& manifest, const PlannedRerun& planned, int attempt,
          const std::vector<int>& gpus, const RerunContext& context)
      : manifest_(manifest),
        planned_(planned),
        gpus_(gpus),
        context_(context),
        here_(RerunFolder({}, planned.run_id, planned.rerun)),
        folder_(context.drill_folder / here_) {
    workspace_.path = folder_ / "workspace";
    evidence_.run_id = planned.run_id;
    evidence_.rerun = planned.rerun;
    evidence_.attempt = attempt;
    evidence_.seeds = manifest.seeds;
    evidence_.outcome.kind = OutcomeKind::kNotStarted;
  }

  Result<RerunResult> Run() {
    evidence_.started = context_.clock->Now();
    Status status = RemoveTreeBelow(context_.drill_folder, here_);
    if (status.ok()) status = TakePlace();
    if (status.ok()) status = Steps();
    evidence_.ended = context_.clock->Now();
    if (!context_.keep_workspaces) RemoveWorkspace();
    // What befell this rerun must not end the drill; a journal that fails does, just below.
    if (!status.ok()) {
      infrastructure_ = status.error().code != ErrorCode::kIntegrity;
      (void)Block({"", status.error().ToString()});
    }
    if (WasStopped()) Interrupt();
    RETURN_IF_ERROR(KeepPlace());
    RETURN_IF_ERROR(WriteEvidence());
    return RerunResult{std::move(evidence_), infrastructure_};
  }

 private:
  // The rerun's folder by its name now, and by no link.
  Result<HeldFolder> OpenPlace() const {
    ASSIGN_OR_RETURN(const HeldFolder drill, HeldFolder::Open(context_.drill_folder));
    return drill.OpenFolder(here_);
  }

  // Makes the rerun's folder and holds it, whatever a run does to its name.
  Status TakePlace() {
    RETURN_IF_ERROR(MakeDirectoriesBelow(context_.drill_folder, here_));
    ASSIGN_OR_RETURN(held_, OpenPlace());
    return {};
  }

  // Errors: integrity where another folder, or none, has its name; else the machine's trouble.
  Status CheckPlace() const {
    const auto named = OpenPlace();
    if (!named.ok() && IsTrouble(named.error())) return named.error();
    std::error_code error;
    if (named.ok() && fs::equivalent(named->through(), held_->through(), error)) return {};
    return IntegrityError("the run moved the folder it was given", folder_.string());
  }

  // Evidence is written to no folder but the rerun's own.
  Status KeepPlace() {
    if (!held_) return TakePlace();
    const Status place = CheckPlace();
    if (place.ok() || place.error().code != ErrorCode::kIntegrity) return {};
    RETURN_IF_ERROR(RemoveTreeBelow(context_.drill_folder, here_));
    return TakePlace();
  }

  // What cannot be removed is told: nothing else would say that it is still there.
  void RemoveWorkspace() {
    const std::string name = (here_ / "workspace").string();
    const Status removed = RemoveTreeBelow(context_.drill_folder, name);
    if (removed.ok()) return;
    const std::string what = name + " is still there: " + removed.error().ToString();
    evidence_.remarks.push_back({.code = "workspace_left", .subject = name, .message = what});
    LogWarning(planned_.job + ": " + what);
  }

  Status Steps() {
    ASSIGN_OR_RETURN(workspace_, PrepareWorkspace(manifest_, folder_ / "workspace", context_.places,
                                                  context_.cache,
                                                  {.disk_bytes = planned_.resources.disk_bytes,
                                                   .should_cancel = context_.should_cancel}));
    evidence_.code_commit = workspace_.code_commit;
    evidence_.code_files = workspace_.code_files;
    evidence_.data = workspace_.data;
    evidence_.remarks = workspace_.remarks;
    if (workspace_.obstacle) return Block(*workspace_.obstacle);
    Launcher* launcher = FindLauncher();
    if (launcher == nullptr) return {};
    if (!PrepareImage(launcher)) return {};
    RETURN_IF_ERROR(Record(JobState::kPrepared));
    RETURN_IF_ERROR(Launch(launcher));
    RETURN_IF_ERROR(Record(JobState::kEnded));
    if (evidence_.outcome.Succeeded()) {
      RETURN_IF_ERROR(CollectOutputs(manifest_, workspace_, folder_ / "artifacts",
                                     context_.drill_folder, &evidence_));
    }
    ASSIGN_OR_RETURN(const auto remarks, VerifyAfterRun(workspace_, context_.cache));
    evidence_.remarks.insert(evidence_.remarks.end(), remarks.begin(), remarks.end());
    return {};
  }

  Status Block(const Obstacle& obstacle) {
    evidence_.obstacle = obstacle.reason;
    evidence_.obstacle_layer = obstacle.layer;
    CaptureJobEnvironment();
    return {};
  }

  Launcher* FindLauncher() {
    const auto found = context_.launchers.find(manifest_.image.kind);
    if (found != context_.launchers.end()) return found->second;
    (void)Block(
        {"", fmt::format("recorded in an image of kind '{}', and this drill has no launcher "
                         "for it",
                         manifest_.image.kind)});
    return nullptr;
  }

  // An image that does not exist is final; an engine or registry in trouble may recover.
  bool PrepareImage(Launcher* launcher) {
    const Status status = launcher->Prepare(manifest_.image);
    if (status.ok()) return true;
    const ErrorCode code = status.error().code;
    infrastructure_ =
        code == ErrorCode::kProcess || code == ErrorCode::kTimeout || code == ErrorCode::kIo;
    (void)Block({code == ErrorCode::kIntegrity ? "environment" : "", status.error().ToString()});
    return false;
  }

  Job BuildJob() {
    Job job{.name = fmt::format("{}.{}", planned_.job, evidence_.attempt),
            .command = manifest_.command,
            .workspace = fs::absolute(workspace_.path),
            .working_directory = manifest_.working_directory,
            .mounts = workspace_.mounts,
            .environment = JobEnvironment(),
            .image = manifest_.image,
            .resources = planned_.resources,
            .limits = {},
            .container_root = context_.container_root};
    job.limits.timeout = std::chrono::duration_cast<std::chrono::nanoseconds>(
        Seconds(planned_.resources.timeout_seconds));
    job.limits.memory_bytes = planned_.resources.memory_bytes;
    job.limits.disk_bytes = planned_.resources.disk_bytes;
    job.limits.disk_root = job.workspace;
    // What runs in an image is known by the image.
    job.limits.footprint = manifest_.image.kind == "host";
    job.limits.footprint_variables = FootprintVariables();
    return job;
  }

  std::map<std::string, std::string> JobEnvironment() const {
    return BuildJobEnvironment(manifest_, fs::absolute(workspace_.path), gpus_,
                               context_.environment);
  }

  // What the command sees, or would have seen. The host's packages are the run's own only when it
  // runs on the host.
  void CaptureJobEnvironment() {
    const std::map<std::string, std::string> variables = JobEnvironment();
    // What the record names, and what the drill changes.
    std::set<std::string> named;
    for (const auto& [name, value] : manifest_.environment.variables) named.insert(name);
    for (const auto& [name, value] : context_.environment) named.insert(name);
    evidence_.environment = CaptureEnvironment(&variables, named);
    for (const auto& [name, value] : context_.environment) {
      evidence_.remarks.push_back(
          {.code = std::string(kEnvironmentOverridden),
           .subject = "variable " + name,
           .observed = value ? "set" : "unset",
           .message = fmt::format("the drill {} {} (--env)", value ? "set" : "unset", name)});
    }
    auto& software = evidence_.environment.software;
    if (manifest_.image.kind == "host") {
      if (const std::string packages = HostPackagesSha256(); !packages.empty()) {
        software["host_packages"] = packages;
      }
    } else {
      software.erase("glibc");
      software.erase("os");
    }
  }

  Status Launch(Launcher* launcher) {
    const Job job = BuildJob();
    CaptureJobEnvironment();
    if (const Status made = MakeDirectoriesBelow(workspace_.path, ".tmp"); !made.ok()) {
      if (IsTrouble(made.error())) return made.error();
      return Block({"code", made.error().ToString()});
    }
    if (const Status given = launcher->HandOver(job); !given.ok()) {
      return Block({"", given.error().ToString()});
    }
    const auto spec = launcher->BuildCommand(job);
    if (!spec.ok()) return Block({"", spec.error().ToString()});
    Status journalled;
    // A run that the journal does not know of would be run for nothing.
    ExecutionHooks hooks{.on_start = [&](int pid) { journalled = Record(JobState::kStarted, pid); },
                         .should_cancel =
                             [&] {
                               return !journalled.ok() ||
                                      (context_.should_cancel && context_.should_cancel());
                             }};
    ProcessResult result = context_.executor->Execute(*spec, job.limits, hooks);
    evidence_.outcome = result.outcome;
    if (job.limits.footprint) {
      evidence_.environment.packages = CapturePackages(result.footprint);
    }
    // Before anything that can fail: it also takes the container away.
    const auto proof = launcher->Finish(job, &evidence_.outcome);
    if (!journalled.ok()) return journalled.error();
    RETURN_IF_ERROR(ClearTraces());
    RETURN_IF_ERROR(WriteOutput("stdout.log", result.stdout_text, &evidence_.stdout_path));
    RETURN_IF_ERROR(WriteOutput("stderr.log", result.stderr_text, &evidence_.stderr_path));
    if (proof.ok()) {
      evidence_.image_digest = proof->digest;
      evidence_.image_id = proof->image_id;
    } else if (proof.error().code == ErrorCode::kIntegrity) {
      return Block({"environment", proof.error().ToString()});
    } else {
      infrastructure_ = true;
      return Block({"", proof.error().ToString()});
    }
    JudgeOutcome();
    return {};
  }

  // A host run may have left things where its evidence belongs: nothing of its making stays beside
  // the workspace, and the rerun's folder must still be itself. It is cleared below its handle.
  Status ClearTraces() {
    RETURN_IF_ERROR(CheckPlace());
    std::error_code error;
    std::vector<fs::path> traces;
    fs::directory_iterator entry(held_->through(), error);
    for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
      if (entry->path().filename() != "workspace") traces.push_back(entry->path());
    }
    if (error) return IoErrorFromErrno("cannot list", error.value(), folder_.string());
    for (const fs::path& trace : traces) RETURN_IF_ERROR(RemoveTree(trace));
    return {};
  }

  // A child that never ran, or whose end nobody saw, is the machine's fault; so is whatever becomes
  // of one that had no space to write in, also where it did not notice.
  void JudgeOutcome() {
    const OutcomeKind kind = evidence_.outcome.kind;
    const auto full = WhyFull(folder_);
    if (full && (kind == OutcomeKind::kExited || kind == OutcomeKind::kSignalled)) {
      evidence_.obstacle = fmt::format("the run {} where its file system is full: {}",
                                       evidence_.outcome.ToString(), *full);
      infrastructure_ = true;
      return;
    }
    if (kind != OutcomeKind::kNotStarted && kind != OutcomeKind::kLost &&
        kind != OutcomeKind::kCancelled) {
      return;
    }
    evidence_.obstacle = evidence_.outcome.ToString();
    infrastructure_ = kind != OutcomeKind::kCancelled && !StaysAway(evidence_.outcome);
  }

  bool HasTroubleWithOutputs() const {
    return std::ranges::any_of(evidence_.remarks, [](const Remark& remark) {
      return remark.code == "output_missing" || remark.code == "output_unreadable";
    });
  }

  // How long to wait for a stop that may have reached the run before it reached this process.
  std::chrono::milliseconds StopGrace() const {
    constexpr std::array kStops = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGKILL};
    const Outcome& outcome = evidence_.outcome;
    if (outcome.Succeeded() && !HasTroubleWithOutputs()) return std::chrono::milliseconds(0);
    const int signal =
        outcome.kind == OutcomeKind::kSignalled ? outcome.signal : outcome.exit_code - 128;
    const bool stop = std::ranges::find(kStops, signal) != kStops.end();
    return std::chrono::milliseconds(stop ? 1000 : 100);
  }

  // A rerun that ends while the drill is being stopped was interrupted, whatever its end looks
  // like: a stop that signals every process ends the run as well.
  bool WasStopped() const {
    if (!context_.should_cancel || evidence_.outcome.kind == OutcomeKind::kCancelled) return false;
    const auto until = context_.clock->Monotonic() + StopGrace();
    while (!context_.should_cancel()) {
      if (context_.clock->Monotonic() >= until) return false;
      context_.clock->SleepFor(std::chrono::milliseconds(10));
    }
    return true;
  }

  void Interrupt() {
    const std::string end =
        evidence_.obstacle.empty() ? evidence_.outcome.ToString() : evidence_.obstacle;
    evidence_.outcome.kind = OutcomeKind::kCancelled;
    evidence_.outcome.detail = fmt::format("while the drill was being stopped ({})", end);
    evidence_.obstacle = evidence_.outcome.ToString();
    evidence_.obstacle_layer.clear();
    infrastructure_ = false;
  }

  Status WriteOutput(const std::string& name, const std::string& text, std::string* recorded) {
    if (text.empty()) return {};
    *recorded = (here_ / name).string();
    return held_->WriteFile(name, text);
  }

  Status Record(JobState state, int pid = 0) {
    JournalEntry entry{
        .job = planned_.job, .state = state, .attempt = evidence_.attempt, .pid = pid};
    if (pid > 0) entry.start_ticks = ProcessStartTicks(pid).value_or(0);
    return context_.journal->Append(entry);
  }

  Status WriteEvidence() {
    const std::string text = ToJson(evidence_).Dump(2) + "\n";
    RETURN_IF_ERROR(held_->WriteFile("evidence.json", text));
    // An interrupted rerun and one that will be tried again are not finished: resume repeats them.
    if (infrastructure_ || evidence_.outcome.kind == OutcomeKind::kCancelled) return {};
    JournalEntry entry{.job = planned_.job,
                       .state = JobState::kCollected,
                       .attempt = evidence_.attempt,
                       .evidence_sha256 = Sha256HexOf(text)};
    ASSIGN_OR_RETURN(entry.logs_sha256, LogsSha256(context_.drill_folder, evidence_));
    return context_.journal->Append(entry);
  }

  const Manifest& manifest_;
  const PlannedRerun& planned_;
  const std::vector<int>& gpus_;
  const RerunContext& context_;
  const fs::path here_;  // below the drill's folder
  const fs::path folder_;
  std::optional<HeldFolder> held_;
  Workspace workspace_;
  Evidence evidence_;
  bool infrastructure_ = false;
};

}  // namespace

fs::path RerunFolder(const fs::path& drill_folder, const std::string& run_id, int rerun) {
  return drill_folder / "runs" / run_id / RerunName(rerun);
}

Result<std::string> LogsSha256(const fs::path& drill_folder, const Evidence& evidence) {
  Sha256 digest;
  for (const std::string& path : {evidence.stdout_path, evidence.stderr_path}) {
    std::string text;
    if (!path.empty()) {
      ASSIGN_OR_RETURN(text, ReadFile(drill_folder / path));
    }
    digest.UpdateU64(text.size());
    digest.Update(text);
  }
  return ToHex(digest.Finish());
}

Result<RerunResult> CarryOut(const Manifest& manifest, const PlannedRerun& planned, int attempt,
                             const std::vector<int>& gpus, const RerunContext& context) {
  return Attempt(manifest, planned, attempt, gpus, context).Run();
}

}  // namespace rharness
