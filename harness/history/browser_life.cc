// What a history keeps of one run's verdicts, and of how each came about.
#include <fmt/format.h>

#include <utility>

#include "harness/history/sql_browser.h"

namespace rharness {

Result<std::vector<VerdictRecord>> SqlBrowser::VerdictsOf(const std::string& run_id,
                                                          const std::optional<PageStart>& start,
                                                          std::size_t limit, bool reasons) {
  return database_.Guard([&]() -> Result<std::vector<VerdictRecord>> {
    const long long most = Most(limit);
    const PageStart from = start.value_or(kNewest);
    const Direction to = NewestFirst(from.toward);
    VerdictRecord record;
    record.run_id = run_id;
    long long decided_ms = 0;
    // An invalid name sorts before the first drill: the oldest follow towards the start. A computed
    // place avoids a walk through the drills of all runs in their order.
    const std::string text = fmt::format(
        "SELECT v.drill_id, v.verdict, v.decided_ms, {} FROM verdicts v JOIN drills d ON "
        "d.drill_id "
        "= v.drill_id WHERE v.run_id = :run_id AND (:first = 1 OR d.sequence {} "
        "COALESCE((SELECT e.sequence FROM drills e WHERE e.drill_id = :name), 0)) AND {} ORDER BY "
        "d.sequence + 0 {} LIMIT :most",
        reasons ? "v.reruns, v.reasons" : "0, ''", to.sign, kNotSuperseded, to.order);
    const int first = start ? 0 : 1;
    soci::statement query =
        (sql().prepare << text, soci::use(run_id), soci::use(first), soci::use(from.name),
         soci::use(most), soci::into(record.drill_id), soci::into(record.verdict),
         soci::into(decided_ms), soci::into(record.reruns), soci::into(record.reasons));
    query.execute();
    std::vector<VerdictRecord> records;
    while (query.fetch()) {
      record.decided = FromMs(decided_ms);
      records.push_back(record);
    }
    return InOrder(std::move(records), from.toward);
  });
}

Result<std::optional<VerdictRecord>> SqlBrowser::LastConclusiveOf(const std::string& run_id) {
  return database_.Guard([&]() -> Result<std::optional<VerdictRecord>> {
    VerdictRecord record;
    record.run_id = run_id;
    long long decided_ms = 0;
    sql() << fmt::format(
        "SELECT l.drill_id, l.verdict, l.decided_ms, l.reruns FROM verdicts l WHERE l.run_id = "
        ":run_id AND l.drill_id = ({})",
        LastConclusive("drill_id", ":of_run")),
        soci::use(run_id), soci::use(run_id), soci::into(record.drill_id),
        soci::into(record.verdict), soci::into(decided_ms), soci::into(record.reruns);
    if (!sql().got_data()) return std::optional<VerdictRecord>();
    record.decided = FromMs(decided_ms);
    return std::optional(std::move(record));
  });
}

void SqlBrowser::ReadReruns(const std::string& run_id, const std::string& drill_id, long long most,
                            VerdictDetails* details) {
  RerunRecord record{.drill_id = drill_id,
                     .run_id = run_id,
                     .rerun = 0,
                     .outcome = {},
                     .wall_seconds = 0.0,
                     .evidence_sha256 = {}};
  soci::statement query =
      (sql().prepare << "SELECT rerun, outcome, wall_seconds, evidence_sha256 FROM reruns WHERE "
                        "drill_id = :drill_id AND run_id = :run_id ORDER BY rerun LIMIT :most",
       soci::use(drill_id), soci::use(run_id), soci::use(most), soci::into(record.rerun),
       soci::into(record.outcome), soci::into(record.wall_seconds),
       soci::into(record.evidence_sha256));
  query.execute();
  while (query.fetch()) details->reruns.push_back(record);
}

void SqlBrowser::ReadAttestations(const std::string& run_id, const std::string& drill_id,
                                  long long most, VerdictDetails* details) {
  AttestationRecord record{
      .drill_id = drill_id, .run_id = run_id, .keyid = {}, .statement_sha256 = {}, .attested = {}};
  long long attested_ms = 0;
  soci::statement query =
      (sql().prepare << "SELECT keyid, statement_sha256, attested_ms FROM attestations WHERE "
                        "drill_id = :drill_id AND run_id = :run_id ORDER BY attested_ms, keyid "
                        "LIMIT :most",
       soci::use(drill_id), soci::use(run_id), soci::use(most), soci::into(record.keyid),
       soci::into(record.statement_sha256), soci::into(attested_ms));
  query.execute();
  while (query.fetch()) {
    record.attested = FromMs(attested_ms);
    details->attestations.push_back(record);
  }
}

Result<VerdictDetails> SqlBrowser::DetailsOf(const std::string& run_id, const std::string& drill_id,
                                             std::size_t limit) {
  VerdictDetails details;
  ASSIGN_OR_RETURN(details.surroundings_sha256, SurroundingsOf(run_id, drill_id));
  ASSIGN_OR_RETURN(details.measures, store_.MeasuresOf(run_id, drill_id));
  RETURN_IF_ERROR(database_.Guard([&]() -> Status {
    ReadReruns(run_id, drill_id, Most(limit), &details);
    ReadAttestations(run_id, drill_id, Most(limit), &details);
    return {};
  }));
  return details;
}

Result<std::string> SqlBrowser::SurroundingsOf(const std::string& run_id,
                                               const std::string& drill_id) {
  ASSIGN_OR_RETURN(
      const auto first,
      Names("SELECT surroundings_sha256 FROM reruns WHERE drill_id = :drill_id AND run_id = "
            ":run_id AND surroundings_sha256 IS NOT NULL ORDER BY rerun LIMIT 1",
            [&](soci::statement& query) {
              query.exchange(soci::use(drill_id));
              query.exchange(soci::use(run_id));
            }));
  return first.empty() ? std::string() : first.front();
}

}  // namespace rharness
