// Variables as tensors, other files as parts; see saved_model.h.
#include "compare/weights/saved_model.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "compare/weights/subfolders.h"
#include "compare/weights/tf_checkpoint.h"
#include "compare/weights/union_checkpoint.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 2> kGraphFiles = {"saved_model.pb", "keras_metadata.pb"};
constexpr std::string_view kFingerprint = "fingerprint.pb";
const fs::path kVariablesIndex = kSavedModelIndex;

}  // namespace

bool IsSavedModel(const FolderContents& contents, const fs::path& listed) {
  std::error_code ignored;
  return std::ranges::binary_search(contents.foreign, kGraphFiles[0]) &&
         fs::exists(listed / kVariablesIndex, ignored);
}

Result<std::unique_ptr<Checkpoint>> OpenSavedModel(const fs::path& folder,
                                                   const std::shared_ptr<const HeldFolder>& below) {
  ASSIGN_OR_RETURN(InputFile index, InputFile::Open(folder / kVariablesIndex, nullptr, below));
  std::vector<std::string> taken;
  ASSIGN_OR_RETURN(auto variables, OpenTfCheckpoint(std::move(index), &taken));
  taken.push_back(kVariablesIndex.filename().string());
  std::vector<UnreadPart> unread;
  for (const std::string_view name : {kGraphFiles[0], kGraphFiles[1], kFingerprint}) {
    auto file = InputFile::Open(folder / name, nullptr, below);
    if (!file.ok() && file.error().code == ErrorCode::kNotFound) continue;
    if (!file.ok()) return file.error();
    const bool aside = name == kFingerprint;
    unread.push_back(
        {.name = std::string(name),
         .why = aside ? "sums up how the model was saved" : "is loaded with the tensors",
         .file = std::make_shared<const InputFile>(*file),
         .size_bytes = file->size_bytes(),
         .content = {},
         .kind = aside ? PartKind::kAside : PartKind::kModel});
  }
  ASSIGN_OR_RETURN(std::vector<UnreadPart> deeper, PartsInSubfolders(folder, below));
  for (UnreadPart& part : deeper) {
    const fs::path path = part.name;
    const bool of_variables = path.parent_path() == kVariablesIndex.parent_path() &&
                              std::ranges::find(taken, path.filename().string()) != taken.end();
    if (of_variables) continue;
    if (part.kind == PartKind::kPart) part.kind = PartKind::kModel;
    unread.push_back(std::move(part));
  }
  std::vector<CheckpointPart> parts;
  parts.push_back({kVariablesIndex.filename().string(), "", std::move(variables)});
  ASSIGN_OR_RETURN(auto whole, UnionCheckpoint::Make(std::move(parts), {}, {}, std::move(unread),
                                                     folder.string()));
  return std::unique_ptr<Checkpoint>(std::move(whole));
}

}  // namespace rharness
