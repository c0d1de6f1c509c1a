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
#include "harness/history/store.h"

namespace rharness {

struct BrowserLimits {
  std::chrono::milliseconds lock{2'000};    // waiting for a writer
  std::chrono::milliseconds answer{5'000};  // of one call
  std::chrono::milliseconds gone{2'000};    // waiting for a server that went away
};

// One run, as a list of them shows it.
struct RunRow {
  std::string run_id;
  std::string family;
  WallTime started{};
  std::string declared;
  std::string last_verdict;        // empty: never drilled
  std::optional<WallTime> judged;  // last verdict of any kind
  bool retired = false;
  std::string found = {};  // the commit or the image that it was looked for by
};

// Which way from a row a page lies: the rows behind it, or those before it. Either way the rows of
// a page are in the order of their list.
enum class Toward { kEnd, kStart };

// From which row a page goes on. Times first, then names.
struct PageStart {
  WallTime time{};
  std::string name;
  Toward toward = Toward::kEnd;
};
// The same where names are the order. Empty: at the beginning.
struct NameStart {
  std::string name = {};
  Toward toward = Toward::kEnd;
};

// From which run a search goes on.
struct FoundStart {
  std::string run_id = {};
  std::string commit = {};  // of kCommit: its RunRow::found
  Toward toward = Toward::kEnd;
};

// Names that contain a text. A name that many runs have is looked at once, but where there are more
// than kFewNames of them every run is: that is what kFewOnly leaves undone, and `many` tells of.
enum class Look { kAll, kFewOnly };
struct NamesFound {
  std::vector<std::string> names;
  bool many = false;
};
inline constexpr std::size_t kFewNames = 1'000;

enum class RunKey {
  kRunId,   // contains the text; by run_id; looks through all of them
  kCommit,  // begins with it; by commit, then run_id
  kImage,   // is it; by run_id
};

// Verdicts of a week, by family.
struct WeekCount {
  std::string family;
  WallTime week{};  // a Monday, 00:00 UTC
  std::string verdict;
  std::int64_t count = 0;
  WallTime last{};  // decided
};

// What else is kept of one drill's word on a run.
struct VerdictDetails {
  std::vector<RerunRecord> reruns;                // the first ones
  std::string surroundings_sha256;                // of the first one that has some, or empty
  std::optional<VerdictMeasures> measures;        // none: of an older version
  std::vector<AttestationRecord> attestations{};  // the first ones by time, then key
};

class HistoryBrowser {
 public:
  // Never makes or migrates a history. Errors: those of HistoryStore::OpenExisting, and
  // invalid_input for a schema older than this version's. A browser is for one thread.
  static Result<std::unique_ptr<HistoryBrowser>> Open(const std::string& url,
                                                      const BrowserLimits& limits = {});
  virtual ~HistoryBrowser() = default;

  // The same connection as a store: what would write is an io error.
  virtual HistoryStore& store() = 0;

  // Runs that are not retired by their last verdict, `family` left empty. Reads all of them.
  virtual Result<std::vector<HistoryCount>> CountAll() = 0;
  // The next `limit` families from this name on, each with its counts. Reads all runs of these.
  virtual Result<std::vector<HistoryCount>> CountFamilies(const NameStart& start,
                                                          std::size_t limit) = 0;
  virtual Result<std::vector<HistoryCount>> CountFamily(const std::string& family) = 0;
  // Whose last verdict is drifted or failed, those judged last first; not retired.
  virtual Result<std::vector<RunRow>> LastBadRuns(std::size_t limit) = 0;
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
