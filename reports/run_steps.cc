// Next steps by the findings that decided.
#include "reports/run_steps.h"

#include <fmt/format.h>

#include "reports/comparison_summary.h"
#include "reports/text.h"

namespace rharness {

std::string StepOfFinding(const ReportRun& run) {
  const std::string name = SafeText(run.run_id, 120);
  for (const Finding& finding : run.findings) {
    if (!finding.decisive) continue;
    if (IsOfFile(finding, run)) {
      return fmt::format(
          "Write what no reader opens as safetensors or .npy, or record it as a log if it may "
          "differ: {} "
          "of {} first.",
          SafeText(finding.subject, 200), name);
    }
    if (finding.code == "missing_start") {
      return fmt::format(
          "Take away what the rerun of {} found and drill it again; then keep such state below the "
          "folder of the run, or record it as data.",
          name);
    }
    if (finding.code == "curve_unexplained") {
      return fmt::format(
          "Drill {} again with --replicates 3: they measure how far rounding carries its curves.",
          name);
    }
    if (finding.code == "vacuous_curve") {
      return fmt::format(
          "No rerun decides by the {} of {}: log it at more steps and with values that change, or "
          "leave it out, and record the run again.",
          SafeText(finding.subject, 200), name);
    }
  }
  return "";
}

std::string StepOfInputs(const ReportRun& run) {
  const std::string name = SafeText(run.run_id, 120);
  for (const Finding& finding : run.findings) {
    if (!finding.decisive) continue;
    if (finding.code == kStartNotRecorded) {
      return fmt::format(
          "Record {} again in a folder without the file that it went on from, or let it go on from "
          "a copy, which is then its data.",
          name);
    }
    const std::size_t end = finding.message.rfind(kDeclaresFolder);
    const std::size_t map = finding.message.rfind("--map ", end);
    if (end == finding.message.npos || map == finding.message.npos) continue;
    return fmt::format("Drill again with {}: {} first.",
                       SafeText(finding.message.substr(map, end - map), 400), name);
  }
  return fmt::format(
      "Restore the recorded inputs, or leave these runs out of the selection: {} first.", name);
}

}  // namespace rharness
