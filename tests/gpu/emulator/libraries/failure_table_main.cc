// Every call of every probe on the emulated machine failed, once and from there on for ever, and
// how each run ended: a table. Prints first how many runs that is and how long they take here.
//
// Use: gpu_failure_table [--seconds N] [--journal FILE] [PROBE...]
// Runs are spread over probes, functions and calls, so that any part of them is a fair sample; with
// N seconds it ends when they are over, and with a journal another start goes on where this one
// ended. Exit code: 1 when a run ended wrong.
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <numeric>
#include <set>
#include <sstream>

#include "harness/base/files.h"
#include "tests/gpu/emulator/libraries/failure_loop.h"

namespace rharness {
namespace {

constexpr const char* kEnds[] = {"failed", "failed cases", "unharmed", "wrong"};

struct Options {
  double seconds = 0;  // 0: until all is done
  std::string journal;
  std::set<std::string> probes;  // none: all
};

double Now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// One probe on one machine, and what is to be failed in it.
struct Row {
  FailureLoop loop;
  std::string name;
  Undisturbed undisturbed;
  double seconds = 0;                 // of the undisturbed run
  std::vector<std::string> failures;  // "cuMemAlloc:3", "cuMemAlloc:3+"
  std::size_t next = 0;
  std::map<FailureEnd, int> ends;
  double spent = 0;
};

std::string NameOf(const FailureLoop& loop) {
  std::string name = loop.probe;
  for (const auto& change : loop.changes)
    name += " " + change.name + "=" + change.value.value_or("");
  return name;
}

// All, in an order in which every beginning is spread over functions and calls: by a step that has
// no divisor in common with their number.
std::vector<std::string> AllFailures(const std::map<std::string, int>& calls) {
  std::vector<std::string> rising;
  for (const auto& [function, count] : calls) {
    for (int number = 1; number <= count; ++number) {
      rising.push_back(function + ":" + std::to_string(number));
      rising.push_back(rising.back() + "+");
    }
  }
  std::vector<std::string> spread;
  std::size_t step = rising.size() * 618 / 1000 | 1U;
  while (std::gcd(step, rising.size()) > 1) step += 2;
  for (std::size_t i = 0; i < rising.size(); ++i) {
    spread.push_back(rising[i * step % rising.size()]);
  }
  return spread;
}

class Table {
 public:
  Table(Options options, std::filesystem::path folder)
      : options_(std::move(options)), folder_(std::move(folder)) {}

  void Prepare() {
    for (const FailureLoop& loop : FailureLoops()) {
      if (!options_.probes.empty() && !options_.probes.contains(loop.probe)) continue;
      Row row{.loop = loop, .name = NameOf(loop)};
      const double before = Now();
      row.undisturbed = RunUndisturbed(loop, folder_);
      row.seconds = Now() - before;
      if (row.undisturbed.result.status != ProbeStatus::kOk) {
        std::printf("%s fails undisturbed: %s\n", row.name.c_str(),
                    row.undisturbed.result.message.c_str());
        continue;
      }
      row.failures = AllFailures(row.undisturbed.calls);
      std::printf("%-58.58s %7zu runs of up to %.1f s\n", row.name.c_str(), row.failures.size(),
                  row.seconds);
      std::fflush(stdout);
      rows_.push_back(std::move(row));
    }
    ReadJournal();
    double hours = 0;
    std::size_t runs = 0;
    for (const Row& row : rows_) {
      const std::size_t left = row.failures.size() - row.next;
      runs += left;
      // A run fails half way on average.
      hours += row.seconds / 2 * static_cast<double>(left) / 3600;
    }
    std::printf("%zu probes, %zu runs are left: about %.1f hours here\n", rows_.size(), runs,
                hours);
    std::fflush(stdout);
  }

