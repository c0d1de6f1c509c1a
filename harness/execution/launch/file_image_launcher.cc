// Command lines of two programs that start a container without a daemon.
#include "harness/execution/launch/file_image_launcher.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <system_error>

#include "harness/base/files.h"
#include "harness/execution/launch/container_host.h"
#include "harness/execution/launch/image_reference.h"
#include "harness/execution/launch/job_rules.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

// The start script of enroot's containers: the first argument is the folder, creating the second
// reports that this was reached, the rest is the command.
constexpr char kEnrootScript[] =
    "cd -- \"$1\" || exit 126\n: >\"$2\" || exit 126\nshift 2\nexec \"$@\"\n";

fs::path ScriptOf(const Job& job) { return job.workspace / ".tmp" / "enroot.rc"; }
fs::path MarkOf(const Job& job) { return job.workspace / ".tmp" / "enroot.started"; }

Error CannotCarry(std::string_view what, std::string_view value, std::string_view expected,
                  const Job& job) {
  return InvalidInput(fmt::format("{} '{}' cannot be handed to the container; expected {}", what,
                                  TerminalSafe(value), expected),
                      job.name);
}

template <class Accepts>
Status CheckPaths(const Job& job, const fs::path& folder, std::string_view expected,
                  Accepts accepts) {
  std::vector<std::string> paths = {job.workspace.string(), folder.string(),
                                    job.image_file.string()};
  for (const Mount& mount : job.mounts) {
    paths.push_back(mount.source.string());
    paths.push_back(mount.target);
  }
  if (job.scratch) paths.push_back(job.scratch->target);
  for (const std::string& path : paths) {
    if (!std::all_of(path.begin(), path.end(), accepts)) {
      return CannotCarry("path", path, expected, job);
    }
  }
  return {};
}

Status CheckVariables(const Job& job, bool control_characters) {
  for (const auto& [name, value] : job.environment) {
    const bool plain = !name.empty() && std::isdigit(static_cast<unsigned char>(name[0])) == 0 &&
                       std::all_of(name.begin(), name.end(), [](unsigned char c) {
                         return std::isalnum(c) != 0 || c == '_';
                       });
    if (!plain) return CannotCarry("variable", name, "letters, digits and '_'", job);
    if (!control_characters && std::any_of(value.begin(), value.end(),
                                           [](unsigned char c) { return std::iscntrl(c) != 0; })) {
      return CannotCarry("the value of variable", name, "no control characters", job);
    }
  }
  return {};
}

// The client becomes the job: it has the limits and the end of one on the host.
ProcessSpec ClientOf(std::map<std::string, std::string> environment) {
  ProcessSpec spec;
  spec.environment = std::move(environment);
  spec.working_directory = "/";
  spec.own_cgroup = true;
  return spec;
}

Result<fs::path> CheckFileJob(const Job& job, ImageKind kind) {
  RETURN_IF_ERROR(CheckJob(job));
  RETURN_IF_ERROR(CheckImageFile(job.image, kind));
  if (!job.image_file.is_absolute()) {
    return InvalidInput("the image's file is not known; expected an absolute path", job.name);
  }
  return WorkingDirectory(job);
}

bool EndedItself(const Outcome& outcome) {
  return outcome.kind == OutcomeKind::kExited || outcome.kind == OutcomeKind::kSignalled;
}

void NotStarted(std::string_view why, Outcome* outcome) {
  outcome->detail = fmt::format("{}: {}", why, outcome->ToString());
  outcome->kind = OutcomeKind::kNotStarted;
}

}  // namespace

ApptainerLauncher::ApptainerLauncher(bool rootful) : rootful_(rootful) {}
ApptainerLauncher::ApptainerLauncher() : ApptainerLauncher(DescribeContainerHost().rootful) {}

Status ApptainerLauncher::Prepare(const Image& image) {
  return CheckImageFile(image, ImageKind::kSif);
}

