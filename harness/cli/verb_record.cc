// rharness record: run a command and write its manifest.
#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <filesystem>
#include <memory>
#include <system_error>
#include <vector>

#include "harness/base/files.h"
#include "harness/base/log.h"
#include "harness/cli/manifest_name.h"
#include "harness/cli/outputs.h"
#include "harness/cli/record_found.h"
#include "harness/cli/record_options.h"
#include "harness/cli/verb.h"
#include "harness/execution/fetch/pin.h"
#include "harness/execution/rerun/record_find.h"
#include "harness/execution/rerun/record_gang.h"
#include "harness/records/logs/run_log.h"
#include "harness/records/manifest/admission.h"
#include "harness/records/manifest/admission_notes.h"

namespace rharness {
namespace {

struct RecordOptions {
  RecordArguments arguments;
  bool keep_failed = false;
  bool overwrite = false;
  int nodes = 1;
  int tasks_per_node = 1;
};

std::atomic<bool> record_interrupted{false};

void InterruptRecord(int) { record_interrupted = true; }

// An interrupt ends the command first, so that nothing of it stays behind.
void CatchInterrupts() {
  struct sigaction action {};
  action.sa_handler = InterruptRecord;
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) ::sigaction(signal, &action, nullptr);
}

// `failed`: the record says why it ends with an error, which --quiet does not hide.
void WarnOf(const Manifest& manifest, bool failed) {
  for (const std::string& note : manifest.notes) {
    failed ? LogError(TerminalSafe(note)) : LogWarning(TerminalSafe(note));
  }
  if (Globals().quiet) return;
  for (const Finding& finding : Admit(manifest)) {
    if (finding.subject.starts_with("$.notes[")) continue;  // said above
    LogWarning(TerminalSafe(
        fmt::format("not admissible: {}: {}: {}", finding.subject, finding.code, finding.message)));
  }
  for (const Finding& note : NotesOnAdmission(manifest)) {
    LogInfo(TerminalSafe(fmt::format("note: {}: {}: {}", note.subject, note.code, note.message)));
  }
}

// What the command reads and writes: the manifest must not take the place of any of it.
std::vector<std::string> FilesOf(const RecordRequest& request) {
  std::vector<std::string> files = request.code_files;
  files.push_back(request.kernel_list);
  if (request.metrics_path != kFindMetrics) files.push_back(request.metrics_path);
  for (const DataItem& item : request.data) files.push_back(item.path);
  for (const Artifact& artifact : request.artifacts) files.push_back(artifact.path);
  return files;
}

// Where the manifest goes. Errors, while nothing has run yet: a name that is taken, a folder that
// cannot be written in.
Result<std::filesystem::path> PlaceFor(const RecordOptions& options, const RecordRequest& request) {
  std::error_code error;
  std::filesystem::path out =
      std::filesystem::absolute(options.arguments.out, error).lexically_normal();
  if (error) return IoError("cannot find this folder: " + error.message(), "--out");
  RETURN_IF_ERROR(CheckOutputs({out.string()}, FilesOf(request), false));
  if (!request.keep.empty()) {
    RETURN_IF_ERROR(CheckOutputs({request.keep / request.run_id / "copy"}, {}, false));
  }
  if (!options.overwrite && std::filesystem::exists(out, error)) {
    return InvalidInput("exists already; choose a different name, or --overwrite it", out.string());
  }
  RETURN_IF_ERROR(MakeFolderOf(out));
  return out;
}

// Writes it, beside the temporary files where its own place is gone: the run may have taken hours.
Status SaveManifest(const Manifest& manifest, const std::filesystem::path& out) {
  const Json json = ToJson(manifest);
  const Status written = WriteJsonFile(out, json);
  if (written.ok()) {
    if (!Globals().quiet) LogInfo(fmt::format("wrote {}", out.string()));
    return {};
  }
  std::error_code error;
  const auto refuge = std::filesystem::temp_directory_path(error) /
                      fmt::format("rharness-{}-{}.json", manifest.run_id, ::getpid());
  if (!error && WriteJsonFile(refuge, json).ok()) {
    LogError(fmt::format("the manifest lies at {} instead", refuge.string()));
  }
  return written;
}

// Before the manifest, which must not speak of what is not there. The run is over: what cannot be
// kept costs no more than itself.
void KeepBeside(const RecordRequest& request, const Recording& recording, Manifest* manifest) {
  const Status kept = WriteKept(request.kept, recording.to_keep);
  if (kept.ok()) return;
  manifest->kept.clear();
  manifest->code.kept_diff_sha256.clear();
  manifest->notes.push_back("lock files and diff were not kept: " + kept.error().ToString());
  LogError(TerminalSafe(manifest->notes.back()));
}

int ExitCodeOf(const Recording& recording) {
  if (!recording.outcome.Succeeded() || !recording.missing_outputs.empty()) {
    return kExitInfrastructure;
  }
  return recording.changed_inputs.empty() ? kExitOk : kExitIntegrity;
}

Result<std::vector<Property>> DeclaredIn(const std::string& file) {
  if (file.empty()) return std::vector<Property>();
  ASSIGN_OR_RETURN(const Json json, ReadJsonFile(file));
  return ParseProperties(json, file);
}

// The manifest is complete: says what it lacks, and writes it.
Result<int> Write(const RecordOptions& options, const RecordRequest& request,
                  const Recording& recording, bool chosen, Manifest manifest,
                  std::filesystem::path out) {
  if (!recording.outcome.Succeeded() && !options.keep_failed) {
    for (const std::string& note : manifest.notes) LogError(TerminalSafe(note));
    LogError("no manifest of a failed run is written; --keep-failed writes one");
    return kExitInfrastructure;
  }
  WarnOf(manifest, ExitCodeOf(recording) != kExitOk);
  KeepBeside(request, recording, &manifest);
  if (chosen) RETURN_IF_ERROR(TakePlace(options.arguments.command, &manifest, &out));
  RETURN_IF_ERROR(SaveManifest(manifest, out));
  SayFound(manifest, out);
  return ExitCodeOf(recording);
}

Result<int> RecordAndWrite(RecordOptions options) {
  RETURN_IF_ERROR(CheckAllocation(ProcessEnvironment()));
  const auto task = TaskPlaceOf(ProcessEnvironment());
  CatchInterrupts();
  const auto interrupted = [] { return record_interrupted.load(); };
  if (!task && options.nodes * options.tasks_per_node > 1) {
    return StartTasks(options.nodes, options.tasks_per_node,
                      NextManifest(options.arguments.command), interrupted);
  }
  const bool named = !options.arguments.out.empty();
  const bool chosen = !named && (!task || !OutOfGang().empty());
  if (!named) {
    ASSIGN_OR_RETURN(options.arguments.out, FreeManifest(options.arguments.command, task));
  }
  ASSIGN_OR_RETURN(RecordRequest request, BuildRequest(options.arguments));
  ASSIGN_OR_RETURN(const std::filesystem::path out, PlaceFor(options, request));
  request.kept = out.parent_path() / kKeptFolder;
  ASSIGN_OR_RETURN(const auto properties, DeclaredIn(options.arguments.properties));
  ASSIGN_OR_RETURN(const auto gang, GangRecording::For(ProcessEnvironment(), out, request.observe));
  if (gang) RETURN_IF_ERROR(gang->Begin(interrupted, &request));
  const auto must_stop = [&] { return interrupted() || (gang && gang->MustStop()); };
  ASSIGN_OR_RETURN(const auto pins, PinSources(options.arguments.sources, &request.data));
  ASSIGN_OR_RETURN(const Recording recording, RecordRun(request, must_stop));
  Manifest manifest = BuildManifest(request, recording);
  if (gang && !gang->is_head()) {
    RETURN_IF_ERROR(gang->Tell(std::move(manifest), recording.outcome));
    return ExitCodeOf(recording);
  }
  gang ? gang->Merge(&manifest) : DescribeAllocation(ProcessEnvironment(), &manifest);
  manifest.properties = properties;
  SayPins(pins, &manifest);
  return Write(options, request, recording, chosen, std::move(manifest), out);
}

// One value each time it is given; a list without end would swallow the "--" before the command.
Option& AddRepeatable(Command* verb, const char* name, std::vector<std::string>* values,
                      const std::string& help) {
  return verb->Add(name, values, help + "; repeatable").OneEach();
}

void AddInputs(Command* verb, RecordArguments* a) {
  verb->Heading("What the run reads");
  verb->Add("--image", &a->image,
            "Image this runs in: REFERENCE@sha256:DIGEST, or the path of a SIF or squashfs file, "
            "with "
            "@sha256:DIGEST where the run cannot see it")
      .Value("IMAGE")
      .NotEmpty();
  AddRepeatable(verb, "--data", &a->data,
                "Input files and folders: [NAME=]PATH, or a version of a Delta Lake "
                "table: [NAME=]delta:FOLDER@VERSION, which without a version is its newest")
      .Path();
  AddRepeatable(verb, "--source", &a->sources,
                "A further location of a file of --data: NAME=URL (https, s3, lakefs); its server "
                "reports the current version or commit");
  AddRepeatable(verb, "--made-by", &a->made_by,
                "Which transform wrote a --data: NAME=REPOSITORY@COMMIT, with ,version=V behind it "
                "or NAME=version=V alone");
  AddRepeatable(verb, "--code-file", &a->code_files, "Sources that the run depends on").File();
  AddRepeatable(verb, "--seed", &a->seeds, "Seeds: NAME=INTEGER");
  AddRepeatable(verb, "--rng", &a->rng_sources, "Sources of randomness without a recorded seed");
  AddRepeatable(verb, "--hyper", &a->hyperparameters, "Hyperparameters: NAME=JSON, or NAME=TEXT");
  AddRepeatable(verb, "--variable", &a->variables,
                "Environment variables that the command reads, by name; those of numeric libraries "
                "are recorded anyway, and a rerun gets no others");
  verb->Add("--no-diff", &a->no_diff,
            "Do not keep the diff of a changed work tree beside the manifest; the run then cannot "
            "be rerun");
  verb->Add("--untracked", &a->untracked,
            "Keep files that git neither knows nor ignores in that diff, too");
  verb->Add("--root", &a->root, "Record folders below this one relative to it").Folder();
}

void AddObservation(Command* verb, RecordArguments* a) {
  verb->Heading("What is observed during the run");
  verb->Add(
      "--python-hooks", &a->python_hooks,
      "Note in each Python of the run the seeds that are set, the determinism flags in force at "
      "the end and the variables that are read; imported modules are patched (PYTHONPATH)");
  verb->Add("--observe", &a->observe,
            "Note also the GPU kernels that are launched: names, shapes, order (a library in the "
            "CUDA driver, by CUPTI); their families of probes, without --kernel-list")
      .Choices({"kernels"});
  verb->Add("--no-observe", &a->no_observe,
            "Do not note which variables and files it reads (LD_PRELOAD) and which libraries it "
            "maps");
}

std::string KindsOfLogs() {
  std::string kinds;
  for (const RunLogKind& kind : RunLogKinds()) {
    kinds += fmt::format("{}{} ({})", kinds.empty() ? "" : "; ", kind.name, kind.describe);
  }
  return kinds;
}

void AddOutputs(Command* verb, RecordArguments* a) {
  verb->Heading("What it writes");
  AddRepeatable(verb, "--weights", &a->weights,
                "Checkpoints that the command writes: files, or folders with one")
      .Path();
  AddRepeatable(verb, "--artifact", &a->artifacts,
                "Other outputs: ROLE=PATH; roles are optimizer, items, metrics, log, other");
  verb->Add("--metrics", &a->metrics_path,
            "Log with the metrics and curves that the command writes: [KIND:]PATH of a file or "
            "folder, or auto, which looks for it among what was written; ,step=NAME names the "
            "column or member that is the step. By its content: " +
                KindsOfLogs())
      .Path();
  AddRepeatable(
      verb, "--metric", &a->metrics,
      "What a metric means: NAME,direction=higher,unit=1,margin=0.01,primary,on=DATA; DATA "
      "is the name of the --data that it is measured on");
  verb->Add("--keep", &a->keep, "Copy the outputs below this folder, under the run's name")
      .Folder();
}

void AddPromises(Command* verb, RecordArguments* a) {
  verb->Heading("What a rerun must meet, and what it needs");
  verb->Add("--determinism", &a->determinism, "What a rerun must meet")
      .Choices({"bitwise", "statistical"})
      .ShowDefault();
  verb->Add("--scope", &a->scope, "Where the bits hold")
      .Choices({"hardware_class", "architecture"})
      .ShowDefault();
  AddRepeatable(verb, "--flag", &a->flags, "Determinism switches that are on: NAME=VALUE");
  AddRepeatable(verb, "--probe-family", &a->probe_families,
                "Families of probes that the run depends on, such as gemm; none given: all");
  verb->Add("--kernel-list", &a->kernel_list,
            "File that the command writes, of the GPU kernels it launched, to find those "
            "families: a name a line, or a profiler's CSV")
      .File();
  verb->Add("--properties", &a->properties,
            "JSON with the \"properties\" that the run claims, for `rharness properties`")
      .File();
  verb->Add("--timeout", &a->timeout_seconds, "Time limit; 0: none").Duration(TimeUnit::kSeconds);
  verb->Add("--cpus", &a->cpus, "Cores that a rerun needs").FromZero();
  verb->Add("--gpus", &a->gpus, "GPUs that a rerun needs; of several nodes: on each").FromZero();
}

void AddTasks(Command* verb, RecordOptions* options) {
  verb->Heading("Several tasks");
  verb->Add("--nodes", &options->nodes,
            "Start the command here as if on so many nodes, with the variables of torchrun; goes "
            "without this where srun, mpirun or torchrun starts rharness record for each task")
      .Between(1, kMostGangNodes);
  verb->Add("--tasks-per-node", &options->tasks_per_node, "And so many times for each of them")
      .Between(1, kMostGangNodes);
}

void AddNotes(Command* verb) {
  verb->Note(
      "The command runs here and now, with this environment; its stdout and stderr pass through "
      "and its stdin is empty. Data and code files are hashed before and after it.");
  verb->Note(
      "Unless the command failed, the manifest is written with all known facts, and its notes list "
      "the problems.");
  verb->Note(
      "The folder kept beside the manifest holds its lock files and, for a changed work tree, `git "
      "diff --binary HEAD`, which a rerun applies to the commit: 10 MiB at most, readable only by "
      "their owner. A diff that seems to contain a secret is not kept.");
  verb->Note(
      "A preloaded library, which reruns get, too, notes what the run uses: variables looked up by "
      "name, files read that are neither data nor code, mapped libraries. The notes list what is "
      "declared and not observed (a seed, a flag, a --variable that nothing reads). Statically "
      "linked programs are not observed.");
  verb->Note(
      "In a batch script of several nodes (rharness record -- srun python3 train.py) a step beside "
      "that of the command looks at the other nodes: hardware, software, what ran there.");
  verb->ExitCode(kExitOk, "recorded");
  verb->ExitCode(kExitUsage, "usage");
  verb->ExitCode(kExitInfrastructure,
                 "the command failed (no manifest, unless --keep-failed), or did not write an "
                 "output it should, or one that cannot be read or kept");
  verb->ExitCode(kExitIntegrity, "an input changed during the run");
}

}  // namespace

