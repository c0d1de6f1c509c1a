// Carrying out one approved list, for `rharness history prune apply`, and what is said of it after.
#ifndef RHARNESS_HARNESS_CLI_APPLY_LIST_H_
#define RHARNESS_HARNESS_CLI_APPLY_LIST_H_

#include "harness/base/result.h"
#include "harness/cli/approved_list.h"
#include "harness/history/store.h"
#include "harness/trust/attestation/trust.h"
#include "harness/trust/retention/carry_out.h"
#include "reports/retention_report.h"

namespace rharness {

struct Applied {
  DeletionTold told;
  CarriedOut done;
};
// Errors: those of CarryOut, integrity where what was signed is doubtful afterwards.
Result<Applied> Apply(const ApprovedList& approved, const TrustPolicy& trust, DeletionWatch* watch,
                      HistoryStore* store);

// Errors: integrity (a file is another one by now), invalid_input (it was taken back meanwhile, or
// a file is kept by now), with how far it came and how that ends.
Status RequireAllGone(const Applied& applied);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_CLI_APPLY_LIST_H_
