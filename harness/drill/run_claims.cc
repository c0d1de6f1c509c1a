// Choosing runs that nobody has, and holding on to them.
#include "harness/drill/run_claims.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <utility>

#include "harness/base/files.h"
#include "harness/base/log.h"
#include "harness/base/shell_word.h"
#include "harness/base/subprocess.h"
#include "harness/drill/given_names.h"
#include "harness/drill/historical_runs.h"
#include "harness/drill/ranking.h"
#include "harness/drill/replicates.h"

namespace rharness {
namespace {

std::string HostName() {
  std::string name(256, '\0');
  if (::gethostname(name.data(), name.size() - 1) != 0) return "unknown";
  name.resize(name.find('\0'));
  return name;
}

// Which process of the world: of a boot, in a namespace of pids, by pid and start.
std::string ProcessName(int pid) {
  const auto boot = ReadFile("/proc/sys/kernel/random/boot_id");
  std::error_code error;
  const auto pids = std::filesystem::read_symlink("/proc/self/ns/pid", error);
  const auto started = ProcessStartTicks(pid);
  if (!boot.ok() || error || !started) return {};
  return fmt::format("{} {} {} {}", boot->substr(0, boot->find('\n')), pids.string(), pid,
                     *started);
}

// Whether it is known here that the process behind a claim has ended. On another machine, or in
// another container, only the lease shows it.
bool HasEnded(const Claim& claim) {
  const std::string own = ProcessName(static_cast<int>(::getpid()));
  const auto place = [](const std::string& name) {  // without the pid and its start
    return name.substr(0, name.rfind(' ', name.rfind(' ') - 1));
  };
  if (own.empty() || claim.process.empty() || place(claim.process) != place(own)) return false;
  return ProcessName(static_cast<int>(claim.pid)) != claim.process;
}

// A drill that was killed here need not be waited for.
Status DropEnded(HistoryStore* history) {
  ASSIGN_OR_RETURN(const std::vector<Claim> claims, history->Claims());
  std::set<std::string> looked_at;
  for (const Claim& claim : claims) {
    if (!looked_at.insert(claim.drill_id).second || !HasEnded(claim)) continue;
    RETURN_IF_ERROR(history->ReleaseClaims(claim.drill_id, claim.process));
  }
  return {};
}

std::string WhoHas(const Claim& claim) {
  return fmt::format("drill {} (host {}, process {})", TerminalSafe(claim.drill_id),
                     TerminalSafe(claim.host), claim.pid);
}

// One sentence per drill: the runs that it has, and since when.
std::vector<std::string> Sentences(const std::vector<Claim>& held) {
  constexpr std::size_t kMostNamed = 5;
  std::map<std::string, std::vector<const Claim*>> by_drill;
  for (const Claim& claim : held) by_drill[claim.drill_id].push_back(&claim);
  std::vector<std::string> sentences;
  for (const auto& [drill_id, claims] : by_drill) {
    std::string runs;
    for (std::size_t i = 0; i < std::min(claims.size(), kMostNamed); ++i) {
      runs += (i == 0 ? "" : ", ") + TerminalSafe(claims[i]->run_id);
    }
    if (claims.size() > kMostNamed) runs += fmt::format(" and {} more", claims.size() - kMostNamed);
    sentences.push_back(fmt::format("skipped; {} has claimed {} since {}: {}",
                                    WhoHas(*claims.front()), claims.size() == 1 ? "it" : "them",
                                    FormatTime(claims.front()->since), runs));
  }
  return sentences;
}

Error NothingLeft(std::size_t selected, const std::vector<Claim>& held) {
  const std::vector<std::string> sentences = Sentences(held);
  return InvalidInput(
      fmt::format(
          "nothing to do: other drills of this history work on all of the {} selected "
          "runs now ({}{})",
          selected, sentences.empty() ? "they were just claimed" : sentences.front(),
          sentences.size() > 1 ? fmt::format("; and {} more drills", sentences.size() - 1) : ""),
      "--history");
}

void Drop(const std::vector<Claim>& held, std::vector<std::string>* run_ids) {
  std::set<std::string> others;
  for (const Claim& claim : held) others.insert(claim.run_id);
  std::erase_if(*run_ids, [&](const std::string& run_id) { return others.contains(run_id); });
}

// Those of the claims that are of these runs.
std::vector<Claim> Of(const std::vector<std::string>& run_ids, std::vector<Claim> claims) {
  const std::set<std::string> wanted(run_ids.begin(), run_ids.end());
  std::erase_if(claims, [&](const Claim& claim) { return !wanted.contains(claim.run_id); });
  return claims;
}

Result<Plan> PlanOf(const std::vector<std::string>& run_ids, const DrillOptions& options,
                    HistoryStore* history) {
  if (options.plan.replicates > 0) {
    ASSIGN_OR_RETURN(const std::vector<Manifest> runs, LoadRuns(run_ids, history));
    Replicates replicates(options.plan);
    RETURN_IF_ERROR(replicates.LoadAll(runs, history));
    return replicates.PlanWith(runs, options.environment);
  }
  std::vector<RunNeeds> runs;
  runs.reserve(run_ids.size());
  for (const std::string& run_id : run_ids) {
    ASSIGN_OR_RETURN(const Manifest run, history->Get(run_id));
    runs.emplace_back(run);
  }
  return BuildPlan(runs, options.plan);
}

// The runs within the drill's budget.
Result<std::vector<std::string>> Reached(const std::vector<std::string>& run_ids,
                                         const DrillOptions& options, HistoryStore* history) {
  if (options.plan.budget_seconds <= 0) return run_ids;
  ASSIGN_OR_RETURN(const Plan plan, PlanOf(run_ids, options, history));
  const std::set<std::string> left_out(plan.left_out.begin(), plan.left_out.end());
  std::vector<std::string> reached = run_ids;
  std::erase_if(reached, [&](const std::string& id) { return left_out.contains(id); });
  return reached;
}

// A sample without a budget is listed and planned in the history's order, unless it is the
// riskiest.
void OrderAsSelected(const std::vector<HistoryEntry>& entries, const DrillOptions& options,
                     std::vector<std::string>* run_ids) {
  if (!options.sample || options.plan.budget_seconds > 0 || options.order == kOrderRisk) return;
  const std::set<std::string> chosen(run_ids->begin(), run_ids->end());
  run_ids->clear();
  for (const HistoryEntry& entry : entries) {
    if (chosen.contains(entry.run_id)) run_ids->push_back(entry.run_id);
  }
}

}  // namespace

RunClaims::RunClaims(std::string url, const std::string& drill_id, const ClaimTimes& times,
                     std::shared_ptr<HistoryStore> history)
    : url_(std::move(url)),
      times_(times),
      who_{drill_id, HostName(), static_cast<std::int64_t>(::getpid()),
           ProcessName(static_cast<int>(::getpid())), times_.lease},
      history_(std::move(history)) {}

RunClaims::~RunClaims() {
  if (thread_.joinable()) {
    thread_.request_stop();
    thread_.join();
  }
  if (!asked_ || is_lost_) return;
  const Status released = history_->ReleaseClaims(who_.drill_id, who_.process);
  if (!released.ok()) {
    LogWarning(fmt::format("{}; other drills leave these runs out until {} from now",
                           released.error().ToString(), FormatDuration(times_.lease)));
  }
}

Status RunClaims::Choose(DrillSettings* settings) {
  const DrillOptions& options = settings->options;
  ASSIGN_OR_RETURN(const auto entries, SelectEntriesToDrill(options.selection, options.sample,
                                                            options.retirement_doubts,
                                                            settings->started, history_.get()));
  RETURN_IF_ERROR(DropEnded(history_.get()));
  ASSIGN_OR_RETURN(const Ranking ranking,
                   Ranking::Make(entries, options, settings->started, history_.get()));
  if (options.plan.budget_seconds > 0) {
    RETURN_IF_ERROR(ChooseWithinBudget(ranking.order(), settings));
    settings->risks = ranking.Explain(settings->run_ids);
    return {};
  }
  const std::vector<std::string>& order = ranking.order();
  const std::size_t most = options.sample.value_or(order.size());
  asked_ = true;
  ASSIGN_OR_RETURN(ClaimOutcome outcome, history_->TakeClaims(who_, order, most));
  if (outcome.taken.empty()) return NothingLeft(order.size(), outcome.held);
  run_ids_ = outcome.taken;
  settings->run_ids = std::move(outcome.taken);
  OrderAsSelected(entries, options, &settings->run_ids);
  settings->risks = ranking.Explain(settings->run_ids);
  if (!options.sample) settings->elsewhere = Sentences(outcome.held);
  return {};
}

// The budget's reach depends on others' claims, so both are settled together: until it reaches only
// our runs.
Status RunClaims::ChooseWithinBudget(std::vector<std::string> order, DrillSettings* settings) {
  const DrillOptions& options = settings->options;
  const std::vector<std::string> all = order;
  ASSIGN_OR_RETURN(std::vector<Claim> held, history_->Claims());
  held = Of(all, std::move(held));
  for (;;) {
    Drop(held, &order);
    if (order.empty()) return NothingLeft(all.size(), held);
    std::vector<std::string> some = order;
    if (options.sample) some.resize(std::min(some.size(), *options.sample));
    ASSIGN_OR_RETURN(const auto reached, Reached(some, options, history_.get()));
    asked_ = true;
    ASSIGN_OR_RETURN(ClaimOutcome outcome, history_->TakeClaims(who_, reached, reached.size()));
    run_ids_ = outcome.taken;
    if (outcome.taken.size() == reached.size()) {
      settings->run_ids = std::move(some);
      break;
    }
    // Runs that were about to be taken are reported, or free, the next time.
    std::ranges::move(outcome.held, std::back_inserter(held));
  }
  if (!options.sample) settings->elsewhere = Sentences(held);
  return {};
}

Status RunClaims::TakeAgain(const DrillSettings& settings) {
  ASSIGN_OR_RETURN(const auto reached, Reached(settings.run_ids, settings.options, history_.get()));
  asked_ = true;
  ASSIGN_OR_RETURN(const ClaimOutcome outcome, history_->TakeClaims(who_, reached, reached.size()));
  run_ids_ = outcome.taken;
  if (outcome.held.empty()) return {};
  return TimeoutError(fmt::format("cannot continue: {} of its runs were claimed by other drills "
                                  "meanwhile ({}); resume it when these have ended",
                                  outcome.held.size(), Sentences(outcome.held).front()),
                      settings.options.out.string());
}

Status RunClaims::Renew() {
  ASSIGN_OR_RETURN(const auto history, HistoryStore::OpenExisting(url_));
  ASSIGN_OR_RETURN(const ClaimOutcome outcome, history->RenewClaims(who_, run_ids_));
  if (outcome.held.empty()) return {};
  const std::scoped_lock lock(mutex_);
  lost_ = TimeoutError(fmt::format("the lease was over, and other drills claimed {} of its runs "
                                   "({}); --resume continues when these have ended",
                                   outcome.held.size(), Sentences(outcome.held).front()),
                       url_);
  is_lost_ = true;
  return {};
}

// Claims end with their lease even if the history is unreachable here: another drill may reach it.
void RunClaims::KeepAlive(std::stop_token stop) {
  constexpr std::chrono::milliseconds kAgain{5000};
  using Clock = std::chrono::steady_clock;
  Clock::time_point held_until = Clock::now() + times_.lease;
  std::chrono::milliseconds pause = times_.renew_every;
  while (!is_lost_) {
    {
      std::unique_lock lock(mutex_);
      if (wake_.wait_for(lock, stop, pause, [] { return false; }) || stop.stop_requested()) return;
    }
    const Clock::time_point asked = Clock::now();
    const Status renewed = Renew();
    pause = renewed.ok() ? times_.renew_every : kAgain;
    if (renewed.ok()) {
      held_until = asked + times_.lease;
      continue;
    }
    LogWarning(
        fmt::format("the claims on its runs were not renewed: {}", renewed.error().ToString()));
    if (Clock::now() < held_until) continue;
    const std::scoped_lock lock(mutex_);
    lost_ = TimeoutError(fmt::format("the claims on its runs could not be renewed for {}, so other "
                                     "drills may claim them; --resume continues ({})",
                                     FormatDuration(times_.lease), renewed.error().message),
                         url_);
    is_lost_ = true;
  }
}

DrillHooks RunClaims::Watch(const DrillHooks& hooks) {
  thread_ = std::jthread([this](std::stop_token stop) { KeepAlive(std::move(stop)); });
  DrillHooks watched = hooks;
  watched.should_stop = [this, asked = hooks.should_stop] {
    return is_lost_ || (asked && asked());
  };
  return watched;
}

Result<Report> RunClaims::Unless(Result<Report> report) {
  const std::scoped_lock lock(mutex_);
  if (lost_) return *lost_;
  return report;
}

Result<Plan> PlanUnclaimed(const DrillOptions& options, WallTime now, HistoryStore* history) {
  ASSIGN_OR_RETURN(auto entries, SelectEntriesToDrill(options.selection, options.sample,
                                                      options.retirement_doubts, now, history));
  ASSIGN_OR_RETURN(const Ranking ranking, Ranking::Make(entries, options, now, history));
  std::vector<std::string> run_ids = ranking.order();
  ASSIGN_OR_RETURN(std::vector<Claim> claims, history->Claims());
  const std::vector<Claim> held = Of(run_ids, std::move(claims));
  Drop(held, &run_ids);
  if (run_ids.empty()) return NothingLeft(entries.size(), held);
  if (options.sample) {
    run_ids.resize(std::min(run_ids.size(), *options.sample));
    OrderAsSelected(entries, options, &run_ids);
  } else {
    for (const std::string& sentence : Sentences(held)) LogInfo(sentence);
  }
  RETURN_IF_ERROR(CheckGivenNames(options, run_ids, history));
  std::vector<RunRisk> risks = ranking.Explain(run_ids);
  entries = {};  // for a large history they are half of the plan's memory
  ASSIGN_OR_RETURN(Plan plan, PlanOf(run_ids, options, history));
  plan.risks = std::move(risks);
  return plan;
}

Status WithWayOut(Status status, const std::filesystem::path& out) {
  if (status.ok()) return status;
  Error error = status.error();
  error.message += fmt::format(
      "; nothing is lost: `rharness drill --resume --out {}` enters the verdicts into the history",
      TerminalSafe(ShellWord(out.string())));
  return error;
}

}  // namespace rharness
