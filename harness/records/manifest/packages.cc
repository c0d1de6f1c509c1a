// Combines the lists of a system's own managers, of Pythons and of conda.
#include "harness/records/manifest/packages.h"

#include <mutex>
#include <set>
#include <tuple>
#include <utility>

#include "harness/base/digest.h"
#include "harness/base/files.h"
#include "harness/records/manifest/host.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

std::set<std::string> UsedBy(const Footprint& footprint, const SystemPackages& host,
                             PackageOwners* owners) {
  std::set<std::string> used;
  for (const std::string& path : footprint.mapped) {
    const auto found = host.owners.find(std::string(PlainPath(path)));
    if (found == host.owners.end()) continue;
    used.insert(found->second.begin(), found->second.end());
    if (owners == nullptr) continue;
    const std::string& first = found->second.front();
    owners->try_emplace(path, PackageOwner{host.manager, first, host.list.at(first).version});
  }
  return used;
}

// `looked`: the mapped files are known.
PackageMap ListWith(const SystemPackages& host, const std::set<std::string>& used, bool looked) {
  PackageMap list = host.list;
  for (auto& [name, package] : list) {
    if (!looked) package.use = PackageUse::kNotKnown;
    if (used.contains(name)) package.use = PackageUse::kUsed;
  }
  return list;
}

// Of this host, read once per process: a drill asks at every rerun, with the same answer.
void AddListsOfThisHost(const Footprint& footprint, std::map<std::string, PackageList>* packages,
                        PackageOwners* owners) {
  static const std::vector<SystemPackages> kHost = ReadSystemPackages("/");
  static std::mutex mutex;
  static std::map<std::tuple<std::string, bool, std::set<std::string>>, PackageList> lists;
  constexpr std::size_t kMostLists = 64;
  const bool looked = !footprint.mapped.empty();
  for (const SystemPackages& host : kHost) {
    const std::set<std::string> used = UsedBy(footprint, host, owners);
    const std::lock_guard lock(mutex);
    const std::tuple key(host.manager, looked, used);
    auto found = lists.find(key);
    if (found == lists.end()) {
      if (lists.size() >= kMostLists) lists.clear();
      found = lists.emplace(key, ListWith(host, used, looked)).first;
    }
    packages->emplace(host.manager, found->second);
  }
}

void AddSystemLists(const fs::path& root, const Footprint& footprint,
                    std::map<std::string, PackageList>* packages, PackageOwners* owners) {
  if (root == "/") return AddListsOfThisHost(footprint, packages, owners);
  for (const SystemPackages& host : ReadSystemPackages(root)) {
    packages->emplace(host.manager,
                      ListWith(host, UsedBy(footprint, host, owners), !footprint.mapped.empty()));
  }
}

}  // namespace

const std::vector<std::string>& FootprintVariables() {
  static const std::vector<std::string> kNames = {"CONDA_PREFIX", "HOME", "PATH", "PYTHONPATH",
                                                  "VIRTUAL_ENV"};
  return kNames;
}

std::string HostPackagesSha256() {
  static const std::string kDigest = [] {
    const auto status = ReadFile("/var/lib/dpkg/status");
    std::string lines = status.ok() ? InstalledPackages(*status) : std::string();
    if (lines.empty()) {
      for (const SystemPackages& host : ReadSystemPackages("/")) {
        for (const auto& [name, package] : host.list) {
          lines += host.manager + " " + name + "=" + package.version + "\n";
        }
      }
    }
    return lines.empty() ? std::string() : Sha256HexOf(lines);
  }();
  return kDigest;
}

std::map<std::string, PackageList> CapturePackages(const Footprint& footprint, const fs::path& root,
                                                   PackageOwners* owners) {
  std::map<std::string, PackageList> packages;
  AddSystemLists(root, footprint, &packages, owners);
  if (footprint.programs.empty()) return packages;
  PackageMap conda;
  for (const fs::path& prefix : CondaPrefixes(footprint)) {
    AddCondaPackages(prefix, footprint, &conda);
  }
  if (!conda.empty()) packages[kConda] = std::move(conda);
  PackageMap python;
  for (const fs::path& folder : PackageFolders(footprint)) {
    AddPythonPackages(folder, footprint, &python, owners);
  }
  packages[kPython] = std::move(python);
  return packages;
}

}  // namespace rharness
