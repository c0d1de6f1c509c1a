// Maps a run of W&B to a manifest, with the grade of each field.
#include "harness/records/intake/wandb_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <initializer_list>
#include <string>
#include <utility>

#include "harness/records/intake/clean.h"
#include "harness/records/intake/local_files.h"
#include "harness/records/intake/loose_json.h"

namespace rharness {
namespace {

void SetWandbTimes(const WandbRun& from, ImportedRun* run) {
  run->SetTimes(from.started, {}, Exact(from.host.from.empty() ? "run" : from.host.from));
  if (from.last_seen > from.started) {
    run->SetTimes({}, from.last_seen,
                  Hint("the last values that were logged", "nothing says when the run ended"));
  }
  if (!from.exit_code) {
    run->Remark("the log has no end: the run crashed, or goes on");
  } else if (*from.exit_code != 0) {
    run->Remark(fmt::format("the run exited with {}", *from.exit_code));
  }
}

void SetWandbCode(const WandbRun& from, ImportedRun* run) {
  const WandbHost& host = from.host;
  run->SetRepository(host.git_remote, Exact("git.remote"));
  run->SetCommit(host.git_commit, Exact("git.commit"));
  if (from.diff_sha256) {
    run->SetDirty(true, *from.diff_sha256, Exact("files/diff.patch"));
  } else if (!host.git_commit.empty()) {
    run->Remark(
        "no diff.patch, which is not written in every mode: whether the tree had changes "
        "beyond its commit is not said");
  }
}

void SetWandbImage(const std::string& docker, ImportedRun* run) {
  if (docker.starts_with("sha256:")) {
    return run->Remark(fmt::format("docker: {} names an image on one machine, none in a registry",
                                   QuotedShort(docker)));
  }
  run->SetImage(docker, Exact("docker"));
}

// The program by its path in the repository, if known.
std::string ProgramOf(const WandbHost& host) {
  if (!host.code_path.empty()) return host.code_path;
  const std::filesystem::path program(host.program);
  if (!host.root.empty() && program.is_absolute()) {
    const auto relative = program.lexically_relative(host.root);
    if (!relative.empty() && *relative.begin() != "..") return relative.string();
  }
  return host.program;
}

void SetWandbCommand(const WandbHost& host, ImportedRun* run) {
  if (host.program.empty() && host.code_path.empty()) return;
  if (host.program.starts_with('<')) {
    return run->Remark(fmt::format("program: {} is no file", QuotedShort(host.program)));
  }
  std::vector<std::string> command = {host.executable.empty() ? "python3" : host.executable};
  constexpr std::string_view kModule = "-m ";
  if (host.program.starts_with(kModule)) {
    command.insert(command.end(), {"-m", host.program.substr(kModule.size())});
  } else {
    command.push_back(ProgramOf(host));
  }
  command.insert(command.end(), host.args.begin(), host.args.end());
  run->SetCommand(std::move(command),
                  Hint(host.from + ": executable, program, args",
                       "the interpreter's own options and the working directory are not recorded"));
}

void SetWandbMachine(const WandbHost& host, ImportedRun* run) {
  constexpr std::array<std::string_view, 3> kArchitectures = {"x86_64", "aarch64", "ppc64le"};
  std::string architecture;
  for (const std::string_view one : kArchitectures) {
    if (host.os.find(one) != host.os.npos) architecture = one;
  }
  run->SetCpu(host.cpu, architecture, Exact(host.from + ": cpu, os"));
  for (const WandbGpu& gpu : host.gpus) {
    run->AddGpu(gpu.name, gpu.memory_bytes, Exact(host.from + ": gpu_nvidia"));
  }
  constexpr std::uint64_t kMostGpus = 1024;
  if (host.gpus.empty() && !host.gpu.empty()) {
    for (std::uint64_t i = 0; i < std::clamp<std::uint64_t>(host.gpu_count, 1, kMostGpus); ++i) {
      run->AddGpu(host.gpu, 0, Exact(host.from + ": gpu"));
    }
  }
  run->SetSoftware("os", host.os, Exact(host.from + ": os"));
  const std::size_t blank = host.python.rfind(' ');  // "CPython 3.11.7"
  run->SetSoftware("python", host.python.substr(blank == host.python.npos ? 0 : blank + 1),
                   Exact(host.from + ": python"));
  run->SetSoftware("cuda", host.cuda, Exact(host.from + ": cudaVersion"));
}

// The first of several variables of Slurm that is a number; 0: none is.
double FirstOf(const WandbHost& host, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    const auto found = host.slurm.find(name);
    int number = 0;
    if (found == host.slurm.end()) continue;
    const std::string& text = found->second;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error == std::errc() && end == text.data() + text.size()) return number;
  }
  return 0.0;
}

