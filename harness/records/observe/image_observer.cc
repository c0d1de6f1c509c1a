// Starts rharness-look, asks it to end, and reads its output.
#include "harness/records/observe/image_observer.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <algorithm>
#include <fstream>
#include <system_error>

#include "harness/base/files.h"
#include "harness/records/observe/door.h"
#include "harness/records/observe/kernel_arena.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::nanoseconds kLongestEnd = std::chrono::seconds(10);
constexpr std::uint64_t kMostReplyBytes = std::uint64_t{16} << 20;
constexpr std::uint64_t kMostMemoryBytes = std::uint64_t{2} << 30;

Json TextsToJson(const auto& texts) {
  Json array = Json::MakeArray();
  for (const auto& text : texts) array.Append(std::string(text));
  return array;
}

// Whether every possible user of a container can read it.
bool IsForAll(const fs::path& path, mode_t needed) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 && (info.st_mode & needed) == needed;
}

// Whether the command lines that mount folders can carry the path.
bool IsPlain(const fs::path& path) {
  return std::ranges::all_of(path.string(), [](unsigned char c) {
    return std::isalnum(c) != 0 ||
           std::string_view("._-+@=/").find(static_cast<char>(c)) != std::string_view::npos;
  });
}

Status CheckParts(const fs::path& folder, bool kernels) {
  for (const char* name : {kEnterProgram, kLookProgram}) {
    if (::access((folder / name).c_str(), X_OK) == 0) continue;
    return NotFound("is not there, or cannot be executed", (folder / name).string());
  }
  const bool readable = IsForAll(folder, S_IROTH | S_IXOTH) &&
                        IsForAll(folder / kEnterProgram, S_IROTH | S_IXOTH) &&
                        IsForAll(folder / "librharness-observe.so", S_IROTH) &&
                        (!kernels || IsForAll(folder / kKernelsLibrary, S_IROTH)) &&
                        IsForAll(folder / "python", S_IROTH | S_IXOTH);
  if (!readable) return InvalidInput("cannot be read by every user", folder.string());
  if (!IsPlain(folder)) {
    return InvalidInput("is no name of letters, digits and '._-+@=/' alone", folder.string());
  }
  return {};
}

Status MakeForAll(const fs::path& path, mode_t mode) {
  if (::chmod(path.c_str(), mode) == 0) return {};
  return IoErrorFromErrno("cannot change the mode of", errno, path.string());
}

}  // namespace

Json ToJson(const LookRequest& request) {
  const ObserveRequest& asked = request.request;
  return Json::MakeObject({{"python_hooks", asked.python_hooks},
                           {"kernels", asked.kernels},
                           {"watched", TextsToJson(asked.variables)},
                           {"command", TextsToJson(asked.command)},
                           {"working_directory", asked.working_directory.string()},
                           {"base", asked.base.string()},
                           {"declared", TextsToJson(asked.declared)},
                           {"variables", TextsToJson(request.variables)}});
}

Result<LookRequest> ParseLookRequest(const Json& json) {
  LookRequest out;
  JsonReader reader(json, "request");
  std::vector<std::string> watched, declared, variables;
  std::string folder, base;
  reader.Read("python_hooks", &out.request.python_hooks);
  reader.Read("kernels", &out.request.kernels);
  reader.ReadArray("watched", &watched);
  reader.ReadArray("command", &out.request.command);
  reader.Read("working_directory", &folder);
  reader.Read("base", &base);
  reader.ReadArray("declared", &declared);
  reader.ReadArray("variables", &variables);
  RETURN_IF_ERROR(reader.status());
  out.request.variables.insert(watched.begin(), watched.end());
  out.request.working_directory = folder;
  out.request.base = base;
  out.request.declared.assign(declared.begin(), declared.end());
  out.variables.insert(variables.begin(), variables.end());
  return out;
}

Json ToJson(const ImageSeen& seen) {
  return Json::MakeObject({{"observation", ToJson(seen.observation)},
                           {"not_started", seen.not_started},
                           {"has_entered", seen.has_entered}});
}

