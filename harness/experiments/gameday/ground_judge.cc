// Trials out of reruns and plants.
#include "harness/experiments/gameday/ground_judge.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "harness/base/digest.h"
#include "harness/base/files.h"
#include "harness/drill/sensitivity_of.h"
#include "harness/execution/rerun/tensor_records.h"
#include "harness/experiments/gameday/planted_evidence.h"
#include "harness/experiments/gameday/planted_files.h"
#include "harness/experiments/gameday/planted_run.h"
#include "reports/text.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

SensitivityRate RateOf(std::string name, std::string words) {
  return {.name = std::move(name), .words = std::move(words)};
}

}  // namespace

GroundJudge::GroundJudge(GroundInputs inputs)
    : inputs_(std::move(inputs)),
      family_(inputs_.members),
      drilled_{family_, inputs_.replicates, inputs_.places, inputs_.folder} {}

const Evidence* GroundJudge::Find(const std::string& run_id, int number) const {
  const auto run = inputs_.evidence.find(run_id);
  if (run == inputs_.evidence.end()) return nullptr;
  const auto rerun = run->second.find(number);
  return rerun == run->second.end() ? nullptr : &rerun->second;
}

std::vector<GroundJudge::Looks> GroundJudge::LookAt(const Manifest& manifest,
                                                    const Evidence& evidence,
                                                    const Evidence* second) {
  Looks looks{.run = {.manifest = manifest, .evidence = {}}, .second = second};
  looks.run.evidence.emplace(evidence.rerun, evidence);
  return {std::move(looks)};
}

Status GroundJudge::Judge() {
  wanted_.clear();
  good_.clear();
  notes_.clear();
  faults_.clear();
  as_recorded_ = RateOf("as_recorded", "nothing planted, compared with the record");
  flips_ = RateOf("flips", "a verdict flips between two reruns");
  RETURN_IF_ERROR(JudgeAsRecorded());
  for (const GroundFault& fault : inputs_.ground.faults) RETURN_IF_ERROR(JudgeFault(fault));
  JudgeSame();
  JudgeReseeded();
  return {};
}

// Looks twice where a drill would.
GroundJudge::Trial GroundJudge::Drill(const std::vector<Looks>& looks, std::size_t judged,
                                      const TrialGround& ground, bool may_want) {
  std::vector<DrilledRun> runs;
  for (const Looks& one : looks) runs.push_back(one.run);
  std::vector<TrialVerdict> verdicts = JudgeTrial(runs, ground);
  bool again = false;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (!verdicts[i].needs_confirmation || !inputs_.confirm) continue;
    if (looks[i].second != nullptr) {
      const int next = runs[i].evidence.rbegin()->first + 1;
      runs[i].evidence[next] = *looks[i].second;
      runs[i].evidence[next].rerun = next;
      again = true;
    } else if (may_want && looks[i].second_number > 0) {
      wanted_.emplace(runs[i].manifest.run_id, looks[i].second_number);
    }
  }
  if (again) verdicts = JudgeTrial(runs, ground);
  Trial trial{.answer = AnswerOf(verdicts.front().verdict)};
  for (std::size_t i = 0; i < judged; ++i) {
    trial.answer = Together(trial.answer, AnswerOf(verdicts[i].verdict));
  }
  for (std::size_t i = 0; i < judged && trial.told.empty(); ++i) {
    if (AnswerOf(verdicts[i].verdict) != trial.answer) continue;
    trial.failed = verdicts[i].verdict == Verdict::kFailed;
    trial.told =
        fmt::format("{}: {}", runs[i].manifest.run_id,
                    verdicts[i].headline.empty() ? std::string(VerdictName(verdicts[i].verdict))
                                                 : verdicts[i].headline);
  }
  return trial;
}

