// Reproducibility records as teams keep them beside their runs: run_id, code.git_sha, container,
// data with content=, hardware, seeds, hyperparams, output_model.
#include <fmt/format.h>

#include <array>

#include "harness/base/files.h"
#include "harness/records/intake/clean.h"
#include "harness/records/intake/importers.h"
#include "harness/records/intake/json_items.h"

namespace rharness {
namespace {

constexpr std::uint64_t kMostBytes = std::uint64_t{64} << 20;

std::string TextOf(const Json* json) {
  if (json == nullptr || json->IsNull()) return "";
  if (json->kind() == Json::Kind::kString) return json->AsString();
  return json->IsObject() || json->IsArray() ? "" : json->Dump();
}

std::string TextOf(const Json& object, std::string_view key) { return TextOf(object.Find(key)); }

// By its form alone, since its content may be a secret.
void TellShape(std::string_view path, const Json& value, std::string_view expected,
               ImportedRun* run) {
  const bool is_text = value.kind() == Json::Kind::kString;
  const std::string_view form = value.IsObject()  ? "an object"
                                : value.IsArray() ? "a list"
                                : is_text         ? "a text"
                                                  : "a number or truth value";
  run->Remark(fmt::format("{}: {} is not read; expected {}", CleanText(path, 256), form, expected));
}

// f(name, value) of each member of `object`, which the record has under `path`.
template <class F>
void ForMembers(std::string_view path, const Json* object, ImportedRun* run, F f) {
  if (object == nullptr || object->IsNull()) return;
  if (!object->IsObject()) return TellShape(path, *object, "an object", run);
  for (const auto& [name, value] : object->AsObject()) f(name, value);
}

// Members of an object under `path` (empty: the record itself) that nothing here reads.
void TellUnread(std::string_view path, const Json& object,
                std::initializer_list<std::string_view> known, ImportedRun* run) {
  for (const auto& [name, value] : object.AsObject()) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    const std::string full = path.empty() ? name : fmt::format("{}.{}", path, name);
    run->Remark(fmt::format("the member {} is not read", QuotedShort(full)));
  }
}

bool IsRecord(const Json& json) {
  if (!json.IsObject() || json.Find("run_id") == nullptr || json.Find("schema") != nullptr) {
    return false;
  }
  constexpr std::array<std::string_view, 6> kTelling = {"code",  "container",   "data",
                                                        "seeds", "hyperparams", "output_model"};
  return std::any_of(kTelling.begin(), kTelling.end(),
                     [&](std::string_view key) { return json.Find(key) != nullptr; });
}

void SetCode(const Json* code, ImportedRun* run) {
  if (code == nullptr || code->IsNull()) return;
  if (!code->IsObject()) return TellShape("code", *code, "an object with git_sha and repo", run);
  TellUnread("code", *code, {"git_sha", "repo", "repository", "dirty"}, run);
  run->SetCommit(TextOf(*code, "git_sha"), Exact("code.git_sha"));
  for (const char* key : {"repo", "repository"}) {
    run->SetRepository(TextOf(*code, key), Exact(fmt::format("code.{}", key)));
  }
  const Json* dirty = code->Find("dirty");
  if (dirty != nullptr && dirty->kind() == Json::Kind::kBool) {
    run->SetDirty(dirty->AsBool(), "", Exact("code.dirty"));
  }
}

// "content=sha256:HEX" or "sha256:HEX" or HEX; other algorithms are no pin.
void SetContent(std::string_view content, DataItem* item) {
  constexpr std::string_view kContent = "content=", kSha256 = "sha256:";
  if (content.starts_with(kContent)) content.remove_prefix(kContent.size());
  const auto hex =
      CleanHex(content.starts_with(kSha256) ? content.substr(kSha256.size()) : content);
  if (hex && hex->size() == 64) {
    item->sha256 = *hex;
  } else {
    item->other_digest = content;
  }
}

void AddItem(const std::string& name, const Json& value, const std::string& from,
             ImportedRun* run) {
  DataItem item;
  item.name = name;
  if (value.IsObject()) {
    TellUnread(from, value, {"path", "name", "content", "size_bytes"}, run);
    item.path = TextOf(value, "path");
    if (item.name.empty()) item.name = TextOf(value, "name");
    if (item.name.empty()) item.name = item.path;
    SetContent(TextOf(value, "content"), &item);
    const Json* size = value.Find("size_bytes");
    if (size != nullptr) item.size_bytes = size->ToUint64().value_or(0);
  } else {
    const std::string text = TextOf(&value);
    const auto content = text.find("content=");
    item.path = text.substr(
        0, text.find_last_not_of(' ', content == text.npos ? text.npos : content - 1) + 1);
    if (content == 0) item.path.clear();
    if (content != text.npos) SetContent(std::string_view(text).substr(content), &item);
    if (item.name.empty()) item.name = item.path;
  }
  run->AddData(std::move(item), Exact(from));
}

void SetData(const Json* data, ImportedRun* run) {
  if (data != nullptr && data->IsArray()) {
    for (std::size_t i = 0; i < data->AsArray().size(); ++i) {
      AddItem("", data->AsArray()[i], fmt::format("data[{}]", i), run);
    }
    return;
  }
  ForMembers("data", data, run, [&](const std::string& name, const Json& value) {
    AddItem(name, value, "data." + name, run);
  });
}

// A list of models, or a number of them with the model beside it.
void SetGpus(const Json& hardware, ImportedRun* run) {
  constexpr std::uint64_t kMostGpus = 1024;
  const std::string model = TextOf(hardware, "gpu");
  const Json* gpus = hardware.Find("gpus");
  if (gpus == nullptr || gpus->IsNull()) {
    if (!model.empty()) run->AddGpu(model, 0, Hint("hardware.gpu", "how many is not said"));
    return;
  }
  if (gpus->IsArray()) {
    for (const Json& gpu : gpus->AsArray()) {
      run->AddGpu(gpu.IsObject() ? TextOf(gpu, "model") : TextOf(&gpu), 0, Exact("hardware.gpus"));
    }
    return;
  }
  const auto count = gpus->ToUint64();
  if (!count || *count > kMostGpus || (model.empty() && *count > 0)) {
    return TellShape("hardware.gpus", *gpus,
                     "a list of models, or at most 1024 with their model as hardware.gpu", run);
  }
  const Worth worth = Exact("hardware.gpu, hardware.gpus");
  for (std::uint64_t i = 0; i < *count; ++i) run->AddGpu(model, 0, worth);
}

void SetHardware(const Json* hardware, ImportedRun* run) {
  if (hardware == nullptr || hardware->IsNull()) return;
  if (!hardware->IsObject()) {
    return TellShape("hardware", *hardware, "an object with cpu, gpu and gpus", run);
  }
  TellUnread("hardware", *hardware, {"cpu", "architecture", "gpu", "gpus"}, run);
  run->SetCpu(TextOf(*hardware, "cpu"), TextOf(*hardware, "architecture"), Exact("hardware.cpu"));
  SetGpus(*hardware, run);
}

// With an end, or with how long it took.
void SetTimes(const Json& json, ImportedRun* run) {
  const auto time = [&](const char* key) {
    const std::string text = TextOf(json, key);
    const auto parsed = ParseTime(text);
    if (!text.empty() && !parsed.ok()) {
      run->Remark(
          fmt::format("{}: {} is no time; expected YYYY-MM-DDTHH:MM:SSZ", key, QuotedShort(text)));
    }
    return parsed.ok() ? *parsed : WallTime{};
  };
  const WallTime started = time("started"), ended = time("ended");
  const Json* duration = json.Find("duration_seconds");
  const auto seconds = duration == nullptr ? std::nullopt : duration->ToDouble();
  constexpr double kMostSeconds = 1e9;
  if (started == WallTime{} || ended != WallTime{} || !seconds || !(*seconds >= 0) ||
      *seconds > kMostSeconds) {
    return run->SetTimes(started, ended, Exact("started, ended"));
  }
  run->SetTimes(started,
                started + std::chrono::duration_cast<WallTime::duration>(Seconds(*seconds)),
                Exact("started, duration_seconds"));
}

void SetCommand(const Json* command, ImportedRun* run) {
  if (command == nullptr) return;
  if (!command->IsArray()) {
    return run->Remark(
        "command: is one text, which a shell would have to split; expected an array of arguments");
  }
  std::vector<std::string> argv;
  for (const Json& argument : command->AsArray()) argv.push_back(TextOf(&argument));
  run->SetCommand(std::move(argv), Exact("command"));
}

void SetModel(const Json* model, ImportedRun* run) {
  if (model == nullptr) return;
  Artifact artifact;
  artifact.role = "weights";
  if (model->IsObject()) TellUnread("output_model", *model, {"path", "sha256"}, run);
  artifact.path = model->IsObject() ? TextOf(*model, "path") : TextOf(model);
  if (artifact.path.empty()) return;
  std::string digest = model->IsObject() ? TextOf(*model, "sha256") : "";
  if (digest.starts_with("sha256:")) digest.erase(0, 7);
  artifact.sha256 = digest;
  run->AddArtifact(std::move(artifact), Exact("output_model"));
}

ImportedRun RunOf(const Json& json, const ImportRequest& request) {
  ImportedRun run("record", request.source, TextOf(json, "run_id"));
  run.SetFamily(TextOf(json, "family"), Exact("family"));
  SetTimes(json, &run);
  SetCode(json.Find("code"), &run);
  const Json* container = json.Find("container");
  if (container != nullptr && (container->IsObject() || container->IsArray())) {
    TellShape("container", *container, "an image's name", &run);
  }
  run.SetImage(TextOf(container), Exact("container"));
  SetData(json.Find("data"), &run);
  SetCommand(json.Find("command"), &run);
  SetHardware(json.Find("hardware"), &run);
  ForMembers("env", json.Find("env"), &run, [&](const std::string& name, const Json& value) {
    run.SetVariable(name, TextOf(&value), Exact("env." + name));
  });
  ForMembers("seeds", json.Find("seeds"), &run, [&](const std::string& name, const Json& value) {
    run.SetSeed(name, TextOf(&value), Exact("seeds." + name));
  });
  ForMembers("hyperparams", json.Find("hyperparams"), &run,
             [&](const std::string& name, const Json& value) {
               run.SetHyperparameter(name, value, Exact("hyperparams." + name));
             });
  ForMembers("metrics", json.Find("metrics"), &run,
             [&](const std::string& name, const Json& value) {
               if (const auto number = value.ToDouble()) {
                 run.AddMetric(name, *number, Exact("metrics." + name));
               } else {
                 TellShape("metrics." + name, value, "a number", &run);
               }
             });
  SetModel(json.Find("output_model"), &run);
  TellUnread(
      "", json,
      {"run_id", "family", "code", "container", "data", "command", "hardware", "env", "seeds",
       "hyperparams", "metrics", "output_model", "started", "ended", "duration_seconds"},
      &run);
  return run;
}

}  // namespace

