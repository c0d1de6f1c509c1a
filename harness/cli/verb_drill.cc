// rharness drill: select, plan, rerun, compare, judge, report.
#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <memory>
#include <thread>

#include "harness/base/files.h"
#include "harness/base/stderr_line.h"
#include "harness/cli/progress_line.h"
#include "harness/cli/verb.h"
#include "harness/dispatch/kubernetes_batch.h"
#include "harness/dispatch/slurm_batch.h"
#include "harness/drill/drill.h"
#include "harness/drill/envelope.h"
#include "harness/drill/settings.h"
#include "harness/manifest/environment.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

struct Arguments {
  DrillOptions drill;
  std::string out = "drill";
  std::string root = ".";
  std::vector<std::string> maps;
  std::vector<std::string> environment;
  double budget_hours = 0.0;
  bool no_confirm = false;
  bool dry_run = false;
  bool json = false;
};

std::atomic<int> g_interrupts{0};

// The first interrupt ends the drill in order; the second ends the process at once. A hang-up is
// never the second: service managers send it right behind SIGTERM.
void OnInterrupt(int signal) {
  if (++g_interrupts <= 1 || signal == SIGHUP) return;
  AbandonStatusLine();
  std::_Exit(kExitInfrastructure);
}

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

Status CompleteKubernetes(DrillOptions* drill) {
  const bool pods = drill->dispatch == "kubernetes";
  for (const std::string& option : drill->kubectl) RETURN_IF_ERROR(CheckKubectlOption(option));
  if (!drill->kubectl.empty() && !pods) {
    return InvalidInput("goes with --dispatch kubernetes", "--kubectl");
  }
  if (drill->pod_template.empty() && pods && !drill->resume) {
    return InvalidInput(
        "is needed: a v1 PodTemplate that says which volume has --out, and what "
        "image runs have that were recorded in none",
        "--pod-template");
  }
  if (drill->pod_template.empty()) return {};
  if (!pods && !drill->resume) {
    return InvalidInput("goes with --dispatch kubernetes", "--pod-template");
  }
  std::error_code error;
  drill->pod_template = fs::absolute(drill->pod_template, error).lexically_normal().string();
  return error ? IoErrorFromErrno("cannot tell the current folder", error.value()) : Status();
}

Status Complete(Arguments* arguments, const Command& command) {
  DrillOptions& drill = arguments->drill;
  drill.out = arguments->out;
  drill.places.root = arguments->root;
  for (const std::string& text : arguments->maps) {
    std::string from;
    std::string to;
    RETURN_IF_ERROR(Split(text, "--map", "FROM=TO", &from, &to));
    drill.places.maps.emplace_back(from, to);
  }
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
  RETURN_IF_ERROR(CompleteKubernetes(&drill));
  // A cluster's slots are its scheduler's to share out.
  constexpr int kAnyNumber = 1 << 16;
  const bool here = drill.dispatch == "local";
  drill.plan.budget_seconds = arguments->budget_hours * 3600;
  drill.confirm = !arguments->no_confirm;
  if (drill.plan.slots.cpus == 0) {
    drill.plan.slots.cpus =
        here ? static_cast<int>(std::max(1U, std::thread::hardware_concurrency())) : kAnyNumber;
  }
  if (!command.Given("--gpus")) {
    drill.plan.slots.gpus =
        here ? static_cast<int>(CaptureEnvironment().hardware.gpus.size()) : kAnyNumber;
  }
  if (drill.resume && (arguments->dry_run || command.Given("--select") || drill.sample ||
                       command.Given("--seed"))) {
    return InvalidInput(
        "--resume goes on with the drill's own plan; it takes no --dry-run, "
        "--select, --sample or --seed");
  }
  for (const std::string& name : KeptOptions()) {
    if (command.Given(name)) drill.given.insert(name);
  }
  if (!drill.resume && drill.history.empty()) {
    return InvalidInput("no history given; use --history URL or RHARNESS_HISTORY");
  }
  return {};
}

