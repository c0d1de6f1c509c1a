// The host's packages, as dpkg keeps them, and both lists together.
#include "harness/manifest/packages.h"

#include <algorithm>
#include <array>
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

struct HostPackage {
  std::string version;
  std::vector<std::string> code;  // its programs and libraries, WithoutUsr
};
using HostPackages = std::map<std::string, HostPackage>;

HostPackages ReadDpkg(const fs::path& root) {
  HostPackages packages;
  const fs::path folder = root / "var/lib/dpkg";
  for (const auto& [name, version] : ParseDpkgStatus(ContentOf(folder / "status"))) {
    HostPackage& package = packages[name];
    package.version = version;
    std::string list = ContentOf(folder / "info" / (name + ".list"));
    if (list.empty()) {
      list = ContentOf(folder / "info" / (name.substr(0, name.find(':')) + ".list"));
    }
    std::string_view rest = list;
    while (!rest.empty()) {
      const std::string_view line = rest.substr(0, rest.find('\n'));
      rest.remove_prefix(std::min(rest.size(), line.size() + 1));
      if (MayBeCode(line)) package.code.emplace_back(WithoutUsr(line));
    }
  }
  return packages;
}

// Those of this host are read once a process: a drill asks at every rerun.
const HostPackages& PackagesOfThisHost() {
  static const HostPackages kPackages = ReadDpkg("/");
  return kPackages;
}

PackageMap HostList(const HostPackages& host, const Footprint& footprint, PackageOwners* owners) {
  std::map<std::string_view, const std::string*> mapped;
  for (const std::string& path : footprint.mapped) mapped.emplace(WithoutUsr(path), &path);
  PackageMap list;
  for (const auto& [name, package] : host) {
    bool used = false;
    for (const std::string& path : package.code) {
      const auto found = mapped.find(path);
      if (found == mapped.end()) continue;
      used = true;
      if (owners == nullptr) break;
      owners->try_emplace(*found->second, PackageOwner{kDpkg, name, package.version});
    }
    PackageUse use = PackageUse::kNotKnown;
    if (used) use = PackageUse::kUsed;
    if (!used && !package.code.empty() && !footprint.mapped.empty()) use = PackageUse::kNotUsed;
    list[name] = {package.version, use};
  }
  return list;
}

}  // namespace

const std::vector<std::string>& FootprintVariables() {
  static const std::vector<std::string> kNames = {"HOME", "PATH", "PYTHONPATH"};
  return kNames;
}

std::map<std::string, PackageList> CapturePackages(const Footprint& footprint, const fs::path& root,
                                                   PackageOwners* owners) {
  std::map<std::string, PackageList> packages;
  PackageMap host =
      HostList(root == "/" ? PackagesOfThisHost() : ReadDpkg(root), footprint, owners);
  if (!host.empty()) packages[kDpkg] = std::move(host);
  if (footprint.programs.empty()) return packages;
  PackageMap python;
  for (const fs::path& folder : PackageFolders(footprint)) {
    AddPythonPackages(folder, footprint, &python, owners);
  }
  packages[kPython] = std::move(python);
  return packages;
}

}  // namespace rharness
