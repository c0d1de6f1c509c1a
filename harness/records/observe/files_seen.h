// Selects and describes the files that a run had open and that need a report.
//
// Role: from paths to SeenLibrary and SeenInput. Reads the files after the run.
#ifndef RHARNESS_HARNESS_RECORDS_OBSERVE_FILES_SEEN_H_
#define RHARNESS_HARNESS_RECORDS_OBSERVE_FILES_SEEN_H_

#include <map>
#include <set>
#include <string>
#include <vector>

#include "harness/base/clock.h"
#include "harness/base/footprint.h"
#include "harness/records/manifest/observation.h"
#include "harness/records/manifest/packages.h"
#include "harness/records/observe/observer.h"

namespace rharness {

inline constexpr std::size_t kMostLibraries = 1024;
// Of all inputs together: hashing costs the run's end some tens of milliseconds at most.
inline constexpr std::uint64_t kMostHashedBytes = std::uint64_t{32} << 20;

// Whether a file was written or replaced since (by its change time, which cannot be set back).
bool IsChangedSince(const std::filesystem::path& file, WallTime started);

// Mapped libraries by path; without those of a package, which has a version, except libraries for
// numeric work: another copy of these first on the path changes bits. Those below request.base that
// a rerun has below its own, as they are data, code or made by the run, have paths relative to it.
std::vector<SeenLibrary> LibrariesOf(const Footprint& footprint, const PackageOwners& owners,
                                     const ObserveRequest& request, WallTime started);

// Files opened for reading that nothing accounts for: no data, no code, no installed package, not
// the run itself; by path, relative below request.base. `links`: files by the names of links that
// lead to them; such a name below request.base is the input's path, unless the commit has the link
// and the run's own folder the file. `*more`: number beyond request.most_inputs.
std::vector<SeenInput> UndeclaredInputs(const std::set<std::string>& files,
                                        const std::map<std::string, std::string>& links,
                                        const ObserveRequest& request, const Footprint& footprint,
                                        WallTime started, std::size_t* more);

// Of files that the run read as they were before it, those that it then wrote over: what they were
// is gone. Relative below request.base. Neither declared ones nor the commit's.
std::set<std::string> OverwrittenInputs(const std::set<std::string>& begun_from,
                                        const ObserveRequest& request, WallTime started);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_RECORDS_OBSERVE_FILES_SEEN_H_
