// Judges pairs that one change made together: how far did it move them, and in which direction?
//
// Role: between the curves of single pairs and the ladder. A pair alone is compared with the
// upgrades of a published record; its siblings show the effect of this change. Pairs are siblings
// if one change made them: by recorded facts that changed alike (code and its commit, environment,
// hardware), or without recorded facts by the pattern of their shifts; else each has its own room.
// Pure.
#ifndef RHARNESS_COMPARE_SIBLINGS_H_
#define RHARNESS_COMPARE_SIBLINGS_H_

#include <cstddef>
#include <string>
#include <vector>

#include "compare/comparison.h"

namespace rharness {

// The training losses of some pairs together. Copies (the same values on both sides) count once.
struct SiblingGroup {
  std::string name;  // "60 pairs of gpt" without the number: "gpt"; "": all of them
  std::size_t pairs = 0;
  std::size_t up = 0;  // by the mean of their differences, and down
  std::size_t down = 0;
  double middle = 0.0;        // median share of the limit
  double middle_shift = 0.0;  // median relative shift
  double room = 1.0;          // RoomOf
  std::string note;           // says that it moved one way; else empty
};

// A comparison, gathered and not judged, and its groups, nearest first: the first that is large
// enough is used.
struct Sibling {
  struct Place {
    std::string key;
    std::string name;  // for people
    // Recorded facts show that one change made the pairs of this place; false: nothing shows it.
    bool one_change = true;
  };
  Comparison* comparison = nullptr;
  std::vector<Place> places;
};

// Groups by what changed between the two sides of a pair, as far as facts were recorded, and within
// these by the part of their names before the first "__" or '/', else with all others.
std::vector<Sibling> SiblingsByName(const std::vector<Comparison*>& comparisons);

// At least this many distinct pairs make a group.
inline constexpr std::size_t kFewestSiblings = 8;

// How much wider the limits of this group are than those of the record: 1 if its median is at most
// twice the largest of the record's upgrades, 0.35 of the limit; above it in proportion, 3 at most;
// and 1 if its shifts favour a direction (two-sided sign test at 5 %), because noise has none. A
// pair gets the room of the others. Without facts that show one change it is 1 unless they show one
// pattern: a quarter at most is beyond a limit alone, three quarters are within a factor of four of
// their median, and as many begin to differ at their first step, or later, as the pair itself does.
double RoomOf(const SiblingGroup& group);

// Losses beyond a limit in the size and shape of a stream of random numbers (a shift, a single
// value) that stay within the room of their group become within, and their rule says so. Losses
// that scatter too much alone are decided by the shifts of their siblings, if a group has enough
// (sibling_shift.h); without recorded facts only as far as the margin, or their own scatter,
// reaches. A loss that is within and moved with siblings that all moved one way, by more than
// rounding, is open (sibling_direction.h). Adds findings that decide nothing: "stands_out", for a
// pair that moved eight times as far as the median of its group. A pair that is equal, has further
// runs of its own or nothing in common with others stays unchanged. `noun`: "pairs" or "runs", for
// the sentences. Returns the groups that decided a pair, or that moved one way (signed-rank test at
// 1 %), by key.
std::vector<SiblingGroup> JudgeSiblings(const std::vector<Sibling>& siblings,
                                        const std::string& noun);

// The notes of the groups that moved one way, each once.
inline std::vector<std::string> NotesOf(const std::vector<SiblingGroup>& groups) {
  std::vector<std::string> notes;
  for (const SiblingGroup& group : groups) {
    if (!group.note.empty()) notes.push_back(group.note);
  }
  return notes;
}

}  // namespace rharness

#endif  // RHARNESS_COMPARE_SIBLINGS_H_
