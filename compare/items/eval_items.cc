// JSON Lines with one item each, and the results of lm-evaluation-harness beside them.
#include "compare/items/eval_items.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <utility>

#include "compare/curves/printed_number.h"
#include "compare/curves/series.h"
#include "harness/base/digest.h"
#include "harness/base/json.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 10> kIds = {
    "doc_id",  "sample_id", "question_id", "item_id", "example_id",
    "task_id", "idx",       "index",       "qid",     "id"};
// What was asked, and what would be right: the first that a line has. A digest goes before a text.
constexpr std::array<std::string_view, 5> kPrompts = {"prompt_hash", "prompt", "question", "input",
                                                      "doc_hash"};
constexpr std::array<std::string_view, 6> kTargets = {"target_hash", "target", "expected",
                                                      "gold",        "answer", "reference"};
// What a model said; a number of such a name is a score.
constexpr std::array<std::string_view, 11> kAnswers = {
    "filtered_resps", "resps",      "response",     "responses",  "output", "generated_text",
    "completion",     "generation", "model_output", "prediction", "text"};
constexpr std::array<std::string_view, 2> kClusters = {"cluster", "group"};
constexpr std::array<std::string_view, 3> kSteps = {"step", "_step", "global_step"};
constexpr std::string_view kSamples = "samples_";
constexpr std::size_t kMostLineBytes = std::size_t{16} << 20;
constexpr std::size_t kMostItems = 1'000'000;
constexpr std::uint64_t kMostFileBytes = std::uint64_t{1} << 30;

template <std::size_t n>
const Json* FirstOf(const Json& line, const std::array<std::string_view, n>& names,
                    std::string_view* name = nullptr) {
  for (const std::string_view one : names) {
    const Json* found = line.Find(one);
    if (found == nullptr || found->IsNull()) continue;
    if (name != nullptr) *name = one;
    return found;
  }
  return nullptr;
}

std::string TextOf(const Json& json) {
  return json.kind() == Json::Kind::kString ? json.AsString() : json.Dump();
}

template <std::size_t n>
std::string DigestOf(const Json& line, const std::array<std::string_view, n>& names) {
  const Json* found = FirstOf(line, names);
  return found == nullptr ? std::string() : Sha256HexOf(TextOf(*found));
}

// All values in what a model was called with, and the names of settings: lists, and members such as
// "gen_args_0" and "arg_1", are names of places, which differ from version to version.
void AppendValues(const Json& json, std::string* text) {
  if (json.IsArray()) {
    for (const Json& value : json.AsArray()) AppendValues(value, text);
  } else if (json.IsObject()) {
    for (const auto& [name, value] : json.AsObject()) {
      if (!name.starts_with("gen_args_") && !name.starts_with("arg_")) *text += name + "=";
      AppendValues(value, text);
    }
  } else {
    const std::string value = TextOf(json);
    *text += fmt::format("{}:{}\n", value.size(), value);
  }
}

std::string DigestOfArguments(const Json& line) {
  const Json* arguments = line.Find("arguments");
  if (arguments == nullptr || arguments->IsNull()) return "";
  std::string text;
  AppendValues(*arguments, &text);
  return Sha256HexOf(text);
}

std::optional<double> ScoreOf(const Json& json) {
  if (json.kind() == Json::Kind::kBool) return json.AsBool() ? 1.0 : 0.0;
  if (json.IsNull()) return std::nullopt;
  const auto number = PrintedOf(json);
  return number ? std::optional(number->value) : std::nullopt;
}

std::string DigestOfAnswer(const Json& line) {
  const Json* answer = FirstOf(line, kAnswers);
  if (answer == nullptr || ScoreOf(*answer)) return "";
  std::string text;  // numbers as texts: versions of one program differ in it
  AppendValues(*answer, &text);
  return Sha256HexOf(text);
}

