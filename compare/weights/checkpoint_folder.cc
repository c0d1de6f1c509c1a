// Sorts a folder's names, then opens what they leave no doubt about.
#include "compare/weights/checkpoint_folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "compare/weights/names.h"
#include "compare/weights/open_checkpoint.h"
#include "compare/weights/sharded.h"
#include "compare/weights/torch_distributed.h"

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

constexpr std::string_view kExpected =
    "expected one *.index.json, a .metadata file, one checkpoint file, or *.safetensors files that "
    "belong together";

}  // namespace

bool FolderContents::empty() const {
  return !distributed && indexes.empty() && safetensors.empty() && others.empty();
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
    }
  }
  for (auto* list : {&contents.indexes, &contents.safetensors, &contents.others}) {
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
    return NotFound(fmt::format("is a folder without a checkpoint; {}", kExpected),
                    folder.string());
  }
  if (contents.indexes.size() == 1 && !contents.distributed) {
    ASSIGN_OR_RETURN(InputFile index,
                     InputFile::Open(folder / contents.indexes.front(), nullptr, below));
    return OpenShardIndex(std::move(index));
  }
  if (contents.distributed && contents.indexes.empty()) return OpenTorchDistributed(folder, below);
  const std::vector<std::string> names = AllOf(contents);
  if (names.size() == 1) {
    ASSIGN_OR_RETURN(InputFile file, InputFile::Open(folder / names.front(), nullptr, below));
    return OpenCheckpointFile(std::move(file));
  }
  if (contents.safetensors.size() == names.size()) {
    std::vector<fs::path> paths;
    for (const std::string& name : names) paths.push_back(folder / name);
    return OpenUnion(paths, below);
  }
  return InvalidInput(
      fmt::format("is a folder with {}; {}, or name one of its files", Some(names), kExpected),
      folder.string());
}

}  // namespace rharness
