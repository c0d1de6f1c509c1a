// Carrying out one rerun: prepare, launch, watch, collect, verify, write evidence.
#include "harness/execution/rerun/rerun.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "harness/base/digest.h"
#include "harness/base/files.h"
#include "harness/base/log.h"
#include "harness/base/trouble.h"
#include "harness/execution/launch/image_reference.h"
#include "harness/execution/rerun/class_check.h"
#include "harness/execution/rerun/collect.h"
#include "harness/execution/rerun/gang_side.h"
#include "harness/execution/rerun/image_file.h"
#include "harness/execution/rerun/observed_run.h"
#include "harness/execution/rerun/rerun_end.h"
#include "harness/execution/rerun/rerun_job.h"
#include "harness/execution/rerun/short_temporary.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

// One attempt of one rerun, step by step.
class Attempt {
 public:
  Attempt(const Ticket& ticket, const RerunContext& context)
      : ticket_(ticket),
        context_(context),
        place_(GangSide::PlaceOf(context.folder, ticket, context.node),
               RerunFolder({}, ticket.run_id(), ticket.rerun)) {
    if (IsGang(ticket)) {
      gang_ =
          std::make_unique<GangSide>(ticket, context.folder, context.node, context.should_cancel);
    }
    workspace_.path = place_.path() / "workspace";
    NameTicket(ticket, &evidence_);
    evidence_.machine = ThisMachine();
    evidence_.seeds = ticket.manifest.seeds;
    evidence_.outcome.kind = OutcomeKind::kNotStarted;
  }

  Result<RerunResult> Run() {
    evidence_.started = context_.clock->Now();
    Status status = gang_ ? gang_->Join() : Status();
    if (status.ok()) status = Steps();
    evidence_.ended = context_.clock->Now();
    if (!ticket_.keep_workspace && IsHead()) RemoveWorkspace();
    // What befell this rerun must not end the drill; a journal that fails does, just below.
    if (!status.ok()) {
      infrastructure_ = status.error().code != ErrorCode::kIntegrity;
      (void)Block(status.error().ToString());
    }
    if (WasStopped(evidence_, context_.should_cancel, context_.clock)) {
      Interrupt(&evidence_);
      infrastructure_ = false;
    }
    if (!IsHead()) {
      RETURN_IF_ERROR(gang_->TellEnd(evidence_, infrastructure_));
    } else {
      RETURN_IF_ERROR(place_.Keep());
      RETURN_IF_ERROR(WriteEvidence());
      if (gang_) gang_->Remove();
    }
    return RerunResult{std::move(evidence_), infrastructure_};
  }

