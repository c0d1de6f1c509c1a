// Adds later statements to a manifest part by part, each a hint.
#include "harness/execution/rerun/complete.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <system_error>
#include <utility>

#include "harness/base/digest.h"
#include "harness/base/files.h"
#include "harness/execution/rerun/found_data.h"
#include "harness/execution/rerun/image_file.h"
#include "harness/execution/rerun/table_data.h"
#include "harness/execution/rerun/tensor_records.h"
#include "harness/records/manifest/packages.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

// "data[2]": for the item whose `member` is `value`.
template <class T>
std::string IndexedPath(std::string_view list, const std::vector<T>& items,
                        const std::string& value, std::string T::*member) {
  const auto found = std::ranges::find(items, value, member);
  return fmt::format("{}[{}]", list, found - items.begin());
}

// Except the data that it was measured on.
bool SaysNothingElse(const Metric& metric) {
  return metric.unit == "1" && metric.direction == MetricDirection::kNotStated && !metric.primary &&
         !metric.margin && metric.quantum == 0.0;
}

class Completing {
 public:
  Completing(Manifest* manifest, const Completion& completion, WallTime now)
      : manifest_(*manifest),
        completion_(completion),
        said_(completion.said),
        day_(FormatTime(now).substr(0, 10)) {
    if (!manifest_.origin) manifest_.origin = Origin{"record", "", manifest_.run_id, {}, {}};
    // What is filled in by hand, no later import may replace.
    for (std::string& why : std::exchange(manifest_.origin->unread, {})) {
      manifest_.origin->remarks.push_back(std::move(why));
    }
    manifest_.origin->imported_sha256.clear();
  }

  Status Run() {
    RETURN_IF_ERROR(PutImage());
    RETURN_IF_ERROR(PutOutputs());
    PutRun();
    PutRandomness();
    RETURN_IF_ERROR(PutCode());
    RETURN_IF_ERROR(PutData());
    RETURN_IF_ERROR(PutMadeBy());
    RETURN_IF_ERROR(PutArtifacts());
    RETURN_IF_ERROR(PutMetrics());
    if (completion_.here) PutHere();
    if (!said_something_ && !completion_.otherwise) {
      return InvalidInput(
          "no value was given; expected an option such as --data or a command after --",
          manifest_.run_id);
    }
    return {};
  }

 private:
  void Note(const std::string& path, std::string_view how) {
    said_something_ = true;
    auto& fields = manifest_.origin->fields;
    std::erase_if(fields, [&](const FieldOrigin& field) {
      const bool part = path.starts_with(field.path) && field.grade == Grade::kMissing;
      return field.path == path || part;
    });
    fields.push_back(
        {path, Grade::kHint, fmt::format("rharness import --complete; {} {}", how, day_)});
    std::ranges::sort(fields, {}, &FieldOrigin::path);
  }
  void Stated(const std::string& path) { Note(path, "stated on"); }
  void Hashed(const std::string& path) { Note(path, "hashed as it was on"); }

  void PutText(const std::string& text, const char* path, std::string* out) {
    if (text.empty()) return;
    *out = text;
    Stated(path);
  }

  void PutRun() {
    PutText(completion_.run_id, "run_id", &manifest_.run_id);
    PutText(said_.family, "family", &manifest_.family);
    PutText(completion_.working_directory, "working_directory", &manifest_.working_directory);
    PutText(said_.metrics_path, "metrics_path", &manifest_.metrics_path);
    if (!said_.command.empty()) {
      manifest_.command = said_.command;
      Stated("command");
    }
    if (completion_.started != WallTime{}) {
      manifest_.started = completion_.started;
      Stated("started");
    }
    if (completion_.ended != WallTime{}) {
      manifest_.ended = completion_.ended;
      Stated("ended");
    }
    if (completion_.started == WallTime{} && completion_.ended == WallTime{}) return;
    manifest_.duration_seconds = Seconds(manifest_.ended - manifest_.started).count();
  }

  void PutRandomness() {
    for (const auto& [name, seed] : said_.seeds) {
      manifest_.seeds[name] = seed;
      AddSource(name);
      Stated("seeds." + name);
    }
    for (const std::string& name : said_.rng_sources) {
      AddSource(name);
      Stated("rng_sources." + name);
    }
    for (const auto& [name, value] : said_.hyperparameters) {
      manifest_.hyperparameters[name] = value;
      Stated("hyperparameters." + name);
    }
    if (!completion_.determinism) return;
    manifest_.determinism.declared = said_.determinism.declared;
    manifest_.determinism.scope = said_.determinism.scope;
    Stated("determinism");
  }

