// A manifest: everything needed to run a training run again and to judge the result.
//
// Role: the unit of history, "rharness.manifest/v1" (manifest_members.h lists its members). Plain
// data; admission.h checks whether it is complete and consistent.
#ifndef RHARNESS_HARNESS_RECORDS_MANIFEST_MANIFEST_H_
#define RHARNESS_HARNESS_RECORDS_MANIFEST_MANIFEST_H_

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/clock.h"
#include "harness/base/json.h"
#include "harness/base/result.h"
#include "harness/records/manifest/artifact.h"
#include "harness/records/manifest/data_item.h"
#include "harness/records/manifest/environment.h"
#include "harness/records/manifest/gang.h"
#include "harness/records/manifest/image.h"
#include "harness/records/manifest/observation.h"
#include "harness/records/manifest/origin.h"
#include "harness/records/manifest/property.h"
#include "harness/records/manifest/run_metrics.h"
#include "harness/verdict/states.h"

namespace rharness {

struct CodeFile {
  std::string path;  // relative to the repository's root, and to the workspace in a rerun
  std::string sha256;
};

// The code that ran. `files`, if given, are the identity (their hashes must match); else the commit
// is.
struct Code {
  std::string repository;  // folder or URL; a relative folder lies below the drill's --root
  std::string commit;      // 40 or 64 hex digits, or empty
  bool dirty = false;
  std::string diff_sha256;       // of `git diff HEAD`, of a dirty tree
  std::string kept_diff_sha256;  // of the kept diff, which a rerun applies; empty: none
  std::vector<CodeFile> files;   // sources and generated files that the run depends on
};

struct Metric {
  std::string name;
  double value = 0.0;
  std::string unit;  // "1" for a pure number
  MetricDirection direction = MetricDirection::kNotStated;
  bool primary = false;
  std::optional<double> margin;  // the difference that would matter, in the metric's unit
  double quantum = 0.0;          // resolution: 1/N of an accuracy over N examples
  std::string evaluated_on;      // name of its evaluation data; empty: not stated
};
// A primary metric, and beside one any other with a stated margin. Without a primary one curves
// decide, and a metric that is not called primary does not take their place.
bool DecidesVerdict(const Metric& metric, const std::vector<Metric>& metrics);

struct Determinism {
  std::string declared = "statistical";      // "bitwise" or "statistical"
  std::string scope = "hardware_class";      // bits hold on: "hardware_class" or "architecture"
  std::map<std::string, std::string> flags;  // "torch.use_deterministic_algorithms": "true"
};

// Needs and limits of a rerun; of a gang, those of each node. Zero or absent: the drill's default.
struct Resources {
  int cpus = 1;
  int gpus = 0;
  std::uint64_t memory_bytes = 0;
  std::uint64_t disk_bytes = 0;
  double timeout_seconds = 0.0;
};

struct Manifest {
  std::string run_id;  // 1 to 128 letters, digits, '.', '_', '-'; '.' and '-' not first
  std::string family;  // runs whose noise may be pooled: model, size class, hardware class
  WallTime started{};
  WallTime ended{};
  double duration_seconds = 0.0;
  Code code;
  Image image;
  std::vector<DataItem> data;
  std::vector<std::string> command;  // argument vector, never a shell string
  std::string working_directory;     // relative to the workspace; "" is the workspace
  std::map<std::string, Json> hyperparameters;
  std::map<std::string, std::int64_t> seeds;  // by RNG source: "python", "numpy", "init", "shuffle"
  std::vector<std::string> rng_sources;       // every RNG the run draws from
  Environment environment;
  Determinism determinism;
  std::string metrics_path;  // relative file the run writes its metrics and curves to
  std::string metrics_step;  // what that file calls its step, where no known name says it
  std::vector<Metric> metrics;
  std::vector<Curve> curves;
  std::vector<Artifact> artifacts;
  Resources resources;
  std::optional<Gang> gang;  // empty: one process on one node
  // Families of probes that the run's arithmetic depends on ("gemm", "collective"). Empty: not
  // declared; it depends on all.
  std::vector<std::string> probe_families;
  std::vector<Property> properties;             // its claims; not part of its configuration
  std::optional<UnreadMembers> unread_metrics;  // empty: not known, as in older records
  std::optional<Observation> observation;       // empty: not observed, as in older records
  std::vector<std::string> notes;               // findings of `record`
  std::optional<Origin> origin;                 // of what was imported
  std::string kept;  // folder of files kept by SHA-256 (kept_files.h), as a location; or empty
};

inline constexpr int kManifestVersion = 1;
// In a note: an input changed during the run. So it is not known what ran.
inline constexpr char kChangedDuringRun[] = "changed during the run";

// Errors: invalid_input with file and JSON path. Checks types and the rules that keep a reader safe
// (names, paths, lengths of curves, hex digits) and refuses unknown members except "x-...";
// admission checks missing, inconsistent and wrongly sized values. Required: schema, run_id,
// command, which may be empty if another tool's record does not have it.
Result<Manifest> ParseManifest(const Json& json, std::string_view file);
// Whether ParseManifest would accept what a program assembled, by the same checks. Normalises its
// paths.
// Errors: those of ParseManifest.
Status CheckManifest(Manifest* manifest, std::string_view file);
Json ToJson(const Manifest& manifest);  // starts with "schema": "rharness.manifest/v1"
// Of the bytes that `rharness record` and `import` write.
std::string ManifestSha256(const Manifest& manifest);
Result<Manifest> LoadManifest(const std::filesystem::path& path);

// Runs with equal configuration keys differ at most in their seeds: SHA-256 (hex) over family, code
// identity (files, else commit), data hashes, eval sets, nodes and tasks of a gang,
// hyperparameters, declared determinism and the command, in which an argument that is a seed's
// value after one whose name contains "seed" or ends in "random_state" (also "--seed=3") counts as
// "{seed}", as does a seed's value that is the only argument without an option ("train.py 3"), and
// a hyperparameter of such a name, and as "{place}" a place where tasks meet (meeting_options.h).
// 1 and 1.0 are one number; the order of members, files and data does not count.
std::string ConfigurationKey(const Manifest& manifest);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_RECORDS_MANIFEST_MANIFEST_H_
