// Readers of DVC's files: YAML, INI and JSON into plain structures.
#include "harness/records/intake/dvc_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>

#include "harness/base/digest.h"
#include "harness/base/files.h"
#include "harness/base/shown_url.h"
#include "harness/base/utf8.h"
#include "harness/net/yaml.h"
#include "harness/records/intake/clean.h"
#include "harness/records/intake/imported_run.h"
#include "harness/records/intake/loose_json.h"

namespace rharness {
namespace {

constexpr std::string_view kDirectory = ".dir";

bool IsMd5Hex(std::string_view text) {
  return text.size() == 32 && text.find_first_not_of("0123456789abcdef") == text.npos;
}

Result<Json> ReadYamlObject(std::string_view text, const std::string& file) {
  ASSIGN_OR_RETURN(Json json, ParseYamlAsJson(text, file, YamlScalars::kDvc));
  if (!json.IsObject()) return InvalidInput("expected a mapping", file);
  return json;
}

Result<DvcEntry> ReadEntry(const Json& json, const std::string& where) {
  const Json* path = json.Find("path");
  if (path == nullptr || path->kind() != Json::Kind::kString || path->AsString().empty()) {
    return InvalidInput("expected a mapping with a path", where);
  }
  DvcEntry entry;
  entry.path = path->AsString();
  for (const char* name : {"md5", "etag", "checksum"}) {
    entry.hash = LooseText(json, name);
    if (entry.hash.empty()) continue;
    entry.algorithm = name;
    break;
  }
  if (entry.algorithm == "md5") {
    // Before DVC 3 the kind of hash was not stated.
    if (json.Find("hash") == nullptr) entry.algorithm = "md5-dos2unix";
    entry.directory = entry.hash.ends_with(kDirectory);
    if (entry.directory) entry.hash.resize(entry.hash.size() - kDirectory.size());
    if (!IsMd5Hex(entry.hash)) {
      return InvalidInput(
          fmt::format("md5 {}: expected 32 hexadecimal digits, and .dir of a directory",
                      QuotedShort(entry.hash)),
          where);
    }
  }
  if (const Json* size = json.Find("size")) entry.size_bytes = size->ToUint64().value_or(0);
  return entry;
}

Status ReadEntries(const Json* list, const std::string& where, std::vector<DvcEntry>* out) {
  if (list == nullptr || list->IsNull()) return {};
  if (!list->IsArray() || list->AsArray().size() > kMostDvcEntries) {
    return InvalidInput(fmt::format("expected a list of at most {} paths", kMostDvcEntries), where);
  }
  for (const Json& one : list->AsArray()) {
    ASSIGN_OR_RETURN(DvcEntry entry, ReadEntry(one, where));
    out->push_back(std::move(entry));
  }
  return {};
}

// DVC runs every line of a text in a shell of its own, like every text of a list.
void AddCommands(const Json& cmd, std::vector<std::string>* commands) {
  ForEachElement(&cmd, [&](const Json& one) {
    std::string text = LooseText(&one);
    while (!text.empty()) {
      const std::size_t end = std::min(text.find_first_of("\r\n"), text.size());
      if (end > 0) commands->push_back(text.substr(0, end));
      text.erase(0, end + 1);
    }
  });
}

Result<DvcStage> ReadStage(const std::string& name, const Json& json, const std::string& where) {
  if (!json.IsObject()) return InvalidInput("expected a mapping", where);
  DvcStage stage;
  stage.name = name;
  stage.sha256 = Sha256HexOf(json.Dump());
  if (const Json* cmd = json.Find("cmd")) AddCommands(*cmd, &stage.commands);
  RETURN_IF_ERROR(ReadEntries(json.Find("deps"), where + ".deps", &stage.deps));
  RETURN_IF_ERROR(ReadEntries(json.Find("outs"), where + ".outs", &stage.outs));
  if (const Json* params = json.Find("params")) stage.params = *params;
  return stage;
}

std::string PathIn(const Json& element, const Json** properties) {
  *properties = nullptr;
  if (element.kind() == Json::Kind::kString) return element.AsString();
  if (!element.IsObject() || element.AsObject().empty()) return "";
  *properties = &element.AsObject().front().second;
  return element.AsObject().front().first;
}

// "- path" and "- path: {x: step}"; of the whole file also "- name: {y: {path: column}}".
void AddPlot(const Json& element, std::vector<DvcPlot>* plots) {
  const Json* properties = nullptr;
  DvcPlot plot{PathIn(element, &properties), ""};
  if (properties != nullptr && properties->IsObject()) {
    plot.x = LooseText(*properties, "x");
    const Json* y = properties->Find("y");
    if (y != nullptr && y->IsObject()) {
      for (const auto& [path, column] : y->AsObject()) plots->push_back({path, plot.x});
      return;
    }
  }
  if (!plot.path.empty()) plots->push_back(std::move(plot));
}

void AddMetricPaths(const Json* list, std::vector<std::string>* metrics) {
  ForEachElement(list, [&](const Json& element) {
    const Json* unused = nullptr;
    std::string path = PathIn(element, &unused);
    if (!path.empty()) metrics->push_back(std::move(path));
  });
}

void AddPlots(const Json* list, std::vector<DvcPlot>* plots) {
  if (list != nullptr && list->IsObject()) {
    for (const auto& member : list->AsObject()) AddPlot(Json::MakeObject({member}), plots);
    return;
  }
  ForEachElement(list, [&](const Json& element) { AddPlot(element, plots); });
}

std::string_view Trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r");
  if (first == text.npos) return "";
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

std::string_view Unquoted(std::string_view text) {
  const bool quoted = text.size() > 1 && (text.front() == '"' || text.front() == '\'') &&
                      text.front() == text.back();
  return quoted ? text.substr(1, text.size() - 2) : text;
}

// By section and name, as "core.remote" and "remote \"origin\".url".
void ReadSettings(std::string_view text, std::map<std::string, std::string>* settings) {
  std::string section;
  while (!text.empty()) {
    const std::string_view whole = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), whole.size() + 1));
    const std::string_view line = Trimmed(whole);
    if (line.starts_with('[') && line.ends_with(']')) {
      section = Unquoted(Trimmed(line.substr(1, line.size() - 2)));
      continue;
    }
    const auto equals = line.find('=');
    if (line.empty() || line.front() == '#' || line.front() == ';' || equals == line.npos) continue;
    (*settings)[fmt::format("{}.{}", section, Trimmed(line.substr(0, equals)))] =
        Unquoted(Trimmed(line.substr(equals + 1)));
  }
}

