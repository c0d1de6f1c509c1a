// All records of a history, one digest each, in one view of it. In SQL over SOCI.
#include <fmt/format.h>

#include <map>
#include <utility>

#include "harness/base/json.h"
#include "harness/history/derived_rows.h"
#include "harness/history/held_record.h"
#include "harness/history/held_rows.h"
#include "harness/history/lookup_texts.h"
#include "harness/history/sql_history.h"
#include "harness/history/untouched.h"

namespace rharness {
namespace {

constexpr int kPageRows = 200;  // of those with long texts

// Fills `out` from one history, within one transaction: with rows on the runs of these names, by
// bytes. Failures throw.
class HeldReader {
 public:
  HeldReader(soci::session& sql, std::vector<HeldRecord>* out) : sql_(sql), out_(out) {}
  HeldReader(soci::session& sql, const std::string& run_id, std::vector<HeldRecord>* out)
      : sql_(sql), from_(run_id), to_(run_id), out_(out) {}

  // The first run whose 'lookups' contradict its manifest; empty: none.
  const std::string& other_lookup() const { return other_lookup_; }

  void ReadOneRun() {
    ReadRuns();
    ReadTexts("manifest", "SELECT run_id, body FROM manifests WHERE run_id = :after LIMIT :rows",
              from_);
    for (const std::string& drill_id : DrillsOfRuns()) {
      std::size_t reruns = 0;
      std::map<std::string, Json> of_runs = Reruns(drill_id, &reruns);
      AddVerdicts(drill_id, &of_runs);
      AddOtherReruns(drill_id, of_runs);
    }
    AddRunRows(sql_, {from_, to_}, out_);
    AddSignedRows(sql_, {from_, to_}, out_);
    AddTakenBackRows(sql_, from_, out_);
  }

  void ReadAll() {
    ReadRuns();
    ReadManifests();
    ReadTexts("surroundings",
              "SELECT sha256, body FROM surroundings WHERE sha256 > :after ORDER BY "
              "sha256 LIMIT :rows");
    ReadDrills();
    AddRunRows(sql_, {from_, to_}, out_);
    AddSignedRows(sql_, {from_, to_}, out_);
    AddDeletionRows(sql_, {from_, to_}, out_);
  }

 private:
  void Add(const char* kind, std::string name, const Json& content) {
    out_->push_back({kind, std::move(name), DigestOfHeld(content.Dump())});
  }

  void ReadRuns() {
    std::string run_id, family, configuration, declared, sha256;
    long long started_ms = 0, added_ms = 0;
    double duration = 0.0;
    soci::statement query =
        (sql_.prepare
             << "SELECT run_id, family, configuration, declared, started_ms, "
                "duration_seconds, added_ms, sha256 FROM runs WHERE run_id >= :first AND run_id "
                "<= :last ORDER BY run_id",
         soci::use(from_, "first"), soci::use(to_, "last"), soci::into(run_id), soci::into(family),
         soci::into(configuration), soci::into(declared), soci::into(started_ms),
         soci::into(duration), soci::into(added_ms), soci::into(sha256));
    query.execute();
    while (query.fetch()) {
      Add("run", run_id,
          Json::MakeObject({{"run_id", run_id},
                            {"family", family},
                            {"configuration", configuration},
                            {"declared", declared},
                            {"started_ms", started_ms},
                            {"duration_seconds", duration},
                            {"added_ms", added_ms},
                            {"sha256", sha256}}));
    }
  }

  // A page at a time, since the texts of all runs may exceed memory.
  void ReadTexts(const char* kind, const char* page, std::string after = {}) {
    std::string name, body;
    const int rows = kPageRows;
    for (int got = kPageRows; got == kPageRows;) {
      got = 0;
      soci::statement query = (sql_.prepare << page, soci::use(after, "after"),
                               soci::use(rows, "rows"), soci::into(name), soci::into(body));
      query.execute();
      std::string last;
      for (; query.fetch(); ++got) {
        out_->push_back({kind, name, DigestOfHeld(body)});
        last = name;
      }
      after = last;
    }
  }

  // The same for manifests, with their search keys.
  void ReadManifests() {
    std::string name, body, after;
    MaybeNull<std::string> commit, image;
    const int rows = kPageRows;
    for (int got = kPageRows; got == kPageRows;) {
      got = 0;
      soci::statement query =
          (sql_.prepare << "SELECT m.run_id, m.body, l.code_commit, l.image FROM manifests m LEFT "
                           "JOIN lookups l ON l.run_id = m.run_id WHERE m.run_id > :after ORDER BY "
                           "m.run_id LIMIT :rows",
           soci::use(after, "after"), soci::use(rows, "rows"), soci::into(name), soci::into(body),
           soci::into(commit.value, commit.state), soci::into(image.value, image.state));
      query.execute();
      std::string last;
      for (; query.fetch(); ++got) {
        out_->push_back({"manifest", name, DigestOfHeld(body)});
        const bool found = commit.state == soci::i_ok && image.state == soci::i_ok &&
                           AreLookupsOf(body, {commit.value, image.value});
        if (!found && other_lookup_.empty()) other_lookup_ = name;
        last = name;
      }
      after = last;
    }
  }

