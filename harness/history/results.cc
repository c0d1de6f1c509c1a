// What a drill came to, written: a row a rerun, a verdict and a family, in one transaction.
#include <fmt/format.h>

#include <unordered_map>

#include "harness/base/digest.h"
#include "harness/base/json.h"
#include "harness/history/sql_history.h"

namespace rharness {
namespace {

// A nullable column in the form of a statement.
template <class T>
struct NullableColumn {
  T value{};
  soci::indicator known = soci::i_null;

  template <class From>
  void Take(const std::optional<From>& from) {
    known = from ? soci::i_ok : soci::i_null;
    if (from) value = static_cast<T>(*from);
  }
};

// Prepares each statement once: that costs more than executing it, especially with triggers on a
// table. Lives within one transaction.
class ResultWriter {
 public:
  explicit ResultWriter(soci::session& sql);
  ResultWriter(const ResultWriter&) = delete;  // its statements refer to its members

  void Write(const RerunRecord& rerun);
  void Write(const VerdictRecord& verdict);

 private:
  // Returns the digest of the text, which is kept from now on.
  std::string Keep(const std::string& text);
  // The digest of these, kept; empty for none.
  std::string Keep(const Surroundings& surroundings);

  soci::session& sql_;
  std::unordered_map<std::string, std::string> kept_;  // texts, and their digests
  std::string environment_sha256_;
  RerunRecord rerun_;
  std::string surroundings_sha256_;
  soci::indicator known_ = soci::i_ok, surrounded_ = soci::i_ok;
  VerdictRecord verdict_;
  long long decided_ms_ = 0;
  std::string node_;
  NullableColumn<long long> weights_equal_, warnings_, data_had_, not_recorded_;
  NullableColumn<double> margins_;
  soci::statement insert_rerun_, insert_verdict_, insert_measures_;
};

ResultWriter::ResultWriter(soci::session& sql)
    : sql_(sql),
      insert_rerun_(
          (sql.prepare << "INSERT INTO reruns (drill_id, run_id, rerun, outcome, wall_seconds, "
                          "evidence_sha256, surroundings_sha256, environment_sha256) VALUES "
                          "(:drill_id, :run_id, :rerun, :outcome, :wall_seconds, "
                          ":evidence_sha256, :surroundings_sha256, :environment_sha256)",
           soci::use(rerun_.drill_id), soci::use(rerun_.run_id), soci::use(rerun_.rerun),
           soci::use(rerun_.outcome), soci::use(rerun_.wall_seconds),
           soci::use(rerun_.evidence_sha256), soci::use(surroundings_sha256_, surrounded_),
           soci::use(environment_sha256_, known_))),
      insert_verdict_(
          (sql.prepare << "INSERT INTO verdicts (drill_id, run_id, verdict, decided_ms, reruns, "
                          "reasons) VALUES (:drill_id, :run_id, :verdict, :decided_ms, :reruns, "
                          ":reasons)",
           soci::use(verdict_.drill_id), soci::use(verdict_.run_id), soci::use(verdict_.verdict),
           soci::use(decided_ms_), soci::use(verdict_.reruns), soci::use(verdict_.reasons))),
      insert_measures_(
          (sql.prepare << "INSERT INTO verdict_measures (drill_id, run_id, node, weights_equal, "
                          "margins, warnings, data_had, not_recorded) VALUES (:drill_id, :run_id, "
                          ":node, :weights_equal, :margins, :warnings, :data_had, :not_recorded)",
           soci::use(verdict_.drill_id), soci::use(verdict_.run_id), soci::use(node_),
           soci::use(weights_equal_.value, weights_equal_.known),
           soci::use(margins_.value, margins_.known), soci::use(warnings_.value, warnings_.known),
           soci::use(data_had_.value, data_had_.known),
           soci::use(not_recorded_.value, not_recorded_.known))) {}

std::string ResultWriter::Keep(const std::string& text) {
  constexpr std::size_t kMostTexts = 64;
  if (const auto found = kept_.find(text); found != kept_.end()) return found->second;
  const std::string sha256 = Sha256HexOf(text);
  int held = 0;
  sql_ << "SELECT COUNT(*) FROM surroundings WHERE sha256 = :sha256", soci::use(sha256),
      soci::into(held);
  if (held == 0) {
    sql_ << "INSERT INTO surroundings (sha256, body) VALUES (:sha256, :body)", soci::use(sha256),
        soci::use(text);
  }
  if (kept_.size() >= kMostTexts) kept_.clear();
  kept_.emplace(text, sha256);
  return sha256;
}

// One text names the digests of the parts, so that a night in which nothing changed adds no row.
std::string ResultWriter::Keep(const Surroundings& surroundings) {
  if (surroundings.empty()) return {};
  Json parts = Json::MakeObject();
  for (const auto& [name, text] : surroundings) parts.AppendMember(name, Keep(text));
  return Keep(parts.Dump());
}

void ResultWriter::Write(const RerunRecord& rerun) {
  const Surroundings surroundings = rerun.surroundings ? rerun.surroundings() : Surroundings();
  rerun_ = rerun;
  surroundings_sha256_ = Keep(surroundings);
  environment_sha256_ = Keep(EnvironmentOf(surroundings));
  surrounded_ = surroundings_sha256_.empty() ? soci::i_null : soci::i_ok;
  known_ = environment_sha256_.empty() ? soci::i_null : soci::i_ok;
  insert_rerun_.execute(true);
}

void ResultWriter::Write(const VerdictRecord& verdict) {
  verdict_ = verdict;
  decided_ms_ = ToMs(verdict.decided);
  insert_verdict_.execute(true);
  if (!verdict.measures) return;
  const VerdictMeasures& measures = *verdict.measures;
  node_ = measures.node;
  weights_equal_.Take(measures.weights_equal);
  margins_.Take(measures.margins);
  warnings_.Take(measures.warnings);
  data_had_.Take(measures.data_had);
  not_recorded_.Take(measures.not_recorded);
  insert_measures_.execute(true);
}

}  // namespace

Surroundings EnvironmentOf(const Surroundings& surroundings) {
  Surroundings environment;
  for (const std::string_view name : kEnvironmentParts) {
    const auto part = surroundings.find(std::string(name));
    if (part != surroundings.end()) environment.insert(*part);
  }
  return environment;
}

void SqlHistory::Insert(const DrillRecord& drill, const std::string& supersedes) {
  const long long started_ms = ToMs(drill.started);
  const long long ended_ms = drill.ended ? ToMs(*drill.ended) : 0;
  const int exit_code = drill.exit_code.value_or(0);
  soci::indicator ended = drill.ended ? soci::i_ok : soci::i_null;
  soci::indicator exited = drill.exit_code ? soci::i_ok : soci::i_null;
  soci::indicator superseding = supersedes.empty() ? soci::i_null : soci::i_ok;
  sql() << "INSERT INTO drills (drill_id, started_ms, ended_ms, exit_code, supersedes, sequence) "
           "VALUES (:drill_id, :started_ms, :ended_ms, :exit_code, :supersedes, "
           "(SELECT COALESCE(MAX(sequence), 0) + 1 FROM drills))",
      soci::use(drill.drill_id), soci::use(started_ms), soci::use(ended_ms, ended),
      soci::use(exit_code, exited), soci::use(supersedes, superseding);
}

Status SqlHistory::InsertAll(const DrillRecord& drill, const std::string& supersedes,
                             DrillResults results) {
  Insert(drill, supersedes);
  ResultWriter writer(sql());
  std::set<std::string> known;
  const auto check = [&](const std::string& run_id) -> Status {
    if (known.insert(run_id).second) RETURN_IF_ERROR(CheckRun(run_id));
    return {};
  };
  for (RerunRecord& rerun : results.reruns) {
    RETURN_IF_ERROR(check(rerun.run_id));
    rerun.drill_id = drill.drill_id;
    writer.Write(rerun);
  }
  for (VerdictRecord& verdict : results.verdicts) {
    RETURN_IF_ERROR(check(verdict.run_id));
    verdict.drill_id = drill.drill_id;
    writer.Write(verdict);
  }
  for (FamilyRecord& family : results.families) {
    if (!HasFamily(family.family)) {
      return NotFound(fmt::format("no run of family '{}' is in the history", family.family),
                      database_->name());
    }
    family.drill_id = drill.drill_id;
    Insert(family);
  }
  return {};
}

}  // namespace rharness
