// Recognises the kind of a path by content.
#include "harness/judge/comparison/subject.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "compare/curves/curve_files.h"
#include "compare/curves/tensorboard.h"
#include "compare/curves/tracker_log.h"
#include "compare/weights/checkpoint_folder.h"
#include "compare/weights/open_checkpoint.h"
#include "harness/base/files.h"
#include "harness/judge/comparison/subject_records.h"
#include "harness/records/manifest/run_metrics.h"
#include "reports/text.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kHeadBytes = std::size_t{64} << 10;

// The schema of one of our own records: "manifest", "evidence", "fingerprint". Empty for others;
// all of ours begin with it.
std::string_view SchemaOf(std::string_view head) {
  constexpr std::string_view kMark = "\"rharness.";
  const auto key = head.find("\"schema\"");
  if (key == head.npos) return {};
  const auto begin = head.find(kMark, key);
  if (begin == head.npos || begin > key + 32) return {};
  const auto name = head.substr(begin + kMark.size());
  return name.substr(0, name.find('/'));
}

std::string_view FirstWord(std::string_view head) {
  if (head.starts_with("\xef\xbb\xbf")) head.remove_prefix(3);
  const auto begin = head.find_first_not_of(" \t\r\n");
  return begin == head.npos ? std::string_view() : head.substr(begin);
}

// Text that begins as JSON does: a binary format has a zero among its first bytes.
bool LooksLikeJson(std::string_view head) {
  const std::string_view word = FirstWord(head);
  return !word.empty() && std::string_view("{[\"").find(word.front()) != std::string_view::npos &&
         head.substr(0, 16).find('\0') == std::string_view::npos;
}

// No control character but white space: a checkpoint's first bytes have one soon.
bool LooksLikeText(std::string_view head) {
  return std::ranges::none_of(head, [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < 0x20 && c != '\n' && c != '\r' && c != '\t' && c != '\f' && c != '\x1b';
  });
}

// An environment in the form of manifests and evidence, as a file of its own.
bool LooksLikeEnvironment(std::string_view head) {
  return LooksLikeJson(head) && head.find("\"variables\"") != head.npos &&
         head.find("\"software\"") != head.npos && head.find("\"hardware\"") != head.npos;
}

// The file that a run writes its metrics and curves to.
bool LooksLikeRunMetrics(std::string_view head, const std::optional<CurveFormat>& format) {
  if (format) return *format == CurveFormat::kRunMetrics;
  return LooksLikeJson(head) && head.find("\"metrics\"") != head.npos;
}

Result<Subject> LoadRecord(std::string_view schema, const fs::path& path,
                           const SubjectOptions& options) {
  if (schema == "manifest") return LoadManifestSubject(path, options);
  if (schema == "evidence") return LoadEvidenceSubject(path, options);
  if (schema == "fingerprint") return LoadFingerprintSubject(path);
  return Unsupported(fmt::format("is a rharness.{}; expected a manifest, evidence or a fingerprint",
                                 TerminalSafe(schema.substr(0, 40))),
                     path.string());
}

Result<Subject> LoadRunMetricsSubject(const fs::path& path) {
  Subject subject;
  ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  ASSIGN_OR_RETURN(SalvagedMetrics salvaged, SalvageRunMetrics(text, path.string()));
  subject.notes = std::move(salvaged.left_out);
  subject.unread = std::move(salvaged.unread);
  const RunMetrics& run = salvaged.metrics;
  for (const auto& [name, value] : run.metrics) {
    subject.manifest.metrics.push_back({.name = name, .value = value, .primary = true});
  }
  for (const auto& [name, version] : run.software) {
    subject.facts.push_back(
        {Layer::kEnvironment, "software." + name, version, FactWeight::kContext});
  }
  if (!run.curves.empty()) {
    ASSIGN_OR_RETURN(subject.curves, LoadCurves(path, &subject.notes));
  }
  subject.side = {
      path.string(), SideKind::kCurves,
      Counted(run.curves.size(), "curve") + ", " + Counted(run.metrics.size(), "metric")};
  return subject;
}

Result<Subject> LoadCurveSubject(const fs::path& path) {
  Subject subject;
  ASSIGN_OR_RETURN(subject.curves, LoadCurves(path, &subject.notes));
  subject.side = {path.string(), SideKind::kCurves, Counted(subject.curves.size(), "curve")};
  return subject;
}

Result<Subject> LoadItemsSubject(const fs::path& path) {
  Subject subject;
  ASSIGN_OR_RETURN(subject.items, LoadEvalItems(path));
  std::size_t items = 0;
  for (const auto& [task, each] : subject.items->tasks) items += each.size();
  // The likelihoods behind the scores, which show what the scores hide.
  if (std::error_code error; fs::is_regular_file(path, error)) {
    auto likelihoods = LoadTokenScores(path);
    if (likelihoods.ok() && likelihoods->continuations) subject.tokens = std::move(*likelihoods);
  }
  subject.side = {path.string(), SideKind::kEvaluation,
                  fmt::format("{} of {}", Counted(items, "item"),
                              Counted(subject.items->tasks.size(), "task"))};
  return subject;
}

