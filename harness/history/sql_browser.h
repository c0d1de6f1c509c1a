// The browser over a Database. Private: browser.cc has its lists, browser_search.cc what is looked
// for and counted.
#ifndef RHARNESS_HARNESS_HISTORY_SQL_BROWSER_H_
#define RHARNESS_HARNESS_HISTORY_SQL_BROWSER_H_

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "harness/history/browser.h"
#include "harness/history/database.h"
#include "harness/history/sql_history.h"

namespace rharness {

// The columns of a RunRow of standing s and runs r; `found` may follow.
inline constexpr char kSelectRuns[] =
    "SELECT s.run_id, s.family, s.started_ms, r.declared, s.last_verdict, s.judged_ms, s.retired";
// A limit as SQL takes one.
inline long long Most(std::size_t limit) {
  return static_cast<long long>(std::min<std::size_t>(limit, 1U << 30U));
}

class SqlBrowser : public HistoryBrowser {
 public:
  explicit SqlBrowser(std::unique_ptr<Database> database)
      : database_(*database), store_(std::move(database)) {}

  HistoryStore& store() override { return store_; }
  Result<std::vector<HistoryCount>> CountAll() override;
  Result<std::vector<HistoryCount>> CountFamilies(const std::string& after,
                                                  std::size_t limit) override;
  Result<std::vector<HistoryCount>> CountFamily(const std::string& family) override;
  Result<std::vector<RunRow>> LastBadRuns(std::size_t limit) override;
  Result<std::optional<RunRow>> FindRun(const std::string& run_id) override;
  Result<std::vector<DrillRecord>> LastDrills(std::size_t limit) override;
  Result<std::vector<RunRow>> FamilyRuns(const std::string& family,
                                         const std::optional<PageStart>& before,
                                         std::size_t limit) override;
  Result<std::vector<FamilyRecord>> LastTogether(const std::string& family,
                                                 std::size_t limit) override;
  Result<std::vector<VerdictRecord>> VerdictsOf(const std::string& run_id,
                                                const std::optional<PageStart>& before,
                                                std::size_t limit, bool reasons) override;
  Result<std::vector<RerunRecord>> RerunsOf(const std::string& run_id, const std::string& drill_id,
                                            std::size_t limit) override;
  Result<std::vector<std::string>> FindFamilies(const std::string& part,
                                                std::size_t limit) override {
    return FindNames("runs", "family", part, limit);
  }
  Result<std::vector<std::string>> FindImages(const std::string& part, std::size_t limit) override {
    return FindNames("lookups", "image", part, limit);
  }
  Result<std::vector<RunRow>> FindRuns(RunKey key, const std::string& text, const FoundAfter& after,
                                       std::size_t limit) override;
  Result<std::int64_t> LastSequence() override;
  Result<std::vector<WeekCount>> CountWeeks(std::int64_t after, std::int64_t until) override;

 private:
  soci::session& sql() { return database_.sql(); }
  template <class... Uses>
  Result<std::vector<HistoryCount>> Counts(const std::string& text, const Uses&... uses);
  // `bind` gives the statement its values, in their order.
  Result<std::vector<RunRow>> Runs(const std::string& text, bool with_found,
                                   const std::function<void(soci::statement&)>& bind);
  Result<std::vector<std::string>> FindNames(const char* table, const char* column,
                                             const std::string& part, std::size_t limit);

  Database& database_;
  SqlHistory store_;
};

}  // namespace rharness

#endif  // RHARNESS_HARNESS_HISTORY_SQL_BROWSER_H_
