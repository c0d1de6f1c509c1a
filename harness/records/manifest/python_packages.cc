// Python's distributions, from the metadata in a folder of packages.
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <ctime>
#include <memory>
#include <mutex>
#include <set>
#include <system_error>

#include "harness/base/digest.h"
#include "harness/base/files.h"
#include "harness/base/json.h"
#include "harness/records/manifest/packages.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

std::string ContentIfRead(const fs::path& path) {
  auto content = ReadFile(path);
  return content.ok() ? std::move(*content) : std::string();
}

std::string_view TakeLine(std::string_view* text) {
  const std::string_view line = text->substr(0, text->find('\n'));
  text->remove_prefix(std::min(text->size(), line.size() + 1));
  return line.ends_with('\r') ? line.substr(0, line.size() - 1) : line;
}

// The names in a folder that begin with this, sorted.
std::vector<std::string> NamesIn(const fs::path& folder, std::string_view prefix) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    std::string name = it->path().filename().string();
    if (name.starts_with(prefix)) names.push_back(std::move(name));
  }
  std::ranges::sort(names);
  return names;
}

struct Distribution {
  std::string name;
  std::string version;
  std::string digest;             // of the wheel's files; empty: not known
  std::vector<std::string> code;  // its libraries, relative to the folder
  bool has_record = false;
};

// The header of a metadata file: "Name: x".
std::string HeaderOf(std::string_view text, std::string_view key) {
  while (!text.empty()) {
    const std::string_view line = TakeLine(&text);
    if (line.empty()) break;
    if (line.starts_with(key) && line.substr(key.size()).starts_with(": ")) {
      return std::string(line.substr(key.size() + 2));
    }
  }
  return "";
}

// From "NAME-VERSION.dist-info" or "NAME-VERSION-pyX.Y.egg-info"; else from the file inside.
Distribution DistributionOf(const fs::path& info) {
  std::string stem = info.stem().string();
  if (const auto tag = stem.find("-py"); tag != stem.npos && info.extension() == ".egg-info") {
    stem.resize(tag);
  }
  if (const auto dash = stem.rfind('-'); dash != stem.npos && dash > 0) {
    return {.name = NormalPythonName(stem.substr(0, dash)), .version = stem.substr(dash + 1)};
  }
  std::string text = ContentIfRead(info / "METADATA");
  if (text.empty()) text = ContentIfRead(info / "PKG-INFO");
  if (text.empty()) text = ContentIfRead(info);
  return {.name = NormalPythonName(HeaderOf(text, "Name")), .version = HeaderOf(text, "Version")};
}

// Whether a line of RECORD is an addition of the installer to the wheel's own files.
bool IsOfInstaller(std::string_view path, std::string_view info) {
  constexpr std::array<std::string_view, 8> kNames = {
      "RECORD",    "RECORD.jws",      "RECORD.p7s",    "INSTALLER",
      "REQUESTED", "direct_url.json", "uv_cache.json", "uv_build.json"};
  if (path.starts_with("../") || path.starts_with('/') || path.ends_with(".pyc")) return true;
  if (!path.starts_with(info) || path.substr(info.size()).substr(0, 1) != "/") return false;
  return std::ranges::find(kNames, path.substr(info.size() + 1)) != kNames.end();
}

// An editable install has its files elsewhere (PEP 660).
bool IsEditable(const fs::path& info) {
  const auto url = ParseJson(ContentIfRead(info / "direct_url.json"), "direct_url.json");
  const Json* folder = url.ok() ? url->Find("dir_info") : nullptr;
  const Json* editable = folder != nullptr ? folder->Find("editable") : nullptr;
  return editable != nullptr && editable->kind() == Json::Kind::kBool && editable->AsBool();
}

// Lines "PATH,HASH,SIZE"; a PATH with a comma is quoted.
void ReadRecord(const fs::path& info, Distribution* out) {
  const std::string record = ContentIfRead(info / "RECORD");
  const std::string own = info.filename().string();
  std::vector<std::string> files;
  std::string_view rest = record;
  while (!rest.empty()) {
    const std::string_view line = TakeLine(&rest);
    const auto size_at = line.rfind(',');
    const auto hash_at =
        size_at == line.npos || size_at == 0 ? line.npos : line.rfind(',', size_at - 1);
    const std::string_view path = line.substr(0, hash_at);
    if (path.find(".so") != path.npos) out->code.emplace_back(path);
    if (hash_at == line.npos || size_at == hash_at + 1 || IsOfInstaller(path, own)) continue;
    files.push_back(std::string(path) + " " +
                    std::string(line.substr(hash_at + 1, size_at - hash_at - 1)) + "\n");
  }
  out->has_record = !record.empty();
  if (files.empty() || IsEditable(info)) return;
  std::ranges::sort(files);
  std::string text;
  for (const std::string& file : files) text += file;
  out->digest = "sha256:" + Sha256HexOf(text);
}

