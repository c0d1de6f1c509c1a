// What a browser of a history lists and finds, a struct a row, and from which row a page goes on.
#ifndef RHARNESS_HARNESS_HISTORY_BROWSER_ROWS_H_
#define RHARNESS_HARNESS_HISTORY_BROWSER_ROWS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/history/store.h"

namespace rharness {

// One run, as a list of them shows it.
struct RunRow {
  std::string run_id;
  std::string family;
  WallTime started{};
  std::string declared;
  std::optional<Verdict> last_verdict;  // empty: never drilled
  std::optional<WallTime> judged;       // last verdict of any kind
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
  Verdict verdict = Verdict::kInconclusive;
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

}  // namespace rharness

#endif  // RHARNESS_HARNESS_HISTORY_BROWSER_ROWS_H_
