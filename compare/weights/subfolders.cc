// A walk that opens files and reads none.
#include "compare/weights/subfolders.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <string_view>

#include "compare/weights/checkpoint_folder.h"
#include "compare/weights/foreign_formats.h"
#include "compare/weights/open_checkpoint.h"
#include "compare/weights/side_files.h"
#include "compare/weights/torch_distributed.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kWhy =
    "lies in a subfolder, which is not read; name the file or the subfolder to have it compared";

constexpr std::array<std::string_view, 3> kDataEndings = {".pkl", ".pickle", ".joblib"};

// Whether the name of a text shows its content: it may be a pointer of Git LFS, or a pickle of
// protocol 0.
bool HasMeaning(std::string_view name) {
  return IsCheckpointName(name) || MayBeCheckpointName(name) ||
         std::ranges::any_of(kDataEndings,
                             [&](std::string_view ending) { return name.ends_with(ending); }) ||
         name.ends_with(".index.json") || name == kDistributedIndex ||
         !ForeignFormatByName(name).empty();
}

PartKind KindOf(const fs::path& relative, std::string_view head) {
  const std::string own = relative.filename().string();
  const SideFile side = SideFileOf(relative);
  if (side == SideFile::kContext) return PartKind::kAside;
  if (HasMeaning(own)) return PartKind::kPart;
  if (side == SideFile::kModel) return PartKind::kModel;
  if (!IsText(head)) return PartKind::kPart;
  return side == SideFile::kSettings ? PartKind::kModel : PartKind::kAside;
}

std::string WhyPassedOver(PartKind kind, std::string why) {
  if (kind == PartKind::kModel) return "it is loaded with the tensors";
  return kind == PartKind::kAside ? "it is not loaded with the tensors" : std::move(why);
}

class Walk {
 public:
  Walk(const fs::path& folder, const std::shared_ptr<const HeldFolder>& below)
      : folder_(folder), below_(below) {}

  Result<std::vector<UnreadPart>> Run() {
    fs::path listed = folder_;
    std::optional<HeldFolder> held;
    if (below_ != nullptr) {
      ASSIGN_OR_RETURN(held, below_->OpenFolder(folder_.lexically_relative(below_->path())));
      listed = held->through();
    }
    std::error_code failed;
    fs::recursive_directory_iterator entry(listed, failed);
    for (std::size_t count = 0; !failed && entry != fs::recursive_directory_iterator();
         entry.increment(failed)) {
      if (++count > kMaxFolderEntries) {
        AddUnopened(
            "", fmt::format("there are more than {} files in its subfolders", kMaxFolderEntries));
        break;
      }
      RETURN_IF_ERROR(Add(*entry, entry.depth(), entry->path().lexically_relative(listed)));
    }
    if (failed) return IoErrorFromErrno("cannot list", failed.value(), folder_.string());
    std::ranges::sort(parts_, {}, &UnreadPart::name);
    return std::move(parts_);
  }

 private:
  Status Add(const fs::directory_entry& entry, int depth, const fs::path& relative) {
    std::error_code ignored;
    const bool is_link = entry.is_symlink(ignored);
    if (entry.is_directory(ignored)) {
      if (is_link && LeadsOut(entry.path())) {
        AddUnopened(relative.string(), "is a link to a folder, which is not followed");
      }
      return {};
    }
    if (depth == 0) return {};
    auto file = InputFile::Open(folder_ / relative, pool_, below_);
    if (!file.ok()) {
      if (file.error().code == ErrorCode::kIo || file.error().code == ErrorCode::kIntegrity) {
        return file.error();
      }
      AddUnopened(relative.string(), file.error().message);
      return {};
    }
    ASSIGN_OR_RETURN(UnreadPart part, PassedOver(relative, *file, std::string(kWhy)));
    parts_.push_back(std::move(part));
    return {};
  }

  void AddUnopened(std::string name, std::string why) {
    const bool aside = SideFileOf(name) == SideFile::kContext;
    parts_.push_back({.name = std::move(name),
                      .why = std::move(why),
                      .kind = aside ? PartKind::kAside : PartKind::kPart});
  }

  bool LeadsOut(const fs::path& link) const {
    std::error_code error;
    const fs::path target = fs::canonical(link, error);
    if (error) return true;
    const fs::path home = fs::canonical(folder_, error);
    const auto end = std::mismatch(home.begin(), home.end(), target.begin(), target.end()).first;
    return error || end != home.end();
  }

  const fs::path& folder_;
  const std::shared_ptr<const HeldFolder>& below_;
  std::shared_ptr<DescriptorPool> pool_ = std::make_shared<DescriptorPool>();
  std::vector<UnreadPart> parts_;
};

}  // namespace

Result<UnreadPart> PassedOver(const fs::path& relative, const InputFile& file, std::string why) {
  constexpr std::uint64_t kHeadBytes = 512;
  std::string head(std::min(kHeadBytes, file.size_bytes()), '\0');
  RETURN_IF_ERROR(file.ReadAt(0, std::as_writable_bytes(std::span(head))));
  const PartKind kind = KindOf(relative, head);
  return UnreadPart{.name = relative.string(),
                    .why = WhyPassedOver(kind, std::move(why)),
                    .file = std::make_shared<const InputFile>(file),
                    .size_bytes = file.size_bytes(),
                    .content = {},
                    .kind = kind};
}

Result<std::vector<UnreadPart>> PartsInSubfolders(const fs::path& folder,
                                                  const std::shared_ptr<const HeldFolder>& below) {
  return Walk(folder, below).Run();
}

}  // namespace rharness
