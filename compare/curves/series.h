// A metric by step, as logged.
//
// Role: what every curve reader returns and what comparison takes. Not here: files (curve_files.h),
// comparison (curve_comparison.h).
#ifndef RHARNESS_COMPARE_CURVES_SERIES_H_
#define RHARNESS_COMPARE_CURVES_SERIES_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace rharness {

// Steps strictly increase; both vectors have one length. A value that was logged as "nan" or not as
// a number is NaN; infinities stay.
struct CurveSeries {
  std::string name;
  std::vector<std::int64_t> steps;
  std::vector<double> values;
  // Smallest difference that the log can show: one unit of the last decimal place printed, over all
  // finite values. 0: printed to the full precision of a double.
  double quantum = 0.0;
};

// The subject of a curve; it decides what a difference means.
enum class CurveKind {
  kLoss,      // decides: loss, perplexity
  kMetric,    // advises: accuracy, gradient norm, counts of zeros
  kResource,  // never decides: memory, time, throughput, learning-rate schedule excepted
};
std::string_view CurveKindName(CurveKind kind);  // "loss", "metric", "resource"

// By the words in the name: "lm loss", "eval/loss" and any name that ends in "loss" are losses.
// Resources have such a noun, unit or group: "iteration-time", "tokens_per_sec", "peak_memory_gb",
// "perf/mfu", and not "time_series_mae" or "memory_accuracy". Everything else is a metric.
CurveKind KindOfCurve(std::string_view name);

// Taken over evaluation data, which are the same at every step, not over the step's batch: decided
// by a word of the name, as in "val_loss", "eval/loss", "validation loss", "test nll".
bool IsEvaluationName(std::string_view name);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_CURVES_SERIES_H_
