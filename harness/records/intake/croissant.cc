// Reading Croissant's JSON-LD as JSON, and putting its files into a manifest.
#include "harness/records/intake/croissant.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <system_error>
#include <utility>

#include "harness/base/digest.h"
#include "harness/base/shown_url.h"
#include "harness/records/intake/clean.h"
#include "harness/records/intake/imported_run.h"
#include "harness/records/intake/loose_json.h"
#include "harness/records/manifest/lineage.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostCroissantFiles = 10'000;
constexpr std::size_t kMostCroissantRemarks = 100;

// "cr:FileObject", "FileObject", "http://mlcommons.org/croissant/FileObject"; of several one.
bool IsOfType(const Json& object, std::string_view type) {
  bool found = false;
  ForEachElement(object.Find("@type"), [&](const Json& one) {
    const std::string text = LooseText(&one);
    found = found || text.substr(text.find_last_of(":/#") + 1) == type;
  });
  return found;
}

// A text, or the id of a referenced object.
std::string TextOrId(const Json* json) {
  if (json == nullptr) return "";
  if (json->IsObject()) return LooseText(*json, "@id");
  if (json->IsArray()) return json->AsArray().empty() ? "" : TextOrId(&json->AsArray()[0]);
  return LooseText(json);
}

std::string MemberText(const Json& object, std::string_view name) {
  const std::string text = TextOrId(object.Find(name));
  return text.empty() ? TextOrId(object.Find("sc:" + std::string(name))) : text;
}

void TellOfCroissant(std::vector<std::string>* remarks, std::string sentence) {
  if (remarks->size() < kMostCroissantRemarks) remarks->push_back(std::move(sentence));
}

// "https://host/team/etl/tree/HASH" as repository and commit.
void SplitTree(std::string_view url, MadeBy* made_by) {
  for (const std::string_view part : {"/tree/", "/commit/", "@"}) {
    const auto at = url.rfind(part);
    if (at == url.npos || !IsFullCommit(url.substr(at + part.size()))) continue;
    made_by->repository = url.substr(0, at);
    made_by->commit = url.substr(at + part.size());
    return;
  }
  made_by->repository = url;
}

// An activity's address and label, if a file or the data set has one.
// Source: Croissant 1.1, "Provenance Representation"; w3.org/TR/prov-o.
MadeBy ReadMaker(const Json& object, const MadeBy& otherwise) {
  const Json* activity = object.Find("prov:wasGeneratedBy");
  if (activity == nullptr) activity = object.Find("wasGeneratedBy");
  if (activity != nullptr && activity->IsArray() && !activity->AsArray().empty()) {
    activity = &activity->AsArray()[0];
  }
  if (activity == nullptr) return otherwise;
  MadeBy said;
  const std::string id = TextOrId(activity);
  if (id.starts_with("https://") || id.starts_with("http://")) SplitTree(id, &said);
  if (activity->IsObject()) {
    said.version = MemberText(*activity, "prov:label");
    if (said.version.empty()) said.version = MemberText(*activity, "name");
  }
  std::string refused;
  const MadeBy clean = CleanMadeBy(std::move(said), &refused);
  return clean == MadeBy() ? otherwise : clean;
}

CroissantFile ReadFileObject(const Json& object, std::string where, Croissant* croissant) {
  CroissantFile file;
  file.where = std::move(where);
  file.id = CleanText(MemberText(object, "@id"), 1024);
  file.name = CleanName(MemberText(object, "name"));
  if (file.name.empty()) {
    file.name =
        CleanName(file.id.find("://") == file.id.npos ? file.id : WithoutCredentials(file.id));
  }
  file.content_url = CleanText(MemberText(object, "contentUrl"), 4096);
  file.contained_in = CleanText(MemberText(object, "containedIn"), 1024);
  const std::string stated = CleanText(MemberText(object, "sha256"), 256);
  const auto hex = CleanHex(stated);
  if (hex && IsSha256Hex(*hex)) {
    file.sha256 = *hex;
  } else if (!stated.empty()) {
    file.stated = "croissant-sha256:" + stated;
    TellOfCroissant(
        &croissant->remarks,
        fmt::format("{} {}: its sha256 has {} characters; expected 64 hexadecimal digits, so that "
                    "it pins nothing",
                    file.where, QuotedShort(file.name), stated.size()));
  }
  file.made_by = ReadMaker(object, croissant->made_by);
  if (const std::string md5 = MemberText(object, "md5"); file.stated.empty() && !md5.empty()) {
    file.stated = "md5:" + CleanText(md5, 64);
  }
  return file;
}

bool HasScheme(std::string_view text) { return text.find("://") != text.npos; }

