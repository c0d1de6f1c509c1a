// The report model: every number and every sentence of a report, decided once.
//
// Role: the drill fills it; its JSON, its metrics and its document only lay it out.
// "rharness.report/v1" is its JSON form, from which `rharness report` renders again.
#ifndef RHARNESS_REPORTS_MODEL_H_
#define RHARNESS_REPORTS_MODEL_H_

#include <array>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compare/comparison.h"
#include "compare/exact.h"
#include "compare/family_comparison.h"
#include "compare/siblings.h"
#include "harness/base/clock.h"
#include "harness/base/json.h"
#include "harness/base/result.h"
#include "reports/document.h"
#include "reports/sensitivity.h"

namespace rharness {

struct ReportRerun {
  int index = 0;
  std::string outcome;  // "exited with 0"
  double wall_seconds = 0.0;
  double cpu_seconds = 0.0;
  std::uint64_t peak_memory_bytes = 0;
  std::string node;  // node of a cluster that ran it; empty: none
  RerunEnd::State state = RerunEnd::State::kInfra;
  std::string reason;         // one sentence; empty when compared
  std::string evidence_path;  // relative to the report's folder
  std::string stdout_path;    // likewise; empty if there was no output
  std::string stderr_path;
  std::string stderr_tail;  // last lines of a failed run, capped; else empty
};

// A recorded run and its reruns: a judged comparison, and the drill's additions. For an identical
// run only `exact` lists what was compared.
struct ReportRun : Comparison {
  std::string run_id;
  std::string family;
  std::string declared;  // "bitwise" or "statistical"
  std::vector<ExactComparison> exact;
  std::vector<ReportRerun> reruns;
  std::string comparison_path;    // of its own comparison page; empty: none was written
  double recorded_seconds = 0.0;  // duration of the historical run
  WallTime recorded{};
  std::string sensitivity;  // of an equivalent run: what a drill would find; may be empty
  std::string folder;       // the drill's, from where the reader is: in no file; empty: not known
};

struct Report {
  std::string title;  // "Drill of 12 runs"
  std::string drill_id;
  std::string version;  // of rharness
  WallTime started{};
  WallTime ended{};
  std::string history;    // URL as given, without credentials
  std::string selection;  // the expression, or "all"
  std::string launcher;
  std::string executor;
  std::string host;  // CPU, GPUs, OS in one line
  // End of the last drill of this history in which every run reproduced, including this one; empty:
  // not known.
  std::optional<WallTime> last_success;
  bool interrupted = false;
  int exit_code = 3;
  std::map<std::string, int> counts;  // by verdict name, all seven present
  std::vector<std::string> left_out;  // selected runs beyond the budget or the slots
  std::vector<std::string> notes;     // about the drill as a whole
  // Joint verdicts on runs that differ in their seeds alone.
  std::vector<FamilyComparison> families;
  // Joint results on curves of runs that one change moved.
  std::vector<SiblingGroup> siblings;
  std::vector<ReportSensitivity> sensitivity;  // of configurations with a certificate
  std::vector<ReportRun> runs;
};

inline constexpr int kReportVersion = 1;
Json ToJson(const Report& report);  // "schema": "rharness.report/v1"
Result<Report> ParseReport(const Json& json, std::string_view file);

// Fills counts from the runs, and exit_code from their verdicts and those of their families.
void Tally(Report* report);
// Says where the drill's folder is: texts name files as they can be opened from the working
// directory, links of the page stay relative to the folder.
void SetFolder(Report* report, const std::filesystem::path& folder);

// All formats but JSON and metrics. `report` must outlive the document, whose rows make what is
// inside them when it is needed. On a terminal a drill with exit code 0 takes at most nine lines of
// 60 columns and more. Any other, or `verbose`, has a table of the runs, and `verbose` also how
// every output was compared and everything that several runs share.
Document DocumentOf(const Report& report, bool verbose = false);
std::string WriteMetrics(const Report& report);  // Prometheus text exposition, textfile collector

}  // namespace rharness

#endif  // RHARNESS_REPORTS_MODEL_H_
