// What a folder of Orbax holds, and its arrays as tensors; see orbax.h.
#include "compare/weights/orbax.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <optional>

#include "compare/weights/checkpoint_folder.h"
#include "compare/weights/names.h"
#include "compare/weights/subfolders.h"
#include "compare/weights/union_checkpoint.h"
#include "compare/weights/zarr_arrays.h"
#include "harness/base/json.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kTree = "_METADATA";
constexpr std::array<std::string_view, 5> kOrbaxAsides = {
    kTree, "_sharding", "_CHECKPOINT_METADATA", "commit_success.txt", "array_metadatas"};
// In the order in which they stand for a folder: of a step, of an item in files.
constexpr std::array<std::string_view, 3> kOrbaxIndexes = {kOcdbtManifest, "_CHECKPOINT_METADATA",
                                                           kTree};
constexpr std::uint64_t kMostTreeBytes = std::uint64_t{256} << 20;

// The path through which a folder is listed.
Result<std::pair<fs::path, std::optional<HeldFolder>>> Listed(
    const fs::path& folder, const std::shared_ptr<const HeldFolder>& below) {
  std::pair<fs::path, std::optional<HeldFolder>> listed(folder, std::nullopt);
  if (below == nullptr) return listed;
  ASSIGN_OR_RETURN(listed.second, below->OpenFolder(folder.lexically_relative(below->path())));
  listed.first = listed.second->through();
  return listed;
}

bool HasArray(const fs::path& folder) {
  std::error_code ignored;
  return fs::exists(folder / ".zarray", ignored) || fs::exists(folder / "zarr.json", ignored);
}

// Subfolders, and whether one of them is an array.
struct Subfolders {
  std::vector<std::string> names;  // sorted
  bool array = false;
};

Subfolders SubfoldersOf(const fs::path& listed) {
  Subfolders subfolders;
  std::error_code failed, ignored;
  for (fs::directory_iterator entry(listed, failed);
       !failed && entry != fs::directory_iterator() && subfolders.names.size() < kMaxFolderEntries;
       entry.increment(failed)) {
    if (!entry->is_directory(ignored) || entry->is_symlink(ignored)) continue;
    subfolders.names.push_back(entry->path().filename().string());
    subfolders.array |= !subfolders.array && HasArray(entry->path());
  }
  std::ranges::sort(subfolders.names);
  return subfolders;
}

bool IsItem(const fs::path& listed) {
  std::error_code ignored;
  return fs::exists(listed / kOcdbtManifest, ignored) || SubfoldersOf(listed).array;
}

// The names in the saved tree, by the names of arrays: "params/dense/kernel" of
// "params.dense.kernel".
using TreeNames = std::map<std::string, std::string, std::less<>>;

Result<TreeNames> ReadTreeNames(const InputFile& file) {
  if (file.size_bytes() > kMostTreeBytes) {
    return Unsupported(
        fmt::format("{} bytes; expected at most {}", file.size_bytes(), kMostTreeBytes),
        file.name());
  }
  std::string text(file.size_bytes(), '\0');
  RETURN_IF_ERROR(file.ReadAt(0, std::as_writable_bytes(std::span(text))));
  ASSIGN_OR_RETURN(const Json json, ParseJson(text, file.name()));
  const Json* tree = json.Find("tree_metadata");
  if (tree == nullptr || !tree->IsObject()) {
    return InvalidInput("expected JSON with tree_metadata", file.name());
  }
  TreeNames names;
  for (const auto& [unused, leaf] : tree->AsObject()) {
    const Json* path = leaf.Find("key_metadata");
    if (path == nullptr || !path->IsArray()) continue;
    std::string array, name;
    for (const Json& step : path->AsArray()) {
      const Json* key = step.Find("key");
      if (key == nullptr) continue;
      const bool text_key = key->kind() == Json::Kind::kString;
      const std::string part = text_key ? key->AsString() : key->Dump();
      array += (array.empty() ? "" : ".") + part;
      name += (name.empty() ? "" : "/") + part;
    }
    names[array] = name;
  }
  return names;
}

