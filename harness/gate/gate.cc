// The decision as a list of passes; each adds its reasons where it decides.
#include "harness/gate/gate.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "harness/base/glob.h"
#include "harness/gate/shadow.h"

namespace rharness {
namespace {

constexpr char kEvidenceRule[] = "the gate opens on evidence only";
constexpr char kDefaultRule[] = "no rule of the policy allows it";

struct LayerChange {
  std::string_view code;
  std::string_view layer;
  const std::string& sentence;  // empty: it did not change
  bool allowed = false;
};

std::string CountsOf(const std::map<std::string_view, int>& verdicts) {
  std::string words;
  for (const auto& [verdict, runs] : verdicts) {
    words += fmt::format("{}{} {}", words.empty() ? "" : ", ", runs, verdict);
  }
  return words;
}

class Decision {
 public:
  explicit Decision(const GateInput& input) : in_(input) {}

  GateDecision Run() {
    out_.difference = DiffFingerprints(in_.baseline, in_.candidate);
    out_.impacted_runs = FindImpacted(out_.difference, ComparedFamilies(), in_.history);
    out_.unaffected_runs = static_cast<int>(in_.history.size() - out_.impacted_runs.size());
    JudgeEvidence();
    JudgeMeasurements();
    JudgeRepeats();
    JudgeBaseline();
    JudgeRequired();
    for (const ProbeDifference& probe : out_.difference.probes) JudgeProbe(probe);
    JudgeUnprobed();
    JudgeDrill();
    std::ranges::move(JudgeShadow(in_), std::back_inserter(out_.reasons));
    std::ranges::move(FindUnmatched(in_), std::back_inserter(out_.reasons));
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

  std::set<std::string> ComparedFamilies() const {
    std::set<std::string> families = {std::string(kScalarFamily)};
    for (const FingerprintProbe& probe : in_.baseline.probes) {
      if (probe.family == kIdentityFamily || !probe.Shows()) continue;
      if (AnyShows(in_.candidate, probe.name)) families.insert(probe.family);
    }
    return families;
  }

  bool Reproduced(const std::string& run_id) const {
    return in_.drill && std::ranges::any_of(in_.drill->runs, [&](const ReportRun& run) {
             return run.run_id == run_id && ExitCodeOf({run.verdict}) == 0;
           });
  }

  // Declared by runs and compared by no probe: their dependencies may have changed unseen.
  void JudgeUnprobed() {
    const std::set<std::string> compared = ComparedFamilies();
    std::map<std::string, std::pair<int, int>> unprobed;  // runs, and those of them that reproduced
    for (const Manifest& run : in_.history) {
      for (const std::string& family : run.probe_families) {
        if (compared.contains(family)) continue;
        ++unprobed[family].first;
        unprobed[family].second += Reproduced(run.run_id) ? 1 : 0;
      }
    }
    for (const auto& [family, runs] : unprobed) {
      const std::string message = fmt::format(
          "{} run{} of the history depend{} on {}, and no probe of it worked on both sides: "
          "whether they move is not shown",
          runs.first, runs.first == 1 ? "" : "s", runs.first == 1 ? "s" : "", family);
      CloseUnlessWaived(runs.second == runs.first ? Ending::kNotes : Ending::kNoEvidence,
                        "family_not_probed", "family:" + family, family, kEvidenceRule, message);
    }
  }

  void JudgeEvidence() {
    if (out_.difference.comparable) return;
    Add(Ending::kNoEvidence, "nothing_compared", "fingerprints", kEvidenceRule,
        out_.difference.why);
  }

  // One measurement compared with itself agrees. Gating a just accepted baseline is no mistake:
  // somebody has answered for it.
  void JudgeMeasurements() {
    const Fingerprint &was = in_.baseline, &is = in_.candidate;
    if (is.made.empty() || is.made != was.made || is.node != was.node) return;
    Add(in_.record ? Ending::kNotes : Ending::kNoEvidence, "same_measurement", "candidate",
        "a candidate must have been measured",
        fmt::format("candidate and baseline are one measurement, of {}", is.made));
  }

  // What was made less often than in the baseline may not repeat, and nobody saw.
  void JudgeRepeats() {
    const Fingerprint &was = in_.baseline, &is = in_.candidate;  // 0: it does not say
    if (is.repeats >= was.repeats && is.processes >= was.processes) return;
    Add(Ending::kNoEvidence, "fewer_repeats", "candidate",
        "repeatability must be tried as often as before",
        fmt::format("repeats of each result in a process: {}, in the baseline {}; processes: {}, "
                    "in the baseline {}",
                    is.repeats, was.repeats, is.processes, was.processes));
  }

  void JudgeBaseline() {
    if (!in_.record || in_.now < in_.record->expires) return;
    Add(Ending::kNoEvidence, "baseline_expired", "baseline", "a baseline holds until it expires",
        fmt::format("the baseline that {} accepted held {}", in_.record->accepted_by,
                    FormatUntil(in_.record->expires)));
  }

  static bool AnyShows(const Fingerprint& fingerprint, const std::string& glob) {
    return std::ranges::any_of(fingerprint.probes, [&](const FingerprintProbe& probe) {
      return probe.Shows() && GlobMatches(glob, probe.name);
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
        const bool before = AnyShows(in_.baseline, name);
        const bool after = AnyShows(in_.candidate, name);
        if (before && after) continue;
        Add(Ending::kNoEvidence, "probe_missing", name, rule,
            fmt::format("the policy requires this probe, and it shows nothing in the {}",
                        before  ? "candidate"
                        : after ? "baseline"
                                : "baseline and the candidate"));
      }
    }
  }

  const PolicyRule* RuleOf(const ProbeDifference& probe) const {
    const auto rule = std::ranges::find_if(in_.policy.rules, [&](const PolicyRule& one) {
      return NamesProbe(one.probes, probe.probe, probe.family);
    });
    return rule == in_.policy.rules.end() ? nullptr : &*rule;
  }

  // The currently valid waiver; else the last expired one.
  const Waiver* WaiverOf(const std::string& probe, const std::string& family) const {
    const Waiver* last = nullptr;
    for (const Waiver& waiver : in_.policy.waivers) {
      if (!NamesProbe(waiver.probes, probe, family)) continue;
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
      case BehaviourChange::kFailsOnBoth:
        return Close(Ending::kNoEvidence, "fails_on_both", probe, "a failed case shows nothing");
      case BehaviourChange::kNonDeterminismGained:
        Close(Ending::kChange, "non_determinism_gained", probe,
              "a repeatable result must stay repeatable");
        break;
      case BehaviourChange::kNonDeterminismLost:
        Add(Ending::kNotes, "non_determinism_lost", probe.probe, "repeatability is not a fault",
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
    const PolicyRule* rule = RuleOf(probe);
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
    CloseUnlessWaived(ending, code, probe.probe, probe.family, rule, sentence);
  }
  void CloseUnlessWaived(Ending ending, std::string_view code, const std::string& subject,
                         const std::string& family, const std::string& rule,
                         const std::string& sentence) {
    const Waiver* waiver = WaiverOf(subject, family);
    if (waiver != nullptr && in_.now < waiver->until) {
      return Add(Ending::kNotes, "waived", subject,
                 fmt::format("waiver '{}' signed by {} {}: {}", waiver->probes,
                             SignerInWords(waiver->signed_by, waiver->verified),
                             FormatUntil(waiver->until), waiver->reason),
                 fmt::format("{} ({})", sentence, code));
    }
    Add(ending, code, subject, rule, sentence);
    const bool told = std::ranges::any_of(out_.reasons, [&](const GateReason& reason) {
      return reason.code == "waiver_expired" && reason.subject == subject;
    });
    if (waiver != nullptr && !told) {
      Add(Ending::kNotes, "waiver_expired", subject, fmt::format("waiver '{}'", waiver->probes),
          fmt::format("the waiver by {} held {}", waiver->signed_by, FormatUntil(waiver->until)));
    }
  }

  bool AnythingMoved() const {
    return std::ranges::any_of(out_.difference.probes, [](const ProbeDifference& probe) {
      return probe.change != BehaviourChange::kAppeared;
    });
  }

  void JudgeDrill() {
    // Without a history it is not known which runs depend on the changes, nor that none does.
    if (in_.policy.drill_required && AnythingMoved() && in_.history.empty()) {
      Add(Ending::kNoEvidence, in_.drill ? "history_missing" : "drill_missing", "drill",
          "drill: required",
          "the policy requires a drill of the impacted runs, and no recorded run is known that "
          "could "
          "be one: name a history (--history) with runs that are not retired");
    }
    if (!in_.drill) {
      if (in_.policy.drill_required && !out_.impacted_runs.empty()) {
        Add(Ending::kNoEvidence, "drill_missing", "drill", "drill: required",
            fmt::format("the policy requires a drill of the impacted runs ({}), and there is none",
                        out_.impacted_runs.size()));
      }
      return;
    }
    if (const auto why = WhyOfBefore(in_.candidate, in_.drill->started); !why.empty()) {
      Add(Ending::kNoEvidence, "drill_of_before", "drill", "measured first, drilled then", why);
    }
    JudgePlace(*in_.drill);
    JudgeDrilledRuns(*in_.drill);
    JudgeCoverage(*in_.drill);
  }

  // A drill elsewhere says nothing about the candidate, however well it ended.
  void JudgePlace(const Report& drill) {
    if (!in_.drilled_in) return;
    std::size_t elsewhere = 0;
    std::string first, why;
    for (const ReportRun& run : drill.runs) {
      const std::string reason = WhyElsewhere(in_, *in_.drilled_in, run.run_id);
      if (reason.empty()) continue;
      if (elsewhere++ == 0) first = run.run_id, why = reason;
    }
    if (elsewhere == 0) return;
    Add(Ending::kNoEvidence, "drill_elsewhere", first, "a drill must be on the candidate",
        fmt::format("{}{}", why,
                    elsewhere > 1 ? fmt::format(" (and {} more runs)", elsewhere - 1) : ""));
  }

  void JudgeDrilledRuns(const Report& drill) {
    std::size_t passed = 0;
    std::map<std::string_view, int> verdicts;
    for (const ReportRun& run : drill.runs) {
      const std::string message = fmt::format("{}: {}", VerdictName(run.verdict), run.headline);
      if (ExitCodeOf({run.verdict}) == 0) {
        ++passed;
        ++verdicts[VerdictName(run.verdict)];
      } else if (run.verdict == Verdict::kDrifted && IsBrokenInUse(in_, run.run_id)) {
        Add(Ending::kNoEvidence, "broken_in_use", run.run_id, "a drilled run must reproduce",
            message + "; it does not reproduce on the stack in use either");
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
          fmt::format(
              "{} reproduced: {}",
              passed == 1 ? "the one drilled run" : fmt::format("all {} drilled runs", passed),
              CountsOf(verdicts)));
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
    std::ranges::stable_sort(out_.reasons, std::greater<>(), [](const GateReason& reason) {
      return std::pair(reason.closes, reason.warns);
    });
    const auto closing = std::ranges::count_if(out_.reasons, &GateReason::closes);
    out_.open = closing == 0;
    out_.exit_code = out_.open ? 0 : changed_ ? 1 : 3;
    if (out_.open) {
      const auto waived = std::ranges::count(out_.reasons, "waived", &GateReason::code);
      const auto warnings = std::ranges::count_if(out_.reasons, &GateReason::warns);
      out_.headline = fmt::format(
          "The gate is open: {}{}{}.", out_.difference.summary,
          waived > 0 ? fmt::format("; {} waived", waived) : "",
          warnings > 0 ? fmt::format("; {} warning{}", warnings, warnings > 1 ? "s" : "") : "");
      return;
    }
    const GateReason& first = out_.reasons.front();
    out_.headline = fmt::format(
        "The gate is closed{}: {}{}.", changed_ ? "" : " for lack of evidence", SentenceOf(first),
        closing > 1 ? fmt::format(" (and {} more reason{})", closing - 1, closing > 2 ? "s" : "")
                    : "");
  }

  const GateInput& in_;
  GateDecision out_;
  bool changed_ = false;  // a reason that closes is a change, not a lack of evidence
};

}  // namespace

GateDecision DecideGate(const GateInput& input) { return Decision(input).Run(); }

}  // namespace rharness
