// Sorts a folder's names, then opens what they leave no doubt about.
#include "compare/weights/checkpoint_folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "compare/weights/foreign_formats.h"
#include "compare/weights/names.h"
#include "compare/weights/open_checkpoint.h"
#include "compare/weights/sharded.h"
#include "compare/weights/subfolders.h"
#include "compare/weights/torch_distributed.h"
#include "compare/weights/union_checkpoint.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSafetensors = ".safetensors";
constexpr std::array<std::string_view, 7> kOtherEndings = {".gguf", ".pt",  ".pth", ".bin",
                                                           ".ckpt", ".npz", ".npy"};

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

// What a folder is, and the files that make it up.
struct Main {
  std::unique_ptr<Checkpoint> checkpoint;
  std::vector<std::string> files;
};

Result<Main> OpenMain(const fs::path& folder, const FolderContents& contents,
                      const std::shared_ptr<const HeldFolder>& below) {
  Main main;
  if (contents.declared() && contents.distributed) {
    ASSIGN_OR_RETURN(main.checkpoint, OpenTorchDistributed(folder, below, &main.files));
    return main;
  }
  if (contents.declared()) {
    ASSIGN_OR_RETURN(InputFile index,
                     InputFile::Open(folder / contents.indexes.front(), nullptr, below));
    ASSIGN_OR_RETURN(main.checkpoint, OpenShardIndex(std::move(index), &main.files));
    return main;
  }
  main.files = AllOf(contents);
  if (main.files.size() == 1) {
    ASSIGN_OR_RETURN(InputFile file, InputFile::Open(folder / main.files.front(), nullptr, below));
    ASSIGN_OR_RETURN(main.checkpoint, OpenCheckpointFile(std::move(file)));
    return main;
  }
  if (contents.safetensors.size() == main.files.size()) {
    std::vector<fs::path> paths;
    for (const std::string& name : main.files) paths.push_back(folder / name);
    ASSIGN_OR_RETURN(main.checkpoint, OpenUnion(paths, below));
    return main;
  }
  return InvalidInput(fmt::format("is a folder with {}; {}, or name one of its files",
                                  Some(main.files), kExpectedFolder),
                      folder.string());
}

// A file beside what a folder is: tensors, or a part that is not read.
Status AddBeside(const fs::path& folder, const std::string& name,
                 const std::shared_ptr<DescriptorPool>& pool,
                 const std::shared_ptr<const HeldFolder>& below, std::vector<CheckpointPart>* parts,
                 std::vector<UnreadPart>* unread) {
  auto file = InputFile::Open(folder / name, pool, below);
  if (!file.ok()) {
    // A broken link, a pipe: nothing that could be looked into.
    if (file.error().code == ErrorCode::kIo || file.error().code == ErrorCode::kIntegrity) {
      return file.error();
    }
    unread->push_back({.name = name, .why = file.error().message});
    return {};
  }
  auto beside = OpenCheckpointFile(*file);
  if (beside.ok()) {
    parts->push_back({name, name + "/", std::move(*beside)});
    return {};
  }
  ASSIGN_OR_RETURN(UnreadPart part, PassedOver(name, *file, beside.error().message));
  unread->push_back(std::move(part));
  return {};
}

// Tensors that lie beside an index are no less of the folder than those that it lists.
Result<std::unique_ptr<Checkpoint>> WithFilesBeside(
    const fs::path& folder, const FolderContents& contents, Main main,
    const std::shared_ptr<const HeldFolder>& below) {
  std::vector<CheckpointPart> parts;
  std::vector<UnreadPart> unread;
  const auto pool = std::make_shared<DescriptorPool>();
  std::ranges::sort(main.files);
  for (const auto* list :
       {&contents.safetensors, &contents.others, &contents.foreign, &contents.rest}) {
    for (const std::string& name : *list) {
      if (std::ranges::binary_search(main.files, name)) continue;
      RETURN_IF_ERROR(AddBeside(folder, name, pool, below, &parts, &unread));
    }
  }
  ASSIGN_OR_RETURN(std::vector<UnreadPart> deeper, PartsInSubfolders(folder, below));
  std::ranges::move(deeper, std::back_inserter(unread));
  if (parts.empty() && unread.empty()) return std::move(main.checkpoint);
  parts.insert(parts.begin(), {"the checkpoint itself", "", std::move(main.checkpoint)});
  ASSIGN_OR_RETURN(auto whole, UnionCheckpoint::Make(std::move(parts), {}, {}, std::move(unread),
                                                     folder.string()));
  return std::unique_ptr<Checkpoint>(std::move(whole));
}

}  // namespace

bool FolderContents::empty() const {
  return !distributed && indexes.empty() && safetensors.empty() && others.empty();
}

bool FolderContents::declared() const {
  return distributed ? indexes.empty() : indexes.size() == 1;
}

bool IsCheckpointName(std::string_view name) {
  return name.ends_with(kSafetensors) ||
         std::ranges::any_of(kOtherEndings,
                             [&](std::string_view ending) { return name.ends_with(ending); });
}

FolderContents SortContents(const std::vector<std::string>& names) {
  FolderContents contents;
  for (const std::string& name : names) {
    if (name == ".metadata") {
      contents.distributed = true;
    } else if (name.ends_with(".index.json")) {
      contents.indexes.push_back(name);
    } else if (name.ends_with(kSafetensors)) {
      contents.safetensors.push_back(name);
    } else if (IsCheckpointName(name)) {
      contents.others.push_back(name);
    } else {
      (ForeignFormatByName(name).empty() ? contents.rest : contents.foreign).push_back(name);
    }
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

Result<std::unique_ptr<Checkpoint>> OpenCheckpointFolder(
    const fs::path& folder, const std::shared_ptr<const HeldFolder>& below) {
  fs::path listed = folder;
  std::optional<HeldFolder> held;
  if (below != nullptr) {
    ASSIGN_OR_RETURN(held, below->OpenFolder(folder.lexically_relative(below->path())));
    listed = held->through();
  }
  ASSIGN_OR_RETURN(const FolderContents contents, ListFolder(listed));
  if (contents.empty()) {
    return NotFound(fmt::format("is a folder without a checkpoint; {}", kExpectedFolder),
                    folder.string());
  }
  ASSIGN_OR_RETURN(Main main, OpenMain(folder, contents, below));
  return WithFilesBeside(folder, contents, std::move(main), below);
}

}  // namespace rharness
