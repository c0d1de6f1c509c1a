// RO-Crates of the Process and Workflow Run profiles: each CreateAction a run, mostly as hints.
// Source: RO-Crate 1.1; w3id.org/ro/wfrun/process 0.5.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <utility>

#include "harness/base/digest.h"
#include "harness/base/percent.h"
#include "harness/base/shown_url.h"
#include "harness/base/source_folder.h"
#include "harness/records/intake/clean.h"
#include "harness/records/intake/importers.h"
#include "harness/records/intake/local_files.h"
#include "harness/records/intake/loose_json.h"

namespace rharness {
namespace {

constexpr char kCrateMetadata[] = "ro-crate-metadata.json";
constexpr std::uint64_t kMostCrateBytes = std::uint64_t{64} << 20;

// "a%20b" as "a b"; an invalid escape stays.
class CrateRuns {
 public:
  CrateRuns(const ImportRequest& request, const SourceFolder& source, const Json& json,
            std::string digest)
      : request_(request), source_(source), digest_(std::move(digest)) {
    ForEachElement(json.Find("@graph"), [&](const Json& entity) {
      const std::string id = LooseText(entity, "@id");
      if (!id.empty()) entities_.emplace(id, &entity);
    });
  }

  Status Import(const ImportSink& sink) {
    std::size_t taken = 0;
    for (const auto& [id, entity] : entities_) {
      if (request_.should_cancel && request_.should_cancel()) return {};
      if (!HasType(*entity, "CreateAction")) continue;
      const std::string run_id = digest_ + "-" + id;
      if (!request_.Wants(run_id) && !request_.Wants(id)) continue;
      ++taken;
      RETURN_IF_ERROR(sink.take(RunOf(run_id, *entity)));
    }
    if (taken == 0) return NotFound("holds no CreateAction, and so no run", request_.source);
    return {};
  }

 private:
  static bool HasType(const Json& entity, std::string_view type) {
    bool found = false;
    ForEachElement(entity.Find("@type"),
                   [&](const Json& one) { found = found || LooseText(&one) == type; });
    return found;
  }

  // Calls f(entity) for each that a member refers to; ignores dangling references.
  template <class F>
  void ForReferred(const Json& entity, std::string_view member, F f) const {
    ForEachElement(entity.Find(member), [&](const Json& reference) {
      const auto found = entities_.find(LooseText(reference, "@id"));
      if (reference.IsObject() && found != entities_.end()) f(*found->second);
    });
  }

  ImportedRun RunOf(const std::string& id, const Json& action) {
    ImportedRun run("ro-crate", request_.source, id);
    const auto root = entities_.find("./");
    if (root != entities_.end()) {
      run.SetFamily(LooseText(*root->second, "name"), Hint("name", "the crate's"));
    }
    SetCrateTimes(action, &run);
    ForReferred(action, "instrument", [&](const Json& tool) { AddTool(tool, &run); });
    ForReferred(action, "containerImage", [&](const Json& image) { AddImage(image, &run); });
    ForReferred(action, "environment", [&](const Json& variable) {
      run.SetVariable(LooseText(variable, "name"), LooseText(variable, "value"),
                      Exact("environment"));
    });
    ForReferred(action, "object", [&](const Json& object) { AddObject(object, &run); });
    ForReferred(action, "result", [&](const Json& result) { AddResult(result, &run); });
    const std::string status =
        LooseText(action, "actionStatus") + (action.Find("actionStatus") != nullptr
                                                 ? LooseText(*action.Find("actionStatus"), "@id")
                                                 : "");
    if (status.ends_with("FailedActionStatus")) {
      run.Remark("the action failed: " + CleanText(LooseText(action, "error"), 300));
    }
    run.Remark("a crate names what ran, and not its command line, seeds and machine");
    return run;
  }

  static void SetCrateTimes(const Json& action, ImportedRun* run) {
    const auto read = [&](const char* member) {
      const std::string text = LooseText(action, member);
      const auto time = ParseTime(text);
      if (!text.empty() && !time.ok()) {
        run->Remark(fmt::format("{}: {} is no time with its offset", member, QuotedShort(text)));
      }
      return time.ok() ? *time : WallTime{};
    };
    const WallTime started = read("startTime");
    run->SetTimes(started, read("endTime"), Exact("startTime, endTime"));
  }

  static void AddTool(const Json& tool, ImportedRun* run) {
    std::string version = LooseText(tool, "softwareVersion");
    if (version.empty()) version = LooseText(tool, "version");
    const std::string repository = LooseText(tool, "codeRepository");
    run->SetRepository(repository, Hint("instrument.codeRepository", "where its code is"));
    if (const auto hex = CleanHex(version); hex && (hex->size() == 40 || hex->size() == 64)) {
      run->SetCommit(*hex, Hint("instrument", "a version that has the form of a commit"));
    }
    run->SetSoftware(LooseText(tool, "name"), version,
                     Hint("instrument", "as the crate states it"));
  }

