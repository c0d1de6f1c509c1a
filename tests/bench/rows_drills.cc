// Rows D1, D3, D4, Q1 and Q2: what a drill of many runs costs, and the history that it is taken
// from, beside GNU parallel and a query without an index.
#include <fmt/format.h>

#include <fstream>

#include "harness/base/files.h"
#include "harness/base/json.h"
#include "tests/bench/bench.h"

namespace rharness::bench {
namespace {

namespace fs = std::filesystem;
using Command = std::vector<std::string>;

constexpr int kRuns = 1000;
constexpr int kManifests = 100'000;
constexpr char kTrainer[] = "printf '{\"metrics\": {\"a\": 1}}' > metrics.json\n";
// The sum of a history, without its index; milliseconds.
constexpr char kGroupBy[] = R"py(
import sqlite3, statistics, sys, time
history = sqlite3.connect(sys.argv[1])
spent = []
for _ in range(int(sys.argv[2])):
    start = time.perf_counter()
    history.execute("SELECT family, last_verdict, COUNT(*) FROM standing NOT INDEXED "
                    "WHERE retired = 0 GROUP BY family, last_verdict").fetchall()
    spent.append((time.perf_counter() - start) * 1000)
print("group_by", statistics.median(spent))
)py";

Status WriteText(const fs::path& path, const std::string& text) {
  std::ofstream file(path);
  file << text;
  file.close();
  return file ? Status() : IoError("cannot write", path.string());
}

// One run, with its whole environment.
Result<Json> Recorded(const Context& context, const fs::path& folder) {
  RETURN_IF_ERROR(MakeDirectories(folder));
  RETURN_IF_ERROR(WriteText(folder / "train.sh", kTrainer));
  ASSIGN_OR_RETURN([[maybe_unused]] const Usage usage,
                   RunChild({"env",
                             "-C",
                             folder.string(),
                             (context.bin / "rharness").string(),
                             "--quiet",
                             "record",
                             "--out",
                             "run.json",
                             "--run-id",
                             "run",
                             "--family",
                             "f",
                             "--root",
                             ".",
                             "--code-file",
                             "train.sh",
                             "--metrics",
                             "metrics.json",
                             "--metric",
                             "a,direction=higher,primary,margin=0.1",
                             "--seed",
                             "x=1",
                             "--",
                             "sh",
                             "train.sh"}));
  return ReadJsonFile(folder / "run.json");
}

Status WriteUnder(const std::string& run_id, const fs::path& folder, Json* manifest) {
  manifest->Set("run_id", run_id);
  return WriteText(folder / (run_id + ".json"), manifest->Dump());
}

// It under many names, in runs.db.
Status RecordRuns(const Context& context, const fs::path& folder) {
  ASSIGN_OR_RETURN(Json manifest, Recorded(context, folder));
  const fs::path runs = folder / "runs";
  RETURN_IF_ERROR(MakeDirectories(runs));
  for (int i = 0; i < kRuns; ++i) {
    RETURN_IF_ERROR(WriteUnder(fmt::format("run-{}", i), runs, &manifest));
  }
  ASSIGN_OR_RETURN([[maybe_unused]] const Usage added,
                   RunChild({(context.bin / "rharness").string(), "--quiet", "history", "add",
                             "--history", (folder / "runs.db").string(), runs.string()}));
  return {};
}

// Without its list of packages, in families of a hundred that take turns, as over years.
Status WriteManifests(const Context& context, const fs::path& folder) {
  ASSIGN_OR_RETURN(Json manifest, Recorded(context, context.scratch / "recorded"));
  RETURN_IF_ERROR(MakeDirectories(folder));
  Json environment = Json::MakeObject();
  for (const auto& [name, value] : manifest.Find("environment")->AsObject()) {
    if (name != "packages") environment.Set(name, value);
  }
  manifest.Set("environment", std::move(environment));
  for (int i = 0; i < kManifests; ++i) {
    manifest.Set("family", fmt::format("family-{}", i % (kManifests / 100)));
    RETURN_IF_ERROR(WriteUnder(fmt::format("run-{}", i), folder, &manifest));
  }
  return {};
}

Result<Measured> NoOpReruns(const Context& context) {
  if (!HasProgram("parallel")) return Unsupported("GNU parallel is not installed");
  const fs::path folder = context.scratch / "reruns";
  RETURN_IF_ERROR(RecordRuns(context, folder));
  const fs::path out = folder / "out";
  const Command drill = {"env",     "-C",    folder.string(), (context.bin / "rharness").string(),
                         "--quiet", "drill", "--history",     "runs.db",
                         "--out",   "out",   "--jobs",        "2"};
  Command parallel = {"parallel",
                      "--will-cite",
                      "-j2",
                      "--joblog",
                      (folder / "log").string(),
                      "cd " + folder.string() + "; sh train.sh; sync metrics.json . log #",
                      ":::"};
  for (int i = 0; i < kRuns; ++i) parallel.push_back(std::to_string(i));
  const auto usages = Interleave({drill, parallel}, std::min(context.rounds, 3),
                                 [&](std::size_t) { return RemoveTree(out); });
  RETURN_IF_ERROR(RemoveTree(folder));
  if (!usages.ok()) return usages.error();
  const double ours = MedianCpu((*usages)[0]) * 1000 / kRuns;
  const double peer = MedianCpu((*usages)[1]) * 1000 / kRuns;
  return Measured{ours / peer, fmt::format("{:.1f} ms", ours),
                  fmt::format("parallel {:.1f} ms", peer),
                  "compared, judged and reported, too; parallel's jobs sync 3 files where a "
                  "rerun syncs 6"};
}

// Made once, with the usage of the child that filled it.
Result<fs::path> History(const Context& context, Usage* added) {
  static Usage usage;
  const fs::path file = context.scratch / "history.db";
  if (!fs::exists(file)) {
    const fs::path folder = context.scratch / "manifests";
    RETURN_IF_ERROR(WriteManifests(context, folder));
    ASSIGN_OR_RETURN(usage, RunChild({(context.bin / "rharness").string(), "--quiet", "history",
                                      "add", "--history", file.string(), folder.string()}));
    RETURN_IF_ERROR(RemoveTree(folder));
  }
  *added = usage;
  return file;
}

Result<Measured> AddMany(const Context& context) {
  Usage usage;
  ASSIGN_OR_RETURN(const fs::path history, History(context, &usage));
  const double each = usage.cpu_seconds * 1000 / kManifests;
  return Measured{
      each, fmt::format("{:.2f} ms", each), "-",
      fmt::format("{:.0f} MiB at most", static_cast<double>(usage.peak_bytes) / 1048576)};
}

Result<Measured> PlanMany(const Context& context) {
  Usage added;
  ASSIGN_OR_RETURN(const fs::path history, History(context, &added));
  ASSIGN_OR_RETURN(const Usage usage, RunChild({(context.bin / "rharness").string(), "--quiet",
                                                "drill", "--dry-run", "--history", history.string(),
                                                "--out", (context.scratch / "planned").string()}));
  const double mebibytes = static_cast<double>(usage.peak_bytes) / 1048576;
  return Measured{mebibytes, fmt::format("{:.0f} MiB", mebibytes), "-",
                  fmt::format("{:.1f} s of CPU", usage.cpu_seconds)};
}

Result<std::map<std::string, double>> Queries(const Context& context) {
  Usage added;
  ASSIGN_OR_RETURN(const fs::path history, History(context, &added));
  return NumbersOf(context, {(context.bin / "rharness-overhead").string(), "history",
                             history.string(), std::to_string(context.rounds)});
}

Result<Measured> NextRuns(const Context& context) {
  ASSIGN_OR_RETURN(const auto numbers, Queries(context));
  return Measured{numbers.at("next"), fmt::format("{:.2f} ms", numbers.at("next")), "-", ""};
}

Result<Measured> Summary(const Context& context) {
  if (!HasProgram("python3")) return Unsupported("python3 is not installed");
  ASSIGN_OR_RETURN(const auto numbers, Queries(context));
  ASSIGN_OR_RETURN(const auto plain, NumbersOf(context, {"python3", "-c", kGroupBy,
                                                         (context.scratch / "history.db").string(),
                                                         std::to_string(context.rounds)}));
  const double ours = numbers.at("summary");
  const double peer = plain.at("group_by");
  return Measured{ours / peer, fmt::format("{:.2f} ms", ours),
                  fmt::format("no index {:.2f} ms", peer), ""};
}

}  // namespace

std::vector<Row> DrillRows() {
  return {
      {"D1", "1,000 reruns that do nothing, CPU", Goal::kAtMost, 1.0, "", NoOpReruns},
      {"D3", "100,000 runs selected and planned", Goal::kAtMost, 200, "MiB", PlanMany},
      {"D4", "100,000 manifests into a history, CPU each", Goal::kAtMost, 0.3, "ms", AddMany},
      {"Q1", "next 100 of 100,000 runs to drill", Goal::kAtMost, 5.0, "ms", NextRuns},
      {"Q2", "summary over 100,000 runs, wall", Goal::kAtMost, 0.15, "", Summary},
  };
}

}  // namespace rharness::bench
