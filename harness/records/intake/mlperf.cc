// MLPerf result logs: one run per log, with the description of its system if present. Source:
// MLCommons policies, submission layout (results/SYSTEM/BENCHMARK/result_N.txt and
// systems/SYSTEM.json).
#include <fmt/format.h>

#include <cmath>
#include <optional>
#include <set>

#include "compare/results/mllog.h"
#include "compare/results/mllog_lines.h"
#include "harness/base/digest.h"
#include "harness/base/source_folder.h"
#include "harness/records/intake/clean.h"
#include "harness/records/intake/importers.h"
#include "harness/records/intake/mlperf_system.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kMllogMark = ":::MLLOG ";
constexpr std::uint64_t kMostMlperfLogBytes = std::uint64_t{256} << 20;
constexpr std::size_t kMostBadLines = 100;

bool IsResultName(const fs::path& name) {
  return name.filename().string().starts_with("result_") && name.extension() == ".txt";
}

// By its name, or by its first bytes.
bool IsMllog(const SourceFolder& source, const std::string& relative) {
  if (IsResultName(relative)) return true;
  const auto head = source.ReadHead(relative);
  return head.ok() && head->find(kMllogMark) != std::string::npos;
}

// Puts blanks in the place of line `number`.
void BlankLine(std::size_t number, std::string* text) {
  std::size_t begin = 0;
  for (std::size_t line = 1; line < number && begin != std::string::npos; ++line) {
    begin = text->find('\n', begin);
    if (begin != std::string::npos) ++begin;
  }
  if (begin == std::string::npos) return;
  const std::size_t end = std::min(text->find('\n', begin), text->size());
  std::fill(text->begin() + static_cast<std::ptrdiff_t>(begin),
            text->begin() + static_cast<std::ptrdiff_t>(end), ' ');
}

// Lines that are no events at all leave the text, a sentence each. What they contradict stays.
std::vector<std::string> DropBadLines(std::string* text, const std::string& file) {
  std::vector<std::string> sentences;
  while (sentences.size() < kMostBadLines) {
    int line = 0;
    const Status status = ForEachMllogEvent(*text, file, [&](const MllogEvent& event) -> Status {
      line = event.line;
      return {};
    });
    if (status.ok()) break;
    // The bad line is the first with the mark behind the last good one.
    std::size_t number = 0, at = 0;
    for (std::size_t begin = 0; begin < text->size(); begin = at + 1) {
      at = std::min(text->find('\n', begin), text->size());
      ++number;
      const std::string_view one(text->data() + begin, at - begin);
      if (number > static_cast<std::size_t>(line) && one.find(kMllogMark) != one.npos) break;
    }
    BlankLine(number, text);
    sentences.push_back(fmt::format("line {} was left out: {}", number, status.error().message));
  }
  return sentences;
}

struct EventSpan {
  WallTime first{};
  WallTime last{};
};

// The times of the first and the last event; an unreadable one does not count.
EventSpan EventSpanOf(std::string_view text) {
  const auto time_at = [&](std::size_t mark) {
    WallTime time{};
    const std::string_view line = text.substr(mark, text.find('\n', mark) - mark);
    const Status read = ForEachMllogEvent(line, "", [&](const MllogEvent& event) -> Status {
      time = WallTime(std::chrono::milliseconds(event.time_ms.value_or(0)));
      return {};
    });
    return read.ok() ? time : WallTime{};
  };
  const std::size_t first = text.find(kMllogMark), last = text.rfind(kMllogMark);
  if (first == text.npos) return {};
  return {time_at(first), time_at(last)};
}

void SetMlperfSettings(const MllogRun& log, ImportedRun* run) {
  run->SetHyperparameter("global_batch_size", Json(log.global_batch_size),
                         Exact("global_batch_size"));
  for (const auto* settings : {&log.hyperparameters, &log.context}) {
    for (const auto& [name, value] : *settings) {
      const auto number = ParseJson(value, "");
      run->SetHyperparameter(name, number.ok() ? *number : Json(value), Exact(name));
    }
  }
  if (log.target) run->SetHyperparameter("target", Json(*log.target), Exact("target"));
}

// Steps are whole numbers; fractional positions become millionths, and the name says so.
void AddEvaluations(const MllogCurve& curve, ConvergenceUnit unit, ImportedRun* run) {
  bool fractions = false;
  for (const MllogEvaluation& one : curve.evaluations) {
    fractions |= one.position != std::floor(one.position);
  }
  std::vector<std::int64_t> steps;
  std::vector<double> values;
  for (const MllogEvaluation& one : curve.evaluations) {
    // Positions are at most 10^15.
    const double step = fractions ? std::min(one.position, 1e12) * 1e6 : one.position;
    steps.push_back(std::llround(step));
    values.push_back(one.value);
  }
  if (values.empty()) return;
  const std::string_view name = ConvergenceUnitName(unit);
  run->AddMetric(curve.name, values.back(),
                 Exact(fmt::format("line {}", curve.evaluations.back().line)));
  run->AddCurve(fractions ? fmt::format("{}, by millionths of {}", curve.name, name) : curve.name,
                std::move(steps), std::move(values), Exact(fmt::format("by {}", name)));
}

