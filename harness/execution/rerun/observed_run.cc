// From requests and tickets to an Observer, and from findings to notes and remarks.
#include "harness/execution/rerun/observed_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <system_error>
#include <utility>

#include "harness/base/cgroup.h"
#include "harness/base/log.h"
#include "harness/base/temp_leftovers.h"
#include "harness/execution/rerun/git_tree.h"
#include "harness/execution/rerun/nccl_seen.h"
#include "harness/execution/rerun/record_python.h"
#include "harness/execution/rerun/rendezvous.h"
#include "harness/records/manifest/admission.h"
#include "harness/records/observe/door.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

const std::vector<std::string> kNoCommand;

// The code's root above the folder that a command is run in.
fs::path BaseOf(const fs::path& folder, const std::string& working_directory) {
  fs::path base = folder;
  for ([[maybe_unused]] const fs::path& step : fs::path(working_directory)) {
    base = base.parent_path();
  }
  return base;
}

fs::path Real(const fs::path& path) {
  std::error_code error;
  fs::path real = fs::weakly_canonical(path, error);
  return error ? path : real;
}

// What srun and its like read of the site, wherever it lies, is no input of a run.
void AddSite(std::vector<fs::path>* declared) {
  const Variables environment = ProcessEnvironment();
  const auto conf = environment.find("SLURM_CONF");
  if (conf != environment.end() && !conf->second.empty()) declared->push_back(Real(conf->second));
}

std::vector<fs::path> DeclaredBy(const RecordRequest& request, const Recording& recording,
                                 const fs::path& base, const fs::path& folder) {
  std::vector<fs::path> declared;
  for (const DataItem& item : recording.data) declared.push_back(Real(folder / item.path));
  for (const CodeFile& file : recording.code.files) declared.push_back(Real(base / file.path));
  if (!request.image.location.empty()) declared.push_back(Real(request.image.location));
  AddSite(&declared);
  return declared;
}

std::vector<fs::path> DeclaredBy(const Workspace& workspace, const fs::path& base) {
  std::vector<fs::path> declared = {base};
  for (const Mount& mount : workspace.mounts) declared.push_back(Real(mount.source));
  for (const PlacedData& data : workspace.placed) declared.push_back(Real(base / data.at));
  AddSite(&declared);
  return declared;
}

// Of these it is not said that a rerun goes without: what `is_made` of a rerun.
void ForgetUnrecorded(const std::function<bool(const std::string&)>& is_made,
                      std::optional<Observation>* observation) {
  if (!*observation) return;
  std::erase_if((*observation)->flags, [&](const auto& flag) {
    return flag.first.starts_with(kUnrecordedFlag) &&
           is_made(flag.first.substr(kUnrecordedFlag.size()));
  });
}

// As by a script that names one by its path.
Finding AnotherPython(const std::string& given, const std::string& seen) {
  return {
      .code = "python_not_taken",
      .subject = "Python environment",
      .observed = seen,
      .limit = given,
      .message = fmt::format("was given the Python environment {}, and ran in {}", given, seen)};
}

}  // namespace

bool RunsAmongUs(const Ticket& ticket) {
  return ticket.manifest.image.kind == ImageKind::kHost || ticket.launcher == "pod";
}

ObservedRun::ObservedRun(const RecordRequest& request, const Recording& recording,
                         const fs::path& folder)
    : is_host_(request.image.kind == ImageKind::kHost),
      base_(BaseOf(folder, recording.working_directory)),
      recorded_in_(folder) {
  command_folder_ = folder;
  is_task_ = TaskPlaceOf(ProcessEnvironment()) || NodesOfAllocation(ProcessEnvironment()) > 1;
  if (!request.observe) return;
  if (!MakeFolder(request.notes)) return;
  const fs::path base = base_;
  ObserveRequest asked{.python_hooks = request.python_hooks,
                       .kernels = request.kernels,
                       .variables = request.variables,
                       .command = request.notes.starts_command ? request.command : kNoCommand,
                       .working_directory = folder,
                       .base = base,
                       .declared = DeclaredBy(request, recording, base, folder),
                       .recorded = {},
                       .most_inputs = request.find ? kMostFoundInputs : kMostInputs,
                       .outputs = request.find};
  if (recording.code.files.empty() && !recording.code.commit.empty()) {
    asked.recorded = [base](const std::vector<std::string>& paths) {
      return TrackedAmong(GitTree{.root = base, .commit = {}, .diff_sha256 = {}, .complaint = {}},
                          paths);
    };
  }
  observer_.emplace(Real(folder_->path()), std::move(asked));
}

