// The host's packages, as dpkg keeps them, and both lists together.
#include "harness/manifest/packages.h"

#include <algorithm>
#include <array>
#include <mutex>
#include <set>
#include <unordered_map>
#include <utility>

#include "harness/base/files.h"
#include "harness/manifest/host.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

std::string ContentOf(const fs::path& path) {
  auto content = ReadFile(path);
  return content.ok() ? std::move(*content) : std::string();
}

// On merged systems /lib is /usr/lib; dpkg may know a file by either name.
std::string_view WithoutUsr(std::string_view path) {
  constexpr std::string_view kUsr = "/usr";
  if (!path.starts_with(kUsr)) return path;
  const std::string_view rest = path.substr(kUsr.size());
  for (const std::string_view folder : {"/lib", "/bin/", "/sbin/"}) {
    if (rest.starts_with(folder)) return rest;
  }
  return path;
}

bool MayBeCode(std::string_view path) {
  constexpr std::array<std::string_view, 5> kSigns = {".so", "/bin/", "/sbin/", "/games/",
                                                      "/libexec/"};
  return std::ranges::any_of(kSigns,
                             [&](std::string_view sign) { return path.find(sign) != path.npos; });
}

struct HostPackages {
  PackageMap list;  // as a run sees it that used none of them
  // Their programs and libraries, WithoutUsr: which packages have them.
  std::unordered_map<std::string, std::vector<std::string>> owners;
};

HostPackages ReadDpkg(const fs::path& root) {
  HostPackages packages;
  const fs::path folder = root / "var/lib/dpkg";
  for (const auto& [name, version] : ParseDpkgStatus(ContentOf(folder / "status"))) {
    Package& package = packages.list[name];
    package.version = version;
    std::string list = ContentOf(folder / "info" / (name + ".list"));
    if (list.empty()) {
      list = ContentOf(folder / "info" / (name.substr(0, name.find(':')) + ".list"));
    }
    std::string_view rest = list;
    while (!rest.empty()) {
      const std::string_view line = rest.substr(0, rest.find('\n'));
      rest.remove_prefix(std::min(rest.size(), line.size() + 1));
      if (!MayBeCode(line)) continue;
      package.use = PackageUse::kNotUsed;
      packages.owners[std::string(WithoutUsr(line))].push_back(name);
    }
  }
  return packages;
}

std::set<std::string> UsedBy(const Footprint& footprint, const HostPackages& host,
                             PackageOwners* owners) {
  std::set<std::string> used;
  for (const std::string& path : footprint.mapped) {
    const auto found = host.owners.find(std::string(WithoutUsr(path)));
    if (found == host.owners.end()) continue;
    used.insert(found->second.begin(), found->second.end());
    if (owners == nullptr) continue;
    const std::string& first = found->second.front();
    owners->try_emplace(path, PackageOwner{kDpkg, first, host.list.at(first).version});
  }
  return used;
}

// `looked`: what was mapped is known.
PackageMap ListWith(const HostPackages& host, const std::set<std::string>& used, bool looked) {
  PackageMap list = host.list;
  for (auto& [name, package] : list) {
    if (!looked) package.use = PackageUse::kNotKnown;
    if (used.contains(name)) package.use = PackageUse::kUsed;
  }
  return list;
}

// Of this host, read once a process: a drill asks at every rerun, and is told the same.
PackageList ListOfThisHost(const Footprint& footprint, PackageOwners* owners) {
  static const HostPackages kHost = ReadDpkg("/");
  static std::mutex mutex;
  static std::map<std::pair<bool, std::set<std::string>>, PackageList> lists;
  constexpr std::size_t kMostLists = 64;
  const bool looked = !footprint.mapped.empty();
  const std::set<std::string> used = UsedBy(footprint, kHost, owners);
  const std::lock_guard lock(mutex);
  if (const auto found = lists.find({looked, used}); found != lists.end()) return found->second;
  if (lists.size() >= kMostLists) lists.clear();
  return lists.emplace(std::pair(looked, used), ListWith(kHost, used, looked)).first->second;
}

PackageList HostList(const fs::path& root, const Footprint& footprint, PackageOwners* owners) {
  if (root == "/") return ListOfThisHost(footprint, owners);
  const HostPackages host = ReadDpkg(root);
  return ListWith(host, UsedBy(footprint, host, owners), !footprint.mapped.empty());
}

}  // namespace

const std::vector<std::string>& FootprintVariables() {
  static const std::vector<std::string> kNames = {"HOME", "PATH", "PYTHONPATH"};
  return kNames;
}

std::map<std::string, PackageList> CapturePackages(const Footprint& footprint, const fs::path& root,
                                                   PackageOwners* owners) {
  std::map<std::string, PackageList> packages;
  PackageList host = HostList(root, footprint, owners);
  if (!host.empty()) packages.emplace(kDpkg, std::move(host));
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