  static void AddImage(const Json& image, ImportedRun* run) {
    std::string reference = LooseText(image, "registry");
    reference += (reference.empty() ? "" : "/") + LooseText(image, "name");
    if (const std::string tag = LooseText(image, "tag"); !tag.empty()) reference += ":" + tag;
    const std::string sha256 = LooseText(image, "sha256");
    if (IsSha256Hex(sha256)) reference += "@sha256:" + sha256;
    run->SetImage(reference, Hint("containerImage", "as the crate states it"));
  }

  // Of a file in the crate its path there, else nothing.
  static std::string PathIn(const Json& entity) {
    const std::string id = LooseText(entity, "@id");
    if (id.find("://") != id.npos || id.starts_with('#')) return "";
    return CleanRelativePath(PercentDecodedWhereEncoded(id)).value_or("");
  }

  // The SHA-256 of an entity: of the file, which must have the stated one, or the stated one.
  std::string HashOf(const Json& entity, const std::string& path, std::uint64_t* size, Worth* worth,
                     ImportedRun* run) const {
    const auto hex = CleanHex(LooseText(entity, "sha256"));
    const std::string stated = hex && IsSha256Hex(*hex) ? *hex : "";
    if (path.empty() || !request_.artifacts) return stated;
    const auto digest = source_.folder().HashFile(path);
    if (!digest.ok()) return stated;
    *size = digest->size_bytes;
    if (!stated.empty() && stated != digest->sha256) {
      run->Remark(
          fmt::format("{}: its file has sha256 {}, and the crate states {}; neither was "
                      "taken",
                      QuotedShort(path), digest->sha256, stated));
      return "";
    }
    if (stated.empty()) *worth = Hint(worth->from, "hashed as it is in the crate");
    return digest->sha256;
  }

  void AddObject(const Json& entity, ImportedRun* run) const {
    const std::string name = LooseText(entity, "name");
    if (HasType(entity, "PropertyValue")) {
      const Json* value = entity.Find("value");
      if (value != nullptr && IsJsonScalar(*value)) {
        run->SetHyperparameter(name, *value, Hint("object", "a value that the run was given"));
      }
      return;
    }
    std::string id = LooseText(entity, "@id");
    if (id.find("://") != id.npos) id = WithoutCredentials(id);
    DataItem item;
    item.path = PathIn(entity);
    item.name = item.path.empty() ? (name.empty() ? id : name) : item.path;
    item.location = item.path.empty() ? "" : (source_.path() / item.path).string();
    item.kind = HasType(entity, "Dataset") ? DataKind::kDirectory : DataKind::kFile;
    Worth worth = Exact("object " + id);
    item.sha256 = HashOf(entity, item.path, &item.size_bytes, &worth, run);
    if (id.starts_with("https://") || id.starts_with("http://")) item.source = id;
    run->AddData(std::move(item), worth);
  }

  void AddResult(const Json& entity, ImportedRun* run) const {
    if (HasType(entity, "PropertyValue")) {
      if (const auto value = LooseNumber(entity.Find("value"))) {
        run->AddMetric(LooseText(entity, "name"), *value, Hint("result", "a value of the run"));
      }
      return;
    }
    Artifact artifact;
    artifact.path = PathIn(entity);
    if (artifact.path.empty()) return;
    artifact.role = RoleByName(artifact.path);
    artifact.location = (source_.path() / artifact.path).string();
    Worth worth = Exact("result " + artifact.path);
    artifact.sha256 = HashOf(entity, artifact.path, &artifact.size_bytes, &worth, run);
    run->AddArtifact(std::move(artifact), worth);
  }

  const ImportRequest& request_;
  const SourceFolder& source_;
  const std::string digest_;  // of the metadata: two crates may have an action of one name
  std::map<std::string, const Json*> entities_;
};

}  // namespace

bool IsRoCrate(const std::string& path) {
  const auto source = SourceFolder::Open(path);
  if (!source.ok() || (!source->file().empty() && source->file() != kCrateMetadata)) return false;
  const auto head = source->ReadHead(kCrateMetadata);
  return head.ok() && head->find("ro/crate") != head->npos;
}

Status ImportRoCrate(const ImportRequest& request, const ImportSink& sink) {
  ASSIGN_OR_RETURN(const SourceFolder source, SourceFolder::Open(request.source));
  ASSIGN_OR_RETURN(const std::string text,
                   source.folder().ReadFile(kCrateMetadata, kMostCrateBytes));
  ASSIGN_OR_RETURN(const Json json, ParseJson(text, request.source));
  return CrateRuns(request, source, json, Sha256HexOf(text).substr(0, 12)).Import(sink);
}

}  // namespace rharness
