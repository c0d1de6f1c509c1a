// `rharness probe`: fingerprints a stack's arithmetic, here or in an image, by rharness-probe.
//
// rharness itself loads no library of the stack: the program beside it does.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "compare/fingerprints/fingerprint.h"
#include "harness/base/files.h"
#include "harness/base/log.h"
#include "harness/base/subprocess.h"
#include "harness/cli/interrupts.h"
#include "harness/cli/outputs.h"
#include "harness/cli/probe_diff.h"
#include "harness/cli/probe_distribute.h"
#include "harness/cli/probe_endpoint.h"
#include "harness/cli/probe_knobs.h"
#include "harness/cli/probe_program.h"
#include "harness/cli/python_libraries.h"
#include "harness/cli/record_options.h"
#include "harness/cli/verb.h"
#include "harness/execution/launch/job.h"
#include "harness/records/manifest/environment.h"

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
  std::string python;                    // empty: its libraries are not asked for
  std::vector<std::string> also_search;  // the folders that it brings
  std::string out;
  std::string program;  // empty: the one beside rharness
  std::string image;
  std::string launcher = "podman";
  double timeout_seconds = 3600.0;
  bool json = false;
  DistributeOptions distribute;
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
    arguments.insert(arguments.end(), {"--budget", std::to_string(options.budget_seconds) + "s"});
  }
  for (const std::string& glob : options.globs) {
    arguments.insert(arguments.end(), {"--probe", glob});
  }
  for (const std::string& path : options.library_paths) {
    arguments.insert(arguments.end(), {"--library-path", path});
  }
  for (const std::string& path : options.also_search) {
    arguments.insert(arguments.end(), {"--also-search", path});
  }
  if (!options.python.empty()) arguments.insert(arguments.end(), {"--python", options.python});
  if (Globals().quiet) arguments.emplace_back("--quiet");
  return arguments;
}

int ExitCodeOf(const Outcome& outcome) {
  if (outcome.kind == OutcomeKind::kExited && outcome.exit_code <= kExitIntegrity) {
    return outcome.exit_code;
  }
  return FailWith(ProcessError(fmt::format("{} {}", kProbeProgram, outcome.ToString())));
}

// Its output is this process's own, live.
int RunHere(const ProbeOptions& options, std::vector<std::string> arguments) {
  const Result<fs::path> program = FindProbeProgram(options.program, !options.image.empty());
  if (!program.ok()) return FailWith(program.error());
  arguments.insert(arguments.begin(), program->string());
  CountInterrupts();
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
  // What it says on stderr is kept for the case that it fails, and seen by nobody before.
  if (!Globals().quiet) job.command.emplace_back("--quiet");
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
    return ProcessError("the output from the image is not a fingerprint");
  }
  Json described = *context;
  described.Set("image", proof.digest);
  return fingerprint.Set("context", std::move(described));
}

struct ProbeRun {
  std::optional<Json> fingerprint;  // none: the program said why
  int exit_code = kExitOk;
};

Result<ProbeRun> RunInImage(const ProbeOptions& options) {
  ASSIGN_OR_RETURN(const ScopedTempDir workspace, ScopedTempDir::Make("rharness-probe-"));
  ASSIGN_OR_RETURN(const Job job, BuildJob(options, workspace.path()));
  ASSIGN_OR_RETURN(const std::unique_ptr<Launcher> launcher, MakeLauncher(options.launcher));
  RETURN_IF_ERROR(launcher->Prepare(job.image));
  RETURN_IF_ERROR(launcher->HandOver(job));
  ASSIGN_OR_RETURN(const ProcessSpec spec, launcher->BuildCommand(job));
  ProcessResult process = MakeLocalExecutor()->Execute(spec, job.limits, {});
  ASSIGN_OR_RETURN(const ImageProof proof, launcher->Finish(job, &process.outcome));
  ASSIGN_OR_RETURN(Json fingerprint, ReadFingerprint(process, proof));
  if (process.outcome.exit_code != kExitOk) LogError(TerminalSafe(process.stderr_text));
  return ProbeRun{std::move(fingerprint), process.outcome.exit_code};
}

// Here, with the result in a file of our own until it is seen to be a fingerprint.
Result<ProbeRun> RunBeside(const ProbeOptions& options) {
  ASSIGN_OR_RETURN(const ScopedTempDir folder, ScopedTempDir::Make("rharness-probe-"));
  const fs::path file = folder.path() / "fingerprint.json";
  std::vector<std::string> arguments = RunArguments(options);
  arguments.insert(arguments.end(), {"--out", file.string()});
  ProbeRun run;
  run.exit_code = RunHere(options, std::move(arguments));
  if (run.exit_code != kExitOk && run.exit_code != kExitInfrastructure) return run;
  std::error_code missing;
  if (!fs::exists(file, missing)) {
    if (run.exit_code != kExitOk) return run;
    return ProcessError("the program ended well and wrote no fingerprint", options.program);
  }
  ASSIGN_OR_RETURN(run.fingerprint, ReadJsonFile(file, kMostFingerprintBytes));
  return run;
}

