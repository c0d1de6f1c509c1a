// venv, pip and uv, in a temporary folder that is renamed in the end.
#include "harness/execution/rerun/make_python.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <map>
#include <mutex>
#include <random>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "harness/base/digest.h"
#include "harness/base/files.h"
#include "harness/base/subprocess.h"
#include "harness/base/trouble.h"
#include "harness/execution/rerun/python_place.h"
#include "harness/execution/rerun/record_python.h"
#include "harness/records/manifest/packages.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::minutes kMostTime{60};
constexpr std::uint64_t kMostOfAScript = std::uint64_t{1} << 20;
constexpr std::size_t kMostNamed = 3;
constexpr std::size_t kLongestTold = 400;

// What becomes a line that an installer reads: nothing in it may be an option or a URL.
bool IsRequirement(std::string_view name, std::string_view version) {
  const auto is_one_of = [](std::string_view text, std::string_view signs) {
    return !text.empty() && std::ranges::all_of(text, [&](char c) {
      const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
      return plain || signs.find(c) != signs.npos;
    });
  };
  return is_one_of(name, "-") && name.front() != '-' && is_one_of(version, ".!+_-") &&
         version.front() != '-';
}

// "3.11" of "3.11.7".
std::string Series(const std::string& version) {
  const auto minor = version.find('.');
  return minor == version.npos ? version : version.substr(0, version.find('.', minor + 1));
}

std::map<std::string, std::string> InstallersEnvironment() {
  auto variables = ProcessEnvironment();
  // Those of an environment that this process was started in.
  std::erase_if(variables, [](const auto& one) {
    static const std::set<std::string> kOthers = {"VIRTUAL_ENV", "CONDA_PREFIX", "LD_PRELOAD",
                                                  "PIP_USER",    "PIP_TARGET",   "PIP_PREFIX"};
    return one.first.starts_with("PYTHON") || kOthers.contains(one.first);
  });
  variables["LC_ALL"] = "C.UTF-8";
  variables["PIP_DISABLE_PIP_VERSION_CHECK"] = "1";
  return variables;
}

fs::path OnPath(const std::string& program) {
  const auto path = PickEnvironment({"PATH"});
  std::string_view rest = path.empty() ? std::string_view() : path.begin()->second;
  while (!rest.empty()) {
    const std::string_view folder = rest.substr(0, rest.find(':'));
    rest.remove_prefix(std::min(rest.size(), folder.size() + 1));
    const fs::path file = fs::path(folder) / program;
    if (!folder.empty() && ::access(file.c_str(), X_OK) == 0) return file;
  }
  return {};
}

bool Says(const ProcessResult& result, std::initializer_list<std::string_view> words) {
  return std::ranges::any_of(words, [&](std::string_view word) {
    return result.stderr_text.find(word) != std::string::npos ||
           result.stdout_text.find(word) != std::string::npos;
  });
}

std::string LastWords(const ProcessResult& result) {
  std::string text = result.stderr_text.empty() ? result.stdout_text : result.stderr_text;
  text.erase(text.find_last_not_of(" \n") + 1);
  const auto error = text.rfind("ERROR: ");
  text = text.substr(error != text.npos ? error : text.rfind('\n') + 1);
  return TerminalSafe(text.substr(0, kLongestTold));
}

Error WhyItFailed(const std::string& what, const ProcessResult& result) {
  const std::string words = LastWords(result);
  const std::string message =
      fmt::format("{} {}{}{}", what, result.outcome.ToString(), words.empty() ? "" : ": ", words);
  if (result.outcome.kind == OutcomeKind::kTimedOut) return TimeoutError(message);
  if (result.outcome.kind == OutcomeKind::kCancelled || !IsAnswer(result)) {
    return ProcessError(message);
  }
  if (Says(result, {"onnection", "timed out", "Temporary failure", "Max retries", "dns error"})) {
    return ProcessError(message);
  }
  return NotFound(message);
}

class Maker {
 public:
  Maker(const Manifest& manifest, const fs::path& folder, const std::function<bool()>& cancel)
      : manifest_(manifest),
        python_(*manifest.environment.python),
        wanted_(manifest.environment.packages.at(kPython)),
        target_(folder / EnvironmentKey(manifest)),
        cancel_(cancel) {
    std::random_device device;
    temporary_ = folder / fmt::format(".making-{}-{:08x}", target_.filename().string(), device());
  }
  Maker(const Maker&) = delete;
  Maker& operator=(const Maker&) = delete;
  ~Maker() { (void)RemoveTree(temporary_); }