std::vector<Distribution> ReadDistributions(const fs::path& folder) {
  std::vector<Distribution> all;
  for (const std::string& name : NamesIn(folder, "")) {
    if (!name.ends_with(".dist-info") && !name.ends_with(".egg-info")) continue;
    Distribution found = DistributionOf(folder / name);
    if (found.name.empty() || found.version.empty()) continue;
    ReadRecord(folder / name, &found);
    all.push_back(std::move(found));
  }
  return all;
}

// Read again only if the folder's entries changed: a drill asks at every rerun.
std::shared_ptr<const std::vector<Distribution>> DistributionsIn(const fs::path& folder) {
  static std::mutex mutex;
  static std::map<std::string, std::shared_ptr<const std::vector<Distribution>>> known;
  constexpr std::size_t kMostFolders = 64;
  struct stat info {};
  if (::stat(folder.c_str(), &info) != 0) return std::make_shared<std::vector<Distribution>>();
  const std::string key = folder.string() + "|" + std::to_string(info.st_dev) + "|" +
                          std::to_string(info.st_ino) + "|" + std::to_string(info.st_ctim.tv_sec) +
                          "." + std::to_string(info.st_ctim.tv_nsec);
  const std::lock_guard lock(mutex);
  const auto found = known.find(key);
  if (found != known.end()) return found->second;
  auto all = std::make_shared<const std::vector<Distribution>>(ReadDistributions(folder));
  constexpr std::time_t kSettled = 2;  // a change within a tick of the clock keeps its time
  if (info.st_ctim.tv_sec + kSettled < std::time(nullptr)) {
    if (known.size() >= kMostFolders) known.clear();
    known.emplace(key, all);
  }
  return all;
}

// Its libraries that are mapped.
std::vector<std::string> MappedOf(const Distribution& one,
                                  const std::set<std::string_view>& mapped) {
  std::vector<std::string> own;
  for (const std::string& path : one.code) {
    if (mapped.contains(path)) own.push_back(path);
  }
  return own;
}

// Without a list of files: a library below a folder of its name.
bool IsMappedByName(const Distribution& one, const std::set<std::string_view>& mapped) {
  return !one.has_record && std::ranges::any_of(mapped, [&](std::string_view path) {
    return NormalPythonName(path.substr(0, path.find('/'))) == one.name;
  });
}

}  // namespace

std::string NormalPythonName(std::string_view name) {
  std::string normal;
  for (const char c : name) {
    const bool separates = c == '-' || c == '_' || c == '.';
    if (!separates) {
      normal += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    } else if (normal.empty() || normal.back() != '-') {
      normal += '-';
    }
  }
  return normal;
}

void AddPythonPackages(const fs::path& folder, const Footprint& footprint, PackageMap* packages,
                       PackageOwners* owners) {
  const std::string prefix = folder.string() + "/";
  std::set<std::string_view> mapped;  // relative to the folder
  for (const std::string& path : footprint.mapped) {
    if (path.starts_with(prefix)) mapped.insert(std::string_view(path).substr(prefix.size()));
  }
  const auto distributions = DistributionsIn(folder);
  for (const Distribution& found : *distributions) {
    const std::vector<std::string> own = MappedOf(found, mapped);
    for (const std::string& path : own) {
      if (owners != nullptr) (*owners)[prefix + path] = {kPython, found.name, found.version};
    }
    const bool used = !own.empty() || IsMappedByName(found, mapped);
    if (packages->contains(found.name) && !used) continue;
    Package& package = (*packages)[found.name];
    package.version = found.version;
    package.digest = found.digest;
    package.use = used                                               ? PackageUse::kUsed
                  : !found.code.empty() && !footprint.mapped.empty() ? PackageUse::kNotUsed
                                                                     : PackageUse::kNotKnown;
  }
}

}  // namespace rharness