class OrbaxItemReader {
 public:
  OrbaxItemReader(const fs::path& folder, const std::shared_ptr<const HeldFolder>& below)
      : folder_(folder), below_(below) {}

  Result<std::unique_ptr<Checkpoint>> Open() {
    ASSIGN_OR_RETURN(const auto listed, Listed(folder_, below_));
    std::error_code ignored;
    const bool database = fs::exists(listed.first / kOcdbtManifest, ignored);
    KeyValues store;
    if (database) {
      ASSIGN_OR_RETURN(store, ReadOcdbt(folder_, below_));
    } else {
      RETURN_IF_ERROR(ListArrays(listed.first, &store));
    }
    TreeNames names;
    if (fs::exists(listed.first / kTree, ignored)) {
      ASSIGN_OR_RETURN(InputFile tree, InputFile::Open(folder_ / kTree, nullptr, below_));
      ASSIGN_OR_RETURN(names, ReadTreeNames(tree));
      parts_.keep.push_back(std::move(tree));
    }
    const auto name_of = [&](std::string_view array) {
      const auto name = names.find(array);
      return name == names.end() ? std::string(array) : name->second;
    };
    std::set<std::string, std::less<>> used;
    ASSIGN_OR_RETURN(parts_.tensors, FindZarrArrays(store, name_of, &used));
    if (database) RETURN_IF_ERROR(AddLeftKeys(store, used));
    RETURN_IF_ERROR(AddFiles(listed.first, database, used));
    parts_.files = std::move(store.files);
    return MakeChunkedCheckpoint(std::move(parts_));
  }

 private:
  // Arrays as folders of files: keys are paths below the item.
  Status ListArrays(const fs::path& listed, KeyValues* store) const {
    const auto pool = std::make_shared<DescriptorPool>();
    for (const std::string& array : SubfoldersOf(listed).names) {
      if (!HasArray(listed / array)) continue;
      std::error_code failed, ignored;
      for (fs::recursive_directory_iterator entry(listed / array, failed);
           !failed && entry != fs::recursive_directory_iterator(); entry.increment(failed)) {
        if (entry->is_directory(ignored)) continue;
        if (store->values.size() == kMaxOcdbtKeys) {
          return Unsupported(fmt::format("more than {} files", kMaxOcdbtKeys), folder_.string());
        }
        const std::string key = entry->path().lexically_relative(listed).string();
        ASSIGN_OR_RETURN(InputFile file, InputFile::Open(folder_ / key, pool, below_));
        store->files.push_back(std::make_unique<const InputFile>(std::move(file)));
        const InputFile* opened = store->files.back().get();
        store->values[key] = {.file = opened, .size_bytes = opened->size_bytes()};
      }
      if (failed) return IoErrorFromErrno("cannot list", failed.value(), folder_.string());
    }
    return {};
  }

  // Values of a database that belong to no array.
  Status AddLeftKeys(const KeyValues& store, const std::set<std::string, std::less<>>& used) {
    for (const auto& [key, value] : store.values) {
      if (used.contains(key)) continue;
      UnreadPart part{.name = key,
                      .why = "is a value of the database that belongs to no array",
                      .begin = value.begin,
                      .size_bytes = value.size_bytes};
      if (value.file == nullptr) {
        part.content = *value.memory;
        part.begin = part.size_bytes = 0;
      } else {
        part.file = std::make_shared<const InputFile>(*value.file);
      }
      parts_.unread.push_back(std::move(part));
    }
    return {};
  }

