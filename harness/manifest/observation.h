// What a run was seen to use while it ran, beside what its record says it was given.
//
// Role: part of a manifest and of evidence, so that a drill compares what was seen with what was
// seen. Made by harness/observe. Absent: nothing was looked at, which is no claim and never a
// difference.
#ifndef RHARNESS_HARNESS_MANIFEST_OBSERVATION_H_
#define RHARNESS_HARNESS_MANIFEST_OBSERVATION_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/json.h"
#include "harness/base/json_reader.h"

namespace rharness {

// How a run was looked at.
inline constexpr std::string_view kSeenByMaps = "maps";        // /proc/PID/maps, in samples
inline constexpr std::string_view kSeenByPreload = "preload";  // a library before the others
inline constexpr std::string_view kSeenByPython = "python";    // hooks in each Python

// A library that a process had mapped as code.
struct SeenLibrary {
  std::string path;      // absolute; below the run's own folder where the run made it: relative
  std::string soname;    // empty: it has none
  std::string build_id;  // hexadecimal; empty: it has none
  std::uint64_t size_bytes = 0;
  std::string manager;  // "dpkg" or "python"; empty: no package is known to own it
  std::string package;
  std::string version;
};

// A file that was read and that neither data, code nor an installed package accounts for.
struct SeenInput {
  std::string path;    // as a library's; below the run's own folder: relative
  std::string sha256;  // empty: too large to be hashed in passing
  std::uint64_t size_bytes = 0;
};

struct Observation {
  std::set<std::string> means;  // kSeenBy...
  // By what set it, "numpy.random.seed" or, in a worker, "numpy.random.seed (worker)": the values,
  // in the order of the calls where one process made them, else sorted.
  std::map<std::string, std::vector<std::string>> seeds;
  std::map<std::string, std::string> flags;  // in force at the end, "torch.deterministic": "true"
  // Operators that warned of having no deterministic implementation: how many warnings were shown.
  std::map<std::string, int> nondeterministic;
  // Of the variables that a record keeps, those that somebody asked for by name. Empty: not known.
  std::optional<std::set<std::string>> variables_read;
  std::vector<SeenLibrary> libraries;            // by path
  std::optional<std::vector<SeenInput>> inputs;  // by path; empty: not known
  std::vector<std::string> unseen;               // what could not be looked at, one sentence each

  bool Has(std::string_view mean) const { return means.contains(std::string(mean)); }
};

// At most this many of each are kept; a last value says how many more there were.
inline constexpr std::size_t kMostSeenValues = 64;
inline constexpr std::size_t kMostSeenNames = 512;

Json ToJson(const Observation& observation);
// The member "observation", optional.
void ReadObservation(JsonReader& reader, std::optional<Observation>* out);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_MANIFEST_OBSERVATION_H_