  Result<fs::path> Make() {
    std::error_code error;
    if (fs::exists(target_, error)) return Proved(target_);
    RETURN_IF_ERROR(CheckNames());
    RETURN_IF_ERROR(MakeDirectories(target_.parent_path()));
    RETURN_IF_ERROR(StartEmpty());
    RETURN_IF_ERROR(Install());
    RETURN_IF_ERROR(RemoveOthers());
    ASSIGN_OR_RETURN(const fs::path proved, Proved(temporary_));
    (void)proved;
    RETURN_IF_ERROR(NameItsPlace());
    fs::rename(temporary_, target_, error);
    // Another process was faster.
    if (error == std::errc::directory_not_empty || error == std::errc::file_exists) {
      return Proved(target_);
    }
    if (error) return IoErrorFromErrno("cannot rename to", error.value(), target_.string());
    return target_;
  }

 private:
  ProcessResult Run(std::vector<std::string> argv) const {
    ProcessLimits limits;
    limits.timeout = kMostTime;
    const ProcessSpec spec{.argv = std::move(argv),
                           .environment = InstallersEnvironment(),
                           .working_directory = target_.parent_path()};
    return RunProcess(spec, limits, {}, cancel_);
  }

  Status Do(const std::string& what, std::vector<std::string> argv) const {
    const ProcessResult result = Run(std::move(argv));
    return result.outcome.Succeeded() ? Status() : Status(WhyItFailed(what, result));
  }

  // The recorded interpreter, or one of its series that is on PATH. Empty: none.
  fs::path Interpreter() const {
    const std::string series = Series(python_.version);
    std::vector<fs::path> candidates = {python_.interpreter};
    if (!series.empty()) candidates.push_back(OnPath("python" + series));
    candidates.push_back(OnPath("python3"));
    for (const fs::path& candidate : candidates) {
      if (candidate.empty()) continue;
      const std::string version = PythonVersion(candidate);
      if (!version.empty() && (series.empty() || Series(version) == series)) return candidate;
    }
    return {};
  }

  // Without packages except pip, if that is recorded.
  Status StartEmpty() {
    interpreter_ = Interpreter();
    uv_ = OnPath("uv");
    if (interpreter_.empty() && uv_.empty()) {
      return NotFound(fmt::format("neither Python {} nor uv, which could get it, is here",
                                  python_.version.empty() ? "3" : python_.version));
    }
    const bool by_uv = !uv_.empty() && (python_.kind == PythonKind::kUv || interpreter_.empty());
    if (!by_uv) {
      std::vector<std::string> argv = {interpreter_.string(), "-m", "venv"};
      if (!wanted_.contains("pip")) argv.emplace_back("--without-pip");
      argv.push_back(temporary_.string());
      const Status made = Do("python -m venv", argv);
      if (made.ok()) uv_.clear();
      if (made.ok() || uv_.empty()) return made;
      RETURN_IF_ERROR(RemoveTree(temporary_));
    }
    const std::string from = interpreter_.empty() ? python_.version : interpreter_.string();
    return Do("uv venv", {uv_.string(), "venv", "--python", from, temporary_.string()});
  }

  Status CheckNames() const {
    for (const auto& [name, package] : wanted_) {
      if (package.digest.empty() || IsRequirement(name, package.version)) continue;
      return InvalidInput(fmt::format("'{} {}' is no name and version of a package",
                                      TerminalSafe(name), TerminalSafe(package.version)));
    }
    return {};
  }

  PackageMap Installed(const fs::path& prefix) const {
    PackageMap now;
    for (const fs::path& folder : PackageFoldersBelow(prefix)) AddPythonPackages(folder, {}, &now);
    return now;
  }

  // One without a digest is an editable install, whose code is the run's own, or cannot be proven
  // equal in an index.
  std::vector<std::string> Requirements() const {
    const PackageMap now = Installed(temporary_);
    std::vector<std::string> lines;
    for (const auto& [name, package] : wanted_) {
      if (package.digest.empty()) continue;
      const auto there = now.find(name);
      if (there != now.end() && there->second.digest == package.digest) continue;
      lines.push_back(name + "==" + package.version);
    }
    return lines;
  }

  std::vector<std::string> Pip(const std::string& verb) const {
    const std::string own = (temporary_ / "bin/python").string();
    if (!uv_.empty()) return {uv_.string(), "pip", verb, "--python", own};
    if (wanted_.contains("pip")) return {own, "-m", "pip", verb};
    return {interpreter_.string(), "-m", "pip", "--python", own, verb};
  }