  // Files of the item beside its arrays.
  Status AddFiles(const fs::path& listed, bool database,
                  const std::set<std::string, std::less<>>& used) {
    std::error_code failed, ignored;
    std::size_t count = 0;
    for (fs::recursive_directory_iterator entry(listed, failed);
         !failed && entry != fs::recursive_directory_iterator(); entry.increment(failed)) {
      const fs::path relative = entry->path().lexically_relative(listed);
      const std::string first = relative.begin()->string();
      const bool stored = database && (first == "d" || first == kOcdbtManifest ||
                                       first.starts_with("ocdbt.process_"));
      if (stored || std::ranges::find(kOrbaxAsides, first) != kOrbaxAsides.end()) {
        if (entry->is_directory(ignored)) entry.disable_recursion_pending();
        continue;
      }
      if (entry->is_directory(ignored) || used.contains(relative.string())) continue;
      if (++count > kMaxFolderEntries) {
        return Unsupported(fmt::format("more than {} files", kMaxFolderEntries), folder_.string());
      }
      ASSIGN_OR_RETURN(const InputFile file, InputFile::Open(folder_ / relative, nullptr, below_));
      ASSIGN_OR_RETURN(UnreadPart part,
                       PassedOver(relative, file, "lies beside the arrays and is not read"));
      parts_.unread.push_back(std::move(part));
    }
    if (failed) return IoErrorFromErrno("cannot list", failed.value(), folder_.string());
    return {};
  }

  const fs::path& folder_;
  const std::shared_ptr<const HeldFolder>& below_;
  ChunkedParts parts_;
};

// The subfolders of a step that are items.
std::vector<std::string> ItemsOf(const fs::path& listed) {
  std::vector<std::string> items = SubfoldersOf(listed).names;
  std::erase_if(items, [&](const std::string& name) { return !IsItem(listed / name); });
  return items;
}

// A number, perhaps after a prefix: the folder of a step. One that is not finished has another
// name.
std::optional<std::uint64_t> StepOf(std::string_view name) {
  if (name.find(".orbax-checkpoint-tmp") != name.npos) return std::nullopt;
  const std::size_t last = name.find_last_not_of("0123456789");
  const std::string_view digits = name.substr(last == name.npos ? 0 : last + 1);
  std::uint64_t step = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), step);
  if (digits.empty() || error != std::errc()) return std::nullopt;
  return step;
}
bool IsStepName(std::string_view name) { return StepOf(name).has_value(); }

// Subfolders that are steps, the highest last.
std::vector<std::string> StepsIn(const fs::path& listed) {
  std::vector<std::string> steps = SubfoldersOf(listed).names;
  std::erase_if(steps, [&](const std::string& name) {
    std::error_code ignored;
    return !IsStepName(name) || !(fs::exists(listed / name / "_CHECKPOINT_METADATA", ignored) ||
                                  IsItem(listed / name) || !ItemsOf(listed / name).empty());
  });
  std::ranges::stable_sort(steps, {}, &StepOf);
  return steps;
}

Result<std::unique_ptr<Checkpoint>> OpenStep(const fs::path& folder, const fs::path& listed,
                                             const std::shared_ptr<const HeldFolder>& below) {
  const std::vector<std::string> items = ItemsOf(listed);
  std::vector<CheckpointPart> parts;
  for (const std::string& item : items) {
    const fs::path path = folder / item;
    ASSIGN_OR_RETURN(auto checkpoint, OrbaxItemReader(path, below).Open());
    parts.push_back({item, items.size() == 1 ? "" : item + "/", std::move(checkpoint)});
  }
  std::vector<UnreadPart> unread;
  ASSIGN_OR_RETURN(std::vector<UnreadPart> deeper, PartsInSubfolders(folder, below));
  for (UnreadPart& part : deeper) {
    const std::string first = fs::path(part.name).begin()->string();
    if (std::ranges::find(items, first) != items.end()) continue;
    if (std::ranges::find(kOrbaxAsides, first) != kOrbaxAsides.end()) continue;
    part.why = "is an item that is not read";
    unread.push_back(std::move(part));
  }
  ASSIGN_OR_RETURN(auto whole, UnionCheckpoint::Make(std::move(parts), {}, {}, std::move(unread),
                                                     folder.string()));
  return std::unique_ptr<Checkpoint>(std::move(whole));
}

