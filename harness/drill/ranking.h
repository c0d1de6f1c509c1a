// The order in which a drill takes its runs if it may not reach all of them: by wait or by risk.
//
// Role: between selecting (historical_runs.h) and claiming (run_claims.h).
#ifndef RHARNESS_HARNESS_DRILL_RANKING_H_
#define RHARNESS_HARNESS_DRILL_RANKING_H_

#include <string>
#include <vector>

#include "harness/base/clock.h"
#include "harness/base/result.h"
#include "harness/drill/drill.h"
#include "harness/drill/risk.h"
#include "harness/history/store.h"

namespace rharness {

class Ranking {
 public:
  // By risk if options.order says so; else by wait if a sample or a budget may not reach all of
  // them, and unchanged if all are taken. Equal risks are ordered by wait, so that the same history
  // on the same day has one ranking on every machine with the same environment.
  //
  // For reruns on this machine, changes are measured against its current environment. For other
  // machines the nodes are not known here: changes are measured against the environments in which
  // runs were verified within a day of the history's last verification, using the one that differs
  // least.
  //
  // `entries` must outlive it. Errors: invalid_input (a stake), those of the store. Cost: one more
  // statement and one text per environment; reads no manifest.
  static Result<Ranking> Make(const std::vector<HistoryEntry>& entries, const DrillOptions& options,
                              WallTime now, HistoryStore* history);

  const std::vector<std::string>& order() const { return order_; }
  // Of these, in their order; none if they are not ranked by risk.
  std::vector<RunRisk> Explain(const std::vector<std::string>& run_ids) const;

 private:
  Ranking(const std::vector<HistoryEntry>& entries, WallTime now) : entries_(entries), now_(now) {}
  Status LoadChanges(const DrillOptions& options, HistoryStore* history);
  std::vector<std::string> RiskiestFirst(const std::vector<HistoryEntry>& waiting) const;
  const EnvironmentChange& ChangeOf(const HistoryEntry& entry) const;

  const std::vector<HistoryEntry>& entries_;
  WallTime now_;
  std::vector<std::string> order_;
  bool by_risk_ = false;
  Stakes stakes_;
  VerifiedEnvironments environments_;
  std::vector<EnvironmentChange> changes_;  // of each of the environments
  EnvironmentChange nothing_known_ = NothingKnown();
};

}  // namespace rharness

#endif  // RHARNESS_HARNESS_DRILL_RANKING_H_
