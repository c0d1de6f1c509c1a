// Declaring the options of a drill, and completing what was given of them.
#include "harness/cli/drill_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <thread>

#include "harness/base/files.h"
#include "harness/cli/history_place.h"
#include "harness/cli/option_values.h"
#include "harness/drill/settings.h"
#include "harness/execution/dispatch/kubernetes_batch.h"
#include "harness/execution/dispatch/slurm_batch.h"
#include "harness/execution/dispatch/slurm_nodes.h"
#include "harness/execution/rerun/make_python.h"
#include "harness/judge/envelope.h"
#include "harness/records/manifest/environment.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

Status Split(const std::string& text, const char* option, const char* form, std::string* left,
             std::string* right) {
  const auto at = text.find('=');
  if (at == std::string::npos || at == 0) {
    return InvalidInput(fmt::format("'{}' is not {}", TerminalSafe(text), form), option);
  }
  *left = text.substr(0, at);
  *right = text.substr(at + 1);
  return {};
}

Status CheckDistribute(const DrillOptions& drill, bool reruns) {
  if (!drill.distribute) return {};
  if (drill.dispatch != "slurm") {
    return InvalidInput("goes with --dispatch slurm", "--distribute");
  }
  if (reruns) return InvalidInput("is the number of nodes with --distribute", "--reruns");
  const auto choice = ChooseNodes(drill.sbatch);
  return choice.ok() ? Status() : choice.error();
}

Status CompleteKubernetes(DrillOptions* drill) {
  const bool pods = drill->dispatch == "kubernetes";
  if (drill->pod_evidence == "log" && !pods && !drill->resume) {
    return InvalidInput("goes with --dispatch kubernetes", "--pod-evidence log");
  }
  if (!drill->pod_program.empty() && drill->pod_evidence != "log" && !drill->resume) {
    return InvalidInput("goes with --pod-evidence log", "--pod-program");
  }
  if (drill->pod_evidence == "log" && drill->pod_program.empty()) drill->pod_program = "rharness";
  for (const std::string& option : drill->kubectl) RETURN_IF_ERROR(CheckKubectlOption(option));
  if (!drill->kubectl.empty() && !pods) {
    return InvalidInput("goes with --dispatch kubernetes", "--kubectl");
  }
  if (drill->pod_template.empty() && pods && !drill->resume) {
    return InvalidInput(
        "is needed: a v1 PodTemplate with the volume of --out, and the image of runs that were "
        "recorded in none",
        "--pod-template");
  }
  if (drill->pod_template.empty()) return {};
  if (!pods && !drill->resume) {
    return InvalidInput("goes with --dispatch kubernetes", "--pod-template");
  }
  std::error_code error;
  drill->pod_template = fs::absolute(drill->pod_template, error).lexically_normal().string();
  return error ? IoErrorFromErrno("cannot find the current folder", error.value()) : Status();
}

void AddSelectionOptions(Command* command, DrillArguments* arguments) {
  DrillOptions& drill = arguments->drill;
  command->Heading("What to rerun");
  AddHistoryOption(command, &drill.history, "Store to drill");
  command
      ->Add("--select", &drill.selection,
            "Runs to drill, such as 'family = mlp and (verified = never or verified > "
            "30d)'; 30d is 30 days ago")
      .Value("EXPRESSION");
  command->Add("--sample", &drill.sample,
               "Take this many of them, by --order: those that have waited longest for a drill");
  command
      ->Add("--order", &drill.order,
            "Which runs --sample and --budget take first: those that have waited longest for a "
            "drill (wait), or those of the highest risk (risk): days since the last decision, "
            "times the policy's stakes, times doubt (what changed since)")
      .Choices({kOrderWait, kOrderRisk})
      .ShowDefault();
  command->Add("--seed", &drill.seed, "Orders runs that have waited equally long").ShowDefault();
  command->Add("--reruns", &drill.plan.reruns, "Reruns of each run").Between(1, 1000).ShowDefault();
  command
      ->Add(
          "--replicates", &drill.plan.replicates,
          "For each configuration with a rerun that differs, have this many runs with the smallest "
          "change that rounding could make; their spread limits curves and metrics. Recorded "
          "repeats, and replicates of this stack in the history, count; missing ones are run")
      .Between(0, 100)
      .ShowDefault();
  command->Add("--no-confirm", &arguments->no_confirm, "Do not rerun a suspected drift once more");
  command
      ->Add("--certificate", &arguments->certificates,
            "Certificate of `rharness gameday`: each equivalent run shows how often faults would "
            "have been found; repeatable")
      .File()
      .OneEach();
  command->Add("--no-observe", &arguments->drill.no_observe,
               "Do not observe what reruns use (default: as for their records)");
  command->Add("--resume", &drill.resume,
               "Continue the interrupted drill in --out, with its own settings; an option that "
               "differs from them is refused");
}

