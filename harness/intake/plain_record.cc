// Reproducibility records as teams keep them beside their runs: run_id, code.git_sha, container,
// data with content=, hardware, seeds, hyperparams, output_model.
#include <fmt/format.h>

#include <array>

#include "harness/base/files.h"
#include "harness/intake/clean.h"
#include "harness/intake/importers.h"
#include "harness/intake/json_items.h"

namespace rharness {
namespace {

constexpr std::uint64_t kMostBytes = std::uint64_t{64} << 20;

std::string TextOf(const Json* json) {
  if (json == nullptr || json->IsNull()) return "";
  if (json->kind() == Json::Kind::kString) return json->AsString();
  return json->IsObject() || json->IsArray() ? "" : json->Dump();
}

std::string TextOf(const Json& object, std::string_view key) { return TextOf(object.Find(key)); }

// f(name, value) of each member; nothing for what is no object.
template <class F>
void ForMembers(const Json* object, F f) {
  if (object == nullptr || !object->IsObject()) return;
  for (const auto& [name, value] : object->AsObject()) f(name, value);
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
  if (code == nullptr || !code->IsObject()) return;
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
  if (data == nullptr) return;
  if (data->IsArray()) {
    for (std::size_t i = 0; i < data->AsArray().size(); ++i) {
      AddItem("", data->AsArray()[i], fmt::format("data[{}]", i), run);
    }
  }
  ForMembers(data, [&](const std::string& name, const Json& value) {
    AddItem(name, value, "data." + name, run);
  });
}

void SetHardware(const Json* hardware, ImportedRun* run) {
  if (hardware == nullptr || !hardware->IsObject()) return;
  run->SetCpu(TextOf(*hardware, "cpu"), TextOf(*hardware, "architecture"), Exact("hardware.cpu"));
  const Json* gpus = hardware->Find("gpus");
  if (gpus != nullptr && gpus->IsArray()) {
    for (const Json& gpu : gpus->AsArray()) {
      run->AddGpu(gpu.IsObject() ? TextOf(gpu, "model") : TextOf(&gpu), 0, Exact("hardware.gpus"));
    }
  }
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
  artifact.path = model->IsObject() ? TextOf(*model, "path") : TextOf(model);
  if (artifact.path.empty()) return;
  std::string digest = model->IsObject() ? TextOf(*model, "sha256") : "";
  if (digest.starts_with("sha256:")) digest.erase(0, 7);
  artifact.sha256 = digest;
  run->AddArtifact(std::move(artifact), Exact("output_model"));
}

void RemarkUnknown(const Json& json, ImportedRun* run) {
  constexpr std::array<std::string_view, 14> kKnown = {
      "run_id", "family", "code",        "container", "data",         "command", "hardware",
      "env",    "seeds",  "hyperparams", "metrics",   "output_model", "started", "ended"};
  for (const auto& [name, value] : json.AsObject()) {
    if (std::find(kKnown.begin(), kKnown.end(), name) == kKnown.end()) {
      run->Remark(fmt::format("the member {} is not read", QuotedShort(name)));
    }
  }
}

ImportedRun RunOf(const Json& json, const ImportRequest& request) {
  ImportedRun run("record", request.source, TextOf(json, "run_id"));
  run.SetFamily(TextOf(json, "family"), Exact("family"));
  const auto started = ParseTime(TextOf(json, "started"));
  const auto ended = ParseTime(TextOf(json, "ended"));
  run.SetTimes(started.ok() ? *started : WallTime{}, ended.ok() ? *ended : WallTime{},
               Exact("started, ended"));
  SetCode(json.Find("code"), &run);
  run.SetImage(TextOf(json, "container"), Exact("container"));
  SetData(json.Find("data"), &run);
  SetCommand(json.Find("command"), &run);
  SetHardware(json.Find("hardware"), &run);
  ForMembers(json.Find("env"), [&](const std::string& name, const Json& value) {
    run.SetVariable(name, TextOf(&value), Exact("env." + name));
  });
  ForMembers(json.Find("seeds"), [&](const std::string& name, const Json& value) {
    run.SetSeed(name, TextOf(&value), Exact("seeds." + name));
  });
  ForMembers(json.Find("hyperparams"), [&](const std::string& name, const Json& value) {
    run.SetHyperparameter(name, value, Exact("hyperparams." + name));
  });
  ForMembers(json.Find("metrics"), [&](const std::string& name, const Json& value) {
    if (const auto number = value.ToDouble())
      run.AddMetric(name, *number, Exact("metrics." + name));
  });
  SetModel(json.Find("output_model"), &run);
  RemarkUnknown(json, &run);
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