  struct Drill {
    std::string drill_id;
    long long started_ms = 0;
    MaybeNull<long long> ended_ms, exit_code, sequence;
    MaybeNull<std::string> supersedes;
  };

  std::vector<Drill> Drills() {
    std::vector<Drill> drills;
    Drill one;
    soci::statement query =
        (sql_.prepare << "SELECT drill_id, started_ms, ended_ms, exit_code, sequence, supersedes "
                         "FROM drills ORDER BY sequence, drill_id",
         soci::into(one.drill_id), soci::into(one.started_ms),
         soci::into(one.ended_ms.value, one.ended_ms.state),
         soci::into(one.exit_code.value, one.exit_code.state),
         soci::into(one.sequence.value, one.sequence.state),
         soci::into(one.supersedes.value, one.supersedes.state));
    query.execute();
    while (query.fetch()) drills.push_back(one);
    return drills;
  }

  void ReadDrills() {
    for (const Drill& drill : Drills()) {
      const std::size_t place = out_->size();
      out_->emplace_back();  // the drill precedes its findings
      std::size_t reruns = 0;
      std::map<std::string, Json> of_runs = Reruns(drill.drill_id, &reruns);
      const std::size_t verdicts = AddVerdicts(drill.drill_id, &of_runs);
      const std::size_t families = AddFamilies(drill.drill_id);
      AddOtherReruns(drill.drill_id, of_runs);
      const Json content = Json::MakeObject({{"drill_id", drill.drill_id},
                                             {"started_ms", drill.started_ms},
                                             {"ended_ms", drill.ended_ms.json()},
                                             {"exit_code", drill.exit_code.json()},
                                             {"sequence", drill.sequence.json()},
                                             {"supersedes", drill.supersedes.json()},
                                             {"reruns", reruns},
                                             {"verdicts", verdicts},
                                             {"families", families}});
      (*out_)[place] = {"drill", drill.drill_id, DigestOfHeld(content.Dump())};
    }
  }

  void AddOtherReruns(const std::string& drill_id, const std::map<std::string, Json>& of_runs) {
    for (const auto& [run_id, left] : of_runs) Add("reruns", drill_id + "/" + run_id, left);
  }

  std::vector<std::string> DrillsOfRuns() {
    std::vector<std::string> drills;
    std::string drill_id;
    soci::statement query =
        (sql_.prepare << "SELECT drill_id FROM drills WHERE drill_id IN (SELECT drill_id FROM "
                         "verdicts WHERE run_id = :run_id) OR drill_id IN (SELECT drill_id FROM "
                         "reruns WHERE run_id = :run_id2) ORDER BY sequence, drill_id",
         soci::use(from_, "run_id"), soci::use(from_, "run_id2"), soci::into(drill_id));
    query.execute();
    while (query.fetch()) drills.push_back(drill_id);
    return drills;
  }

  // By run: an array of its reruns.
  std::map<std::string, Json> Reruns(const std::string& drill_id, std::size_t* count) {
    std::map<std::string, Json> of_runs;
    std::string run_id, outcome, evidence;
    long long rerun = 0;
    double wall = 0.0;
    MaybeNull<std::string> surroundings, environment;
    soci::statement query =
        (sql_.prepare
             << "SELECT run_id, rerun, outcome, wall_seconds, evidence_sha256, "
                "surroundings_sha256, environment_sha256 FROM reruns WHERE drill_id = "
                ":drill_id AND run_id >= :first AND run_id <= :last ORDER BY run_id, rerun",
         soci::use(drill_id, "drill_id"), soci::use(from_, "first"), soci::use(to_, "last"),
         soci::into(run_id), soci::into(rerun), soci::into(outcome), soci::into(wall),
         soci::into(evidence), soci::into(surroundings.value, surroundings.state),
         soci::into(environment.value, environment.state));
    query.execute();
    for (; query.fetch(); ++*count) {
      of_runs[run_id].Append(Json::MakeObject({{"rerun", rerun},
                                               {"outcome", outcome},
                                               {"wall_seconds", wall},
                                               {"evidence_sha256", evidence},
                                               {"surroundings_sha256", surroundings.json()},
                                               {"environment_sha256", environment.json()}}));
    }
    return of_runs;
  }

