// Results of evaluation harnesses; see evaluation_results.h.
#include "harness/records/logs/evaluation_results.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "compare/curves/printed_number.h"
#include "compare/weights/zip_archive.h"
#include "harness/base/files.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kFirstMember = 16;
constexpr std::uint64_t kMostHeaderBytes = std::uint64_t{64} << 20;
constexpr char kInspectHeader[] = "header.json";

std::string TextOf(const Json* json) {
  return json != nullptr && json->kind() == Json::Kind::kString ? json->AsString() : std::string();
}

const Json* FindIn(const Json* json, std::string_view name) {
  return json != nullptr && json->IsObject() ? json->Find(name) : nullptr;
}

void Take(std::string name, const Json* value, EvaluationResults* out) {
  if (value == nullptr || value->IsNull()) return;
  if (const auto number = PrintedOf(*value)) out->values[std::move(name)] = number->value;
}

// The beginning of the text without blanks.
std::string Squeezed(std::string_view head) {
  std::string squeezed;
  for (const char c : head.substr(0, 256)) {
    if (c != ' ' && c != '\n' && c != '\r' && c != '\t') squeezed += c;
  }
  return squeezed;
}

Status TakeInspectScores(const Json& scores, const std::string& task, const std::string& file,
                         EvaluationResults* out) {
  const auto expected = [&] {
    return InvalidInput("expected results.scores with a name and metrics each", file);
  };
  if (!scores.IsArray()) return expected();
  std::map<std::string, int> named;
  for (const Json& score : scores.AsArray()) ++named[TextOf(FindIn(&score, "name"))];
  for (const Json& score : scores.AsArray()) {
    const std::string name = TextOf(FindIn(&score, "name"));
    const std::string reducer = TextOf(FindIn(&score, "reducer"));
    const Json* metrics = FindIn(&score, "metrics");
    if (name.empty() || metrics == nullptr || !metrics->IsObject()) return expected();
    const bool several = named[name] > 1 && !reducer.empty();
    const std::string before = task + "/" + name + (several ? "," + reducer : "") + "/";
    for (const auto& [metric, value] : metrics->AsObject()) {
      if (out->values.contains(before + metric)) {
        return InvalidInput(fmt::format("two scores are called {}", QuoteForError(name)), file);
      }
      Take(before + metric, FindIn(&value, "value"), out);
    }
  }
  return {};
}

}  // namespace

bool LooksLikeHarnessResults(std::string_view head) {
  // Its configurations make it longer than a head.
  return head.starts_with('{') && head.substr(0, kFirstMember).find("\"results\"") != head.npos &&
         head.find(",none\"") != head.npos;
}

bool LooksLikeInspectJson(std::string_view head) {
  return Squeezed(head).starts_with("{\"version\":") && head.find("\"eval\"") != head.npos &&
         head.find("\"task_id\"") != head.npos;
}

bool LooksLikeInspectArchive(std::string_view head) {
  constexpr std::size_t kLocalHeaderBytes = 30;
  return head.starts_with("PK\3\4") && head.size() > kLocalHeaderBytes &&
         head.substr(kLocalHeaderBytes).starts_with("_journal/");
}

bool LooksLikeHelmStats(std::string_view head) {
  return Squeezed(head).starts_with("[{\"name\":{\"name\":") &&
         head.find("\"sum_squared\"") != head.npos;
}

Result<EvaluationResults> ParseHarnessResults(std::string_view text, const std::string& file) {
  ASSIGN_OR_RETURN(const Json json, ParseJsonWithNonFinite(text, file));
  const Json* tasks = FindIn(&json, "results");
  if (tasks == nullptr || !tasks->IsObject()) {
    return InvalidInput("expected an object with results by task", file);
  }
  EvaluationResults out;
  for (const auto& [task, values] : tasks->AsObject()) {
    if (!values.IsObject()) continue;
    for (const auto& [key, value] : values.AsObject()) {
      const auto comma = key.rfind(',');
      if (comma == key.npos || key.substr(0, comma).ends_with("_stderr")) continue;
      const bool none = key.substr(comma + 1) == "none";
      Take(task + "/" + (none ? key.substr(0, comma) : key), &value, &out);
    }
  }
  return out;
}

Result<EvaluationResults> ParseInspectLog(std::string_view text, const std::string& file) {
  ASSIGN_OR_RETURN(const Json json, ParseJsonWithNonFinite(text, file));
  const std::string task = TextOf(FindIn(FindIn(&json, "eval"), "task"));
  if (task.empty()) return InvalidInput("expected eval.task, the name of a task", file);
  EvaluationResults out;
  const std::string status = TextOf(FindIn(&json, "status"));
  if (status != "success") {
    out.remarks.push_back(fmt::format("the status of the evaluation of {} is {}",
                                      QuoteForError(task), QuoteForError(status)));
  }
  const Json* scores = FindIn(FindIn(&json, "results"), "scores");
  if (scores == nullptr) {
    return InvalidInput(
        fmt::format("has no results; the status of its evaluation is {}", QuoteForError(status)),
        file);
  }
  RETURN_IF_ERROR(TakeInspectScores(*scores, task, file, &out));
  return out;
}

Result<EvaluationResults> ReadInspectArchive(const HeldFolder& folder, const fs::path& relative,
                                             const std::string& file) {
  ASSIGN_OR_RETURN(HeldFolder held, folder.OpenFolder("."));
  const auto below = std::make_shared<const HeldFolder>(std::move(held));
  ASSIGN_OR_RETURN(const InputFile input,
                   InputFile::Open(below->path() / relative, nullptr, below));
  ASSIGN_OR_RETURN(const ZipDirectory directory,
                   ReadZipDirectory(input, ZipMethods::kDeflateAndZstd));
  const ZipMember* header = directory.Find(kInspectHeader);
  if (header == nullptr) {
    return InvalidInput("has no header.json: the evaluation was not finished", file);
  }
  ASSIGN_OR_RETURN(const std::string text, ReadZipMember(input, *header, kMostHeaderBytes));
  return ParseInspectLog(text, file + ": " + kInspectHeader);
}

Result<EvaluationResults> ParseHelmStats(std::string_view text, const std::string& file) {
  ASSIGN_OR_RETURN(const Json json, ParseJsonWithNonFinite(text, file));
  if (!json.IsArray()) return InvalidInput("expected an array of statistics", file);
  EvaluationResults out;
  for (std::size_t i = 0; i < json.AsArray().size(); ++i) {
    const Json& stat = json.AsArray()[i];
    const Json* naming = FindIn(&stat, "name");
    std::string name = TextOf(FindIn(naming, "name"));
    if (name.empty()) {
      return InvalidInput("expected a statistic with name.name", fmt::format("{}: [{}]", file, i));
    }
    for (const std::string& part :
         {TextOf(FindIn(naming, "split")), TextOf(FindIn(naming, "sub_split")),
          TextOf(FindIn(FindIn(naming, "perturbation"), "name"))}) {
      if (!part.empty()) name += "/" + part;
    }
    if (out.values.contains(name)) {
      out.remarks.push_back(
          fmt::format("{}: {} is there twice: the first counts", file, QuoteForError(name)));
      continue;
    }
    Take(std::move(name), FindIn(&stat, "mean"), &out);
  }
  return out;
}

}  // namespace rharness
