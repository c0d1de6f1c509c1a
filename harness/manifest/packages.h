// The packages that a run could use, by name and version, and which of them it was seen to use.
//
// Role: turns the footprint of a run's processes into Environment::packages. A package is in use
// when a file of it was mapped as code; one that has no such file (pure Python, data) leaves no
// trace, and its use is not known. Runs nothing.
#ifndef RHARNESS_HARNESS_MANIFEST_PACKAGES_H_
#define RHARNESS_HARNESS_MANIFEST_PACKAGES_H_

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/footprint.h"
#include "harness/manifest/environment.h"

namespace rharness {

inline constexpr char kDpkg[] = "dpkg";      // packages of the host, by "name:architecture"
inline constexpr char kPython[] = "python";  // distributions, by normalised name (PEP 503)

// The package that a file is of.
struct PackageOwner {
  std::string manager;  // kDpkg or kPython
  std::string name;
  std::string version;
};
using PackageOwners = std::map<std::string, PackageOwner>;  // by path

// Of each program that ran, what PackageFolders asks for.
const std::vector<std::string>& FootprintVariables();  // PATH, PYTHONPATH, HOME

// Both lists of this host, for a run with this footprint; reads dpkg's files below `root` and the
// metadata in the folders that PackageFolders names. A host without dpkg has no list of it. A
// footprint without any program: the Python list is missing; with programs of which none is a
// Python: that list is empty. One without mapped files: the use of packages is not known. Cost:
// some 50 ms, most of it once a process. `owners`, where given, gets the packages of the mapped
// files, as far as a package has them in its list.
std::map<std::string, PackageList> CapturePackages(const Footprint& footprint,
                                                   const std::filesystem::path& root = "/",
                                                   PackageOwners* owners = nullptr);

// Where the Pythons of a footprint find their packages, in the order of their search: PYTHONPATH,
// the virtual environment they were started from or else their own folders, the user's; then every
// site-packages and dist-packages folder that something was mapped from. Only folders that exist.
std::vector<std::filesystem::path> PackageFolders(const Footprint& footprint);

// Adds the distributions of one folder (*.dist-info, *.egg-info); one that is in the list already
// was found first and stays, unless this folder's is the one in use. `owners`: as above.
void AddPythonPackages(const std::filesystem::path& folder, const Footprint& footprint,
                       PackageMap* packages, PackageOwners* owners = nullptr);

// "Foo.Bar_baz" -> "foo-bar-baz".
std::string NormalPythonName(std::string_view name);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_MANIFEST_PACKAGES_H_
