// Running one trial, and holding what it leaves to what a drill without faults leaves.
#include "tests/faults/fault_trial.h"

#include <sqlite3.h>
#include <unistd.h>

#include <cstdlib>

#include "harness/history/store.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

constexpr int kDrift = 1;  // the exit code of a drill in which a run drifted

// $1: the folder, $2: the run.
constexpr char kTrain[] = R"sh(echo run >> "$1/calls"
cp "$1/weights.$2" model.safetensors || exit 1
printf '{"metrics": {"accuracy": %s}}' "$(cat value)" > metrics.json || exit 1
echo done
)sh";

// Where fsync costs nothing, if there is such a place.
[[maybe_unused]] const bool kInMemory = [] {
  return ::access("/dev/shm", W_OK) == 0 && ::setenv("TMPDIR", "/dev/shm", 1) == 0;
}();

// One tensor of bytes, all alike.
std::string Weights(std::size_t bytes, char value) {
  std::string header = R"({"w":{"dtype":"U8","shape":[)" + std::to_string(bytes) +
                       R"(],"data_offsets":[0,)" + std::to_string(bytes) + "]}}";
  while (header.size() % 8 != 0) header += ' ';
  std::string text;
  for (std::size_t i = 0; i < 8; ++i) text += static_cast<char>(header.size() >> (8 * i) & 0xff);
  return text + header + std::string(bytes, value);
}

const std::map<std::string, Verdict> kExpected = {{"a", Verdict::kIdentical},
                                                  {"d", Verdict::kDrifted}};

std::size_t Count(const std::string& text, const std::string& word) {
  std::size_t count = 0;
  for (auto at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++count;
  return count;
}

}  // namespace

FaultTrial::FaultTrial() { Write("train.sh", kTrain); }

void FaultTrial::RecordBoth(std::size_t weights_bytes) {
  for (const char* run : {"a", "d"}) {
    Write(std::string("weights.") + run, Weights(weights_bytes, 1));
    Record(run, {"--weights", "model.safetensors", "--determinism", "bitwise"},
           {"sh", "train.sh", At("").string(), run});
  }
  Add();
  Write("weights.d", Weights(weights_bytes, 2));
  // What recording left in the folder is not there when it is rerun.
  fs::remove(At("model.safetensors"));
  fs::remove(At("metrics.json"));
}

void FaultTrial::Reset() {
  ASSERT_TRUE(RemoveTree(At("trial")).ok());
  ASSERT_TRUE(MakeDirectories(At("trial")).ok());
  fs::copy_file(At("runs.db"), Trial("runs.db"));
}

ProcessResult RunWithFault(ProcessSpec spec, const std::string& fault) {
  if (!fault.empty()) {
    spec.environment["LD_PRELOAD"] = RHARNESS_FAULT_SHIM;
    spec.environment["RHARNESS_FAULT"] = fault;
  }
  ProcessLimits limits;
  limits.timeout = std::chrono::seconds(60);
  return RunProcess(spec, limits);
}

ProcessResult FaultTrial::RunDrill(const std::string& fault, bool resume) {
  ProcessSpec spec{{RHARNESS_FAULT_DRILL, Trial("runs.db").string(), Trial("out").string(),
                    std::to_string(jobs_)},
                   environment_,
                   folder_.path()};
  if (resume) spec.argv.push_back("--resume");
  return RunWithFault(std::move(spec), fault);
}

// Before it has finished a drill may also say that it could not tell.
std::string FaultTrial::ReportWrong(bool finished) const {
  const auto json = ReadJsonFile(Trial("out/report.json"));
  if (!json.ok()) return finished ? json.error().ToString() : "";
  const auto report = ParseReport(*json, "report.json");
  if (!report.ok()) return report.error().ToString();
  std::map<std::string, Verdict> seen;
  for (const ReportRun& run : report->runs) {
    seen[run.run_id] = run.verdict;
    if (run.verdict == kExpected.at(run.run_id)) continue;
    if (!finished && run.verdict == Verdict::kInfra) continue;
    return "the report says that " + run.run_id + " is " + std::string(VerdictName(run.verdict)) +
           ": " + run.headline;
  }
  return finished && seen.size() != kExpected.size() ? "a run is missing in the report" : "";
}

