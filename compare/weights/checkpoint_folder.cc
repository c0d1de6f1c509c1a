// Sorts a folder's names, then opens an unambiguous checkpoint.
#include "compare/weights/checkpoint_folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>

#include "compare/weights/foreign_formats.h"
#include "compare/weights/names.h"
#include "compare/weights/onnx.h"
#include "compare/weights/open_checkpoint.h"
#include "compare/weights/orbax.h"
#include "compare/weights/saved_model.h"
#include "compare/weights/sharded.h"
#include "compare/weights/side_files.h"
#include "compare/weights/subfolders.h"
#include "compare/weights/tf_checkpoint.h"
#include "compare/weights/torch_distributed.h"
#include "compare/weights/union_checkpoint.h"
#include "compare/weights/weight_sets.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSafetensors = ".safetensors";
constexpr std::string_view kTfIndexEnding = ".index";
constexpr std::string_view kTfStateFile = "checkpoint";  // names the latest of several indexes

// At most ten names of a list, for a message.
std::string Some(const std::vector<std::string>& names) {
  constexpr std::size_t kNamed = 10;
  std::vector<std::string> quoted;
  for (std::size_t i = 0; i < std::min(names.size(), kNamed); ++i)
    quoted.push_back(Quoted(names[i]));
  const std::size_t more = names.size() - quoted.size();
  return fmt::format("{}{}", fmt::join(quoted, ", "),
                     more == 0 ? "" : fmt::format(" and {} more", more));
}

// The files of an ONNX model's external data.
Status AddDataOf(const InputFile& file, std::vector<std::string>* files) {
  if (!file.name().ends_with(".onnx")) return {};
  ASSIGN_OR_RETURN(std::vector<std::string> data, OnnxDataFiles(file));
  std::ranges::move(data, std::back_inserter(*files));
  return {};
}

bool IsReadError(const Error& error) {
  return error.code == ErrorCode::kIo || error.code == ErrorCode::kIntegrity;
}

std::vector<std::string> AllOf(const FolderContents& contents) {
  std::vector<std::string> names;
  if (contents.distributed) names.push_back(".metadata");
  for (const auto* list : {&contents.indexes, &contents.safetensors, &contents.others}) {
    names.insert(names.end(), list->begin(), list->end());
  }
  return names;
}

constexpr std::string_view kExpectedFolder =
    "expected one *.index.json, a .metadata file, one checkpoint file, or *.safetensors files that "
    "belong together";

// Weights of a folder, and the files that make them up.
struct WeightSet {
  std::string name;  // of its file or index
  std::unique_ptr<Checkpoint> checkpoint;
  std::vector<std::string> files;
};

class FolderReader {
 public:
  FolderReader(const fs::path& folder, const FolderContents& contents,
               const std::shared_ptr<const HeldFolder>& below)
      : folder_(folder), contents_(contents), below_(below) {}

  Result<std::unique_ptr<Checkpoint>> Open();
  Result<std::optional<std::string>> LatestIndex() const;

 private:
  Result<InputFile> OpenFile(const std::string& name) const {
    return InputFile::Open(folder_ / name, pool_, below_);
  }
  Result<WeightSet> OpenIndex(const std::string& name) const;
  Result<WeightSet> OpenMain() const;
  Status AddIndexes();
  Status AddBeside(const std::string& name);
  Status AddPart(const std::string& name, const InputFile& file, std::string why);
  Status AddSet(WeightSet set);
  Status AddFiles(const WeightSet& set, const std::string& why, PartKind kind);

  const fs::path& folder_;
  const FolderContents& contents_;
  const std::shared_ptr<const HeldFolder>& below_;
  const std::shared_ptr<DescriptorPool> pool_ = std::make_shared<DescriptorPool>();
  WeightSet main_;
  std::set<std::string> taken_;  // files of a set
  std::vector<CheckpointPart> parts_;
  std::vector<UnreadPart> unread_;
};