bool IsScoreName(std::string_view name) {
  const auto is_in = [&](const auto& list) { return std::ranges::find(list, name) != list.end(); };
  return !is_in(kIds) && !is_in(kPrompts) && name != "arguments" && !is_in(kTargets) &&
         !is_in(kClusters) && KindOfCurve(name) != CurveKind::kResource;
}

std::map<std::string, double> ScoresOf(const Json& line) {
  std::map<std::string, double> scores;
  const auto add = [&](const std::string& name, const Json* value) {
    const auto score = value == nullptr ? std::nullopt : ScoreOf(*value);
    if (score) scores[name] = *score;
  };
  const Json* named = line.Find("metrics");
  if (named != nullptr && named->IsArray()) {
    for (const Json& name : named->AsArray()) {
      if (name.kind() == Json::Kind::kString) add(name.AsString(), line.Find(name.AsString()));
    }
    return scores;
  }
  for (const auto& [name, value] : line.AsObject()) {
    if (IsScoreName(name)) add(name, &value);
  }
  return scores;
}

// "gsm8k" of samples_gsm8k_2026-11-20T08-00-00.123.jsonl; "" of other names.
std::string TaskOf(std::string_view file) {
  if (!file.starts_with(kSamples) || !file.ends_with(".jsonl")) return "";
  file.remove_prefix(kSamples.size());
  file.remove_suffix(std::string_view(".jsonl").size());
  const auto date = file.rfind("_20");
  return std::string(date == file.npos || date == 0 ? file : file.substr(0, date));
}

Status AddItem(const Json& line, EvalTask* items) {
  if (!line.IsObject()) {
    return InvalidInput(fmt::format("expected an object, found {}", line.KindName()));
  }
  const Json* id = FirstOf(line, kIds);
  if (id == nullptr) {
    return InvalidInput("no identifier; expected a member such as doc_id, sample_id or id");
  }
  std::string name = TextOf(*id);
  const Json* filter = line.Find("filter");
  if (filter != nullptr && TextOf(*filter) != "none") name += " (" + TextOf(*filter) + ")";
  // Some versions write an item once per filter without its name.
  const bool filtered = filter == nullptr && line.Find("filtered_resps") != nullptr;
  for (int i = 2; filtered && items->contains(name); ++i) {
    name = fmt::format("{} (filter {})", TextOf(*id), i);
  }
  const Json* cluster = FirstOf(line, kClusters);
  EvalItem item{ScoresOf(line),           cluster == nullptr ? "" : TextOf(*cluster),
                DigestOf(line, kPrompts), DigestOfArguments(line),
                DigestOf(line, kTargets), DigestOfAnswer(line)};
  if (!items->try_emplace(name, std::move(item)).second) {
    return InvalidInput(fmt::format("item {} is there twice", QuoteForError(name)));
  }
  if (items->size() > kMostItems) {
    return InvalidInput(fmt::format("more than {} items", kMostItems));
  }
  return {};
}

Status ReadItems(std::string_view text, std::string_view file, EvalTask* items) {
  for (std::size_t number = 1; !text.empty(); ++number) {
    const auto end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.find_first_not_of(" \t\r") == line.npos) continue;
    const std::string where = fmt::format("{}: line {}", file, number);
    if (line.size() > kMostLineBytes) {
      return InvalidInput(
          fmt::format("a line of {} bytes; at most {} are read", line.size(), kMostLineBytes),
          where);
    }
    ASSIGN_OR_RETURN(const Json json, ParseJsonWithNonFinite(line, where));
    if (const Status added = AddItem(json, items); !added.ok()) {
      return InvalidInput(added.error().message, where);
    }
  }
  return {};
}

// "none" where nothing was applied: null, false and "" by version.
std::string SettingOf(const Json& value) {
  const std::string text = value.IsNull() ? "" : TextOf(value);
  return text.empty() || text == "false" ? "none" : text;
}