// A fault's sensitivity is about the first one that passed; without any, the first found.
void GroundJudge::CountTrial(const Trial& trial, SensitivityRate* rate) const {
  const bool passed = trial.answer == PlantedAnswer::kPassed;
  const bool first = passed && rate->trials - rate->found - rate->undecided == 0;
  Count(trial.answer, rate);
  if (first || rate->example.empty()) rate->example = trial.told;
}

Status GroundJudge::JudgeAsRecorded() {
  for (const std::string& run_id : inputs_.ground.run_ids) {
    const Evidence* one = Find(run_id, 1);
    const Evidence* two = Find(run_id, 2);
    if (one == nullptr) continue;
    const Manifest& manifest = inputs_.manifests.at(run_id);
    const Trial first = Drill(LookAt(manifest, *one, two), 1, drilled_, false);
    CountTrial(first, &as_recorded_);
    if (first.answer == PlantedAnswer::kPassed) {
      good_.push_back(run_id);
    } else {
      notes_.push_back(
          fmt::format("nothing is planted in {}, which does not reproduce unchanged: {}", run_id,
                      SafeText(first.told, 300)));
    }
    if (two == nullptr) continue;
    const Trial second = Drill(LookAt(manifest, *two, one), 1, drilled_, false);
    const bool made =
        first.answer != PlantedAnswer::kNotMade && second.answer != PlantedAnswer::kNotMade;
    const bool flipped = first.answer != second.answer;
    Count(!made     ? PlantedAnswer::kNotMade
          : flipped ? PlantedAnswer::kCalled
                    : PlantedAnswer::kPassed,
          &flips_);
  }
  return {};
}

Status GroundJudge::JudgeFault(const GroundFault& fault) {
  SensitivityRate rate = RateOf(fault.fault.name, FaultWords(fault.fault));
  rate.cannot = fault.cannot;
  const auto together = static_cast<std::size_t>(inputs_.together);
  const std::size_t drilled = together + static_cast<std::size_t>(inputs_.beside);
  if (rate.cannot.empty() && good_.size() < drilled) {
    rate.cannot = fmt::format("{} that reproduce, and a drill of these trials has {}",
                              Counted(good_.size(), "run"), drilled);
  }
  std::string fails;
  for (std::size_t begin = 0;
       begin + together <= good_.size() && good_.size() >= drilled && fault.cannot.empty();
       begin += together) {
    std::vector<Looks> looks;
    std::vector<Evidence> seconds(together);
    bool whole = true;
    for (std::size_t i = begin; i < begin + together && whole; ++i) {
      const auto added = AddPlanted(fault, good_[i], &seconds, &looks);
      if (!added.ok() && added.error().code != ErrorCode::kUnsupported) return added.error();
      if (!added.ok()) rate.cannot = added.error().message;
      whole = added.ok() && *added;
    }
    if (whole) AddBeside(begin, &looks);
    if (whole) {
      Trial trial = Drill(looks, together, drilled_, fault.index >= 0);
      // A failing run is obvious; whether it had the fault is not known.
      if (fault.index >= 0 && trial.failed) {
        trial.answer = PlantedAnswer::kNotMade;
        fails = "the run fails with it: " + trial.told;
      }
      CountTrial(trial, &rate);
    }
    std::error_code gone;
    fs::remove_all(inputs_.folder / "planted" / "checkpoints", gone);
  }
  if (rate.trials + rate.not_made > 0) rate.cannot = rate.trials > 0 ? "" : fails;
  if (rate.trials + rate.not_made == 0 && rate.cannot.empty()) {
    rate.cannot = "no rerun of it was made";
  }
  faults_.push_back(std::move(rate));
  return {};
}

// The next reproducing ones, cyclically, as rerun without a fault.
void GroundJudge::AddBeside(std::size_t first, std::vector<Looks>* looks) const {
  const std::size_t planted = looks->size();
  for (std::size_t i = 0; i < static_cast<std::size_t>(inputs_.beside); ++i) {
    const std::string& run_id = good_[(first + planted + i) % good_.size()];
    std::vector<Looks> one =
        LookAt(inputs_.manifests.at(run_id), *Find(run_id, 1), Find(run_id, 2));
    looks->push_back(std::move(one.front()));
  }
}

