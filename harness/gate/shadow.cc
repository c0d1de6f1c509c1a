// The two drills as a pair; see shadow.h.
#include "harness/gate/shadow.h"

#include <fmt/format.h>

#include <algorithm>

namespace rharness {
namespace {

constexpr char kPairRule[] = "the same runs under both stacks, in one window of time";

GateReason ShadowReason(std::string code, std::string subject, std::string message) {
  const bool closes = code != "shadow_compared";
  return {.code = std::move(code),
          .subject = std::move(subject),
          .rule = kPairRule,
          .message = std::move(message),
          .closes = closes,
          .lacks_evidence = closes};
}

const ReportRun* FindRun(const Report& report, const std::string& run_id) {
  const auto run = std::ranges::find(report.runs, run_id, &ReportRun::run_id);
  return run == report.runs.end() ? nullptr : &*run;
}

std::string AndMore(std::size_t count) {
  return count > 1 ? fmt::format(" (and {} more runs)", count - 1) : std::string();
}

// Runs of the candidate's drill that were not rerun on the stack in use.
void AddMissing(const GateInput& input, std::vector<GateReason>* reasons) {
  std::string first;
  std::size_t missing = 0;
  for (const ReportRun& run : input.drill->runs) {
    if (FindRun(*input.in_use, run.run_id) != nullptr) continue;
    if (missing++ == 0) first = run.run_id;
  }
  if (missing == 0) return;
  reasons->push_back(ShadowReason(
      "shadow_missing", first,
      "it was rerun on the candidate, and not on the stack in use" + AndMore(missing)));
}

// WhyElsewhere's words name a candidate; here it is the stack in use.
std::string InUseWords(std::string why) {
  constexpr std::string_view kCandidate = "the candidate", kInUse = "the stack in use";
  for (auto at = why.find(kCandidate); at != why.npos; at = why.find(kCandidate, at)) {
    why.replace(at, kCandidate.size(), kInUse);
    at += kInUse.size();
  }
  return why;
}

// The drill of the stack in use must have been there: the candidate's rule, the other way round.
void AddElsewhere(const GateInput& input, std::vector<GateReason>* reasons) {
  if (!input.in_use_at) return;
  GateInput other;
  other.baseline = input.candidate;
  other.candidate = input.baseline;
  other.place_proven = input.place_proven;
  std::string first, why;
  std::size_t elsewhere = 0;
  for (const ReportRun& run : input.in_use->runs) {
    const std::string reason = InUseWords(WhyElsewhere(other, *input.in_use_at, run.run_id));
    if (reason.empty()) continue;
    if (elsewhere++ == 0) first = run.run_id, why = reason;
  }
  if (elsewhere == 0) return;
  reasons->push_back(ShadowReason(
      "shadow_elsewhere", first,
      fmt::format("its drill was not on the stack in use: {}{}", why, AndMore(elsewhere))));
}

void AddCompared(const GateInput& input, std::vector<GateReason>* reasons) {
  std::size_t alike = 0;
  std::string mended;
  for (const ReportRun& run : input.drill->runs) {
    const ReportRun* in_use = FindRun(*input.in_use, run.run_id);
    alike += in_use->verdict == run.verdict ? 1 : 0;
    const bool here = ExitCodeOf({run.verdict}) == 0;
    if (here && IsBrokenInUse(input, run.run_id) && mended.empty()) mended = run.run_id;
  }
  std::string message =
      fmt::format("{} of {} runs end alike under both stacks", alike, input.drill->runs.size());
  if (!mended.empty()) {
    message += fmt::format("; {} reproduces on the candidate alone", mended);
  }
  reasons->push_back(ShadowReason("shadow_compared", "drill", std::move(message)));
}

}  // namespace

bool IsBrokenInUse(const GateInput& input, const std::string& run_id) {
  const ReportRun* run = input.in_use ? FindRun(*input.in_use, run_id) : nullptr;
  return run != nullptr && StandingOf(run->verdict) == Standing::kBad;
}

std::vector<GateReason> JudgeShadow(const GateInput& input) {
  if (!input.in_use) return {};
  if (!input.drill) {
    return {ShadowReason("shadow_alone", "drill",
                         "there is a drill of the stack in use, and none of the candidate")};
  }
  std::vector<GateReason> reasons;
  const auto apart = std::chrono::abs(input.drill->started - input.in_use->started);
  if (apart > kShadowWindow) {
    reasons.push_back(
        ShadowReason("shadow_another_time", "drill",
                     fmt::format("the two drills began {} hours apart, and {} may lie between them",
                                 std::chrono::duration_cast<std::chrono::hours>(apart).count(),
                                 kShadowWindow.count())));
  }
  AddMissing(input, &reasons);
  AddElsewhere(input, &reasons);
  if (reasons.empty()) AddCompared(input, &reasons);
  return reasons;
}

}  // namespace rharness
