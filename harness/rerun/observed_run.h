// One run under observation: what `record` and a rerun ask of harness/observe, and what they make
// of the answer.
#ifndef RHARNESS_HARNESS_RERUN_OBSERVED_RUN_H_
#define RHARNESS_HARNESS_RERUN_OBSERVED_RUN_H_

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harness/base/files.h"
#include "harness/manifest/evidence.h"
#include "harness/observe/observed_findings.h"
#include "harness/observe/observer.h"
#include "harness/rerun/record.h"
#include "harness/rerun/ticket.h"
#include "harness/rerun/workspace.h"

namespace rharness {

class ObservedRun {
 public:
  // `folder`: the current one, canonical. Of the recording code and data are there.
  ObservedRun(const RecordRequest& request, const Recording& recording,
              const std::filesystem::path& folder);
  // A rerun is looked at as its record was: not at all where that has no observation, and not in an
  // image, which is known by its digest and has an observation that says so.
  ObservedRun(const Ticket& ticket, const Workspace& workspace);

  void AddTo(std::map<std::string, std::string>* environment);
  // After the run: its packages, for the environment, and what was seen.
  void Collect(Footprint footprint, WallTime started, Environment* environment,
               std::optional<Observation>* observation);

 private:
  bool MakeFolder();

  std::optional<ScopedTempDir> folder_;  // for the notes
  std::optional<Observer> observer_;
};

// Of a rerun in an image whose record was observed; else empty.
std::optional<Observation> ObservationInImage(const Ticket& ticket);

// What was seen against what was declared, as sentences of a recording; what its remarks say
// already is left out.
void AddFindings(const RecordRequest& request, Recording* recording);
// As remarks of evidence, which decide nothing.
void AddFindings(const Manifest& manifest, Evidence* evidence);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_RERUN_OBSERVED_RUN_H_
