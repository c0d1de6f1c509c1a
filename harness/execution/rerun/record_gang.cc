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

std::string WhoIs(const RecordedPart& part) {
  return fmt::format("rank {} on {}", part.rank, part.host);
}

void MergeData(const RecordedPart& part, Manifest* manifest) {
  for (const DataItem& item : part.manifest.data) {
    const auto same = std::ranges::find(manifest->data, item.path, &DataItem::path);
    if (same == manifest->data.end()) {
      DataItem added = item;
      if (std::ranges::find(manifest->data, item.name, &DataItem::name) != manifest->data.end()) {
        added.name = fmt::format("{}-rank{}", item.name, part.rank);
      }
      manifest->data.push_back(std::move(added));
    } else if (same->sha256 != item.sha256) {
      manifest->notes.push_back(fmt::format(
          "data '{}' {}: its bytes differ between the nodes: sha256 {} on rank 0, {} on {}",
          item.name, kNotRecorded, same->sha256, item.sha256, WhoIs(part)));
    }
  }
}

void MergeCode(const RecordedPart& part, Manifest* manifest) {
  if (part.manifest.code.commit != manifest->code.commit) {
    manifest->notes.push_back(
        fmt::format("the code of {} {}: it is at commit {}, that of rank 0 at {}", WhoIs(part),
                    kNotRecorded, part.manifest.code.commit, manifest->code.commit));
  }
  for (const CodeFile& file : part.manifest.code.files) {
    const auto same = std::ranges::find(manifest->code.files, file.path, &CodeFile::path);
    if (same == manifest->code.files.end()) {
      manifest->code.files.push_back(file);
    } else if (same->sha256 != file.sha256) {
      manifest->notes.push_back(fmt::format(
          "code file '{}' {}: its bytes differ between the nodes: sha256 {} on rank 0, {} on {}",
          file.path, kNotRecorded, same->sha256, file.sha256, WhoIs(part)));
    }
  }
}

// What all ranks say is said once.
void MergeNotes(const RecordedPart& part, Manifest* manifest) {
  for (const std::string& note : part.manifest.notes) {
    if (std::ranges::find(manifest->notes, note) != manifest->notes.end()) continue;
    manifest->notes.push_back(note);
  }
  for (const std::string& source : part.manifest.rng_sources) {
    auto& sources = manifest->rng_sources;
    if (std::ranges::find(sources, source) == sources.end()) sources.push_back(source);
  }
}

Environment WithoutRendezvous(Environment environment) {
  std::erase_if(environment.variables,
                [](const auto& variable) { return IsRendezvousVariable(variable.first); });
  return environment;
}

GangParts PartsOfRecord(const TaskPlace& place, const std::vector<RecordedPart>& parts,
                        const Manifest& manifest) {
  std::vector<SeenNode> nodes(static_cast<std::size_t>(place.nodes));
  std::vector<SeenTask> tasks(static_cast<std::size_t>(place.tasks));
  for (SeenNode& node : nodes) node.environment = manifest.environment;
  nodes[0].host = NodeName(ThisMachine());
  tasks[0].observation = manifest.observation;
  for (const RecordedPart& part : parts) {
    SeenTask& task = tasks[static_cast<std::size_t>(part.rank)];
    task.node = part.node;
    task.observation = part.manifest.observation;
    SeenNode& node = nodes[static_cast<std::size_t>(part.node)];
    if (part.node == 0 || !node.host.empty()) continue;
    node.host = part.host;
    node.environment = WithoutRendezvous(part.manifest.environment);
  }
  return PartsOf(nodes, tasks);
}

}  // namespace

RecordRequest AsTask(RecordRequest request, const TaskPlace& place) {
  if (place.rank == 0) return request;
  request.measures = false;
  request.artifacts.clear();
  request.metrics.clear();
  request.metrics_path.clear();
  request.keep.clear();
  if (place.local_rank != 0) request.data.clear();
  return request;
}

GangRecording::GangRecording(TaskPlace place, fs::path folder)
    : place_(std::move(place)), folder_(std::move(folder)) {}

