// The browser over a Database. Private: browser.cc has its lists, browser_life.cc the verdicts of
// one run, browser_search.cc search and counts.
#ifndef RHARNESS_HARNESS_HISTORY_SQL_BROWSER_H_
#define RHARNESS_HARNESS_HISTORY_SQL_BROWSER_H_

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "harness/history/browser.h"
#include "harness/history/database.h"
#include "harness/history/sql_history.h"
#include "harness/history/verdict_sql.h"

namespace rharness {

// The columns of a RunRow of standing s and runs r; `found` may follow.
inline constexpr char kSelectRuns[] =
    "SELECT s.run_id, s.family, s.started_ms, r.declared, s.last_verdict, s.judged_ms, s.retired";
// Before which everything is.
inline const PageStart kNewest = {WallTime(std::chrono::milliseconds::max()), ""};
// A limit as SQL takes one.
inline long long Most(std::size_t limit) {
  return static_cast<long long>(std::min<std::size_t>(limit, 1U << 30U));
}

// The rows that a list continues with: those after a row, in order, or those before it, the nearest
// first.
struct Direction {
  const char* sign;   // between a row and the start row
  const char* order;  // after each column to sort by
  const char* first;  // aggregate that gives the nearest of the next names
};
inline Direction DirectionOf(Toward toward) {
  return toward == Toward::kEnd ? Direction{">", "", "MIN"} : Direction{"<", "DESC", "MAX"};
}
// Of a list whose newest row is the first.
inline Direction NewestFirst(Toward toward) {
  return toward == Toward::kEnd ? Direction{"<", "DESC", "MAX"} : Direction{">", "", "MIN"};
}
// Restores the order of the list after a read in either direction.
template <class Row>
std::vector<Row> InOrder(std::vector<Row> rows, Toward toward) {
  if (toward == Toward::kStart) std::reverse(rows.begin(), rows.end());
  return rows;
}

// A column of names that leads an index; and the search text.
struct NamesAsked {
  const char* table;
  const char* column;
  const std::string& part;
};

class SqlBrowser : public HistoryBrowser {
 public:
  explicit SqlBrowser(std::unique_ptr<Database> database)
      : database_(*database), store_(std::move(database)) {}

  Status CheckWords() override {
    return database_.Guard([&] { return database_.CheckWords(); });
  }
  HistoryStore& store() override { return store_; }
  Result<std::vector<HistoryCount>> CountAll() override;
  Result<std::vector<HistoryCount>> CountFamilies(const NameStart& start,
                                                  std::size_t limit) override;
  Result<std::vector<HistoryCount>> CountFamily(const std::string& family) override;
  Result<std::vector<RunRow>> LastBadRuns(const std::vector<std::string>& open,
                                          std::size_t limit) override;
  Result<std::vector<std::string>> OpenBadRuns(std::size_t limit) override;
  Result<std::optional<RunRow>> FindRun(const std::string& run_id) override;
  Result<std::vector<DrillRecord>> LastDrills(std::size_t limit) override;
  Result<std::vector<RunRow>> FamilyRuns(const std::string& family,
                                         const std::optional<PageStart>& start,
                                         std::size_t limit) override;
  Result<std::vector<FamilyRecord>> LastTogether(const std::string& family,
                                                 std::size_t limit) override;
  Result<std::vector<VerdictRecord>> VerdictsOf(const std::string& run_id,
                                                const std::optional<PageStart>& start,
                                                std::size_t limit, bool reasons) override;
  Result<std::optional<VerdictRecord>> LastConclusiveOf(const std::string& run_id) override;
  Result<VerdictDetails> DetailsOf(const std::string& run_id, const std::string& drill_id,
                                   std::size_t limit) override;
  Result<std::string> SurroundingsOf(const std::string& run_id,
                                     const std::string& drill_id) override;
  Result<NamesFound> FindFamilies(const std::string& part, const NameStart& start,
                                  std::size_t limit, Look look) override {
    return FindNames({"runs", "family", part}, start, limit, look);
  }
  Result<NamesFound> FindImages(const std::string& part, const NameStart& start, std::size_t limit,
                                Look look) override {
    return FindNames({"lookups", "image", part}, start, limit, look);
  }
  Result<std::vector<RunRow>> FindRuns(RunKey key, const std::string& text, const FoundStart& start,
                                       std::size_t limit) override;
  Result<std::int64_t> LastSequence() override;
  Result<std::vector<WeekCount>> CountWeeks(std::int64_t after, std::int64_t until) override;

 private:
  soci::session& sql() { return database_.sql(); }
  template <class... Uses>
  Result<std::vector<HistoryCount>> Counts(const std::string& text, const Uses&... uses);
  void ReadReruns(const std::string& run_id, const std::string& drill_id, long long most,
                  VerdictDetails* details);
  void ReadAttestations(const std::string& run_id, const std::string& drill_id, long long most,
                        VerdictDetails* details);
  // `bind` adds the values of the statement, in order.
  Result<std::vector<RunRow>> Runs(const std::string& text, bool with_found,
                                   const std::function<void(soci::statement&)>& bind);
  Result<NamesFound> FindNames(const NamesAsked& asked, const NameStart& start, std::size_t limit,
                               Look look);
  Result<std::vector<std::string>> Names(const std::string& text,
                                         const std::function<void(soci::statement&)>& bind);

  Database& database_;
  SqlHistory store_;
};

}  // namespace rharness

#endif  // RHARNESS_HARNESS_HISTORY_SQL_BROWSER_H_
