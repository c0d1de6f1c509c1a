// What this program was built from and what it is linked with. Nothing here depends on when or
// where.
#ifndef RHARNESS_HARNESS_CLI_BUILD_FACTS_H_
#define RHARNESS_HARNESS_CLI_BUILD_FACTS_H_

#include <string>
#include <vector>

namespace rharness {

// 40 hexadecimal digits, with "-dirty" where the sources differed; "unknown" outside a checkout. In
// a source of its own, which the build writes.
extern const char kCommit[];

struct LibraryFacts {
  std::string name;
  std::string version;
  bool loaded = false;  // asked of the library that is loaded now; else known since compilation
};

// By name.
std::vector<LibraryFacts> LinkedLibraries();

// "g++ 12.2.0"
std::string Compiler();
// "Release"
std::string BuildType();
// "linux/amd64"
std::string BuiltFor();

}  // namespace rharness

#endif  // RHARNESS_HARNESS_CLI_BUILD_FACTS_H_