void AddPythonOptions(Command* command, DrillArguments* arguments) {
  command
      ->Add("--python-environment", &arguments->python_environment,
            "Python environment (of venv, uv or conda) that every rerun on a host gets in place of "
            "the recorded one")
      .Folder();
  command->Add(
      "--make-environments", &arguments->make_environments,
      "Make Python environments that are not here any more, or that have other packages by "
      "now, from the recorded versions (venv and pip, or uv; wheels alone, each proved by "
      "its recorded digest)");
  command
      ->Add("--environment-cache", &arguments->environment_cache,
            "Folder in which they are made and kept (default: rharness/environments below "
            "XDG_CACHE_HOME or ~/.cache); nodes of a cluster must see it")
      .Folder();
}

void AddPodOptions(Command* command, DrillOptions* drill) {
  command
      ->Add("--kubectl", &drill->kubectl,
            "An option of kubectl that selects the cluster or the user, such as "
            "--kubectl=--context=gpu; repeatable")
      .OneEach();
  command
      ->Add("--pod-template", &drill->pod_template,
            "The pods of --dispatch kubernetes: a v1 PodTemplate with the volume that has --out")
      .File();
  command
      ->Add("--pod-evidence", &drill->pod_evidence,
            "How results leave a pod: volume (shared with this machine) or log (its log; evidence "
            "and small files alone, and no run over several nodes)")
      .Choices({"volume", "log"})
      .ShowDefault();
  command
      ->Add("--pod-program", &drill->pod_program,
            "With --pod-evidence log: rharness in the pods (default: rharness, on their PATH)")
      .Value("PROGRAM");
}

void AddOutputOptions(Command* command, DrillArguments* arguments) {
  command->Heading("Output");
  command->Add("--out", &arguments->out, "Folder of this drill; must not hold a different one")
      .Folder()
      .ShowDefault()
      .Env("RHARNESS_OUT");
  command->Add("--dry-run", &arguments->dry_run, "Print the plan and its cost; run nothing");
  command->Add("--json", &arguments->json, "Print the plan or the report as JSON");
}

Result<Places> PlacesOf(const DrillArguments& arguments) {
  Places places{.root = arguments.root, .maps = {}, .cache = arguments.data_cache};
  for (const std::string& text : arguments.maps) {
    std::string from;
    std::string to;
    RETURN_IF_ERROR(Split(text, "--map", "FROM=TO", &from, &to));
    places.maps.emplace_back(from, to);
  }
  places.python = arguments.python_environment;
  if (!arguments.environment_cache.empty() && !arguments.make_environments) {
    return InvalidInput("goes with --make-environments", "--environment-cache");
  }
  if (!arguments.make_environments) return places;
  places.environments = arguments.environment_cache;
  if (arguments.environment_cache.empty()) places.environments = EnvironmentCache();
  if (!places.environments.empty()) return places;
  return InvalidInput("is needed where neither HOME nor XDG_CACHE_HOME is set",
                      "--environment-cache");
}

Status ReadCertificates(const DrillArguments& arguments, DrillOptions* drill) {
  for (const std::string& path : arguments.certificates) {
    ASSIGN_OR_RETURN(const Json json, ReadJsonFile(path));
    ASSIGN_OR_RETURN(Sensitivity certificate, ParseSensitivity(json, path));
    drill->certificates.push_back(std::move(certificate));
  }
  return {};
}

Status ReadRanges(const DrillArguments& arguments, DrillOptions* drill) {
  for (const std::string& text : arguments.quiet_hours) {
    ASSIGN_OR_RETURN(const QuietHours hours, ParseQuietHours(text));
    drill->quiet_hours.push_back(hours);
  }
  if (arguments.ports.empty()) return {};
  ASSIGN_OR_RETURN(drill->ports, ParsePortRange(arguments.ports));
  return {};
}

}  // namespace

