// The file of notes of the preloaded library: made before a run, read after it.
//
// Role: the two ends of arena.h in this process. The run can write to it while it runs, so its
// content is only text: no part is mapped, followed or trusted to have a length.
#ifndef RHARNESS_HARNESS_RECORDS_OBSERVE_ARENA_FILE_H_
#define RHARNESS_HARNESS_RECORDS_OBSERVE_ARENA_FILE_H_

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/base/footprint.h"
#include "harness/base/held_folder.h"
#include "harness/base/result.h"

namespace rharness {

struct ArenaNotes {
  std::set<std::string> variables;   // asked for by name
  std::set<std::string> files;       // opened for reading, absolute
  std::set<std::string> begun_from;  // of these, as they were before the run, to be read alone
  std::map<std::string, std::string> links;  // the same through a link: the file, by its name
  std::set<std::string> outputs;    // opened for writing, absolute; of ObserveRequest::outputs
  std::set<std::string> libraries;  // absolute, as the loader names them
  std::set<std::string> programs;   // absolute
  std::set<SeenProgram> pythons;    // of these, how they were started
  std::map<std::string, int> shell_ends;  // exit codes of a shell's children, by PID
  std::map<int, int> child_ends;          // by signal, or by exit code plus kExitCodes: count
  std::set<std::pair<int, std::string>> not_written;  // error number and file
  bool is_full = false;                               // something found no place
};

// The names for the library: variables, prefixes of variables, declared folders, each after its
// mark (kNameExact, ...). In the order given, as many as fit; `*left_out` is set if some do not.
std::string JoinNames(const std::vector<std::string>& names, bool* left_out);

// A new file of notes of `size` bytes, which begin with `head`, with all space that it needs.
// Errors: io.
Status MakeNotesFile(const std::filesystem::path& path, std::string_view head, std::size_t size);

// Makes folder/seen, with all space that it needs (4.2 MiB). Errors: io.
Status MakeArena(const std::filesystem::path& folder, std::string_view names);

// Errors: an invalid arena (integrity, invalid_input), io.
Result<ArenaNotes> ReadArena(const HeldFolder& folder);

// Pure: from the bytes of an arena. Leaves out texts with control characters, and paths that are
// not absolute or not in normal form.
Result<ArenaNotes> ParseArena(std::string_view bytes);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_RECORDS_OBSERVE_ARENA_FILE_H_
