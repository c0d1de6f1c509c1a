// Drills' joint verdicts on runs. In SQL over SOCI.
#include <fmt/format.h>

#include <map>
#include <utility>

#include "harness/history/sql_history.h"

namespace rharness {
namespace {

// Those not replaced by later results of the same drill, in order of entry.
std::string SelectTogether(const char* where) {
  return fmt::format(
      "SELECT f.drill_id, f.family, f.configuration, f.name, f.verdict, f.decided_ms, f.runs, "
      "f.reasons FROM family_verdicts f JOIN drills d ON d.drill_id = f.drill_id WHERE {} NOT "
      "EXISTS (SELECT 1 FROM drills n WHERE n.supersedes = f.drill_id) ORDER BY d.sequence, "
      "f.configuration",
      where);
}

template <class F>
std::vector<FamilyRecord> FetchTogether(soci::session& sql, const std::string& text, F bind) {
  FamilyRecord family;
  long long decided_ms = 0;
  soci::statement query(sql);
  query.exchange(soci::into(family.drill_id));
  query.exchange(soci::into(family.family));
  query.exchange(soci::into(family.configuration));
  query.exchange(soci::into(family.name));
  query.exchange(soci::into(family.verdict));
  query.exchange(soci::into(decided_ms));
  query.exchange(soci::into(family.runs));
  query.exchange(soci::into(family.reasons));
  bind(query);
  query.alloc();
  query.prepare(text);
  query.define_and_bind();
  query.execute();
  std::vector<FamilyRecord> families;
  while (query.fetch()) {
    family.decided = FromMs(decided_ms);
    families.push_back(family);
  }
  return families;
}

}  // namespace

void SqlHistory::Insert(const FamilyRecord& family) {
  const long long decided_ms = ToMs(family.decided);
  sql() << "INSERT INTO family_verdicts (drill_id, family, configuration, name, verdict, "
           "decided_ms, runs, reasons) VALUES (:drill_id, :family, :configuration, :name, "
           ":verdict, :decided_ms, :runs, :reasons)",
      soci::use(family.drill_id), soci::use(family.family), soci::use(family.configuration),
      soci::use(family.name), soci::use(family.verdict), soci::use(decided_ms),
      soci::use(family.runs), soci::use(family.reasons);
}

bool SqlHistory::HasFamily(const std::string& family) {
  int held = 0;
  sql() << "SELECT COUNT(*) FROM (SELECT 1 FROM runs WHERE family = :family LIMIT 1) one",
      soci::use(family), soci::into(held);
  return held > 0;
}

Result<std::vector<FamilyRecord>> SqlHistory::TogetherVerdicts(const std::string& family) {
  return database_->Guard([&]() -> Result<std::vector<FamilyRecord>> {
    return FetchTogether(sql(), SelectTogether("f.family = :family AND"),
                         [&](soci::statement& query) { query.exchange(soci::use(family)); });
  });
}

Result<std::vector<FamilyRecord>> SqlHistory::LastTogetherVerdicts() {
  return database_->Guard([&]() -> Result<std::vector<FamilyRecord>> {
    std::map<std::pair<std::string, std::string>, FamilyRecord> last;
    for (FamilyRecord& one : FetchTogether(sql(), SelectTogether(""), [](soci::statement&) {})) {
      auto key = std::pair(one.family, one.configuration);
      last[std::move(key)] = std::move(one);
    }
    std::vector<FamilyRecord> families;
    for (auto& [key, one] : last) families.push_back(std::move(one));
    return families;
  });
}

}  // namespace rharness
