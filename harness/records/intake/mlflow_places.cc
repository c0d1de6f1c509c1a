// The spellings of a place, each tried, none outside of the database's folder.
#include "harness/records/intake/mlflow_places.h"

#include <string_view>
#include <system_error>
#include <vector>

#include "harness/base/percent.h"
#include "harness/records/intake/clean.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

// "a%20b" as "a b".
}  // namespace

std::optional<fs::path> FindMlflowFolder(const fs::path& database, const std::string& uri,
                                         const std::string& usual) {
  std::error_code error;
  const fs::path base = fs::weakly_canonical(fs::absolute(database).parent_path(), error);
  std::vector<fs::path> places;
  constexpr std::string_view kFile = "file://", kProxied = "mlflow-artifacts:/";
  if (uri.starts_with(kFile)) {
    places.emplace_back(PercentDecodedWhereEncoded(std::string_view(uri).substr(kFile.size())));
  } else if (uri.starts_with(kProxied)) {
    const auto first = uri.find_first_not_of('/', kProxied.size());
    const auto relative = CleanRelativePath(first == uri.npos ? "" : uri.substr(first));
    if (relative) places.push_back(base / "mlartifacts" / *relative);
  } else if (uri.find("://") == uri.npos && !uri.empty()) {
    places.push_back(base / uri);
  }
  if (const auto relative = CleanRelativePath(usual)) places.push_back(base / *relative);
  for (const fs::path& place : places) {
    const fs::path folder = fs::weakly_canonical(place, error);
    const fs::path relative = folder.lexically_relative(base);
    const bool below = !relative.empty() && *relative.begin() != ".." && relative != ".";
    if (!error && below && fs::is_directory(folder, error)) return folder;
  }
  return std::nullopt;
}

}  // namespace rharness
