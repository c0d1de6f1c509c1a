// Properties that a run claims and that need no recorded result: two ways of running one program
// must agree.
//
// Role: a member of manifests, "properties", and of files of declarations. A claim is not part of
// the run: the configuration key ignores it, so that runs with and without it are replicates of
// each other. property_legs.h makes the commands of the two ways. Not here: how they are run,
// compared and judged.
#ifndef RHARNESS_HARNESS_RECORDS_MANIFEST_PROPERTY_H_
#define RHARNESS_HARNESS_RECORDS_MANIFEST_PROPERTY_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/json.h"
#include "harness/base/result.h"

namespace rharness {

class JsonReader;

enum class PropertyKind {
  kRepeated,        // the run twice, nothing changed
  kResumed,         // straight = stopped at a step and resumed from its checkpoint
  kAccumulated,     // one batch = its parts, gradients accumulated
  kLoaderWorkers,   // one worker that loads data = several
  kProcesses,       // one process = several
  kResharded,       // a checkpoint = the same, loaded and saved again
  kEvaluatedTwice,  // one checkpoint, evaluated twice
  kBatchInvariant,  // an item's answer as recorded = alone, in other batches, orders and settings
};
// "repeated", "resumed", "accumulated", "loader_workers", "processes", "resharded",
// "evaluated_twice", "batch_invariant"
std::string_view PropertyKindName(PropertyKind kind);

// The largest allowed difference if not every bit is claimed.
struct Within {
  // By the name of a metric, and of every value of a curve of that name: the difference, in its
  // unit. All others are claimed to the bit.
  std::map<std::string, double> metrics;
  // For each floating-point tensor of a checkpoint: the norm of the difference over the norm of the
  // straight run's (L2). Empty: to the bit.
  std::optional<double> tensors;
  bool empty() const { return metrics.empty() && !tensors; }
};

// One of the commands that load a checkpoint and save it again.
struct ReshardStep {
  std::vector<std::string> command;  // "{checkpoint}": its input
  std::string saved;                 // its output: a file or a folder, relative
};

// Another way of running: arguments to set or a whole command, and variables (none: unset).
struct OtherWay {
  std::string label;  // of kBatchInvariant; as that of a property
  std::vector<std::string> arguments;
  std::vector<std::string> command;
  std::map<std::string, std::optional<std::string>> environment;
};

struct Property {
  PropertyKind kind = PropertyKind::kRepeated;
  std::string label;  // tells several of a kind apart: letters, digits, '.', '_' and '-'; or empty
  // Of kResumed: the cut points, each on its own. Strictly increasing, 1 or more.
  std::vector<std::int64_t> at;
  // Arguments that end the run after "{step}", and that resume from "{checkpoint}"; set as by
  // SetArguments of command_arguments.h. `resume` may be empty: some programs find it themselves.
  std::vector<std::string> stop;
  std::vector<std::string> resume;
  // The file or folder that the first leg leaves and the next leg gets, relative to the working
  // directory; of kResumed it may contain "{step}".
  std::string checkpoint;
  std::string laid_at;  // its place for the next leg; empty: at `checkpoint`
  // Of kAccumulated, kLoaderWorkers and kProcesses: the other way, as OtherWay has it. Of
  // kBatchInvariant the same with "{size}", for each of `sizes`. Of kEvaluatedTwice `command` is
  // the evaluation.
  std::vector<std::string> arguments;
  std::vector<std::string> command;
  std::map<std::string, std::optional<std::string>> environment;
  std::vector<std::string> again;  // of kEvaluatedTwice: set the second time; may be empty
  std::vector<ReshardStep> steps;  // of kResharded: one after the other
  // Of kBatchInvariant: items in a batch, strictly increasing, 1 or more; and ways beside these.
  std::vector<std::int64_t> sizes;
  std::vector<OtherWay> ways;
  Within within;
};

// The name of a property: its kind, and ":LABEL" after it.
std::string NameOf(const Property& property);

inline constexpr std::size_t kMostProperties = 50;
inline constexpr std::size_t kMostCutPoints = 20;  // and batch sizes, and further ways
inline constexpr std::string_view kStepPlaceholder = "{step}";
inline constexpr std::string_view kCheckpointPlaceholder = "{checkpoint}";
inline constexpr std::string_view kSizePlaceholder = "{size}";

// "properties" of a manifest, optional. Errors stick to the reader: an unknown name or member, a
// member that this property does not have or that is missing, placeholders without a meaning, paths
// that leave their folder, no cut point, one property twice.
void ReadProperties(JsonReader& reader, std::vector<Property>* out);
Json ToJson(const Property& property);  // members that are empty are left out

// A file of declarations: {"properties": [...]} as a manifest has them. Errors: invalid_input, also
// for a file without any; those of reading.
Result<std::vector<Property>> ParseProperties(const Json& json, std::string_view file);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_RECORDS_MANIFEST_PROPERTY_H_
