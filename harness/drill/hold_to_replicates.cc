// The use of replicates: envelopes, curves judged by them, notes, the history.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "harness/base/digest.h"
#include "harness/base/files.h"
#include "harness/drill/replicate_parts.h"
#include "harness/drill/replicates.h"
#include "harness/execution/rerun/rerun.h"
#include "harness/judge/compare_rerun.h"

namespace rharness {
namespace {

// What the history keeps of a rerun.
std::string BodyOf(Evidence evidence) {
  evidence.artifacts.clear();
  evidence.remarks.clear();
  evidence.stdout_path.clear();
  evidence.stderr_path.clear();
  return ToJson(evidence).Dump();
}

// Every element stored by seeds; null: of all seeds.
template <typename T, typename Use>
void ForSeeds(const std::map<Seeds, std::vector<T>>& held, const Seeds* seeds, const Use& use) {
  const auto all = [&](const auto& at) { std::ranges::for_each(at.second, use); };
  if (seeds == nullptr) {
    std::ranges::for_each(held, all);
  } else if (const auto found = held.find(*seeds); found != held.end()) {
    all(*found);
  }
}

}  // namespace

Envelope Replicates::EnvelopeOf(const Place& place, const RunStates& runs,
                                const std::vector<One>& held, const Seeds* seeds) const {
  Envelope envelope;
  const auto counts = [&](const Seeds& of) { return seeds == nullptr || of == *seeds; };
  if (const auto found = recorded_.find(place.configuration); found != recorded_.end()) {
    ForSeeds(found->second, seeds,
             [&](const auto& group) { envelope.recorded += AddGroup(group, &envelope); });
  }
  ForSeeds(place.by_seeds, seeds, [&](const std::string& run_id) {
    std::vector<RunMetrics> reruns;
    const RunState& run = runs.at(run_id);
    for (const auto& [rerun, evidence] : run.evidence) {
      if (IsCompared(evidence) && StackOfRerun(run, rerun) == place.stack) {
        reruns.push_back(evidence.metrics);
      }
    }
    envelope.reruns += AddGroup(reruns, &envelope);
  });
  std::map<std::string, std::vector<RunMetrics>> made;
  for (const One& one : held) {
    if (!IsCompared(one.evidence) || !counts(one.evidence.seeds)) continue;
    if (one.stack != place.stack) continue;
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
    const bool here = one.stack == place.stack;
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
        fmt::format("{} of {} {} bit-equal to its rerun: the run ignored {}, or is insensitive to "
                    "so small a change; the effect of rounding is not known from {}",
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

std::string Replicates::SharingRun(const Place& place, const std::vector<One>& held) {
  for (const std::string& run_id : place.run_ids) {
    if (std::ranges::find(held, run_id, &One::run_id) != held.end()) return run_id;
  }
  return held.empty() ? place.run_ids.front() : held.front().run_id;
}

void Replicates::Settle(const std::vector<std::string>& run_ids, RunStates* runs) {
  notes_.clear();
  new_.clear();
  if (options_.replicates == 0 && recorded_.empty() && loaded_.empty()) return;
  strays_.clear();
  for (const Place& place : PlacesOf(run_ids, *runs)) {
    const std::vector<One> held = HeldOf(place, *runs);
    // What was made of a stray is its own: chaos that sets in early would hide all others.
    std::vector<One> shared = held;
    const std::string sharing = SharingRun(place, held);
    std::erase_if(shared, [&](const One& one) { return one.run_id != sharing; });
    const Envelope all = EnvelopeOf(place, *runs, shared, nullptr);
    Describe(place, all, held, *runs);
    for (const One& one : held) {
      if (one.is_new && IsCompared(one.evidence)) new_.emplace_back(place, one);
    }
    for (const auto& [seeds, run_ids_of] : place.by_seeds) {
      const auto own = std::make_shared<const Envelope>(EnvelopeOf(place, *runs, held, &seeds));
      for (const std::string& run_id : run_ids_of) {
        RunState& run = runs->at(run_id);
        if (own->Degrees() >= kFewestDegrees) {
          Hold(*own, true, &run);
          run.envelope = own;
        } else if (all.Degrees() >= kFewestDegrees) {
          Hold(all, false, &run);
        }
      }
    }
  }
}

void Replicates::Hold(const Envelope& envelope, bool is_own, RunState* run) {
  RoundingRuns rounding = RoundingOf(envelope);
  if (!is_own) rounding.source += " of another seed";
  for (auto& [number, rerun] : run->reruns) {
    if (rerun.ends.front().state != RerunEnd::State::kCompared) continue;
    rerun.curves = CompareRerunCurves(run->manifest, run->evidence.at(number), rounding);
    if (is_own) continue;
    // Both lists are of the same curves in the same order.
    const auto alone = CompareRerunCurves(run->manifest, run->evidence.at(number), {});
    for (std::size_t i = 0; i < alone.size(); ++i) {
      CurveComparison& curve = rerun.curves[i];
      if (curve.kind != CurveKind::kLoss) continue;
      // Another seed's chaos is no reason to leave this one open.
      if (curve.state == CurveState::kUndecided && curve.basis == "rounding") curve = alone[i];
      if (curve.state != CurveState::kBeyond) continue;
      strays_.insert(run->manifest.run_id);
      if (curve.basis != "rounding") continue;
      curve.state = CurveState::kUndecided;
      curve.first_beyond.reset();
      curve.message +=
          " Seeds differ in the effect of rounding: replicates of this run would show it.";
    }
  }
}

std::vector<std::string> Replicates::Notes() const {
  std::vector<std::string> notes(left_out_.begin(), left_out_.end());
  notes.insert(notes.end(), notes_.begin(), notes_.end());
  return notes;
}

Plan Replicates::PlanWith(const std::vector<Manifest>& runs, const Overrides& environment) const {
  Plan plan = BuildPlan({runs.begin(), runs.end()}, options_);
  if (options_.replicates == 0) return plan;
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