ObservedRun::ObservedRun(const Ticket& ticket, const Workspace& workspace, const NotesAt& notes) {
  const Manifest& manifest = ticket.manifest;
  is_host_ = manifest.image.kind == ImageKind::kHost;
  is_task_ = manifest.gang.has_value();
  const bool in_container = !RunsAmongUs(ticket);
  base_ = in_container ? fs::absolute(workspace.path) : Real(workspace.path);
  command_folder_ = base_ / manifest.working_directory;
  const auto& python = manifest.environment.python;
  const PythonPlace& place = workspace.python;
  const bool is_isolated = place.asked_for || (python && IsIsolated(python->kind));
  if (is_isolated && !place.prefix.empty()) given_ = Real(place.prefix);
  if (!ticket.observe || !manifest.observation) return;
  const fs::path base = base_;
  ObserveRequest asked{.python_hooks = manifest.observation->Has(kSeenByPython),
                       .kernels = manifest.observation->Has(kSeenByKernels),
                       .variables = {},
                       .command = notes.starts_command ? manifest.command : kNoCommand,
                       .working_directory = base / manifest.working_directory,
                       .base = base,
                       .declared = DeclaredBy(workspace, base)};
  for (const auto& [name, value] : manifest.environment.variables) asked.variables.insert(name);
  for (const auto& [name, value] : ticket.environment) asked.variables.insert(name);
  if (in_container) {
    for (const Mount& mount : workspace.mounts) asked.declared.emplace_back(mount.target);
    image_.emplace().request = std::move(asked);
  } else if (MakeFolder(notes)) {
    observer_.emplace(Real(folder_->path()), std::move(asked));
  }
}

// Outside of the workspace, whose files and limits belong to the run. Without it nothing is seen.
bool ObservedRun::MakeFolder(const NotesAt& notes) {
  if (notes.path.empty()) RemoveLeftovers(kNotesPrefix);
  auto folder =
      notes.path.empty() ? ScopedTempDir::Make(kNotesPrefix) : ScopedTempDir::At(notes.path);
  std::error_code error;
  // This node and node 0 are one machine, as in tests: all is seen there.
  if (!notes.starts_command && !folder.ok() && fs::is_directory(notes.path, error)) return false;
  if (folder.ok()) folder_ = std::move(*folder);
  if (folder.ok() && notes.path.empty()) {
    auto lock = FolderLock::Take(folder_->path());
    if (lock.ok()) lock_.emplace(std::move(*lock));
  }
  if (!folder.ok()) LogWarning("not observed: " + folder.error().ToString());
  return folder.ok();
}

void ObservedRun::AddTo(std::map<std::string, std::string>* environment) {
  for (const auto& [name, value] : *environment) {
    given_variables_.insert(name);
    if (name.starts_with("NCCL_DEBUG")) nccl_[name] = value;
  }
  if (observer_) observer_->AddTo(environment);
}

void ObservedRun::AddTo(Job* job) {
  AddTo(&job->environment);
  if (!image_) return;
  WatchImage(*job);
  if (!look_ || !look_->problem().empty()) return;
  job->command = look_->Enter(job->command);
  job->mounts.push_back({look_->parts(), kInsideParts});
  job->mounts.push_back({look_->door(), kInsideDoor});
  job->scratch = {.target = kInsideNotes, .size_bytes = kNotesBytes};
  // The run's own memory limit is unchanged.
  if (job->limits.memory_bytes > 0) job->limits.memory_bytes += kNotesBytes;
}

void ObservedRun::WatchImage(const Job& job) {
  if (!MakeFolder({})) return;
  LookRequest request = *image_;
  for (const auto& [name, value] : job.environment) request.variables.insert(name);
  look_ = std::make_unique<ImageObserver>(Real(folder_->path()), request);
}

void ObservedRun::AddNccl(std::string_view output, WallTime started,
                          std::optional<Observation>* observation) const {
  if (*observation) (*observation)->nccl = NcclChoices(output, nccl_, command_folder_, started);
}

void ObservedRun::Collect(ProcessResult* result, WallTime started, Evidence* evidence) {
  CollectSeen(result, started, evidence);
  AddNccl(result->stdout_text + "\n" + result->stderr_text, started, &evidence->observation);
}