GangRecording::~GangRecording() {
  std::error_code ignored;
  if (place_.rank != 0) return;
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

Status GangRecording::Begin() {
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
    std::error_code error;
    for (int rank = 1; rank < place_.tasks; ++rank) {
      if (!fs::exists(PartOf(rank), error)) missing.push_back(rank);
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
  const std::vector<int> missing = AwaitParts(recording->outcome.Succeeded(), should_cancel);
  // Where a command failed, that is what there is to say.
  if (!missing.empty() && !must_stop_ && recording->outcome.Succeeded()) {
    recording->missing_outputs.push_back(
        fmt::format("the part of rank {} {}: none came to {}; expected a folder that all nodes see "
                    "(--out)",
                    fmt::join(missing, ", "), kNotRecorded, folder_.string()));
  }
  for (int rank = 1; rank < place_.tasks; ++rank) {
    if (std::ranges::find(missing, rank) != missing.end()) continue;
    auto part = LoadPart(PartOf(rank));
    if (part.ok() && (part->rank != rank || part->node < 0 || part->node >= place_.nodes)) {
      part = InvalidInput(fmt::format("is of rank {} on node {}", part->rank, part->node),
                          PartOf(rank).string());
    }
    if (!part.ok()) {
      recording->missing_outputs.push_back(
          fmt::format("the part of rank {} {}: {}", rank, kNotRecorded, part.error().ToString()));
      continue;
    }
    if (IsStale(*part)) {
      recording->missing_outputs.push_back(
          fmt::format("the part of rank {} {}: {} is of an earlier recording; remove it", rank,
                      kNotRecorded, PartOf(rank).string()));
      continue;
    }
    // One that was stopped for another's failure is not the cause.
    const bool is_cause =
        !part->outcome.Succeeded() && part->outcome.kind != OutcomeKind::kCancelled;
    const bool open =
        recording->outcome.Succeeded() || recording->outcome.kind == OutcomeKind::kCancelled;
    if (is_cause && open) {
      recording->outcome = part->outcome;
      recording->remarks.push_back(fmt::format("{} {}", WhoIs(*part), part->outcome.ToString()));
    }
    parts_.push_back(std::move(*part));
  }
  std::error_code ignored;
  fs::remove(std::exchange(marker_, {}), ignored);
}

void GangRecording::Merge(Manifest* manifest) const { MergeRecords(place_, parts_, manifest); }

void MergeRecords(const TaskPlace& place, const std::vector<RecordedPart>& parts,
                  Manifest* manifest) {
  manifest->environment = WithoutRendezvous(std::move(manifest->environment));
  Gang gang{.nodes = place.nodes,
            .tasks_per_node = place.tasks_per_node(),
            .start = place.tasks_per_node() == 1 ? GangStart::kPerNode : GangStart::kPerTask,
            .workspace = GangWorkspace::kShared,
            .rendezvous = RendezvousNames(ProcessEnvironment()),
            .parts = PartsOfRecord(place, parts, *manifest)};
  for (const RecordedPart& part : parts) {
    if (!part.sees_folder) gang.workspace = GangWorkspace::kLocal;
    MergeData(part, manifest);
    MergeCode(part, manifest);
    MergeNotes(part, manifest);
  }
  for (const Finding& found :
       DifferencesWithin(gang.parts, manifest->environment, manifest->observation)) {
    manifest->notes.push_back("the nodes of this run differ: " + found.message);
  }
  manifest->gang = std::move(gang);
}

void DescribeAllocation(const Variables& environment, Manifest* manifest) {
  const int nodes = NodesOfAllocation(environment);
  if (nodes == 0) return;
  Gang gang{.nodes = nodes,
            .tasks_per_node = std::max(1, TasksPerNodeOfAllocation(environment)),
            .start = GangStart::kOnce,
            .workspace = GangWorkspace::kShared,
            .rendezvous = {},
            .parts = {}};
  // What the batch script set; its tasks get the rest from who starts them.
  for (const char* name : {"MASTER_ADDR", "MASTER_PORT"}) {
    if (environment.contains(name)) gang.rendezvous.emplace_back(name);
  }
  if (manifest->observation) {
    manifest->observation->unseen.push_back(
        fmt::format("what ran on the other nodes of the allocation of {}", nodes));
  }
  manifest->gang = std::move(gang);
}

int StartTasks(int nodes, int tasks_per_node, const std::function<bool()>& should_cancel) {
  std::error_code error;
  const auto line = ReadFile("/proc/self/cmdline", std::size_t{8} << 20);
  ProcessSpec spec;
  spec.inherit_stdio = true;
  for (std::size_t at = 0; line.ok() && at < line->size();) {
    spec.argv.emplace_back(line->c_str() + at);
    at += spec.argv.back().size() + 1;
  }
  if (spec.argv.empty()) return 4;
  spec.argv[0] = fs::read_symlink("/proc/self/exe", error).string();
  const int tasks = nodes * tasks_per_node;
  const std::string port = std::to_string(FreePort());
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
