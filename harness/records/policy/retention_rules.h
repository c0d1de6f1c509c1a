// Parts of a policy: approvals by two people, and how long outputs of runs are kept.
#ifndef RHARNESS_HARNESS_RECORDS_POLICY_RETENTION_RULES_H_
#define RHARNESS_HARNESS_RECORDS_POLICY_RETENTION_RULES_H_

#include <optional>
#include <string>

namespace rharness {

// Whether a retirement takes a second person's signature (`rharness history retire`). A deletion
// always does.
struct Approvals {
  bool retirement = false;
};

// The outputs of a run of these families may go if it is neither one of the last `keep_last` of its
// family nor as young as `keep_days`; at least one of the two is set.
struct RetentionRule {
  std::string families;  // a glob
  std::optional<double> keep_last;
  std::optional<double> keep_days;
  std::string where;  // "policy.yaml:12"
};

// Nothing of these runs is deleted, whatever the rules say. At least one glob is set; both must
// match.
struct Hold {
  std::string families;
  std::string runs;
  std::string reason;
  std::string where;

  bool Names(const std::string& family, const std::string& run_id) const;
};

}  // namespace rharness

#endif  // RHARNESS_HARNESS_RECORDS_POLICY_RETENTION_RULES_H_
