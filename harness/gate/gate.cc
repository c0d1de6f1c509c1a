// The decision as a list of passes, each of which leaves its reasons where it decides.
#include "harness/gate/gate.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "harness/base/glob.h"

namespace rharness {
namespace {

constexpr char kEvidenceRule[] = "the gate opens on evidence only";
constexpr char kDefaultRule[] = "no rule of the policy allows it";
constexpr char kScalar[] = "scalar";  // the family that every run depends on

struct LayerChange {
  std::string_view code;
  std::string_view layer;
  const std::string& sentence;  // empty: it did not change
  bool allowed = false;
};

class Decision {
 public:
  explicit Decision(const GateInput& input) : in_(input) {}

  GateDecision Run() {
    out_.difference = DiffFingerprints(in_.baseline, in_.candidate);
    out_.impacted_runs = FindImpacted(out_.difference, KnownFamilies(), in_.history);
    out_.unaffected_runs = static_cast<int>(in_.history.size() - out_.impacted_runs.size());
    JudgeEvidence();
    JudgeBaseline();
    JudgeRequired();
    for (const ProbeDifference& probe : out_.difference.probes) JudgeProbe(probe);
    JudgeUnprobed();
    JudgeDrill();
    Conclude();
    return std::move(out_);
  }

 private:
  enum class Ending { kNotes, kChange, kNoEvidence };

  void Add(Ending ending, std::string_view code, const std::string& subject, std::string rule,
           std::string message) {
    out_.reasons.push_back({.code = std::string(code),
                            .subject = subject,
                            .rule = std::move(rule),
                            .message = std::move(message),
                            .closes = ending != Ending::kNotes,
                            .lacks_evidence = ending == Ending::kNoEvidence});
    changed_ = changed_ || ending == Ending::kChange;
  }

  std::set<std::string> KnownFamilies() const {
    std::set<std::string> families;
    for (const Fingerprint* side : {&in_.baseline, &in_.candidate}) {
      for (const FingerprintProbe& probe : side->probes) families.insert(probe.family);
    }
    return families;
  }

  // Declared by runs and probed by nothing: what they depend on may have moved unseen.
  void JudgeUnprobed() {
    const std::set<std::string> known = KnownFamilies();
    std::map<std::string, int> unprobed;
    for (const Manifest& run : in_.history) {
      for (const std::string& family : run.probe_families)
        unprobed[family] += !known.contains(family);
    }
    for (const auto& [family, runs] : unprobed) {
      if (runs == 0) continue;
      Add(Ending::kNotes, "family_not_probed", family, "impact",
          fmt::format("{} run{} of the history depend{} on it and no probe of these fingerprints "
                      "is of it: taken as depending on all",
                      runs, runs == 1 ? "" : "s", runs == 1 ? "s" : ""));
    }
  }

  void JudgeEvidence() {
    if (out_.difference.comparable) return;
    Add(Ending::kNoEvidence, "nothing_compared", "fingerprints", kEvidenceRule,
        out_.difference.why);
  }

  void JudgeBaseline() {
    if (!in_.record || in_.now < in_.record->expires) return;
    Add(Ending::kNoEvidence, "baseline_expired", "baseline", "a baseline holds until it expires",
        fmt::format("the baseline that {} accepted expired on {}", in_.record->accepted_by,
                    FormatTime(in_.record->expires)));
  }

  static bool AnyOk(const Fingerprint& fingerprint, const std::string& glob) {
    return std::ranges::any_of(fingerprint.probes, [&](const FingerprintProbe& probe) {
      return probe.Ok() && GlobMatches(glob, probe.name);
    });
  }

  // Every probe that matches on one side must be ok on both, and there must be one.
  void JudgeRequired() {
    for (const std::string& glob : in_.policy.must_have) {
      const std::string rule = fmt::format("require: {}", glob);
      std::set<std::string> names;
      for (const Fingerprint* side : {&in_.baseline, &in_.candidate}) {
        for (const FingerprintProbe& probe : side->probes) {
          if (GlobMatches(glob, probe.name)) names.insert(probe.name);
        }
      }
      if (names.empty()) {
        Add(Ending::kNoEvidence, "probe_missing", glob, rule, "no probe of this name ran");
      }
      for (const std::string& name : names) {
        const bool before = AnyOk(in_.baseline, name);
        const bool after = AnyOk(in_.candidate, name);
        if (before && after) continue;
        Add(Ending::kNoEvidence, "probe_missing", name, rule,
            fmt::format("the policy requires this probe, and it is not ok in the {}",
                        before  ? "candidate"
                        : after ? "baseline"
                                : "baseline and the candidate"));
      }
    }
  }

