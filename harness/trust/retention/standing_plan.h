// The files that rules, holds and the history release at this moment, during a deletion.
//
// Role: between retention_plan.h, which plans once, and carry_out.h, which takes a while.
#ifndef RHARNESS_HARNESS_TRUST_RETENTION_STANDING_PLAN_H_
#define RHARNESS_HARNESS_TRUST_RETENTION_STANDING_PLAN_H_

#include <chrono>
#include <map>
#include <string>

#include "harness/base/clock.h"
#include "harness/base/result.h"
#include "harness/history/store.h"
#include "harness/trust/retention/carry_out.h"
#include "harness/trust/retention/retention_plan.h"

namespace rharness {

class StandingPlan : public DeletionWatch {
 public:
  // Plans once. Errors: those of PlanRetention.
  static Result<StandingPlan> Make(RetentionInputs inputs, Clock* clock, HistoryStore* history);

  const RetentionReport& report() const { return report_; }

  // Plans again if the policy changed, and from time to time, since no history shows links and
  // mounts. Also empty for a changed file: that is reported at its turn. Errors: those of
  // PlanRetention.
  Result<std::string> WhyHeld(const DeletionItem& item) override;
  HistoryMark mark() const override { return mark_; }
  Status Renew() override;

 private:
  StandingPlan(RetentionInputs inputs, Clock* clock, HistoryStore* history)
      : inputs_(std::move(inputs)), clock_(clock), history_(history) {}
  Result<bool> IsOld() const;

  RetentionInputs inputs_;
  Clock* clock_;
  HistoryStore* history_;
  HistoryMark mark_;
  RetentionReport report_;
  std::map<std::string, std::string> listed_;  // path to SHA-256
  std::chrono::nanoseconds made_{};            // these two by the clock's Monotonic
  std::chrono::nanoseconds took_{};
};

}  // namespace rharness

#endif  // RHARNESS_HARNESS_TRUST_RETENTION_STANDING_PLAN_H_
