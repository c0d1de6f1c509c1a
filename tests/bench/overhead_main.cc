// What a rerun costs beyond its own work, measured from inside: prints lines "NAME NUMBER".
//
// usage: rharness-overhead reruns FOLDER N    ms per rerun of N trivial manifests, one at a time
//        rharness-overhead syncs FOLDER N     ms of the file syncs of one rerun, done alone
//        rharness-overhead spawn MIB N        ms to run /bin/true with MIB of memory resident
//        rharness-overhead journal FOLDER N   ms of a journal entry and of a plain append
//        rharness-overhead verdicts FILE N    makes a history with N verdicts of the last 25 days
//        rharness-overhead reports FOLDER N   s of CPU and MiB of the reports of a drill of N runs
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <span>
#include <string_view>

#include "harness/base/descriptor.h"
#include "harness/base/files.h"
#include "harness/drill/drill_report.h"
#include "harness/drill/journal.h"
#include "harness/drill/plan.h"
#include "harness/execution/dispatch/local_dispatcher.h"
#include "harness/execution/dispatch/scheduler.h"
#include "harness/execution/rerun/rerun.h"
#include "harness/history/store.h"
#include "reports/model.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

double MillisecondsOf(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
      .count();
}

double Median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + values.size() / 2, values.end());
  return values[values.size() / 2];
}

std::vector<Manifest> TrivialManifests(int count) {
  std::vector<Manifest> manifests(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) {
    Manifest& manifest = manifests[static_cast<std::size_t>(i)];
    manifest.run_id = fmt::format("run-{}", i);
    manifest.command = {"/bin/true"};
    manifest.duration_seconds = 0.001;
  }
  return manifests;
}

// As a drill carries out its plan, without selection before it and comparison after it.
Status MeasureReruns(const fs::path& folder, int count) {
  const std::vector<Manifest> manifests = TrivialManifests(count);
  std::map<std::string, const Manifest*> by_id;
  for (const Manifest& manifest : manifests) by_id[manifest.run_id] = &manifest;
  const Plan plan = BuildPlan({manifests.begin(), manifests.end()}, PlanOptions{.jobs = 1});
  ASSIGN_OR_RETURN(Journal journal,
                   Journal::Create(folder / "journal.jsonl", Json::MakeObject({{"n", count}})));
  ASSIGN_OR_RETURN(const std::unique_ptr<Launcher> launcher, MakeLauncher("host"));
  const std::unique_ptr<Executor> executor = MakeLocalExecutor();
  ContentCache cache;
  const RerunContext context{
      .folder = folder,
      .launchers = {{"host", launcher.get()}},
      .executor = executor.get(),
      .cache = &cache,
      .clock = &SystemClock(),
      .on_step = [&](const RerunStep& step) { return journal.Append(step); }};
  int succeeded = 0;
  const SchedulerHooks hooks{.ticket =
                                 [&](const PlannedRerun& rerun, const Start& start) {
                                   return Ticket{.rerun = rerun.rerun,
                                                 .attempt = start.attempt,
                                                 .launcher = "host",
                                                 .resources = rerun.resources,
                                                 .gpus = start.gpus,
                                                 .manifest = *by_id.at(rerun.run_id)};
                                 },
                             .ended =
                                 [&](const PlannedRerun&, const AttemptEnd& end) {
                                   succeeded += end.evidence.outcome.Succeeded() ? 1 : 0;
                                 }};
  LocalDispatcher dispatcher([&](const Ticket& ticket) { return CarryOut(ticket, context); });
  JobQueue queue(plan.reruns, Slots{}, 1, RetryPolicy{});
  Status status;
  const double spent =
      MillisecondsOf([&] { status = RunQueue(&queue, &dispatcher, hooks, &SystemClock()); });
  RETURN_IF_ERROR(status);
  if (succeeded != count) return InternalError(fmt::format("{} reruns succeeded", succeeded));
  fmt::print("rerun {}\n", spent / count);
  return {};
}

Status AppendDurably(const Descriptor& file, std::string_view line) {
  if (::write(file.get(), line.data(), line.size()) != static_cast<ssize_t>(line.size()) ||
      ::fdatasync(file.get()) != 0) {
    return IoError("cannot append");
  }
  return {};
}

Result<Descriptor> NewFile(const fs::path& path) {
  Descriptor file(::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644));
  if (!file.valid()) return IoErrorFromErrno("cannot create", errno, path.string());
  return file;
}

// Four journal entries and one evidence file that a crash can neither halve nor lose.
Status MeasureSyncs(const fs::path& folder, int count) {
  ASSIGN_OR_RETURN(const Descriptor journal, NewFile(folder / "plain.jsonl"));
  const std::string line(150, 'x');
  const std::string evidence(3000, 'x');
  Status status;
  const double spent = MillisecondsOf([&] {
    for (int i = 0; i < count && status.ok(); ++i) {
      for (int state = 0; state < 4 && status.ok(); ++state) status = AppendDurably(journal, line);
      const fs::path path = folder / "runs" / std::to_string(i) / "1" / "evidence.json";
      if (status.ok()) status = WriteFileAtomic(path, evidence);
    }
  });
  RETURN_IF_ERROR(status);
  fmt::print("syncs {}\n", spent / count);
  return {};
}

