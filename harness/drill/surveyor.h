// Compares the surroundings of a run's reruns with each other or with its record, as facts in the
// five layers.
//
// Role: reads them from the history once the drills' folders are gone. Reads each entry once, since
// many runs share it.
#ifndef RHARNESS_HARNESS_DRILL_SURVEYOR_H_
#define RHARNESS_HARNESS_DRILL_SURVEYOR_H_

#include <array>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "compare/facts.h"
#include "harness/base/result.h"
#include "harness/history/store.h"
#include "harness/records/manifest/evidence.h"
#include "harness/records/manifest/manifest.h"

namespace rharness {

class Surveyor {
 public:
  using Layers = std::array<LayerComparison, 5>;

  explicit Surveyor(HistoryStore* store) : store_(*store) {}

  // Of two reruns of this run, by the digests of their surroundings. Empty: not known. Errors:
  // those of HistoryStore::GetSurroundings.
  Result<std::optional<Layers>> Compare(const Manifest& manifest, const std::string& before,
                                        const std::string& after);
  // Of a rerun and the record, as the drill compared them.
  Result<std::optional<Layers>> HoldToRecord(const Manifest& manifest, const std::string& sha256);

  // Number of distinct surroundings read so far.
  std::size_t read() const { return read_.size(); }
  bool HasRead(const std::string& sha256) const { return read_.contains(sha256); }
  // Why some of it could not be read.
  std::vector<std::string> Notes() const { return {notes_.begin(), notes_.end()}; }

 private:
  Result<std::optional<Evidence>> EvidenceOf(const std::string& sha256, const Manifest& manifest);

  HistoryStore& store_;
  std::map<std::string, Surroundings> read_;
  std::set<std::string> notes_;
};

}  // namespace rharness

#endif  // RHARNESS_HARNESS_DRILL_SURVEYOR_H_