Result<WeightSet> FolderReader::OpenIndex(const std::string& name) const {
  WeightSet set{name, nullptr, {}};
  ASSIGN_OR_RETURN(InputFile index, InputFile::Open(folder_ / name, nullptr, below_));
  if (name.ends_with(kTfIndexEnding)) {
    ASSIGN_OR_RETURN(set.checkpoint, OpenTfCheckpoint(std::move(index), &set.files));
  } else {
    ASSIGN_OR_RETURN(set.checkpoint, OpenShardIndex(std::move(index), &set.files));
  }
  return set;
}

// The index that TensorFlow's state file names, if it is there.
Result<std::optional<std::string>> FolderReader::LatestIndex() const {
  if (!std::ranges::binary_search(contents_.rest, kTfStateFile))
    return std::optional<std::string>();
  ASSIGN_OR_RETURN(const InputFile state, OpenFile(std::string(kTfStateFile)));
  std::string text(std::min<std::uint64_t>(state.size_bytes(), 65'536), '\0');
  RETURN_IF_ERROR(state.ReadAt(0, std::as_writable_bytes(std::span(text))));
  std::optional<std::string> latest = LatestTfIndex(text);
  if (latest && !std::ranges::binary_search(contents_.indexes, *latest)) latest.reset();
  return latest;
}

// The checkpoint of the folder: as declared, as loaders choose, or all files.
Result<WeightSet> FolderReader::OpenMain() const {
  WeightSet main;
  if (contents_.declared() && contents_.distributed) {
    main.name = ".metadata";
    ASSIGN_OR_RETURN(main.checkpoint, OpenTorchDistributed(folder_, below_, &main.files));
    return main;
  }
  main.files = AllOf(contents_);
  const auto first = contents_.distributed ? std::nullopt : FirstForLoaders(main.files);
  if (first && first->ends_with(".index.json")) return OpenIndex(*first);
  if (!first && contents_.declared()) return OpenIndex(contents_.indexes.front());
  ASSIGN_OR_RETURN(const auto latest, LatestIndex());
  if (!first && latest) return OpenIndex(*latest);
  if (first) main.files = {*first};
  if (main.files.size() == 1) {
    main.name = main.files.front();
    ASSIGN_OR_RETURN(InputFile file, InputFile::Open(folder_ / main.name, nullptr, below_));
    RETURN_IF_ERROR(AddDataOf(file, &main.files));
    ASSIGN_OR_RETURN(main.checkpoint, OpenCheckpointFile(std::move(file)));
    return main;
  }
  if (contents_.safetensors.size() == main.files.size()) {
    std::vector<fs::path> paths;
    for (const std::string& name : main.files) paths.push_back(folder_ / name);
    ASSIGN_OR_RETURN(main.checkpoint, OpenUnion(paths, below_));
    return main;
  }
  return InvalidInput(fmt::format("is a folder with {}; {}, or name one of its files",
                                  Some(main.files), kExpectedFolder),
                      folder_.string());
}

// Indexes of other sets. An unreadable one is a leftover: its shards are gone.
Status FolderReader::AddIndexes() {
  for (const std::string& name : contents_.indexes) {
    if (name == main_.name) continue;
    Result<WeightSet> set = OpenIndex(name);
    if (set.ok() && name.ends_with(kTfIndexEnding) && main_.name.ends_with(kTfIndexEnding)) {
      taken_.insert(set->files.begin(), set->files.end());
      RETURN_IF_ERROR(AddFiles(*set,
                               fmt::format("it is another checkpoint than {}, which TensorFlow "
                                           "names as the latest",
                                           Quoted(main_.name)),
                               PartKind::kAside));
      continue;
    }
    if (set.ok()) {
      RETURN_IF_ERROR(AddSet(std::move(*set)));
      continue;
    }
    if (IsReadError(set.error())) return set.error();
    ASSIGN_OR_RETURN(const InputFile file, OpenFile(name));
    RETURN_IF_ERROR(AddPart(name, file, set.error().message));
  }
  return {};
}

// A further file beside the checkpoint: tensors, or an unread part.
Status FolderReader::AddBeside(const std::string& name) {
  auto file = OpenFile(name);
  if (!file.ok()) {
    // A broken link, a pipe: nothing that could be looked into.
    if (IsReadError(file.error())) return file.error();
    unread_.push_back({.name = name, .why = file.error().message});
    return {};
  }
  const SideFile side = SideFileOf(name);
  if (side == SideFile::kContext || side == SideFile::kModel) return AddPart(name, *file, {});
  auto beside = OpenCheckpointFile(*file);
  if (beside.ok()) {
    WeightSet set{name, std::move(*beside), {}};
    RETURN_IF_ERROR(AddDataOf(*file, &set.files));
    return AddSet(std::move(set));
  }
  return AddPart(name, *file, beside.error().message);
}

Status FolderReader::AddPart(const std::string& name, const InputFile& file, std::string why) {
  ASSIGN_OR_RETURN(UnreadPart part, PassedOver(name, file, std::move(why)));
  unread_.push_back(std::move(part));
  return {};
}

// Tensors beside those of the folder belong to it as well; with equal names they are a copy, or
// another model.
Status FolderReader::AddSet(WeightSet set) {
  taken_.insert(set.files.begin(), set.files.end());
  ASSIGN_OR_RETURN(SetComparison sets, CompareSets(*main_.checkpoint, *set.checkpoint));
  if (sets.relation == SetRelation::kApart && IsForOtherLoader(set.name)) {
    sets = {SetRelation::kOther, "its tensors have other names"};
  }
  switch (sets.relation) {
    case SetRelation::kRepeats:
      return AddFiles(set, fmt::format("it holds the tensors of {} once more", Quoted(main_.name)),
                      PartKind::kAside);
    case SetRelation::kOther:
      return AddFiles(set,
                      fmt::format("two sets of weights lie in one folder, {}, which loaders take, "
                                  "and {}: {}",
                                  Quoted(main_.name), Quoted(set.name), sets.words),
                      PartKind::kSecondSet);
    case SetRelation::kApart:
      break;
  }
  std::string prefix = set.name + "/";
  parts_.push_back({std::move(set.name), std::move(prefix), std::move(set.checkpoint)});
  return {};
}

Status FolderReader::AddFiles(const WeightSet& set, const std::string& why, PartKind kind) {
  std::vector<std::string> files = set.files;
  files.push_back(set.name);
  for (const std::string& name : files) {
    ASSIGN_OR_RETURN(const InputFile file, OpenFile(name));
    unread_.push_back({.name = name,
                       .why = why,
                       .file = std::make_shared<const InputFile>(file),
                       .size_bytes = file.size_bytes(),
                       .content = {},
                       .kind = kind});
  }
  return {};
}

Result<std::unique_ptr<Checkpoint>> FolderReader::Open() {
  ASSIGN_OR_RETURN(main_, OpenMain());
  taken_.insert(main_.files.begin(), main_.files.end());
  RETURN_IF_ERROR(AddIndexes());
  for (const auto* list :
       {&contents_.safetensors, &contents_.others, &contents_.foreign, &contents_.rest}) {
    for (const std::string& name : *list) {
      if (!taken_.contains(name)) RETURN_IF_ERROR(AddBeside(name));
    }
  }
  ASSIGN_OR_RETURN(std::vector<UnreadPart> deeper, PartsInSubfolders(folder_, below_));
  std::ranges::move(deeper, std::back_inserter(unread_));
  if (parts_.empty() && unread_.empty()) return std::move(main_.checkpoint);
  parts_.insert(parts_.begin(), {"the checkpoint itself", "", std::move(main_.checkpoint)});
  ASSIGN_OR_RETURN(auto whole, UnionCheckpoint::Make(std::move(parts_), {}, {}, std::move(unread_),
                                                     folder_.string()));
  return std::unique_ptr<Checkpoint>(std::move(whole));
}

}  // namespace

bool FolderContents::empty() const {
  return !distributed && indexes.empty() && safetensors.empty() && others.empty();
}

bool FolderContents::declared() const {
  return distributed ? indexes.empty() : indexes.size() == 1;
}

namespace {

// Whether an index of this name lies beside its data.
bool IsTfIndexName(std::string_view name, const std::vector<std::string>& names) {
  if (!name.ends_with(kTfIndexEnding)) return false;
  name.remove_suffix(kTfIndexEnding.size());
  const std::string data = fmt::format("{}.data-00000-of-", name);
  return std::ranges::any_of(names, [&](std::string_view each) { return each.starts_with(data); });
}

}  // namespace

FolderContents SortContents(const std::vector<std::string>& names) {
  FolderContents contents;
  for (const std::string& name : names) {
    if (name == ".metadata") {
      contents.distributed = true;
    } else if (name.ends_with(".index.json") || IsTfIndexName(name, names)) {
      contents.indexes.push_back(name);
    } else if (name.ends_with(kSafetensors)) {
      contents.safetensors.push_back(name);
    } else if (IsCheckpointName(name)) {
      contents.others.push_back(name);
    } else {
      const bool known = MayBeCheckpointName(name) || !ForeignFormatByName(name).empty();
      (known ? contents.foreign : contents.rest).push_back(name);
    }
  }
  if (contents.empty()) {
    // Not std::ranges, whose result clang 14 cannot compile with this library.
    const auto weak =
        std::stable_partition(contents.foreign.begin(), contents.foreign.end(),
                              [](const std::string& name) { return !MayBeCheckpointName(name); });
    contents.others.assign(weak, contents.foreign.end());
    contents.foreign.erase(weak, contents.foreign.end());
  }
  for (auto* list : {&contents.indexes, &contents.safetensors, &contents.others, &contents.foreign,
                     &contents.rest}) {
    std::ranges::sort(*list);
  }
  return contents;
}

Result<FolderContents> ListFolder(const fs::path& folder) {
  std::error_code failed;
  fs::directory_iterator entries(folder, failed);
  if (failed == std::errc::no_such_file_or_directory) {
    return NotFound("no such folder", folder.string());
  }
  std::vector<std::string> names;
  for (; !failed && entries != fs::directory_iterator(); entries.increment(failed)) {
    if (names.size() == kMaxFolderEntries) {
      return Unsupported(fmt::format("has more than {} entries", kMaxFolderEntries),
                         folder.string());
    }
    std::error_code unknown;
    if (!entries->is_directory(unknown)) names.push_back(entries->path().filename().string());
  }
  if (failed) return IoErrorFromErrno("cannot list", failed.value(), folder.string());
  return SortContents(names);
}

Result<fs::path> MainFileOf(const fs::path& path) {
  std::error_code ignored;
  if (!fs::is_directory(path, ignored)) return path;
  ASSIGN_OR_RETURN(const FolderContents contents, ListFolder(path));
  if (IsSavedModel(contents, path)) return path / kSavedModelIndex;
  if (contents.empty()) {
    if (const auto index = OrbaxIndexOf(path)) return path / *index;
    if (const auto step = LatestOrbaxStep(path)) return MainFileOf(path / *step);
    return InvalidInput("is a folder without a checkpoint; expected a file", path.string());
  }
  ASSIGN_OR_RETURN(const auto latest, FolderReader(path, contents, nullptr).LatestIndex());
  if (latest) return path / *latest;
  for (const auto* names : {&contents.indexes, &contents.safetensors, &contents.others}) {
    if (names->size() == 1) return path / names->front();
    if (!names->empty()) {
      return InvalidInput(
          fmt::format("is a folder that holds {}; expected the one that is meant", Some(*names)),
          path.string());
    }
  }
  Abort("contents that are neither empty nor in a list");
}

Result<std::unique_ptr<Checkpoint>> OpenCheckpointFolder(
    const fs::path& folder, const std::shared_ptr<const HeldFolder>& below) {
  fs::path listed = folder;
  std::optional<HeldFolder> held;
  if (below != nullptr) {
    ASSIGN_OR_RETURN(held, below->OpenFolder(folder.lexically_relative(below->path())));
    listed = held->through();
  }
  ASSIGN_OR_RETURN(const FolderContents contents, ListFolder(listed));
  if (IsSavedModel(contents, listed)) return OpenSavedModel(folder, below);
  if (contents.empty() && (IsOrbax(folder, below) || LatestOrbaxStep(folder, below))) {
    return OpenOrbax(folder, below);
  }
  if (contents.empty()) {
    return NotFound(fmt::format("is a folder without a checkpoint; {}", kExpectedFolder),
                    folder.string());
  }
  return FolderReader(folder, contents, below).Open();
}

}  // namespace rharness
