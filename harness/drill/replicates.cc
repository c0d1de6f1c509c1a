// Counting, making and using replicates; see replicates.h.
#include "harness/drill/replicates.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

#include "harness/base/digest.h"
#include "harness/base/files.h"
#include "harness/drill/compare_rerun.h"
#include "harness/drill/decide_metrics.h"
#include "harness/drill/facts_of.h"
#include "harness/drill/rerun.h"

namespace rharness {
namespace {

bool IsCompared(const Evidence& evidence) {
  return EndOf(evidence).state == RerunEnd::State::kCompared;
}

// The first rerun of a run that can be compared; null where there is none.
const Evidence* FirstCompared(const RunState& run) {
  const auto at = std::ranges::find_if(run.evidence,
                                       [](const auto& rerun) { return IsCompared(rerun.second); });
  return at == run.evidence.end() ? nullptr : &at->second;
}

std::string StackOfRerun(const Evidence& evidence, const Manifest& manifest) {
  return StackOf(FactsOf(evidence, manifest));
}

bool MeasuresSomething(const Manifest& manifest) {
  return !manifest.curves.empty() || !manifest.metrics.empty();
}

// Of which an envelope would tell something.
bool IsOpenToRounding(const Manifest& manifest) {
  return manifest.determinism.declared != "bitwise" && MeasuresSomething(manifest);
}

bool Differs(const RunState& run) {
  const Verdict verdict = run.comparison.verdict;
  return verdict == Verdict::kEquivalent || verdict == Verdict::kDrifted ||
         verdict == Verdict::kInconclusive;
}

int HighestOf(const std::string& run_id, const std::vector<std::pair<std::string, int>>& numbers) {
  int highest = 0;
  for (const auto& [of, number] : numbers) {
    if (of == run_id) highest = std::max(highest, number);
  }
  return highest;
}

std::vector<PlannedRerun> PlanFrom(const Manifest& run, int first, int count,
                                   const PlanOptions& options) {
  std::vector<PlannedRerun> planned;
  for (int i = 0; i < count; ++i) planned.push_back(PlanReplicate(run, first + i, options));
  return planned;
}

// What a rerun here would see before it has run.
std::vector<Fact> FactsHere(const Manifest& manifest, const Overrides& environment) {
  const auto variables = BuildJobEnvironment(manifest, "/workspace", {}, environment);
  Evidence here;
  here.image_digest = manifest.image.digest;
  here.environment = CaptureEnvironment(&variables);
  if (manifest.image.kind == "host") {
    here.environment.software["host_packages"] = HostPackagesSha256();
  } else {
    here.environment.software.clear();
  }
  return FactsOf(here, manifest);
}

// What the history keeps of a rerun.
std::string BodyOf(Evidence evidence) {
  evidence.artifacts.clear();
  evidence.remarks.clear();
  evidence.stdout_path.clear();
  evidence.stderr_path.clear();
  return ToJson(evidence).Dump();
}

}  // namespace

void Replicates::AddRecorded(const std::vector<Manifest>& members) {
  std::map<std::pair<std::string, std::string>, std::vector<const Manifest*>> by_seeds;
  for (const Manifest& member : members) {
    const std::string seeds = SeedsOf(member);
    if (seeds.empty() || !IsOpenToRounding(member)) continue;
    by_seeds[{ConfigurationKey(member), seeds}].push_back(&member);
  }
  for (const auto& [key, repeats] : by_seeds) {
    if (repeats.size() < 2) continue;
    std::map<std::string, std::vector<RunMetrics>> by_stack;
    for (const Manifest* repeat : repeats) {
      by_stack[StackOf(FactsOf(*repeat))].push_back(MeasuredOf(*repeat));
    }
    for (auto& [stack, runs] : by_stack) recorded_[key.first].push_back(std::move(runs));
  }
}

Status Replicates::Load(const Manifest& run, HistoryStore* history) {
  const std::string configuration = ConfigurationKey(run);
  if (!manifests_.emplace(configuration, run).second) return {};
  ASSIGN_OR_RETURN(const auto records, history->Replicates(configuration));
  for (const ReplicateRecord& record : records) {
    const std::string where = fmt::format("replicate {} of {}", record.replicate, record.run_id);
    ASSIGN_OR_RETURN(const Json json, ParseJson(record.body, where));
    ASSIGN_OR_RETURN(Evidence evidence, ParseEvidence(json, where));
    if (record.replicate < 0 || evidence.run_id != record.run_id) {
      return IntegrityError(fmt::format("holds what run '{}' measured", evidence.run_id), where);
    }
    loaded_[configuration].push_back({record.run_id, record.replicate, std::move(evidence), false});
  }
  return {};
}

Status Replicates::LoadAll(const std::vector<Manifest>& runs, HistoryStore* history) {
  if (options_.replicates == 0) return {};
  std::set<std::string> families;
  for (const Manifest& run : runs) {
    if (families.insert(run.family).second) {
      ASSIGN_OR_RETURN(const auto members, history->LoadFamily(run.family));
      AddRecorded(members);
    }
    RETURN_IF_ERROR(Load(run, history));
  }
  return {};
}

int Replicates::RecordedDegrees(const std::string& configuration) const {
  const auto found = recorded_.find(configuration);
  if (found == recorded_.end()) return 0;
  Envelope envelope;
  int degrees = 0;
  for (const auto& group : found->second) degrees += AddGroup(group, &envelope);
  return degrees;
}

std::vector<PlannedRerun> Replicates::Expected(const std::vector<Manifest>& runs,
                                               const Overrides& environment) const {
  std::vector<PlannedRerun> expected;
  std::set<std::string> seen;
  for (const Manifest& run : runs) {
    const std::string configuration = ConfigurationKey(run);
    if (options_.replicates == 0 || !IsOpenToRounding(run)) continue;
    if (!seen.insert(configuration).second) continue;
    int have = RecordedDegrees(configuration);
    std::vector<std::pair<std::string, int>> numbers;
    const auto loaded = loaded_.find(configuration);
    if (loaded != loaded_.end()) {
      const std::vector<Fact> here = FactsHere(run, environment);
      for (const One& one : loaded->second) {
        if (!MayBeOneStack(FactsOf(one.evidence, run), here)) continue;
        numbers.emplace_back(one.run_id, one.number);
        if (one.number > 0) ++have;
      }
    }
    const int first = HighestOf(run.run_id, numbers) + 1;
    std::ranges::move(PlanFrom(run, first, options_.replicates - have, options_),
                      std::back_inserter(expected));
  }
  return expected;
}

std::vector<Replicates::Place> Replicates::PlacesOf(const std::vector<std::string>& run_ids,
                                                    const RunStates& runs) const {
  std::vector<Place> places;
  for (const std::string& run_id : run_ids) {
    const RunState& run = runs.at(run_id);
    const Evidence* first = FirstCompared(run);
    if (first == nullptr || !IsOpenToRounding(run.manifest)) continue;
    const std::string configuration = ConfigurationKey(run.manifest);
    const std::string stack = StackOfRerun(*first, run.manifest);
    const auto same = std::ranges::find_if(places, [&](const Place& place) {
      return place.configuration == configuration && place.stack == stack;
    });
    if (same != places.end()) {
      same->run_ids.push_back(run_id);
    } else {
      places.push_back({configuration, stack, {run_id}});
    }
  }
  return places;
}

std::vector<Replicates::One> Replicates::HeldOf(const Place& place, const RunStates& runs) const {
  std::vector<One> held;
  const Manifest& manifest = runs.at(place.run_ids.front()).manifest;
  const auto loaded = loaded_.find(place.configuration);
  if (loaded != loaded_.end()) {
    for (const One& one : loaded->second) {
      if (StackOfRerun(one.evidence, manifest) == place.stack) held.push_back(one);
    }
  }
  const auto add = [&](const std::string& run_id, int number, const Evidence& evidence) {
    const auto same = [&](const One& one) { return one.run_id == run_id && one.number == number; };
    if (std::ranges::none_of(held, same)) held.push_back({run_id, number, evidence, true});
  };
  for (const std::string& run_id : place.run_ids) {
    const RunState& run = runs.at(run_id);
    if (run.replicates.empty()) continue;
    add(run_id, 0, *FirstCompared(run));
    for (const auto& [number, evidence] : run.replicates) add(run_id, number, evidence);
  }
  return held;
}

std::vector<PlannedRerun> Replicates::Missing(const std::vector<std::string>& run_ids,
                                              const RunStates& runs, const Plan& plan) {
  std::vector<PlannedRerun> missing;
  if (options_.replicates == 0) return missing;
  for (const Place& place : PlacesOf(run_ids, runs)) {
    const auto differs = [&](const std::string& run_id) { return Differs(runs.at(run_id)); };
    if (std::ranges::none_of(place.run_ids, differs)) continue;
    const std::vector<One> held = HeldOf(place, runs);
    // Replicates that were made and show nothing are not made again.
    const Envelope envelope = EnvelopeOf(place, runs, {});
    int have = envelope.Degrees();
    std::string run_id = place.run_ids.front();
    std::vector<std::pair<std::string, int>> numbers;
    for (const One& one : held) {
      numbers.emplace_back(one.run_id, one.number);
      if (one.number > 0) ++have;
      if (runs.contains(one.run_id)) run_id = one.run_id;
    }
    int count = std::max(0, options_.replicates - have);
    if (options_.budget_seconds > 0) {
      const auto planned = std::ranges::count_if(plan.replicates, [&](const PlannedRerun& one) {
        return ConfigurationKey(runs.at(one.run_id).manifest) == place.configuration;
      });
      if (count > planned) {
        left_out_.push_back(fmt::format("{}: {} replicates are wanted, and the budget has {}",
                                        run_id, count, planned));
      }
      count = std::min(count, static_cast<int>(planned));
    }
    std::ranges::move(
        PlanFrom(runs.at(run_id).manifest, HighestOf(run_id, numbers) + 1, count, options_),
        std::back_inserter(missing));
  }
  return missing;
}

Envelope Replicates::EnvelopeOf(const Place& place, const RunStates& runs,
                                const std::vector<One>& held) const {
  Envelope envelope;
  if (const auto found = recorded_.find(place.configuration); found != recorded_.end()) {
    for (const auto& group : found->second) envelope.recorded += AddGroup(group, &envelope);
  }
  for (const std::string& run_id : place.run_ids) {
    std::vector<RunMetrics> reruns;
    const RunState& run = runs.at(run_id);
    for (const auto& [rerun, evidence] : run.evidence) {
      if (IsCompared(evidence) && StackOfRerun(evidence, run.manifest) == place.stack) {
        reruns.push_back(evidence.metrics);
      }
    }
    envelope.reruns += AddGroup(reruns, &envelope);
  }
  std::map<std::string, std::vector<RunMetrics>> made;
  for (const One& one : held) {
    if (!IsCompared(one.evidence)) continue;
    if (StackOfRerun(one.evidence, runs.at(place.run_ids.front()).manifest) != place.stack)
      continue;
    made[one.run_id].push_back(one.evidence.metrics);
    if (one.number > 0) envelope.made_at = std::max(envelope.made_at, one.evidence.started);
  }
  for (const auto& [run_id, group] : made) envelope.made += AddGroup(group, &envelope);
  return envelope;
}

void Replicates::Describe(const Place& place, const Envelope& envelope,
                          const std::vector<One>& held, const RunStates& runs) {
  int made = 0;
  int failed = 0;
  std::string of;
  for (const One& one : held) {
    if (one.number == 0) continue;
    of = one.run_id;
    const RerunEnd end = EndOf(one.evidence);
    const bool here =
        StackOfRerun(one.evidence, runs.at(place.run_ids.front()).manifest) == place.stack;
    if (end.state == RerunEnd::State::kCompared && here) {
      ++made;
      continue;
    }
    ++failed;
    notes_.push_back(fmt::format("replicate {} of {} is left out: {}", one.number, one.run_id,
                                 here ? end.reason : "it ran on another stack than its rerun"));
  }
  if (made > 0 && envelope.made == 0) {
    notes_.push_back(
        fmt::format("{} of {} {} bit-equal to its rerun: the run did not heed {}, or is "
                    "insensitive to so small "
                    "a change; how far rounding carries it is not known from {}",
                    made == 1 ? "the replicate" : fmt::format("the {} replicates", made), of,
                    made == 1 ? "is" : "are", kReplicateVariable, made == 1 ? "it" : "them"));
  }
  const int degrees = envelope.Degrees();
  if (degrees >= kFewestDegrees) {
    notes_.push_back(fmt::format("how far rounding carries {} is known from {}",
                                 runs.at(place.run_ids.front()).manifest.family,
                                 SourceOf(envelope)));
  } else if (degrees > 0 && envelope.made + failed > 0) {
    notes_.push_back(fmt::format(
        "{}: {} that differ are too few to show how far rounding carries it; {} are needed "
        "(--replicates)",
        place.run_ids.front(), SourceOf(envelope), kFewestDegrees));
  }
}

void Replicates::Settle(const std::vector<std::string>& run_ids, RunStates* runs) {
  notes_.clear();
  new_.clear();
  if (options_.replicates == 0 && recorded_.empty() && loaded_.empty()) return;
  for (const Place& place : PlacesOf(run_ids, *runs)) {
    const std::vector<One> held = HeldOf(place, *runs);
    const Envelope envelope = EnvelopeOf(place, *runs, held);
    Describe(place, envelope, held, *runs);
    for (const One& one : held) {
      if (one.is_new && IsCompared(one.evidence)) new_.emplace_back(place, one);
    }
    if (envelope.Degrees() < kFewestDegrees) continue;
    const auto shared = std::make_shared<const Envelope>(envelope);
    const RoundingRuns rounding = RoundingOf(envelope);
    for (const std::string& run_id : place.run_ids) {
      RunState& run = runs->at(run_id);
      run.envelope = shared;
      for (auto& [number, rerun] : run.reruns) {
        if (rerun.ends.front().state != RerunEnd::State::kCompared) continue;
        rerun.curves = CompareRerunCurves(run.manifest, run.evidence.at(number), rounding);
      }
    }
  }
}

std::vector<std::string> Replicates::Notes() const {
  std::vector<std::string> notes = left_out_;
  notes.insert(notes.end(), notes_.begin(), notes_.end());
  return notes;
}

Plan Replicates::PlanWith(const std::vector<Manifest>& runs, const Overrides& environment) const {
  Plan plan = BuildPlan(runs, options_);
  std::vector<Manifest> planned;
  for (const Manifest& run : runs) {
    const bool left_out = std::ranges::find(plan.left_out, run.run_id) != plan.left_out.end();
    if (!left_out) planned.push_back(run);
  }
  AddReplicates(Expected(planned, environment), options_, &plan);
  return plan;
}

Status Replicates::Keep(const std::filesystem::path& drill_folder, HistoryStore* history) const {
  std::vector<ReplicateRecord> records;
  for (const auto& [place, one] : new_) {
    const auto path = RerunFolder(drill_folder, one.run_id, one.evidence.rerun) / "evidence.json";
    ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
    records.push_back({.configuration = place.configuration,
                       .stack = place.stack,
                       .run_id = one.run_id,
                       .replicate = one.number,
                       .made = one.evidence.started,
                       .evidence_sha256 = Sha256HexOf(text),
                       .body = BodyOf(one.evidence)});
  }
  return history->AddReplicates(records);
}

}  // namespace rharness