int ShowPlan(const Arguments& arguments) {
  const auto plan = PlanDrill(arguments.drill, &SystemClock());
  if (!plan.ok()) return FailWith(plan.error());
  return arguments.json ? PrintJson(ToJson(*plan)) : Print(DescribePlan(*plan));
}

// Where the report is, absolute if the current folder can be told.
std::string ReportPath(const Arguments& arguments) {
  const fs::path path = arguments.drill.out / "report.html";
  std::error_code error;
  const fs::path absolute = fs::absolute(path, error);
  return error ? path.string() : absolute.lexically_normal().string();
}

int Finish(const Report& report, const Arguments& arguments) {
  if (arguments.json) {
    const int printed = PrintJson(ToJson(report));
    return printed != kExitOk ? printed : report.exit_code;
  }
  const bool fine = report.exit_code == kExitOk;
  if (!Globals().quiet) {
    Print(WriteTerminal(report, TerminalColumns(STDOUT_FILENO), ColorOn(STDOUT_FILENO)));
    Print(fmt::format("report: {}\n", ReportPath(arguments)));
  } else if (!fine) {
    std::string counts;
    for (const auto& [verdict, count] : report.counts) {
      if (count > 0) counts += fmt::format(" {} {},", count, verdict);
    }
    if (counts.empty()) counts = " no runs,";
    counts.back() = ';';
    Print(fmt::format("rharness drill:{} see {}\n", counts, ReportPath(arguments)));
  }
  return report.exit_code;
}

int Run(Arguments* arguments, const Command& command) {
  if (const Status status = Complete(arguments, command); !status.ok()) {
    return FailWith(status.error());
  }
  if (arguments->dry_run) return ShowPlan(*arguments);
  std::signal(SIGINT, OnInterrupt);
  std::signal(SIGTERM, OnInterrupt);
  // Under nohup it stays ignored.
  if (std::signal(SIGHUP, OnInterrupt) == SIG_IGN) std::signal(SIGHUP, SIG_IGN);
  auto line = std::make_unique<ProgressLine>(VerbProgress());
  const DrillHooks hooks{.progress = [&](const Progress& progress) { line->Show(progress); },
                         .should_stop = [] { return g_interrupts.load() > 0; }};
  const auto report = RunDrill(arguments->drill, hooks, &SystemClock());
  line.reset();
  if (!report.ok()) return FailWith(report.error());
  return Finish(*report, *arguments);
}

void AddSelectionOptions(Command* command, Arguments* arguments) {
  DrillOptions& drill = arguments->drill;
  command->Heading("What to rerun");
  command->Add("--history", &drill.history, "Store to drill: a path or sqlite:PATH")
      .File("URL")
      .Env("RHARNESS_HISTORY");
  command
      ->Add("--select", &drill.selection,
            "Runs to drill, such as 'family = mlp and (verified = never or verified < "
            "30d)'; 30d is 30 days ago")
      .Value("EXPRESSION");
  command->Add("--sample", &drill.sample,
               "Take this many of them, those that have waited longest for a drill");
  command->Add("--seed", &drill.seed, "Orders runs that have waited equally long").ShowDefault();
  command->Add("--reruns", &drill.plan.reruns, "Reruns of each run").Between(1, 1000).ShowDefault();
  command
      ->Add(
          "--replicates", &drill.plan.replicates,
          "Of each configuration of which a rerun differs, have so many runs with the smallest "
          "change that rounding could make: curves and metrics are held to how far these lie "
          "apart. Recorded repeats and replicates that the history has of this stack count; those "
          "that lack are made")
      .Between(0, 100)
      .ShowDefault();
  command->Add("--no-confirm", &arguments->no_confirm, "Do not rerun a suspected drift once more");
  command->Add("--resume", &drill.resume,
               "Go on with the interrupted drill in --out, with its own settings; an option "
               "that differs from them is refused");
}

