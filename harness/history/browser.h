// A history for who looks around in it: read only, a page at a time.
//
// Role: what `rharness serve` reads. Every list has a limit and goes on from the last or the first
// row of another page; each reads an index up to its limit, but for those that say otherwise. What
// is written meanwhile, by drills too, is there in the next call. Not here: anything that writes.
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
  std::chrono::milliseconds gone{2'000};    // waiting for a server that went away
};

class HistoryBrowser {
 public:
  // Never makes or migrates a history. Errors: those of HistoryStore::OpenExisting, and
  // invalid_input for a schema older than this version's. A browser is for one thread.
  static Result<std::unique_ptr<HistoryBrowser>> Open(const std::string& url,
                                                      const BrowserLimits& limits = {});
  virtual ~HistoryBrowser() = default;

  // Errors: unsupported where a newer version wrote a word that this one does not know meanwhile.
  virtual Status CheckWords() = 0;
  // The same connection as a store: what would write is an io error.
  virtual HistoryStore& store() = 0;

  // Runs that are not retired by their last verdict, `family` left empty. Reads all of them.
  virtual Result<std::vector<HistoryCount>> CountAll() = 0;
  // The next `limit` families from this name on, each with its counts. Reads all runs of these.
  virtual Result<std::vector<HistoryCount>> CountFamilies(const NameStart& start,
                                                          std::size_t limit) = 0;
  virtual Result<std::vector<HistoryCount>> CountFamily(const std::string& family) = 0;
  // Whose last conclusive verdict is drifted or failed, which is the one that is told, with its
  // time, the last one first; not retired. Those whose last verdict of all is open are looked for
  // among `open` alone.
  virtual Result<std::vector<RunRow>> LastBadRuns(const std::vector<std::string>& open,
                                                  std::size_t limit) = 0;
  // These: runs whose last verdict is open and whose last conclusive one is drifted or failed, that
  // one's last first; not retired. Reads all runs whose last verdict is open, with their verdicts.
  virtual Result<std::vector<std::string>> OpenBadRuns(std::size_t limit) = 0;
  virtual Result<std::optional<RunRow>> FindRun(const std::string& run_id) = 0;  // by its name
  virtual Result<std::vector<DrillRecord>> LastDrills(std::size_t limit) = 0;    // newest first

  // Newest first; retired ones are among them.
  virtual Result<std::vector<RunRow>> FamilyRuns(const std::string& family,
                                                 const std::optional<PageStart>& start,
                                                 std::size_t limit) = 0;
  // What the last drills said of its configurations, newest first. Reads all of the family's.
  virtual Result<std::vector<FamilyRecord>> LastTogether(const std::string& family,
                                                         std::size_t limit) = 0;
  // As entered, newest first, without what was superseded; from a drill on. `reasons`: read, too.
  virtual Result<std::vector<VerdictRecord>> VerdictsOf(const std::string& run_id,
                                                        const std::optional<PageStart>& start,
                                                        std::size_t limit, bool reasons) = 0;
  // The conclusive verdict that was entered last on it, without reasons; none where there is none.
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

  // How many drills were entered, as the last one's number.
  virtual Result<std::int64_t> LastSequence() = 0;
  // What the drills of the numbers `after` < n <= `until` add to the counts by week: negative where
  // they supersede an earlier one. Reads all of their verdicts.
  virtual Result<std::vector<WeekCount>> CountWeeks(std::int64_t after, std::int64_t until) = 0;
};

}  // namespace rharness

#endif  // RHARNESS_HARNESS_HISTORY_BROWSER_H_
