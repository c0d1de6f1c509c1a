// Plans, again and again.
#include "harness/trust/retention/standing_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "harness/base/digest.h"
#include "harness/base/files.h"
#include "harness/base/held_folder.h"

namespace rharness {

Result<StandingPlan> StandingPlan::Make(RetentionInputs inputs, Clock* clock,
                                        HistoryStore* history) {
  StandingPlan plan(std::move(inputs), clock, history);
  RETURN_IF_ERROR(plan.Renew());
  return plan;
}

Status StandingPlan::Renew() {
  const auto begun = clock_->Monotonic();
  // First, so that what comes while it plans is seen as more.
  ASSIGN_OR_RETURN(mark_, history_->Mark());
  ASSIGN_OR_RETURN(report_, PlanRetention(inputs_, clock_->Now(), history_));
  listed_.clear();
  for (const DeletionItem& item : report_.list.items) listed_.emplace(item.path, item.sha256);
  made_ = clock_->Monotonic();
  took_ = made_ - begun;
  return {};
}

Result<bool> StandingPlan::IsOld() const {
  constexpr auto kLeast = std::chrono::seconds(5);
  constexpr int kTimes = 10;
  const std::chrono::nanoseconds age = clock_->Monotonic() - made_;
  if (age > std::max<std::chrono::nanoseconds>(kLeast, kTimes * took_)) return true;
  ASSIGN_OR_RETURN(const std::string text, ReadFile(inputs_.policy, kMostPolicyText));
  return Sha256HexOf(text) != report_.list.policy_sha256;
}

Result<std::string> StandingPlan::WhyHeld(const DeletionItem& item) {
  ASSIGN_OR_RETURN(const bool old, IsOld());
  if (old) RETURN_IF_ERROR(Renew());
  const auto listed = listed_.find(item.path);
  if (listed != listed_.end() && listed->second == item.sha256) return std::string();
  ASSIGN_OR_RETURN(const HeldFolder root, HeldFolder::Open(report_.list.root));
  const auto file = root.OpenFile(item.path);
  if (!file.ok() || file->size_bytes != item.size_bytes) return std::string();
  std::string why = "no rule lets it go";
  for (const KeptRun& run : report_.kept_runs) {
    if (std::ranges::find(item.runs, run.run_id) != item.runs.end()) {
      why = fmt::format("run {} is kept: {}", run.run_id, run.why);
    }
  }
  for (const KeptFile& kept : report_.kept_files) {
    if (kept.path == item.path) why = kept.why;
  }
  return why;
}

}  // namespace rharness
