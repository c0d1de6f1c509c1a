// Runs that one change moved, in a drill's reports: the common distance and direction of their
// curves.
//
// Role: private to the drill's writers; pure. A common direction is also a note of the drill.
#ifndef RHARNESS_REPORTS_SIBLINGS_H_
#define RHARNESS_REPORTS_SIBLINGS_H_

#include <string>

#include "reports/model.h"

namespace rharness {

// Each is empty without groups.
std::string HtmlSiblings(const Report& report);
std::string MarkdownSiblings(const Report& report);

}  // namespace rharness

#endif  // RHARNESS_REPORTS_SIBLINGS_H_