void ForkAndExec() {
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::execl("/bin/true", "true", nullptr);
    ::_exit(127);
  }
  int status = 0;
  ::waitpid(pid, &status, 0);
}

Status MeasureSpawn(std::uint64_t mebibytes, int count) {
  const std::size_t size = static_cast<std::size_t>(mebibytes) << 20;
  if (size > 0) {
    void* memory =
        ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return IoError("cannot have that much memory");
    ::madvise(memory, size, MADV_NOHUGEPAGE);  // as small allocations over hours leave a process
    for (std::size_t at = 0; at < size; at += 4096) static_cast<volatile char*>(memory)[at] = 1;
  }
  const ProcessSpec spec{.argv = {"/bin/true"}, .environment = {{"PATH", "/bin"}}};
  std::vector<double> ours;
  std::vector<double> forks;
  for (int i = 0; i < count; ++i) {
    bool succeeded = false;
    ours.push_back(MillisecondsOf([&] { succeeded = RunProcess(spec).outcome.Succeeded(); }));
    if (!succeeded) return ProcessError("did not succeed", "/bin/true");
    if (i % 10 == 0) forks.push_back(MillisecondsOf(ForkAndExec));
  }
  fmt::print("run_process {}\nfork {}\n", Median(ours), Median(forks));
  return {};
}

Status MeasureJournal(const fs::path& folder, int count) {
  ASSIGN_OR_RETURN(Journal journal,
                   Journal::Create(folder / "journal.jsonl", Json::MakeObject({{"n", count}})));
  ASSIGN_OR_RETURN(const Descriptor plain, NewFile(folder / "plain.jsonl"));
  const RerunStep entry{.job = "digits-torch-3.1",
                        .state = AttemptState::kCollected,
                        .evidence_sha256 = std::string(64, 'a')};
  const std::string line(200, 'x');
  std::vector<double> ours;
  std::vector<double> peer;
  Status status;
  for (int i = 0; i < count; ++i) {
    ours.push_back(MillisecondsOf([&] { status = journal.Append(entry); }));
    RETURN_IF_ERROR(status);
    peer.push_back(MillisecondsOf([&] { status = AppendDurably(plain, line); }));
    RETURN_IF_ERROR(status);
  }
  fmt::print("entry {}\nappend {}\n", Median(ours), Median(peer));
  return {};
}

template <class T>
Status StatusOf(const Result<T>& result) {
  return result.ok() ? Status() : Status(result.error());
}

// What a night asks of its history first.
Status MeasureHistory(const fs::path& path, int count) {
  ASSIGN_OR_RETURN(const auto history, HistoryStore::OpenExisting(path.string()));
  std::vector<double> next, summary;
  Status status;
  for (int i = 0; i < count && status.ok(); ++i) {
    next.push_back(MillisecondsOf([&] { status = StatusOf(history->NextToDrill(100)); }));
    RETURN_IF_ERROR(status);
    summary.push_back(MillisecondsOf([&] { status = StatusOf(history->Summarize()); }));
  }
  RETURN_IF_ERROR(status);
  fmt::print("next {}\nsummary {}\n", Median(next), Median(summary));
  return {};
}

// The same hundred drills of many runs, in families of a hundred; each verdict with a rerun and
// with what drills measure.
Status FillVerdicts(const fs::path& path, int count) {
  constexpr int kDrills = 100;
  const int runs = count / kDrills;
  const WallTime now = SystemClock().Now();
  ASSIGN_OR_RETURN(const auto history, HistoryStore::Open(path.string()));
  std::vector<NewRun> added;
  for (Manifest& manifest : TrivialManifests(runs)) {
    manifest.family = fmt::format("family-{}", added.size() % std::max(runs / 100, 1));
    manifest.determinism.declared = "bitwise";
    added.push_back(NewRunOf(manifest));
  }
  for (std::size_t at = 0; at < added.size(); at += 500) {
    const std::size_t some = std::min<std::size_t>(500, added.size() - at);
    RETURN_IF_ERROR(
        StatusOf(history->AddAll(std::span(added).subspan(at, some), now - std::chrono::days(30))));
  }
  for (int i = 0; i < kDrills; ++i) {
    const WallTime decided = now - std::chrono::hours(6 * (kDrills - i));
    DrillResults results;
    for (int k = 0; k < runs; ++k) {
      const std::string drill = fmt::format("drill-{:03}", i);
      const std::string run = fmt::format("run-{}", k);
      const Verdict verdict = (k + 7 * i) % 31 == 0 ? Verdict::kDrifted
                              : k % 3 == 0          ? Verdict::kEquivalent
                                                    : Verdict::kIdentical;
      results.reruns.push_back({drill, run, 1, "exited with 0", 0.0011, std::string(64, 'e'), [] {
                                  return Surroundings{{"environment.hardware", "{}"}};
                                }});
      results.verdicts.push_back({drill, run, verdict, decided, 1, "[]"});
      results.verdicts.back().measures =
          VerdictMeasures{.node = "node-1", .weights_equal = true, .margins = 0.25, .warnings = 0};
    }
    RETURN_IF_ERROR(history->AddDrill(
        DrillRecord{results.verdicts.front().drill_id, decided, decided, 0}, results));
  }
  return {};
}

