// The packages that a run could use, by name and version, and which of them it was seen to use.
//
// Role: turns the footprint of a run's processes into Environment::packages. A package is in use
// when a file of it was mapped as code; one without such a file (pure Python, data) leaves no
// trace, and its use is not known. Runs nothing.
//
// One version may name two builds: a wheel is built again, or comes from another index. A digest
// identifies what was installed:
//   python  the files that the wheel brought, as its RECORD has them ("sha256:..."): sorted lines
//           "PATH HASH", without what the installer adds (RECORD itself, INSTALLER, REQUESTED,
//           direct_url.json, scripts and others outside of the folder, bytecode), so that one wheel
//           has one digest everywhere. None for an editable install, whose files lie elsewhere, or
//           for one without RECORD. Sources: PyPA specifications "Recording installed projects",
//           "Binary distribution format", "Direct URL".
//   conda   the package's archive, as conda-meta has it: "sha256:...", or "md5:..." of older ones.
//   system  none: an archive never gives a version to other contents, and a thousand digests would
//           make every record three times as long.
// It is what was installed: files that were changed afterwards are not seen by it.
#ifndef RHARNESS_HARNESS_RECORDS_MANIFEST_PACKAGES_H_
#define RHARNESS_HARNESS_RECORDS_MANIFEST_PACKAGES_H_

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/footprint.h"
#include "harness/records/manifest/environment.h"
#include "harness/records/manifest/system_packages.h"

namespace rharness {

inline constexpr char kPython[] = "python";  // distributions, by normalised name (PEP 503)
inline constexpr char kConda[] = "conda";    // packages of conda environments, by name

// The package that a file is of.
struct PackageOwner {
  std::string manager;  // kPython, or that of the system
  std::string name;
  std::string version;
};
using PackageOwners = std::map<std::string, PackageOwner>;  // by path

// The variables of each program that PackageFolders needs.
const std::vector<std::string>& FootprintVariables();

// The lists of this host, for a run with this footprint: those of the system's own managers below
// `root` (system_packages.h), and the metadata in the folders that PackageFolders and CondaPrefixes
// name. A missing manager, conda included, has no list. Without any program in the footprint the
// Python list is missing; without a Python among its programs that list is empty. Without mapped
// files the use of packages is not known. Cost: some 50 ms, most of it once per process. `owners`,
// if given, receives the packages of the mapped files, as far as a package lists them.
std::map<std::string, PackageList> CapturePackages(const Footprint& footprint,
                                                   const std::filesystem::path& root = "/",
                                                   PackageOwners* owners = nullptr);

// SHA-256 over the host's sorted package list, dpkg's or else those of other managers; read once
// per process; empty if there is none.
std::string HostPackagesSha256();

// The Python of a run; none: no program of the run was a Python. Of several (a launcher can start a
// second Python): the one that its own VIRTUAL_ENV or CONDA_PREFIX names, else an isolated
// environment before an interpreter of the system, else the one with more mapped files. `base`: the
// code's root, absolute and without links. Without version, activation and search path, which no
// footprint shows.
std::optional<PythonEnvironment> FindPython(const Footprint& footprint,
                                            const std::filesystem::path& base);

// The package folders of this Python, in search order: PYTHONPATH, the virtual environment it was
// started from or else its own folders, the user's; then every site-packages and dist-packages
// folder with a mapped file that belongs to no other Python of the run. Only folders that exist.
std::vector<std::filesystem::path> PackageFolders(const Footprint& footprint);
// The same of an environment's folder alone, whatever ran.
std::vector<std::filesystem::path> PackageFoldersBelow(const std::filesystem::path& prefix);

// Adds the distributions of one folder (*.dist-info, *.egg-info); an entry of the list was found
// first and stays, unless this folder's is the one in use. `owners`: as above.
void AddPythonPackages(const std::filesystem::path& folder, const Footprint& footprint,
                       PackageMap* packages, PackageOwners* owners = nullptr);

// The conda environments that programs of a footprint were started from: folders with conda-meta.
std::vector<std::filesystem::path> CondaPrefixes(const Footprint& footprint);
// Adds the packages of one, versions as "VERSION-BUILD". One that cannot be read is left out.
void AddCondaPackages(const std::filesystem::path& prefix, const Footprint& footprint,
                      PackageMap* packages);

// "Foo.Bar_baz" -> "foo-bar-baz".
std::string NormalPythonName(std::string_view name);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_RECORDS_MANIFEST_PACKAGES_H_
