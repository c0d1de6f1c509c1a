// Builds the engine's command line from checked parts, and queries the engine for what really ran.
#include "harness/execution/launch/container_launcher.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include "harness/base/files.h"
#include "harness/execution/launch/image_reference.h"
#include "harness/execution/launch/job_rules.h"

namespace rharness {
namespace {

constexpr std::chrono::nanoseconds kPullTimeout = std::chrono::hours(1);
constexpr std::chrono::nanoseconds kReplyTimeout = std::chrono::minutes(2);
constexpr std::uint64_t kReplyBytes = std::uint64_t{16} << 20;
constexpr std::uint64_t kDefaultSharedMemoryBytes = std::uint64_t{1} << 30;

const std::array<Engine, 2>& Engines() {
  static const std::array<Engine, 2> engines = {
      Engine{.name = "podman",
             .gpus = "--device=nvidia.com/gpu=all",
             .maps_root = true,
             .run_flags = {"--replace", "--http-proxy=false"},
             .mount_options = ",nosuid,nodev"},
      // Docker has no such options; no-new-privileges and an unprivileged user replace them.
      Engine{.name = "docker",
             .gpus = "--gpus=all",
             .maps_root = false,
             .run_flags = {},
             .mount_options = {}},
  };
  return engines;
}

// What the engine itself needs of this process's environment; none of it reaches the container.
std::map<std::string, std::string> EngineEnvironment() {
  return PickEnvironment({"HOME",
                          "PATH",
                          "USER",
                          "LOGNAME",
                          "TMPDIR",
                          "XDG_RUNTIME_DIR",
                          "XDG_CONFIG_HOME",
                          "XDG_DATA_HOME",
                          "DBUS_SESSION_BUS_ADDRESS",
                          "CONTAINERS_CONF",
                          "CONTAINERS_STORAGE_CONF",
                          "CONTAINERS_REGISTRIES_CONF",
                          "REGISTRY_AUTH_FILE",
                          "STORAGE_DRIVER",
                          "STORAGE_OPTS",
                          "CONTAINER_HOST",
                          "DOCKER_HOST",
                          "DOCKER_CONFIG",
                          "DOCKER_CONTEXT",
                          "DOCKER_CERT_PATH",
                          "DOCKER_TLS_VERIFY",
                          "SSL_CERT_FILE",
                          "SSL_CERT_DIR",
                          "HTTP_PROXY",
                          "HTTPS_PROXY",
                          "NO_PROXY",
                          "http_proxy",
                          "https_proxy",
                          "no_proxy"});
}

// A call of the engine's client. The container's monitor, which the client starts and leaves
// behind, belongs to the engine: were it killed, the engine would not know that the container
// ended.
ProcessSpec ClientSpec(std::vector<std::string> argv) {
  ProcessSpec spec;
  spec.argv = std::move(argv);
  spec.environment = EngineEnvironment();
  spec.working_directory = "/";
  spec.group_only = true;
  return spec;
}

std::uint64_t MemoryLimit(const Job& job) {
  return job.limits.memory_bytes > 0 ? job.limits.memory_bytes : job.resources.memory_bytes;
}

// --mount takes a line of comma-separated values; quoting differs between engines and versions.
Status CheckMountable(std::string_view path, const Job& job) {
  const bool plain = std::none_of(path.begin(), path.end(), [](char c) {
    return c == ',' || c == '"' || c == '\\' || std::iscntrl(static_cast<unsigned char>(c)) != 0;
  });
  if (plain) return {};
  return InvalidInput(fmt::format("'{}' cannot be mounted in a container: expected a path without "
                                  "commas, quotes, backslashes and control characters",
                                  TerminalSafe(path)),
                      job.name);
}

Status AddMounts(const Job& job, const Engine& engine, std::vector<std::string>* argv) {
  const std::string workspace = job.workspace.string();
  RETURN_IF_ERROR(CheckMountable(workspace, job));
  argv->push_back(fmt::format("--mount=type=bind,source={},target={}{}", workspace, workspace,
                              engine.mount_options));
  for (const Mount& mount : job.mounts) {
    RETURN_IF_ERROR(CheckMountable(mount.source.string(), job));
    RETURN_IF_ERROR(CheckMountable(mount.target, job));
    argv->push_back(fmt::format("--mount=type=bind,source={},target={},readonly{}",
                                mount.source.string(), mount.target, engine.mount_options));
  }
  if (job.scratch) {
    RETURN_IF_ERROR(CheckMountable(job.scratch->target, job));
    argv->push_back(fmt::format("--tmpfs={}:rw,nosuid,nodev,noexec,mode=1777,size={}",
                                job.scratch->target, job.scratch->size_bytes));
  }
  return {};
}

// Each variable is one argument, so that a value may contain anything but NUL.
Status AddEnvironment(const Job& job, std::vector<std::string>* argv) {
  for (const auto& [name, value] : job.environment) {
    const bool plain = !name.empty() && std::none_of(name.begin(), name.end(), [](char c) {
      return c == '=' || c == ' ' || std::iscntrl(static_cast<unsigned char>(c)) != 0;
    });
    if (!plain || value.find('\0') != std::string::npos) {
      return InvalidInput(
          fmt::format("variable '{}' cannot be handed to a container", TerminalSafe(name)),
          job.name);
    }
    argv->push_back(fmt::format("--env={}={}", name, value));
  }
  return {};
}

// FNV-1a: the same in every process and on every machine.
std::uint64_t HashOf(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  }
  return hash;
}

Error EngineFailure(const Engine& engine, std::string_view action, const ProcessResult& result) {
  std::string message = fmt::format("{} {}: {} {}", engine.name, action, result.outcome.ToString(),
                                    TerminalSafe(result.stderr_text));
  message.erase(message.find_last_not_of(" \n") + 1);
  if (result.outcome.kind == OutcomeKind::kTimedOut) return TimeoutError(std::move(message));
  return ProcessError(std::move(message));
}

}  // namespace

