// A step that watches, and the processes in it.
#include "harness/execution/rerun/allocation_watch.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <sstream>
#include <system_error>
#include <utility>
#include <vector>

#include "harness/base/clean_text.h"
#include "harness/base/files.h"
#include "harness/base/subprocess.h"
#include "harness/execution/rerun/observed_run.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;
using SteadyClock = std::chrono::steady_clock;

// For the processes of the step: "NODES ID NOTES FOLDER"; only the last may have spaces.
constexpr char kWatchVariable[] = "RHARNESS_WATCH";
constexpr char kWatchDone[] = "done";  // in the folder of the parts, likewise the next
constexpr char kWatchBeat[] = "beat";
constexpr auto kBeatInterval = std::chrono::seconds(5);
constexpr auto kLongestWatchWait = std::chrono::minutes(1);
constexpr auto kLongestEnd = std::chrono::seconds(5);
constexpr auto kWatchPoll = std::chrono::milliseconds(50);

fs::path ReadyFile(const fs::path& folder, int node) {
  return folder / fmt::format("ready-{}", node);
}

ProcessSpec StepOf(int nodes, const fs::path& folder, const NotesAt& notes, const std::string& id) {
  ProcessSpec spec;
  const std::string others = std::to_string(nodes - 1);
  spec.argv = {"srun",
               "--overlap",
               "--relative=1",
               "--nodes=" + others,
               "--ntasks=" + others,
               "--ntasks-per-node=1",
               "--export=ALL",
               "--kill-on-bad-exit=0",
               "--mem=0",
               "--mpi=none",
               "--input=none"};
  for (std::string& argument : OwnCommandLine()) spec.argv.push_back(std::move(argument));
  spec.environment = ProcessEnvironment();
  spec.environment[kWatchVariable] =
      fmt::format("{} {} {} {}", nodes, id, notes.path.string(), folder.string());
  spec.marked = false;
  return spec;
}

}  // namespace

std::vector<std::string> OwnCommandLine() {
  std::vector<std::string> arguments;
  const auto line = ReadFile("/proc/self/cmdline", std::size_t{8} << 20);
  for (std::size_t at = 0; line.ok() && at < line->size();) {
    arguments.emplace_back(line->c_str() + at);
    at += arguments.back().size() + 1;
  }
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  if (error || arguments.empty()) return {};
  arguments[0] = program.string();
  return arguments;
}

// In /tmp, which nodes do not share, in place of TMPDIR, which they may.
fs::path FreeNotesPath() {
  const auto made = ScopedTempDir::Make(kNotesPrefix, "/tmp");
  return made.ok() ? made->path() : fs::path();
}

AllocationWatch::AllocationWatch(int nodes, fs::path folder, fs::path notes)
    : nodes_(nodes), folder_(std::move(folder)), notes_{.path = std::move(notes)} {}

// The watching processes remove what they made if they are left the time for it.
AllocationWatch::~AllocationWatch() {
  TellDone();
  const auto until = SteadyClock::now() + kLongestEnd;
  while (!ended_ && SteadyClock::now() < until) std::this_thread::sleep_for(kWatchPoll);
  step_.request_stop();
}

void AllocationWatch::Start(const std::string& id) {
  if (notes_.path.empty()) return SetProblem("no folder for notes can be made in /tmp");
  ended_ = false;
  Beat();
  step_ = std::jthread([this, id](const std::stop_token& stop) {
    const ProcessResult ended =
        RunProcess(StepOf(nodes_, folder_, notes_, id), {}, {}, [this, &stop] {
          Beat();
          return stop.stop_requested();
        });
    const std::string line = LastLine(ended.stderr_text);
    if (!ended.outcome.Succeeded() && !stop.stop_requested()) {
      SetProblem(
          fmt::format("srun {}{}{}", ended.outcome.ToString(), line.empty() ? "" : ": ", line));
    }
    ended_ = true;
  });
}

void AllocationWatch::Beat() {
  const auto now = SteadyClock::now();
  if (now < next_beat_) return;
  next_beat_ = now + kBeatInterval;
  (void)WriteFileAtomic(folder_ / kWatchBeat, std::to_string(++beats_));
}

void AllocationWatch::WaitUntilReady(const std::function<bool()>& should_cancel) {
  const auto until = SteadyClock::now() + kLongestWatchWait;
  std::vector<int> missing;
  for (;;) {
    missing.clear();
    Refresh(folder_);
    for (int node = 1; node < nodes_; ++node) {
      if (!IsThere(ReadyFile(folder_, node))) missing.push_back(node);
    }
    if (missing.empty() || !Problem().empty() || (should_cancel && should_cancel())) return;
    if (SteadyClock::now() > until) break;
    std::this_thread::sleep_for(kWatchPoll);
  }
  SetProblem(fmt::format("node {} could not watch within {} seconds", fmt::join(missing, ", "),
                         std::chrono::seconds(kLongestWatchWait).count()));
}

void AllocationWatch::TellDone() const { (void)WriteFileAtomic(folder_ / kWatchDone, ""); }

std::string AllocationWatch::Problem() const {
  const std::lock_guard lock(mutex_);
  return problem_;
}

void AllocationWatch::SetProblem(std::string problem) {
  const std::lock_guard lock(mutex_);
  if (problem_.empty()) problem_ = std::move(problem);
}

Result<std::optional<WatchedNode>> WatchedNodeOf(const Variables& environment) {
  const auto variable = environment.find(kWatchVariable);
  if (variable == environment.end()) return std::optional<WatchedNode>();
  const auto node = NodeOfOwnStep(environment);
  std::istringstream words(variable->second);
  WatchedNode watched{
      .place = {.launcher = "srun"}, .folder = {}, .notes = {.path = {}, .starts_command = false}};
  TaskPlace& place = watched.place;
  std::string notes, folder;
  words >> place.nodes >> place.id >> notes;
  const bool is_read = words && std::getline(words >> std::ws, folder);
  const bool is_ours = fs::path(notes).filename().string().starts_with(kNotesPrefix) &&
                       fs::path(folder).is_absolute();
  if (!is_read || !is_ours || !node || *node >= place.nodes) {
    return InvalidInput("is not that of a step which rharness started; unset it", kWatchVariable);
  }
  place.rank = place.node = *node;
  place.tasks = place.nodes;
  watched.notes.path = notes;
  watched.folder = folder;
  return std::optional(std::move(watched));
}

void TellReady(const fs::path& folder, int node) {
  (void)WriteFileAtomic(ReadyFile(folder, node), "");
}

bool IsDone(const fs::path& folder) {
  Refresh(folder);
  return IsThere(folder / kWatchDone);
}

bool HeadPulse::IsGone() {
  const auto now = SteadyClock::now();
  auto beat = ReadFile(folder_ / kWatchBeat, 64);
  if (!since_ || (beat.ok() && *beat != last_)) since_ = now;
  if (beat.ok()) last_ = std::move(*beat);
  return now - *since_ >= silence_;
}

}  // namespace rharness
