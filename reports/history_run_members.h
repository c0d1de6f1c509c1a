// The members of a recorded run and of verdicts, for every form of a history.
//
// Role: private to reports/; each list writes and describes.
#ifndef RHARNESS_REPORTS_HISTORY_RUN_MEMBERS_H_
#define RHARNESS_REPORTS_HISTORY_RUN_MEMBERS_H_

#include <optional>
#include <string>

#include "harness/base/json_members.h"
#include "reports/history_report.h"
#include "reports/history_summary.h"
#include "reports/json_nouns.h"

namespace rharness {

// Requester and approver; for an unsigned one only that fact, for a doubtful one the reason.
struct RetirementAsSigned {
  std::optional<RunRetirement> by;
};

inline std::optional<RetirementAsSigned> RetirementOf(const HistoryRun& run) {
  if (!run.retired) return {};
  return RetirementAsSigned{run.retirement};
}

// One verdict of one drill.
struct VerdictPlace {
  std::string drill_id;
  Verdict verdict = Verdict::kInconclusive;
  WallTime decided{};
};

inline VerdictPlace PlaceOf(const StoredVerdict& verdict) {
  return {verdict.drill_id, verdict.verdict, verdict.decided};
}

inline std::optional<VerdictPlace> PlaceOf(const std::optional<StoredVerdict>& verdict) {
  return verdict ? std::optional(PlaceOf(*verdict)) : std::nullopt;
}

inline std::optional<VerdictPlace> PlaceAt(const RunHistory& history,
                                           const std::optional<std::size_t>& at) {
  return at ? std::optional(PlaceOf(history.verdicts.at(*at))) : std::nullopt;
}

template <class Io, Is<RetirementAsSigned> T>
void Members(Io& io, T& retirement) {
  const RunRetirement by = retirement.by.value_or(RunRetirement());
  const bool doubtful = !by.doubt.empty();
  const bool both = retirement.by.has_value() && !doubtful;
  using Time = std::optional<WallTime>;
  io.Must("signed", both, "Whether two people signed it, and it is as they signed it.");
  io.MayIf(doubtful, "doubt", by.doubt, "Why it is not as it was signed; then nobody is named.");
  io.MayIf(both, "asked_by", by.asked_by);
  io.MayTime("asked", both ? Time(by.asked) : Time());
  io.MayIf(both, "approved_by", by.approved_by);
  io.MayTime("approved", both ? Time(by.approved) : Time());
  io.MayIf(both, "statement", by.statement_sha256, "The SHA-256 of what they signed.");
}

template <class Io, Is<HistoryRun> T>
void Members(Io& io, T& run) {
  io.Noun("One recorded run.");
  io.Must("run_id", run.run_id);
  io.Must("family", run.family);
  io.Must("configuration", run.configuration);
  io.Time("started", run.started, "RFC 3339, as all times here.");
  io.Must("duration_seconds", run.duration_seconds);
  io.Must("declared", run.declared, "bitwise or statistical");
  io.Time("added", run.added);
  io.NameOrNull("last_verdict", run.last_verdict, kVerdictNames, "null: not judged.");
  io.TimeOrNull("verified", run.verified,
                "When a drill last said identical, equivalent or drifted; null: never.");
  io.Must("retired", run.retired, "Why the run is out of drills; null: it is not.");
  io.MayIf(run.rebuild.has_value(), "rebuild",
           std::string(run.rebuild ? PartStateName(*run.rebuild) : ""),
           About("Whether all its parts can still be had, as rharness check --available was told "
                 "last; absent: never asked.")
               .OneOf("had unknown gone"));
  io.MayObject("retirement", RetirementOf(run),
               "Of a retired run, who asked for that and who approved, held to what was signed; "
               "rharness history retire list --trust holds it to their keys, too.");
}

template <class Io, Is<StoredVerdict> T>
void Members(Io& io, T& verdict) {
  io.Must("drill_id", verdict.drill_id);
  io.Name("verdict", verdict.verdict, kVerdictNames);
  io.Time("decided", verdict.decided);
  io.Must("reruns", verdict.reruns);
  io.MustPlain("reasons", ReasonTexts(verdict.reasons));
}

template <class Io, Is<VerdictPlace> T>
void Members(Io& io, T& place) {
  io.Noun("One verdict of one drill.");
  io.Must("drill_id", place.drill_id);
  io.Name("verdict", place.verdict, kVerdictNames);
  io.Time("decided", place.decided);
}

template <class Io, Is<Steadiness> T>
void Members(Io& io, T& steadiness) {
  io.Must("flaky", steadiness.unexplained > 0, "Whether unexplained is not 0.");
  io.Must("steps", steadiness.steps, "From one drill that could tell to the next.");
  io.Must("changes", steadiness.changes, "Of the steps: from good to bad or back.");
  io.Must("unexplained", steadiness.unexplained,
          "Of the changes: nothing differed that is recorded of what the run uses.");
  io.Must("not_known", steadiness.not_known,
          "Of the changes: the history does not hold where both ran.");
}

template <class Io, Is<TogetherVerdict> T>
void Members(Io& io, T& verdict) {
  io.Noun("What one drill said of the runs of one configuration together.");
  io.Must("drill_id", verdict.drill_id);
  io.Name("verdict", verdict.verdict, kVerdictNames);
  io.Time("decided", verdict.decided);
  io.Must("runs", verdict.runs);
  io.MustPlain("reasons", ReasonTexts(verdict.reasons));
}

// What every form begins with.
template <class Io>
void StartMembers(Io& io, const char* kind) {
  io.Schema("rharness.history", kHistoryVersion);
  io.Constant("kind", kind);
}

}  // namespace rharness

#endif  // RHARNESS_REPORTS_HISTORY_RUN_MEMBERS_H_
