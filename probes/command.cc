// Parses, runs, prints; and the child's side of runner.h.
#include "probes/command.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <map>
#include <string>

#include "harness/base/files.h"
#include "harness/base/log.h"
#include "harness/base/progress.h"
#include "harness/base/version.h"
#include "probes/failed_cases.h"
#include "probes/library/loader.h"
#include "probes/runner.h"

namespace rharness {
namespace {

// As rharness has them.
constexpr int kExitOk = 0;
constexpr int kExitUsage = 2;
constexpr int kExitInfrastructure = 4;

struct CommandOptions {
  std::string one;
  int milliseconds = 0;  // for the one
  RunOptions run;
  std::vector<std::string> library_paths;
  std::vector<std::string> also_search;
  std::string out;
  int budget_seconds = 0;
  bool json = false;
  bool quiet = false;
};

int Fail(const Error& error) {
  LogError(error.ToString());
  return error.code == ErrorCode::kInvalidInput ? kExitUsage : kExitInfrastructure;
}

int PrintTo(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return Fail(IoErrorFromErrno("cannot write to stdout", errno));
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return kExitOk;
}

const Probe* FindProbe(std::string_view name) {
  for (const Probe& probe : Probes()) {
    if (probe.name == name) return &probe;
  }
  return nullptr;
}

// Libraries may print on stdout; the result keeps it for itself.
int ReserveStdout() {
  const int reserved = ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
  if (reserved < 0 || ::dup2(STDERR_FILENO, STDOUT_FILENO) < 0) return -1;
  return reserved;
}

int RunOne(const CommandOptions& options) {
  const Probe* probe = FindProbe(options.one);
  if (probe == nullptr) return Fail(InvalidInput("there is no such probe", options.one));
  const int out = ReserveStdout();
  if (out < 0) return Fail(IoErrorFromErrno("cannot reserve stdout", errno));
  ProbeContext context = options.run.context;
  if (options.milliseconds > 0) {
    context.until =
        std::chrono::steady_clock::now() + std::chrono::milliseconds(options.milliseconds);
  }
  ProbeResult result = probe->run(context);
  result.folders.assign(FoldersUsed().begin(), FoldersUsed().end());
  const int code = PrintTo(out, ToJson(result).Dump() + "\n");
  // Libraries of the stack do not run their exit code: it is not under test.
  ::_exit(code);
}

int List(const CommandOptions& options) {
  if (!options.json) {
    std::string text;
    for (const Probe& probe : Probes()) {
      text += fmt::format("{:<24} {:<4} {:<12} {}{}\n", probe.name,
                          probe.device == ProbeDevice::kCpu ? "cpu" : "gpu", probe.family,
                          probe.summary, probe.by_name ? " (run by name alone)" : "");
    }
    return PrintTo(STDOUT_FILENO, text);
  }
  Json list = Json::MakeArray();
  for (const Probe& probe : Probes()) {
    list.Append(Json()
                    .Set("name", probe.name)
                    .Set("family", probe.family)
                    .Set("device", probe.device == ProbeDevice::kCpu ? "cpu" : "gpu")
                    .Set("summary", probe.summary)
                    .Set("must_be_unstable", probe.must_be_unstable)
                    .Set("by_name", probe.by_name)
                    .Set("limit_seconds", probe.limit.count()));
  }
  const Json json = Json().Set("schema", "rharness.probes/v1").Set("probes", std::move(list));
  return PrintTo(STDOUT_FILENO, json.Dump(2) + "\n");
}

// One line for each probe that did not work, or has a case that failed, and for a broken suite.
int Judge(const Json& fingerprint) {
  int code = kExitOk;
  bool any = false;
  std::string absent;
  for (const Json& probe : fingerprint.Find("probes")->AsArray()) {
    const std::string& status = probe.Find("status")->AsString();
    any = any || status != "absent";
    if (status == "absent" && absent.empty()) absent = probe.Find("message")->AsString();
    if (const std::string failures = FailuresInWords(probe); !failures.empty()) {
      LogError(fmt::format("{}: {}", probe.Find("name")->AsString(), TerminalSafe(failures)));
      code = kExitInfrastructure;
    }
    if (status == "ok" || status == "absent") continue;
    LogError(fmt::format("{} {}: {}", probe.Find("name")->AsString(), status,
                         TerminalSafe(probe.Find("message")->AsString())));
    code = kExitInfrastructure;
  }
  if (!any) {
    LogError("nothing is here to probe: " + TerminalSafe(absent));
    return kExitInfrastructure;
  }
  const std::string& suite = fingerprint.Find("suite")->AsString();
  if (suite == "ok") return code;
  LogError(suite);
  return kExitInfrastructure;
}

std::atomic<bool> interrupted{false};
void Interrupt(int) { interrupted = true; }

int RunSuite(CommandOptions options) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) std::signal(signal, Interrupt);
  options.run.should_cancel = [] { return interrupted.load(); };
  // A folder that is misspelt would leave the loader's own libraries to be probed in its place.
  for (const auto& path : options.run.context.library_paths) {
    std::error_code missing;
    if (!std::filesystem::is_directory(path, missing)) {
      return Fail(InvalidInput("expected a folder",
                               fmt::format("--library-path '{}'", TerminalSafe(path.string()))));
    }
  }
  std::error_code failed;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", failed);
  if (failed) return Fail(IoError("cannot tell this program's own path: " + failed.message()));
  ProgressLine line(ProgressStyleHere(options.quiet, false));
  const auto began = std::chrono::steady_clock::now();
  options.run.progress = [&](const Probe& probe, std::size_t done, std::size_t of) {
    const auto elapsed = std::chrono::steady_clock::now() - began;
    line.Show(CountProgress("probes done", done, of, elapsed, probe.name));
  };
  options.run.budget = std::chrono::seconds(options.budget_seconds);
  const Result<Json> fingerprint = RunProbes(self.string(), options.run);
  line.Clear();
  if (!fingerprint.ok()) return Fail(fingerprint.error());
  if (options.out.empty() || options.out == "-") {
    if (const int code = PrintTo(STDOUT_FILENO, fingerprint->Dump(2) + "\n"); code != kExitOk) {
      return code;
    }
  } else if (const Status written = WriteJsonFile(options.out, *fingerprint); !written.ok()) {
    return Fail(written.error());
  }
  return Judge(*fingerprint);
}