Result<ProcessSpec> ApptainerLauncher::BuildCommand(const Job& job) const {
  ASSIGN_OR_RETURN(const fs::path folder, CheckFileJob(job, ImageKind::kSif));
  // --mount takes a line of comma-separated values, --home one of colons.
  RETURN_IF_ERROR(CheckPaths(
      job, folder, "no commas, colons, quotes, backslashes, controls", [](unsigned char c) {
        return std::iscntrl(c) == 0 &&
               std::string_view(",:\"\\").find(static_cast<char>(c)) == std::string_view::npos;
      }));
  RETURN_IF_ERROR(CheckVariables(job, /*control_characters=*/true));
  ProcessSpec spec =
      ClientOf(PickEnvironment({"HOME", "PATH", "USER", "LOGNAME", "TMPDIR", "XDG_RUNTIME_DIR",
                                "APPTAINER_CONFIGDIR", "APPTAINER_CACHEDIR", "APPTAINER_TMPDIR"}));
  // So they arrive with any content, which --env cannot promise.
  for (const auto& [name, value] : job.environment) {
    if (name != "HOME") spec.environment["APPTAINERENV_" + name] = value;
  }
  const std::string workspace = job.workspace.string();
  spec.argv = {"apptainer", "--quiet",    "exec",  "--containall",  "--cleanenv",
               "--no-eval", "--no-umask", "--net", "--network=none"};
  if (rootful_ && !job.container_root) spec.argv.emplace_back("--no-privs");
  if (job.resources.gpus > 0) spec.argv.emplace_back("--nv");
  const auto home = job.environment.find("HOME");
  if (home != job.environment.end() && home->second == workspace) {
    spec.argv.push_back("--home=" + workspace);
  } else {
    spec.argv.emplace_back("--no-home");
  }
  spec.argv.push_back(fmt::format("--mount=type=bind,source={0},destination={0}", workspace));
  for (const Mount& mount : job.mounts) {
    spec.argv.push_back(fmt::format("--mount=type=bind,source={},destination={},ro",
                                    mount.source.string(), mount.target));
  }
  // In the container's own file system in memory, which apptainer.conf limits ("sessiondir max
  // size").
  if (job.scratch) spec.argv.push_back("--scratch=" + job.scratch->target);
  spec.argv.push_back("--pwd=" + folder.string());
  spec.argv.push_back(job.image_file.string());
  spec.argv.insert(spec.argv.end(), job.command.begin(), job.command.end());
  return spec;
}

Result<ImageProof> ApptainerLauncher::Finish(const Job& job, Outcome* outcome) {
  constexpr int kFatal = 255;
  if (outcome->kind == OutcomeKind::kExited && outcome->exit_code == kFatal) {
    NotStarted("apptainer could not start the container, or the run ended as if so", outcome);
  }
  return ImageProof{.digest = job.image.digest, .image_id = {}};
}

Status EnrootLauncher::Prepare(const Image& image) {
  return CheckImageFile(image, ImageKind::kSquashfs);
}

Status EnrootLauncher::HandOver(const Job& job) const {
  RETURN_IF_ERROR(MakeDirectoriesBelow(job.workspace, ".tmp"));
  std::error_code error;
  fs::remove(MarkOf(job), error);
  return WriteFileAtomic(ScriptOf(job), kEnrootScript);
}

Result<ProcessSpec> EnrootLauncher::BuildCommand(const Job& job) const {
  ASSIGN_OR_RETURN(const fs::path folder, CheckFileJob(job, ImageKind::kSquashfs));
  RETURN_IF_ERROR(CheckPaths(job, folder, "letters, digits and '._-+@=/'", [](unsigned char c) {
    return std::isalnum(c) != 0 ||
           std::string_view("._-+@=/").find(static_cast<char>(c)) != std::string_view::npos;
  }));
  RETURN_IF_ERROR(CheckVariables(job, /*control_characters=*/false));
  ProcessSpec spec = ClientOf(
      PickEnvironment({"HOME", "PATH", "USER", "LOGNAME", "TMPDIR", "XDG_RUNTIME_DIR",
                       "XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "ENROOT_RUNTIME_PATH",
                       "ENROOT_CONFIG_PATH", "ENROOT_DATA_PATH", "ENROOT_CACHE_PATH",
                       "ENROOT_TEMP_PATH", "ENROOT_SYSCONF_PATH", "ENROOT_LIBRARY_PATH"}));
  // fstab(5) with colons: source, target, type, options.
  const auto mount = [&spec](const std::string& source, const std::string& target,
                             std::string_view options) {
    spec.argv.push_back(
        fmt::format("--mount={}:{}:none:{},bind,nosuid,nodev", source, target, options));
  };
  spec.argv = {"enroot", "start", "--rc=" + ScriptOf(job).string()};
  mount(job.workspace.string(), job.workspace.string(), "x-create=dir,rw");
  for (const Mount& one : job.mounts) mount(one.source.string(), one.target, "x-create=auto,ro");
  if (job.scratch) {
    spec.argv.push_back(
        fmt::format("--mount=tmpfs:{}:tmpfs:x-create=dir,rw,nosuid,nodev,noexec,mode=1777,size={}",
                    job.scratch->target, job.scratch->size_bytes));
  }
  // The setting of its hook for NVIDIA's devices, whatever the image says.
  spec.argv.push_back(
      fmt::format("--env=NVIDIA_VISIBLE_DEVICES={}", job.resources.gpus > 0 ? "all" : "void"));
  for (const auto& [name, value] : job.environment) {
    spec.argv.push_back(fmt::format("--env={}={}", name, value));
  }
  spec.argv.insert(spec.argv.end(),
                   {"--", job.image_file.string(), folder.string(), MarkOf(job).string()});
  spec.argv.insert(spec.argv.end(), job.command.begin(), job.command.end());
  return spec;
}

Result<ImageProof> EnrootLauncher::Finish(const Job& job, Outcome* outcome) {
  std::error_code error;
  if (EndedItself(*outcome) && !outcome->Succeeded() && !fs::exists(MarkOf(job), error)) {
    NotStarted("enroot did not start the container", outcome);
  }
  return ImageProof{.digest = job.image.digest, .image_id = {}};
}

}  // namespace rharness
