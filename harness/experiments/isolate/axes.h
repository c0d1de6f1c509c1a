// The changes between a recorded run and one that drifted, as axes: each can be set to its value on
// either side, or has a reason why it cannot.
//
// Role: turns two records into the input of a search (search.h), and a trial back into the record
// of a run. Pure.
#ifndef RHARNESS_HARNESS_EXPERIMENTS_ISOLATE_AXES_H_
#define RHARNESS_HARNESS_EXPERIMENTS_ISOLATE_AXES_H_

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compare/facts.h"
#include "harness/base/result.h"
#include "harness/execution/rerun/ticket.h"
#include "harness/experiments/isolate/search.h"
#include "harness/records/manifest/evidence.h"
#include "harness/records/manifest/manifest.h"

namespace rharness {

enum class AxisKind {
  kVariable,  // of the environment
  kArgument,  // one of the command's
  kCommand,   // all of them, if their numbers differ
  kCode,      // commit, or files
  kData,      // one item
  kImage,
  kPython,  // the Python environment, on a host
  kCpus,    // number of CPUs for the run
  kNode,    // of a cluster
  kFact,    // cannot be set: packages of the host, drivers, hardware
};

// The value of an axis at one of its positions; the kind selects one member.
struct AxisValue {
  std::string text;  // for people
  // Variable (none: unset), argument, node, folder of a Python environment (none: as recorded).
  std::optional<std::string> setting;
  std::vector<std::string> command;
  Code code;
  std::string kept;              // of the code: folder with its diff
  std::optional<DataItem> data;  // none: it is not there
  Image image;
  int number = 0;
};

struct Axis {
  AxisKind kind = AxisKind::kFact;
  Layer layer = Layer::kEnvironment;
  std::string name;                 // "env:OMP_NUM_THREADS", "commit", "data:train"; unique
  std::string subject;              // the variable, or the data item
  std::size_t argument = 0;         // of kArgument: its place in the command
  std::vector<int> ranks;           // of these two: tasks of a gang that alone get it; empty: all
  std::vector<AxisValue> values;    // recorded first, drifted last; for a chain also those between
  std::string cannot_be_set;        // why; empty: it can
  bool chain_may_be_found = false;  // two commits: a repository may have those between
  bool asked_for = false;           // by --axis
  bool held_drifted = false;        // it cannot be set, and stays as it drifted
  bool of_family = false;           // a seed: it makes another run of the family, not a drift
};

// An axis from the command line: "env:NAME=VALUE" and others; see ParseGivenAxis.
struct GivenAxis {
  std::string text;
  std::string kind;
  std::string name;                 // before the first '='; empty for kinds without a name
  std::vector<std::string> values;  // after it, one per position; empty: unset
  std::string part;                 // " on rank 3", " on node 1"; empty: of the whole run
  std::vector<Image> images;        // of "image"
};
// "REPOSITORY@sha256:DIGEST" as an image; the command line's reader of such references.
using ParseImageText = std::function<Result<Image>(std::string_view)>;

// "KIND:NAME=VALUE", with several values between commas if the kind is a chain:
//   env:NAME=VALUE, env:NAME (unset)          argument:NAME=VALUE[,VALUE...]
//   seed:NAME=VALUE, hyperparameter:NAME=VALUE[,VALUE...] (as the command passes them)
//   commit:COMMIT[,COMMIT...], commit:GOOD..BAD (the caller finds those between)
//   data:NAME=SHA256[@LOCATION]               image:REFERENCE@sha256:DIGEST[,...]
//   python:FOLDER[,FOLDER...] (environments)  cpus:NUMBER
//   node:NAME, of a gang node:NAME,NAME by number, which sets their order, too
// Behind one of the first four: " on rank N" or " on node N", for that part of a gang alone.
// Errors: invalid_input with the expected form.
Result<GivenAxis> ParseGivenAxis(const std::string& text, const ParseImageText& parse_image);

// All differences of two records, settings first; facts that no setting reaches, and the seeds of
// another run of the family, have a reason why they cannot be set. Code, data, image, command,
// Python environment, variables; without consequences of these.
std::vector<Axis> AxesBetween(const Manifest& recorded, const Manifest& drifted);
// The record as seen by a rerun of it: its code, data, image, environment and seeds.
Manifest AsSeen(const Manifest& recorded, const Evidence& evidence);

// Adds a requested axis; it replaces a found one of the same name. Errors: invalid_input: the
// record has no such thing (lists those it has), the value is the recorded one, or the same axis
// was requested with another value.
Status AddGivenAxis(const Manifest& recorded, const GivenAxis& given, std::vector<Axis>* axes);
// Puts commits between the two of an axis. `between`: from after the recorded one to the last.
void SetChain(const std::vector<std::string>& between, Axis* axis);

// Those that can be set; none is a valid answer, if some differ. Errors: invalid_input if nothing
// differs, and for more than kMostSteps in all.
inline constexpr std::size_t kMostSteps = 20000;
Result<std::vector<Axis>> SettableAxes(const std::vector<Axis>& axes);
Positions LastOf(const std::vector<Axis>& settable);

// The record with the parts that cannot be set and stay as drifted: the start of trials.
Manifest BaseOf(const Manifest& recorded, const std::vector<Axis>& axes);

// The record of a trial: inputs as set, outputs as recorded. `node`: where it must run, `python`:
// its environment in place of its own, and `ranks`: what some of its tasks get, if an axis sets it.
struct TrialRun {
  Manifest manifest;
  std::string node;
  std::string python;
  std::vector<RankChange> ranks = {};
};
TrialRun RunAt(const Manifest& base, const std::vector<Axis>& settable, const Positions& at);

// "env:OMP_NUM_THREADS=4" of a step; with the value before it in a chain.
std::string DescribeStep(const std::vector<Axis>& settable, const SearchStep& step);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_EXPERIMENTS_ISOLATE_AXES_H_
