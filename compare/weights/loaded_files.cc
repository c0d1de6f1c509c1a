// Names by the lists of side_files, and their files as parts; see loaded_files.h.
#include "compare/weights/loaded_files.h"

#include <algorithm>
#include <system_error>
#include <utility>

#include "compare/weights/checkpoint_folder.h"
#include "compare/weights/input_file.h"
#include "compare/weights/side_files.h"
#include "compare/weights/subfolders.h"
#include "compare/weights/union_checkpoint.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

void AddLoaded(const fs::path& home, const fs::path& below, std::vector<std::string>* names) {
  std::error_code failed;
  fs::directory_iterator entry(home / below, failed);
  for (std::size_t count = 0; !failed && entry != fs::directory_iterator();
       entry.increment(failed)) {
    if (++count > kMaxFolderEntries) return;
    const fs::path relative = below / entry->path().filename();
    std::error_code unknown;
    const bool is_file = entry->is_regular_file(unknown);
    if (is_file && SideFileOf(relative) == SideFile::kModel) names->push_back(relative.string());
  }
}

}  // namespace

std::vector<std::string> LoadedFilesBeside(const fs::path& path,
                                           const std::function<bool(const std::string&)>& counts) {
  const fs::path home = path.parent_path();
  std::vector<std::string> names;
  AddLoaded(home, "", &names);
  if (std::ranges::find(names, "modules.json") != names.end()) {
    std::error_code failed;
    fs::directory_iterator entry(home, failed);
    for (; !failed && entry != fs::directory_iterator(); entry.increment(failed)) {
      std::error_code unknown;
      if (!entry->is_directory(unknown) || entry->is_symlink(unknown)) continue;
      AddLoaded(home, entry->path().filename(), &names);
    }
  }
  std::erase_if(names, [&](const std::string& name) { return !counts(name); });
  std::ranges::sort(names);
  names.resize(std::min(names.size(), kMaxLoadedFiles));
  return names;
}

Result<std::unique_ptr<Checkpoint>> WithLoadedFiles(
    std::unique_ptr<Checkpoint> checkpoint, const fs::path& path,
    const std::vector<std::string>& names, const std::shared_ptr<const HeldFolder>& below) {
  std::vector<UnreadPart> loaded;
  for (const std::string& name : names) {
    const auto file = InputFile::Open(path.parent_path() / name, nullptr, below);
    if (!file.ok() && file.error().code == ErrorCode::kNotFound) continue;
    if (!file.ok()) return file.error();
    ASSIGN_OR_RETURN(UnreadPart part, PassedOver(name, *file, {}));
    part.kind = PartKind::kModel;  // whatever its name says here
    part.why = "it is loaded with the tensors";
    loaded.push_back(std::move(part));
  }
  if (loaded.empty()) return checkpoint;
  std::vector<CheckpointPart> parts;
  parts.push_back({path.filename().string(), "", std::move(checkpoint)});
  ASSIGN_OR_RETURN(auto whole, UnionCheckpoint::Make(std::move(parts), {}, {}, std::move(loaded),
                                                     path.string()));
  return std::unique_ptr<Checkpoint>(std::move(whole));
}

}  // namespace rharness
