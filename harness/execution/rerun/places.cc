// The longest map wins; the result is checked against the declared places.
#include "harness/execution/rerun/places.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <system_error>

#include "harness/base/files.h"
#include "harness/base/shell_word.h"
#include "harness/verdict/verdict.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

// A path with every link resolved, as far as it exists.
fs::path Real(const fs::path& path) {
  std::error_code error;
  const fs::path absolute = fs::absolute(path, error);
  fs::path real = fs::weakly_canonical(absolute, error);
  if (error) return absolute.lexically_normal();
  if (!real.has_filename()) real = real.parent_path();
  return real;
}

bool IsBelow(const fs::path& path, const fs::path& folder) {
  return std::mismatch(folder.begin(), folder.end(), path.begin(), path.end()).first ==
         folder.end();
}

Result<fs::path> Held(const Places& places, const std::string& location, fs::path found) {
  RETURN_IF_ERROR(RequireDeclared(places, found, location));
  return found;
}

// With one slash in the place of several: manifests keep "s3://bucket/x" as "s3:/bucket/x".
std::string WithSingleSlashes(std::string text) {
  const auto doubled = [](char a, char b) { return a == '/' && b == '/'; };
  text.erase(std::unique(text.begin(), text.end(), doubled), text.end());
  return text;
}

// "s3:/bucket/x". One letter and a colon are no scheme.
bool IsUrl(std::string_view location) {
  const auto colon = location.find(":/");
  return colon != location.npos && colon > 1 &&
         std::ranges::all_of(location.substr(0, colon), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '+' || c == '-';
         });
}

// Both with single slashes.
bool Covers(const std::string& from, const std::string& location) {
  return location == from || location.starts_with(from.ends_with('/') ? from : from + "/");
}

}  // namespace

MapUse::MapUse(const Places& places) : places_(places) {
  for (const auto& [from, to] : places.maps) used_.push_back(Real(from) == Real(to));
}

void MapUse::See(const std::string& location) {
  const auto located = Locate(places_, location);
  const bool outside = located.ok() && !IsBelow(Real(*located), Real(places_.root));
  for (std::size_t i = 0; i < used_.size(); ++i) {
    const auto& [from, to] = places_.maps[i];
    if (Covers(WithSingleSlashes(from), WithSingleSlashes(location)) ||
        (outside && IsBelow(Real(*located), Real(to))))
      used_[i] = true;
  }
}

void MapUse::See(const Manifest& manifest) {
  See(manifest.code.repository.empty() ? "." : manifest.code.repository);
  for (const DataItem& item : manifest.data) {
    See(item.location.empty() ? item.path : item.location);
  }
  for (const Artifact& artifact : manifest.artifacts) {
    if (!artifact.location.empty()) See(artifact.location);
  }
  const auto& python = manifest.environment.python;
  if (python) See(python->prefix);
  for (const std::string& one : {manifest.image.location, manifest.kept}) {
    if (!one.empty()) See(one);
  }
}

bool MapUse::AllUsed() const { return std::ranges::find(used_, false) == used_.end(); }

std::vector<std::string> MapUse::Unused() const {
  std::vector<std::string> unused;
  for (std::size_t i = 0; i < used_.size(); ++i) {
    if (used_[i]) continue;
    unused.push_back(places_.maps[i].first + "=" + places_.maps[i].second.string());
  }
  return unused;
}

Error UnusedMapsError(const std::vector<std::string>& maps, std::string_view who) {
  return InvalidInput(
      TerminalSafe(fmt::format(
          "{} locates its code, data, image, Python environment, outputs or "
          "kept files at, or below, the FROM of {}; `rharness history show RUN --json` has these "
          "locations",
          who, fmt::join(maps, ", "))),
      "--map");
}

Json ToJson(const Places& places) {
  Json maps = Json::MakeArray();
  for (const auto& [from, to] : places.maps) {
    maps.Append(Json::MakeObject({{"from", from}, {"to", to.string()}}));
  }
  Json json = Json::MakeObject({{"root", places.root.string()}, {"maps", std::move(maps)}});
  if (!places.cache.empty()) json.AppendMember("cache", places.cache.string());
  if (!places.python.empty()) json.AppendMember("python", places.python.string());
  if (!places.environments.empty()) {
    json.AppendMember("environments", places.environments.string());
  }
  return json;
}

void ReadPlaces(JsonReader& reader, Places* places) {
  std::string root;
  reader.Read("root", &root);
  places->root = root;
  reader.ForEach("maps", [&](JsonReader& map) {
    std::string from;
    std::string to;
    map.Read("from", &from);
    map.Read("to", &to);
    places->maps.emplace_back(from, to);
  });
  for (const auto& [key, path] : {std::pair("cache", &places->cache),
                                  {"python", &places->python},
                                  {"environments", &places->environments}}) {
    std::string text;
    reader.ReadOptional(key, &text);
    *path = text;
  }
}

Status RequireDeclared(const Places& places, const fs::path& path, const std::string& name) {
  const fs::path real = Real(path);
  bool declared = IsBelow(real, Real(places.root));
  for (const auto& [from, to] : places.maps) declared = declared || IsBelow(real, Real(to));
  if (declared) return {};
  std::error_code error;
  const std::string folder = (fs::is_directory(real, error) ? real : real.parent_path()).string();
  const std::string place = name == real ? "" : " " + TerminalSafe(real.string()) + ",";
  return InvalidInput(fmt::format(
      "'{}' is{} outside of --root and of every --map, which are all that a manifest "
      "may name; --map {}{}",
      TerminalSafe(name), place, TerminalSafe(ShellWord(folder + "=" + folder)), kDeclaresFolder));
}

Result<fs::path> Locate(const Places& places, const std::string& location) {
  std::size_t best = 0;
  fs::path mapped;
  const std::string single = WithSingleSlashes(location);
  for (const auto& [given, to] : places.maps) {
    const std::string from = WithSingleSlashes(given);
    if (!Covers(from, single) || from.size() < best || from.empty()) continue;
    std::string rest = single.substr(from.size());
    while (rest.starts_with('/')) rest.erase(0, 1);
    if (!rest.empty()) {
      ASSIGN_OR_RETURN(const fs::path safe, SafeRelativePath(rest, location));
      mapped = to / safe;
    } else {
      mapped = to;
    }
    best = from.size();
  }
  if (best > 0) return Held(places, location, mapped);
  if (IsUrl(single)) {
    return Unsupported(
        fmt::format("'{}' is no local path; say where it lies here with --map {}=DIR",
                    TerminalSafe(location), TerminalSafe(location)));
  }
  const fs::path path(location);
  if (path.is_absolute()) return Held(places, location, path.lexically_normal());
  if (location == "." || location == "./") return places.root;
  ASSIGN_OR_RETURN(const fs::path safe, SafeRelativePath(location, location));
  return Held(places, location, places.root / safe);
}

}  // namespace rharness
