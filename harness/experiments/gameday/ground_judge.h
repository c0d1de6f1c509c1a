// All trials of one configuration: evidence with faults planted, judged, and counted.
//
// Role: between the reruns of a game day and its report. Trials are judged by trial_drill.h; spoilt
// checkpoints are written below planted/ of the folder and removed again.
#ifndef RHARNESS_HARNESS_EXPERIMENTS_GAMEDAY_GROUND_JUDGE_H_
#define RHARNESS_HARNESS_EXPERIMENTS_GAMEDAY_GROUND_JUDGE_H_

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "harness/base/result.h"
#include "harness/experiments/gameday/grounds.h"
#include "harness/experiments/gameday/rates.h"
#include "harness/experiments/gameday/trial_drill.h"
#include "reports/sensitivity.h"

namespace rharness {

// By run id and number of the rerun.
using GamedayEvidence = std::map<std::string, std::map<int, Evidence>>;

// The inputs of a configuration's trials; all of them outlive the judge.
struct GroundInputs {
  const Ground& ground;
  const std::vector<Manifest>& members;  // all recorded runs of the family
  const std::map<std::string, Manifest>& manifests;
  const GamedayEvidence& evidence;
  const Replicates& replicates;
  Places places;  // with the folder among the readable ones
  std::filesystem::path folder;
  int together = 1;
  int beside = 0;
  bool confirm = true;
  double width = 0.3;
  double confidence = 0.95;
};

class GroundJudge {
 public:
  explicit GroundJudge(GroundInputs inputs);
  GroundJudge(const GroundJudge&) = delete;  // its parts refer to each other
  GroundJudge& operator=(const GroundJudge&) = delete;

  // Judges every trial; call it again with more evidence. Errors: io.
  Status Judge();

  // Reruns needed to confirm results seen once: run ids, and numbers of reruns.
  const std::set<std::pair<std::string, int>>& wanted() const { return wanted_; }

  // Rates of all faults and of unchanged runs. `stored`: pairs of consecutive drills of one run
  // with nothing changed between them, and how often the verdict changed.
  SensitivityFamily Rates(SensitivityRate stored) const;

  // Sentences about unusable runs: those that a drill reports without any fault.
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  struct Trial {
    PlantedAnswer answer = PlantedAnswer::kNotMade;
    std::string told;     // the run and its verdict
    bool failed = false;  // the reason is that the run failed
  };
  // A run's evidence for the first look and for the second; null if there is none.
  struct Looks {
    DrilledRun run;
    const Evidence* second = nullptr;
    int second_number = 0;  // the one to request; 0: none can be made
  };

  static std::vector<Looks> LookAt(const Manifest& manifest, const Evidence& evidence,
                                   const Evidence* second);
  const Evidence* Find(const std::string& run_id, int number) const;
  // The first `judged` runs are the trial; the others are drilled beside them.
  Trial Drill(const std::vector<Looks>& looks, std::size_t judged, const TrialGround& ground,
              bool may_want);
  void AddBeside(std::size_t first, std::vector<Looks>* looks) const;
  Status JudgeAsRecorded();
  Status JudgeFault(const GroundFault& fault);
  Result<bool> AddPlanted(const GroundFault& fault, const std::string& run_id,
                          std::vector<Evidence>* seconds, std::vector<Looks>* looks);
  Result<Evidence> Plant(const Fault& fault, const std::string& run_id, const Evidence& rerun);
  Status PlantInCheckpoint(const Fault& fault, const std::string& run_id, Evidence* evidence);
  void JudgeSame();
  void JudgeReseeded();
  std::vector<Manifest> Others(const std::set<std::string>& run_ids) const;
  void CountTrial(const Trial& trial, SensitivityRate* rate) const;

  const GroundInputs inputs_;
  const Family family_;
  const TrialGround drilled_;
  std::set<std::pair<std::string, int>> wanted_;
  std::vector<std::string> good_;  // runs that pass unchanged
  std::vector<std::string> notes_;
  SensitivityRate as_recorded_;
  SensitivityRate same_;
  SensitivityRate reseeded_;
  SensitivityRate flips_;
  std::vector<SensitivityRate> faults_;
};

}  // namespace rharness

#endif  // RHARNESS_HARNESS_EXPERIMENTS_GAMEDAY_GROUND_JUDGE_H_