// Members of results_DATE.json that say what was asked, and with what.
void AddResults(const Json& results, EvalItems* items) {
  const auto add = [&](Layer layer, std::string key, std::string value, FactWeight weight) {
    items->facts.push_back({layer, std::move(key), std::move(value), weight});
  };
  const auto add_known = [&](Layer layer, std::string_view group, const Json& from,
                             std::initializer_list<const char*> names) {
    for (const char* name : names) {
      const Json* value = from.Find(name);
      if (value == nullptr || value->IsNull()) continue;
      add(layer, fmt::format("{}.{}", group, name), TextOf(*value), FactWeight::kContext);
    }
  };
  for (const auto& [member, key] : {std::pair{"versions", "version"}, {"n-shot", "few_shot"}}) {
    const Json* tasks = results.Find(member);
    if (tasks == nullptr || !tasks->IsObject()) continue;
    for (const auto& [task, value] : tasks->AsObject()) {
      if (!items->tasks.contains(task) || value.IsNull()) continue;
      add(Layer::kData, fmt::format("evaluation.{}.{}", task, key), TextOf(value),
          FactWeight::kIdentity);
    }
  }
  for (const char* name :
       {"chat_template_sha", "system_instruction_sha", "fewshot_as_multiturn",
        "tokenizer_pad_token", "tokenizer_eos_token", "tokenizer_bos_token", "eot_token_id"}) {
    const Json* value = results.Find(name);
    if (value == nullptr) continue;
    add(Layer::kData, fmt::format("evaluation.{}", name), SettingOf(*value), FactWeight::kIdentity);
  }
  add_known(Layer::kCode, "evaluation", results,
            {"model_name_sanitized", "model_source", "git_hash"});
  add_known(Layer::kEnvironment, "software", results, {"transformers_version", "lm_eval_version"});
  const Json* config = results.Find("config");
  if (config == nullptr || !config->IsObject()) return;
  add_known(Layer::kCode, "evaluation", *config,
            {"model_args", "model_revision", "model_sha", "model_dtype"});
  add_known(Layer::kEnvironment, "evaluation", *config, {"batch_size", "device"});
}

// Whether a name is that of a tokenizer's vocabulary, without settings that say where it was.
bool IsTokenizer(std::string_view name) {
  constexpr std::array<std::string_view, 7> kNames = {
      "tokenizer.json", "tokenizer.model", "spiece.model",       "vocab.json",
      "vocab.txt",      "merges.txt",      "chat_template.jinja"};
  return std::ranges::find(kNames, name) != kNames.end();
}

// The last file of each task, and the last results, by their names' dates.
struct EvalFiles {
  std::map<std::string, std::string> samples;
  std::string results;
  std::map<std::string, std::string> tokenizer;  // by name, the first of each
};

void TakeLater(const std::string& relative, std::string* last) {
  const auto name = [](const std::string& path) { return fs::path(path).filename().string(); };
  if (name(*last) < name(relative)) *last = relative;
}

Result<EvalFiles> FilesIn(const SourceFolder& folder, const CountsAsItems& counts) {
  EvalFiles files;
  RETURN_IF_ERROR(
      folder.ForEachFile([&](const std::string& relative, EntryKind kind) -> Result<bool> {
        const std::string name = fs::path(relative).filename().string();
        if (kind != EntryKind::kFile || (counts && !counts(relative))) return true;
        const std::string task = TaskOf(name);
        if (!task.empty()) TakeLater(relative, &files.samples[task]);
        if (name.starts_with("results_") && name.ends_with(".json")) {
          TakeLater(relative, &files.results);
        }
        if (IsTokenizer(name)) files.tokenizer.try_emplace(name, relative);
        return true;
      }));
  return files;
}

// The first line, if it is an object with an identifier, and neither a step nor a schema.
std::optional<Json> FirstItem(std::string_view head) {
  if (head.starts_with("\xef\xbb\xbf")) head.remove_prefix(3);
  auto json = ParseJsonWithNonFinite(head.substr(0, head.find('\n')), "");
  if (!json.ok() || !json->IsObject() || json->Find("schema") != nullptr ||
      FirstOf(*json, kIds) == nullptr || FirstOf(*json, kSteps) != nullptr) {
    return std::nullopt;
  }
  return std::move(*json);
}

}  // namespace