const Engine* FindEngine(std::string_view name) {
  for (const Engine& engine : Engines()) {
    if (engine.name == name) return &engine;
  }
  return nullptr;
}

std::string ContainerName(const Job& job) {
  constexpr std::size_t kLongestPart = 80;
  std::string part = job.name.substr(0, kLongestPart);
  std::replace_if(
      part.begin(), part.end(),
      [](unsigned char c) { return !std::isalnum(c) && c != '.' && c != '_' && c != '-'; }, '_');
  return fmt::format("rharness-{}-{:016x}", part, HashOf(job.name + '\0' + job.workspace.string()));
}

Status ContainerLauncher::Prepare(const Image& image) {
  ASSIGN_OR_RETURN(const std::string reference, ImageReference(image));
  RETURN_IF_ERROR(CheckPlatform(image.platform));
  const std::lock_guard<std::mutex> one_pull_at_a_time(pulling_);
  const Result<ImageProof> present = Prove(reference, image);
  if (present.ok()) return {};
  if (present.error().code != ErrorCode::kNotFound) return present.error();
  std::vector<std::string> pull = {"pull", "--quiet"};
  if (!image.platform.empty()) pull.push_back("--platform=" + image.platform);
  pull.push_back(reference);
  const ProcessResult pulled = RunEngine(std::move(pull), kPullTimeout);
  if (!pulled.outcome.Succeeded()) return ExplainPullFailure(image, pulled);
  Result<ImageProof> proof = Prove(reference, image);
  if (proof.ok()) return {};
  if (proof.error().code != ErrorCode::kNotFound) return proof.error();
  return ProcessError(fmt::format("{} pulled {} but does not have it", engine_.name, reference));
}

Result<ProcessSpec> ContainerLauncher::BuildCommand(const Job& job) const {
  RETURN_IF_ERROR(CheckJob(job));
  ASSIGN_OR_RETURN(const std::string reference, ImageReference(job.image));
  ASSIGN_OR_RETURN(const std::filesystem::path folder, WorkingDirectory(job));
  RETURN_IF_ERROR(CheckMountable(folder.string(), job));
  std::vector<std::string> argv = {std::string(engine_.name),
                                   "run",
                                   "--name=" + ContainerName(job),
                                   "--pull=never",
                                   "--network=none",
                                   "--hostname=job",
                                   "--read-only",
                                   "--cap-drop=all",
                                   "--security-opt=no-new-privileges",
                                   "--log-driver=none",
                                   "--entrypoint=",
                                   "--workdir=" + folder.string()};
  argv.insert(argv.end(), engine_.run_flags.begin(), engine_.run_flags.end());
  if (engine_.maps_root && RunsUnprivileged(job, host_)) {
    for (const char* kind : {"uid", "gid"}) {
      argv.push_back(fmt::format("--{}map=0:{}:{}", kind, kFirstContainerUser, kContainerUsers));
    }
  }
  argv.push_back("--user=" + UserOf(job));
  AddResources(job, &argv);
  RETURN_IF_ERROR(AddMounts(job, engine_, &argv));
  RETURN_IF_ERROR(AddEnvironment(job, &argv));
  argv.push_back(reference);
  argv.insert(argv.end(), job.command.begin(), job.command.end());
  return ClientSpec(std::move(argv));
}