 private:
  bool IsHead() const { return !gang_ || gang_->is_head(); }

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
    const Status prepared = Prepare();
    if (gang_) {
      RETURN_IF_ERROR(Gather(prepared));
    } else {
      RETURN_IF_ERROR(prepared);
    }
    if (!evidence_.obstacle.empty()) return {};
    RETURN_IF_ERROR(Record(AttemptState::kPrepared));
    RETURN_IF_ERROR(Launch());
    RETURN_IF_ERROR(Record(AttemptState::kEnded));
    if (!OwnsWorkspace()) return {};
    if (IsHead() && evidence_.outcome.Succeeded()) {
      RETURN_IF_ERROR(CollectOutputs(ticket_.manifest, workspace_, place_.path() / "artifacts",
                                     context_.folder, &evidence_));
    }
    ASSIGN_OR_RETURN(const auto remarks, VerifyAfterRun(workspace_, context_.cache));
    evidence_.remarks.insert(evidence_.remarks.end(), remarks.begin(), remarks.end());
    return {};
  }

  // Everything before the start. An obstacle is in the evidence.
  Status Prepare() {
    RETURN_IF_ERROR(place_.Take());
    if (!IsOnItsNode() || !IsOnRecordedClass()) return {};
    RETURN_IF_ERROR(MakeWorkspace());
    evidence_.code_commit = workspace_.code_commit;
    evidence_.code_diff_sha256 = workspace_.code_diff_sha256;
    evidence_.code_files = workspace_.code_files;
    evidence_.data = workspace_.data;
    evidence_.remarks.insert(evidence_.remarks.end(), workspace_.remarks.begin(),
                             workspace_.remarks.end());
    if (workspace_.obstacle) return Block(workspace_.obstacle->reason, workspace_.obstacle->layer);
    launcher_ = FindLauncher();
    if (launcher_ == nullptr || !PrepareImage(launcher_)) return {};
    ASSIGN_OR_RETURN([[maybe_unused]] const bool proved, ProveImage());
    return {};
  }

  Status MakeWorkspace() {
    if (gang_) {
      ASSIGN_OR_RETURN(auto shared, gang_->Attach());
      if (shared) {
        const fs::path own = std::exchange(workspace_, std::move(*shared)).path;
        if (workspace_.path.empty()) workspace_.path = own;  // node 0 has none
        return {};
      }
    }
    ASSIGN_OR_RETURN(workspace_, PrepareWorkspace(ticket_.manifest, place_.path() / "workspace",
                                                  ticket_.places, context_.cache,
                                                  {.disk_bytes = ticket_.resources.disk_bytes,
                                                   .should_cancel = context_.should_cancel}));
    return {};
  }
  bool OwnsWorkspace() const { return workspace_.path == place_.path() / "workspace"; }

  // Every node tells the others, also what went wrong here: they wait for it.
  Status Gather(const Status& prepared) {
    NodeReady mine{.obstacle = evidence_.obstacle,
                   .layer = evidence_.obstacle_layer,
                   .infrastructure = infrastructure_};
    if (!prepared.ok()) mine.obstacle = prepared.error().ToString();
    mine.infrastructure |= !prepared.ok();
    const auto start = gang_->Gather(workspace_, std::move(mine));
    RETURN_IF_ERROR(prepared);
    if (!start.ok()) {
      infrastructure_ = true;
      return Block(start.error().message);
    }
    if (start->obstacle.empty() || !evidence_.obstacle.empty()) return {};
    infrastructure_ = start->infrastructure;
    return Block(start->obstacle, start->layer);
  }

  Status Block(std::string reason, std::optional<Layer> layer = {}) {
    evidence_.obstacle = std::move(reason);
    evidence_.obstacle_layer = layer;
    CaptureJobEnvironment();
    return {};
  }

  // Evidence of another node says nothing about this one.
  bool IsOnItsNode() {
    const std::vector<std::string> nodes = RequiredNodes(ticket_);
    const Machine& here = evidence_.machine;
    const bool numbered = NumbersNodes(ticket_);
    if (nodes.empty() || (numbered ? nodes[static_cast<std::size_t>(context_.node)] == here.node
                                   : std::ranges::find(nodes, here.node) != nodes.end())) {
      return true;
    }
    infrastructure_ = true;
    (void)Block(
        fmt::format("is for node {} of the cluster, and ran on {}", ticket_.node, NodeName(here)));
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
    Job job =
        BuildRerunJob(ticket_, workspace_, image_file_,
                      fmt::format("{}.{}", ticket_.job(), evidence_.attempt), JobEnvironment());
    observed->AddTo(&job);
    return job;
  }

  std::map<std::string, std::string> JobEnvironment() const {
    auto variables = BuildJobEnvironment(ticket_.manifest, fs::absolute(workspace_.path),
                                         GpusOfNode(ticket_, context_.node), ticket_.environment);
    if (temporary_) temporary_->PutInto(&variables);
    return variables;
  }

  void CaptureJobEnvironment() {
    CaptureRerunEnvironment(ticket_, workspace_, JobEnvironment(), &evidence_);
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

  Status Launch() {
    CaptureJobEnvironment();
    const Status made = MakeDirectoriesBelow(workspace_.path, ".tmp");
    if (!made.ok() && IsTrouble(made.error())) return made.error();
    if (!made.ok()) return Block(made.error().ToString(), Layer::kCode);
    if (RunsAmongUs(ticket_)) temporary_.emplace(fs::absolute(workspace_.path) / ".tmp");
    if (gang_) return LaunchTasks();
    ObservedRun observed(ticket_, workspace_);
    ASSIGN_OR_RETURN(const auto ran, Execute(launcher_, &observed));
    if (!ran) return {};
    AddFindings(ticket_.manifest, &evidence_);
    RETURN_IF_ERROR(place_.Clear());
    RETURN_IF_ERROR(WriteOutput("stdout.log", ran->result.stdout_text, &evidence_.stdout_path));
    RETURN_IF_ERROR(WriteOutput("stderr.log", ran->result.stderr_text, &evidence_.stderr_path));
    return Settle(ran->proof);
  }

  // The image that ran, and what the end of the run means.
  Status Settle(const Result<ImageProof>& proof) {
    ASSIGN_OR_RETURN(const bool still_proved, ProveImage());
    if (!still_proved) return {};
    if (proof.ok()) {
      evidence_.image_digest = proof->digest;
      evidence_.image_id = proof->image_id;
    } else if (proof.error().code == ErrorCode::kIntegrity) {
      return Block(proof.error().ToString(), Layer::kEnvironment);
    } else {
      infrastructure_ = true;
      return Block(proof.error().ToString());
    }
    infrastructure_ |= JudgeOutcome(place_.path(), &evidence_);
    return {};
  }

  Status LaunchTasks() {
    Status journalled;
    TasksResult ran =
        gang_->Run({.ticket = ticket_,
                    .workspace = workspace_,
                    .image_file = image_file_,
                    .variables = JobEnvironment(),
                    .launcher = launcher_,
                    .executor = context_.executor,
                    .on_start = [&](int pid) { journalled = Record(AttemptState::kStarted, pid); }},
                   evidence_.started, &evidence_);
    if (!ran.full.empty()) {
      infrastructure_ = true;
      (void)Block(ran.full);
    }
    if (!IsHead()) {
      if (!ran.launched.ok()) return Block(ran.launched.error().ToString());
      return {};
    }
    RETURN_IF_ERROR(journalled);
    ASSIGN_OR_RETURN(const bool again, gang_->Merge(workspace_, &evidence_));
    infrastructure_ |= again;
    AddFindings(ticket_.manifest, &evidence_);
    RETURN_IF_ERROR(place_.Clear());
    RETURN_IF_ERROR(WriteOutput("stdout.log", gang_->Log("stdout"), &evidence_.stdout_path));
    RETURN_IF_ERROR(WriteOutput("stderr.log", gang_->Log("stderr"), &evidence_.stderr_path));
    if (!evidence_.obstacle.empty()) return {};
    return Settle(ran.launched.ok() ? Result<ImageProof>(ran.proof) : ran.launched.error());
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
  std::unique_ptr<GangSide> gang_;  // none: one process on one node
  RerunPlace place_;
  Workspace workspace_;
  fs::path image_file_;
  Launcher* launcher_ = nullptr;
  Evidence evidence_;
  bool infrastructure_ = false;
  std::optional<ShortTemporary> temporary_;  // while the command runs
};

}  // namespace

Result<RerunResult> CarryOut(const Ticket& ticket, const RerunContext& context) {
  return Attempt(ticket, context).Run();
}

}  // namespace rharness