  void AddSource(const std::string& name) {
    auto& sources = manifest_.rng_sources;
    if (std::ranges::find(sources, name) == sources.end()) sources.push_back(name);
  }

  Status PutImage() {
    if (said_.image.kind == ImageKind::kHost) return {};
    manifest_.image = said_.image;
    if (said_.image.kind != ImageKind::kOci) {
      ASSIGN_OR_RETURN(manifest_.image, CaptureImageFile(said_.image));
    }
    Stated("image");
    return {};
  }

  Status PutCode() {
    Code& code = manifest_.code;
    PutText(completion_.repository, "code.repository", &code.repository);
    PutText(completion_.commit, "code.commit", &code.commit);
    for (const std::string& path : said_.code_files) {
      ASSIGN_OR_RETURN(const FileDigest digest, HashFile(path));
      const auto same = std::ranges::find(code.files, path, &CodeFile::path);
      if (same == code.files.end()) {
        code.files.push_back({path, digest.sha256});
      } else {
        RETURN_IF_ERROR(Hold("code file", path, same->sha256, digest.sha256));
        same->sha256 = digest.sha256;
      }
      Hashed(IndexedPath("code.files", code.files, path, &CodeFile::path));
    }
    return {};
  }

  static Status Hold(std::string_view what, std::string_view name, const std::string& recorded,
                     const std::string& found) {
    if (recorded.empty() || recorded == found || recorded.size() != 64) return {};
    return InvalidInput(
        fmt::format("{} '{}' has another content than the recorded one: sha256 {}, "
                    "recorded {}",
                    what, name, found, recorded));
  }

  DataItem* Matching(const DataItem& item) {
    for (const auto member : {&DataItem::name, &DataItem::path}) {
      const auto found = std::ranges::find(manifest_.data, item.*member, member);
      if (found != manifest_.data.end()) return &*found;
    }
    return nullptr;
  }

  // What lies there today.
  Result<DataItem> Look(DataItem item) const {
    item.location = PlaceOf(item.path);
    if (IsTable(item)) {
      const fs::path path = item.path;
      ASSIGN_OR_RETURN(CapturedTable table, CaptureTable(std::move(item), path));
      return std::move(table.item);
    }
    ASSIGN_OR_RETURN(TreeDigest digest, HashTree(item.path));
    std::error_code error;
    item.kind = fs::is_directory(item.path, error) ? DataKind::kDirectory : DataKind::kFile;
    item.sha256 = std::move(digest.sha256);
    item.size_bytes = digest.size_bytes;
    // What does not fit into the record is left out of it.
    if (item.kind == DataKind::kDirectory) NoteEmptyFolders(digest.empty_folders, &item);
    return item;
  }

  Status PutData() {
    for (const DataItem& item : said_.data) {
      ASSIGN_OR_RETURN(const DataItem found, Look(item));
      DataItem* there = Matching(item);
      if (there == nullptr) there = &manifest_.data.emplace_back(item);
      RETURN_IF_ERROR(Hold("data", there->name, there->sha256, found.sha256));
      const std::string other = OtherEmptyFolders(there->empty_folders, found.empty_folders);
      if (!other.empty()) return InvalidInput(fmt::format("data '{}' {}", there->name, other));
      there->kind = found.kind;
      there->sha256 = found.sha256;
      there->size_bytes = found.size_bytes;
      if (there->kind == DataKind::kDirectory && !there->empty_folders) {
        there->empty_folders = found.empty_folders;
      }
      there->location = found.location;
      if (!found.source.empty()) there->source = found.source;
      if (!found.other_digest.empty()) there->other_digest = found.other_digest;
      Hashed(IndexedPath("data", manifest_.data, there->name, &DataItem::name));
    }
    return {};
  }

  Status PutMadeBy() {
    for (const auto& [name, made_by] : said_.made_by) {
      const auto item = std::ranges::find(manifest_.data, name, &DataItem::name);
      if (item == manifest_.data.end()) {
        return NotFound(fmt::format("the record has no data '{}'", name), "--made-by");
      }
      item->made_by = made_by;
      Stated(IndexedPath("data", manifest_.data, name, &DataItem::name) + ".made_by");
    }
    return {};
  }

  // Relative to --root if it lies below; else absolute.
  std::string PlaceOf(const std::string& path) const {
    std::error_code error;
    const fs::path whole = fs::weakly_canonical(path, error);
    if (said_.root.empty()) return whole.string();
    const fs::path below = whole.lexically_relative(fs::weakly_canonical(said_.root, error));
    return below.empty() || *below.begin() == ".." ? whole.string() : below.string();
  }

