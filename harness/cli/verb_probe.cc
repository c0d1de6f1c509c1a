// `rharness probe`: fingerprints a stack's arithmetic, here or in an image, by rharness-probe.
//
// rharness itself loads no library of the stack: the program beside it does, in a process of its
// own.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <charconv>
#include <csignal>
#include <filesystem>
#include <memory>

#include "compare/fingerprints/fingerprint.h"
#include "harness/base/files.h"
#include "harness/base/log.h"
#include "harness/base/subprocess.h"
#include "harness/cli/probe_diff.h"
#include "harness/cli/probe_program.h"
#include "harness/cli/record_options.h"
#include "harness/cli/verb.h"
#include "harness/launch/job.h"
#include "harness/manifest/environment.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

constexpr char kTarget[] = "/rharness-probe";  // where an image sees it

struct ProbeOptions {
  std::vector<std::string> globs;
  std::string device = "cpu";
  int repeats = 3;
  int processes = 2;
  int budget_seconds = 0;
  std::vector<std::string> library_paths;
  std::string out;
  std::string program;  // empty: the one beside rharness
  std::string image;
  std::string launcher = "podman";
  double timeout_seconds = 3600.0;
  bool json = false;
};

std::vector<std::string> RunArguments(const ProbeOptions& options) {
  std::vector<std::string> arguments = {"run",
                                        "--device",
                                        options.device,
                                        "--repeat",
                                        std::to_string(options.repeats),
                                        "--processes",
                                        std::to_string(options.processes)};
  if (options.budget_seconds > 0) {
    arguments.insert(arguments.end(), {"--budget", std::to_string(options.budget_seconds)});
  }
  for (const std::string& glob : options.globs) {
    arguments.insert(arguments.end(), {"--probe", glob});
  }
  for (const std::string& path : options.library_paths) {
    arguments.insert(arguments.end(), {"--library-path", path});
  }
  if (Globals().quiet) arguments.emplace_back("--quiet");
  return arguments;
}

int ExitCodeOf(const Outcome& outcome) {
  if (outcome.kind == OutcomeKind::kExited && outcome.exit_code <= kExitIntegrity) {
    return outcome.exit_code;
  }
  return FailWith(ProcessError(fmt::format("{} {}", kProbeProgram, outcome.ToString())));
}

std::atomic<bool> interrupted{false};
void Interrupt(int) { interrupted = true; }
// True once somebody has asked this program to end: then its children end with it.
bool Interrupted() { return interrupted.load(); }

// Its output is this process's own, live.
int RunHere(const ProbeOptions& options, std::vector<std::string> arguments) {
  const Result<fs::path> program = FindProbeProgram(options.program, !options.image.empty());
  if (!program.ok()) return FailWith(program.error());
  arguments.insert(arguments.begin(), program->string());
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) std::signal(signal, Interrupt);
  return ExitCodeOf(RunProcess({.argv = std::move(arguments),
                                .environment = ProcessEnvironment(),
                                .inherit_stdio = true},
                               {}, {}, Interrupted)
                        .outcome);
}

Result<Job> BuildJob(const ProbeOptions& options, const fs::path& workspace) {
  ASSIGN_OR_RETURN(const fs::path program,
                   FindProbeProgram(options.program, !options.image.empty()));
  Job job;
  job.name = "probe";
  job.command = RunArguments(options);
  job.command.insert(job.command.begin(), kTarget);
  job.workspace = workspace;
  job.mounts = {{.source = program, .target = kTarget}};
  ASSIGN_OR_RETURN(job.image, ParseImage(options.image));
  job.resources.cpus = 0;  // all of them
  job.resources.gpus = options.device == "cpu" ? 0 : 1;
  job.limits.timeout = std::chrono::duration_cast<std::chrono::nanoseconds>(
      std::chrono::duration<double>(options.timeout_seconds));
  job.limits.output_bytes = kMostFingerprintBytes;
  return job;
}

