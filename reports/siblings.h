// Runs that one change moved, as a drill's reports tell of them: how far and which way their curves
// went together.
//
// Role: private to the drill's writers; pure. What moved one way is a note of the drill as well.
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
