// Resolves a manifest's locations on this machine, and limits the parts of the machine that it may
// name.
#ifndef RHARNESS_HARNESS_EXECUTION_RERUN_PLACES_H_
#define RHARNESS_HARNESS_EXECUTION_RERUN_PLACES_H_

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/base/json.h"
#include "harness/base/json_reader.h"
#include "harness/base/result.h"
#include "harness/records/manifest/manifest.h"

namespace rharness {

// Relative locations are below `root`; a location that equals `from` or lies below it is looked up
// below `to` (the longest `from` wins). The root and each `to` are all that manifests may name.
struct Places {
  std::filesystem::path root = ".";
  std::vector<std::pair<std::string, std::filesystem::path>> maps;
  // Data by their SHA-256 (data_cache.h), if not at their location; empty: none.
  std::filesystem::path cache;
  // A Python environment for every run in place of its own; empty: none.
  std::filesystem::path python = {};
  // The folder for new Python environments; empty: none are made.
  std::filesystem::path environments = {};
};

Json ToJson(const Places& places);
void ReadPlaces(JsonReader& reader, Places* places);

// The path of a location, which need not exist. Errors: invalid_input for ".." and control
// characters in relative locations, and for paths outside of the root and of every map, also by a
// symbolic link; unsupported for URLs that no map covers.
Result<std::filesystem::path> Locate(const Places& places, const std::string& location);

// Whether a path, with every link in it resolved, lies below the root or a map; it need not exist.
// Errors: invalid_input, which calls the path `name`.
Status RequireDeclared(const Places& places, const std::filesystem::path& path,
                       const std::string& name);

// Finds used maps: a location that equals `from` or lies below it, or one that a link leads out of
// the root to below `to`. A map of a folder to itself only declares it, and counts as used. Looks
// at links, and at nothing else there.
class MapUse {
 public:
  explicit MapUse(const Places& places);
  // All locations of the manifest: code, data, image, Python environment, outputs, and files kept
  // beside it.
  void See(const Manifest& manifest);
  bool AllUsed() const;
  std::vector<std::string> Unused() const;  // "FROM=TO"

 private:
  void See(const std::string& location);

  const Places& places_;
  std::vector<bool> used_;
};
// invalid_input: names maps that nothing uses. `who`: such as "no selected run".
Error UnusedMapsError(const std::vector<std::string>& maps, std::string_view who);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_EXECUTION_RERUN_PLACES_H_
