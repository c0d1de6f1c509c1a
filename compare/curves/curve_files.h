// Curves from the files that people have: JSON, CSV, TSV, JSONL, event files of TensorBoard, MLPerf
// logs, Megatron golden values, MLflow's and W&B's local records of one run.
//
// Role: one reader a format behind one function; the format is found by content, not by name.
#ifndef RHARNESS_COMPARE_CURVES_CURVE_FILES_H_
#define RHARNESS_COMPARE_CURVES_CURVE_FILES_H_

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compare/curves/series.h"
#include "harness/base/result.h"

namespace rharness {

enum class CurveFormat {
  kMegatronGolden,  // {"lm loss": {"start_step", "end_step", "step_interval", "values": {step: v}}}
  kRunMetrics,      // {"curves": {name: {"steps": [], "values": []}}}
  kTrainerState,    // {"log_history": [{"step": n, name: v, ...}]}: trainer_state.json of
                    // transformers
  kJsonArrays,      // {name: [v, ...]}: the index is the step
  kJsonLines,       // one object a line, with "step" (or "iteration", "global_step", "epoch")
  kCsv,             // a header line; the column "step" (same names) or the line number; tabs as
                    // well as commas, and semicolons with decimal points or decimal commas
  kEventFile,       // of TensorBoard (tensorboard.h)
  kDatabase,        // MLflow's SQLite file with one run (tracker_log.h)
  kWandbLog,        // run-ID.wandb of W&B (tracker_log.h)
  kMllog,           // ":::MLLOG {...}" lines among others
                    // Positions that are fractions become steps in millionths, and the name says
                    // so; a second value at one position goes to a second curve, "NAME #2".
};
std::string_view CurveFormatName(CurveFormat format);

inline constexpr std::uint64_t kMaxCurveFileBytes = std::uint64_t{256} << 20;

// The format if this text looks like curves, else empty. `head`: the first bytes of a file, at
// least 4 KiB of a longer one.
std::optional<CurveFormat> DetectCurveFormat(std::string_view head);

// Pure. Errors: invalid_input with "FILE: line N" or the JSON path, and what was expected; also for
// a text without any curve.
// With `remarks`, a log that goes back to an earlier step, as after a restart, is read too: the
// later value counts, and a sentence says so.
// `step`: the column of a table, or the member of each of JSON Lines, that is the step; empty: one
// of the known names. It must be there.
Result<std::vector<CurveSeries>> ParseCurves(std::string_view text, std::string_view file,
                                             std::vector<std::string>* remarks = nullptr,
                                             std::string_view step = {});
Result<std::vector<CurveSeries>> LoadCurves(const std::filesystem::path& path,
                                            std::vector<std::string>* remarks = nullptr);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_CURVES_CURVE_FILES_H_