// As a drill judges a run that reproduced; each thousandth has a metric that moved.
ReportRun JudgedRun(int i) {
  const bool drifted = i % 1000 == 7;
  ReportRun run;
  run.run_id = fmt::format("resnet50-2026-{:06}", i);
  run.family = fmt::format("family-{}", i % 100);
  run.declared = "statistical";
  run.verdict = drifted ? Verdict::kDrifted : Verdict::kIdentical;
  run.headline = drifted ? "test_accuracy moved by -0.214, apart from 13 other runs (p = 3.7e-13)"
                         : "everything compared is equal bit for bit";
  run.findings.push_back({.code = drifted ? "metric_drift" : "bit_equal",
                          .subject = drifted ? "metric test_accuracy" : "run",
                          .observed = "1 equal",
                          .limit = "equal bit for bit",
                          .rule = "every tensor, metric and curve is equal bit for bit",
                          .message = run.headline,
                          .decisive = true});
  for (std::size_t layer = 0; layer < run.layers.size(); ++layer) {
    run.layers[layer].layer = kLayers[layer];
    run.layers[layer].state = LayerState::kSame;
    run.layers[layer].compared = 10;
  }
  run.exact.push_back({.subject = "metric test_accuracy",
                       .state = ExactComparison::State::kEqual,
                       .compared_by = ComparedBy::kValues,
                       .detail = "0.9812 recorded, 0.9812 in the rerun"});
  run.metrics.push_back({.name = "test_accuracy",
                         .reason = "no_variance_basis",
                         .history = {0.9812},
                         .reruns = {0.9812},
                         .recorded = 0.9812,
                         .margin = 0.01,
                         .variance_basis = "none"});
  run.reruns.push_back({.index = 1,
                        .outcome = "exited with 0",
                        .wall_seconds = 0.0015,
                        .cpu_seconds = 0.001,
                        .state = RerunEnd::State::kCompared,
                        .evidence_path = fmt::format("runs/{}/1/evidence.json", run.run_id)});
  run.ends.push_back({.index = 1, .state = RerunEnd::State::kCompared});
  run.recorded_seconds = 0.0044;
  return run;
}

double PeakMebibytes() {
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  return static_cast<double>(used.ru_maxrss) / 1024;
}

// The judged runs, which a drill has in memory anyway, and then every report of it.
Status MeasureReports(const fs::path& folder, int count) {
  Report report{.title = fmt::format("Drill of {} runs", count), .drill_id = "drill-1"};
  report.runs.reserve(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) report.runs.push_back(JudgedRun(i));
  Tally(&report);
  const double before = PeakMebibytes();
  const std::clock_t begin = std::clock();
  RETURN_IF_ERROR(StatusOf(WriteReports(&report, folder)));
  fmt::print("cpu_seconds {}\nmodel_mib {}\npeak_mib {}\n",
             static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC, before, PeakMebibytes());
  return {};
}

int Main(int argc, char** argv) {
  const std::string_view what = argc == 4 ? argv[1] : "";
  const int count = argc == 4 ? std::atoi(argv[3]) : 0;
  Status status = InvalidInput(
      "usage: rharness-overhead reruns|syncs|spawn|journal|history|verdicts|reports "
      "FOLDER|MIB|FILE N");
  if (count > 0 && what == "reruns") status = MeasureReruns(argv[2], count);
  if (count > 0 && what == "syncs") status = MeasureSyncs(argv[2], count);
  if (count > 0 && what == "spawn")
    status = MeasureSpawn(std::strtoull(argv[2], nullptr, 10), count);
  if (count > 0 && what == "journal") status = MeasureJournal(argv[2], count);
  if (count > 0 && what == "history") status = MeasureHistory(argv[2], count);
  if (count > 0 && what == "verdicts") status = FillVerdicts(argv[2], count);
  if (count > 0 && what == "reports") status = MeasureReports(argv[2], count);
  if (status.ok()) return 0;
  fmt::print(stderr, "rharness-overhead: {}\n", status.error().ToString());
  return 4;
}

}  // namespace
}  // namespace rharness

int main(int argc, char** argv) { return rharness::Main(argc, argv); }
