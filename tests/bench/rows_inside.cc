// Rows of what happens inside one process: benchmarks of rharness-microbench (Google Benchmark)
// beside each other, and F3 and J1b, beside another program.
#include <fmt/format.h>

#include <cstdlib>
#include <fstream>

#include "harness/base/digest_pair.h"
#include "harness/base/files.h"
#include "harness/base/json.h"
#include "tests/bench/bench.h"
#include "tests/bench/micro/records_of_runs.h"

namespace rharness::bench {
namespace {

namespace fs = std::filesystem;

std::string Inside(const Context& context) {
  return (context.bin / "rharness-microbench").string();
}

// Of one benchmark the median of its rounds, with every number that it counts.
using Medians = std::map<std::string, std::map<std::string, double>>;

Result<Medians> ReadMedians(const fs::path& file) {
  ASSIGN_OR_RETURN(const Json json, ReadJsonFile(file));
  const Json* benchmarks = json.Find("benchmarks");
  if (benchmarks == nullptr || !benchmarks->IsArray()) {
    return InvalidInput("no benchmarks", file.string());
  }
  Medians medians;
  for (const Json& one : benchmarks->AsArray()) {
    const Json* name = one.Find("run_name");
    if (name == nullptr) continue;
    if (const Json* message = one.Find("error_message")) {
      return InternalError(message->AsString(), name->AsString());
    }
    const Json* aggregate = one.Find("aggregate_name");
    if (aggregate == nullptr || aggregate->AsString() != "median") continue;
    for (const auto& [key, value] : one.AsObject()) {
      if (const auto number = value.ToDouble()) medians[name->AsString()][key] = *number;
    }
  }
  return medians;
}

// In rounds that take turns in random order. Errors: not_found if one of them is no benchmark.
Result<Medians> RunInside(const Context& context, const std::vector<std::string>& names,
                          const char* least_seconds = "0.2") {
  const fs::path file = context.scratch / "inside.json";
  ASSIGN_OR_RETURN(
      [[maybe_unused]] const Usage usage,
      RunChild({Inside(context), fmt::format("--benchmark_filter=^({})$", fmt::join(names, "|")),
                fmt::format("--benchmark_repetitions={}", std::max(context.rounds, 2)),
                "--benchmark_enable_random_interleaving=true",
                std::string("--benchmark_min_time=") + least_seconds, "--benchmark_format=json"},
               file));
  ASSIGN_OR_RETURN(Medians medians, ReadMedians(file));
  for (const std::string& name : names) {
    if (!medians.contains(name)) return NotFound("rharness-microbench has no such row", name);
  }
  return medians;
}

std::string InWords(const std::map<std::string, double>& numbers) {
  const auto bytes = numbers.find("bytes_per_second");
  if (bytes != numbers.end()) {
    return bytes->second >= 1e9 ? fmt::format("{:.2f} GB/s", bytes->second * 1e-9)
                                : fmt::format("{:.0f} MB/s", bytes->second * 1e-6);
  }
  const double items = numbers.at("items_per_second");
  return items >= 1e6 ? fmt::format("{:.1f} M/s", items * 1e-6)
                      : fmt::format("{:.1f} k/s", items * 1e-3);
}

// Bytes a second of CPU, or items where no bytes are counted: ours over the peer's.
Result<Measured> RateBeside(const Context& context, const std::string& ours,
                            const std::string& peer) {
  ASSIGN_OR_RETURN(const Medians medians, RunInside(context, {ours, peer}));
  const auto& mine = medians.at(ours);
  const auto& other = medians.at(peer);
  const std::string rate = mine.contains("bytes_per_second") && other.contains("bytes_per_second")
                               ? "bytes_per_second"
                               : "items_per_second";
  return Measured{mine.at(rate) / other.at(rate), InWords(mine),
                  fmt::format("{} {}", peer, InWords(other)), ""};
}

// A number that a benchmark counts, the largest of several.
Result<Measured> CountOf(Context context, const std::vector<std::string>& names,
                         const std::string& counter, const std::string& note) {
  context.rounds = 1;  // it is the same in every round
  ASSIGN_OR_RETURN(const Medians medians, RunInside(context, names, "0.001"));
  double largest = 0.0;
  std::string all;
  for (const std::string& name : names) {
    const double count = medians.at(name).at(counter);
    largest = std::max(largest, count);
    all += fmt::format("{}{:.2f}", all.empty() ? "" : ", ", count);
  }
  return Measured{largest, all, "the bound", note};
}

struct Pair {
  const char* id;
  const char* what;
  Goal goal;
  double limit;
  const char* ours;
  const char* peer;
};

const std::vector<Pair>& Pairs() {
  static const std::vector<Pair> pairs = {
      {"H1m", "SHA-256 of 1 MiB in memory, rate", Goal::kAtLeast, 1.0, "sha256/one_stream/1048576",
       "sha256/openssl/1048576"},
      {"H2m", "SHA-256 of two times 1 MiB in memory, rate", Goal::kAtLeast, TwoFilesGoal(),
       "sha256/two_lanes/1048576", "sha256/openssl/1048576"},
      {"H4m", "SHA-256 of 4 KiB messages in memory, rate", Goal::kAtLeast, TwoFilesGoal(),
       "sha256/two_lanes/4096", "sha256/openssl/4096"},
      {"T2m", "full statistics, fp32, in memory, rate", Goal::kReported, 0, "tensors/f32",
       "tensors/memcmp"},
      {"T2p", "full statistics, fp32, beside plain C++", Goal::kReported, 0, "tensors/f32",
       "tensors/f32_plain_kernel"},
      {"T3a", "full statistics, bf16, bytes per CPU", Goal::kAtLeast, 0.5, "tensors/bf16",
       "tensors/f32"},
      {"T3b", "full statistics, fp16, bytes per CPU", Goal::kAtLeast, 0.5, "tensors/f16",
       "tensors/f32"},
      {"T3c", "full statistics, fp8 e4m3, bytes per CPU", Goal::kAtLeast, 0.5, "tensors/f8_e4m3",
       "tensors/f32"},
      {"T3d", "full statistics, fp64, bytes per CPU", Goal::kReported, 0, "tensors/f64",
       "tensors/f32"},
      {"J1a", "records read and validated, rate", Goal::kAtLeast, 2.0, "records/validate",
       "records/nlohmann"},
      {"J1c", "records read from a file as JSON, rate", Goal::kReported, 0, "records/read",
       "records/nlohmann"},
      {"J1d", "JSON parsed strictly, rate", Goal::kReported, 0, "records/parse",
       "records/nlohmann"},
      {"V1", "tails of Student's t, rate", Goal::kReported, 0, "statistics/student_t",
       "statistics/student_t_boost"},
      {"V2", "moments of 10,000 values, rate", Goal::kReported, 0, "statistics/moments/10000",
       "statistics/moments_plain/10000"},
      {"V3", "sign flips of 16 pairs, rate", Goal::kReported, 0, "statistics/sign_flips/16",
       "statistics/sign_flips_plain/16"},
      {"V4", "energy split of 1,000 values, rate", Goal::kReported, 0,
       "statistics/energy_split/1000", "statistics/distances_plain/1000"},
  };
  return pairs;
}

Result<Measured> SharesOfOrders(const Context& context, const std::string& counter) {
  return CountOf(context, {"order/test_set/100", "order/test_set/1024", "order/test_set/16384"},
                 counter, "of the test set with 100, 1,024 and 16,384 summands");
}

// One pivot, the smallest summand of each group, against all others of the group; groups by the
// number of leaves under the meeting point (Xie et al., USENIX ATC 2025, algorithm 3). The same
// questions of NumPy's own sum, whose order our C++ sum has.
constexpr char kPublished[] = R"(
import sys
import numpy as np
n = int(sys.argv[1])
x = np.ones(n, dtype=np.float32)
asked = 0
todo = [list(range(n))]
while todo:
    group = todo.pop()
    pivot = group[0]
    x[pivot] = 2.0**127
    by_leaves = {}
    for other in group[1:]:
        x[other] = -2.0**127
        by_leaves.setdefault(n - int(x.sum()), []).append(other)
        x[other] = 1.0
        asked += 1
    x[pivot] = 1.0
    todo.extend(part for part in by_leaves.values() if len(part) > 1)
print("probes", asked)
)";

Result<Measured> AgainstPublished(const Context& context) {
  const std::string ours = "order/numpy_sum/16384";
  const std::vector<std::string> peer = {kPython, "-c", kPublished, "16384"};
  const std::vector<std::string> import = {kPython, "-c", "import numpy"};
  ASSIGN_OR_RETURN(const auto peer_numbers, NumbersOf(context, peer));
  ASSIGN_OR_RETURN(const Medians medians, RunInside(context, {ours}));
  ASSIGN_OR_RETURN(const auto usages, Interleave({peer, import}, context.rounds));
  const double our_seconds = medians.at(ours).at("cpu_time") * 1e-3;
  const double peer_seconds = MedianCpu(usages[0]) - MedianCpu(usages[1]);
  return Measured{
      our_seconds / peer_seconds,
      fmt::format("{:.0f} ms, {:.0f} sums", our_seconds * 1e3, medians.at(ours).at("sums")),
      fmt::format("NumPy {:.0f} ms, {:.0f} sums", peer_seconds * 1e3, peer_numbers.at("probes")),
      "C++ sum against np.sum, of one order; Python's start and import taken off"};
}

constexpr int kRecords = 100'000;

Result<Measured> ImportRecords(const Context& context) {
  const fs::path file = context.scratch / "records.jsonl";
  {
    std::ofstream out(file);
    for (int i = 0; i < kRecords; ++i) out << RecordOfRun(i) << '\n';
    if (!out.flush()) return IoError("cannot write", file.string());
  }
  const std::string parse = "records/nlohmann";
  const std::vector<std::string> import = {(context.bin / "rharness").string(),
                                           "--quiet",
                                           "import",
                                           "--from",
                                           "record",
                                           "--dry-run",
                                           file.string()};
  std::vector<double> ours, peer;
  for (int round = 0; round < context.rounds; ++round) {
    ASSIGN_OR_RETURN(const Usage usage, RunChild(import));
    Context one = context;
    one.rounds = 2;
    ASSIGN_OR_RETURN(const Medians medians, RunInside(one, {parse}));
    ours.push_back(usage.cpu_seconds * 1e3 / kRecords);
    peer.push_back(1e3 / medians.at(parse).at("items_per_second"));
  }
  return Measured{Median(peer) / Median(ours), fmt::format("{:.4f} ms", Median(ours)),
                  fmt::format("nlohmann alone {:.4f} ms", Median(peer)),
                  "of each record a manifest is made, validated and compared with what is there"};
}

}  // namespace