Subject TokensSubject(const fs::path& path, TokenScores tokens) {
  Subject subject;
  subject.side = {
      path.string(), SideKind::kTokens,
      fmt::format("{}, {} of {}", tokens.format, Counted(tokens.logprobs.size(), "token"),
                  Counted(tokens.sequences.size(), "sequence"))};
  subject.tokens = std::move(tokens);
  return subject;
}

// Tensors may be log-probabilities, by their names.
Result<Subject> LoadTensors(const fs::path& path, const SubjectOptions& options) {
  const auto checkpoint = OpenCheckpoint(path);
  if (!checkpoint.ok() || !LooksLikeTokenScores(**checkpoint)) {
    return LoadCheckpointSubject(path, options);
  }
  ASSIGN_OR_RETURN(TokenScores tokens, LoadTokenScores(**checkpoint, path.string()));
  return TokensSubject(path, std::move(tokens));
}

// Members that say what a record is may follow a long prompt: its line is longer than the head.
bool HasLongLine(std::string_view head) {
  return head.size() >= kHeadBytes && LooksLikeJson(head) && head.find('\n') == head.npos;
}

Result<bool> HoldsTokenScores(const fs::path& path, std::string_view head) {
  if (LooksLikeTokenScores(head)) return true;
  if (head.size() < kHeadBytes) return false;
  ASSIGN_OR_RETURN(const std::string line, ReadHead(path, kMostTokenLine));
  return LooksLikeTokenScores(line);
}

Result<Subject> LoadTokensSubject(const fs::path& path) {
  ASSIGN_OR_RETURN(TokenScores tokens, LoadTokenScores(path));
  return TokensSubject(path, std::move(tokens));
}

Result<Subject> LoadFile(const fs::path& path, const SubjectOptions& options) {
  ASSIGN_OR_RETURN(const std::string head, ReadHead(path, kHeadBytes));
  if (head.empty()) {
    return InvalidInput(
        "the file is empty; expected a manifest, evidence, checkpoint, curves, "
        "environment or fingerprint",
        path.string());
  }
  if (LooksLikeJson(head)) {
    if (const auto schema = SchemaOf(head); !schema.empty()) {
      return LoadRecord(schema, path, options);
    }
  }
  const bool index = FirstWord(head).starts_with('{') && head.find("\"weight_map\"") != head.npos;
  if (index || IsTextCheckpoint(head)) return LoadCheckpointSubject(path, options);
  // The samples of an evaluation are known by their name, whatever they hold.
  const bool samples = LooksLikeEvalItems(path, "");
  if (!samples) {
    bool tokens = LooksLikeTokenScores(head);
    if (!tokens && HasLongLine(head)) {
      ASSIGN_OR_RETURN(tokens, HoldsTokenScores(path, head));
    }
    if (tokens) return LoadTokensSubject(path);
  }
  if (LooksLikeEvalItems(path, head)) return LoadItemsSubject(path);
  const auto format = DetectCurveFormat(head);
  if (LooksLikeRunMetrics(head, format)) return LoadRunMetricsSubject(path);
  if (LooksLikeEnvironment(head)) return LoadEnvironmentSubject(path);
  if (format) return LoadCurveSubject(path);
  if (LooksLikeJson(head)) {
    ASSIGN_OR_RETURN(const bool tokens, HoldsTokenScores(path, head));
    if (tokens) return LoadTokensSubject(path);
    return Unsupported(
        "is JSON without a schema of ours, curves, log-probabilities, an environment or a shard "
        "index; expected one of these",
        path.string());
  }
  if (LooksLikeText(head)) {
    return Unsupported(
        "is text of no kind that is compared; expected curves (CSV with a header "
        "line, JSON lines, an MLPerf log), a record of ours or a checkpoint",
        path.string());
  }
  return LoadTensors(path, options);
}

Result<Subject> LoadResultSubject(const fs::path& path) {
  Subject subject;
  ASSIGN_OR_RETURN(subject.results, LoadResultGroup(path));
  const ResultGroup& group = *subject.results;
  const auto grid = group.context.find("evaluation_grid");
  subject.side = {
      path.string(), SideKind::kResults,
      fmt::format("{} of {}{}", Counted(group.runs.size(), "run"), group.benchmark,
                  grid == group.context.end() ? "" : fmt::format(", evaluated {}", grid->second))};
  return subject;
}

Result<Subject> LoadFolder(const fs::path& path, const SubjectOptions& options) {
  for (const char* record : {"evidence.json", "manifest.json"}) {
    std::error_code error;
    if (fs::is_regular_file(path / record, error)) return LoadFile(path / record, options);
  }
  if (HoldsResultLogs(path)) return LoadResultSubject(path);
  if (HoldsEvalItems(path)) return LoadItemsSubject(path);
  // A checkpoint with its logs is a checkpoint.
  const auto files = ListFolder(path);
  const bool weights = files.ok() && !(files->indexes.empty() && files->safetensors.empty() &&
                                       files->others.empty());
  if (!weights && (HoldsEventFiles(path) || HoldsTrackerLog(path))) return LoadCurveSubject(path);
  return LoadCheckpointSubject(path, options);
}

}  // namespace

Result<Subject> LoadSubject(const fs::path& path, const SubjectOptions& options) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (status.type() == fs::file_type::not_found) {
    return NotFound("no such file or folder", path.string());
  }
  return fs::is_directory(status) ? LoadFolder(path, options) : LoadFile(path, options);
}

}  // namespace rharness