  bool Run() {
    const double end = options_.seconds > 0 ? Now() + options_.seconds : 0;
    std::ofstream journal;
    if (!options_.journal.empty()) journal.open(options_.journal, std::ios::app);
    bool right = true;
    // The row that got the least time: each has the same share.
    for (;;) {
      Row* row = nullptr;
      for (Row& one : rows_) {
        if (one.next == one.failures.size()) continue;
        if (row == nullptr || one.spent < row->spent) row = &one;
      }
      if (row == nullptr || (end > 0 && Now() > end)) return right;
      right &= RunNext(row, &journal);
    }
  }

  void Print() const {
    std::printf("%-58s %7s %7s %7s %7s %9s %6s\n", "probe", "of", "run", "failed", "cases",
                "unharmed", "wrong");
    std::map<FailureEnd, int> sum;
    for (const Row& row : rows_) {
      PrintRow(row.name, row.failures.size(), row.next, row.ends);
      for (const auto& [end, count] : row.ends) sum[end] += count;
    }
    std::size_t of = 0, run = 0;
    for (const Row& row : rows_) of += row.failures.size(), run += row.next;
    PrintRow("all", of, run, sum);
  }

 private:
  static void PrintRow(const std::string& name, std::size_t of, std::size_t run,
                       std::map<FailureEnd, int> ends) {
    std::printf("%-58.58s %7zu %7zu %7d %7d %9d %6d\n", name.c_str(), of, run,
                ends[FailureEnd::kFailed], ends[FailureEnd::kFailedCases],
                ends[FailureEnd::kUnharmed], ends[FailureEnd::kWrong]);
  }

  bool RunNext(Row* row, std::ofstream* journal) {
    const std::string& failure = row->failures[row->next++];
    const std::string function = failure.substr(0, failure.find(':'));
    const int count = row->undisturbed.calls.at(function);
    const bool last = failure == function + ":" + std::to_string(count);
    std::string message;
    const double before = Now();
    const FailureEnd end =
        RunWithFailure(row->loop, folder_, failure, last, row->undisturbed, &message);
    row->spent += Now() - before;
    ++row->ends[end];
    *journal << kEnds[static_cast<int>(end)] << '\t' << row->name << '\t' << failure << std::endl;
    if (end != FailureEnd::kWrong) return true;
    std::printf("WRONG: %s with %s: %s\n", row->name.c_str(), failure.c_str(), message.c_str());
    std::fflush(stdout);
    return false;
  }

  // Rows are the same in every start: what is in the journal is their beginning.
  void ReadJournal() {
    std::ifstream journal(options_.journal);
    std::string line;
    while (!options_.journal.empty() && std::getline(journal, line)) {
      std::istringstream fields(line);
      std::string end, name, failure;
      std::getline(fields, end, '\t');
      std::getline(fields, name, '\t');
      std::getline(fields, failure);
      for (Row& row : rows_) {
        if (row.name != name || row.next == row.failures.size()) continue;
        if (row.failures[row.next] != failure) continue;
        ++row.next;
        for (int k = 0; k < 4; ++k) {
          if (end == kEnds[k]) ++row.ends[static_cast<FailureEnd>(k)];
        }
      }
    }
  }

  const Options options_;
  const std::filesystem::path folder_;
  std::vector<Row> rows_;
};

int Main(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const bool more = i + 1 < argc;
    if (more && std::strcmp(argv[i], "--seconds") == 0) {
      options.seconds = std::atof(argv[++i]);
    } else if (more && std::strcmp(argv[i], "--journal") == 0) {
      options.journal = argv[++i];
    } else {
      options.probes.insert(argv[i]);
    }
  }
  auto folder = ScopedTempDir::Make();
  if (!folder.ok()) return 2;
  Table table(options, folder->path());
  table.Prepare();
  const bool right = table.Run();
  table.Print();
  return right ? 0 : 1;
}

}  // namespace
}  // namespace rharness

int main(int argc, char** argv) { return rharness::Main(argc, argv); }
