// The log's entries about one run, compared with the history.
//
// Role: a part of the answer (answer.h).
#ifndef RHARNESS_HARNESS_TRUST_AUDIT_RUN_ENTRIES_H_
#define RHARNESS_HARNESS_TRUST_AUDIT_RUN_ENTRIES_H_

#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/trust/audit/answer.h"
#include "reports/audit_report.h"

namespace rharness {

// Fills tree, root, head, entries, and a note if no signer was verified. Reads the lines of the
// log, and the history's rows on the run and on these lists of deletions. Errors: not_found (no
// log), io; integrity for a line that is not in its place and for a newest head that the policy
// rejects.
Status AddRunEntries(const AnswerRequest& request, const std::vector<std::string>& deletion_lists,
                     AuditReport* report);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_TRUST_AUDIT_RUN_ENTRIES_H_
