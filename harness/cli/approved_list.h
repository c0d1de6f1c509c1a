// Which list `rharness history prune apply` carries out, and why none.
#ifndef RHARNESS_HARNESS_CLI_APPROVED_LIST_H_
#define RHARNESS_HARNESS_CLI_APPROVED_LIST_H_

#include <optional>
#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/history/store.h"
#include "harness/trust/approval/deletion_approval.h"
#include "harness/trust/attestation/trust.h"
#include "reports/deletion_list.h"

namespace rharness {

struct ApprovedList {
  DeletionList list;
  DeletionTold told;
};
// Those that were begun in this folder and not ended, in that order; of others it warns. Errors:
// those of RequireApproved but for what is missing of an approval, which is a warning.
Result<std::vector<ApprovedList>> BegunLists(const DeletionList& planned, const TrustPolicy& trust,
                                             HistoryStore* store);
// What the rules say now. Errors: what is missing of its approval.
Result<ApprovedList> PlannedList(const DeletionList& planned, const TrustPolicy& trust,
                                 HistoryStore* store);

// Where the rules let nothing go, since it is gone: the last list of the same folder that was
// carried out. Empty: there is something to carry out, or nothing ever was.
Result<std::optional<DeletionTold>> DoneAlready(const DeletionList& planned,
                                                const TrustPolicy& trust, HistoryStore* store);

// Why a list that nobody signed for is not carried out: `error`, and which others were asked for or
// carried out.
Error NobodyAsked(const std::string& digest, const std::vector<DeletionTold>& all, Error error);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_CLI_APPROVED_LIST_H_
