// Whether a machine's GPUs are those that a run was recorded on, or may stand in for them. Pure.
#ifndef RHARNESS_HARNESS_EXECUTION_RERUN_CLASS_CHECK_H_
#define RHARNESS_HARNESS_EXECUTION_RERUN_CLASS_CHECK_H_

#include <optional>
#include <string>

#include "harness/execution/rerun/ticket.h"
#include "harness/execution/rerun/workspace.h"
#include "harness/records/manifest/evidence.h"

namespace rharness {

struct ClassCheck {
  std::optional<Obstacle> obstacle;  // of the hardware layer: it is not carried out here
  std::optional<Remark> remark;      // kHardwareSubstituted: it is, and something stands in
};

// `here`: of the machine called `host`. Neither, where the class is the recorded one
// (CompareHardwareClass). Nothing stands in for GPUs that are too few.
ClassCheck CheckClass(const Ticket& ticket, const Hardware& here, const std::string& host);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_EXECUTION_RERUN_CLASS_CHECK_H_