Status CompleteDrill(DrillArguments* arguments, Command* command) {
  arguments->drill.maps_of_profile = !command->Given("--map");
  if (!arguments->runs.empty()) arguments->drill.history = arguments->runs;
  if (command->Given("--history") || !arguments->runs.empty()) {
    ASSIGN_OR_RETURN(arguments->drill.history, HistoryAt(arguments->drill.history));
  }
  RETURN_IF_ERROR(TakeDrillPolicy(arguments, command));
  DrillOptions& drill = arguments->drill;
  drill.out = arguments->out;
  ASSIGN_OR_RETURN(drill.places, PlacesOf(*arguments));
  for (const std::string& text : arguments->environment) {
    std::string name;
    std::string value;
    const bool unset = !text.empty() && text.find('=') == std::string::npos;
    if (!unset) RETURN_IF_ERROR(Split(text, "--env", "NAME=VALUE or NAME", &name, &value));
    if ((unset ? text : name) == kReplicateVariable) {
      return InvalidInput("is set by the drill itself, for replicates alone (--replicates)",
                          "--env " + std::string(kReplicateVariable));
    }
    drill.environment[unset ? text : name] =
        unset ? std::nullopt : std::optional<std::string>(value);
  }
  for (const std::string& option : drill.sbatch) RETURN_IF_ERROR(CheckSbatchOption(option));
  if (!drill.sbatch.empty() && drill.dispatch != "slurm") {
    return InvalidInput("goes with --dispatch slurm", "--sbatch");
  }
  RETURN_IF_ERROR(CheckDistribute(drill, command->Given("--reruns")));
  RETURN_IF_ERROR(CompleteKubernetes(&drill));
  RETURN_IF_ERROR(ReadCertificates(*arguments, &drill));
  RETURN_IF_ERROR(ReadRanges(*arguments, &drill));
  // A cluster's slots are its scheduler's to share out.
  constexpr int kAnyNumber = 1 << 16;
  const bool here = drill.dispatch == "local";
  drill.plan.budget_seconds = arguments->budget_hours * 3600;
  drill.confirm = !arguments->no_confirm;
  if (drill.plan.slots.cpus == 0) {
    drill.plan.slots.cpus =
        here ? static_cast<int>(std::max(1U, std::thread::hardware_concurrency())) : kAnyNumber;
  }
  if (!command->Given("--gpus")) {
    drill.plan.slots.gpus =
        here ? static_cast<int>(CaptureEnvironment().hardware.gpus.size()) : kAnyNumber;
  }
  if (drill.resume && (arguments->dry_run || command->Given("--select") || drill.sample ||
                       command->Given("--seed") || command->Given("--order"))) {
    return InvalidInput(
        "--resume continues with the drill's own plan; it takes no --dry-run, --select, --sample, "
        "--order or --seed");
  }
  for (const std::string& name : KeptOptions()) {
    if (command->Given(name)) drill.given.insert(name);
  }
  if (!drill.resume && arguments->needs_history && drill.history.empty()) {
    return InvalidInput("no history given; use --history URL or RHARNESS_HISTORY");
  }
  return {};
}

void AddResourceOptions(Command* command, DrillArguments* arguments) {
  PlanOptions& plan = arguments->drill.plan;
  command->Heading("What reruns share");
  command->Add("--jobs", &plan.jobs, "Reruns at a time; 0: as many as the slots allow")
      .Between(0, 100000)
      .ShowDefault();
  command->Add("--cpus", &plan.slots.cpus, "CPUs to share out (default: all)").Between(1, 100000);
  command->Add("--gpus", &plan.slots.gpus, "GPUs to share out (default: all)").Between(0, 100000);
  command
      ->Add("--memory", &plan.slots.memory_bytes,
            "Memory to share out, such as 16GiB (default: not limited)")
      .Size();
  command->Add("--budget", &arguments->budget_hours, "Run time to spend at most; 0: no limit")
      .Duration(TimeUnit::kHours);
  command
      ->Add("--gpu-budget", &plan.budget_gpu_hours,
            "GPU hours to spend at most: GPUs times run time; 0: no limit")
      .Duration(TimeUnit::kHours);
  command
      ->Add("--quiet-hours", &arguments->quiet_hours,
            "HH:MM-HH:MM, local time: nothing is started then, and running reruns continue; "
            "repeatable")
      .Value("HOURS")
      .OneEach();
  command->Heading("Reruns that cannot be started (infra)");
  RetryPolicy& retry = arguments->drill.retry;
  command->Add("--attempts", &retry.attempts, "Tries of a rerun, with growing waits between them")
      .Between(1, 100)
      .ShowDefault();
  command
      ->Add("--storm-stop", &retry.storm,
            "Start nothing more when four fifths of this many last attempts, of three runs and "
            "more, failed in the same way; 0: never")
      .Between(0, 100000)
      .ShowDefault();
  AddLimitOptions(command, arguments);
}

