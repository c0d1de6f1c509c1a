// The risk of not drilling a run: its age, its stake, and what changed since.
//
//   risk [days] = age [days] x stake x doubt
//
//   age    since the last verdict that decided something (identical, equivalent, drifted); of a
//          run that has none, since it was started. A run that a drill judged since without a
//          decision counts at most ten times the days since then, so that what never reaches a
//          conclusion comes again and delays no other for ever. Not below 0.
//   stake  of the first of the policy's stakes that holds for the run; 1 where none does.
//   doubt  1, and 1 for each of five parts of the environment that has changed since that
//          verdict, and 1/2 for each where this is not known: GPUs, GPU driver, CPU, system
//          (os, kernel, glibc), packages (the host's, those that the run's processes used); and 1
//          more where `rharness check --available` was last told that a part of the run is gone,
//          1/2 where it is not known whether all can be had. 1 to 7.
//
// An unknown part is no change, but no reassurance either. GPUs do not count for a run without a
// GPU, nor packages for a run in an image. Python's packages are not compared: which ones a run
// finds is known only once it runs. Role: the rank for --order risk (ranking.h), and its reasons in
// a plan. Pure.
#ifndef RHARNESS_HARNESS_DRILL_RISK_H_
#define RHARNESS_HARNESS_DRILL_RISK_H_

#include <optional>
#include <string>
#include <vector>

#include "harness/base/clock.h"
#include "harness/base/json.h"
#include "harness/base/json_reader.h"
#include "harness/base/result.h"
#include "harness/drill/select.h"
#include "harness/history/store.h"
#include "harness/records/manifest/environment.h"
#include "harness/records/policy/policy.h"

namespace rharness {

// Changes in the five parts, in words: "kernel 6.1 -> 6.8"; and the unknown parts.
struct EnvironmentChange {
  std::vector<std::string> changed;
  std::vector<std::string> not_known;
  double Doubt() const;
};

// All five are unknown: for a run that was never verified, or verified by an older version.
EnvironmentChange NothingKnown();

// `in_image`: the run brought its own packages.
EnvironmentChange CompareEnvironments(const Environment& then, const Environment& now,
                                      bool in_image);

// A run's risk with its three parts, and each in words.
struct RunRisk {
  std::string run_id;
  double risk_days = 0.0;
  double age_days = 0.0;
  double stake = 1.0;
  double doubt = 1.0;
  std::string age_words;    // "last verified 2026-05-01"
  std::string stake_words;  // "family ~ llama* (policy.yaml:12)"; empty: no stake holds
  EnvironmentChange change;
};

// The stakes of a policy, with their selections parsed.
class Stakes {
 public:
  // Errors: invalid_input with the stake's place in its file.
  static Result<Stakes> Parse(const std::vector<Stake>& stakes);
  // nullptr: none holds.
  const Stake* Of(const HistoryEntry& entry, WallTime now) const;

 private:
  struct Parsed {
    Stake stake;
    Selection selection;
  };
  std::vector<Parsed> all_;
};

double AgeDays(const HistoryEntry& entry, WallTime now);
// nullptr: no stake holds.
RunRisk RiskOf(const HistoryEntry& entry, const Stake* stake, const EnvironmentChange& change,
               WallTime now);

// "run-7: risk 420 = age 60 days × stakes 2 × doubt 3.5: last verified ...; ...".
std::string DescribeRisk(const RunRisk& risk);
Json ToJson(const RunRisk& risk);
void ReadRunRisk(JsonReader& reader, RunRisk* out);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_DRILL_RISK_H_