// Of a job that started its tasks itself the numbers are those of the allocation.
void SetWandbNodes(const WandbHost& host, ImportedRun* run) {
  const double nodes = FirstOf(host, {"step_num_nodes", "nnodes", "job_num_nodes"});
  double each = FirstOf(host, {"ntasks_per_node"});
  const double tasks = FirstOf(host, {"step_num_tasks", "ntasks", "nprocs"});
  if (nodes >= 1.0 && tasks >= 1.0) each = tasks / nodes;
  const auto worth = [&](const char* names) { return Exact(host.from + ": slurm." + names); };
  run->SetNodes(nodes, worth("nnodes"), each, worth("ntasks"));
}

void SetWandbConfig(const WandbRun& from, ImportedRun* run) {
  for (const auto& [name, value] : from.config) {
    ForWandbLeaves(name, value, [&](const std::string& leaf, const Json& json) {
      run->SetHyperparameter(leaf, json, Exact("config." + leaf));
    });
  }
}

void SetWandbMetrics(WandbRun& from, ImportedRun* run) {
  for (auto& [name, curve] : from.history) {
    const double last = curve.values.back();
    run->AddMetric(name, last, Exact("history." + name));
    if (curve.steps.size() > 1) {
      run->AddCurve(name, std::move(curve.steps), std::move(curve.values),
                    Exact("history." + name));
    }
  }
  // The summary's value of a metric may be its best, and precedes its last one.
  for (const auto& [name, number] : WandbSummaryNumbers(from)) {
    run->AddMetric(name, number, Exact("summary." + name));
  }
  if (from.other_values > 0) {
    run->Remark(fmt::format("{} logged {} no number (texts, pictures, tables): left out",
                            from.other_values, from.other_values == 1 ? "value is" : "values are"));
  }
  if (from.points > kMostWandbPoints) {
    run->Remark(
        fmt::format("the run has {} values in its history; those after the first {} were "
                    "left out",
                    from.points, kMostWandbPoints));
  }
}

void SetWandbFiles(WandbRun& from, ImportedRun* run) {
  for (const WandbUsedArtifact& used : from.used) {
    DataItem item;
    item.name = used.name;
    if (!used.id.empty()) item.other_digest = "wandb-artifact:" + used.id;
    run->AddData(std::move(item), Hint("artifact " + used.name, "the log has its id alone"));
  }
  if (!from.artifacts.empty()) {
    run->Remark("artifacts: paths are those in files/, not where the run wrote them");
  }
  for (Artifact& artifact : from.artifacts) {
    artifact.role = RoleByName(artifact.path);
    if (artifact.role == "weights" || artifact.role == "optimizer") {
      run->Remark(fmt::format("artifacts: {} is taken for {} by its name",
                              QuotedShort(artifact.path), artifact.role));
    }
    const std::string where = "files/" + artifact.path;
    run->AddArtifact(std::move(artifact), Exact(where));
  }
}

}  // namespace

ImportedRun BuildWandbRun(WandbRun from, const ImportRequest& request) {
  ImportedRun run("wandb", request.source, from.id);
  const std::string& family = from.group.empty() ? from.project : from.group;
  run.SetFamily(family, Hint(from.group.empty() ? "project" : "group",
                             "its runs may differ in more than noise"));
  SetWandbTimes(from, &run);
  SetWandbCode(from, &run);
  SetWandbImage(from.host.docker, &run);
  SetWandbCommand(from.host, &run);
  SetWandbMachine(from.host, &run);
  SetWandbNodes(from.host, &run);
  for (const auto& [name, version] : from.packages) {
    run.SetSoftware(name, version, Exact("files/requirements.txt"));
  }
  SetWandbConfig(from, &run);
  SetWandbMetrics(from, &run);
  SetWandbFiles(from, &run);
  for (std::string& remark : from.remarks) run.Remark(std::move(remark));
  return run;
}

}  // namespace rharness