// "24 probes: 22 ok, 2 absent".
std::string CountsOf(const Fingerprint& fingerprint) {
  std::map<ProbeStatus, int> counts;
  for (const FingerprintProbe& probe : fingerprint.probes) ++counts[probe.status];
  std::string text = fmt::format("{} probe{}", fingerprint.probes.size(),
                                 fingerprint.probes.size() == 1 ? "" : "s");
  const char* separator = ":";
  for (const ProbeStatus status : kProbeStatuses) {
    if (counts[status] == 0) continue;
    text += fmt::format("{} {} {}", std::exchange(separator, ","), counts[status],
                        ProbeStatusName(status));
  }
  return text;
}

// Stdout gets the fingerprint, or a line about the file that it went to.
int Deliver(const ProbeOptions& options, const Json& json) {
  const auto fingerprint = ParseFingerprint(json, "what the program wrote");
  if (!fingerprint.ok()) {
    return FailWith(ProcessError(fingerprint.error().ToString(), options.program));
  }
  if (options.out.empty() || options.out == "-") return PrintJson(json);
  Status written = MakeFolderOf(options.out);
  if (written.ok()) written = WriteJsonFile(options.out, json);
  if (!written.ok()) return FailWith(written.error());
  return Globals().quiet ? kExitOk
                         : Print(fmt::format("{}; written to {}\n", CountsOf(*fingerprint),
                                             TerminalSafe(options.out)));
}

// The folders of a Python come after those that were named.
Status AddPythonLibraries(ProbeOptions* options) {
  if (options->python.empty()) return {};
  if (!options->image.empty()) {
    return InvalidInput("is a program of this machine, not of the image; expected --library-path",
                        "--python");
  }
  ASSIGN_OR_RETURN(options->also_search, PythonLibraryFolders(options->python));
  return {};
}

// What each node is told, in words of this verb. Relative paths are this folder's.
std::vector<std::string> NodeArguments(ProbeOptions options) {
  const auto whole = [](std::string* path) {
    if (!path->empty()) *path = FromAnywhere(*path).string();
  };
  for (std::string& path : options.library_paths) whole(&path);
  // Without a slash it is looked for on the node's PATH.
  if (options.python.find('/') != std::string::npos) whole(&options.python);
  whole(&options.program);
  std::vector<std::string> arguments = RunArguments(options);
  arguments.erase(arguments.begin());
  std::erase(arguments, "--quiet");
  if (!options.program.empty()) {
    arguments.insert(arguments.end(), {"--program", options.program});
  }
  if (!options.image.empty()) {
    arguments.insert(arguments.end(),
                     {"--image", options.image, "--launcher", options.launcher, "--timeout",
                      fmt::format("{}s", static_cast<std::int64_t>(options.timeout_seconds))});
  }
  return arguments;
}

Status CheckDistribute(const ProbeOptions& options) {
  const DistributeOptions& distribute = options.distribute;
  const bool slurm = distribute.dispatch == "slurm";
  if (distribute.asked && !slurm) {
    return InvalidInput("needs a dispatcher for the nodes: --dispatch slurm", "--distribute");
  }
  if (distribute.asked && (options.out.empty() || options.out == "-")) {
    return InvalidInput("is needed with --distribute: the folder that gets a file a node", "--out");
  }
  if (distribute.asked) return {};
  if (slurm) return InvalidInput("goes with --distribute", "--dispatch");
  if (!distribute.sbatch.empty()) return InvalidInput("goes with --distribute", "--sbatch");
  if (distribute.waits) return InvalidInput("goes with --distribute", "--wait");
  if (distribute.json) {
    return InvalidInput("goes with --distribute; a fingerprint is JSON anyway", "--json");
  }
  return {};
}

int Run(ProbeOptions options, bool waits) {
  options.distribute.waits = waits;
  if (const Status fits = CheckDistribute(options); !fits.ok()) return FailWith(fits.error());
  if (options.distribute.asked) {
    return DistributeProbe(options.distribute, NodeArguments(options), options.out,
                           options.timeout_seconds);
  }
  Status ready = CheckOutputs({options.out}, {}, false);
  if (ready.ok()) ready = AddPythonLibraries(&options);
  if (!ready.ok()) return FailWith(ready.error());
  const Result<ProbeRun> run = options.image.empty() ? RunBeside(options) : RunInImage(options);
  if (!run.ok()) return FailWith(run.error());
  if (!run->fingerprint) return run->exit_code;
  const int delivered = Deliver(options, *run->fingerprint);
  return delivered == kExitOk ? run->exit_code : delivered;
}

