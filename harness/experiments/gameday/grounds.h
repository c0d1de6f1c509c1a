// The places of faults: the configurations of the chosen runs, each with its faults, and the reruns
// for them. Pure.
#ifndef RHARNESS_HARNESS_EXPERIMENTS_GAMEDAY_GROUNDS_H_
#define RHARNESS_HARNESS_EXPERIMENTS_GAMEDAY_GROUNDS_H_

#include <map>
#include <string>
#include <vector>

#include "harness/drill/plan.h"
#include "harness/experiments/gameday/faults.h"
#include "harness/history/records.h"
#include "harness/records/manifest/manifest.h"

namespace rharness {

// A fault in the runs of one configuration.
struct GroundFault {
  Fault fault;
  int index = 0;       // among the rerun ones, from 0; -1 for others
  std::string cannot;  // why it fits none of these runs; empty: it fits
};

struct Ground {
  std::string name;  // for people: the family's; with a run if there are several
  std::string family;
  std::string configuration;
  std::vector<std::string> run_ids;
  std::vector<GroundFault> faults;
};

// The numbers of a fault's reruns: the first, and the one that confirms. `index` -1: as recorded.
inline int FirstRerun(int index) { return 2 * index + 3; }
inline int SecondRerun(int index) { return 2 * index + 4; }

// At most `most` runs per configuration, by the hash of their ids: the same every day, without
// preference. In the order of the entries.
std::vector<std::string> ChooseRuns(const std::vector<HistoryEntry>& entries, int most);

// `given`: requested faults, which replace those of the same name.
std::vector<Ground> GroundsOf(const std::vector<Manifest>& runs, const std::vector<Fault>& given,
                              bool only_given);

// First the reruns as recorded, two per run, then run after run with all of its faults, until the
// budget of run time is spent. `left_out`: reruns beyond it.
struct GamedayPlan {
  std::vector<PlannedRerun> reruns;
  double run_seconds = 0.0;
  int left_out = 0;
};
GamedayPlan PlanReruns(const std::vector<Ground>& grounds,
                       const std::map<std::string, Manifest>& manifests,
                       const PlanOptions& options);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_EXPERIMENTS_GAMEDAY_GROUNDS_H_