bool IsPlainRecord(const std::string& source) {
  auto items = JsonItems::Open(source, kMostBytes);
  if (!items.ok()) return false;
  // One that is malformed is no reason to leave the others.
  for (int i = 0; i < 8; ++i) {
    auto item = items->Next();
    if (!item.ok() || !*item) return false;
    if ((*item)->json.ok()) return IsRecord(*(*item)->json);
  }
  return false;
}

Status ImportPlainRecords(const ImportRequest& request, const ImportSink& sink) {
  ASSIGN_OR_RETURN(JsonItems items, JsonItems::Open(request.source, kMostBytes));
  std::size_t taken = 0;
  while (!request.should_cancel || !request.should_cancel()) {
    auto item = items.Next();
    if (!item.ok() && item.error().code == ErrorCode::kInvalidInput && taken > 0) {
      sink.refuse(item.error().where, InvalidInput(item.error().message, ""));
      break;
    }
    if (!item.ok()) return item.error();
    if (!*item) break;
    const JsonItem& one = **item;
    if (!one.json.ok()) {
      sink.refuse(one.where, InvalidInput(one.json.error().message, ""));
      continue;
    }
    if (!one.json->IsObject() || TextOf(*one.json, "run_id").empty()) {
      sink.refuse(one.where, InvalidInput("no run_id; expected an object with one", ""));
      continue;
    }
    if (!request.Wants(TextOf(*one.json, "run_id"))) continue;
    RETURN_IF_ERROR(sink.take(RunOf(*one.json, request)));
    ++taken;
  }
  if (taken == 0) return NotFound("holds no such run", request.source);
  return {};
}

}  // namespace rharness
