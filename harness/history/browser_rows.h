// The rows that a browser of a history lists and finds, one struct each, and the start of a page.
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
  std::string found = {};  // the matching commit or image
};

// The direction of a page from a row: the rows after it, or those before it. Either way the rows of
// a page are in the order of their list.
enum class Toward { kEnd, kStart };

// The row that a page continues from. Times first, then names.
struct PageStart {
  WallTime time{};
  std::string name;
  Toward toward = Toward::kEnd;
};
// The same for lists ordered by name. Empty: at the beginning.
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

// Names that contain a text. A name that many runs share is checked once, but beyond kFewNames of
// them every run is checked: kFewOnly skips that, and `many` reports it.
enum class Look { kAll, kFewOnly };
struct NamesFound {
  std::vector<std::string> names;
  bool many = false;
};
inline constexpr std::size_t kFewNames = 1'000;

enum class RunKey {
  kRunId,   // contains the text; by run_id; scans all of them
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

// Further details of one drill's verdict on a run.
struct VerdictDetails {
  std::vector<RerunRecord> reruns;                // the first ones
  std::string surroundings_sha256;                // of the first rerun that has some, or empty
  std::optional<VerdictMeasures> measures;        // none: older version
  std::vector<AttestationRecord> attestations{};  // the first ones by time, then key
};

}  // namespace rharness

#endif  // RHARNESS_HARNESS_HISTORY_BROWSER_ROWS_H_