// `steps`: as StepsIn lists them.
Result<std::unique_ptr<Checkpoint>> OpenLatest(const fs::path& folder,
                                               const std::vector<std::string>& steps,
                                               const std::shared_ptr<const HeldFolder>& below) {
  std::vector<CheckpointPart> parts;
  ASSIGN_OR_RETURN(auto step, OpenOrbax(folder / steps.back(), below));
  parts.push_back({steps.back(), "", std::move(step)});
  std::vector<UnreadPart> unread;
  for (const std::string& name : steps) {
    if (name == steps.back()) continue;
    unread.push_back({.name = name,
                      .why = fmt::format("is another step than {}, the latest, which was read",
                                         Quoted(steps.back())),
                      .file = {},
                      .content = {},
                      .kind = PartKind::kAside});
  }
  ASSIGN_OR_RETURN(auto whole, UnionCheckpoint::Make(std::move(parts), {{"step", steps.back()}}, {},
                                                     std::move(unread), folder.string()));
  return std::unique_ptr<Checkpoint>(std::move(whole));
}

}  // namespace

std::optional<std::string> LatestOrbaxStep(const fs::path& folder,
                                           const std::shared_ptr<const HeldFolder>& below) {
  const auto listed = Listed(folder, below);
  std::error_code ignored;
  if (!listed.ok() || IsItem(listed->first) ||
      fs::exists(listed->first / "_CHECKPOINT_METADATA", ignored)) {
    return std::nullopt;
  }
  const std::vector<std::string> items = ItemsOf(listed->first);
  if (!std::ranges::all_of(items, IsStepName)) return std::nullopt;  // a step of several items
  const std::vector<std::string> steps = StepsIn(listed->first);
  return steps.empty() ? std::nullopt : std::optional(steps.back());
}

bool IsOrbax(const fs::path& folder, const std::shared_ptr<const HeldFolder>& below) {
  const auto listed = Listed(folder, below);
  if (!listed.ok()) return false;
  if (IsItem(listed->first)) return true;
  std::error_code ignored;
  const bool step = fs::exists(listed->first / "_CHECKPOINT_METADATA", ignored);
  const std::vector<std::string> items = ItemsOf(listed->first);
  // Subfolders that are items make a step, unless they are steps themselves.
  return step || (!items.empty() && !std::ranges::all_of(items, IsStepName));
}

bool IsOrbaxIndex(std::string_view name) {
  return std::ranges::find(kOrbaxIndexes, name) != kOrbaxIndexes.end();
}

std::optional<std::string> OrbaxIndexOf(const fs::path& folder) {
  if (!IsOrbax(folder)) return std::nullopt;
  for (const std::string_view name : kOrbaxIndexes) {
    std::error_code ignored;
    if (fs::is_regular_file(folder / name, ignored)) return std::string(name);
  }
  return std::nullopt;
}

Result<std::vector<std::string>> OrbaxFiles(const fs::path& folder, std::string_view index,
                                            const std::shared_ptr<const HeldFolder>& below) {
  ASSIGN_OR_RETURN(const auto listed, Listed(folder, below));
  std::vector<std::string> files;
  std::error_code failed, ignored;
  for (fs::recursive_directory_iterator entry(listed.first, failed);
       !failed && entry != fs::recursive_directory_iterator(); entry.increment(failed)) {
    if (entry->is_directory(ignored)) continue;
    const std::string name = entry->path().lexically_relative(listed.first).string();
    if (name == index) continue;
    if (files.size() == kMaxFolderEntries) {
      return Unsupported(fmt::format("has more than {} files", kMaxFolderEntries), folder.string());
    }
    files.push_back(name);
  }
  if (failed) return IoErrorFromErrno("cannot list", failed.value(), folder.string());
  std::ranges::sort(files);
  return files;
}

Result<std::unique_ptr<Checkpoint>> OpenOrbax(const fs::path& folder,
                                              const std::shared_ptr<const HeldFolder>& below) {
  ASSIGN_OR_RETURN(const auto listed, Listed(folder, below));
  if (IsItem(listed.first)) return OrbaxItemReader(folder, below).Open();
  if (const auto latest = LatestOrbaxStep(folder, below)) {
    return OpenLatest(folder, StepsIn(listed.first), below);
  }
  return OpenStep(folder, listed.first, below);
}

}  // namespace rharness
