// A history for browsing: read-only, a page at a time.
//
// Role: the source of `rharness serve`. Every list has a limit and continues from the last or the
// first row of another page; each reads an index up to its limit, unless noted. The next call sees
// what others, such as drills, write meanwhile. Not here: anything that writes.
#ifndef RHARNESS_HARNESS_HISTORY_BROWSER_H_
#define RHARNESS_HARNESS_HISTORY_BROWSER_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/history/browser_rows.h"
#include "harness/history/store.h"

namespace rharness {

struct BrowserLimits {
  std::chrono::milliseconds lock{2'000};    // waiting for a writer
  std::chrono::milliseconds answer{5'000};  // of one call
  std::chrono::milliseconds gone{2'000};    // wait for an unreachable server
};

class HistoryBrowser {
 public:
  // Never makes or migrates a history. Errors: those of HistoryStore::OpenExisting, and
  // invalid_input for a schema older than this version's. A browser is for one thread.
  static Result<std::unique_ptr<HistoryBrowser>> Open(const std::string& url,
                                                      const BrowserLimits& limits = {});
  virtual ~HistoryBrowser() = default;

  // Errors: unsupported if a newer version meanwhile wrote a word that this one does not know.
  virtual Status CheckWords() = 0;
  // The same connection as a store: writes are io errors.
  virtual HistoryStore& store() = 0;

  // Runs that are not retired by their last verdict, `family` left empty. Reads all of them.
  virtual Result<std::vector<HistoryCount>> CountAll() = 0;
  // The next `limit` families from this name on, each with its counts. Reads all of their runs.
  virtual Result<std::vector<HistoryCount>> CountFamilies(const NameStart& start,
                                                          std::size_t limit) = 0;
  virtual Result<std::vector<HistoryCount>> CountFamily(const std::string& family) = 0;
  // Runs whose last conclusive verdict is drifted or failed, with that verdict and its time, the
  // latest first; not retired. Runs whose very last verdict is open are searched among `open`
  // alone.
  virtual Result<std::vector<RunRow>> LastBadRuns(const std::vector<std::string>& open,
                                                  std::size_t limit) = 0;
  // Those for `open`: runs whose last verdict is open and whose last conclusive one is drifted or
  // failed, by the latter's time, the latest first; not retired. Reads all runs whose last verdict
  // is open, with their verdicts.
  virtual Result<std::vector<std::string>> OpenBadRuns(std::size_t limit) = 0;
  virtual Result<std::optional<RunRow>> FindRun(const std::string& run_id) = 0;  // by its name
  virtual Result<std::vector<DrillRecord>> LastDrills(std::size_t limit) = 0;    // newest first

  // Newest first; retired ones are among them.
  virtual Result<std::vector<RunRow>> FamilyRuns(const std::string& family,
                                                 const std::optional<PageStart>& start,
                                                 std::size_t limit) = 0;
  // The last drills' verdicts on its configurations, newest first. Reads all of the family's.
  virtual Result<std::vector<FamilyRecord>> LastTogether(const std::string& family,
                                                         std::size_t limit) = 0;
  // In order of entry, newest first, without superseded ones; from a drill on. `reasons`: read
  // them, too.
  virtual Result<std::vector<VerdictRecord>> VerdictsOf(const std::string& run_id,
                                                        const std::optional<PageStart>& start,
                                                        std::size_t limit, bool reasons) = 0;
  // Its conclusive verdict entered last, without reasons; none if there is none.
  virtual Result<std::optional<VerdictRecord>> LastConclusiveOf(const std::string& run_id) = 0;
  virtual Result<VerdictDetails> DetailsOf(const std::string& run_id, const std::string& drill_id,
                                           std::size_t limit) = 0;
  // VerdictDetails::surroundings_sha256 alone.
  virtual Result<std::string> SurroundingsOf(const std::string& run_id,
                                             const std::string& drill_id) = 0;

  virtual Result<NamesFound> FindFamilies(const std::string& part, const NameStart& start,
                                          std::size_t limit, Look look = Look::kAll) = 0;
  virtual Result<NamesFound> FindImages(const std::string& part, const NameStart& start,
                                        std::size_t limit, Look look = Look::kAll) = 0;
  virtual Result<std::vector<RunRow>> FindRuns(RunKey key, const std::string& text,
                                               const FoundStart& start, std::size_t limit) = 0;

  // Number of drills entered, which is the last one's number.
  virtual Result<std::int64_t> LastSequence() = 0;
  // Contributions of the drills with numbers `after` < n <= `until` to the counts by week: negative
  // if they supersede an earlier one. Reads all of their verdicts.
  virtual Result<std::vector<WeekCount>> CountWeeks(std::int64_t after, std::int64_t until) = 0;
};

}  // namespace rharness

#endif  // RHARNESS_HARNESS_HISTORY_BROWSER_H_
