// How far rounding carries runs: the replicates that drills made. In SQL over SOCI.
#include <fmt/format.h>

#include "harness/base/digest.h"
#include "harness/history/sql_history.h"

namespace rharness {

Status SqlHistory::AddReplicates(const std::vector<ReplicateRecord>& replicates) {
  return database_->Write([&]() -> Status {
    for (const ReplicateRecord& replicate : replicates) {
      RETURN_IF_ERROR(CheckRun(replicate.run_id));
      int held = 0;
      sql() << "SELECT COUNT(*) FROM replicates WHERE configuration = :configuration AND "
               "stack = :stack AND run_id = :run_id AND replicate = :replicate",
          soci::use(replicate.configuration), soci::use(replicate.stack),
          soci::use(replicate.run_id), soci::use(replicate.replicate), soci::into(held);
      if (held != 0) continue;
      const long long made_ms = ToMs(replicate.made);
      const std::string sha256 = Sha256HexOf(replicate.body);
      sql() << "INSERT INTO replicates (configuration, stack, run_id, replicate, made_ms, "
               "evidence_sha256, sha256, body) VALUES (:configuration, :stack, :run_id, "
               ":replicate, :made_ms, :evidence_sha256, :sha256, :body)",
          soci::use(replicate.configuration), soci::use(replicate.stack),
          soci::use(replicate.run_id), soci::use(replicate.replicate), soci::use(made_ms),
          soci::use(replicate.evidence_sha256), soci::use(sha256), soci::use(replicate.body);
    }
    return {};
  });
}

Result<std::vector<ReplicateRecord>> SqlHistory::Replicates(const std::string& configuration) {
  return database_->Guard([&]() -> Result<std::vector<ReplicateRecord>> {
    ReplicateRecord replicate{.configuration = configuration};
    long long made_ms = 0;
    std::string sha256;
    soci::statement query =
        (sql().prepare << "SELECT stack, run_id, replicate, made_ms, evidence_sha256, sha256, body "
                          "FROM replicates WHERE configuration = :configuration ORDER BY stack, "
                          "run_id, replicate",
         soci::use(configuration), soci::into(replicate.stack), soci::into(replicate.run_id),
         soci::into(replicate.replicate), soci::into(made_ms),
         soci::into(replicate.evidence_sha256), soci::into(sha256), soci::into(replicate.body));
    query.execute();
    std::vector<ReplicateRecord> replicates;
    while (query.fetch()) {
      if (Sha256HexOf(replicate.body) != sha256) {
        return IntegrityError(fmt::format("replicate {} was changed", replicate.replicate),
                              Where(replicate.run_id));
      }
      replicate.made = FromMs(made_ms);
      replicates.push_back(replicate);
    }
    return replicates;
  });
}

}  // namespace rharness