void AddLimitOptions(Command* command, DrillArguments* arguments) {
  PlanOptions& plan = arguments->drill.plan;
  command->Heading("Limits of a rerun; its manifest may ask for less, never for more");
  command
      ->Add("--rerun-memory", &plan.memory_bytes,
            "Memory, of a run over several nodes on each (default: the machine's)")
      .Size();
  command->Add("--rerun-disk", &plan.disk_bytes, "Disk (default: 10GiB)").Size();
  command
      ->Add("--timeout-factor", &plan.timeout_factor, "Time: this times the recorded duration...")
      .Positive()
      .ShowDefault();
  command->Add("--timeout-floor", &plan.timeout_floor_seconds, "...but at least this")
      .Duration(TimeUnit::kSeconds)
      .ShowDefault();
  command->Add("--rerun-time", &plan.longest_seconds, "...and at most this (default: 7d)")
      .Duration(TimeUnit::kSeconds);
}

void AddHereOptions(Command* command, DrillArguments* arguments) {
  command
      ->Add("--map", &arguments->maps,
            "FROM=TO: a recorded location or repository lies here at TO; repeatable. A map that no "
            "run of the history uses is an error")
      .OneEach();
  command
      ->Add("--data-cache", &arguments->data_cache,
            "Folder that `rharness fetch` filled: data that are missing or different at their "
            "location are taken from it by their hash")
      .Folder();
  AddPythonOptions(command, arguments);
  command
      ->Add("--env", &arguments->environment,
            "NAME=VALUE for every rerun, in place of the recorded value, or NAME to unset; "
            "repeatable")
      .OneEach();
  command
      ->Add(
          "--launcher", &arguments->drill.launcher,
          "auto (by each manifest's image), host, podman, docker, apptainer (SIF files) or enroot "
          "(squashfs files, as pyxis uses)")
      .Choices({"auto", "host", "podman", "docker", "apptainer", "enroot"})
      .ShowDefault();
}

void AddPlaceOptions(Command* command, DrillArguments* arguments) {
  DrillOptions& drill = arguments->drill;
  command->Heading("Where and how to rerun");
  command->Add("--root", &arguments->root, "Where relative data and code locations lie")
      .Folder()
      .ShowDefault();
  AddHereOptions(command, arguments);
  command
      ->Add("--dispatch", &drill.dispatch,
            "Where reruns run: local (this machine), slurm (job arrays) or kubernetes (Jobs; a pod "
            "for each node of a run); --out, --root and this program must be where the nodes or "
            "pods see them")
      .Choices({"local", "slurm", "kubernetes"})
      .ShowDefault();
  command
      ->Add("--sbatch", &drill.sbatch,
            "A further option of sbatch, such as --sbatch=--partition=gpu; repeatable")
      .OneEach();
  command
      ->Add(
          "--ports", &arguments->ports,
          "Ports at which the nodes of a run may meet, such as 29500-29999: those that a site lets "
          "them reach on each other (default: any that is free)")
      .Value("FIRST-LAST");
  command->Add("--distribute", &drill.distribute,
               "With --dispatch slurm: rerun each run once on every node that can take a job, of "
               "the --partition, --nodelist, --exclude and --constraint of --sbatch");
  AddPodOptions(command, &drill);
  command->Add("--container-root", &drill.container_root,
               "Containers of an engine that runs as root are root, too, for images or data that "
               "only root can read (default: a user without rights)");
  command->Add("--keep-workspaces", &drill.keep_workspaces,
               "Keep the folders that reruns worked in");
}

Command& DeclareDrill(Command& root, DrillArguments* arguments) {
  Command& verb =
      root.AddVerb("drill", "Rerun recorded runs, compare the results, and report the verdicts");
  arguments->drill.plan.slots.cpus = 0;
  AddSelectionOptions(&verb, arguments);
  AddResourceOptions(&verb, arguments);
  AddPlaceOptions(&verb, arguments);
  AddPolicyOptions(&verb, arguments);
  AddAuditOptions(&verb, &arguments->audit,
                  "When the verdicts are in the history, enter new records in the audit log of "
                  "this folder (rharness audit append), with the policy of --policy");
  AddOutputOptions(&verb, arguments);
  return verb;
}

}  // namespace rharness
