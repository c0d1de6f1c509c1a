// Parses Linux's descriptions of the machine. Pure, so that files of other machines can be tested;
// environment.cc reads the files.
#ifndef RHARNESS_HARNESS_RECORDS_MANIFEST_HOST_H_
#define RHARNESS_HARNESS_RECORDS_MANIFEST_HOST_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "harness/records/manifest/environment.h"

namespace rharness {

// Model, microcode and instruction sets from /proc/cpuinfo (x86, ARM, POWER); missing ones stay
// empty. Keeps only flags that numeric libraries dispatch on.
void ReadCpuInfo(std::string_view cpuinfo, Cpu* cpu);

// MemTotal of /proc/meminfo; 0 if it is not there.
std::uint64_t MemoryOf(std::string_view meminfo);

// PRETTY_NAME of an os-release file without its quotes, or empty.
std::string PrettyNameOf(std::string_view os_release);

// The versions of the installed packages in a dpkg status file, by "name:architecture".
std::map<std::string, std::string> ParseDpkgStatus(std::string_view dpkg_status);

// The same as text: "name:architecture=version", sorted, one per line.
std::string InstalledPackages(std::string_view dpkg_status);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_RECORDS_MANIFEST_HOST_H_
