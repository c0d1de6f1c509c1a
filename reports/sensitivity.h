// The sensitivity of a drill: how often planted faults of known size were found, and how often
// there was a false alarm.
//
// Role: the nouns of game days (harness/experiments/gameday), their certificate
// "rharness.sensitivity/v1", which a drill reads, and the sentences that both show. Pure.
#ifndef RHARNESS_REPORTS_SENSITIVITY_H_
#define RHARNESS_REPORTS_SENSITIVITY_H_

#include <string>
#include <string_view>
#include <vector>

#include "harness/base/clock.h"
#include "harness/base/json.h"
#include "harness/base/result.h"

namespace rharness {

// Trials of one kind, and how many of them were called. For a fault, a call is a detection; for
// pairs without a planted fault it is a false alarm, or a flipped verdict.
struct SensitivityRate {
  std::string name;   // "hyperparameter:learning_rate*0.95", as in --fault; "same", "flips"
  std::string words;  // "a learning rate 5 % lower"
  int trials = 0;
  int found = 0;      // called: drifted or not comparable; without a fault also failed
  int undecided = 0;  // neither called nor passed
  int equal = 0;      // of pairs: equal bit for bit
  int not_made = 0;   // trials that were not carried out or judged; not in `trials`
  double low = 0.0;   // of found / trials, from 0 to 1; both 0 without trials
  double high = 0.0;
  bool enough = false;  // the interval is as narrow as requested
  int more = 0;         // further runs for that; 0: not known
  std::string cannot;   // why there are no trials
  std::string example;  // of the first that passed, else of the first found
};

// The runs of one configuration.
struct SensitivityFamily {
  std::string name;  // for people
  std::string family;
  std::string configuration;  // ConfigurationKey
  std::string declared;       // "bitwise" or "statistical"
  std::string tolerances;     // digest of the rules that decide its verdicts
  int runs = 0;               // with planted faults
  int together = 1;           // runs judged as one drill, all with the fault
  int beside = 0;             // further runs of such a drill, without it
  std::vector<SensitivityRate> faults;
  std::vector<SensitivityRate> unchanged;  // false alarms and flips
};

struct Sensitivity {
  std::string gameday_id;
  std::string version;  // of rharness
  WallTime made{};
  std::string host;
  int reruns = 1;       // per run, as drilled
  bool confirm = true;  // a drift of a single rerun was confirmed
  double width = 0.3;   // of an interval, at most, from 0 to 1
  double confidence = 0.95;
  std::vector<SensitivityFamily> families;
};

inline constexpr int kSensitivityVersion = 1;
Json ToJson(const Sensitivity& sensitivity);  // "schema": "rharness.sensitivity/v1"
// Errors: invalid_input with file and JSON path: also if counts contradict each other, or an
// interval does not match its counts. It cannot detect consistent false counts.
Result<Sensitivity> ParseSensitivity(const Json& json, std::string_view file);

// "93 % (84-98) of 60 trials"
std::string RateWords(const SensitivityRate& rate);
// "a learning rate 5 % lower would have been found in 93 % (84-98) of 60 trials"
std::string Sentence(const SensitivityRate& rate);
// "too few trials to say how often ... would have been found: 3; 8 more runs would do", or why it
// cannot be planted.
std::string ThinSentence(const SensitivityRate& rate);
// The one sentence beside a verdict: the smallest hyperparameter found more often than not, else
// the largest one not found; without any, the fault found least. Empty: no rate has enough trials.
std::string TellingSentence(const SensitivityFamily& family);

// "each drilled by itself", "7 drilled together", "each drilled beside 13 others".
std::string WayWords(const SensitivityFamily& family);

// A drill's report on one configuration.
struct ReportSensitivity {
  std::string family;
  std::string configuration;
  std::string source;                  // its origin and time: one sentence
  std::vector<std::string> sentences;  // the telling one first
  std::string stale;                   // why it does not apply here; then there are no sentences
};

}  // namespace rharness

#endif  // RHARNESS_REPORTS_SENSITIVITY_H_
