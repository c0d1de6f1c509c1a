// What blocks a rerun of a run, and the command that would fill it.
#ifndef RHARNESS_HARNESS_RECORDS_INTAKE_BLOCKERS_H_
#define RHARNESS_HARNESS_RECORDS_INTAKE_BLOCKERS_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "harness/records/manifest/admission.h"

namespace rharness {

struct Blocker {
  std::string field;    // "data", "image": the part of the manifest
  std::string code;     // of the finding of admission
  std::string message;  // of the first finding of this code
  std::string
      command;  // "rharness import --complete FILE --image NAME@sha256:DIGEST"; empty: none would
  std::size_t runs = 0;
  std::size_t last_run = 0;  // private to CountBlockers
};

// "rharness import --complete FILE --data NAME=PATH"; empty where no option would fill it.
std::string FillingOf(const Finding& finding);
// For one manifest in one file: with its name, and that of the data.
std::string FillingOf(const Finding& finding, const Manifest& manifest, std::string_view file);

// Pure. Counts what blocks the n-th run, n = 1, 2, ..., into `blockers`: one per field and code, in
// order of appearance. Returns whether anything does.
bool CountBlockers(const Manifest& manifest, std::size_t n, std::vector<Blocker>* blockers);

// The part of a manifest that a JSON path belongs to: "data[3].sha256" to "data",
// "environment.hardware.gpus" to "environment.hardware".
std::string_view PartOf(std::string_view path);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_RECORDS_INTAKE_BLOCKERS_H_
