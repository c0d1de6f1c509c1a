// Ranks all selected runs from the data of their list.
#include "harness/drill/ranking.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <optional>
#include <set>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "harness/base/footprint.h"
#include "harness/base/log.h"
#include "harness/drill/historical_runs.h"
#include "harness/drill/select.h"
#include "harness/drill/surroundings.h"
#include "harness/records/manifest/packages.h"

namespace rharness {
namespace {

struct Verified {
  Environment environment;
  bool in_image = false;
};

// Empty: a newer version kept data that this one cannot read.
Result<std::optional<Verified>> LoadVerified(const std::string& digest, HistoryStore* history) {
  ASSIGN_OR_RETURN(Surroundings all, history->GetSurroundings(digest));
  Surroundings parts;
  for (const std::string_view name : kEnvironmentParts) {
    const auto part = all.find(std::string(name));
    if (part != all.end()) parts.insert(*part);
  }
  Manifest any;
  any.run_id = "any";
  Result<Evidence> evidence = EvidenceFrom(parts, any, "surroundings " + digest);
  if (!evidence.ok()) {
    LogDebug(evidence.error().ToString());
    return std::optional<Verified>();
  }
  return std::optional(Verified{std::move(evidence->environment), !evidence->image_digest.empty()});
}

Environment Here() {
  Environment here = CaptureEnvironment();
  here.packages = CapturePackages({});
  return here;
}

// Those of `environments` that were seen within a day of the last verification.
std::set<std::size_t> SeenLast(const std::vector<HistoryEntry>& entries,
                               const VerifiedEnvironments& environments) {
  std::optional<WallTime> last;
  for (const HistoryEntry& entry : entries) last = std::max(last, entry.verified);
  std::set<std::size_t> seen;
  for (const HistoryEntry& entry : entries) {
    const auto at = environments.which.find(entry.environment_sha256);
    if (at == environments.which.end() || !entry.verified) continue;
    if (*entry.verified + std::chrono::days(1) >= *last) seen.insert(at->second);
  }
  return seen;
}

// Against the one of these that differs least.
EnvironmentChange LeastChange(const Verified& then, const std::vector<Environment>& today) {
  std::optional<EnvironmentChange> least;
  for (const Environment& now : today) {
    EnvironmentChange change = CompareEnvironments(then.environment, now, then.in_image);
    if (!least || change.Doubt() < least->Doubt()) least = std::move(change);
  }
  return least.value_or(NothingKnown());
}

}  // namespace

Status Ranking::LoadChanges(const DrillOptions& options, HistoryStore* history) {
  ASSIGN_OR_RETURN(environments_, history->EnvironmentsOf(entries_));
  std::vector<Environment> today;
  if (options.dispatch == "local") {
    today.push_back(Here());
  } else {
    for (const std::size_t one : SeenLast(entries_, environments_)) {
      ASSIGN_OR_RETURN(auto seen, LoadVerified(environments_.digests[one], history));
      if (seen) today.push_back(std::move(seen->environment));
    }
  }
  for (const std::string& digest : environments_.digests) {
    ASSIGN_OR_RETURN(const auto then, LoadVerified(digest, history));
    changes_.push_back(then ? LeastChange(*then, today) : NothingKnown());
  }
  return {};
}

const EnvironmentChange& Ranking::ChangeOf(const HistoryEntry& entry) const {
  const auto at = environments_.which.find(entry.environment_sha256);
  return at == environments_.which.end() ? nothing_known_ : changes_[at->second];
}

Result<Ranking> Ranking::Make(const std::vector<HistoryEntry>& entries, const DrillOptions& options,
                              WallTime now, HistoryStore* history) {
  Ranking ranking(entries, now);
  ranking.by_risk_ = options.order == kOrderRisk;
  const bool by_wait = options.sample || options.plan.budget_seconds > 0;
  if (!by_wait && !ranking.by_risk_) {
    ranking.order_ = RunIdsOf(entries);
    return ranking;
  }
  const std::vector<HistoryEntry> waiting = OrderByWait(entries, options.seed);
  if (!ranking.by_risk_) {
    ranking.order_ = RunIdsOf(waiting);
    return ranking;
  }
  ASSIGN_OR_RETURN(ranking.stakes_, Stakes::Parse(options.stakes));
  RETURN_IF_ERROR(ranking.LoadChanges(options, history));
  ranking.order_ = ranking.RiskiestFirst(waiting);
  return ranking;
}

std::vector<std::string> Ranking::RiskiestFirst(const std::vector<HistoryEntry>& waiting) const {
  std::vector<std::pair<double, const HistoryEntry*>> ranked;
  ranked.reserve(waiting.size());
  for (const HistoryEntry& entry : waiting) {
    const Stake* stake = stakes_.Of(entry, now_);
    ranked.emplace_back(
        AgeDays(entry, now_) * (stake == nullptr ? 1.0 : stake->stake) * ChangeOf(entry).Doubt(),
        &entry);
  }
  std::ranges::stable_sort(ranked, std::greater<>(),
                           &std::pair<double, const HistoryEntry*>::first);
  std::vector<std::string> run_ids;
  run_ids.reserve(ranked.size());
  for (const auto& [risk, entry] : ranked) run_ids.push_back(entry->run_id);
  return run_ids;
}

std::vector<RunRisk> Ranking::Explain(const std::vector<std::string>& run_ids) const {
  std::vector<RunRisk> risks;
  if (!by_risk_) return risks;
  const std::unordered_set<std::string_view> wanted(run_ids.begin(), run_ids.end());
  std::unordered_map<std::string_view, RunRisk> found;
  for (const HistoryEntry& entry : entries_) {
    if (!wanted.contains(entry.run_id)) continue;
    found[entry.run_id] = RiskOf(entry, stakes_.Of(entry, now_), ChangeOf(entry), now_);
  }
  for (const std::string& run_id : run_ids) risks.push_back(std::move(found[run_id]));
  return risks;
}

}  // namespace rharness
