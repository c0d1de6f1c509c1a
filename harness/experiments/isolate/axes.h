// What changed between a recorded run and one that drifted, as axes: each a thing that can be set
// to what it was on either side, or a reason why it cannot.
//
// Role: turns two records into what a search is about (search.h), and a trial back into the record
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
#include "harness/experiments/isolate/search.h"
#include "harness/records/manifest/evidence.h"
#include "harness/records/manifest/manifest.h"

namespace rharness {

enum class AxisKind {
  kVariable,  // of the environment
  kArgument,  // one of the command's
  kCommand,   // all of them, where they are not as many
  kCode,      // commit, or files
  kData,      // one item
  kImage,
  kPython,  // the environment that it runs in, on a host
  kCpus,    // how many the run is given
  kNode,    // of a cluster
  kFact,    // what no setting reaches: packages of the host, drivers, hardware
};

// What an axis is set to at one of its positions; by its kind one of these counts.
struct AxisValue {
  std::string text;  // for people
  // Variable (none: unset), argument, node, folder of a Python environment (none: as recorded).
  std::optional<std::string> setting;
  std::vector<std::string> command;
  Code code;
  std::string kept;              // of the code: where its diff is kept
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
  std::vector<AxisValue> values;    // recorded first, drifted last; of a chain those between
  std::string cannot_be_set;        // why; empty: it can
  bool chain_may_be_found = false;  // two commits: a repository may tell those between
  bool asked_for = false;           // by --axis
  bool held_drifted = false;        // it cannot be set, and stays as it drifted
  bool of_family = false;           // a seed: it makes another run of the family, and no drift
};

// As the command line gives one: "env:NAME=VALUE" and others; see ParseGivenAxis.
struct GivenAxis {
  std::string text;
  std::string kind;
  std::string name;                 // before the first '='; of kinds without a name empty
  std::vector<std::string> values;  // after it, one a position; empty: to be unset
  std::vector<Image> images;        // of "image"
};
// "REPOSITORY@sha256:DIGEST" as an image; the command line's reader of such references.
using ParseImageText = std::function<Result<Image>(std::string_view)>;

// "KIND:NAME=VALUE", with several values between commas where the kind is a chain:
//   env:NAME=VALUE, env:NAME (unset)          argument:NAME=VALUE[,VALUE...]
//   seed:NAME=VALUE, hyperparameter:NAME=VALUE[,VALUE...] (as the command passes them)
//   commit:COMMIT[,COMMIT...], commit:GOOD..BAD (those between are found by the caller)
//   data:NAME=SHA256[@LOCATION]               image:REFERENCE@sha256:DIGEST[,...]
//   python:FOLDER[,FOLDER...] (environments)  cpus:NUMBER
//   node:NAME
// Errors: invalid_input, which says what was expected.
Result<GivenAxis> ParseGivenAxis(const std::string& text, const ParseImageText& parse_image);

// All that differs between two records, settings first; facts that no setting reaches, and the
// seeds of another run of the family, say why they cannot be set. Code, data, image, command,
// Python environment, variables; what follows from these is left out.
std::vector<Axis> AxesBetween(const Manifest& recorded, const Manifest& drifted);
// The record as a rerun of it saw it: its code, data, image, environment and seeds.
Manifest AsSeen(const Manifest& recorded, const Evidence& evidence);

// Adds an axis that was asked for; it replaces one of the same name that was found. Errors:
// invalid_input: the record has no such thing (those that it has are named), the value is the
// recorded one, or the same axis was asked for with another value.
Status AddGivenAxis(const Manifest& recorded, const GivenAxis& given, std::vector<Axis>* axes);
// Puts commits between the two of an axis. `between`: from behind the recorded one to the last.
void SetChain(const std::vector<std::string>& between, Axis* axis);

// Those that can be set; none is an answer, where some differ. Errors: invalid_input where nothing
// differs, and for more than kMostSteps in all.
inline constexpr std::size_t kMostSteps = 20000;
Result<std::vector<Axis>> SettableAxes(const std::vector<Axis>& axes);
Positions LastOf(const std::vector<Axis>& settable);

// The record with what cannot be set, and stays as it drifted: where trials begin.
Manifest BaseOf(const Manifest& recorded, const std::vector<Axis>& axes);

// The record of a trial: inputs as set, outputs as recorded. `node`: where it must run, and
// `python`: in which environment in place of its own, if an axis says so.
struct TrialRun {
  Manifest manifest;
  std::string node;
  std::string python;
};
TrialRun RunAt(const Manifest& base, const std::vector<Axis>& settable, const Positions& at);

// "env:OMP_NUM_THREADS=4" of a step; with the value before it where it is one of a chain.
std::string DescribeStep(const std::vector<Axis>& settable, const SearchStep& step);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_EXPERIMENTS_ISOLATE_AXES_H_
