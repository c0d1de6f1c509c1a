// Both sides, their kept data, and the place where they part.
#include "harness/experiments/onset/onset_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <future>
#include <map>
#include <memory>
#include <optional>

#include "harness/base/files.h"
#include "harness/base/version.h"
#include "harness/drill/experiment.h"
#include "harness/experiments/onset/checkpoint_line.h"
#include "harness/experiments/onset/traced_rerun.h"
#include "harness/history/store.h"
#include "harness/judge/comparison/subject.h"
#include "harness/judge/record_parts.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

struct OnsetSide {
  std::string given;
  std::vector<Trace> traces;
  fs::path calls;                    // its traces of calls; empty: none
  std::optional<Manifest> manifest;  // that can be rerun
  std::vector<LinePoint> line;
  std::vector<CurveSeries> curves;
};

// The trace of a given path; empty: none.
fs::path TraceAt(const fs::path& path) {
  std::error_code error;
  if (IsTrace(path) || HasCalls(path)) return path;
  const fs::path folder = fs::is_directory(path, error) ? path : path.parent_path();
  const bool evidence = fs::is_regular_file(folder / "evidence.json", error);
  const bool beside = fs::is_directory(path, error) || evidence;
  const fs::path trace = folder / "trace";
  return beside && (IsTrace(trace) || HasCalls(trace)) ? trace : fs::path();
}

// Both kinds of trace.
Status LoadTraced(const fs::path& path, OnsetSide* side) {
  if (HasCalls(path)) side->calls = path;
  if (!side->calls.empty() && !IsTrace(path)) return {};
  ASSIGN_OR_RETURN(side->traces, LoadTraces(path));
  return {};
}

Status LoadRecorded(const std::string& id, const OnsetOptions& options, OnsetSide* side) {
  if (options.drill.history.empty()) {
    return NotFound("no such file; for the id of a run of a history, give --history",
                    TerminalSafe(id));
  }
  ASSIGN_OR_RETURN(const auto history, HistoryStore::Open(options.drill.history));
  ASSIGN_OR_RETURN(side->manifest, history->Get(id));
  side->curves = CurvesOf(side->manifest->curves);
  return {};
}

Result<OnsetSide> LoadOnsetSide(const std::string& given, const OnsetOptions& options,
                                std::vector<std::string>* notes) {
  OnsetSide side{.given = given};
  std::error_code error;
  if (!fs::exists(given, error)) {
    RETURN_IF_ERROR(LoadRecorded(given, options, &side));
    return side;
  }
  const fs::path trace = TraceAt(given);
  if (!trace.empty()) {
    RETURN_IF_ERROR(LoadTraced(trace, &side));
    if (trace == fs::path(given)) return side;
  }
  auto subject = LoadSubject(given, {.root = options.drill.places.root});
  if (subject.ok()) {
    if (subject->side.kind == SideKind::kManifest) side.manifest = subject->manifest;
    side.line = LineOf(std::move(subject->weights));
    side.curves = std::move(subject->curves);
    notes->insert(notes->end(), subject->notes.begin(), subject->notes.end());
    return side;
  }
  if (fs::is_directory(given, error)) side.line = LineIn(given);
  if (side.line.empty() && side.traces.empty()) return subject.error();
  return side;
}

class WhereSearch {
 public:
  WhereSearch(const OnsetOptions& options, const std::function<bool()>& should_stop, Clock* clock)
      : options_(options), should_stop_(should_stop), clock_(clock) {}

  Result<OnsetReport> Run() {
    ASSIGN_OR_RETURN(a_, LoadOnsetSide(options_.run, options_, &report_.notes));
    ASSIGN_OR_RETURN(b_, LoadOnsetSide(options_.against, options_, &report_.notes));
    RETURN_IF_ERROR(TraceBoth());
    RETURN_IF_ERROR(CompareTraces());
    RETURN_IF_ERROR(CompareLines(std::move(a_.line), std::move(b_.line), Order(), &report_));
    CompareRecordedCurves();
    report_.a = a_.given;
    report_.b = b_.given;
    report_.version = kVersion;
    report_.made = clock_->Now();
    RETURN_IF_ERROR(Conclude());
    RETURN_IF_ERROR(WriteReport(options_.drill.out, "onset", report_));
    return std::move(report_);
  }

