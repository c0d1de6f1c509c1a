// Properties that a run claims and that need no recorded result: what must be the same between two
// ways of running one program.
//
// Role: a member of manifests, "properties", and of files of declarations. A claim is no part of
// what ran: the configuration key knows nothing of it, so that runs with it and without are
// replicates of each other. What the two ways are as commands is for property_legs.h; how they are
// run, compared and judged is not decided here.
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
  kResumed,         // straight = stopped at a step and gone on from its checkpoint
  kAccumulated,     // one batch = its parts, gradients accumulated
  kLoaderWorkers,   // one worker that loads data = several
  kProcesses,       // one process = several
  kResharded,       // a checkpoint = the same, loaded and saved again
  kEvaluatedTwice,  // one checkpoint, evaluated twice
};
// "repeated", "resumed", "accumulated", "loader_workers", "processes", "resharded",
// "evaluated_twice"
std::string_view PropertyKindName(PropertyKind kind);

// How far the two may lie apart where not every bit is claimed.
struct Within {
  // By the name of a metric, and of every value of a curve of that name: the difference, in its
  // unit. What is not named is claimed to the bit.
  std::map<std::string, double> metrics;
  // Of each floating-point tensor of a checkpoint: the norm of the difference over the norm of what
  // the straight run has (L2). Empty: to the bit.
  std::optional<double> tensors;
  bool empty() const { return metrics.empty() && !tensors; }
};

// One of the commands that load and save a checkpoint again.
struct ReshardStep {
  std::vector<std::string> command;  // "{checkpoint}": what it loads
  std::string saved;                 // what it leaves: a file or a folder, relative
};

struct Property {
  PropertyKind kind = PropertyKind::kRepeated;
  std::string label;  // tells several of a kind apart: letters, digits, '.', '_' and '-'; or empty
  // Of kResumed: where the run is cut, each on its own. Strictly increasing, 1 or more.
  std::vector<std::int64_t> at;
  // Arguments that end the run after "{step}", and that go on from "{checkpoint}"; set as
  // SetArguments of command_arguments.h does. `resume` may be empty: some programs look for
  // themselves.
  std::vector<std::string> stop;
  std::vector<std::string> resume;
  // The file or folder that the first leg leaves and the next is given, relative to the working
  // directory; of kResumed it may have "{step}" in it.
  std::string checkpoint;
  std::string laid_at;  // where the next leg finds it; empty: at `checkpoint`
  // Of kAccumulated, kLoaderWorkers and kProcesses: the other way, as arguments to set or as a
  // whole command, and variables (none: unset). Of kEvaluatedTwice `command` is the evaluation.
  std::vector<std::string> arguments;
  std::vector<std::string> command;
  std::map<std::string, std::optional<std::string>> environment;
  std::vector<std::string> again;  // of kEvaluatedTwice: set the second time; may be empty
  std::vector<ReshardStep> steps;  // of kResharded: one after the other
  Within within;
};

// What a property is called: its kind, and ":LABEL" behind it.
std::string NameOf(const Property& property);

inline constexpr std::size_t kMostProperties = 50;
inline constexpr std::size_t kMostCutPoints = 20;
inline constexpr std::string_view kStepPlaceholder = "{step}";
inline constexpr std::string_view kCheckpointPlaceholder = "{checkpoint}";

// "properties" of a manifest, optional. Errors stick to the reader: an unknown name or member, a
// member that this property has not or lacks, placeholders where they mean nothing, paths that
// leave their folder, no cut point, one property twice.
void ReadProperties(JsonReader& reader, std::vector<Property>* out);
Json ToJson(const Property& property);  // members that are empty are left out

// A file of declarations: {"properties": [...]} as a manifest has them. Errors: invalid_input, also
// where it has none; those of reading.
Result<std::vector<Property>> ParseProperties(const Json& json, std::string_view file);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_RECORDS_MANIFEST_PROPERTY_H_