// Whether there is evidence. `seconds` has room for all added ones.
Result<bool> GroundJudge::AddPlanted(const GroundFault& fault, const std::string& run_id,
                                     std::vector<Evidence>* seconds, std::vector<Looks>* looks) {
  const Manifest& manifest = inputs_.manifests.at(run_id);
  const bool rerun = fault.index >= 0;
  const Evidence* one = Find(run_id, rerun ? FirstRerun(fault.index) : 1);
  const Evidence* two = Find(run_id, rerun ? SecondRerun(fault.index) : 2);
  if (one == nullptr) return false;
  ASSIGN_OR_RETURN(Evidence first, Plant(fault.fault, run_id, *one));
  Looks look{.run = {.manifest = manifest, .evidence = {}},
             .second_number = rerun ? SecondRerun(fault.index) : 0};
  if (two != nullptr) {
    Evidence& second = (*seconds)[looks->size()];
    ASSIGN_OR_RETURN(second, Plant(fault.fault, run_id, *two));
    look.second = &second;
  }
  first.rerun = 1;
  look.run.evidence.emplace(1, std::move(first));
  looks->push_back(std::move(look));
  return true;
}

Result<Evidence> GroundJudge::Plant(const Fault& fault, const std::string& run_id,
                                    const Evidence& rerun) {
  Evidence planted = rerun;
  if (fault.IsRerun()) {
    const auto run = PlantInRun(fault, inputs_.manifests.at(run_id), {});
    if (!run.ok()) return run.error();  // it was rerun without the fault
  }
  switch (fault.kind) {
    case FaultKind::kDataRow:
    case FaultKind::kDataOrder:
      if (fault.unseen && !fault.rank && planted.obstacle.empty()) {
        planted.data = inputs_.manifests.at(run_id).data;
      }
      break;
    case FaultKind::kMetric:
    case FaultKind::kCurve:
      RETURN_IF_ERROR(
          PlantInNumbers(fault, inputs_.manifests.at(run_id), Others({run_id}), &planted));
      break;
    case FaultKind::kTensorBit:
    case FaultKind::kTensorZero:
    case FaultKind::kTensorBf16:
      RETURN_IF_ERROR(PlantInCheckpoint(fault, run_id, &planted));
      break;
    default:
      break;
  }
  return planted;
}

Status GroundJudge::PlantInCheckpoint(const Fault& fault, const std::string& run_id,
                                      Evidence* evidence) {
  const auto kept = [](const Artifact& one) { return IsCheckpoint(one) && !one.location.empty(); };
  const auto artifact = std::ranges::find_if(evidence->artifacts, kept);
  if (artifact == evidence->artifacts.end()) return Unsupported("no checkpoint of it is kept");
  if (!artifact->parts.empty()) return Unsupported("its checkpoint is more than one file");
  const fs::path from = inputs_.folder / artifact->location;
  const fs::path below = fs::path("planted") / "checkpoints" / run_id /
                         std::to_string(evidence->rerun) / from.filename();
  RETURN_IF_ERROR(MakeDirectories((inputs_.folder / below).parent_path()));
  // The same fault in both looks: a drill's confirming rerun would have it too.
  RETURN_IF_ERROR(PlantInTensors(fault.kind, from, inputs_.folder / below,
                                 fmt::format("{} {}", run_id, fault.name)));
  artifact->location = below.string();
  ASSIGN_OR_RETURN(const FileDigest digest, HashFile(inputs_.folder / below));
  artifact->sha256 = digest.sha256;
  artifact->size_bytes = digest.size_bytes;
  return ReadTensorRecords(inputs_.folder / below, &*artifact);
}

std::vector<Manifest> GroundJudge::Others(const std::set<std::string>& run_ids) const {
  std::vector<Manifest> others;
  for (const Manifest& member : inputs_.members) {
    const bool own = ConfigurationKey(member) == inputs_.ground.configuration;
    if (own && !run_ids.contains(member.run_id)) others.push_back(member);
  }
  return others;
}