// As Python's json writes a text with ensure_ascii.
std::string AsciiJson(std::string_view text) {
  std::string out = "\"";
  const auto escape = [&](char32_t unit) {
    out += fmt::format("\\u{:04x}", static_cast<unsigned>(unit));
  };
  for (std::size_t i = 0; i < text.size();) {
    const auto next = FirstUtf8(text.substr(i));
    constexpr std::string_view kNamed = "\"\\\n\r\t\f\b", kLetters = "\"\\nrtfb";
    if (!next) {
      escape(0xDC00 + static_cast<unsigned char>(text[i++]));
      continue;
    }
    i += next->bytes;
    const char32_t code = next->code;
    if (code < 0x80 && kNamed.find(static_cast<char>(code)) != kNamed.npos) {
      out += '\\';
      out += kLetters[kNamed.find(static_cast<char>(code))];
    } else if (code >= 0x20 && code <= 0x7E) {
      out += static_cast<char>(code);
    } else if (code > 0xFFFF) {
      escape(0xD800 + ((code - 0x10000) >> 10));
      escape(0xDC00 + ((code - 0x10000) & 0x3FF));
    } else {
      escape(code);
    }
  }
  return out + "\"";
}

}  // namespace

std::string DvcEntry::Digest() const {
  if (hash.empty()) return "";
  return fmt::format("{}:{}{}", algorithm, hash, directory ? kDirectory : "");
}

Result<DvcLock> ParseDvcLock(std::string_view text, const std::string& file) {
  ASSIGN_OR_RETURN(const Json json, ReadYamlObject(text, file));
  const Json* schema = json.Find("schema");
  const std::string version = schema == nullptr ? "1.0" : LooseText(schema);
  if (version != "2.0" && version != "1.0") {
    return Unsupported(fmt::format("schema {}; expected 2.0 or 1.0", QuotedShort(version)), file);
  }
  const Json* stages = schema == nullptr ? &json : json.Find("stages");
  DvcLock lock;
  if (stages == nullptr || stages->IsNull()) return lock;
  if (!stages->IsObject() || stages->AsObject().size() > kMostDvcStages) {
    return InvalidInput(fmt::format("stages: expected a mapping of at most {}", kMostDvcStages),
                        file);
  }
  for (const auto& [name, value] : stages->AsObject()) {
    const std::string where = fmt::format("{}: stages.{}", file, CleanText(name, 100));
    auto stage = ReadStage(name, value, where);
    if (stage.ok()) {
      lock.stages.push_back(std::move(*stage));
    } else {
      lock.refused.emplace_back(name, stage.error());
    }
  }
  return lock;
}

