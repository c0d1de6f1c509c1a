// Pairs that one change made, judged together: how far did it move its own, and which way?
//
// Role: between the curves of single pairs and the ladder. A pair alone is judged beside the
// upgrades of a published record; its siblings know this one. Pairs are siblings where one change
// made them: by recorded facts that changed alike (code and its commit, environment, hardware), and
// where no facts were recorded by the pattern of their shifts; else each has its own room. Pure.
#ifndef RHARNESS_COMPARE_SIBLINGS_H_
#define RHARNESS_COMPARE_SIBLINGS_H_

#include <cstddef>
#include <string>
#include <vector>

#include "compare/comparison.h"

namespace rharness {

// What the training losses of some pairs say together. Copies (the same values on both sides) count
// once.
struct SiblingGroup {
  std::string name;  // "60 pairs of gpt" without the number: "gpt"; "": all of them
  std::size_t pairs = 0;
  std::size_t up = 0;  // by the mean of their differences, and down
  std::size_t down = 0;
  double middle = 0.0;        // median share of the limit
  double middle_shift = 0.0;  // median relative shift
  double room = 1.0;          // RoomOf
  std::string note;           // that it moved one way; else empty
};

// A comparison, gathered and not judged, and the groups that it is of, nearest first: the first
// that is large enough tells of it.
struct Sibling {
  struct Place {
    std::string key;
    std::string name;  // for people
    // Recorded facts say that one change made the pairs of this place; false: nothing does.
    bool one_change = true;
  };
  Comparison* comparison = nullptr;
  std::vector<Place> places;
};

// By what changed between the two sides of a pair, as far as facts were recorded, and there by what
// their names share before the first "__" or '/', else with all others.
std::vector<Sibling> SiblingsByName(const std::vector<Comparison*>& comparisons);

// At least this many distinct pairs make a group.
inline constexpr std::size_t kFewestSiblings = 8;

// How much wider the limits of this group are than those of the record: 1 where its middle is no
// more than twice the largest of the record's upgrades, 0.35 of the limit; above it in proportion,
// 3 at most; and 1 where its shifts favour a direction (two-sided sign test at 5 %), because noise
// has none. A pair is judged by the room of the others. Where no facts say that one change made
// them it is 1 unless they show one pattern: a quarter at most is beyond a limit alone, three
// quarters are within a factor of four of their middle, and as many begin to differ at their first
// step, or later, as the pair itself does.
double RoomOf(const SiblingGroup& group);

// Of losses that stand beyond a limit in size and shape of a stream of random numbers (a shift, a
// single value), those that stay within the room of their group are within, and say so. Those that
// scatter too much to be told alone are told by the shifts of their siblings, where a group has
// enough (sibling_shift.h); without recorded facts only as far as the margin, or their own scatter,
// reaches. What is within and moved with siblings that all moved one way, by more than rounding, is
// open (sibling_direction.h). Adds findings that decide nothing: "stands_out", of a pair that moved
// eight times as far as the middle of its group. What is equal, has further runs of its own or
// nothing in common with others stays as it is. `noun`: "pairs" or "runs", for the sentences.
// Returns the groups that told of a pair, or that moved one way (signed-rank test at 1 %), by key.
std::vector<SiblingGroup> JudgeSiblings(const std::vector<Sibling>& siblings,
                                        const std::string& noun);

// The notes of those that moved one way, each once.
inline std::vector<std::string> NotesOf(const std::vector<SiblingGroup>& groups) {
  std::vector<std::string> notes;
  for (const SiblingGroup& group : groups) {
    if (!group.note.empty()) notes.push_back(group.note);
  }
  return notes;
}

}  // namespace rharness

#endif  // RHARNESS_COMPARE_SIBLINGS_H_
