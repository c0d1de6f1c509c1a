// Parts of a recording, and their merging.
#include "harness/execution/rerun/record_gang.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <system_error>
#include <thread>
#include <utility>

#include "harness/base/files.h"
#include "harness/base/json_reader.h"
#include "harness/base/log.h"
#include "harness/base/strict_member_reader.h"
#include "harness/execution/rerun/gang_merge.h"
#include "harness/execution/rerun/gang_side.h"
#include "harness/records/manifest/admission.h"
#include "harness/records/manifest/evidence_members.h"
#include "harness/records/manifest/manifest_members.h"

namespace rharness {

template <class Io, Is<RecordedPart> T>
void Members(Io& io, T& part) {
  io.Must(kCountNumber, "rank", part.rank);
  io.Must(kCountNumber, "node", part.node);
  io.May(kPlainText, "id", part.id);
  io.May(kPlainText, "host", part.host);
  io.May("sees_folder", part.sees_folder);
  io.Object("outcome", part.outcome);
  io.Object("manifest", part.manifest);
}

namespace {

namespace fs = std::filesystem;
using SteadyClock = std::chrono::steady_clock;

constexpr char kFailed[] = "failed";  // in the folder of the parts
constexpr auto kLongest = std::chrono::minutes(10);
constexpr auto kAfterFailure = std::chrono::seconds(30);

Result<RecordedPart> LoadPart(const fs::path& path) {
  ASSIGN_OR_RETURN(const Json json, ReadJsonFile(path));
  return ParseStrictly<RecordedPart>(json, path.string());
}

}  // namespace

RecordRequest AsTask(RecordRequest request, const TaskPlace& place) {
  if (place.rank == 0) return request;
  request.measures = false;
  request.seeds.clear();  // those of rank 0: others may follow from them
  request.artifacts.clear();
  request.metrics.clear();
  request.metrics_path.clear();
  request.keep.clear();
  if (place.local_rank != 0) request.data.clear();
  return request;
}

GangRecording::GangRecording(TaskPlace place, fs::path folder)
    : place_(std::move(place)), folder_(std::move(folder)), head_(folder_) {}

Result<std::unique_ptr<GangRecording>> GangRecording::For(const Variables& environment,
                                                          const fs::path& out, bool observe) {
  ASSIGN_OR_RETURN(const auto watched, WatchedNodeOf(environment));
  if (watched) {
    auto recording = std::make_unique<GangRecording>(watched->place, watched->folder);
    recording->is_once_ = true;
    recording->notes_ = watched->notes;
    return recording;
  }
  if (const auto task = TaskPlaceOf(environment)) {
    return std::make_unique<GangRecording>(*task, out.string() + ".parts");
  }
  const int nodes = NodesOfAllocation(environment);
  // With salloc the command is started from a host that is none of the nodes.
  const bool is_on_a_node = environment.contains("SLURMD_NODENAME");
  if (nodes == 0 || !observe || !is_on_a_node) return std::unique_ptr<GangRecording>();
  const fs::path notes = FreeNotesPath();
  // Unlike a process's number no earlier recording can have had it.
  const std::string name = notes.filename().string();
  const std::string id = fmt::format("{}{}", ::getpid(), name.substr(name.rfind('-') + 1));
  const TaskPlace place{
      .rank = 0, .tasks = nodes, .node = 0, .nodes = nodes, .launcher = "srun", .id = id};
  auto recording =
      std::make_unique<GangRecording>(place, fmt::format("{}.{}.parts", out.string(), id));
  recording->is_once_ = true;
  recording->notes_ = {.path = notes};
  return recording;
}

GangRecording::~GangRecording() {
  std::error_code ignored;
  if (place_.rank != 0) return;
  watch_.reset();  // it writes into the folder
  if (!marker_.empty()) fs::remove(marker_, ignored);
  (void)RemoveTree(folder_);
}

fs::path GangRecording::PartOf(int rank) const { return folder_ / fmt::format("{}.json", rank); }

fs::path GangRecording::Marker() const {
  std::error_code ignored;
  return fs::current_path(ignored) / ("." + folder_.filename().string() + ".here");
}

// Without a name of the run: it was written before rank 0 began.
bool GangRecording::IsStale(const RecordedPart& part) const {
  if (part.id != place_.id) return true;
  if (!place_.id.empty()) return false;
  std::error_code error;
  const auto written = fs::last_write_time(PartOf(part.rank), error);
  return !error && written < fs::last_write_time(marker_, error) && !error;
}

Status GangRecording::Begin(const std::function<bool()>& should_cancel, RecordRequest* request) {
  RETURN_IF_ERROR(Claim());
  *request = AsTask(std::move(*request), place_);
  request->after_command = [this, should_cancel](Recording* done) {
    TellOutcome(done->outcome);
    if (watch_) watch_->TellDone();
    if (watch_) TellProblem();
    if (is_head()) WaitForOthers(should_cancel, done);
  };
  if (!is_once_) return {};
  if (is_head()) {
    StartWatch(should_cancel, request);
  } else {
    request->notes = notes_;
    request->before_command = [this] { TellReady(folder_, place_.node); };
  }
  return {};
}

void GangRecording::StartWatch(const std::function<bool()>& should_cancel, RecordRequest* request) {
  watch_ = std::make_unique<AllocationWatch>(place_.nodes, folder_, notes_.path);
  watch_->Start(place_.id);
  request->notes = notes_;
  request->before_command = [this, should_cancel] {
    watch_->WaitUntilReady(should_cancel);
    TellProblem();
  };
}

// Once, when it is known.
void GangRecording::TellProblem() {
  const std::string problem = watch_->Problem();
  if (problem.empty() || std::exchange(problem_told_, true)) return;
  LogWarning("the other nodes are not observed: " + problem);
}

Status GangRecording::Claim() {
  std::error_code error;
  if (fs::exists(PartOf(place_.rank), error)) {
    return InvalidInput(fmt::format("holds a part of rank {} already, of another recording; remove "
                                    "it, or choose another --out",
                                    place_.rank),
                        folder_.string());
  }
  RETURN_IF_ERROR(MakeDirectories(folder_));
  if (place_.rank != 0) return {};
  marker_ = Marker();
  return WriteFileAtomic(marker_, "");
}

bool GangRecording::MustStop() {
  constexpr auto kOften = std::chrono::milliseconds(500);
  const auto now = SteadyClock::now();
  if (must_stop_ || now - looked_ < kOften) return must_stop_;
  looked_ = now;
  std::error_code error;
  must_stop_ = fs::exists(folder_ / kFailed, error);
  if (is_once_ && !is_head()) must_stop_ = must_stop_ || IsDone(folder_) || head_.IsGone();
  return must_stop_;
}

void GangRecording::TellOutcome(const Outcome& outcome) const {
  if (!outcome.Succeeded()) (void)WriteFileAtomic(folder_ / kFailed, "");
}

Status GangRecording::Tell(Manifest manifest, const Outcome& outcome) {
  std::error_code error;
  const RecordedPart part{.rank = place_.rank,
                          .node = place_.node,
                          .id = place_.id,
                          .host = NodeName(ThisMachine()),
                          .sees_folder = fs::exists(Marker(), error),
                          .outcome = outcome,
                          .manifest = std::move(manifest)};
  return WriteJsonFile(PartOf(place_.rank), StrictWriter::Written(part));
}

std::vector<int> GangRecording::AwaitParts(bool succeeded,
                                           const std::function<bool()>& should_cancel) const {
  const auto began = SteadyClock::now();
  const auto until =
      began + (succeeded ? SteadyClock::duration(kLongest) : SteadyClock::duration(kAfterFailure));
  auto next_word = began + std::chrono::minutes(1);
  std::vector<int> missing;
  for (;;) {
    missing.clear();
    Refresh(folder_);
    for (int rank = 1; rank < place_.tasks; ++rank) {
      if (!IsThere(PartOf(rank))) missing.push_back(rank);
    }
    const auto now = SteadyClock::now();
    if (missing.empty() || now > until || (should_cancel && should_cancel())) return missing;
    if (now > next_word) {
      LogInfo(fmt::format("waits for the parts of ranks {}", fmt::join(missing, ", ")));
      next_word = now + std::chrono::minutes(1);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
}

void GangRecording::WaitForOthers(const std::function<bool()>& should_cancel,
                                  Recording* recording) {
  if (watch_ && !watch_->Problem().empty()) return;
  const std::vector<int> missing = AwaitParts(recording->outcome.Succeeded(), should_cancel);
  // Where a command failed, that is what there is to say.
  if (!missing.empty() && !must_stop_ && recording->outcome.Succeeded()) {
    NoteMissing(fmt::format("the part of rank {} {}: none came to {}; expected a folder that all "
                            "nodes see (--out)",
                            fmt::join(missing, ", "), kNotRecorded, folder_.string()),
                recording);
  }
  for (int rank = 1; rank < place_.tasks; ++rank) {
    if (std::ranges::find(missing, rank) != missing.end()) continue;
    auto part = LoadPart(PartOf(rank));
    if (part.ok() && (part->rank != rank || part->node < 0 || part->node >= place_.nodes)) {
      part = InvalidInput(fmt::format("is of rank {} on node {}", part->rank, part->node),
                          PartOf(rank).string());
    }
    if (!part.ok()) {
      NoteMissing(
          fmt::format("the part of rank {} {}: {}", rank, kNotRecorded, part.error().ToString()),
          recording);
      continue;
    }
    if (IsStale(*part)) {
      NoteMissing(fmt::format("the part of rank {} {}: {} is of an earlier recording; remove it",
                              rank, kNotRecorded, PartOf(rank).string()),
                  recording);
      continue;
    }
    // One that was stopped for another's failure is not the cause.
    const bool is_cause =
        !part->outcome.Succeeded() && part->outcome.kind != OutcomeKind::kCancelled;
    const bool open =
        recording->outcome.Succeeded() || recording->outcome.kind == OutcomeKind::kCancelled;
    if (is_cause && open) {
      recording->outcome = part->outcome;
      recording->remarks.push_back(
          fmt::format("rank {} on {} {}", part->rank, part->host, part->outcome.ToString()));
    }
    parts_.push_back(std::move(*part));
  }
  std::error_code ignored;
  fs::remove(std::exchange(marker_, {}), ignored);
}

void GangRecording::NoteMissing(std::string sentence, Recording* recording) const {
  (is_once_ ? recording->remarks : recording->missing_outputs).push_back(std::move(sentence));
}

void GangRecording::Merge(Manifest* manifest) const {
  if (!is_once_ || static_cast<int>(parts_.size()) == place_.tasks - 1) {
    MergeRecords(place_, parts_, is_once_, manifest);
  }
  if (is_once_) DescribeAllocation(ProcessEnvironment(), manifest);
}

Status CheckAllocation(const Variables& environment) {
  const int parts = PartsOfMixedJob(environment);
  if (parts == 0) return {};
  return Unsupported(fmt::format("a run in a heterogeneous job of Slurm, of {} components, cannot "
                                 "be started again as it was; expected one allocation of nodes "
                                 "that are alike",
                                 parts),
                     "SLURM_HET_SIZE");
}

int StartTasks(int nodes, int tasks_per_node, const fs::path& out,
               const std::function<bool()>& should_cancel) {
  ProcessSpec spec;
  spec.inherit_stdio = true;
  spec.argv = OwnCommandLine();
  if (spec.argv.empty()) return 4;
  const int tasks = nodes * tasks_per_node;
  const std::string port = std::to_string(*FreePort());
  std::vector<int> codes(static_cast<std::size_t>(tasks), 0);
  std::vector<std::jthread> threads;
  for (int rank = 0; rank < tasks; ++rank) {
    spec.environment = ProcessEnvironment();
    auto& variables = spec.environment;
    variables["RANK"] = std::to_string(rank);
    variables["WORLD_SIZE"] = std::to_string(tasks);
    variables["LOCAL_RANK"] = std::to_string(rank % tasks_per_node);
    variables["LOCAL_WORLD_SIZE"] = std::to_string(tasks_per_node);
    variables["GROUP_RANK"] = std::to_string(rank / tasks_per_node);
    variables["MASTER_ADDR"] = "127.0.0.1";
    variables["MASTER_PORT"] = port;
    variables[kGangVariable] = std::to_string(::getpid());
    variables[kGangOutVariable] = out.string();
    threads.emplace_back([&, spec, rank] {
      const ProcessResult ended = RunProcess(spec, {}, {}, should_cancel);
      const Outcome& outcome = ended.outcome;
      const int code = outcome.kind == OutcomeKind::kExited ? outcome.exit_code : 4;
      codes[static_cast<std::size_t>(rank)] = code;
    });
  }
  threads.clear();
  // Rank 0 tells of the failures of others.
  return codes[0];
}

}  // namespace rharness