 private:
  Status TraceBoth() {
    const auto traced = [](const OnsetSide& side) {
      return !side.traces.empty() || !side.calls.empty();
    };
    const auto can = [&](const OnsetSide& side) {
      return traced(side) || side.manifest.has_value();
    };
    const bool wanted = !options_.no_rerun && (!traced(a_) || !traced(b_));
    if (!wanted || !can(a_) || !can(b_)) return {};
    for (const auto& [side, name] : {std::pair(&a_, "A"), std::pair(&b_, "B")}) {
      if (traced(*side)) continue;
      ASSIGN_OR_RETURN(const fs::path trace,
                       TraceRerun(*side->manifest, options_.drill.out / name, options_.steps,
                                  options_.drill, should_stop_, clock_, &report_.notes));
      if (trace.empty()) return {};
      RETURN_IF_ERROR(LoadTraced(trace, side));
    }
    return {};
  }

  Status CompareTraces() {
    if (!a_.calls.empty() && !b_.calls.empty()) {
      // Two threads, if the system has them: reading takes most of the time.
      auto reading = std::async([this] { return LoadCalls(b_.calls); });
      ASSIGN_OR_RETURN(const std::vector<CallTrace> a, LoadCalls(a_.calls));
      ASSIGN_OR_RETURN(const std::vector<CallTrace> b, reading.get());
      ASSIGN_OR_RETURN(report_.calls, FindCallOnset(a, b));
    }
    if (a_.traces.empty() || b_.traces.empty()) return {};
    std::vector<std::vector<Trace>> replicates;
    for (const std::string& path : options_.replicates) {
      ASSIGN_OR_RETURN(std::vector<Trace> traces, LoadTraces(path));
      replicates.push_back(std::move(traces));
    }
    report_.traced = true;
    report_.traces = FindOnset(a_.traces, b_.traces, replicates);
    return {};
  }

  // Names of parameters as a trace has them.
  std::vector<std::string> Order() const {
    std::vector<std::string> order;
    if (a_.traces.empty()) return order;
    const std::vector<TraceRecord>& records = a_.traces.front().records;
    for (const TraceRecord& record : records) {
      if (record.step != records.front().step) break;
      if (record.kind == TraceKind::kParameter) order.push_back(record.name);
    }
    return order;
  }

  void CompareRecordedCurves() {
    if (a_.curves.empty() || b_.curves.empty()) return;
    report_.curves = CompareCurves(a_.curves, b_.curves, {}, CurveRules());
    std::erase_if(report_.curves, [](const CurveComparison& curve) {
      return curve.kind == CurveKind::kResource || curve.state == CurveState::kMissing;
    });
  }

  // Each kind of evidence adds its part; the finest has the headline.
  Status Conclude() {
    const bool compared =
        report_.traced || report_.calls || !report_.curves.empty() ||
        std::ranges::any_of(report_.checkpoints, [](const OnsetCheckpoint& one) {
          return one.state == CheckpointState::kEqual || one.state == CheckpointState::kDiffers;
        });
    if (!compared) {
      std::string why =
          "the sides have nothing in common that shows their first divergence; expected traces, "
          "kept checkpoints or curves of both";
      for (const std::string& note : report_.notes) why += "; " + note;
      return InvalidInput(why, "--trace");
    }
    const std::string checkpoints = CheckpointWords();
    const std::string curves = CurveWordsOf();
    const bool named = ConcludeTraces();
    for (const std::string& words : {checkpoints, curves}) {
      if (words.empty()) continue;
      if (report_.headline.empty()) {
        report_.headline = words;
      } else {
        report_.reasons.push_back(words);
      }
    }
    if (report_.next.empty()) {
      report_.next = "trace both runs (RHARNESS_TRACE) to name the operator";
    }
    const bool traced = report_.traced || report_.calls;
    report_.exit_code = named || (!traced && IsBounded()) ? 0 : 3;
    return {};
  }

