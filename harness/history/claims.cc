// Claims and leases. In SQL over SOCI.
//
// Runs are locked before their holders are read, and runs that another drill is about to claim are
// skipped without waiting: so the holder of a run's lock sees every claim of it. The table's key
// ensures one claim per run.
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "harness/base/json.h"
#include "harness/history/sql_history.h"

namespace rharness {
namespace {

// Few at a time, so that drills that come together share the runs out and do not queue for them.
constexpr std::size_t kMostAtATime = 5000;

std::string JsonOf(const std::vector<std::string>& run_ids) {
  Json ids = Json::MakeArray();
  for (const std::string& run_id : run_ids) ids.Append(run_id);
  return ids.Dump();
}

template <class F>
std::vector<Claim> FetchClaims(soci::session& sql, const std::string& text, F bind) {
  Claim claim;
  long long pid = 0, since_ms = 0, until_ms = 0;
  soci::statement query(sql);
  query.exchange(soci::into(claim.run_id));
  query.exchange(soci::into(claim.drill_id));
  query.exchange(soci::into(claim.host));
  query.exchange(soci::into(pid));
  query.exchange(soci::into(claim.process));
  query.exchange(soci::into(since_ms));
  query.exchange(soci::into(until_ms));
  bind(query);
  query.alloc();
  query.prepare(
      "SELECT c.run_id, l.drill_id, l.host, l.pid, l.process, l.since_ms, l.until_ms FROM claims c "
      "JOIN leases l ON l.drill_id = c.drill_id " +
      text);
  query.define_and_bind();
  query.execute();
  std::vector<Claim> claims;
  while (query.fetch()) {
    claim.pid = pid;
    claim.since = FromMs(since_ms);
    claim.until = FromMs(until_ms);
    claims.push_back(claim);
  }
  return claims;
}

}  // namespace

long long SqlHistory::DatabaseNow() {
  long long now_ms = 0;
  sql() << "SELECT " + database_->dialect().now_ms, soci::into(now_ms);
  return now_ms;
}

// Of those, the ones in a one-column answer.
std::set<std::string> SqlHistory::Among(const std::vector<std::string>& run_ids,
                                        const std::string& query_text) {
  const std::string ids = JsonOf(run_ids);
  std::string run_id;
  soci::statement query = (sql().prepare << query_text, soci::use(ids), soci::into(run_id));
  query.execute();
  std::set<std::string> found;
  while (query.fetch()) found.insert(run_id);
  return found;
}

// What drills left that are over. One that renews its lease in this moment keeps it.
void SqlHistory::DropExpired(const std::string& but_not) {
  const long long now_ms = DatabaseNow();
  sql() << "DELETE FROM leases WHERE drill_id IN (SELECT drill_id FROM leases WHERE until_ms <= "
           ":now_ms AND drill_id <> :drill_id" +
               database_->dialect().skip_taken_drills + ")",
      soci::use(now_ms), soci::use(but_not);
}

void SqlHistory::ExtendLease(const Claimant& who) {
  const long long now_ms = DatabaseNow();
  const long long until_ms = now_ms + who.lease.count();
  const long long pid = who.pid;
  sql()
      << "INSERT INTO leases (drill_id, host, pid, process, since_ms, until_ms) VALUES (:drill_id, "
         ":host, :pid, :process, :since_ms, :until_ms) ON CONFLICT (drill_id) DO UPDATE SET host = "
         "excluded.host, pid = excluded.pid, process = excluded.process, until_ms = "
         "excluded.until_ms",
      soci::use(who.drill_id), soci::use(who.host), soci::use(pid), soci::use(who.process),
      soci::use(now_ms), soci::use(until_ms);
}

// In one transaction: of these, up to `most` that nobody holds and nobody is about to claim.
std::vector<std::string> SqlHistory::TakeFree(const Claimant& who,
                                              const std::vector<std::string>& run_ids,
                                              std::size_t most) {
  const Dialect& dialect = database_->dialect();
  const auto locked = Among(run_ids, fmt::format("SELECT r.run_id FROM runs r JOIN {} ON w.value = "
                                                 "r.run_id{}",
                                                 dialect.texts_of_ids, dialect.skip_taken_runs));
  const auto held = Among(run_ids, fmt::format("SELECT c.run_id FROM claims c JOIN {} ON w.value = "
                                               "c.run_id",
                                               dialect.texts_of_ids));
  std::vector<std::string> taken;
  for (const std::string& run_id : run_ids) {
    if (taken.size() < most && locked.contains(run_id) && !held.contains(run_id)) {
      taken.push_back(run_id);
    }
  }
  if (taken.empty()) return taken;
  const std::string ids = JsonOf(taken);
  sql() << fmt::format("INSERT INTO claims (run_id, drill_id) SELECT w.value, :drill_id FROM {}",
                       dialect.texts_of_ids),
      soci::use(who.drill_id), soci::use(ids);
  return taken;
}

Result<std::vector<Claim>> SqlHistory::Claims() {
  return database_->Guard([&]() -> Result<std::vector<Claim>> {
    const long long now_ms = DatabaseNow();
    return FetchClaims(sql(), "WHERE l.until_ms > :now_ms ORDER BY c.run_id",
                       [&](soci::statement& query) { query.exchange(soci::use(now_ms)); });
  });
}

// The holders of these: this drill, another drill, or nobody.
Result<ClaimOutcome> SqlHistory::Holders(const Claimant& who,
                                         const std::vector<std::string>& run_ids) {
  const std::set<std::string> wanted(run_ids.begin(), run_ids.end());
  ASSIGN_OR_RETURN(const std::vector<Claim> claims, Claims());
  ClaimOutcome outcome;
  std::set<std::string> own;
  for (const Claim& claim : claims) {
    if (!wanted.contains(claim.run_id)) continue;
    if (claim.drill_id == who.drill_id) {
      own.insert(claim.run_id);
    } else {
      outcome.held.push_back(claim);
    }
  }
  for (const std::string& run_id : run_ids) {
    if (own.contains(run_id)) outcome.taken.push_back(run_id);
  }
  return outcome;
}

Result<ClaimOutcome> SqlHistory::TakeClaims(const Claimant& who,
                                            const std::vector<std::string>& run_ids,
                                            std::size_t most) {
  RETURN_IF_ERROR(database_->Claim([&]() -> Status {
    DropExpired(who.drill_id);
    ExtendLease(who);
    return {};
  }));
  // Runs that were skipped because another drill was about to claim them are somebody's the next
  // time, or free again.
  constexpr int kRounds = 20;
  ClaimOutcome outcome;
  for (int round = 0; round < kRounds; ++round) {
    ASSIGN_OR_RETURN(outcome, Holders(who, run_ids));
    std::set<std::string> known(outcome.taken.begin(), outcome.taken.end());
    for (const Claim& claim : outcome.held) known.insert(claim.run_id);
    std::vector<std::string> open;
    for (const std::string& run_id : run_ids) {
      if (!known.contains(run_id)) open.push_back(run_id);
    }
    if (open.empty() || outcome.taken.size() >= most) break;
    if (round > 0) SystemClock().SleepFor(std::chrono::milliseconds(20));
    std::size_t missing = most - outcome.taken.size();
    for (std::size_t at = 0; at < open.size() && missing > 0;) {
      const std::size_t count = std::min({open.size() - at, missing, kMostAtATime});
      const std::vector<std::string> some(open.begin() + static_cast<std::ptrdiff_t>(at),
                                          open.begin() + static_cast<std::ptrdiff_t>(at + count));
      at += count;
      ASSIGN_OR_RETURN(const std::vector<std::string> taken,
                       database_->Claim([&]() -> Result<std::vector<std::string>> {
                         return TakeFree(who, some, missing);
                       }));
      missing -= taken.size();
    }
  }
  return outcome;
}

Result<ClaimOutcome> SqlHistory::RenewClaims(const Claimant& who,
                                             const std::vector<std::string>& run_ids) {
  long long held = 0;
  RETURN_IF_ERROR(database_->Claim([&]() -> Status {
    ExtendLease(who);
    sql() << "SELECT COUNT(*) FROM claims WHERE drill_id = :drill_id", soci::use(who.drill_id),
        soci::into(held);
    return {};
  }));
  if (held == static_cast<long long>(run_ids.size())) return ClaimOutcome{run_ids, {}};
  return TakeClaims(who, run_ids, run_ids.size());
}

Status SqlHistory::ReleaseClaims(const std::string& drill_id, const std::string& process) {
  return database_->Claim([&]() -> Status {
    sql() << "DELETE FROM leases WHERE drill_id = :drill_id AND process = :process",
        soci::use(drill_id), soci::use(process);
    return {};
  });
}

}  // namespace rharness