// 35 where `text` is the loader's complaint that the C library has neither GLIBC_2.34 nor
// GLIBC_2.35; 0 where it is none.
int NewestMissingGlibc(std::string_view text) {
  constexpr std::string_view kBefore = "version `GLIBC_2.";
  int newest = 0;
  for (std::size_t at = text.find(kBefore); at != text.npos; at = text.find(kBefore, at)) {
    at += kBefore.size();
    int minor = 0;
    std::from_chars(text.data() + at, text.data() + text.size(), minor);
    newest = std::max(newest, minor);
  }
  return newest;
}

// What the program could not do in the image, in words of the image.
Error ExplainFailure(const ProcessResult& process) {
  std::string text = TerminalSafe(process.stderr_text);
  text.erase(text.find_last_not_of('\n') + 1);
  const std::string outcome =
      fmt::format("{} in the image {}", kProbeProgram, process.outcome.ToString());
  if (const int minor = NewestMissingGlibc(text); minor > 0) {
    return Unsupported(
        fmt::format("the image's glibc is too old: the {} that was mounted needs glibc 2.{} or "
                    "newer; './dev probe-portable' builds one that needs less, and --program or "
                    "RHARNESS_PROBE names it",
                    kProbeProgram, minor));
  }
  if (process.outcome.kind == OutcomeKind::kTimedOut) return TimeoutError(outcome);
  return ProcessError(fmt::format("{}: {}", outcome, text));
}

Result<Json> ReadFingerprint(const ProcessResult& process, const ImageProof& proof) {
  const Outcome& outcome = process.outcome;
  const bool ran = outcome.kind == OutcomeKind::kExited &&
                   (outcome.exit_code == kExitOk || outcome.exit_code == kExitInfrastructure);
  if (!ran || process.stdout_text.empty()) return ExplainFailure(process);
  ASSIGN_OR_RETURN(Json fingerprint, ParseJson(process.stdout_text, "fingerprint"));
  const Json* schema = fingerprint.Find("schema");
  const Json* context = fingerprint.Find("context");
  if (schema == nullptr || schema->Dump() != "\"rharness.fingerprint/v1\"" || context == nullptr ||
      !context->IsObject()) {
    return ProcessError("what came out of the image is no fingerprint");
  }
  Json described = *context;
  described.Set("image", proof.digest);
  return fingerprint.Set("context", std::move(described));
}

struct ImageRun {
  Json fingerprint;
  int exit_code = kExitOk;
};

Result<ImageRun> RunInImage(const ProbeOptions& options) {
  ASSIGN_OR_RETURN(const ScopedTempDir workspace, ScopedTempDir::Make("rharness-probe-"));
  ASSIGN_OR_RETURN(const Job job, BuildJob(options, workspace.path()));
  ASSIGN_OR_RETURN(const std::unique_ptr<Launcher> launcher, MakeLauncher(options.launcher));
  RETURN_IF_ERROR(launcher->Prepare(job.image));
  ASSIGN_OR_RETURN(const ProcessSpec spec, launcher->BuildCommand(job));
  ProcessResult process = MakeLocalExecutor()->Execute(spec, job.limits, {});
  ASSIGN_OR_RETURN(const ImageProof proof, launcher->Finish(job, &process.outcome));
  ASSIGN_OR_RETURN(Json fingerprint, ReadFingerprint(process, proof));
  if (process.outcome.exit_code != kExitOk) LogError(TerminalSafe(process.stderr_text));
  return ImageRun{std::move(fingerprint), process.outcome.exit_code};
}

