// Where the real public records lie that some tests use.
#ifndef RHARNESS_TESTS_SHARED_DATA_H_
#define RHARNESS_TESTS_SHARED_DATA_H_

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>

namespace rharness {

inline constexpr char kNoSharedData[] =
    "the public records are not here; set RHARNESS_SHARED_DATA to their folder";

// The folder `name` of the records: below $RHARNESS_SHARED_DATA, else beside the source tree.
inline std::optional<std::filesystem::path> SharedData(const std::string& name) {
  const char* given = std::getenv("RHARNESS_SHARED_DATA");
  const std::filesystem::path folder =
      given != nullptr ? std::filesystem::path(given)
                       : std::filesystem::path(RHARNESS_SOURCE_DIR) / "../shared/data";
  std::error_code error;
  if (!std::filesystem::is_directory(folder / name, error)) return std::nullopt;
  return folder / name;
}

}  // namespace rharness

#endif  // RHARNESS_TESTS_SHARED_DATA_H_
