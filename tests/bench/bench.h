// The benchmark's frame: a row is a goal and a function that measures it against a peer.
//
// To add rows: write rows_NAME.cc with a function that returns them, declare it below and name it
// in AllRows (main.cc). A row measures child processes in interleaved rounds, or benchmarks of
// rharness-microbench (rows_inside.cc), and returns a ratio, a time or a count. Nothing is asserted
// on time.
#ifndef RHARNESS_TESTS_BENCH_BENCH_H_
#define RHARNESS_TESTS_BENCH_BENCH_H_

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "harness/base/result.h"

namespace rharness::bench {

// What a row may use. Files that rows share are made once and go with the scratch folder.
struct Context {
  std::filesystem::path scratch;  // below TMPDIR, removed at the end
  std::filesystem::path bin;      // where rharness lies
  int rounds = 5;
};

struct Measured {
  double value = 0;  // held against the row's limit
  std::string ours;  // the figures behind it
  std::string peer;
  std::string note;  // what explains or weakens the value; may be empty
};

enum class Goal { kAtMost, kAtLeast, kReported };

struct Row {
  std::string id;    // "H1"
  std::string what;  // what the value is
  Goal goal = Goal::kAtMost;
  double limit = 0;
  std::string unit;  // of value and limit; empty: a ratio
  std::function<Result<Measured>(const Context&)> measure;
  std::string inside;  // the benchmarks of rharness-microbench that it is made of
};

std::vector<Row> HashRows();
std::vector<Row> FormatRows();
std::vector<Row> TensorRows();
std::vector<Row> RerunRows();
std::vector<Row> DrillRows();
std::vector<Row> InsideRows();
std::vector<Row> RecordRows();
std::vector<Row> ObjectiveRows();
std::vector<Row> ObserveRows();
std::vector<Row> AuditRows();
std::vector<Row> GrowthRows();

// H2's: what the lanes of this CPU can do, as a multiple of one stream.
double TwoFilesGoal();

// One child process, from start to end with all its descendants that were waited for.
struct Usage {
  double cpu_seconds = 0;  // user and system
  double wall_seconds = 0;
  std::uint64_t peak_bytes = 0;  // largest resident set; at least that of this program
};
// argv[0] is looked up in PATH; stdout goes to `out`. The child leads a process group of its own,
// which a signal to this program kills. Errors: process (cannot start, interrupted, or an exit code
// other than 0).
Result<Usage> RunChild(const std::vector<std::string>& argv,
                       const std::filesystem::path& out = "/dev/null");

// What a child prints as lines "NAME NUMBER". Errors as RunChild's; invalid_input for other lines.
Result<std::map<std::string, double>> NumbersOf(const Context& context,
                                                const std::vector<std::string>& argv);

// From here on SIGINT, SIGTERM and SIGHUP kill the child under way and start no other, so that the
// rows come to an error soon and the scratch folder is removed as always.
void CatchInterrupts();
int InterruptingSignal();  // 0: none came

// Runs the commands in turn, `rounds` times over; `before` runs in front of every child. The usages
// of each command, in the order of the commands.
Result<std::vector<std::vector<Usage>>> Interleave(
    const std::vector<std::vector<std::string>>& commands, int rounds,
    const std::function<Status(std::size_t command)>& before = {});

double Median(std::vector<double> values);  // at least one
double MedianCpu(const std::vector<Usage>& usages);
double MedianWall(const std::vector<Usage>& usages);
// Of wall clocks the shortest: load by others only ever adds.
double ShortestWall(const std::vector<Usage>& usages);

inline constexpr char kPython[] = "/usr/bin/python3";  // Debian's, which python3-numpy is of
bool HasProgram(const std::string& name);              // in PATH

// A file of pseudorandom bytes in the scratch folder, made on first use.
Result<std::filesystem::path> RandomFile(const Context& context, const std::string& name,
                                         std::uint64_t size_bytes);

}  // namespace rharness::bench

#endif  // RHARNESS_TESTS_BENCH_BENCH_H_
