// rharness drill: select, plan, rerun, compare, judge, report.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <atomic>
#include <charconv>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <memory>
#include <thread>

#include "harness/base/files.h"
#include "harness/base/stderr_line.h"
#include "harness/cli/progress_line.h"
#include "harness/cli/verb.h"
#include "harness/drill/drill.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

struct Arguments {
  DrillOptions drill;
  std::string out = "drill";
  std::string root = ".";
  std::vector<std::string> maps;
  std::vector<std::string> environment;
  std::size_t sample = 0;
  double budget_hours = 0.0;
  bool no_confirm = false;
  bool dry_run = false;
  bool json = false;
};

std::atomic<int> g_interrupts{0};

// The first interrupt ends the drill in order; the second ends the process at once.
void OnInterrupt(int) {
  if (++g_interrupts <= 1) return;
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

Status Complete(Arguments* arguments, const CLI::App& command) {
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
    drill.environment[unset ? text : name] =
        unset ? std::nullopt : std::optional<std::string>(value);
  }
  if (command.count("--sample") > 0) drill.sample = arguments->sample;
  drill.plan.budget_seconds = arguments->budget_hours * 3600;
  drill.confirm = !arguments->no_confirm;
  if (drill.plan.slots.cpus == 0) {
    drill.plan.slots.cpus = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  }
  if (drill.resume &&
      (arguments->dry_run || command.count("--select") > 0 || command.count("--sample") > 0)) {
    return InvalidInput(
        "--resume goes on with the drill's own plan; it takes no --dry-run, "
        "--select or --sample");
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

int Run(Arguments* arguments, const CLI::App& command) {
  if (const Status status = Complete(arguments, command); !status.ok()) {
    return FailWith(status.error());
  }
  if (arguments->dry_run) return ShowPlan(*arguments);
  std::signal(SIGINT, OnInterrupt);
  std::signal(SIGTERM, OnInterrupt);
  auto line = std::make_unique<ProgressLine>(VerbProgress());
  const DrillHooks hooks{.progress = [&](const Progress& progress) { line->Show(progress); },
                         .should_stop = [] { return g_interrupts.load() > 0; }};
  const auto report = RunDrill(arguments->drill, hooks, &SystemClock());
  line.reset();
  if (!report.ok()) return FailWith(report.error());
  return Finish(*report, *arguments);
}

// Refuses what the parsers behind it would wrap or saturate: signs, and numbers above 2^64 - 1.
CLI::Validator Unsigned() {
  return CLI::Validator(
      [](std::string& text) {
        std::uint64_t value = 0;
        const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
        return result.ec == std::errc() ? std::string()
                                        : "'" + text + "' is no number from 0 to 2^64 - 1";
      },
      "");
}

// Refuses NaN and infinity, which compare as no number does.
CLI::Validator Finite() {
  return CLI::Validator(
      [](const std::string& text) {
        char* end = nullptr;
        const double value = std::strtod(text.c_str(), &end);
        return std::isfinite(value) && value >= 0 && *end == '\0'
                   ? std::string()
                   : "'" + text + "' is no finite number from 0 on";
      },
      "NUMBER");
}

void AddSelectionOptions(CLI::App* command, Arguments* arguments) {
  DrillOptions& drill = arguments->drill;
  command->add_option("--history", drill.history, "Store to drill: a path or sqlite:PATH")
      ->envname("RHARNESS_HISTORY");
  command->add_option("--out", arguments->out, "Folder of this drill; must not hold another one")
      ->capture_default_str()
      ->envname("RHARNESS_OUT");
  command->add_option("--select", drill.selection,
                      "Runs to drill, such as 'family = mlp and (verified = never or verified < "
                      "30d)'; 30d is 30 days ago");
  command
      ->add_option("--sample", arguments->sample,
                   "Draw this many of them, long unverified ones more likely")
      ->transform(Unsigned());
  command->add_option("--seed", drill.seed, "Seed of the sample")
      ->transform(Unsigned())
      ->capture_default_str();
  command->add_option("--reruns", drill.plan.reruns, "Reruns of each run")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  command->add_flag("--no-confirm", arguments->no_confirm,
                    "Do not rerun a suspected drift once more");
}

void AddResourceOptions(CLI::App* command, Arguments* arguments) {
  PlanOptions& plan = arguments->drill.plan;
  command->add_option("--jobs", plan.jobs, "Reruns at a time; 0: as many as the slots allow")
      ->check(CLI::Range(0, 100000))
      ->capture_default_str();
  command->add_option("--cpus", plan.slots.cpus, "CPUs to share out (default: all)")
      ->check(CLI::Range(1, 100000));
  command->add_option("--gpus", plan.slots.gpus, "GPUs to share out")
      ->check(CLI::Range(0, 100000))
      ->capture_default_str();
  command
      ->add_option("--memory", plan.slots.memory_bytes,
                   "Memory to share out, such as 16GiB (default: not limited)")
      ->transform(CLI::AsSizeValue(false))
      ->transform(Unsigned());
  command
      ->add_option("--budget", arguments->budget_hours,
                   "Hours of run time to spend at most; 0: no limit")
      ->check(Finite());
  command
      ->add_option("--rerun-memory", plan.memory_bytes,
                   "Memory limit of a rerun whose manifest states none")
      ->transform(CLI::AsSizeValue(false))
      ->transform(Unsigned());
  command
      ->add_option("--rerun-disk", plan.disk_bytes,
                   "Disk limit of a rerun whose manifest states none (default: 10GiB)")
      ->transform(CLI::AsSizeValue(false))
      ->transform(Unsigned());
  command
      ->add_option("--timeout-factor", plan.timeout_factor,
                   "Time limit where none is stated: this times the recorded duration...")
      ->check(CLI::PositiveNumber)
      ->check(Finite())
      ->capture_default_str();
  command->add_option("--timeout-floor", plan.timeout_floor_seconds, "...but at least, seconds")
      ->check(Finite())
      ->capture_default_str();
}

void AddPlaceOptions(CLI::App* command, Arguments* arguments) {
  DrillOptions& drill = arguments->drill;
  command->add_option("--root", arguments->root, "Where relative data and code locations lie")
      ->capture_default_str();
  command
      ->add_option("--map", arguments->maps,
                   "FROM=TO: a recorded location or repository lies here at TO; repeatable")
      ->allow_extra_args(false);
  command
      ->add_option("--env", arguments->environment,
                   "NAME=VALUE for every rerun, in place of what was recorded, or NAME to unset; "
                   "repeatable")
      ->allow_extra_args(false);
  command
      ->add_option("--launcher", drill.launcher,
                   "auto (by each manifest's image), host, podman or docker")
      ->check(CLI::IsMember({"auto", "host", "podman", "docker"}))
      ->capture_default_str();
  command->add_option("--executor", drill.executor, "local")
      ->check(CLI::IsMember({"local"}))
      ->capture_default_str();
  command->add_flag("--keep-workspaces", drill.keep_workspaces,
                    "Keep the folders that reruns worked in");
}

}  // namespace

void AddDrill(CLI::App& app, Action* action) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* command = app.add_subcommand(
      "drill", "Rerun recorded runs, compare what comes out, and report the verdicts");
  arguments->drill.plan.slots.cpus = 0;
  AddSelectionOptions(command, arguments.get());
  AddResourceOptions(command, arguments.get());
  AddPlaceOptions(command, arguments.get());
  command->add_flag("--dry-run", arguments->dry_run, "Print the plan and its cost; run nothing");
  command->add_flag("--resume", arguments->drill.resume,
                    "Go on with the interrupted drill in --out, with its own settings");
  command->add_flag("--json", arguments->json, "Print the plan or the report as JSON");
  command->footer(
      "Exit codes: 0 all identical or equivalent; 1 drift; 2 usage or invalid input; 3 "
      "inconclusive\n"
      "or not comparable; 4 infrastructure, a failed run or an interrupt; 5 integrity.\n"
      "The folder --out gets report.html, report.json, junit.xml, summary.md and metrics.prom.");
  command->callback([arguments, command, action] {
    *action = [arguments, command] { return Run(arguments.get(), *command); };
  });
}

}  // namespace rharness
