// conda's packages, as conda-meta keeps them: one JSON file each.
#include <sys/stat.h>

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <system_error>

#include "harness/base/files.h"
#include "harness/base/json.h"
#include "harness/records/manifest/packages.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

struct CondaPackage {
  std::string name;
  std::string version;  // with the build
  std::string digest;
  std::vector<std::string> code;  // its libraries, relative to the environment
};

std::string TextAt(const Json& json, std::string_view key) {
  const Json* value = json.Find(key);
  return value != nullptr && value->kind() == Json::Kind::kString ? value->AsString() : "";
}

CondaPackage PackageOf(const Json& json) {
  CondaPackage package{.name = TextAt(json, "name"), .version = TextAt(json, "version")};
  if (const std::string build = TextAt(json, "build"); !build.empty()) {
    package.version += "-" + build;
  }
  if (const std::string sha256 = TextAt(json, "sha256"); !sha256.empty()) {
    package.digest = "sha256:" + sha256;
  } else if (const std::string md5 = TextAt(json, "md5"); !md5.empty()) {
    package.digest = "md5:" + md5;
  }
  const Json* files = json.Find("files");
  if (files == nullptr || !files->IsArray()) return package;
  for (const Json& file : files->AsArray()) {
    if (file.kind() != Json::Kind::kString) continue;
    if (file.AsString().find(".so") != std::string::npos) package.code.push_back(file.AsString());
  }
  return package;
}

std::vector<CondaPackage> ReadCondaMeta(const fs::path& folder) {
  std::vector<CondaPackage> all;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    if (it->path().extension() != ".json") continue;
    const auto json = ReadJsonFile(it->path());
    if (!json.ok() || !json->IsObject()) continue;
    CondaPackage package = PackageOf(*json);
    if (!package.name.empty() && !package.version.empty()) all.push_back(std::move(package));
  }
  std::ranges::sort(all, {}, &CondaPackage::name);
  return all;
}

// Read again only if conda changed something: a drill asks at every rerun.
std::shared_ptr<const std::vector<CondaPackage>> CondaPackagesIn(const fs::path& folder) {
  static std::mutex mutex;
  static std::map<std::string, std::shared_ptr<const std::vector<CondaPackage>>> known;
  struct stat info {};
  if (::stat(folder.c_str(), &info) != 0) return std::make_shared<std::vector<CondaPackage>>();
  const std::string key = folder.string() + "|" + std::to_string(info.st_ctim.tv_sec) + "." +
                          std::to_string(info.st_ctim.tv_nsec);
  const std::lock_guard lock(mutex);
  auto& list = known[key];
  if (list == nullptr) {
    list = std::make_shared<const std::vector<CondaPackage>>(ReadCondaMeta(folder));
  }
  return list;
}

}  // namespace

std::vector<fs::path> CondaPrefixes(const Footprint& footprint) {
  std::set<fs::path> prefixes;
  for (const SeenProgram& program : footprint.programs) {
    const fs::path prefix = fs::path(program.executable).parent_path().parent_path();
    std::error_code error;
    if (fs::is_directory(prefix / "conda-meta", error)) prefixes.insert(prefix);
  }
  return {prefixes.begin(), prefixes.end()};
}

void AddCondaPackages(const fs::path& prefix, const Footprint& footprint, PackageMap* packages) {
  const auto all = CondaPackagesIn(prefix / "conda-meta");
  for (const CondaPackage& found : *all) {
    const bool used = std::ranges::any_of(found.code, [&](const std::string& path) {
      return footprint.mapped.contains((prefix / path).string());
    });
    if (packages->contains(found.name) && !used) continue;
    const bool looked = !found.code.empty() && !footprint.mapped.empty();
    (*packages)[found.name] = {found.version,
                               used     ? PackageUse::kUsed
                               : looked ? PackageUse::kNotUsed
                                        : PackageUse::kNotKnown,
                               found.digest};
  }
}

}  // namespace rharness
