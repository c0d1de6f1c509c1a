// A difference of fingerprints as a grid: probe by layer, each cell in a few characters.
//
// Role: pure; the source of a probe's cells for page, terminal and Markdown. Untrusted texts have
// not passed SafeText.
#ifndef RHARNESS_REPORTS_FINGERPRINT_GRID_H_
#define RHARNESS_REPORTS_FINGERPRINT_GRID_H_

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "compare/fingerprints/fingerprint_diff.h"

namespace rharness {

// In the order in which a cause is looked for.
inline constexpr std::array<std::string_view, 5> kGridLayers = {"Identity", "Compiler", "Choice",
                                                                "Tree", "Bits"};

struct GridCell {
  enum class State { kNotShown, kSame, kChanged };
  State state = State::kNotShown;
  int changed = 0;  // cases; facts of the stack
  int of = 0;       // cases of both sides that repeat

  std::string Words() const;  // "–", "= 8", "≠ 3 of 8"
};

struct GridRow {
  std::string probe;
  std::string family;
  std::array<GridCell, kGridLayers.size()> cells;
  const ProbeDifference* difference = nullptr;  // nullptr: nothing changed
  std::string status;                           // "ok", "was ok, is crashed", "absent"
  bool changed = false;
};

// The changed probes first, in the order of the localisation; then the others by name. Probes of
// the families "identity" and "compiler" show their cases under that layer. `difference` must
// outlive the result.
std::vector<GridRow> BuildGrid(const FingerprintDifference& difference, const Fingerprint& before,
                               const Fingerprint& after);

// "heuristic drift": the change in words.
std::string ChangeWords(BehaviourChange change);

}  // namespace rharness

#endif  // RHARNESS_REPORTS_FINGERPRINT_GRID_H_