// Here, with the result in a file of our own until it is seen to be a fingerprint.
Result<int> RunInto(const ProbeOptions& options) {
  ASSIGN_OR_RETURN(const ScopedTempDir folder, ScopedTempDir::Make("rharness-probe-"));
  const fs::path file = folder.path() / "fingerprint.json";
  std::vector<std::string> arguments = RunArguments(options);
  arguments.insert(arguments.end(), {"--out", file.string()});
  const int code = RunHere(options, std::move(arguments));
  if (code != kExitOk && code != kExitInfrastructure) return code;
  std::error_code missing;
  if (!fs::exists(file, missing)) {
    if (code != kExitOk) return code;
    return ProcessError("the program ended well and wrote no fingerprint", options.program);
  }
  ASSIGN_OR_RETURN(const Json json, ReadJsonFile(file, kMostFingerprintBytes));
  const auto fingerprint = ParseFingerprint(json, "what the program wrote");
  if (!fingerprint.ok()) return ProcessError(fingerprint.error().ToString(), options.program);
  if (options.out.empty() || options.out == "-") {
    const int printed = PrintJson(json);
    return printed == kExitOk ? code : printed;
  }
  RETURN_IF_ERROR(WriteJsonFile(options.out, json));
  return code;
}

int Run(const ProbeOptions& options) {
  if (options.image.empty()) {
    const Result<int> code = RunInto(options);
    return code.ok() ? *code : FailWith(code.error());
  }
  const Result<ImageRun> run = RunInImage(options);
  if (!run.ok()) return FailWith(run.error());
  if (options.out.empty() || options.out == "-") {
    if (const int code = PrintJson(run->fingerprint); code != kExitOk) return code;
  } else if (const Status written = WriteJsonFile(options.out, run->fingerprint); !written.ok()) {
    return FailWith(written.error());
  }
  return run->exit_code;
}

void AddProgramOption(CLI::App* app, ProbeOptions* options) {
  app->add_option("--program", options->program,
                  "The rharness-probe to start; else the one beside rharness, in an image "
                  "rharness-probe-portable if that lies there")
      ->envname("RHARNESS_PROBE");
}

void AddList(CLI::App* verb, const std::shared_ptr<ProbeOptions>& options, Action* action) {
  CLI::App* list = verb->add_subcommand("list", "Names the probes");
  AddProgramOption(list, options.get());
  list->add_flag("--json", options->json, "Print one JSON document (rharness.probes/v1)");
  list->callback([options, action] {
    *action = [options] {
      return RunHere(*options, options->json ? std::vector<std::string>{"list", "--json"}
                                             : std::vector<std::string>{"list"});
    };
  });
}

void AddRun(CLI::App* verb, const std::shared_ptr<ProbeOptions>& options, Action* action) {
  CLI::App* run = verb->add_subcommand("run", "Fingerprints this stack, or an image's");
  run->add_option("--probe", options->globs, "Names of probes; * and ? match");
  run->add_option("--device", options->device, "cpu or cuda:N")->capture_default_str();
  run->add_option("--repeat", options->repeats, "Times that each result is made in a process")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  run->add_option("--processes", options->processes, "Fresh processes that each probe runs in")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  run->add_option("--budget", options->budget_seconds,
                  "Seconds for all probes; what is not done by then has timed out; 0: no limit")
      ->check(CLI::Range(0, 1000000));
  run->add_option(
      "--library-path", options->library_paths,
      "Folders, in the image if there is one, searched for the stack's libraries first");
  run->add_option("--out", options->out, "Write the fingerprint to this file, not to stdout");
  AddProgramOption(run, options.get());
  run->add_option("--image", options->image,
                  "Run in this image instead of here: REFERENCE@sha256:DIGEST");
  run->add_option("--launcher", options->launcher, "podman or docker, for --image")
      ->check(CLI::IsMember({"podman", "docker"}))
      ->capture_default_str();
  run->add_option("--timeout", options->timeout_seconds,
                  "Seconds that all of it may take in an image")
      ->check(CLI::Range(1.0, 1e6))
      ->capture_default_str();
  run->callback([options, action] { *action = [options] { return Run(*options); }; });
}

}  // namespace

void AddProbe(CLI::App& app, Action* action) {
  auto options = std::make_shared<ProbeOptions>();
  CLI::App* verb = app.add_subcommand("probe", "Fingerprints the arithmetic of a stack");
  verb->require_subcommand(1);
  AddList(verb, options, action);
  AddRun(verb, options, action);
  AddProbeDiff(*verb, action);
}

}  // namespace rharness