class CroissantUser {
 public:
  CroissantUser(const Croissant& croissant, fs::path folder, const fs::path& root, WallTime now,
                Manifest* manifest)
      : croissant_(croissant),
        folder_(std::move(folder)),
        root_(root.empty() ? fs::path(".") : root),
        day_(FormatTime(now).substr(0, 10)),
        manifest_(*manifest) {
    if (!manifest_.origin) manifest_.origin = Origin{"record", "", manifest_.run_id, {}, {}};
  }

  Result<CroissantUse> Run() {
    use_.remarks = croissant_.remarks;
    for (const CroissantFile& file : croissant_.files) RETURN_IF_ERROR(Use(file));
    auto& remarks = manifest_.origin->remarks;
    for (const std::string& remark : use_.remarks) {
      if (std::ranges::find(remarks, remark) == remarks.end()) TellOfCroissant(&remarks, remark);
    }
    return std::move(use_);
  }

 private:
  void Note(const DataItem& item, std::string_view member, const std::string& from) {
    const std::string path = fmt::format("data[{}].{}", &item - manifest_.data.data(), member);
    auto& fields = manifest_.origin->fields;
    std::erase_if(fields, [&](const FieldOrigin& field) {
      return field.path == path || (path.starts_with(field.path) && field.grade == Grade::kMissing);
    });
    fields.push_back({path, Grade::kHint, from});
    std::ranges::sort(fields, {}, &FieldOrigin::path);
  }
  std::string From(const CroissantFile& file) const {
    return fmt::format("Croissant {} {}, {}; as its publisher states it, taken on {}",
                       QuotedShort(croissant_.name), QuotedShort(croissant_.version), file.where,
                       day_);
  }

  // Its place, from the record or the Croissant: relative, or a plain name.
  static std::optional<std::string> PathOf(const CroissantFile& file) {
    if (!file.content_url.empty() && !HasScheme(file.content_url)) {
      return CleanRelativePath(file.content_url);
    }
    const std::string url = file.content_url.substr(0, file.content_url.find_first_of("?#"));
    const auto slash = url.rfind('/');
    const std::string last = slash == url.npos ? "" : url.substr(slash + 1);
    return CleanRelativePath(last.empty() ? file.name : last);
  }

  DataItem* Matching(const CroissantFile& file, const std::optional<std::string>& path) {
    auto& data = manifest_.data;
    for (DataItem& item : data) {
      if (item.name == file.name || (path && item.path == *path)) return &item;
    }
    if (!path) return nullptr;
    const fs::path name = fs::path(*path).filename();
    const auto named = [&](const DataItem& item) { return fs::path(item.path).filename() == name; };
    if (std::ranges::count_if(data, named) != 1) return nullptr;
    return &*std::ranges::find_if(data, named);
  }

  Status Use(const CroissantFile& file) {
    const auto path = PathOf(file);
    DataItem* item = Matching(file, path);
    if (item == nullptr) {
      if (!file.contained_in.empty()) return {};  // only the archive is available
      if (!path || file.name.empty()) {
        TellOfCroissant(&use_.remarks,
                        fmt::format("{}: its name or contentUrl {} cannot be a path; left out",
                                    file.where, QuotedShort(WithoutCredentials(file.content_url))));
        return {};
      }
      item = &manifest_.data.emplace_back();
      item->name = file.name;
      item->path = *path;
      item->kind = DataKind::kFile;
      Note(*item, "path", From(file));
    }
    ++use_.files;
    RETURN_IF_ERROR(PutHash(file, item));
    PutSource(file, item);
    PutMaker(file, item);
    return Verify(file, item);
  }

  Status PutHash(const CroissantFile& file, DataItem* item) {
    if (!file.sha256.empty() && item->sha256.size() == 64 && item->sha256 != file.sha256) {
      return InvalidInput(
          fmt::format("the record of data '{}' has sha256 {}, the Croissant's {} {}", item->name,
                      item->sha256, file.where, file.sha256));
    }
    if (!file.sha256.empty() && item->sha256.empty()) {
      item->sha256 = file.sha256;
      Note(*item, "sha256", From(file));
    } else if (!file.stated.empty() && item->sha256.empty() && item->other_digest.empty()) {
      item->other_digest = file.stated;
      Note(*item, "other_digest", From(file) + "; no pin");
    }
    return {};
  }

  void PutSource(const CroissantFile& file, DataItem* item) {
    const std::string& url = file.content_url;
    if (!(url.starts_with("https://") || url.starts_with("http://")) || !item->source.empty())
      return;
    if (!file.contained_in.empty()) return;
    const std::string plain = WithoutCredentials(url);
    if (plain != url) {
      TellOfCroissant(
          &use_.remarks,
          fmt::format("{}: what its contentUrl has of users and queries was left out", file.where));
    }
    item->source = plain;
    Note(*item, "source", From(file));
  }

