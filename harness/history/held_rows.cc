// Reads of rows that are about one run each.
#include "harness/history/held_rows.h"

#include <fmt/format.h>

#include <span>
#include <utility>

namespace rharness {
namespace {

class HeldRowReader {
 public:
  HeldRowReader(soci::session& sql, const HeldRange& runs, std::vector<HeldRecord>* out)
      : sql_(sql), runs_(runs), out_(out) {}

  void ReadProperties() {
    std::string drill_id, run_id, property, state, reason;
    long long decided_ms = 0, sequence = 0;
    soci::statement query =
        (sql_.prepare
             << "SELECT drill_id, run_id, property, state, decided_ms, reason, sequence "
                "FROM property_verdicts WHERE run_id >= :first AND run_id <= :last ORDER BY "
                "sequence, drill_id, run_id, property",
         soci::use(runs_.first, "first"), soci::use(runs_.last, "last"), soci::into(drill_id),
         soci::into(run_id), soci::into(property), soci::into(state), soci::into(decided_ms),
         soci::into(reason), soci::into(sequence));
    query.execute();
    while (query.fetch()) {
      Add("property_verdict", fmt::format("{}/{}/{}", drill_id, run_id, property),
          Json::MakeObject({{"drill_id", drill_id},
                            {"run_id", run_id},
                            {"property", property},
                            {"state", state},
                            {"decided_ms", decided_ms},
                            {"reason", reason},
                            {"sequence", sequence}}));
    }
  }

  void ReadRetirements() {
    std::string run_id, reason;
    long long retired_ms = 0;
    soci::statement query = (sql_.prepare << "SELECT run_id, reason, retired_ms FROM retirements "
                                             "WHERE run_id >= :first AND run_id <= :last ORDER BY "
                                             "retired_ms, run_id",
                             soci::use(runs_.first, "first"), soci::use(runs_.last, "last"),
                             soci::into(run_id), soci::into(reason), soci::into(retired_ms));
    query.execute();
    while (query.fetch()) {
      Add("retirement", run_id,
          Json::MakeObject({{"run_id", run_id}, {"reason", reason}, {"retired_ms", retired_ms}}));
    }
  }

  void ReadRebuilds() {
    std::string run_id, state, body;
    long long asked_ms = 0;
    soci::statement query =
        (sql_.prepare << "SELECT run_id, asked_ms, state, body FROM "
                         "rebuild_answers WHERE run_id >= :first AND run_id <= "
                         ":last ORDER BY run_id, asked_ms",
         soci::use(runs_.first, "first"), soci::use(runs_.last, "last"), soci::into(run_id),
         soci::into(asked_ms), soci::into(state), soci::into(body));
    query.execute();
    while (query.fetch()) {
      Add("rebuild", fmt::format("{}/{}", run_id, asked_ms),
          Json::MakeObject(
              {{"run_id", run_id}, {"asked_ms", asked_ms}, {"state", state}, {"body", body}}));
    }
  }

  void ReadReplicates() {
    std::string configuration, stack, run_id, evidence, sha256, body;
    long long replicate = 0, made_ms = 0;
    soci::statement query =
        (sql_.prepare
             << "SELECT configuration, stack, run_id, replicate, made_ms, evidence_sha256, "
                "sha256, body FROM replicates WHERE run_id >= :first AND run_id <= :last ORDER "
                "BY configuration, stack, run_id, replicate",
         soci::use(runs_.first, "first"), soci::use(runs_.last, "last"), soci::into(configuration),
         soci::into(stack), soci::into(run_id), soci::into(replicate), soci::into(made_ms),
         soci::into(evidence), soci::into(sha256), soci::into(body));
    query.execute();
    while (query.fetch()) {
      Add("replicate", fmt::format("{}/{}/{}/{}", configuration, stack, run_id, replicate),
          Json::MakeObject({{"configuration", configuration},
                            {"stack", stack},
                            {"run_id", run_id},
                            {"replicate", replicate},
                            {"made_ms", made_ms},
                            {"evidence_sha256", evidence},
                            {"sha256", sha256},
                            {"body", body}}));
    }
  }

 private:
  void Add(const char* kind, std::string name, const Json& content) {
    out_->push_back({kind, std::move(name), DigestOfHeld(content.Dump())});
  }

  soci::session& sql_;
  const HeldRange& runs_;
  std::vector<HeldRecord>* out_;
};

}  // namespace

Sha256Bytes DigestOfHeld(std::string_view content) {
  return Sha256Of(std::as_bytes(std::span(content.data(), content.size())));
}

void AddRunRows(soci::session& sql, const HeldRange& runs, std::vector<HeldRecord>* out) {
  HeldRowReader reader(sql, runs, out);
  reader.ReadProperties();
  reader.ReadRetirements();
  reader.ReadRebuilds();
  reader.ReadReplicates();
}

}  // namespace rharness
