// Carrying out one rerun: prepare, launch, watch, collect, verify, write evidence.
#include "harness/drill/rerun.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>

#include "harness/base/digest.h"
#include "harness/base/files.h"
#include "harness/base/held_folder.h"
#include "harness/base/log.h"
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
        folder_(RerunFolder(context.drill_folder, planned.run_id, planned.rerun)) {
    evidence_.run_id = planned.run_id;
    evidence_.rerun = planned.rerun;
    evidence_.attempt = attempt;
    evidence_.seeds = manifest.seeds;
    evidence_.outcome.kind = OutcomeKind::kNotStarted;
  }

  Result<RerunResult> Run() {
    evidence_.started = context_.clock->Now();
    const fs::path here = folder_.lexically_relative(context_.drill_folder);
    Status status = RemoveTreeBelow(context_.drill_folder, here);
    if (status.ok()) status = MakeDirectoriesBelow(context_.drill_folder, here);
    if (status.ok()) status = Steps();
    evidence_.ended = context_.clock->Now();
    if (!context_.keep_workspaces) {
      const Status removed = RemoveTreeBelow(context_.drill_folder, here / "workspace");
      if (!removed.ok()) {
        LogWarning(removed.error().ToString());
      }
    }
    // What befell this rerun must not end the drill; a journal that fails does, just below.
    if (!status.ok()) {
      infrastructure_ = status.error().code != ErrorCode::kIntegrity;
      (void)Block({"", status.error().ToString()});
    }
    RETURN_IF_ERROR(WriteEvidence());
    return RerunResult{std::move(evidence_), infrastructure_};
  }

 private:
  Status Steps() {
    ASSIGN_OR_RETURN(workspace_, PrepareWorkspace(manifest_, folder_ / "workspace", context_.places,
                                                  context_.cache));
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
    const auto remarks = VerifyAfterRun(workspace_, context_.cache);
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
    evidence_.environment = CaptureEnvironment(&variables);
    for (const auto& [name, value] : context_.environment) {
      // By name alone: a value may be a secret, and what changes arithmetic is captured with it.
      evidence_.remarks.push_back(
          {.code = "environment_overridden",
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
      return Block({"code", made.error().ToString()});
    }
    if (const Status given = launcher->HandOver(job); !given.ok()) {
      return Block({"", given.error().ToString()});
    }
    const auto spec = launcher->BuildCommand(job);
    if (!spec.ok()) return Block({"", spec.error().ToString()});
    Status journalled;
    ExecutionHooks hooks{.on_start = [&](int pid) { journalled = Record(JobState::kStarted, pid); },
                         .should_cancel = context_.should_cancel};
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
  // the workspace, and the rerun's folder must still be itself.
  Status ClearTraces() {
    std::error_code error;
    if (fs::canonical(folder_, error) != folder_.lexically_normal()) {
      return IntegrityError("the run moved the folder it was given", folder_.string());
    }
    for (const fs::directory_entry& entry : fs::directory_iterator(folder_, error)) {
      if (entry.path().filename() != "workspace") RETURN_IF_ERROR(RemoveTree(entry.path()));
    }
    return {};
  }

  // A child that never ran, or whose end nobody saw, is the machine's fault.
  void JudgeOutcome() {
    const OutcomeKind kind = evidence_.outcome.kind;
    if (kind != OutcomeKind::kNotStarted && kind != OutcomeKind::kLost &&
        kind != OutcomeKind::kCancelled) {
      return;
    }
    evidence_.obstacle = evidence_.outcome.ToString();
    infrastructure_ = kind != OutcomeKind::kCancelled && !StaysAway(evidence_.outcome);
  }

  Status WriteOutput(const std::string& name, const std::string& text, std::string* recorded) {
    if (text.empty()) return {};
    *recorded = (folder_ / name).lexically_relative(context_.drill_folder).string();
    return WriteFileAtomic(folder_ / name, text);
  }

  Status Record(JobState state, int pid = 0, std::string evidence_sha256 = {}) {
    JournalEntry entry{.job = planned_.job,
                       .state = state,
                       .attempt = evidence_.attempt,
                       .pid = pid,
                       .evidence_sha256 = std::move(evidence_sha256)};
    if (pid > 0) entry.start_ticks = ProcessStartTicks(pid).value_or(0);
    return context_.journal->Append(entry);
  }

  Status WriteEvidence() {
    const std::string text = ToJson(evidence_).Dump(2) + "\n";
    RETURN_IF_ERROR(WriteFileAtomic(folder_ / "evidence.json", text));
    // An interrupted rerun and one that will be tried again are not finished: resume repeats them.
    if (infrastructure_ || evidence_.outcome.kind == OutcomeKind::kCancelled) return {};
    return Record(JobState::kCollected, 0, Sha256HexOf(text));
  }

  const Manifest& manifest_;
  const PlannedRerun& planned_;
  const std::vector<int>& gpus_;
  const RerunContext& context_;
  const fs::path folder_;
  Workspace workspace_;
  Evidence evidence_;
  bool infrastructure_ = false;
};

}  // namespace

fs::path RerunFolder(const fs::path& drill_folder, const std::string& run_id, int rerun) {
  return drill_folder / "runs" / run_id / std::to_string(rerun);
}

std::map<std::string, std::string> BuildJobEnvironment(
    const Manifest& manifest, const fs::path& workspace, const std::vector<int>& gpus,
    const std::map<std::string, std::optional<std::string>>& overrides) {
  std::map<std::string, std::string> environment;
  if (manifest.image.kind == "host") environment = PickEnvironment({"PATH"});
  environment["HOME"] = workspace.string();
  environment["TMPDIR"] = (workspace / ".tmp").string();
  environment["LANG"] = "C.UTF-8";
  for (const auto& [name, value] : manifest.environment.variables) {
    if (!value) environment.erase(name);
    if (value && !IsWithheld(*value)) environment[name] = *value;
  }
  if (!gpus.empty()) environment["CUDA_VISIBLE_DEVICES"] = fmt::format("{}", fmt::join(gpus, ","));
  for (const auto& [name, value] : overrides) {
    if (value) environment[name] = *value;
    if (!value) environment.erase(name);
  }
  return environment;
}

Result<RerunResult> CarryOut(const Manifest& manifest, const PlannedRerun& planned, int attempt,
                             const std::vector<int>& gpus, const RerunContext& context) {
  return Attempt(manifest, planned, attempt, gpus, context).Run();
}

}  // namespace rharness