Result<ImageSeen> ParseImageSeen(const Json& json) {
  ImageSeen seen;
  JsonReader reader(json, kLookProgram);
  std::optional<Observation> observation;
  ReadObservation(reader, &observation);
  reader.Read("not_started", &seen.not_started);
  reader.Read("has_entered", &seen.has_entered);
  RETURN_IF_ERROR(reader.status());
  if (!observation) return InvalidInput("expected a member \"observation\"", kLookProgram);
  seen.observation = std::move(*observation);
  return seen;
}

Observation NothingSeen(const std::string& why) {
  Observation seen;
  seen.unseen = {"what runs in the image: " + why};
  return seen;
}

ImageObserver::ImageObserver(const fs::path& folder, const LookRequest& request,
                             const Result<ObserveParts>& parts)
    : folder_(folder), door_(folder / "door"), python_(request.request.python_hooks) {
  if (const Status ready = Prepare(request, parts); !ready.ok()) {
    problem_ = ready.error().ToString();
    return;
  }
  thread_ = std::thread([this] {
    ProcessSpec spec;
    spec.argv = {(parts_ / kLookProgram).string(), folder_.string()};
    spec.working_directory = "/";
    ProcessLimits limits;
    limits.output_bytes = kMostReplyBytes;
    limits.close_when_full = true;
    limits.memory_bytes = kMostMemoryBytes;
    const auto started = [this](int pid) {
      look_ = Descriptor(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
      pid_.store(pid);
    };
    result_ = RunProcess(spec, limits, started, [this] { return give_up_.load(); });
    pid_.store(-1);
  });
}

Status ImageObserver::Prepare(const LookRequest& request, const Result<ObserveParts>& parts) {
  if (!parts.ok()) return parts.error();
  parts_ = parts->preload.parent_path();
  RETURN_IF_ERROR(CheckParts(parts_, request.request.kernels));
  if (!IsPlain(door_)) return InvalidInput("is no plain name", door_.string());
  std::error_code error;
  fs::create_directory(door_, error);
  if (error) return IoError("cannot create: " + error.message(), door_.string());
  RETURN_IF_ERROR(PrepareNotes(door_, request.request));
  // The folder that it lies in is ours alone.
  RETURN_IF_ERROR(MakeForAll(door_, 0755));
  for (const auto& entry : fs::directory_iterator(door_, error)) {
    RETURN_IF_ERROR(MakeForAll(entry.path(), 0644));
  }
  std::ofstream out(folder_ / "request.json", std::ios::binary);
  out << ToJson(request).Dump();
  out.close();
  return out ? Status() : IoError("cannot write", (folder_ / "request.json").string());
}

ImageObserver::~ImageObserver() {
  give_up_ = true;
  End();
}

std::vector<std::string> ImageObserver::Enter(const std::vector<std::string>& command) const {
  std::vector<std::string> whole = {std::string(kInsideParts) + "/" + kEnterProgram,
                                    python_ ? kLendPython : kLendPreload};
  whole.insert(whole.end(), command.begin(), command.end());
  return whole;
}

// Asks it to report what it saw, and kills it if it does not.
void ImageObserver::End() {
  if (!thread_.joinable()) return;
  Clock& clock = SystemClock();
  const auto until = clock.Monotonic() + kLongestEnd;
  while (pid_.load() == 0 && clock.Monotonic() < until) {
    clock.SleepFor(std::chrono::milliseconds(1));
  }
  // While it is 0 the thread may still be writing look_.
  if (pid_.load() > 0) ::syscall(SYS_pidfd_send_signal, look_.get(), SIGTERM, nullptr, 0);
  while (pid_.load() > 0 && clock.Monotonic() < until) {
    clock.SleepFor(std::chrono::milliseconds(1));
  }
  give_up_ = true;
  thread_.join();
}

ImageSeen ImageObserver::Collect() {
  if (!problem_.empty()) return {.observation = NothingSeen(problem_)};
  End();
  if (!result_.outcome.Succeeded()) {
    return {.observation =
                NothingSeen(fmt::format("{} {}: {}", kLookProgram, result_.outcome.ToString(),
                                        TerminalSafe(result_.stderr_text).substr(0, 200)))};
  }
  const auto json = ParseJson(result_.stdout_text, kLookProgram);
  auto seen = json.ok() ? ParseImageSeen(*json) : Result<ImageSeen>(json.error());
  if (!seen.ok()) return {.observation = NothingSeen(seen.error().ToString())};
  return std::move(*seen);
}

}  // namespace rharness
