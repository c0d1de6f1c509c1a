// Gathers verdicts, one after the other, into the data of trends. Pure.
//
// Role: between a history of a million verdicts and the trends: memory grows with runs, weeks and
// places, not with verdicts.
#ifndef RHARNESS_HARNESS_INSIGHT_TRENDS_TRACKS_H_
#define RHARNESS_HARNESS_INSIGHT_TRENDS_TRACKS_H_

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "compare/stats/survival.h"
#include "harness/base/clock.h"
#include "harness/history/tally.h"

namespace rharness {

// Weeks begin on Monday, 00:00 UTC; counted from one of 1969.
int WeekOf(WallTime time);
WallTime StartOf(int week);

// Names, each once.
class NameIndex {
 public:
  int Of(const std::string& name);
  const std::string& At(int index) const { return *names_[static_cast<std::size_t>(index)]; }
  int size() const { return static_cast<int>(names_.size()); }

 private:
  std::unordered_map<std::string, int> index_;
  std::vector<const std::string*> names_;
};

// The place of a rerun: an environment, by its digest in the history, and a node.
struct TrackPlace {
  int environment = 0;
  int node = 0;
};

// Runs once per week, each by its last verdict in it; `spread`: all places of that verdict's
// reruns, as an index into spreads().
struct TrackCell {
  int family = 0;
  int week = 0;
  int spread = 0;
  std::array<std::int64_t, 3> counts{};  // by Standing
};

// The last verdict on a run in one place. Run after run, each in its order.
struct LastAt {
  int run = 0;
  int family = 0;
  int place = 0;
  Standing said = Standing::kOpen;
};

// A run that is not retired and reproduced in its last verdict, place by place.
struct ShownRun {
  std::string run_id;
  int family = 0;
  std::vector<int> places;  // never empty
};

class Tracks {
 public:
  // Keeps cells and last_at for weeks from `first_week` on; lifetimes and shown runs for all.
  // Ignores verdicts later than `now`, which come from a clock that is ahead.
  Tracks(int first_week, WallTime now) : first_week_(first_week), now_(now) {}

  // Run after run, each in its order, as in HistoryStore::EachVerdict.
  void Take(const VerdictStep& step);
  void Finish();  // after the last one

  std::int64_t verdicts() const { return verdicts_; }
  std::int64_t left_out() const { return left_out_; }
  const NameIndex& families() const { return families_; }
  const NameIndex& environments() const { return environments_; }
  const NameIndex& nodes() const { return nodes_; }
  const std::vector<TrackPlace>& places() const { return places_; }
  // Sets of places, each in order.
  const std::vector<std::vector<int>>& spreads() const { return spreads_; }
  const std::vector<TrackCell>& cells() const { return cells_; }
  const std::vector<LastAt>& last_at() const { return last_at_; }
  // By family: from the first verdict by which a run reproduced to the verdict from which on it did
  // not, or to the last one by which it did; in days. The earlier life of a run that did not
  // reproduce at first is not known: it counts from its first good verdict on.
  const std::vector<std::vector<stats::Lifetime>>& lifetimes() const { return lifetimes_; }
  // By family: runs with bad verdicts and without a good one.
  const std::vector<std::int64_t>& never_seen() const { return never_seen_; }
  const std::vector<ShownRun>& shown() const { return shown_; }

 private:
  using Cells = std::vector<TrackCell>;
  struct Said {
    int where = 0;  // a spread, or a place
    Standing standing = Standing::kOpen;
  };
  void Close();  // of the last run taken
  void Count(int week, const Said& said);
  int PlaceOf(const std::string& environment, int node);
  int SpreadOf(const VerdictStep& step);

  int first_week_;
  WallTime now_;
  std::int64_t verdicts_ = 0;
  std::int64_t left_out_ = 0;
  NameIndex families_, environments_, nodes_;
  std::vector<TrackPlace> places_;
  std::unordered_map<std::uint64_t, int> place_index_;
  std::vector<std::vector<int>> spreads_;
  std::map<std::vector<int>, int> spread_index_;
  Cells cells_;
  std::vector<LastAt> last_at_;
  std::unordered_map<std::uint64_t, std::size_t> cell_index_;
  std::vector<std::vector<stats::Lifetime>> lifetimes_;
  std::vector<std::int64_t> never_seen_;
  std::vector<ShownRun> shown_;

  // Of the run at hand.
  bool open_ = false;
  int run_ = 0;
  std::string run_id_;
  int family_ = 0;
  bool retired_ = false;
  std::map<int, Said> weeks_;         // by spread
  std::map<int, Standing> by_place_;  // conclusive ones
  std::vector<Said> in_span_;         // a place each, in the order of their last ones
  bool was_good_ = false, is_bad_ = false;
  WallTime first_good_{}, last_good_{}, first_bad_{};
};

}  // namespace rharness

#endif  // RHARNESS_HARNESS_INSIGHT_TRENDS_TRACKS_H_
