// Carrying out one rerun: prepare, launch, watch, collect, verify, write evidence.
#include "harness/execution/rerun/rerun.h"

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
#include "harness/base/log.h"
#include "harness/base/trouble.h"
#include "harness/execution/launch/image_reference.h"
#include "harness/execution/rerun/class_check.h"
#include "harness/execution/rerun/collect.h"
#include "harness/execution/rerun/image_file.h"
#include "harness/execution/rerun/observed_run.h"
#include "harness/execution/rerun/short_temporary.h"
#include "harness/records/manifest/lock_files.h"
#include "harness/records/manifest/packages.h"

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
  Attempt(const Ticket& ticket, const RerunContext& context)
      : ticket_(ticket),
        context_(context),
        place_(context.folder, RerunFolder({}, ticket.run_id(), ticket.rerun)) {
    workspace_.path = place_.path() / "workspace";
    evidence_.run_id = ticket.run_id();
    evidence_.rerun = ticket.rerun;
    evidence_.attempt = ticket.attempt;
    evidence_.ticket_sha256 = TicketSha256(ticket);
    evidence_.machine = ThisMachine();
    evidence_.seeds = ticket.manifest.seeds;
    evidence_.outcome.kind = OutcomeKind::kNotStarted;
  }

  Result<RerunResult> Run() {
    evidence_.started = context_.clock->Now();
    Status status = place_.Take();
    if (status.ok()) status = Steps();
    evidence_.ended = context_.clock->Now();
    if (!ticket_.keep_workspace) RemoveWorkspace();
    // What befell this rerun must not end the drill; a journal that fails does, just below.
    if (!status.ok()) {
      infrastructure_ = status.error().code != ErrorCode::kIntegrity;
      (void)Block(status.error().ToString());
    }
    if (WasStopped()) Interrupt();
    RETURN_IF_ERROR(place_.Keep());
    RETURN_IF_ERROR(WriteEvidence());
    return RerunResult{std::move(evidence_), infrastructure_};
  }

 private:
  // A file that cannot be removed is reported: nothing else would show it.
  void RemoveWorkspace() {
    const std::string name = (place_.here() / "workspace").string();
    const Status removed = place_.RemoveWorkspace();
    if (removed.ok()) return;
    const std::string what = name + " is still there: " + removed.error().ToString();
    evidence_.remarks.push_back({.code = "workspace_left", .subject = name, .message = what});
    LogWarning(ticket_.job() + ": " + what);
  }

  Status Steps() {
    if (!IsOnItsNode() || !IsOnRecordedClass()) return {};
    ASSIGN_OR_RETURN(workspace_, PrepareWorkspace(ticket_.manifest, place_.path() / "workspace",
                                                  ticket_.places, context_.cache,
                                                  {.disk_bytes = ticket_.resources.disk_bytes,
                                                   .should_cancel = context_.should_cancel}));
    evidence_.code_commit = workspace_.code_commit;
    evidence_.code_diff_sha256 = workspace_.code_diff_sha256;
    evidence_.code_files = workspace_.code_files;
    evidence_.data = workspace_.data;
    evidence_.remarks.insert(evidence_.remarks.end(), workspace_.remarks.begin(),
                             workspace_.remarks.end());
    if (workspace_.obstacle) return Block(workspace_.obstacle->reason, workspace_.obstacle->layer);
    Launcher* launcher = FindLauncher();
    if (launcher == nullptr) return {};
    if (!PrepareImage(launcher)) return {};
    ASSIGN_OR_RETURN(const bool proved, ProveImage());
    if (!proved) return {};
    RETURN_IF_ERROR(Record(AttemptState::kPrepared));
    RETURN_IF_ERROR(Launch(launcher));
    RETURN_IF_ERROR(Record(AttemptState::kEnded));
    if (evidence_.outcome.Succeeded()) {
      RETURN_IF_ERROR(CollectOutputs(ticket_.manifest, workspace_, place_.path() / "artifacts",
                                     context_.folder, &evidence_));
    }
    ASSIGN_OR_RETURN(const auto remarks, VerifyAfterRun(workspace_, context_.cache));
    evidence_.remarks.insert(evidence_.remarks.end(), remarks.begin(), remarks.end());
    return {};
  }

  Status Block(std::string reason, std::optional<Layer> layer = {}) {
    evidence_.obstacle = std::move(reason);
    evidence_.obstacle_layer = layer;
    CaptureJobEnvironment();
    return {};
  }

  // Evidence of another node says nothing about this one.
  bool IsOnItsNode() {
    if (ticket_.node.empty() || ticket_.node == evidence_.machine.node) return true;
    infrastructure_ = true;
    const Machine& here = evidence_.machine;
    (void)Block(fmt::format("is for node {} of the cluster, and ran on {}", ticket_.node,
                            here.node.empty() ? here.host : here.node));
    return false;
  }

  // Before any effort: on other GPUs a difference would say nothing.
  bool IsOnRecordedClass() {
    if (ticket_.resources.gpus <= 0) return true;
    ClassCheck check = CheckClass(ticket_, CaptureEnvironment().hardware, evidence_.machine.host);
    if (check.remark) evidence_.remarks.push_back(std::move(*check.remark));
    if (check.obstacle) (void)Block(check.obstacle->reason, check.obstacle->layer);
    return !check.obstacle;
  }

  Launcher* FindLauncher() {
    const auto found = context_.launchers.find(ticket_.launcher);
    if (found != context_.launchers.end()) return found->second;
    const std::string_view kind = NameIn(kImageKindNames, ticket_.manifest.image.kind);
    (void)Block(
        ticket_.launcher.empty()
            ? fmt::format("recorded in an image of kind '{}', which this drill cannot start", kind)
            : fmt::format("needs {}, which is not available on {}", ticket_.launcher,
                          evidence_.machine.host));
    return nullptr;
  }

  // An image that does not exist is final; an engine or registry in trouble may recover.
  bool PrepareImage(Launcher* launcher) {
    const Status status = launcher->Prepare(ticket_.manifest.image);
    if (status.ok()) return true;
    const ErrorCode code = status.error().code;
    infrastructure_ =
        code == ErrorCode::kProcess || code == ErrorCode::kTimeout || code == ErrorCode::kIo;
    std::optional<Layer> layer;
    if (code == ErrorCode::kIntegrity) layer = Layer::kEnvironment;
    (void)Block(status.error().ToString(), layer);
    return false;
  }

  // Of an image that is a file, which no engine proves. False: an obstacle.
  Result<bool> ProveImage() {
    if (!IsImageFile(ticket_.manifest.image)) return true;
    ASSIGN_OR_RETURN(ImageFile file,
                     ProveImageFile(ticket_.manifest.image, ticket_.places, context_.cache));
    image_file_ = std::move(file.path);
    if (file.obstacle) (void)Block(file.obstacle->reason, file.obstacle->layer);
    return !file.obstacle;
  }

  Job BuildJob(ObservedRun* observed) {
    Job job{.name = fmt::format("{}.{}", ticket_.job(), evidence_.attempt),
            .command = ticket_.manifest.command,
            .workspace = fs::absolute(workspace_.path),
            .working_directory = ticket_.manifest.working_directory,
            .mounts = workspace_.mounts,
            .environment = JobEnvironment(),
            .image = ticket_.manifest.image,
            .image_file = image_file_,
            .resources = ticket_.resources,
            .container_root = ticket_.container_root};
    job.limits.timeout = std::chrono::duration_cast<std::chrono::nanoseconds>(
        Seconds(ticket_.resources.timeout_seconds));
    job.limits.memory_bytes = ticket_.resources.memory_bytes;
    job.limits.processes = kMostProcesses;
    job.limits.disk_bytes = ticket_.resources.disk_bytes;
    job.limits.disk_root = job.workspace;
    job.limits.footprint = RunsAmongUs(ticket_);
    job.limits.footprint_variables = FootprintVariables();
    GivePython(ticket_.manifest, workspace_.python, ticket_.environment, &job);
    observed->AddTo(&job);
    return job;
  }

  std::map<std::string, std::string> JobEnvironment() const {
    auto variables = BuildJobEnvironment(ticket_.manifest, fs::absolute(workspace_.path),
                                         ticket_.gpus, ticket_.environment);
    if (temporary_) temporary_->PutInto(&variables);
    return variables;
  }

  // What the command sees, or would have seen. The host's packages are the run's own only when it
  // runs on the host.
  void CaptureJobEnvironment() {
    const std::map<std::string, std::string> variables = JobEnvironment();
    // Variables in the record, and those that the drill changes.
    std::set<std::string> named;
    for (const auto& [name, value] : ticket_.manifest.environment.variables) named.insert(name);
    for (const auto& [name, value] : ticket_.environment) named.insert(name);
    evidence_.environment = CaptureEnvironment(&variables, named);
    evidence_.environment.lock_files =
        FindLockFiles(workspace_.path, ticket_.manifest.working_directory);
    for (const auto& [name, value] : ticket_.environment) {
      evidence_.remarks.push_back(
          {.code = std::string(kEnvironmentOverridden),
           .subject = "variable " + name,
           .observed = value ? "set" : "unset",
           .message = fmt::format("the drill {} {} (--env)", value ? "set" : "unset", name)});
    }
    auto& software = evidence_.environment.software;
    if (ticket_.manifest.image.kind == ImageKind::kHost) {
      if (const std::string packages = HostPackagesSha256(); !packages.empty()) {
        software["host_packages"] = packages;
      }
    } else {
      software.erase("glibc");
      software.erase("os");
    }
  }

  struct Execution {
    ProcessResult result;
    Result<ImageProof> proof;
  };

  // Empty: an obstacle.
  Result<std::optional<Execution>> Execute(Launcher* launcher, ObservedRun* observed) {
    const Job job = BuildJob(observed);
    const Status given = launcher->HandOver(job);
    const auto spec = given.ok() ? launcher->BuildCommand(job) : Result<ProcessSpec>(given.error());
    if (!spec.ok()) {
      RETURN_IF_ERROR(Block(spec.error().ToString()));
      return std::optional<Execution>();
    }
    Status journalled;
    // A run that the journal does not know of would be run for nothing.
    ExecutionHooks hooks{
        .on_start = [&](int pid) { journalled = Record(AttemptState::kStarted, pid); },
        .should_cancel =
            [&] {
              return !journalled.ok() || (context_.should_cancel && context_.should_cancel());
            }};
    ProcessResult result = context_.executor->Execute(*spec, job.limits, hooks);
    evidence_.outcome = result.outcome;
    observed->Collect(&result, evidence_.started, &evidence_);
    // Before anything that can fail: it also removes the container.
    auto proof = launcher->Finish(job, &evidence_.outcome);
    if (!journalled.ok()) return journalled.error();
    if (observed->GivesUp(&evidence_)) return Execute(launcher, observed);
    return std::optional(Execution{std::move(result), std::move(proof)});
  }

  Status Launch(Launcher* launcher) {
    CaptureJobEnvironment();
    if (const Status made = MakeDirectoriesBelow(workspace_.path, ".tmp"); !made.ok()) {
      if (IsTrouble(made.error())) return made.error();
      return Block(made.error().ToString(), Layer::kCode);
    }
    if (RunsAmongUs(ticket_)) temporary_.emplace(fs::absolute(workspace_.path) / ".tmp");
    ObservedRun observed(ticket_, workspace_);
    ASSIGN_OR_RETURN(const auto ran, Execute(launcher, &observed));
    if (!ran) return {};
    AddFindings(ticket_.manifest, &evidence_);
    RETURN_IF_ERROR(place_.Clear());
    RETURN_IF_ERROR(WriteOutput("stdout.log", ran->result.stdout_text, &evidence_.stdout_path));
    RETURN_IF_ERROR(WriteOutput("stderr.log", ran->result.stderr_text, &evidence_.stderr_path));
    ASSIGN_OR_RETURN(const bool still_proved, ProveImage());
    if (!still_proved) return {};
    if (ran->proof.ok()) {
      evidence_.image_digest = ran->proof->digest;
      evidence_.image_id = ran->proof->image_id;
    } else if (ran->proof.error().code == ErrorCode::kIntegrity) {
      return Block(ran->proof.error().ToString(), Layer::kEnvironment);
    } else {
      infrastructure_ = true;
      return Block(ran->proof.error().ToString());
    }
    JudgeOutcome();
    return {};
  }

  // A child that never ran, or whose end nobody saw, is the machine's fault; so is every end of a
  // child that had no space to write, even if it did not notice.
  void JudgeOutcome() {
    const OutcomeKind kind = evidence_.outcome.kind;
    const auto full = WhyFull(place_.path());
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
    return std::ranges::any_of(evidence_.remarks, [](const Finding& remark) {
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

  // A rerun that ends while the drill stops was interrupted, whatever its end looks like: a stop
  // that signals every process ends the run as well.
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
    evidence_.obstacle_layer.reset();
    infrastructure_ = false;
  }

  Status WriteOutput(const std::string& name, const std::string& text, std::string* recorded) {
    if (text.empty()) return {};
    *recorded = (place_.here() / name).string();
    return place_.WriteFile(name, text);
  }

  Status Record(AttemptState state, int pid = 0) {
    RerunStep step{.job = ticket_.job(), .state = state, .attempt = evidence_.attempt, .pid = pid};
    if (pid > 0) step.start_ticks = ProcessStartTicks(pid).value_or(0);
    return Tell(step);
  }

  Status Tell(const RerunStep& step) const {
    return context_.on_step ? context_.on_step(step) : Status();
  }

  Status WriteEvidence() {
    const std::string text = ToJson(evidence_).Dump(2) + "\n";
    RETURN_IF_ERROR(place_.WriteFile("evidence.json", text));
    // An interrupted rerun and one that will be tried again are not finished: resume repeats them.
    if (infrastructure_ || evidence_.outcome.kind == OutcomeKind::kCancelled) return {};
    RerunStep step{.job = ticket_.job(),
                   .state = AttemptState::kCollected,
                   .attempt = evidence_.attempt,
                   .evidence_sha256 = Sha256HexOf(text)};
    ASSIGN_OR_RETURN(step.logs_sha256, LogsSha256(context_.folder, evidence_));
    return Tell(step);
  }

  const Ticket& ticket_;
  const RerunContext& context_;
  RerunPlace place_;
  Workspace workspace_;
  fs::path image_file_;
  Evidence evidence_;
  bool infrastructure_ = false;
  std::optional<ShortTemporary> temporary_;  // while the command runs
};

}  // namespace

Result<RerunResult> CarryOut(const Ticket& ticket, const RerunContext& context) {
  return Attempt(ticket, context).Run();
}

}  // namespace rharness
