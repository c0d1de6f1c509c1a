// dpkg's and apk's lists, and all managers combined.
#include "harness/records/manifest/system_packages.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>

#include "harness/base/files.h"
#include "harness/records/manifest/host.h"
#include "harness/records/manifest/rpm_database.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

std::string ContentOf(const fs::path& path) {
  auto content = ReadFile(path);
  return content.ok() ? std::move(*content) : std::string();
}

bool MayBeCode(std::string_view path) {
  constexpr std::array<std::string_view, 5> kSigns = {".so", "/bin/", "/sbin/", "/games/",
                                                      "/libexec/"};
  return std::ranges::any_of(kSigns,
                             [&](std::string_view sign) { return path.find(sign) != path.npos; });
}

void AddFile(std::string_view path, const std::string& package, SystemPackages* packages) {
  if (!MayBeCode(path)) return;
  packages->list[package].use = PackageUse::kNotUsed;
  packages->owners[std::string(PlainPath(path))].push_back(package);
}

std::string_view NextLine(std::string_view* rest) {
  const std::string_view line = rest->substr(0, rest->find('\n'));
  rest->remove_prefix(std::min(rest->size(), line.size() + 1));
  return line;
}

SystemPackages ReadDpkg(const fs::path& root) {
  SystemPackages packages{.manager = kDpkg, .list = {}, .owners = {}};
  const fs::path folder = root / "var/lib/dpkg";
  for (const auto& [name, version] : ParseDpkgStatus(ContentOf(folder / "status"))) {
    packages.list[name].version = version;
    std::string list = ContentOf(folder / "info" / (name + ".list"));
    if (list.empty()) {
      list = ContentOf(folder / "info" / (name.substr(0, name.find(':')) + ".list"));
    }
    std::string_view rest = list;
    while (!rest.empty()) AddFile(NextLine(&rest), name, &packages);
  }
  return packages;
}

// Several versions of one package may be installed, as of the kernel.
SystemPackages ReadRpm(const fs::path& root) {
  SystemPackages packages{.manager = kRpm, .list = {}, .owners = {}};
  for (const char* place : {"usr/lib/sysimage/rpm/rpmdb.sqlite", "var/lib/rpm/rpmdb.sqlite"}) {
    std::map<std::string, std::set<std::string>> versions;
    ForEachRpmHeader(root / place, [&](std::string_view header) {
      const RpmPackage one = ParseRpmHeader(header);
      if (one.name.empty()) return;
      versions[one.name].insert(one.version);
      packages.list[one.name];
      for (const std::string& file : one.files) AddFile(file, one.name, &packages);
    });
    for (const auto& [name, all] : versions) {
      packages.list[name].version = fmt::format("{}", fmt::join(all, ", "));
    }
    if (!packages.list.empty()) break;
  }
  return packages;
}

// Records of lines "K:VALUE", an empty line between them: P name, V version; then, of each folder,
// F its path and R a file of it a line.
SystemPackages ReadApk(const fs::path& root) {
  SystemPackages packages{.manager = kApk, .list = {}, .owners = {}};
  for (const char* place : {"lib/apk/db/installed", "usr/lib/apk/db/installed"}) {
    const std::string text = ContentOf(root / place);
    std::string_view rest = text;
    std::string name;
    std::string folder;
    while (!rest.empty()) {
      const std::string_view line = NextLine(&rest);
      if (line.empty()) name.clear();
      if (line.size() < 2 || line[1] != ':') continue;
      const std::string value(line.substr(2));
      if (line[0] == 'P') name = value;
      if (line[0] == 'F') folder = value;
      if (name.empty()) continue;
      if (line[0] == 'V') packages.list[name].version = value;
      if (line[0] == 'R' && packages.list.contains(name)) {
        AddFile("/" + folder + "/" + value, name, &packages);
      }
    }
    if (!packages.list.empty()) break;
  }
  return packages;
}

}  // namespace

std::string_view PlainPath(std::string_view path) {
  constexpr std::string_view kUsr = "/usr";
  if (!path.starts_with(kUsr)) return path;
  const std::string_view rest = path.substr(kUsr.size());
  for (const std::string_view folder : {"/lib", "/bin/", "/sbin/"}) {
    if (rest.starts_with(folder)) return rest;
  }
  return path;
}

std::vector<SystemPackages> ReadSystemPackages(const fs::path& root) {
  std::vector<SystemPackages> all;
  for (SystemPackages packages : {ReadDpkg(root), ReadRpm(root), ReadApk(root)}) {
    if (!packages.list.empty()) all.push_back(std::move(packages));
  }
  return all;
}

}  // namespace rharness
