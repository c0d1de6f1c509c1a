// ClearML's JSON into the fields of a manifest.
#include "harness/records/intake/clearml_task.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "harness/base/digest.h"
#include "harness/base/shown_url.h"
#include "harness/records/intake/clean.h"
#include "harness/records/intake/loose_json.h"

namespace rharness {
namespace {

constexpr std::size_t kMostTold = 20;
constexpr std::size_t kMostConfigurationBytes = std::size_t{64} << 10;
constexpr std::size_t kMostPackages = 10'000;

std::string TextAt(const Json& task, std::string_view outer, std::string_view inner) {
  const Json* object = task.Find(outer);
  return object == nullptr ? "" : LooseText(*object, inner);
}

std::string_view TakeLine(std::string_view* text) {
  std::string_view line = text->substr(0, text->find('\n'));
  text->remove_prefix(std::min(text->size(), line.size() + 1));
  return line;
}

std::string_view TrimmedOf(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r");
  if (first == text.npos) return "";
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

std::vector<std::string> WordsOf(std::string_view text) {
  std::vector<std::string> words;
  while (!(text = TrimmedOf(text)).empty()) {
    const std::size_t end = std::min(text.find_first_of(" \t"), text.size());
    words.emplace_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  return words;
}

// Where no repository was found, "diff" is the program itself.
void SetStandaloneProgram(const Json& task, ImportedRun* run) {
  const std::string diff = TextAt(task, "script", "diff");
  if (diff.empty()) return;
  run->AddCodeFile(TextAt(task, "script", "entry_point"), Sha256HexOf(diff),
                   Hint("script.diff", "the program as ClearML kept it, without what it imports"));
  run->Remark("script.repository: none; the program's text is in script.diff of task.json");
}

void SetClearmlCode(const Json& task, ImportedRun* run) {
  if (TextAt(task, "script", "repository").empty()) return SetStandaloneProgram(task, run);
  run->SetRepository(TextAt(task, "script", "repository"), Exact("script.repository"));
  run->SetCommit(TextAt(task, "script", "version_num"), Exact("script.version_num"));
  const std::string diff = TextAt(task, "script", "diff");
  if (!diff.empty()) {
    run->SetDirty(true, Sha256HexOf(diff), Exact("script.diff"));
  } else {
    run->SetDirty(false, "", Hint("script.diff", "none; ClearML can be told to keep none"));
  }
}

// Its arguments are not recorded: those that argparse saw are in the section "Args", by name.
void SetClearmlCommand(const Json& task, ImportedRun* run) {
  const std::string entry = TextAt(task, "script", "entry_point");
  if (entry.empty()) return;
  const Json* sections = task.Find("hyperparams");
  const Json* args = sections == nullptr ? nullptr : sections->Find("Args");
  run->SetWorkingDirectory(TextAt(task, "script", "working_dir"), Exact("script.working_dir"));
  if (args != nullptr && args->IsObject() && !args->AsObject().empty()) {
    return run->Remark(fmt::format(
        "script.entry_point: {} had arguments, of which hyperparameters 'Args/...' are those that "
        "argparse saw, by name; the command is not recorded",
        QuotedShort(entry)));
  }
  const std::string binary = TextAt(task, "script", "binary");
  std::vector<std::string> command = {binary.empty() ? "python3" : binary};
  for (std::string& word : WordsOf(entry)) command.push_back(std::move(word));
  run->SetCommand(std::move(command), Hint("script.binary, script.entry_point",
                                           "arguments, if it had any, are not recorded"));
}

// "IMAGE ARGUMENT..." in docker_cmd, or an object.
void SetClearmlContainer(const Json& task, ImportedRun* run) {
  std::string image = TextAt(task, "container", "image");
  std::string arguments = TextAt(task, "container", "arguments");
  std::string where = "container.image";
  if (image.empty()) {
    where = "execution.docker_cmd";
    const std::string command = TextAt(task, "execution", "docker_cmd");
    const std::vector<std::string> words = WordsOf(command);
    if (words.empty()) return;
    image = words.front();
    arguments = command.substr(std::min(command.find(image) + image.size(), command.size()));
  }
  run->SetImage(image, Exact(where));
  if (!TrimmedOf(arguments).empty()) {
    run->Remark(fmt::format("{}: the engine's arguments {} were left out", where,
                            QuotedShort(TrimmedOf(arguments))));
  }
}

// By the type that ClearML notes; other texts stay texts.
Json ValueOf(const Json& parameter) {
  const std::string type = LooseText(parameter, "type"), text = LooseText(parameter, "value");
  if (type == "bool" && (text == "True" || text == "False")) return text == "True";
  if (type == "int" || type == "float") {
    auto number = ParseJson(text, "");
    if (number.ok() && number->ToDouble() && number->kind() != Json::Kind::kString) {
      return std::move(*number);
    }
  }
  return text;
}

void SetClearmlParameters(const Json& task, ImportedRun* run) {
  ForEachMember(task.Find("hyperparams"), [&](const std::string& section, const Json& values) {
    ForEachMember(&values, [&](const std::string& name, const Json& parameter) {
      run->SetHyperparameter(fmt::format("{}/{}", section, name), ValueOf(parameter),
                             Exact(fmt::format("hyperparams.{}.{}", section, name)));
    });
  });
  ForEachMember(task.Find("configuration"), [&](const std::string& name, const Json& one) {
    const std::string text = LooseText(one, "value");
    if (text.empty()) return;
    if (text.size() > kMostConfigurationBytes) {
      return run->Remark(
          fmt::format("configuration {}: {} bytes were left out; at most {} are kept",
                      QuotedShort(name), text.size(), kMostConfigurationBytes));
    }
    run->SetHyperparameter("configuration/" + name, text, Exact("configuration." + name));
  });
}

// "# Python 3.11.7 (...)" and "NAME == VERSION" a line.
void SetClearmlPackages(const Json& task, ImportedRun* run) {
  const Json* script = task.Find("script");
  const Json* requirements = script == nullptr ? nullptr : script->Find("requirements");
  if (requirements == nullptr) return;
  const Worth worth = Exact("script.requirements.pip");
  const std::string text = LooseText(*requirements, "pip");
  std::size_t others = 0, packages = 0;
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view line = TrimmedOf(TakeLine(&rest));
    constexpr std::string_view kPython = "# Python ";
    if (line.starts_with(kPython)) {
      const auto words = WordsOf(line.substr(kPython.size()));
      if (!words.empty()) run->SetSoftware("python", words.front(), worth);
    }
    if (line.empty() || line.front() == '#') continue;
    const auto equals = line.find("==");
    const std::string_view name = TrimmedOf(line.substr(0, equals));
    const bool pinned = equals != line.npos && name.find_first_of(" @[;") == name.npos;
    if (!pinned || ++packages > kMostPackages) {
      ++others;
      continue;
    }
    const auto version = WordsOf(line.substr(equals + 2));
    if (!version.empty()) run->SetSoftware(name, version.front(), worth);
  }
  if (others > 0) {
    run->Remark(fmt::format("script.requirements.pip: {} lines are no NAME == VERSION", others));
  }
}

WallTime TimeOfMilliseconds(std::int64_t milliseconds) {
  constexpr std::int64_t kMost = std::int64_t{1} << 50;
  return WallTime(std::chrono::milliseconds(std::clamp<std::int64_t>(milliseconds, 0, kMost)));
}

}  // namespace

void ClearmlEvents::Tell(std::string sentence) {
  if (remarks_.size() < kMostTold) {
    remarks_.push_back(std::move(sentence));
  } else {
    ++further_;
  }
}

void ClearmlEvents::Add(std::string_view text, const std::string& file) {
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::string_view line = TakeLine(&text);
    if (TrimmedOf(line).empty()) continue;
    const std::string where = fmt::format("{}: line {}", file, number);
    const auto events = ParseLooseJson(line, where);
    if (!events.ok() || !events->IsArray()) {
      Tell(events.ok() ? where + ": expected an array of events" : events.error().ToString());
      continue;
    }
    for (const Json& event : events->AsArray()) AddEvent(event, where);
  }
}

void ClearmlEvents::AddEvent(const Json& event, const std::string& where) {
  const Json* time = event.Find("timestamp");
  const std::int64_t milliseconds = time == nullptr ? 0 : time->ToInt64().value_or(0);
  if (milliseconds > 0) {
    first_ms_ = first_ms_ == 0 ? milliseconds : std::min(first_ms_, milliseconds);
    last_ms_ = std::max(last_ms_, milliseconds);
  }
  const std::string type = LooseText(event, "type");
  if (type == "log") {
    constexpr std::string_view kReplaced = "value encountered. Reporting it as";
    replaced_ = replaced_ || LooseText(event, "msg").find(kReplaced) != std::string::npos;
    return;
  }
  if (type != "training_stats_scalar") {
    ++others_;
    return;
  }
  const std::string metric = LooseText(event, "metric"), variant = LooseText(event, "variant");
  const auto value = LooseNumber(event.Find("value"));
  const Json* iteration = event.Find("iter");
  const auto step = iteration == nullptr ? std::nullopt : iteration->ToInt64();
  if (metric.empty() || !value || !step) {
    return Tell(where + ": a scalar without a metric, an iteration or a number");
  }
  if (metric.starts_with(":monitor:")) {
    ++of_the_machine_;
  } else if (*step == std::numeric_limits<std::int32_t>::min()) {
    singles_[variant.empty() ? metric : variant] = *value;
  } else if (++points_ > kMostClearmlPoints) {
    ++beyond_;
  } else {
    Series& series = series_[variant.empty() ? metric : fmt::format("{}/{}", metric, variant)];
    series.steps.push_back(*step);
    series.values.push_back(*value);
  }
}

void ClearmlEvents::AddTo(ImportedRun* run) const {
  run->SetTimes(TimeOfMilliseconds(first_ms_), TimeOfMilliseconds(last_ms_),
                Hint("metrics.jsonl, log.jsonl", "the first and the last that was logged"));
  for (const auto& [name, series] : series_) {
    const std::string where = "metrics.jsonl: " + name;
    const bool doubtful = replaced_ && std::ranges::count(series.values, 0.0) > 0;
    const Worth worth =
        doubtful ? Hint(where, "a 0 may stand for a value that was not finite") : Exact(where);
    // Of several at the last step the later one.
    std::size_t last = 0;
    for (std::size_t i = 0; i < series.steps.size(); ++i) {
      if (series.steps[i] >= series.steps[last]) last = i;
    }
    run->AddMetric(name, series.values[last], worth);
    if (series.steps.size() > 1) run->AddCurve(name, series.steps, series.values, worth);
  }
  for (const auto& [name, value] : singles_) {
    run->AddMetric(name, value, Exact("metrics.jsonl: Summary"));
  }
  for (const std::string& remark : remarks_) run->Remark(remark);
  const auto tell = [&](std::size_t count, std::string_view what) {
    if (count > 0) run->Remark(fmt::format("{} {}", count, what));
  };
  tell(further_, "more lines or events that could not be read");
  tell(beyond_, "values beyond the first 1000000 were left out");
  tell(of_the_machine_, "values of the machine's load (:monitor:...) were left out");
  tell(others_, "events that are no scalars (plots, images, texts) were left out");
  if (replaced_) {
    run->Remark(
        "metrics: values that were not finite were logged as another number (0 unless the "
        "program said otherwise); log.jsonl says so");
  }
}

void AddClearmlTask(const Json& task, ImportedRun* run) {
  run->SetFamily(LooseText(task, "project_name"),
                 Hint("project_name", "its tasks may differ in more than noise"));
  SetClearmlCode(task, run);
  SetClearmlCommand(task, run);
  SetClearmlContainer(task, run);
  SetClearmlParameters(task, run);
  SetClearmlPackages(task, run);
  const Json* models = task.Find("offline_output_models");
  if (models != nullptr && models->IsArray() && !models->AsArray().empty()) {
    run->Remark(
        fmt::format("{} output models are none of the session's artifacts, and were left out",
                    models->AsArray().size()));
  }
}

std::vector<ClearmlArtifact> ClearmlArtifactsOf(const Json& task) {
  std::vector<ClearmlArtifact> artifacts;
  const Json* execution = task.Find("execution");
  const std::string folder = LooseText(task, "offline_folder") + "/";
  ForEachElement(execution == nullptr ? nullptr : execution->Find("artifacts"),
                 [&](const Json& one) {
                   if (LooseText(one, "mode") == "input") return;
                   ClearmlArtifact artifact;
                   artifact.key = LooseText(one, "key");
                   const std::string uri = LooseText(one, "uri");
                   artifact.uri = WithoutCredentials(uri);
                   if (folder.size() > 1 && uri.starts_with(folder)) {
                     artifact.file = CleanRelativePath(uri.substr(folder.size())).value_or("");
                   }
                   artifact.sha256 = LooseText(one, "hash");
                   const Json* size = one.Find("content_size");
                   if (size != nullptr) artifact.size_bytes = size->ToUint64().value_or(0);
                   artifacts.push_back(std::move(artifact));
                 });
  return artifacts;
}

}  // namespace rharness