// Two streams fill one SHA unit; without it lanes of vectors do more.
double TwoFilesGoal() {
  if (BestPairEngine() == PairEngine::kShaExtensions) return 1.8;
  return __builtin_cpu_supports("avx512f") ? 4.0 : 2.5;
}

std::vector<Row> InsideRows() {
  std::vector<Row> rows;
  for (const Pair& pair : Pairs()) {
    rows.push_back(
        {pair.id, pair.what, pair.goal, pair.limit, "",
         [&pair](const Context& context) { return RateBeside(context, pair.ours, pair.peer); },
         fmt::format("{} {}", pair.ours, pair.peer)});
  }
  rows.insert(rows.end(),
              {{"J1b", "100,000 records imported, rate of CPU", Goal::kAtLeast, 1.0, "",
                ImportRecords, "records/nlohmann"},
               {"F1", "questions / ((n/2) log2 n + 2n)", Goal::kAtMost, 1.0, "",
                [](const Context& context) { return SharesOfOrders(context, "probes_of_bound"); },
                "order/test_set"},
               {"F2", "launches / ((2 log2 n + 4) n/batch)", Goal::kAtMost, 1.0, "",
                [](const Context& context) { return SharesOfOrders(context, "launches_of_bound"); },
                "order/test_set"},
               {"F3", "revealing a sum of 16,384, CPU", Goal::kAtMost, 0.5, "", AgainstPublished,
                "order/numpy_sum"},
               {"G1", "reruns of isolate / noisy bisection's bound", Goal::kAtMost, 1.5, "",
                [](const Context& context) {
                  return CountOf(
                      context,
                      {"isolate/one_cause/10", "isolate/one_cause/20", "isolate/one_cause/30"},
                      "of_bound", "one cause of 4 to 64, at 10, 20 and 30 % overlap");
                },
                "isolate/one_cause"}});
  return rows;
}

}  // namespace rharness::bench