  const PolicyRule* RuleOf(const std::string& probe) const {
    const auto rule = std::ranges::find_if(
        in_.policy.rules, [&](const PolicyRule& one) { return GlobMatches(one.probes, probe); });
    return rule == in_.policy.rules.end() ? nullptr : &*rule;
  }

  // The waiver that holds now; else, of those that no longer do, the last one.
  const Waiver* WaiverOf(const std::string& probe) const {
    const Waiver* last = nullptr;
    for (const Waiver& waiver : in_.policy.waivers) {
      if (!GlobMatches(waiver.probes, probe)) continue;
      if (last == nullptr || waiver.until > last->until) last = &waiver;
    }
    return last;
  }

  void JudgeProbe(const ProbeDifference& probe) {
    switch (probe.change) {
      case BehaviourChange::kNone:
        return;
      case BehaviourChange::kAppeared:
        return Add(Ending::kNotes, "appeared", probe.probe, "more to see closes nothing",
                   probe.sentence);
      case BehaviourChange::kNewlyWrong:
        return Close(Ending::kChange, "newly_wrong", probe, "a probe that worked must work");
      case BehaviourChange::kGone:
        if (probe.cases > 0) break;  // it still runs and shows less
        return Close(Ending::kNoEvidence, "probe_gone", probe,
                     "what the baseline shows must be shown");
      case BehaviourChange::kAskedOtherwise:
        return Close(Ending::kNoEvidence, "asked_otherwise", probe,
                     "only answers to the same question compare");
      case BehaviourChange::kNonDeterminismGained:
        Close(Ending::kChange, "non_determinism_gained", probe,
              "what repeated must go on repeating");
        break;
      case BehaviourChange::kNonDeterminismLost:
        Add(Ending::kNotes, "non_determinism_lost", probe.probe, "repeating is no fault",
            probe.sentence);
        break;
      default:
        break;
    }
    JudgeLayers(probe);
    if (!probe.gone_cases.empty()) {
      Close(Ending::kNoEvidence, "cases_gone", probe, "what the baseline shows must be shown");
    }
  }

  void JudgeLayers(const ProbeDifference& probe) {
    const PolicyRule* rule = RuleOf(probe.probe);
    const LayerChange layers[] = {
        {"choice_changed", "choice", probe.choice_sentence, rule && rule->choice},
        {"tree_changed", "tree", probe.tree_sentence, rule && rule->tree},
        {"bits_changed", "bits", probe.bits_sentence, rule && rule->bits}};
    const std::string name = rule != nullptr ? fmt::format("rule '{}'", rule->probes) : "";
    for (const LayerChange& layer : layers) {
      if (layer.sentence.empty()) continue;
      if (layer.allowed) {
        Add(Ending::kNotes, "allowed", probe.probe, fmt::format("{} allows {}", name, layer.layer),
            layer.sentence);
      } else {
        Close(
            Ending::kChange, layer.code, probe,
            rule != nullptr ? fmt::format("{} does not allow {}", name, layer.layer) : kDefaultRule,
            layer.sentence);
      }
    }
  }

  // Closes, unless somebody has taken the responsibility.
  void Close(Ending ending, std::string_view code, const ProbeDifference& probe,
             const std::string& rule) {
    Close(ending, code, probe, rule, probe.sentence);
  }
  void Close(Ending ending, std::string_view code, const ProbeDifference& probe,
             const std::string& rule, const std::string& sentence) {
    const Waiver* waiver = WaiverOf(probe.probe);
    if (waiver != nullptr && in_.now < waiver->until) {
      return Add(Ending::kNotes, "waived", probe.probe,
                 fmt::format("waiver '{}' by {} until {}: {}", waiver->probes, waiver->signed_by,
                             FormatTime(waiver->until), waiver->reason),
                 fmt::format("{} ({})", sentence, code));
    }
    Add(ending, code, probe.probe, rule, sentence);
    if (waiver != nullptr) {
      Add(Ending::kNotes, "waiver_expired", probe.probe, fmt::format("waiver '{}'", waiver->probes),
          fmt::format("the waiver by {} held until {}", waiver->signed_by,
                      FormatTime(waiver->until)));
    }
  }

  bool AnythingMoved() const {
    return std::ranges::any_of(out_.difference.probes, [](const ProbeDifference& probe) {
      return probe.change != BehaviourChange::kAppeared;
    });
  }

