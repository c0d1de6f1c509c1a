// The packages of a system's own manager, with their programs and libraries.
//
// Role: one reader per manager, for the host and for the files of an image. Runs nothing; its input
// may be untrusted.
//   dpkg  var/lib/dpkg: status and info/*.list
//   rpm   rpmdb.sqlite in usr/lib/sysimage/rpm or var/lib/rpm (Fedora 33, RHEL 9 and later): a
//         header a package. Older databases (Berkeley DB, ndb) are not read: there is no list.
//         Source: rpm.org, "RPM V4 package format", section "Header structure"; rpmtag.h.
//   apk   lib/apk/db/installed or usr/lib/apk/db/installed (Alpine). Source: Alpine wiki, "Apk
//         spec", section "Installed database V2".
#ifndef RHARNESS_HARNESS_RECORDS_MANIFEST_SYSTEM_PACKAGES_H_
#define RHARNESS_HARNESS_RECORDS_MANIFEST_SYSTEM_PACKAGES_H_

#include <array>
#include <filesystem>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "harness/records/manifest/package_list.h"

namespace rharness {

inline constexpr const char* kDpkg = "dpkg";  // by "name:architecture"
inline constexpr const char* kRpm =
    "rpm";  // by "name.architecture"; versions "EPOCH:VERSION-RELEASE"
inline constexpr const char* kApk = "apk";  // by name

inline constexpr std::array kSystemManagers = {kDpkg, kRpm, kApk};

struct SystemPackages {
  std::string manager;  // one of kSystemManagers
  PackageMap list;      // for a run that used none of them
  // The packages of programs and libraries, by PlainPath.
  std::unordered_map<std::string, std::vector<std::string>> owners;
};

// On merged systems /lib is /usr/lib, and a manager may know a file by either name.
std::string_view PlainPath(std::string_view path);

// One entry for each manager that has packages below this root.
std::vector<SystemPackages> ReadSystemPackages(const std::filesystem::path& root);

// The content of an rpm header; empty if invalid, or for a trusted key ("gpg-pubkey"). Exposed for
// tests: `header` may be untrusted, and files that take more than eight times its size are left
// out.
struct RpmPackage {
  std::string name;  // "glibc.x86_64"; empty: none
  std::string version;
  std::vector<std::string> files;  // absolute
};
RpmPackage ParseRpmHeader(std::string_view header);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_RECORDS_MANIFEST_SYSTEM_PACKAGES_H_
