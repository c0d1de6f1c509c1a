// What a drill's page and terminal say of its sensitivity; private to reports/.
#ifndef RHARNESS_REPORTS_SENSITIVITY_PARTS_H_
#define RHARNESS_REPORTS_SENSITIVITY_PARTS_H_

#include <string>

#include "reports/model.h"

namespace rharness {

// A section of the page; empty without a certificate.
std::string HtmlSensitivity(const Report& report);
// A line a configuration.
std::string TerminalSensitivity(const Report& report, int columns);

}  // namespace rharness

#endif  // RHARNESS_REPORTS_SENSITIVITY_PARTS_H_
