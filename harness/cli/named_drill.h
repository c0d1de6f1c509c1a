// A drill that an argument names, by its folder or its report.json, and what the history says of
// it.
//
// Role: before a verb judges by a drill or hands its verdicts on. Where a history is at hand the
// report is held to it, as before it is signed: a file alone can be edited.
#ifndef RHARNESS_HARNESS_CLI_NAMED_DRILL_H_
#define RHARNESS_HARNESS_CLI_NAMED_DRILL_H_

#include <filesystem>
#include <map>
#include <string>
#include <utility>

#include "harness/base/json.h"
#include "harness/base/result.h"
#include "reports/model.h"

namespace rharness {

// The SHA-256 of each rerun's evidence, by run and number; empty for one that left none.
using EvidenceDigests = std::map<std::pair<std::string, int>, std::string>;

struct NamedDrill {
  std::filesystem::path path;  // of report.json
  Json json;                   // what it holds
  Report report;
  std::string sha256;
  std::string held_id;       // that the history has it under; empty: it was not held
  EvidenceDigests evidence;  // that the history has
  std::size_t sessions = 0;  // that worked on it, by its journal; 0: it was not held
  std::filesystem::path folder() const { return path.parent_path(); }
};

// Errors: not_found and io, which say what was expected; invalid_input for another document.
Result<NamedDrill> ReadNamedDrill(const std::string& source);

// Holds it to the history and, where one lies beside the report, to the journal. Errors: those of
// HoldReport, ReadJournal and of the store.
Status HoldNamedDrill(const std::string& history, NamedDrill* drill);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_CLI_NAMED_DRILL_H_