int FaultTrial::Drills() const {
  sqlite3* database = nullptr;
  sqlite3_stmt* query = nullptr;
  int count = -1;
  if (sqlite3_open(Trial("runs.db").c_str(), &database) == SQLITE_OK &&
      sqlite3_prepare_v2(database, "SELECT COUNT(*) FROM drills", -1, &query, nullptr) ==
          SQLITE_OK &&
      sqlite3_step(query) == SQLITE_ROW) {
    count = sqlite3_column_int(query, 0);
  }
  sqlite3_finalize(query);
  sqlite3_close(database);
  return count;
}

std::string FaultTrial::HistoryWrong(bool finished) const {
  const auto store = HistoryStore::Open(Trial("runs.db").string());
  if (!store.ok()) return store.error().ToString();
  for (const auto& [run_id, verdict] : kExpected) {
    const auto verdicts = (*store)->Verdicts(run_id);
    if (!verdicts.ok()) return verdicts.error().ToString();
    if (verdicts->size() > 1 || (finished && verdicts->empty())) {
      return run_id + " has " + std::to_string(verdicts->size()) + " verdicts in the history";
    }
    const std::optional<Verdict> last = (*store)->Find(run_id)->last_verdict;
    if (last == verdict) continue;
    if (!finished && (!last || last == Verdict::kInfra)) continue;
    return "the history says that " + run_id + " is '" +
           std::string(last ? VerdictName(*last) : "") + "'";
  }
  return {};
}

std::string FaultTrial::Lost() const {
  const std::string journal = Read(Trial("out/journal.jsonl"));
  for (const char* job : {"a.1", "d.1"}) {
    const std::string collected = std::string(R"("job":")") + job + R"(","state":"collected")";
    const std::size_t times = Count(journal, collected);
    if (times != 1) return std::string(job) + " was collected " + std::to_string(times) + " times";
  }
  for (const auto& entry : fs::recursive_directory_iterator(Trial("out"))) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(".rharness-")) return "left behind: " + entry.path().string();
    if (name == "workspace") return "left behind: " + entry.path().string();
  }
  return {};
}

TrialEnd FaultTrial::Examine(const ProcessResult& faulty) {
  TrialEnd end;
  const std::string before = faulty.outcome.ToString() + ": " + faulty.stderr_text;
  if (faulty.outcome.Succeeded()) end.wrong = "exited with 0 although a run drifts";
  if (end.wrong.empty()) end.wrong = ReportWrong(false);
  if (end.wrong.empty()) end.wrong = HistoryWrong(false);
  const bool began = fs::exists(Trial("out/journal.jsonl"));
  const ProcessResult again = RunDrill("", began);
  if (again.outcome.kind != OutcomeKind::kExited || again.outcome.exit_code != kDrift) {
    end.stuck = again.outcome.ToString() + ": " + again.stderr_text + " (after: " + before + ")";
    return end;
  }
  if (end.wrong.empty()) end.wrong = ReportWrong(true);
  if (end.wrong.empty()) end.wrong = HistoryWrong(true);
  end.lost = Lost();
  if (!end.ok()) end.wrong += end.wrong.empty() ? "" : " (after: " + before + ")";
  return end;
}

std::vector<long> SampleOf(long count, long by_default) {
  const char* text = std::getenv("RHARNESS_FAULTS");
  long wanted = by_default;
  if (text != nullptr) wanted = std::string(text) == "all" ? count : std::atol(text);
  wanted = std::min(wanted, count);
  std::vector<long> sample;
  for (long i = 0; i < wanted; ++i) sample.push_back(1 + i * count / wanted);
  return sample;
}

}  // namespace rharness