void AddResourceOptions(Command* command, Arguments* arguments) {
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
  command->Heading("Limits of a rerun; its manifest may ask for less, never for more");
  command->Add("--rerun-memory", &plan.memory_bytes, "Memory (default: the machine's)").Size();
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

void AddPlaceOptions(Command* command, Arguments* arguments) {
  DrillOptions& drill = arguments->drill;
  command->Heading("Where and how to rerun");
  command->Add("--root", &arguments->root, "Where relative data and code locations lie")
      .Folder()
      .ShowDefault();
  command
      ->Add("--map", &arguments->maps,
            "FROM=TO: a recorded location or repository lies here at TO; repeatable")
      .OneEach();
  command
      ->Add("--env", &arguments->environment,
            "NAME=VALUE for every rerun, in place of what was recorded, or NAME to unset; "
            "repeatable")
      .OneEach();
  command
      ->Add("--launcher", &drill.launcher,
            "auto (by each manifest's image), host, podman or docker")
      .Choices({"auto", "host", "podman", "docker"})
      .ShowDefault();
  command
      ->Add(
          "--dispatch", &drill.dispatch,
          "Who carries reruns out: local (this machine), slurm (job arrays) or kubernetes (Jobs); "
          "--out, --root and this program must be where the nodes or pods see them")
      .Choices({"local", "slurm", "kubernetes"})
      .ShowDefault();
  command
      ->Add("--sbatch", &drill.sbatch,
            "A further option of sbatch, such as --sbatch=--partition=gpu; repeatable")
      .OneEach();
  command
      ->Add("--kubectl", &drill.kubectl,
            "An option of kubectl that says where, such as --kubectl=--context=gpu; repeatable")
      .OneEach();
  command
      ->Add("--pod-template", &drill.pod_template,
            "The pods of --dispatch kubernetes: a v1 PodTemplate with the volume that has --out")
      .File();
  command->Add("--container-root", &drill.container_root,
               "Containers of an engine that runs as root are root, too, for images or data that "
               "only root can read (default: a user without rights)");
  command->Add("--keep-workspaces", &drill.keep_workspaces,
               "Keep the folders that reruns worked in");
}

void AddOutputOptions(Command* command, Arguments* arguments) {
  command->Heading("Output");
  command->Add("--out", &arguments->out, "Folder of this drill; must not hold another one")
      .Folder()
      .ShowDefault()
      .Env("RHARNESS_OUT");
  command->Add("--dry-run", &arguments->dry_run, "Print the plan and its cost; run nothing");
  command->Add("--json", &arguments->json, "Print the plan or the report as JSON");
}

}  // namespace

void AddDrill(Command& root) {
  auto arguments = std::make_shared<Arguments>();
  Command& verb =
      root.AddVerb("drill", "Rerun recorded runs, compare what comes out, and report the verdicts");
  arguments->drill.plan.slots.cpus = 0;
  AddSelectionOptions(&verb, arguments.get());
  AddResourceOptions(&verb, arguments.get());
  AddPlaceOptions(&verb, arguments.get());
  AddOutputOptions(&verb, arguments.get());
  verb.Note(
      "The folder --out gets report.html, report.json, junit.xml, summary.md and metrics.prom.");
  verb.Note(
      "A replicate gets the environment variable RHARNESS_REPLICATE=1, 2, ...: a run that sees it "
      "moves its initial weights, others for each number, to neighbouring numbers of their format. "
      "Without it, it trains as recorded. A run that does not heed it, or is insensitive, gives "
      "bit-equal replicates, which show nothing and are told as such. A failed one makes no "
      "verdict. They are kept in the history and found by later drills of the same stack.");
  verb.ExitCode(kExitOk, "all identical or equivalent");
  verb.ExitCode(kExitDrift, "drift");
  verb.ExitCode(kExitUsage, "usage or invalid input");
  verb.ExitCode(kExitInconclusive, "inconclusive or not comparable");
  verb.ExitCode(kExitInfrastructure, "infrastructure, a failed run or an interrupt");
  verb.ExitCode(kExitIntegrity, "integrity");
  verb.Example("rharness drill --history runs.db --out tonight");
  verb.Example("rharness drill --history runs.db --select 'verified < 30d' --budget 90m --dry-run");
  verb.Example("rharness drill --history runs.db --out tonight --replicates 3");
  verb.Example("rharness drill --resume --out tonight");
  verb.Do([arguments, &verb] { return Run(arguments.get(), verb); });
}

}  // namespace rharness
