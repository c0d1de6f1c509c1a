// Helpers for writing and reading every record of reports: tallies of verdicts.
//
// Role: private to reports/. Readers record their errors in the given reader. json_nouns.h has the
// members of nouns.
#ifndef RHARNESS_REPORTS_JSON_PARTS_H_
#define RHARNESS_REPORTS_JSON_PARTS_H_

#include <map>
#include <string>
#include <vector>

#include "harness/base/json.h"
#include "harness/base/json_arrays.h"
#include "harness/base/json_reader.h"
#include "harness/verdict/verdict.h"

namespace rharness {

// The tally of these verdicts: all seven names are present.
std::map<std::string, int> CountVerdicts(const std::vector<Verdict>& verdicts);
// An object with one member per verdict of the map, and back.
Json CountsJson(const std::map<std::string, int>& counts);
void ReadCounts(JsonReader& reader, std::map<std::string, int>* counts);
// The counts and the exit code must follow from the verdicts; only the failing exit codes may say
// more than the verdicts do (something was interrupted).
void CheckTally(JsonReader& reader, const std::vector<Verdict>& verdicts,
                const std::map<std::string, int>& counts, int exit_code,
                const std::vector<Verdict>& families = {});

}  // namespace rharness

#endif  // RHARNESS_REPORTS_JSON_PARTS_H_
