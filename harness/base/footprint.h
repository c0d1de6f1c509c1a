// Programs and mapped libraries of living processes.
//
// Role: reads /proc while a process tree is watched; others map files to packages. A file that is
// only read, such as a Python source, leaves no trace here.
#ifndef RHARNESS_HARNESS_BASE_FOOTPRINT_H_
#define RHARNESS_HARNESS_BASE_FOOTPRINT_H_

#include <compare>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace rharness {

// One way in which a program was started.
struct SeenProgram {
  std::string executable;  // the file itself, links resolved
  std::string invoked_as;  // argv[0]
  std::string working_directory;
  std::map<std::string, std::string> variables;  // the requested ones that are set

  auto operator<=>(const SeenProgram&) const = default;
};

struct Footprint {
  std::set<std::string> mapped;  // files mapped as code, absolute, links resolved
  std::set<SeenProgram> programs;
};

// Inspects one process now; one that ended or is not readable adds nothing.
void AddProcess(int pid, const std::vector<std::string>& variables, Footprint* footprint);

// Pure: the files that /proc/PID/maps shows as executable; leaves out deleted files and mappings
// that are no files.
std::set<std::string> MappedCode(std::string_view maps);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_BASE_FOOTPRINT_H_
