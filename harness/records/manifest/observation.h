// What a run was seen to use, beside the inputs that its record declares.
//
// Role: part of a manifest and of evidence, so that a drill compares like with like. Made by
// harness/records/observe. Absent: nothing was observed, which is no claim and never a difference.
#ifndef RHARNESS_HARNESS_RECORDS_MANIFEST_OBSERVATION_H_
#define RHARNESS_HARNESS_RECORDS_MANIFEST_OBSERVATION_H_

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
inline constexpr std::string_view kSeenByPreload = "preload";  // a library loaded before the others
inline constexpr std::string_view kSeenByPython = "python";    // hooks in each Python
inline constexpr std::string_view kSeenByKernels = "kernels";  // a library in each CUDA driver

// A library that a process had mapped as code.
struct SeenLibrary {
  std::string path;      // absolute; if the run made it below its own folder: relative
  std::string soname;    // empty: it has none
  std::string build_id;  // hexadecimal; empty: it has none
  std::uint64_t size_bytes = 0;
  std::string manager;  // "dpkg" or "python"; empty: no known package owns it
  std::string package;
  std::string version;
};

// A file that was read and that no data, code or installed package accounts for.
struct SeenInput {
  std::string path;    // as a library's; below the run's own folder: relative
  std::string sha256;  // empty: too large to hash during the run
  std::uint64_t size_bytes = 0;
};

// A GPU kernel that was launched.
struct SeenKernel {
  std::string name;  // its symbol; one that is too long ends with a digest of the whole
  std::uint64_t launches = 0;
  // "4x1x1 of 256x1x1", blocks of threads, "+ 1024 bytes" with dynamic shared memory; the last may
  // say that there are more.
  std::vector<std::string> shapes;

  bool operator==(const SeenKernel&) const = default;
};
// A name of SeenKernel: the launch of a graph, whose kernels are seen where it is captured.
inline constexpr std::string_view kSeenGraphLaunch = "[CUDA graph launch]";
// By all processes that made the same notes.
struct SeenKernels {
  std::vector<SeenKernel> launched;  // by name
  // Of each process that launched any: a digest of the names in the order of their launches, and
  // how many. Sorted.
  std::vector<std::string> orders;
  bool is_all = false;  // none was missed

  bool operator==(const SeenKernels&) const = default;
};

struct Observation {
  std::set<std::string> means;  // kSeenBy...
  // By the function that set it, "numpy.random.seed" or, in a worker, "numpy.random.seed (worker)":
  // the values, in the order of the calls if one process made them, else sorted.
  std::map<std::string, std::vector<std::string>> seeds;
  std::map<std::string, std::string> flags;  // in force at the end, "torch.deterministic": "true"
  // Operators that warned about a missing deterministic implementation: the number of warnings.
  std::map<std::string, int> nondeterministic;
  // What NCCL's log says that it chose: "network": "IB"; see nccl_log.h.
  std::map<std::string, std::string> nccl;
  // GPU kernels, if they were looked at, and a process had a CUDA driver.
  std::optional<SeenKernels> kernels;
  // Recorded variables that the run read by name. Empty: not known.
  std::optional<std::set<std::string>> variables_read;
  std::vector<SeenLibrary> libraries;            // by path
  std::optional<std::vector<SeenInput>> inputs;  // by path; empty: not known
  // Files that the run read as they were before it and then wrote over, in its own folder (relative
  // to it) or where its command says: a rerun cannot begin from them.
  std::set<std::string> overwritten;
  std::vector<std::string> unseen;  // what could not be observed, one sentence each
  // Processes that a signal ended, files that could not be written, one clause each. Kept only as a
  // note of the record.
  std::vector<std::string> losses;
  // Files that were opened for writing, absolute. In no record.
  std::set<std::string> outputs;

  bool Has(std::string_view mean) const { return means.contains(std::string(mean)); }
};

// Of `unseen`: some files that were read are not among `inputs`.
inline constexpr std::string_view kTooManyFiles =
    "all files that were read: there were too many to note";

// A value of `seeds` that the system drew: "none: drawn from the system (train.py:12)", or, for a
// generator that an installed package made, "(package sklearn/utils/x.py:3)".
inline constexpr std::string_view kDrawnSeed = "none: drawn from the system";
inline bool IsDrawn(std::string_view value) { return value.starts_with(kDrawnSeed); }
// The source name for draws of the run's own code from the system itself: uuid4(), secrets.
inline constexpr std::string_view kSystemSource = "os.urandom";
inline constexpr std::string_view kPackagePlace = "package";
// "train.py:12"; empty: not known.
inline std::string PlaceOfDraw(std::string_view value) {
  if (!IsDrawn(value) || !value.ends_with(')') || value.size() < kDrawnSeed.size() + 3) return "";
  value.remove_suffix(1);
  return std::string(value.substr(kDrawnSeed.size() + 2));
}
// Suffix of a value of `seeds` that was taken from a clock or from a process id.
inline constexpr std::string_view kSeedOfClock = " (the time)";
inline constexpr std::string_view kSeedOfProcess = " (the process's number)";
// A value of a worker: it draws from the state that it was started with. "N workers" of one such
// state draw the same numbers.
inline constexpr std::string_view kInheritedState = "inherited state ";
// Flags for places of the run's own code that leave an order open, each the first place:
// "train.py:4".
inline constexpr std::string_view kHashSeedFlag = "python.hash_seed";  // "random": salted
inline constexpr std::string_view kSalted = "random";
inline constexpr std::string_view kSetOrderFlag = "python.set_order";
inline constexpr std::string_view kWorkerOrderFlag = "python.worker_order";
inline constexpr std::string_view kListingFlag = "python.listing_order";
inline constexpr std::string_view kFileTimesFlag = "python.file_times";
// The run's own code passes a seed to a RandomState, as random_state=42 does; the seed itself is
// not seen.
inline constexpr std::string_view kRandomStateFlag = "python.random_state";
// How many CPUs the run could use.
inline constexpr std::string_view kCpusFlag = "process.cpus";
// Children that did not end with 0, if any: "2 by SIGKILL, with 1".
inline constexpr std::string_view kChildEndsFlag = "process.child_ends";
// "file_order.FOLDER": a digest of the names in the order that the run saw.
inline constexpr std::string_view kFileOrderFlag = "file_order.";
// "unrecorded.NAME": the run's own code reads a variable that is set and not recorded.
inline constexpr std::string_view kUnrecordedFlag = "unrecorded.";

// Keeps at most this many of each; a last value counts the rest.
inline constexpr std::size_t kMostSeenValues = 64;
inline constexpr std::size_t kMostSeenNames = 512;

Json ToJson(const Observation& observation);
// The member "observation", optional.
void ReadObservation(JsonReader& reader, std::optional<Observation>* out);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_RECORDS_MANIFEST_OBSERVATION_H_
