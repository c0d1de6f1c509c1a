// Whether a machine's GPUs are those of the record, or accepted substitutes. Pure.
#ifndef RHARNESS_HARNESS_EXECUTION_RERUN_CLASS_CHECK_H_
#define RHARNESS_HARNESS_EXECUTION_RERUN_CLASS_CHECK_H_

#include <optional>
#include <string>

#include "harness/execution/rerun/ticket.h"
#include "harness/execution/rerun/workspace.h"
#include "harness/records/manifest/evidence.h"

namespace rharness {

struct ClassCheck {
  std::optional<Obstacle> obstacle;  // of the hardware layer: the run is not carried out here
  std::optional<Finding> remark;     // kHardwareSubstituted: it is, on substitutes
};

// `here`: of the machine called `host`. Neither, if the class is the recorded one
// (CompareHardwareClass). There is no substitute for too few GPUs.
ClassCheck CheckClass(const Ticket& ticket, const Hardware& here, const std::string& host);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_EXECUTION_RERUN_CLASS_CHECK_H_
