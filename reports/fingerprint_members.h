// The members of what changed between two fingerprints, for every record that has it.
//
// Role: private to reports/; each list writes and describes.
#ifndef RHARNESS_REPORTS_FINGERPRINT_MEMBERS_H_
#define RHARNESS_REPORTS_FINGERPRINT_MEMBERS_H_

#include <array>

#include "compare/fingerprints/fingerprint_diff.h"
#include "harness/base/json_members.h"
#include "harness/base/member_schema.h"
#include "reports/names.h"

namespace rharness {

// Without kNone: only probes that changed are written.
inline const NameTable<BehaviourChange, 13> kBehaviourChangeNames = NamesFrom<BehaviourChange, 13>(
    BehaviourChangeName,
    {BehaviourChange::kNewlyWrong, BehaviourChange::kGone, BehaviourChange::kAppeared,
     BehaviourChange::kAskedOtherwise, BehaviourChange::kFailsOnBoth,
     BehaviourChange::kNonDeterminismGained, BehaviourChange::kNonDeterminismLost,
     BehaviourChange::kCompilerOutput, BehaviourChange::kOtherAnswers,
     BehaviourChange::kHeuristicDrift, BehaviourChange::kKernelRewritten,
     BehaviourChange::kHardwarePath, BehaviourChange::kRounding});

// A fact, before and after.
struct StackChange {
  const FactDifference& fact;
};

template <class Io, Is<StackChange> T>
void Members(Io& io, T& change) {
  io.Noun("A fact of the stack that differs.");
  io.Name("layer", change.fact.layer, kLayerNames, "One of the five layers.");
  io.Must("key", change.fact.key, "Its name.");
  io.Must("before", change.fact.recorded, "null: absent");
  io.Must("after", change.fact.observed, "null: absent");
}

template <class Io, Is<ProbeDifference> T>
void Members(Io& io, T& probe) {
  io.Noun("A probe that saw something else than before.");
  io.Must("probe", probe.probe, "Its name.");
  io.Must("family", probe.family, "What manifests depend on.");
  io.Name("change", probe.change, kBehaviourChangeNames,
          "The kind of change, by the first layer that changed.");
  io.Must("sentence", probe.sentence, "What changed, for people.");
  io.MustPlain("choice_cases", probe.choice_cases, "Cases whose choice differs.");
  io.MustPlain("tree_cases", probe.tree_cases, "Cases whose order of addition differs.");
  io.MustPlain("bits_cases", probe.bits_cases, "Cases whose output differs.");
  io.MustPlain("gone_cases", probe.gone_cases, "Cases shown before and not now.");
  io.Must("cases", probe.cases, Count("Cases that both sides show and repeat."));
}

template <class Io, Is<FingerprintDifference> T>
void Members(Io& io, T& difference) {
  io.Noun("What changed between the two fingerprints.");
  io.Must("comparable", difference.comparable,
          "At least one probe worked on both sides and showed a case in common.");
  io.Must("why", difference.why, "Why it is not comparable; empty when it is.");
  io.Must("summary", difference.summary, "One line.");
  io.Must("compared", difference.compared, Count("Probes compared."));
  io.Must("same", difference.same, Count("Of these the same."));
  io.template ListAs<StackChange>("stack", difference.stack, "Facts of the stack that differ.");
  io.MustList("probes", difference.probes, "Probes that changed, by name.");
}

}  // namespace rharness

#endif  // RHARNESS_REPORTS_FINGERPRINT_MEMBERS_H_