void AddContextOptions(CLI::App* app, CommandOptions* options) {
  app->add_option("--device", options->run.context.device, "cpu or cuda:N");
  app->add_option("--repeat", options->run.context.repeats,
                  "Times that each result is made in a process")
      ->check(CLI::Range(1, 1000));
  app->add_option("--library-path", options->library_paths,
                  "Folders searched for the stack's libraries before the loader's own; a folder "
                  "that no probe takes a library from is an error");
  app->add_option("--also-search", options->also_search,
                  "Folders searched after these, which need have nothing");
  app->add_option("--python", options->run.context.python, "Ask the NumPy of this Python, too");
}

// For CLI11: makes "10m" "600"; what is wrong with it, or nothing.
std::string ToSeconds(std::string& text) {
  static const CLI::AsNumberWithUnit kUnits(
      std::map<std::string, int>{{"s", 1}, {"m", 60}, {"h", 3600}},
      CLI::AsNumberWithUnit::UNIT_REQUIRED);
  try {
    return kUnits(text);
  } catch (const CLI::ValidationError&) {
    return fmt::format("'{}' is no time; expected a number with its unit (s, m, h), such as 90s",
                       TerminalSafe(text));
  }
}

void AddSubcommands(CLI::App* app, CommandOptions* options) {
  CLI::App* list = app->add_subcommand("list", "Names the probes in this program");
  list->add_flag("--json", options->json, "Print one JSON document (rharness.probes/v1)");
  CLI::App* run = app->add_subcommand("run", "Fingerprints this stack's arithmetic");
  run->add_option("--probe", options->run.globs,
                  "Names of probes; * and ? match; else all but those that list marks");
  AddContextOptions(run, options);
  run->add_option("--processes", options->run.processes, "Fresh processes that each probe runs in")
      ->check(CLI::Range(1, 1000));
  run->add_option(
         "--budget", options->budget_seconds,
         "Time for all probes, such as 90s or 10m; what is not done by then has timed out; "
         "0s: no limit")
      ->transform(CLI::Validator(ToSeconds, "TIME", "time"))
      ->check(CLI::Range(0, 1000000));
  run->add_flag("-q,--quiet", options->quiet, "Show no progress");
  run->add_option("--out", options->out, "Write the fingerprint to this file, not to stdout");
}

}  // namespace

int RunProbeCommand(int argc, char** argv, std::string_view needs) {
  std::signal(SIGPIPE, SIG_IGN);
  CommandOptions options;
  CLI::App app("Asks this stack how it computes.", "rharness-probe");
  app.set_version_flag("--version", fmt::format("{}\n{}", kVersion, needs));
  app.add_option("--one", options.one)->group("");
  app.add_option("--seed", options.run.context.seed)->group("");
  app.add_option("--milliseconds", options.milliseconds)->group("");
  CLI::App* one = app.add_option_group("one", "")->group("");
  AddContextOptions(one, &options);
  AddSubcommands(&app, &options);
  app.require_subcommand(0, 1);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);
    LogError(error.what());
    return kExitUsage;
  }
  auto& paths = options.run.context.library_paths;
  paths.assign(options.library_paths.begin(), options.library_paths.end());
  paths.insert(paths.end(), options.also_search.begin(), options.also_search.end());
  options.run.asked_paths = options.library_paths.size();
  if (!options.one.empty()) return RunOne(options);
  if (app.got_subcommand("list")) return List(options);
  if (app.got_subcommand("run")) return RunSuite(std::move(options));
  LogError("expected list or run; see --help");
  return kExitUsage;
}

}  // namespace rharness
