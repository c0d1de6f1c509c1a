// The frame of rharness-gpu-bench: what a row is, what rows may use.
//
// Role: between gpu_bench_main.cc and the rows_*.cc beside it. A row measures in interleaved
// rounds, checks what was computed, and says what its value is a fraction of. Nothing is asserted
// on time.
#ifndef RHARNESS_TESTS_BENCH_GPU_GPU_BENCH_H_
#define RHARNESS_TESTS_BENCH_GPU_GPU_BENCH_H_

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/json.h"
#include "harness/base/result.h"
#include "tests/bench/gpu/bench_device.h"

namespace rharness::bench {

struct GpuOptions {
  ProbeContext context{.device = "cuda:0"};
  std::string only;  // prefix of the rows to run; empty: all
  std::filesystem::path json;
  int rounds = 5;
  // Of one buffer of G3 to G5; less where memory is short.
  std::size_t size_bytes = std::size_t{1} << 30;
  int terms = 8192;           // summands of G1 and G2
  double limit_seconds = 60;  // of all rounds of G2
};

struct Figure {
  std::string name;  // "copy"
  double value = 0;
  std::string unit;  // "GB/s"
};

enum class RowStatus { kMeasured, kSkipped, kFailed };
std::string_view RowStatusName(RowStatus status);

struct GpuRow {
  std::string id;    // "G3"
  std::string what;  // what the value is
  double value = 0;
  std::string unit;  // empty: a ratio
  std::string of;    // what it is a fraction of, as a formula
  std::vector<Figure> figures;
  std::string note;
  RowStatus status = RowStatus::kMeasured;
  std::string why;  // it was skipped or failed: one sentence
};

// What all rows use.
struct GpuContext {
  const GpuOptions& options;
  const BenchDevice& device;
  std::map<std::string, Json> libraries;  // DescribeLibrary by soname, added by the rows
};

// Whether the row is among those to be run.
bool Wants(const GpuOptions& options, std::string_view id);

// Rows G1 and G2, G3 and G4, G5. A row that cannot be measured is among them, with the reason.
std::vector<GpuRow> TreeRows(GpuContext* context);
std::vector<GpuRow> ComparisonRows(GpuContext* context);
std::vector<GpuRow> DigestRows(GpuContext* context);

// A row without a value: skipped when something is not there (not_found), else failed.
GpuRow WithoutValue(std::string id, std::string what, const Error& error);

double Median(std::vector<double> values);  // at least one

// Whole MiB for each of `count` buffers that leave a fifth of the free memory alone, at most
// options.size_bytes. Errors: unsupported when that is less than 1 MiB.
Result<std::size_t> BufferBytes(const GpuContext& context, std::size_t count);

}  // namespace rharness::bench

#endif  // RHARNESS_TESTS_BENCH_GPU_GPU_BENCH_H_
