// A report with all seven verdicts and realistic content, for the tests of every writer.
#ifndef RHARNESS_TESTS_REPORTS_SAMPLE_REPORT_H_
#define RHARNESS_TESTS_REPORTS_SAMPLE_REPORT_H_

#include <string>

#include "reports/model.h"

namespace rharness {

// Twelve runs after a driver change, with every verdict among them, tallied.
Report SampleReport();

// `runs` runs with short names and no details worth the name, every `drifted_every`-th drifted (0:
// none), tallied.
Report LargeReport(int runs, int drifted_every);

// A drill that selected nothing, tallied.
Report EmptyReport();

// A report whose every string is `text`.
Report HostileReport(const std::string& text);

}  // namespace rharness

#endif  // RHARNESS_TESTS_REPORTS_SAMPLE_REPORT_H_
