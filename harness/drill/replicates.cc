// What replicates are there, and which are missing; see replicates.h.
#include "harness/drill/replicates.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

#include "harness/base/digest.h"
#include "harness/base/files.h"
#include "harness/drill/replicate_parts.h"
#include "harness/execution/rerun/rerun.h"
#include "harness/judge/compare_rerun.h"
#include "harness/judge/decide_metrics.h"
#include "harness/judge/facts_of.h"
#include "harness/records/manifest/packages.h"

namespace rharness {
namespace {

bool MeasuresSomething(const Manifest& manifest) {
  return !manifest.curves.empty() || !manifest.metrics.empty();
}

// Whether an envelope would add information about the run.
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
  std::set<std::string> named;  // as a rerun's evidence does
  for (const auto& [name, value] : manifest.environment.variables) named.insert(name);
  for (const auto& [name, value] : environment) named.insert(name);
  here.environment = CaptureEnvironment(&variables, named);
  if (manifest.image.kind == ImageKind::kHost) {
    here.environment.software["host_packages"] = HostPackagesSha256();
  } else {
    here.environment.software.clear();
  }
  return FactsOf(here, manifest);
}

}  // namespace

bool IsCompared(const Evidence& evidence) {
  return EndOf(evidence).state == RerunEnd::State::kCompared;
}

const std::pair<const int, Evidence>* FirstCompared(const RunState& run) {
  const auto at = std::ranges::find_if(run.evidence,
                                       [](const auto& rerun) { return IsCompared(rerun.second); });
  return at == run.evidence.end() ? nullptr : &*at;
}

const std::string& Replicates::StackOfRerun(const RunState& run, int rerun) const {
  std::string& stack = stacks_[{run.manifest.run_id, rerun}];
  if (stack.empty()) stack = StackOf(FactsOf(run.evidence.at(rerun), run.manifest));
  return stack;
}

const std::string& Replicates::StackOfReplicate(const RunState& run, int replicate) const {
  std::string& stack = stacks_[{run.manifest.run_id, -replicate}];
  if (stack.empty()) stack = StackOf(FactsOf(run.replicates.at(replicate), run.manifest));
  return stack;
}

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
    for (auto& [stack, runs] : by_stack) {
      recorded_[key.first][repeats.front()->seeds].push_back(std::move(runs));
    }
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
    std::string stack = StackOf(FactsOf(evidence, run));
    loaded_[configuration].push_back(
        {record.run_id, record.replicate, std::move(evidence), std::move(stack), false});
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
  for (const auto& [seeds, groups] : found->second) {
    for (const auto& group : groups) degrees += AddGroup(group, &envelope);
  }
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
  std::map<std::pair<std::string, std::string>, std::size_t> known;
  for (const std::string& run_id : run_ids) {
    const RunState& run = runs.at(run_id);
    const auto* first = FirstCompared(run);
    if (first == nullptr || !IsOpenToRounding(run.manifest)) continue;
    const std::string configuration = ConfigurationKey(run.manifest);
    const std::string& stack = StackOfRerun(run, first->first);
    const auto [at, is_new] = known.try_emplace({configuration, stack}, places.size());
    if (is_new) places.push_back({.configuration = configuration, .stack = stack});
    Place& place = places[at->second];
    place.run_ids.push_back(run_id);
    place.by_seeds[run.manifest.seeds].push_back(run_id);
  }
  return places;
}

std::vector<Replicates::One> Replicates::HeldOf(const Place& place, const RunStates& runs) const {
  std::vector<One> held;
  const auto loaded = loaded_.find(place.configuration);
  if (loaded != loaded_.end()) {
    std::ranges::copy_if(loaded->second, std::back_inserter(held),
                         [&](const One& one) { return one.stack == place.stack; });
  }
  const auto add = [&](One one) {
    const auto same = [&](const One& other) {
      return other.run_id == one.run_id && other.number == one.number;
    };
    if (std::ranges::none_of(held, same)) held.push_back(std::move(one));
  };
  for (const std::string& run_id : place.run_ids) {
    const RunState& run = runs.at(run_id);
    if (run.replicates.empty()) continue;
    const auto* first = FirstCompared(run);
    add({run_id, 0, first->second, StackOfRerun(run, first->first), true});
    for (const auto& [number, evidence] : run.replicates) {
      add({run_id, number, evidence, StackOfReplicate(run, number), true});
    }
  }
  return held;
}

std::vector<PlannedRerun> Replicates::Missing(const std::vector<std::string>& run_ids,
                                              const RunStates& runs, const Plan& plan) {
  std::vector<PlannedRerun> missing;
  if (options_.replicates == 0) return missing;
  for (const Place& place : PlacesOf(run_ids, runs)) {
    std::vector<PlannedRerun> of_place = MissingOf(place, runs, plan);
    if (of_place.empty()) of_place = MissingOfStrays(place, runs);
    std::ranges::move(of_place, std::back_inserter(missing));
  }
  return missing;
}

std::vector<PlannedRerun> Replicates::MissingOfStrays(const Place& place, const RunStates& runs) {
  std::vector<PlannedRerun> missing;
  int strays = 0;
  for (const std::string& run_id : place.run_ids) {
    if (!strays_.contains(run_id) || ++strays > kMostStrays) continue;
    if (options_.budget_seconds > 0) {
      left_out_.insert(run_id +
                       ": it left the band of another seed, and the budget has no "
                       "replicates of its own");
      continue;
    }
    std::vector<std::pair<std::string, int>> numbers;
    for (const One& one : HeldOf(place, runs)) numbers.emplace_back(one.run_id, one.number);
    const int highest = HighestOf(run_id, numbers);
    std::ranges::move(
        PlanFrom(runs.at(run_id).manifest, highest + 1, options_.replicates - highest, options_),
        std::back_inserter(missing));
  }
  return missing;
}

std::vector<PlannedRerun> Replicates::MissingOf(const Place& place, const RunStates& runs,
                                                const Plan& plan) {
  const auto differs = [&](const std::string& run_id) { return Differs(runs.at(run_id)); };
  if (std::ranges::none_of(place.run_ids, differs)) return {};
  // Replicates that were made and show nothing are not made again.
  int have = EnvelopeOf(place, runs, {}, nullptr).Degrees();
  std::vector<std::pair<std::string, int>> numbers;
  std::ptrdiff_t made_now = 0;
  const std::vector<One> held = HeldOf(place, runs);
  const std::string sharing = SharingRun(place, held);
  const std::string run_id = runs.contains(sharing) ? sharing : place.run_ids.front();
  for (const One& one : held) {
    numbers.emplace_back(one.run_id, one.number);
    if (one.number > 0 && one.run_id == sharing) ++have;
    if (one.number > 0 && one.is_new) ++made_now;
  }
  int count = std::max(0, options_.replicates - have);
  if (options_.budget_seconds > 0) {
    const auto planned = std::ranges::count_if(plan.replicates, [&](const PlannedRerun& one) {
      return ConfigurationKey(runs.at(one.run_id).manifest) == place.configuration;
    });
    const int room = static_cast<int>(std::max<std::ptrdiff_t>(0, planned - made_now));
    if (count > room) {
      left_out_.insert(
          fmt::format("{}: the budget has no room for {} of the replicates", run_id, count - room));
    }
    count = std::min(count, room);
  }
  return PlanFrom(runs.at(run_id).manifest, HighestOf(run_id, numbers) + 1, count, options_);
}

}  // namespace rharness