  // By run: a drill's measures beside the verdict.
  std::map<std::string, Json> Measures(const std::string& drill_id) {
    std::map<std::string, Json> of_runs;
    std::string run_id, node;
    MaybeNull<long long> equal, warnings, had, not_recorded;
    MaybeNull<double> margins;
    soci::statement query =
        (sql_.prepare << "SELECT run_id, node, weights_equal, margins, warnings, data_had, "
                         "not_recorded FROM verdict_measures WHERE drill_id = :drill_id AND run_id "
                         ">= :first AND run_id <= :last",
         soci::use(drill_id, "drill_id"), soci::use(from_, "first"), soci::use(to_, "last"),
         soci::into(run_id), soci::into(node), soci::into(equal.value, equal.state),
         soci::into(margins.value, margins.state), soci::into(warnings.value, warnings.state),
         soci::into(had.value, had.state), soci::into(not_recorded.value, not_recorded.state));
    query.execute();
    while (query.fetch()) {
      of_runs[run_id] = Json::MakeObject({{"node", node},
                                          {"weights_equal", equal.json()},
                                          {"margins", margins.json()},
                                          {"warnings", warnings.json()},
                                          {"data_had", had.json()},
                                          {"not_recorded", not_recorded.json()}});
    }
    return of_runs;
  }

  // Each with its reruns, taken from `of_runs`.
  std::size_t AddVerdicts(const std::string& drill_id, std::map<std::string, Json>* of_runs) {
    std::string run_id, verdict, reasons;
    long long decided_ms = 0, count = 0;
    std::map<std::string, Json> measures = Measures(drill_id);
    soci::statement query =
        (sql_.prepare
             << "SELECT run_id, verdict, decided_ms, reruns, reasons FROM verdicts WHERE "
                "drill_id = :drill_id AND run_id >= :first AND run_id <= :last ORDER BY run_id",
         soci::use(drill_id, "drill_id"), soci::use(from_, "first"), soci::use(to_, "last"),
         soci::into(run_id), soci::into(verdict), soci::into(decided_ms), soci::into(count),
         soci::into(reasons));
    query.execute();
    std::size_t verdicts = 0;
    for (; query.fetch(); ++verdicts) {
      const auto its = of_runs->extract(run_id);
      Add("verdict", drill_id + "/" + run_id,
          Json::MakeObject({{"drill_id", drill_id},
                            {"run_id", run_id},
                            {"verdict", verdict},
                            {"decided_ms", decided_ms},
                            {"reruns", count},
                            {"reasons", reasons},
                            {"rerun_records", its.empty() ? Json() : its.mapped()},
                            {"measures", measures[run_id]}}));
    }
    return verdicts;
  }

  std::size_t AddFamilies(const std::string& drill_id) {
    std::string family, configuration, name, verdict, reasons;
    long long decided_ms = 0, runs = 0;
    soci::statement query =
        (sql_.prepare << "SELECT family, configuration, name, verdict, decided_ms, runs, reasons "
                         "FROM family_verdicts WHERE drill_id = :drill_id ORDER BY configuration",
         soci::use(drill_id), soci::into(family), soci::into(configuration), soci::into(name),
         soci::into(verdict), soci::into(decided_ms), soci::into(runs), soci::into(reasons));
    query.execute();
    std::size_t families = 0;
    for (; query.fetch(); ++families) {
      Add("family_verdict", drill_id + "/" + configuration,
          Json::MakeObject({{"drill_id", drill_id},
                            {"family", family},
                            {"configuration", configuration},
                            {"name", name},
                            {"verdict", verdict},
                            {"decided_ms", decided_ms},
                            {"runs", runs},
                            {"reasons", reasons}}));
    }
    return families;
  }

  soci::session& sql_;
  std::string from_;
  std::string to_ = "\xF4\x8F\xBF\xBF";  // after every text except of its own first letter
  std::vector<HeldRecord>* out_;
  std::string other_lookup_;
};

}  // namespace

Result<HeldRecords> SqlHistory::ReadHeld() {
  return database_->Read([&]() -> Result<HeldRecords> {
    HeldRecords held;
    if (const auto doubt = FindDerivedDoubt(sql())) {
      held.derived = IntegrityError(doubt->words, Where(doubt->run_id));
    }
    HeldReader reader(sql(), &held.records);
    reader.ReadAll();
    if (!held.derived && !reader.other_lookup().empty()) {
      held.derived = IntegrityError("the table 'lookups' contradicts its manifest",
                                    Where(reader.other_lookup()));
    }
    return held;
  });
}

Result<std::vector<HeldRecord>> SqlHistory::ReadHeldOf(const std::string& run_id) {
  return database_->Read([&]() -> Result<std::vector<HeldRecord>> {
    std::vector<HeldRecord> records;
    HeldReader(sql(), run_id, &records).ReadOneRun();
    return records;
  });
}

// There is no other kind of store.
Result<HeldRecords> ReadHeldRecords(const std::string& url) {
  ASSIGN_OR_RETURN(const auto store, OpenUntouchedHistory(url));
  return static_cast<SqlHistory*>(store.get())->ReadHeld();
}

Result<std::vector<HeldRecord>> ReadHeldRecordsOf(const std::string& run_id,
                                                  const std::string& url) {
  ASSIGN_OR_RETURN(const auto store, OpenUntouchedHistory(url));
  return static_cast<SqlHistory*>(store.get())->ReadHeldOf(run_id);
}

}  // namespace rharness