void AddProgramOption(Command* verb, ProbeOptions* options) {
  verb->Add("--program", &options->program,
            "The rharness-probe to start; else the one beside rharness, in an image "
            "rharness-probe-portable if that lies there")
      .File()
      .Env("RHARNESS_PROBE");
}

void AddList(Command& probe, const std::shared_ptr<ProbeOptions>& options) {
  Command& list = probe.AddVerb("list", "Names the probes");
  AddProgramOption(&list, options.get());
  list.Add("--json", &options->json, "Print one JSON document (rharness.probes/v1)");
  list.Example("rharness probe list");
  list.Do([options] {
    return RunHere(*options, options->json ? std::vector<std::string>{"list", "--json"}
                                           : std::vector<std::string>{"list"});
  });
}

void AddRunOptions(Command* run, ProbeOptions* options) {
  run->Add("--probe", &options->globs,
           "Names of probes; * and ? match; else all but those that `probe list` marks")
      .Value("GLOB");
  run->Add("--device", &options->device, "cpu or cuda:N").ShowDefault();
  run->Add("--repeat", &options->repeats, "Times that each result is made in a process")
      .Between(1, 1000)
      .ShowDefault();
  run->Add("--processes", &options->processes, "Fresh processes that each probe runs in")
      .Between(1, 1000)
      .ShowDefault();
  run->Add("--budget", &options->budget_seconds,
           "Time for all probes; unfinished probes then time out; 0: no limit")
      .Duration(TimeUnit::kSeconds)
      .Between(0, 1000000);
  run->Add("--library-path", &options->library_paths,
           "Folders, in the image if there is one, searched for the stack's libraries first; one "
           "that no probe takes a library from is an error")
      .Folder();
  run->Add("--python", &options->python,
           "Then search the libraries of this Python's packages: NVIDIA's, which PyTorch loads, "
           "and NumPy's BLAS; probe its NumPy, too")
      .File("PROGRAM");
  run->Add("--out", &options->out, "Write the fingerprint to this file, not to stdout").Path();
}

void AddRun(Command& probe, const std::shared_ptr<ProbeOptions>& options) {
  Command& run = probe.AddVerb("run", "Fingerprints this stack, or an image's");
  AddRunOptions(&run, options.get());
  AddProgramOption(&run, options.get());
  run.Heading("In an image");
  run.Add("--image", &options->image, "Run in this image instead of here: REFERENCE@sha256:DIGEST")
      .Value("IMAGE");
  run.Add("--launcher", &options->launcher, "podman or docker, for --image")
      .Choices({"podman", "docker"})
      .ShowDefault();
  run.Add("--timeout", &options->timeout_seconds,
          "Time limit of the whole run in an image, or on a node")
      .Duration(TimeUnit::kSeconds)
      .Between(1.0, 1e6)
      .ShowDefault();
  AddDistributeOptions(&run, &options->distribute);
  run.ExitCode(kExitOk, "every probe ran");
  run.ExitCode(kExitUsage, "usage, invalid input, or no such nodes");
  run.ExitCode(kExitInfrastructure, "a probe failed, or a node gave no fingerprint");
  run.Example("rharness probe run --out here.json");
  run.Example("rharness probe run --device cuda:0 --python python3 --budget 10m --out torch.json");
  run.Example(
      "rharness probe run --dispatch slurm --distribute --sbatch=--partition=gpu --out fleet");
  run.Do([options, &run] { return Run(*options, run.Given("--wait")); });
}

}  // namespace

void AddProbe(Command& root) {
  auto options = std::make_shared<ProbeOptions>();
  Command& verb = root.AddVerb("probe", "Fingerprint the arithmetic of a stack");
  verb.Note(
      "The program rharness-probe runs each probe in processes of its own, so that a crash or a "
      "hang is the result of that probe alone. It also runs by itself, where rharness is not "
      "installed: `rharness-probe list` and `rharness-probe run`, with --probe, --device, "
      "--repeat, --processes, --budget, --library-path, --quiet and --out as here.");
  AddList(verb, options);
  AddRun(verb, options);
  AddProbeDiff(verb);
  AddProbeKnobs(verb);
  AddProbeEndpoint(verb);
}

}  // namespace rharness