void AddRecord(Command& root) {
  auto options = std::make_shared<RecordOptions>();
  RecordArguments* a = &options->arguments;
  Command& verb = root.AddVerb("record", "Run a command and write its manifest");
  verb.Add("--out", &a->out, "Manifest to write (default: runs/FAMILY-N.json)").File();
  verb.Add("--run-id", &a->run_id, "Name of the run (default: the manifest's file name)");
  verb.Add("--family", &a->family, "Runs whose noise may be pooled");
  verb.Add("--find", &a->find,
           "Find what is not stated: sources and data that the run reads, the checkpoint and the "
           "log that it writes, seeds, the family and the primary metric. Each is a hint in the "
           "manifest's origin. The default where none of them is stated");
  verb.Add("--overwrite", &options->overwrite, "Replace an existing manifest");
  verb.Add("--keep-failed", &options->keep_failed, "Write a manifest of a failed run, too");
  AddInputs(&verb, a);
  AddObservation(&verb, a);
  AddOutputs(&verb, a);
  AddPromises(&verb, a);
  AddTasks(&verb, options.get());
  verb.Add("command", &a->command, "The command and its arguments, after --").Required();
  AddNotes(&verb);
  verb.Example("rharness record -- python3 train.py");
  verb.Example("srun rharness record -- python3 train.py");
  verb.Example(
      "rharness record --out a.json --data train.csv --code-file train.py -- python3 train.py");
  verb.Do([options] {
    const auto code = RecordAndWrite(*options);
    return code.ok() ? *code : FailWith(code.error());
  });
}

}  // namespace rharness