  Status Install() const {
    const std::vector<std::string> lines = Requirements();
    if (lines.empty()) return {};
    const fs::path list = temporary_ / "requirements.txt";
    RETURN_IF_ERROR(WriteFileAtomic(list, fmt::format("{}\n", fmt::join(lines, "\n"))));
    std::vector<std::string> argv = Pip("install");
    argv.insert(argv.end(), {"--no-deps", "--only-binary", ":all:", "-r", list.string()});
    if (uv_.empty()) argv.insert(argv.end(), {"--no-input", "--no-compile", "--force-reinstall"});
    return Do(uv_.empty() ? "pip install" : "uv pip install", argv);
  }

  // What venv brought and the record has not.
  Status RemoveOthers() const {
    std::vector<std::string> argv = Pip("uninstall");
    if (uv_.empty()) argv.emplace_back("--yes");
    const std::size_t before = argv.size();
    for (const auto& [name, package] : Installed(temporary_)) {
      if (!wanted_.contains(name)) argv.push_back(name);
    }
    return argv.size() == before ? Status() : Do("pip uninstall", argv);
  }

  Result<fs::path> Proved(const fs::path& prefix) const {
    const std::string why = WhyNoPython(prefix);
    if (!why.empty()) return IntegrityError(why + "; remove what is there", prefix.string());
    std::vector<std::string> others = OtherPackages(manifest_, prefix);
    // Editable installs are not made again.
    std::erase_if(others, [](const std::string& one) { return one.starts_with("no "); });
    for (const auto& [name, package] : wanted_) {
      if (!package.digest.empty() && !Installed(prefix).contains(name))
        others.push_back("no " + name);
    }
    if (others.empty()) return prefix;
    others.resize(std::min(others.size(), kMostNamed));
    return IntegrityError(fmt::format("has {}: not what was recorded", fmt::join(others, ", ")),
                          prefix.string());
  }

  // Scripts name their interpreter by its path.
  Status NameItsPlace() const {
    std::error_code error;
    std::vector<fs::path> files = {temporary_ / "pyvenv.cfg"};
    for (fs::directory_iterator it(temporary_ / "bin", error), end; !error && it != end;
         it.increment(error)) {
      if (it->is_regular_file() && !it->is_symlink()) files.push_back(it->path());
    }
    const std::string from = temporary_.string();
    for (const fs::path& file : files) {
      auto text = ReadFile(file, kMostOfAScript);
      if (!text.ok() || text->find('\0') != text->npos || text->find(from) == text->npos) continue;
      for (auto at = text->find(from); at != text->npos; at = text->find(from, at + 1)) {
        text->replace(at, from.size(), target_.string());
      }
      const fs::perms mode = fs::status(file, error).permissions();
      RETURN_IF_ERROR(WriteFileAtomic(file, *text));
      fs::permissions(file, mode, error);
    }
    return {};
  }

  const Manifest& manifest_;
  const PythonEnvironment& python_;
  const PackageList& wanted_;
  const fs::path target_;
  const std::function<bool()>& cancel_;
  fs::path temporary_;
  fs::path interpreter_;
  fs::path uv_;  // empty: it is not used
};

}  // namespace

fs::path EnvironmentCache() {
  const auto variables = PickEnvironment({"XDG_CACHE_HOME", "HOME"});
  if (const auto cache = variables.find("XDG_CACHE_HOME"); cache != variables.end()) {
    if (fs::path(cache->second).is_absolute()) {
      return fs::path(cache->second) / "rharness/environments";
    }
  }
  const auto home = variables.find("HOME");
  if (home == variables.end() || !fs::path(home->second).is_absolute()) return {};
  return fs::path(home->second) / ".cache/rharness/environments";
}

std::string EnvironmentKey(const Manifest& manifest) {
  std::string text;
  if (manifest.environment.python) text = "python " + manifest.environment.python->version + "\n";
  const auto list = manifest.environment.packages.find(kPython);
  if (list != manifest.environment.packages.end()) {
    for (const auto& [name, package] : list->second) {
      text += fmt::format("{} {} {}\n", name, package.version, package.digest);
    }
  }
  return Sha256HexOf(text).substr(0, 32);
}

Result<fs::path> MakePython(const Manifest& manifest, const fs::path& folder,
                            const std::function<bool()>& should_cancel) {
  static std::mutex mutex;
  const auto& environment = manifest.environment;
  if (!environment.python || !environment.packages.contains(kPython)) {
    return Unsupported("the record has no list of its Python packages");
  }
  if (environment.python->kind == PythonKind::kConda) {
    return Unsupported(
        fmt::format("it is conda's, whose packages hold the path of their environment; make it at "
                    "{} with conda",
                    environment.python->prefix));
  }
  const std::lock_guard lock(mutex);
  return Maker(manifest, folder, should_cancel).Make();
}

}  // namespace rharness