Result<DvcTracked> ParseDvcFile(std::string_view text, const std::string& file) {
  ASSIGN_OR_RETURN(const Json json, ReadYamlObject(text, file));
  if (json.Find("cmd") != nullptr) {
    return Unsupported("a stage of before DVC 1.0; expected stages in dvc.yaml and dvc.lock", file);
  }
  DvcTracked tracked;
  tracked.folder = LooseText(json, "wdir");
  RETURN_IF_ERROR(ReadEntries(json.Find("outs"), file + ": outs", &tracked.outs));
  ForEachElement(json.Find("deps"), [&](const Json& dep) {
    const std::string path = LooseText(dep, "path");
    if (IsDvcUrl(path)) tracked.url = WithoutCredentials(path);
  });
  return tracked;
}

Result<DvcPipeline> ParseDvcYaml(std::string_view text, const std::string& file) {
  ASSIGN_OR_RETURN(const Json json, ReadYamlObject(text, file));
  DvcPipeline pipeline;
  ForEachMember(json.Find("stages"), [&](const std::string& name, const Json& value) {
    const Json* inner = value.Find("do");  // of a `foreach`
    const Json& body = inner == nullptr ? value : *inner;
    DvcPipelineStage& stage = pipeline.stages[name];
    stage.folder = LooseText(body, "wdir");
    AddMetricPaths(body.Find("metrics"), &stage.metrics);
    AddPlots(body.Find("plots"), &stage.plots);
  });
  AddMetricPaths(json.Find("metrics"), &pipeline.metrics);
  AddPlots(json.Find("plots"), &pipeline.plots);
  return pipeline;
}

DvcConfig ParseDvcConfig(const std::vector<std::string>& texts) {
  std::map<std::string, std::string> settings;
  for (const std::string& text : texts) ReadSettings(text, &settings);
  DvcConfig config;
  config.cache_folder = settings["cache.dir"];
  const std::string remote = settings["core.remote"];
  if (!remote.empty()) {
    config.remote_url = WithoutCredentials(settings[fmt::format("remote \"{}\".url", remote)]);
  }
  return config;
}

Result<std::vector<DvcListed>> ParseDvcListing(std::string_view text, const std::string& file) {
  if (text.size() > kMostDvcBytes) {
    return InvalidInput(fmt::format("{} bytes; at most {} are read", text.size(), kMostDvcBytes),
                        file);
  }
  ASSIGN_OR_RETURN(const Json json, ParseJson(text, file));
  if (!json.IsArray() || json.AsArray().size() > kMostDvcListing) {
    return InvalidInput(fmt::format("expected an array of at most {} files", kMostDvcListing),
                        file);
  }
  std::vector<DvcListed> files;
  std::set<std::string_view> seen;
  files.reserve(json.AsArray().size());
  for (const Json& one : json.AsArray()) {
    DvcListed listed{LooseText(one, "relpath"), LooseText(one, "md5")};
    const auto path = SafeRelativePath(listed.path, file);
    if (!path.ok() || path->string() != listed.path || !IsMd5Hex(listed.md5)) {
      return InvalidInput(fmt::format("{}: expected relpath, a path that stays in its folder, and "
                                      "md5",
                                      QuotedShort(listed.path)),
                          file);
    }
    files.push_back(std::move(listed));
    if (!seen.insert(files.back().path).second) {
      return InvalidInput(fmt::format("{} is there twice", QuotedShort(files.back().path)), file);
    }
  }
  for (const DvcListed& one : files) {
    for (auto slash = one.path.find('/'); slash != one.path.npos;
         slash = one.path.find('/', slash + 1)) {
      const std::string_view folder = std::string_view(one.path).substr(0, slash);
      if (!seen.contains(folder)) continue;
      return InvalidInput(fmt::format("{} is a file and a folder", QuotedShort(folder)), file);
    }
  }
  return files;
}

std::string WriteDvcListing(std::vector<DvcListed> files) {
  std::ranges::sort(files, {}, &DvcListed::path);
  std::string text = "[";
  for (const DvcListed& one : files) {
    text += fmt::format("{}{{\"md5\": {}, \"relpath\": {}}}", text.size() > 1 ? ", " : "",
                        AsciiJson(one.md5), AsciiJson(one.path));
  }
  return text + "]";
}

bool IsDvcUrl(std::string_view path) { return path.find("://") != path.npos; }

}  // namespace rharness