  void JudgeDrill() {
    if (!in_.drill) {
      // Without a history nobody knows that no run depends on what moved.
      const bool due = in_.policy.drill_required && AnythingMoved() &&
                       (in_.history.empty() || !out_.impacted_runs.empty());
      if (due) {
        Add(Ending::kNoEvidence, "drill_missing", "drill", "drill: required",
            fmt::format("the policy requires a drill of the impacted runs ({}), and there is none",
                        in_.history.empty() ? "no history was given"
                                            : std::to_string(out_.impacted_runs.size())));
      }
      return;
    }
    JudgeDrilledRuns(*in_.drill);
    JudgeCoverage(*in_.drill);
  }

  void JudgeDrilledRuns(const Report& drill) {
    std::size_t passed = 0;
    for (const ReportRun& run : drill.runs) {
      const std::string message = fmt::format("{}: {}", VerdictName(run.verdict), run.headline);
      if (ExitCodeOf({run.verdict}) == 0) {
        ++passed;
      } else if (run.verdict == Verdict::kDrifted) {
        Add(Ending::kChange, "drill_drifted", run.run_id, "a drilled run must reproduce", message);
      } else {
        Add(Ending::kNoEvidence, "drill_undecided", run.run_id, "a drilled run must reproduce",
            message);
      }
    }
    const bool whole = drill.exit_code == 0 && !drill.interrupted;
    if (passed == drill.runs.size() && (!whole || drill.runs.empty())) {
      Add(Ending::kNoEvidence, "drill_incomplete", "drill", "a drill must be whole and not empty",
          fmt::format("the drill ended with exit code {} over {} runs", drill.exit_code,
                      drill.runs.size()));
    } else if (passed == drill.runs.size()) {
      Add(Ending::kNotes, "drill_passed", "drill", "a drilled run must reproduce",
          fmt::format("all {} drilled runs reproduced", passed));
    }
  }

  void JudgeCoverage(const Report& drill) {
    std::set<std::string_view> drilled;
    for (const ReportRun& run : drill.runs) drilled.insert(run.run_id);
    for (const ImpactedRun& run : out_.impacted_runs) {
      if (drilled.contains(run.run_id)) continue;
      Add(in_.policy.drill_required ? Ending::kNoEvidence : Ending::kNotes, "run_not_drilled",
          run.run_id, in_.policy.drill_required ? "drill: required" : "drill: optional",
          "an impacted run that the drill left out");
    }
  }

  void Conclude() {
    std::ranges::stable_sort(out_.reasons, std::greater<>(), &GateReason::closes);
    const auto closing = std::ranges::count_if(out_.reasons, &GateReason::closes);
    out_.open = closing == 0;
    out_.exit_code = out_.open ? 0 : changed_ ? 1 : 3;
    if (out_.open) {
      const auto waived = std::ranges::count(out_.reasons, "waived", &GateReason::code);
      out_.headline = fmt::format("The gate is open: {}{}.", out_.difference.summary,
                                  waived > 0 ? fmt::format("; {} waived", waived) : "");
      return;
    }
    const GateReason& first = out_.reasons.front();
    out_.headline = fmt::format(
        "The gate is closed{}: {}{}.", changed_ ? "" : " for want of evidence", first.message,
        closing > 1 ? fmt::format(" (and {} more reason{})", closing - 1, closing > 2 ? "s" : "")
                    : "");
  }

  const GateInput& in_;
  GateDecision out_;
  bool changed_ = false;  // a reason that closes is a change, not a lack of evidence
};

}  // namespace

GateDecision DecideGate(const GateInput& input) { return Decision(input).Run(); }

Fingerprint UnreadableFingerprint(std::string_view file, const Error& error) {
  Fingerprint fingerprint;
  fingerprint.file = file;
  fingerprint.suite = "unreadable: " + error.ToString();
  return fingerprint;
}

std::vector<ImpactedRun> FindImpacted(const FingerprintDifference& difference,
                                      const std::set<std::string>& known,
                                      const std::vector<Manifest>& history) {
  std::vector<ImpactedRun> impacted;
  for (const Manifest& run : history) {
    const auto& families = run.probe_families;
    const bool on_all = families.empty() || std::ranges::any_of(families, [&](const auto& family) {
                          return !known.contains(family);
                        });
    ImpactedRun out{.run_id = run.run_id, .family = run.family};
    for (const ProbeDifference& probe : difference.probes) {
      if (probe.change == BehaviourChange::kAppeared) continue;
      const bool depends = on_all || probe.family == kScalar ||
                           std::ranges::find(families, probe.family) != families.end();
      if (depends) out.probes.push_back(probe.probe);
    }
    if (!out.probes.empty()) impacted.push_back(std::move(out));
  }
  return impacted;
}

}  // namespace rharness
