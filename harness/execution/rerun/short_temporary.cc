// A link in a private folder.
#include "harness/execution/rerun/short_temporary.h"

#include <system_error>
#include <utility>

namespace rharness {

namespace fs = std::filesystem;

ShortTemporary::ShortTemporary(const fs::path& folder) : folder_(folder), name_(folder) {
  if (folder.native().size() <= kLongest) return;
  auto place = ScopedTempDir::Make();
  if (!place.ok()) return;
  fs::path link = place->path() / "t";
  if (link.native().size() >= folder.native().size()) return;
  std::error_code error;
  fs::create_directory_symlink(folder, link, error);
  if (error) return;
  name_ = std::move(link);
  place_.emplace(std::move(*place));
}

void ShortTemporary::PutInto(std::map<std::string, std::string>* variables) const {
  const auto found = variables->find("TMPDIR");
  if (found != variables->end() && found->second == folder_) found->second = name_.string();
}

}  // namespace rharness
