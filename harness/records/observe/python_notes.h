// Reads and merges the notes of the hooks in each Python.
//
// Role: the reader of the files that python/rharness_observe.py writes. The run owns them, so each
// must match its size and form; others are reported and skipped.
#ifndef RHARNESS_HARNESS_RECORDS_OBSERVE_PYTHON_NOTES_H_
#define RHARNESS_HARNESS_RECORDS_OBSERVE_PYTHON_NOTES_H_

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/held_folder.h"

namespace rharness {

// Of one process, in the order of writing.
struct ProcessNotes {
  std::map<std::string, std::vector<std::string>> seeds;
  std::map<std::string, std::string> flags;
  std::map<std::string, int> nondeterministic;
  std::set<std::string> variables;
  std::set<std::string> programs;
  std::size_t unread_lines = 0;  // of no known form
};

// All of a run. See Observation for the order of seeds.
struct PythonNotes {
  ProcessNotes all;
  std::set<std::string> processes;    // their numbers, as text
  std::vector<std::string> troubles;  // one sentence each
};

inline constexpr std::size_t kMostPythonFiles = 1024;
inline constexpr std::size_t kMostPythonFileBytes = std::size_t{1} << 20;
inline constexpr std::size_t kMostPythonLines = 4096;  // of a file

// Pure: lines of "KIND\tNAME\tVALUE"; leaves out a last line without its end, which was cut off.
ProcessNotes ParseProcessNotes(std::string_view text);
// Pure. For a source that several processes seeded: the union, sorted; kMostSeenValues at most, and
// then the number of the rest. For a flag with different values: all values, sorted.
ProcessNotes MergeProcessNotes(const std::vector<ProcessNotes>& processes);

// All files python-*.txt of the folder. Never fails: unreadable files are a trouble.
PythonNotes ReadPythonNotes(const HeldFolder& folder);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_RECORDS_OBSERVE_PYTHON_NOTES_H_