void SetMlperfResult(const MllogRun& log, ImportedRun* run) {
  for (const MllogCurve& curve : log.curves) AddEvaluations(curve, log.unit, run);
  const bool success = log.status == MllogStatus::kSuccess;
  if (!success) {
    run->Remark(fmt::format("the run did not reach its target: {}", MllogStatusName(log.status)));
  }
  if (success && log.run_seconds) {
    run->AddMetric("time_to_train_seconds", *log.run_seconds, Exact("run_start to run_stop"));
  }
  if (success && log.converged_at) {
    run->AddMetric(fmt::format("{}_to_converge", ConvergenceUnitName(log.unit)), *log.converged_at,
                   Exact("the last evaluation before run_stop"));
  }
}

struct SubmissionPlace {
  fs::path submission;  // the folder with results/ and systems/
  std::string system;   // as the folder is called
};

// Of .../results/SYSTEM/BENCHMARK/FILE.
std::optional<SubmissionPlace> SubmissionPlaceOf(const fs::path& file) {
  const fs::path system = file.parent_path().parent_path();
  const fs::path results = system.parent_path();
  if (results.filename() != "results") return std::nullopt;
  return SubmissionPlace{results.parent_path(), system.filename().string()};
}

ImportedRun MlperfRunOf(const MllogRun& log, const std::string& id, const fs::path& file,
                        std::string_view text, const ImportRequest& request) {
  ImportedRun run("mlperf", request.source, id);
  const auto place = SubmissionPlaceOf(file);
  const std::string system = place ? place->system : log.platform;
  run.SetFamily(fmt::format("{} {} {}", log.benchmark, log.organisation, system),
                Hint("submission_benchmark, submission_org and the system",
                     "which noise may be pooled is for you to say"));
  const EventSpan span = EventSpanOf(text);
  run.SetTimes(span.first, span.last,
               Hint("the first and the last event", "the program may have run before and after"));
  SetMlperfSettings(log, &run);
  for (std::size_t i = 0; i < log.seeds.size(); ++i) {
    run.SetSeed(i == 0 ? "seed" : fmt::format("seed #{}", i + 1), log.seeds[i], Exact("seed"));
  }
  SetMlperfResult(log, &run);
  for (const std::string& missing : log.missing) {
    run.Remark(fmt::format("the log has no {}", missing));
  }
  if (place) {
    AddMlperfSystem(place->submission, place->system, &run);
  } else {
    run.Remark(
        "does not lie at results/SYSTEM/BENCHMARK/, so that no description of its system "
        "was looked for");
  }
  return run;
}

class MlperfImporter {
 public:
  MlperfImporter(const ImportRequest& request, const ImportSink& sink, const SourceFolder& source)
      : request_(request), sink_(sink), source_(source) {}

  Result<bool> Visit(const std::string& relative, EntryKind kind) {
    if (request_.should_cancel && request_.should_cancel()) return false;
    const std::string where = PlaceIn(request_.source, source_, relative);
    if (kind != EntryKind::kFile) {
      if (IsResultName(relative)) sink_.refuse(where, NoRegularFile(kind, ""));
      return true;
    }
    if (source_.file().empty() && !IsMllog(source_, relative)) return true;
    auto text = source_.folder().ReadFile(relative, kMostMlperfLogBytes);
    if (!text.ok()) {
      sink_.refuse(where, text.error());
      return true;
    }
    RETURN_IF_ERROR(Take(relative, where, *text));
    return true;
  }
  std::size_t taken() const { return taken_; }

 private:
  Status Take(const std::string& relative, const std::string& where, std::string& text) {
    const std::string digest = Sha256HexOf(text).substr(0, 16);
    auto log = ParseMllog(text, where);
    std::vector<std::string> dropped;
    if (!log.ok()) {
      dropped = DropBadLines(&text, where);
      if (!dropped.empty()) log = ParseMllog(text, where);
    }
    if (!log.ok()) {
      sink_.refuse(where, log.error());
      return {};
    }
    const std::string id = fmt::format("{}-{}", log->benchmark, digest);
    if (!request_.Wants(id) && !request_.Wants(relative)) return {};
    if (!seen_.insert(digest).second) {
      sink_.refuse(where, InvalidInput("is the same log as one before it, byte for byte", ""));
      return {};
    }
    ImportedRun run = MlperfRunOf(*log, id, source_.path() / relative, text, request_);
    for (std::string& sentence : dropped) {
      run.Remark(fmt::format("{}: {}", where, sentence));
    }
    ++taken_;
    return sink_.take(std::move(run));
  }

  const ImportRequest& request_;
  const ImportSink& sink_;
  const SourceFolder& source_;
  std::set<std::string> seen_;
  std::size_t taken_ = 0;
};

}  // namespace

bool IsMlperf(const std::string& path) {
  const auto source = SourceFolder::Open(path);
  if (!source.ok()) return false;
  bool found = false;
  std::size_t left = 2000;
  const auto status = source->ForEachFile([&](const std::string& relative, EntryKind kind) {
    if (kind == EntryKind::kFile) {
      const auto head = source->ReadHead(relative);
      found = head.ok() && head->find(kMllogMark) != std::string::npos;
    }
    return Result<bool>(!found && --left > 0);
  });
  return status.ok() && found;
}

Status ImportMlperf(const ImportRequest& request, const ImportSink& sink) {
  ASSIGN_OR_RETURN(const SourceFolder source, SourceFolder::Open(request.source));
  MlperfImporter importer(request, sink, source);
  RETURN_IF_ERROR(source.ForEachFile(
      [&](const std::string& relative, EntryKind kind) { return importer.Visit(relative, kind); }));
  if (importer.taken() == 0) return NotFound("holds no such MLPerf result log", request.source);
  return {};
}

}  // namespace rharness
