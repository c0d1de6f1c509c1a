// Room on a terminal or a pipe, and progress as the options before the verb want it.
#ifndef RHARNESS_HARNESS_CLI_PROGRESS_LINE_H_
#define RHARNESS_HARNESS_CLI_PROGRESS_LINE_H_

#include "harness/base/progress.h"

namespace rharness {

// Room for a text: the terminal's; on a pipe or file COLUMNS, or 100 columns where it is not set.
int TextColumns(int fd);
// The same for tables whose lines are not to be folded where nothing need fit a screen: 1,000
// columns without COLUMNS, and 1,000 rows.
int ReportColumns(int fd);
int ReportRows(int fd);

// How a verb shows its progress: by --quiet, --no-color and where stderr goes.
ProgressStyle VerbProgress();

}  // namespace rharness

#endif  // RHARNESS_HARNESS_CLI_PROGRESS_LINE_H_