  // Of what calls name the modules' own part is a reason. They see weights, batches and their
  // order as a step begins, and steps whose calls were not traced. Returns whether a place is
  // named.
  bool ConcludeTraces() {
    const Onset& modules = report_.traces;
    const bool by_modules = report_.traced && modules.end == "parts" && !modules.damaged;
    bool by_calls = report_.calls && report_.calls->end == "parts" && !report_.calls->damaged;
    if (by_calls && by_modules) {
      const bool earlier = modules.origin->a.step < report_.calls->origin->a.step;
      const bool begins = modules.what == "batch" || modules.what == "batch_order" ||
                          modules.what.starts_with("initial_");
      by_calls = !earlier && !begins;
    }
    const auto add = [this](std::string_view name, const auto& onset, bool first) {
      if (first) report_.headline = onset.headline;
      if (first) report_.next = onset.next;
      if (!first) report_.reasons.push_back(std::string(name) + ": " + onset.headline);
      const std::vector<std::string>& reasons = onset.reasons;
      report_.reasons.insert(report_.reasons.end(), reasons.begin(), reasons.end());
      report_.notes.insert(report_.notes.end(), onset.notes.begin(), onset.notes.end());
    };
    const bool calls_first = report_.calls && (by_calls || !by_modules);
    if (calls_first) add("operators", *report_.calls, true);
    if (report_.traced) add("modules", modules, !calls_first);
    if (report_.calls && !calls_first) add("operators", *report_.calls, false);
    return by_calls || by_modules;
  }

  // Between a kept checkpoint that is equal and one that is not.
  bool IsBounded() const {
    bool equal = false;
    for (const OnsetCheckpoint& one : report_.checkpoints) {
      if (one.state == CheckpointState::kDiffers) return equal;
      equal = equal || one.state == CheckpointState::kEqual;
    }
    return false;
  }

  std::string CheckpointWords() const {
    const OnsetCheckpoint* equal = nullptr;
    for (const OnsetCheckpoint& one : report_.checkpoints) {
      if (one.state == CheckpointState::kEqual) equal = &one;
      if (one.state != CheckpointState::kDiffers) continue;
      const std::string first =
          report_.tensors.empty() ? "" : fmt::format(", first {}", report_.tensors.front().name);
      if (equal == nullptr) {
        return fmt::format("{} is the first checkpoint that both kept, and differs{}", one.name,
                           first);
      }
      return fmt::format("the runs part after {}, which is equal, and before {}{}", equal->name,
                         one.name, first);
    }
    return equal == nullptr
               ? ""
               : fmt::format("{} is the last checkpoint that both kept, and is equal", equal->name);
  }

  std::string CurveWordsOf() const {
    const CurveComparison* first = nullptr;
    for (const CurveComparison& curve : report_.curves) {
      if (!curve.first_difference) continue;
      if (first == nullptr || *curve.first_difference < *first->first_difference) first = &curve;
    }
    if (first == nullptr) {
      return report_.curves.empty() ? "" : "no recorded curve differs in any bit";
    }
    std::string words = fmt::format("of the recorded curves {} differs first, at step {}",
                                    first->name, *first->first_difference);
    if (first->first_beyond) {
      words += fmt::format(", and is beyond what rounding does from step {}", *first->first_beyond);
    }
    return words;
  }

  const OnsetOptions& options_;
  const std::function<bool()>& should_stop_;
  Clock* clock_;
  OnsetReport report_;
  OnsetSide a_;
  OnsetSide b_;
};

}  // namespace

Result<OnsetReport> FindWhere(const OnsetOptions& given, const std::function<bool()>& should_stop,
                              Clock* clock) {
  ASSIGN_OR_RETURN(const OnsetOptions options, WithExperimentPaths(given));
  RETURN_IF_ERROR(MakeDirectories(options.drill.out));
  return WhereSearch(options, should_stop, clock).Run();
}

}  // namespace rharness
