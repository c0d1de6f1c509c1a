// The deleted files of one run, by whose signatures, when and why.
//
// Role: a part of the answer (answer.h).
#ifndef RHARNESS_HARNESS_TRUST_AUDIT_DELETIONS_H_
#define RHARNESS_HARNESS_TRUST_AUDIT_DELETIONS_H_

#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/history/store.h"
#include "harness/trust/audit/answer.h"
#include "reports/audit_report.h"

namespace rharness {

// Each is an exception, and is added to the file's fact in `made`, which must exist; one that does
// not match its two signatures is a refused statement. `lists` gets the lists of all of them, each
// once. Errors: those of the history.
Status AddDeletions(const AnswerRequest& request, HistoryStore* store, AuditReport* report,
                    std::vector<std::string>* lists);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_TRUST_AUDIT_DELETIONS_H_
