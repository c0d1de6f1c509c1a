// The members of a run in a drill's report.
//
// Role: private to reports/; each list writes, reads and describes.
#ifndef RHARNESS_REPORTS_REPORT_RUN_MEMBERS_H_
#define RHARNESS_REPORTS_REPORT_RUN_MEMBERS_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "harness/base/json_members.h"
#include "reports/comparison_parts.h"
#include "reports/json_nouns.h"
#include "reports/model.h"
#include "reports/names.h"

namespace rharness {

// "weights model.safetensors: 4 tensors, bit-equal": for people, and read by nobody.
inline std::vector<std::string> WordsOf(const std::vector<ExactComparison>& exact) {
  std::vector<std::string> words;
  for (const ExactComparison& one : exact) words.push_back(one.subject + ": " + one.detail);
  return words;
}

template <class Io, Is<ExactComparison> T>
void Members(Io& io, T& exact) {
  io.Must("subject", exact.subject);
  io.Name("state", exact.state, kExactStateNames);
  io.NameUnless(
      "compared_by", exact.compared_by, kComparedByNames, ComparedBy::kNothing,
      "By what the two sides were compared: tensors, recorded digests of tensors, the SHA-256 of a "
      "file that no reader opens, values, or nothing; absent in older reports.");
  io.May("first_difference", exact.first_difference);
  io.May("detail", exact.detail);
  if constexpr (Io::kWrites) {
    io.MayObject("tensor", exact.tensor.get());
  } else {
    std::optional<TensorDifference> tensor;
    io.MayObject("tensor", tensor);
    if (tensor) exact.tensor = std::make_shared<TensorDifference>(*std::move(tensor));
  }
}

template <class Io, Is<ReportRerun> T>
void Members(Io& io, T& rerun) {
  io.Must("index", rerun.index);
  io.May("outcome", rerun.outcome);
  io.May("node", rerun.node);
  io.Name("state", rerun.state, kRerunStateNames, "compared, not_comparable, failed or infra.");
  io.May("reason", rerun.reason);
  io.May("wall_seconds", rerun.wall_seconds);
  io.May("cpu_seconds", rerun.cpu_seconds);
  io.May("peak_memory_bytes", rerun.peak_memory_bytes);
  io.May("evidence_path", rerun.evidence_path, "Relative to the folder of the report.");
  io.May("stdout_path", rerun.stdout_path,
         "Relative to the report's folder; empty without output.");
  io.May("stderr_path", rerun.stderr_path);
  io.May("stderr_tail", rerun.stderr_tail);
}

template <class Io, Is<ReportRun> T>
void Members(Io& io, T& run) {
  io.Must("run_id", run.run_id);
  io.Must("family", run.family);
  io.Text("verdict", run.verdict, VerdictName, ParseVerdict);
  io.May("declared", run.declared);
  io.May("headline", run.headline);
  io.List("reasons", run.findings);
  io.List("causes", run.causes, "Most suspicious first.");
  if constexpr (Io::kWrites) {
    io.Plain("compared", WordsOf(run.exact));
  } else {
    run.is_rerun = true;
    run.declared_bitwise = run.expect_bitwise = run.declared == "bitwise";
  }
  LayerMembers(io, run.layers);
  io.List("exact", run.exact);
  io.List("checkpoints", run.checkpoints, "Empty of an identical run, as are the curves.");
  io.List("curves", run.curves);
  io.List("metrics", run.metrics);
  io.Plain("notes", run.notes);
  io.May("comparison_path", run.comparison_path,
         "A page of this run alone, relative to the report's folder; empty: none was written.");
  io.List("reruns", run.reruns);
  io.May("more_reruns", run.more_reruns, Count());
  io.May("more_runs", run.more_runs, Count());
  io.May("recorded_seconds", run.recorded_seconds);
  io.MayTime("recorded", run.recorded);
  io.May("sensitivity", run.sensitivity,
         "Of an equivalent run: which planted faults would have been found; empty where nothing is "
         "known.");
}

}  // namespace rharness

#endif  // RHARNESS_REPORTS_REPORT_RUN_MEMBERS_H_