  void PutMaker(const CroissantFile& file, DataItem* item) {
    if (item->made_by || file.made_by == MadeBy()) return;
    item->made_by = file.made_by;
    Note(*item, "made_by", From(file));
  }

  std::optional<fs::path> FileHere(const CroissantFile& file, const DataItem& item) const {
    std::vector<fs::path> places;
    if (!item.location.empty()) places.push_back(root_ / item.location);
    if (const auto path = PathOf(file)) places.push_back(folder_ / *path);
    for (const fs::path& place : places) {
      std::error_code error;
      if (fs::is_regular_file(place, error)) return place;
    }
    return std::nullopt;
  }

  Status Verify(const CroissantFile& file, DataItem* item) {
    const auto here = FileHere(file, *item);
    if (!here) return {};
    ASSIGN_OR_RETURN(const FileDigest digest, HashFile(*here));
    if (!item->sha256.empty() && item->sha256 != digest.sha256) {
      return InvalidInput(fmt::format("has sha256 {}; the Croissant's {} states {}", digest.sha256,
                                      file.where, item->sha256),
                          here->string());
    }
    if (!file.sha256.empty()) ++use_.verified;
    if (item->sha256.empty()) {
      item->sha256 = digest.sha256;
      Note(*item, "sha256",
           fmt::format("rharness import --complete; hashed as it was on {}", day_));
    }
    item->size_bytes = digest.size_bytes;
    if (item->location.empty()) item->location = Place(*here);
    return {};
  }

  // Relative to the root if it lies below; else absolute.
  std::string Place(const fs::path& path) const {
    std::error_code error;
    const fs::path whole = fs::weakly_canonical(path, error);
    const fs::path below = whole.lexically_relative(fs::weakly_canonical(root_, error));
    return below.empty() || *below.begin() == ".." ? whole.string() : below.string();
  }

  const Croissant& croissant_;
  const fs::path folder_;
  const fs::path root_;
  const std::string day_;
  Manifest& manifest_;
  CroissantUse use_;
};

}  // namespace

Result<Croissant> ParseCroissant(const Json& json, std::string_view file) {
  const Json* distribution = json.Find("distribution");
  if (distribution == nullptr) distribution = json.Find("sc:distribution");
  if (!IsOfType(json, "Dataset") || distribution == nullptr) {
    return InvalidInput("is no Croissant; expected a Dataset with a distribution",
                        std::string(file));
  }
  Croissant croissant;
  croissant.name = CleanText(MemberText(json, "name"), 256);
  croissant.version = CleanText(MemberText(json, "version"), 64);
  croissant.made_by = ReadMaker(json, {});
  std::string live = MemberText(json, "isLiveDataset");
  if (live.empty()) live = MemberText(json, "cr:isLiveDataset");
  if (live == "true" || live == "True") {
    TellOfCroissant(
        &croissant.remarks,
        "the data set is live: its files change under the same names, and a hash holds for the day "
        "on which it was taken");
  }
  std::size_t index = 0;
  std::size_t left_out = 0;
  ForEachElement(distribution, [&](const Json& one) {
    const std::string where = fmt::format("distribution[{}]", index++);
    if (IsOfType(one, "FileSet")) {
      TellOfCroissant(
          &croissant.remarks,
          fmt::format("{} {}: a FileSet ({} of {}) has no hash; expected its archive, or a folder "
                      "of its files by --data",
                      where, QuotedShort(MemberText(one, "name")),
                      QuotedShort(TextOrId(one.Find("includes"))),
                      QuotedShort(TextOrId(one.Find("containedIn")))));
    } else if (!IsOfType(one, "FileObject")) {
      TellOfCroissant(&croissant.remarks,
                      where + " is neither a FileObject nor a FileSet; left out");
    } else if (croissant.files.size() >= kMostCroissantFiles) {
      ++left_out;
    } else {
      croissant.files.push_back(ReadFileObject(one, where, &croissant));
    }
  });
  if (left_out > 0) {
    croissant.remarks.insert(
        croissant.remarks.begin(),
        fmt::format("{} files beyond {} were left out", left_out, kMostCroissantFiles));
  }
  return croissant;
}

Result<CroissantUse> ApplyCroissant(const Croissant& croissant, const fs::path& folder,
                                    const fs::path& root, WallTime now, Manifest* manifest) {
  ASSIGN_OR_RETURN(CroissantUse use, CroissantUser(croissant, folder, root, now, manifest).Run());
  ASSIGN_OR_RETURN(*manifest, ParseManifest(ToJson(*manifest), "the completed record"));
  return use;
}

}  // namespace rharness
