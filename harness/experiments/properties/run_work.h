// One run in a drill of properties: its due legs, and their results.
//
// Role: pure except for the checkpoints that the judge reads (leg_outputs.h).
#ifndef RHARNESS_HARNESS_EXPERIMENTS_PROPERTIES_RUN_WORK_H_
#define RHARNESS_HARNESS_EXPERIMENTS_PROPERTIES_RUN_WORK_H_

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "harness/base/result.h"
#include "harness/experiments/properties/left_checkpoints.h"
#include "harness/experiments/properties/leg_outputs.h"
#include "harness/experiments/properties/legs.h"
#include "harness/experiments/properties/property_judge.h"
#include "harness/records/manifest/evidence.h"

namespace rharness {

// The exit code of a leg that cannot run here, such as several processes without a backend;
// Automake's for a skipped test.
inline constexpr int kCannotBeDoneHere = 77;

class RunWork {
 public:
  // `run` outlives this. `folder`: of the drill.
  RunWork(const Manifest& run, int repeats, std::filesystem::path folder);

  const Manifest& run() const { return run_; }
  const LegPlan& plan() const { return plan_; }

  // Those that can run now and are not done, by number.
  std::vector<int> Due() const;
  // The record of a leg, for its ticket. Its checkpoint was taken.
  Manifest InputOf(int leg) const;
  void Take(int leg, Evidence evidence) { evidence_[leg] = std::move(evidence); }
  bool IsDone(int leg) const { return evidence_.contains(leg); }
  void TakeLeft(int leg, LeftByPath left) { left_[leg] = std::move(left); }

  // Makes the legs due that repeats would decide or confirm, up to the number of repeats. False:
  // there are none.
  bool RepeatWhatIsOpen();

  // Judges every claim by the legs done. Errors: the machine's trouble.
  Status Judge();
  const std::vector<PropertyResult>& results() const { return results_; }
  // The difference between two straight runs, in a sentence; empty if there is none.
  const std::string& noise() const { return noise_; }
  int done() const { return static_cast<int>(evidence_.size()); }

 private:
  bool IsWanted(const Leg& leg) const;
  // Why a leg shows nothing; empty: it does. `could_not`: and the property is not to blame.
  std::string WhyNot(const Leg& leg, bool* could_not) const;
  std::string WhyNoLeg(int number, bool* could_not) const;
  std::string Said(const Evidence& evidence) const;
  Result<PropertyResult> JudgeClaim(const PropertyClaim& claim);
  Result<JudgedClaim> JudgeLegs(const PropertyClaim& claim) const;
  Result<JudgedClaim> JudgeReshard(const PropertyClaim& claim) const;
  Result<Pairs> PairsOf(const std::vector<LegOutputs>& outputs, WhatCounts counts) const;
  Status LookForNoise();
  LegOutputs Outputs(int leg) const;
  std::vector<int> Good(const std::vector<int>& legs) const;

  const Manifest& run_;
  const int repeats_;
  const std::filesystem::path folder_;
  const LegPlan plan_;
  std::map<int, Evidence> evidence_;
  std::map<int, LeftByPath> left_;
  std::set<std::string> open_;  // claims that repeats would decide or confirm
  bool repeating_ = false;
  std::vector<PropertyResult> results_;
  std::string noise_;
};

}  // namespace rharness

#endif  // RHARNESS_HARNESS_EXPERIMENTS_PROPERTIES_RUN_WORK_H_