// The user as seen by the container. Podman's root in the container is a different user outside:
// this process's user, or the first of those mapped.
std::string ContainerLauncher::UserOf(const Job& job) const {
  if (engine_.maps_root) return "0:0";
  if (!RunsUnprivileged(job, host_)) return fmt::format("{}:{}", ::geteuid(), ::getegid());
  return fmt::format("{0}:{0}", kFirstContainerUser);
}

// Unrequested resources are limited all the same, by the machine's size: a container's /tmp and
// /dev/shm are its memory, and an unlimited one would take everybody's.
void ContainerLauncher::AddResources(const Job& job, std::vector<std::string>* argv) const {
  const std::uint64_t asked = MemoryLimit(job);
  const std::uint64_t memory = asked > 0 ? asked : host_.memory_bytes;
  if (memory > 0) {
    argv->push_back(fmt::format("--memory={}", memory));
    argv->push_back(fmt::format("--memory-swap={}", memory));
  }
  if (host_.can_limit_processes) argv->push_back(fmt::format("--pids-limit={}", kMostProcesses));
  const std::uint64_t shared = asked > 0 ? asked : kDefaultSharedMemoryBytes;
  const std::uint64_t disk = job.limits.disk_bytes > 0 ? job.limits.disk_bytes : shared;
  argv->push_back(fmt::format("--tmpfs=/tmp:rw,nosuid,nodev,noexec,size={}",
                              memory > 0 ? std::min(disk, memory) : disk));
  argv->push_back(fmt::format("--shm-size={}", shared));
  if (job.resources.cpus > 0) argv->push_back(fmt::format("--cpus={}", job.resources.cpus));
  if (job.resources.gpus > 0) argv->emplace_back(engine_.gpus);
}

Result<ImageProof> ContainerLauncher::Finish(const Job& job, Outcome* outcome) {
  const std::string container_name = ContainerName(job);
  ASSIGN_OR_RETURN(const std::optional<ContainerState> container, Inspect(container_name));
  DecideOutcome(engine_.name, container, MemoryLimit(job) > 0 || host_.memory_bytes > 0, outcome);
  if (!container) return ImageProof{};
  Result<ImageProof> proof = Prove(container->image_id, job.image);
  RETURN_IF_ERROR(Remove(container_name, container->running));
  return proof;
}

ProcessResult ContainerLauncher::RunEngine(std::vector<std::string> arguments,
                                           std::chrono::nanoseconds timeout) const {
  arguments.insert(arguments.begin(), std::string(engine_.name));
  ProcessLimits limits;
  limits.timeout = timeout;
  limits.output_bytes = kReplyBytes;
  return RunProcess(ClientSpec(std::move(arguments)), limits);
}

// Both engines print "[]" and fail for a missing object.
Result<ImageProof> ContainerLauncher::Prove(const std::string& name, const Image& image) const {
  const ProcessResult result = RunEngine({"image", "inspect", name}, kReplyTimeout);
  if (result.outcome.kind != OutcomeKind::kExited || result.stdout_text.empty()) {
    return EngineFailure(engine_, "image inspect", result);
  }
  return ProveImage(result.stdout_text, image);
}

Result<ImageFacts> ContainerLauncher::Describe(const Image& image) const {
  ASSIGN_OR_RETURN(const std::string reference, ImageReference(image));
  const ProcessResult result = RunEngine({"image", "inspect", reference}, kReplyTimeout);
  if (result.outcome.kind != OutcomeKind::kExited || result.stdout_text.empty()) {
    return EngineFailure(engine_, "image inspect", result);
  }
  return ParseImageFacts(result.stdout_text, image);
}

Result<std::optional<ContainerState>> ContainerLauncher::Inspect(
    const std::string& container) const {
  const ProcessResult result = RunEngine({"container", "inspect", container}, kReplyTimeout);
  if (result.outcome.kind != OutcomeKind::kExited || result.stdout_text.empty()) {
    return EngineFailure(engine_, "container inspect", result);
  }
  return ParseContainerInspect(result.stdout_text);
}

Status ContainerLauncher::Remove(const std::string& container, bool running) const {
  // `rm --force` alone first asks a running container politely, for ten seconds.
  if (running) RunEngine({"kill", "--signal=KILL", container}, kReplyTimeout);
  // Where the container's monitor was killed, podman waits for its report in vain and fails once,
  // but has then noted that the container stopped, and the next removal succeeds.
  constexpr int kAttempts = 3;
  ProcessResult result;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    result = RunEngine({"rm", "--force", "--volumes", container}, kReplyTimeout);
    if (result.outcome.Succeeded()) return {};
  }
  return EngineFailure(engine_, "rm", result);
}

}  // namespace rharness