  Status PutOutputs() {
    for (const auto& [from, to] : completion_.outputs) {
      bool found = false;
      for (Artifact& artifact : manifest_.artifacts) {
        const fs::path rest = fs::path(artifact.path).lexically_relative(from);
        if (rest.empty() || *rest.begin() == "..") continue;
        found = true;
        artifact.path = (rest == "." ? fs::path(to) : fs::path(to) / rest).string();
        Stated(IndexedPath("artifacts", manifest_.artifacts, artifact.path, &Artifact::path));
      }
      if (!found) {
        return NotFound(fmt::format("the record has no output '{}'", from), "--output");
      }
    }
    std::set<std::string> paths;
    for (const Artifact& artifact : manifest_.artifacts) {
      if (paths.insert(artifact.path).second) continue;
      return InvalidInput(fmt::format("two outputs would be '{}'", artifact.path), "--output");
    }
    return {};
  }

  Status PutArtifacts() {
    for (const Artifact& said : said_.artifacts) {
      auto& artifacts = manifest_.artifacts;
      const auto same = std::ranges::find(artifacts, said.path, &Artifact::path);
      Artifact artifact = same == artifacts.end() ? said : *same;
      artifact.role = said.role;
      ASSIGN_OR_RETURN(const FileDigest digest, HashFile(said.path));
      RETURN_IF_ERROR(Hold("artifact", said.path, artifact.sha256, digest.sha256));
      artifact.sha256 = digest.sha256;
      artifact.size_bytes = digest.size_bytes;
      artifact.location = PlaceOf(said.path);
      if (IsCheckpoint(artifact)) RETURN_IF_ERROR(ReadTensorRecords(said.path, &artifact));
      if (same == artifacts.end()) {
        artifacts.push_back(std::move(artifact));
      } else {
        *same = std::move(artifact);
      }
      Hashed(IndexedPath("artifacts", artifacts, said.path, &Artifact::path));
    }
    return {};
  }

  Status PutMetrics() {
    for (const Metric& said : said_.metrics) {
      const auto there = std::ranges::find(manifest_.metrics, said.name, &Metric::name);
      if (there == manifest_.metrics.end()) {
        return NotFound(fmt::format("the record has no metric '{}'; it has {}", said.name, Names()),
                        "--metric");
      }
      if (!said.evaluated_on.empty()) {
        there->evaluated_on = said.evaluated_on;
        Stated("metrics." + said.name + ".evaluated_on");
        if (SaysNothingElse(said)) continue;
      }
      Metric told = said;
      told.value = there->value;
      told.evaluated_on = there->evaluated_on;
      *there = std::move(told);
      Stated("metrics." + said.name + ".margin");
    }
    return {};
  }

  std::string Names() const {
    std::string names;
    for (const Metric& metric : manifest_.metrics) {
      names += fmt::format("{}'{}'", names.empty() ? "" : ", ", metric.name);
      if (names.size() > 300) return names + ", ...";
    }
    return names.empty() ? "none" : names;
  }

  // Never overwrites values of the record.
  void PutHere() {
    const Environment here = CaptureEnvironment();
    Environment& recorded = manifest_.environment;
    if (recorded.variables.empty()) {
      recorded.variables = here.variables;
      Note("environment.variables", "as here on");
    }
    if (recorded.software.empty()) {
      recorded.software = here.software;
      Note("environment.software", "as here on");
    }
    if (recorded.hardware.cpu.architecture.empty()) {
      const std::string model = recorded.hardware.cpu.model;
      recorded.hardware.cpu = here.hardware.cpu;
      if (!model.empty()) recorded.hardware.cpu.model = model;
      Note("environment.hardware.cpu", "as here on");
    }
    if (recorded.hardware.gpus.empty() && recorded.hardware.gpu_driver.empty()) {
      recorded.hardware.gpus = here.hardware.gpus;
    }
    if (recorded.hardware.gpu_driver.empty() && !here.hardware.gpu_driver.empty()) {
      recorded.hardware.gpu_driver = here.hardware.gpu_driver;
      Note("environment.hardware.gpu_driver", "as here on");
    }
    if (manifest_.image.kind == ImageKind::kHost && manifest_.image.packages_sha256.empty()) {
      manifest_.image.packages_sha256 = HostPackagesSha256();
      Note("image.packages_sha256", "as here on");
    }
  }

  Manifest& manifest_;
  const Completion& completion_;
  const RecordRequest& said_;
  const std::string day_;
  bool said_something_ = false;
};

}  // namespace

Result<Manifest> CompleteManifest(Manifest manifest, const Completion& completion, WallTime now) {
  RETURN_IF_ERROR(Completing(&manifest, completion, now).Run());
  // A reader would later refuse invalid content.
  return ParseManifest(ToJson(manifest), "the completed record");
}

}  // namespace rharness