void ObservedRun::CollectSeen(ProcessResult* result, WallTime started, Evidence* evidence) {
  if (is_host_ || observer_) {
    Environment& environment = evidence->environment;
    Collect(std::move(result->footprint), started, &environment, &evidence->observation);
    if (environment.python && !given_.empty() && environment.python->prefix != given_) {
      evidence->remarks.push_back(AnotherPython(given_.string(), environment.python->prefix));
    }
    // Those of an image are known by the image.
    if (!is_host_) environment.packages.clear();
  }
  if (!look_) return;
  ImageSeen seen = look_->Collect();
  look_.reset();
  folder_.reset();
  has_entered_ = seen.has_entered;
  evidence->observation = std::move(seen.observation);
  if (is_task_) ForgetUnrecorded(IsRendezvousVariable, &evidence->observation);
  Outcome& outcome = evidence->outcome;
  if (seen.not_started == 0 || outcome.kind != OutcomeKind::kExited) return;
  outcome.detail = fmt::format("the command in the image cannot be executed: {}",
                               std::strerror(seen.not_started));
}

bool ObservedRun::GivesUp(Evidence* evidence) {
  if (!image_ || has_entered_) return false;
  const Outcome& outcome = evidence->outcome;
  // 125 and above: the engine's own, as it fails to start a program.
  const bool started =
      outcome.kind != OutcomeKind::kNotStarted &&
      (outcome.kind != OutcomeKind::kExited || outcome.exit_code < 125 || outcome.exit_code > 127);
  if (started) return false;
  image_.reset();
  evidence->observation = NothingSeen(fmt::format(
      "it {} with what is lent to look at it, and was started without", outcome.ToString()));
  return true;
}

void ObservedRun::Collect(Footprint footprint, WallTime started, Environment* environment,
                          std::optional<Observation>* observation) {
  PackageOwners owners;
  if (observer_) observer_->Complete(&footprint);
  environment->packages = CapturePackages(footprint, "/", observer_ ? &owners : nullptr);
  if (observer_) *observation = observer_->Collect(footprint, owners, started);
  // One that the command itself set for its processes, as mpirun does, it sets again.
  ForgetUnrecorded(
      [this](const std::string& name) {
        const bool is_made = is_task_ || name.starts_with("SLURM_");
        return !given_variables_.contains(name) || (is_made && IsRendezvousVariable(name));
      },
      observation);
  folder_.reset();
  // That of an image is known by the image.
  if (is_host_) environment->python = FindPython(footprint, base_);
  if (!environment->python) return;
  PythonEnvironment& python = *environment->python;
  if (recorded_in_) CompletePython(ProcessEnvironment(), *recorded_in_, base_, &python);
  python.version = PythonVersion(python.interpreter);
}

void NoteMemoryKills(std::optional<std::uint64_t> before, Recording* out) {
  const auto kills = OwnMemoryKills();
  if (!kills || !before || *kills <= *before || !out->outcome.Succeeded()) return;
  const std::uint64_t count = *kills - *before;
  out->remarks.push_back(
      fmt::format("{}: {} process{} of its control group {} killed for lack of memory while it ran",
                  kLostSomething, count, count == 1 ? "" : "es", count == 1 ? "was" : "were"));
}

void AddFindings(const RecordRequest& request, Recording* recording) {
  if (!recording->observation) return;
  const DeclaredOfRun declared{
      .seeds = request.seeds, .flags = request.determinism.flags, .variables = request.variables};
  for (const Finding& finding : FindingsOf(declared, *recording->observation)) {
    const auto at = finding.subject.find(' ');
    const std::string told = fmt::format("the command's '{}' ", finding.subject.substr(at + 1));
    const bool said = std::ranges::any_of(
        recording->remarks, [&](const std::string& remark) { return remark.starts_with(told); });
    if (said) continue;
    const bool lost = finding.code == kLossCode && recording->outcome.Succeeded();
    recording->remarks.push_back(lost ? fmt::format("{}: {}", kLostSomething, finding.message)
                                      : finding.message);
  }
}

void AddFindings(const Manifest& manifest, Evidence* evidence) {
  if (!evidence->observation) return;
  // Which variables were named when the run was recorded is not known any more.
  const DeclaredOfRun declared{
      .seeds = manifest.seeds, .flags = manifest.determinism.flags, .variables = {}};
  for (const Finding& finding : FindingsOf(declared, *evidence->observation)) {
    evidence->remarks.push_back(finding);
  }
}

}  // namespace rharness