bool IdLess::operator()(const std::string& a, const std::string& b) const {
  const auto is_number = [](const std::string& id) {
    return !id.empty() && std::ranges::all_of(id, [](char c) { return c >= '0' && c <= '9'; });
  };
  const bool numbers = is_number(a) && is_number(b);
  if (is_number(a) != is_number(b)) return is_number(a);
  if (numbers && a.size() != b.size()) return a.size() < b.size();
  return a < b;
}

bool LooksLikeEvalItems(const fs::path& file, std::string_view head) {
  if (!TaskOf(file.filename().string()).empty()) return true;
  const std::optional<Json> line = FirstItem(head);
  return line && !ScoresOf(*line).empty();
}

bool LooksLikeAnswerTexts(std::string_view head) {
  const std::optional<Json> line = FirstItem(head);
  return line && !DigestOfAnswer(*line).empty();
}

bool HoldsEvalItems(const fs::path& folder) {
  const auto any = [](const fs::path& in, const auto& is_one) {
    std::error_code error;
    for (fs::directory_iterator at(in, error); !error && at != fs::directory_iterator();
         at.increment(error)) {
      if (is_one(*at)) return true;
    }
    return false;
  };
  const auto is_file = [](const fs::directory_entry& entry) {
    return !TaskOf(entry.path().filename().string()).empty();
  };
  return any(folder, is_file) || any(folder, [&](const fs::directory_entry& entry) {
           std::error_code error;
           return entry.is_directory(error) && !entry.is_symlink(error) &&
                  any(entry.path(), is_file);
         });
}

Result<EvalItems> ParseEvalItems(std::string_view text, std::string_view file) {
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  EvalItems items;
  auto& task = items.tasks[TaskOf(fs::path(file).filename().string())];
  RETURN_IF_ERROR(ReadItems(text, file, &task));
  if (task.empty()) return InvalidInput("no item; expected JSON Lines", std::string(file));
  return items;
}

Result<EvalItems> LoadEvalItems(const fs::path& path) {
  ASSIGN_OR_RETURN(const SourceFolder source, SourceFolder::Open(path.string()));
  return LoadEvalItems(source);
}

Result<EvalItems> LoadEvalItems(const SourceFolder& folder, const CountsAsItems& counts) {
  const fs::path path = folder.path() / folder.file();
  if (!folder.file().empty()) {
    if (counts && !counts(folder.file())) return NotFound("was not written", path.string());
    ASSIGN_OR_RETURN(const std::string text,
                     folder.folder().ReadFile(folder.file(), kMostFileBytes));
    return ParseEvalItems(text, path.string());
  }
  ASSIGN_OR_RETURN(const EvalFiles files, FilesIn(folder, counts));
  if (files.samples.empty()) return NotFound("holds no samples_*.jsonl", path.string());
  EvalItems items;
  for (const auto& [task, file] : files.samples) {
    ASSIGN_OR_RETURN(const std::string text, folder.folder().ReadFile(file, kMostFileBytes));
    RETURN_IF_ERROR(ReadItems(text, (path / file).string(), &items.tasks[task]));
  }
  if (!files.results.empty()) {
    ASSIGN_OR_RETURN(const std::string text,
                     folder.folder().ReadFile(files.results, kMostFileBytes));
    ASSIGN_OR_RETURN(const Json results,
                     ParseJsonWithNonFinite(text, (path / files.results).string()));
    if (results.IsObject()) AddResults(results, &items);
  }
  for (const auto& [name, file] : files.tokenizer) {
    ASSIGN_OR_RETURN(const FileDigest digest, folder.folder().HashFile(file));
    items.facts.push_back(
        {Layer::kData, "evaluation.tokenizer." + name, digest.sha256, FactWeight::kIdentity});
  }
  return items;
}

}  // namespace rharness
