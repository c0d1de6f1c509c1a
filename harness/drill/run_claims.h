// The claimed runs of a drill: no other drill of the history reruns them while this one lives.
//
// Role: between selecting and planning. The claims are the history's (harness/history/claim.h);
// this file chooses them, renews them in a thread of its own while the drill works, and releases
// them.
#ifndef RHARNESS_HARNESS_DRILL_RUN_CLAIMS_H_
#define RHARNESS_HARNESS_DRILL_RUN_CLAIMS_H_

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "harness/base/result.h"
#include "harness/drill/drill.h"
#include "harness/drill/plan.h"
#include "harness/drill/settings.h"
#include "harness/history/store.h"
#include "reports/model.h"

namespace rharness {

class RunClaims {
 public:
  RunClaims(std::string url, const std::string& drill_id, const ClaimTimes& times,
            std::shared_ptr<HistoryStore> history);
  RunClaims(const RunClaims&) = delete;
  RunClaims& operator=(const RunClaims&) = delete;
  ~RunClaims();  // gives them back

  // Selects what a new drill reruns, and claims it. Skips runs claimed by another drill: a sample
  // and a budget take the next ones, else `elsewhere` lists them. Errors: those of
  // SelectEntriesToDrill, and invalid_input if others have all of them.
  Status Choose(DrillSettings* settings);

  // Claims the remaining runs of a resumed drill. Errors: timeout, if another drill now has some of
  // them.
  Status TakeAgain(const DrillSettings& settings);

  // The hooks of a drill that also stops once its claims are lost.
  DrillHooks Watch(const DrillHooks& hooks);
  // The report, or an error if the claims were lost: timeout.
  Result<Report> Unless(Result<Report> report);

 private:
  Status ChooseWithinBudget(std::vector<std::string> order, DrillSettings* settings);
  void KeepAlive(std::stop_token stop);
  Status Renew();

  const std::string url_;
  const ClaimTimes times_;
  Claimant who_;
  std::shared_ptr<HistoryStore> history_;
  bool asked_ = false;  // there may be claims, or a lease
  std::vector<std::string> run_ids_;
  std::mutex mutex_;
  std::condition_variable_any wake_;
  std::optional<Error> lost_;  // behind the mutex
  std::atomic<bool> is_lost_ = false;
  std::jthread thread_;
};

// The plan of a drill now, without claims. Errors: those of Choose.
Result<Plan> PlanUnclaimed(const DrillOptions& options, WallTime now, HistoryStore* history);

// Adds to an error that keeps verdicts out of the history: how to enter them later.
Status WithWayOut(Status status, const std::filesystem::path& out);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_DRILL_RUN_CLAIMS_H_