// One rerun as the record of a second: the judge has seen neither.
void GroundJudge::JudgeSame() {
  same_ = RateOf("same", "compared with another rerun of the run");
  for (const std::string& run_id : inputs_.ground.run_ids) {
    const Evidence* one = Find(run_id, 1);
    const Evidence* two = Find(run_id, 2);
    if (one == nullptr || two == nullptr) continue;
    const Family family(Others({run_id}));
    const Replicates none;
    const TrialGround ground{family, none, inputs_.places, inputs_.folder};
    const Manifest recorded = AsRecorded(inputs_.manifests.at(run_id), *one, inputs_.folder);
    CountTrial(Drill(LookAt(recorded, *two, nullptr), 1, ground, false), &same_);
    same_.equal += SameOutputs(*one, *two);
  }
}

// Each run's rerun as a record without its seeds, and the rerun of the next run as the result:
// another draw of one configuration.
void GroundJudge::JudgeReseeded() {
  reseeded_ = RateOf("reseeded", "another seed, where none is stated");
  const std::vector<std::string>& run_ids = inputs_.ground.run_ids;
  if (inputs_.manifests.at(run_ids.front()).determinism.declared == "bitwise") {
    reseeded_.cannot = "the runs promise every bit, and another seed has others";
    return;
  }
  for (std::size_t i = 0; i < run_ids.size() && run_ids.size() >= 3; ++i) {
    const std::string& next = run_ids[(i + 1) % run_ids.size()];
    const std::string& third = run_ids[(i + 2) % run_ids.size()];
    const Evidence* own = Find(run_ids[i], 1);
    const Evidence* one = Find(next, 1);
    const Evidence* two = Find(third, 1);
    if (own == nullptr || one == nullptr || two == nullptr) continue;
    std::vector<Manifest> others;
    for (const Manifest& other : Others({run_ids[i], next, third})) {
      others.push_back(Unseeded(other));
    }
    const Family family(others);
    const Replicates none;
    const TrialGround ground{family, none, inputs_.places, inputs_.folder};
    const Manifest recorded =
        Unseeded(AsRecorded(inputs_.manifests.at(run_ids[i]), *own, inputs_.folder));
    const auto as_own = [&](Evidence evidence) {
      evidence.run_id = recorded.run_id;
      evidence.seeds.clear();
      evidence.rerun = 1;
      return evidence;
    };
    const Evidence second = as_own(*two);
    CountTrial(Drill(LookAt(recorded, as_own(*one), &second), 1, ground, false), &reseeded_);
    reseeded_.equal += SameOutputs(*own, *one);
  }
  if (reseeded_.trials == 0) reseeded_.cannot = "fewer than 3 runs of the configuration were rerun";
}

SensitivityFamily GroundJudge::Rates(SensitivityRate stored) const {
  const Ground& ground = inputs_.ground;
  const Manifest& first = inputs_.manifests.at(ground.run_ids.front());
  SensitivityFamily family{.name = ground.name,
                           .family = ground.family,
                           .configuration = ground.configuration,
                           .declared = first.determinism.declared,
                           .tolerances = TolerancesOf(first),
                           .runs = static_cast<int>(good_.size()),
                           .together = inputs_.together,
                           .beside = inputs_.beside,
                           .faults = faults_,
                           .unchanged = {as_recorded_, same_, reseeded_, flips_, stored}};
  for (SensitivityRate& rate : family.faults) {
    Settle(inputs_.confidence, inputs_.width, inputs_.together, &rate);
    if (!rate.cannot.empty()) rate.more = 0;  // more runs alone would not do
  }
  for (SensitivityRate& rate : family.unchanged) {
    Settle(inputs_.confidence, inputs_.width, 1, &rate);
  }
  return family;
}

}  // namespace rharness
