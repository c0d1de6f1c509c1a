// What the log has about one run, and whether that is what the history has.
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

// Fills tree, root, head, entries, and a note where nobody was asked who signed. Reads the lines of
// the log, and of the history what is about the run, and about these lists of deletions. Errors:
// not_found (no log), io; integrity for a line that is not in its place and for a newest head that
// the policy does not take.
Status AddRunEntries(const AnswerRequest& request, const std::vector<std::string>& deletion_lists,
                     AuditReport* report);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_TRUST_AUDIT_RUN_ENTRIES_H_
