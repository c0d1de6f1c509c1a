// Facts of an incident to sentences with their sources; see answers.h.
#include "harness/insight/incident/answers.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "harness/base/clock.h"
#include "harness/insight/incident/changes.h"
#include "harness/insight/incident/next_step.h"
#include "harness/insight/incident/prevention.h"
#include "harness/insight/incident/way_back.h"
#include "reports/history_summary.h"
#include "reports/text.h"
#include "reports/words.h"

namespace rharness {
namespace {

constexpr std::size_t kMostToldReasons = 3;
constexpr std::size_t kMostChanges = 5;
constexpr std::size_t kMostNamed = 5;

std::string Names(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), kMostNamed); ++i) {
    text += (i > 0 ? ", " : "") + names[i];
  }
  if (names.size() > kMostNamed) text += fmt::format(" and {} more", names.size() - kMostNamed);
  return text;
}

std::string VerdictSource(const StoredVerdict& verdict) {
  return "history: verdict of drill " + verdict.drill_id;
}

// Runs broken by one drill share its environment, but not their own identity.
void TellTogether(const IncidentFacts& in, IncidentAnswer* answer) {
  const RunOutlook outlook = Summarize(in.run_history);
  if (!outlook.first_bad) return;
  const std::string& drill = in.run_history.verdicts.at(*outlook.first_bad).drill_id;
  const auto together = std::ranges::count_if(in.found.members, [&](const FamilyMember& one) {
    return one.bad && !one.entry.retired && one.bad->drill_id == drill;
  });
  if (together == 0) return;
  answer->facts.push_back(
      {fmt::format("{} of them broke together with {}, in drill {}: look at what they have in "
                   "common, where they run, before what is in the run",
                   together, in.run.run_id, drill),
       "history: first bad verdicts of the family"});
}

// The affected people and runs.
void TellAffected(const IncidentFacts& in, IncidentAnswer* answer) {
  if (!in.owner.empty()) {
    answer->facts.push_back(
        {fmt::format("{} owns the family {}", in.owner, in.run.family), "policy: objectives"});
  }
  std::vector<std::string> bad;
  for (const FamilyMember& one : in.found.members) {
    if (one.bad && !one.entry.retired) bad.push_back(one.entry.run_id);
  }
  answer->facts.push_back(
      {bad.empty()
           ? fmt::format("no other run of the family is bad ({} in all)", in.found.members.size())
           : fmt::format("{} of {} other runs of the family are bad: {}", bad.size(),
                         in.found.members.size(), Names(bad)),
       "history: last verdicts of the family"});
  TellTogether(in, answer);
  if (!in.uses.empty()) {
    answer->facts.push_back(
        {fmt::format("{} were given a file that {} wrote: {}", Counted(in.uses.size(), "run"),
                     in.run.run_id, Names(in.uses)),
         "their manifests: data, by SHA-256"});
  }
  if (!answer->not_known.empty()) answer->not_known += "; ";
  answer->not_known += fmt::format(
      "{}who serves the model of {}, and whether runs of other families were given it",
      in.owner.empty()
          ? (in.policy ? "the owner, whom no objective of the policy names; "
                       : "the owner, whom a policy's objectives would name (--policy); ")
          : "",
      in.run.run_id);
}

// How the two runs compare; does not compare results of different seeds.
std::string BesideGood(const IncidentFacts& in) {
  const std::string beside = fmt::format("beside {}, {}, ", in.good->run_id,
                                         in.named ? "which --good names" : "the last good run");
  const bool comparable = in.comparison->verdict != Verdict::kNotComparable;
  if (!comparable && SeedsDiffer(in)) {
    return beside + "it has a different seed, so their results are not compared";
  }
  return fmt::format("{}it is {}: {}", beside, VerdictLabel(in.comparison->verdict),
                     in.comparison->headline);
}

IncidentAnswer WhatHappened(const IncidentFacts& in) {
  IncidentAnswer answer{"what_happened", "What drifted, and whom does it affect?", {}, {}};
  if (const auto& why = in.run_history.run.retired; why) {
    answer.facts.push_back(
        {fmt::format("{} is retired: {}; no drill reruns it", in.run.run_id, *why),
         "history: retirements"});
  }
  const std::vector<StoredVerdict>& verdicts = in.run_history.verdicts;
  if (verdicts.empty()) {
    answer.not_known = fmt::format("no drill has judged {}", in.run.run_id);
  } else {
    if (RunIsGood(in)) {
      answer.facts.push_back(
          {fmt::format("nothing went bad that the history knows of: {} is good", in.run.run_id),
           VerdictSource(verdicts.at(*Summarize(in.run_history).last_good))});
    }
    const StoredVerdict& telling = *TellingVerdict(in);
    answer.facts.push_back(
        {fmt::format("{} was rerun and is {}, decided {}", in.run.run_id,
                     VerdictLabel(telling.verdict), FormatMinute(telling.decided)),
         VerdictSource(telling)});
    for (std::size_t i = 0; i < std::min(telling.reasons.size(), kMostToldReasons); ++i) {
      answer.facts.push_back({ReasonText(telling.reasons[i]), VerdictSource(telling)});
    }
    const StoredVerdict& last = verdicts.back();
    if (&last != &telling) {
      answer.facts.push_back(
          {fmt::format("no drill has decided since: the last one called it {} on {}",
                       VerdictLabel(last.verdict), FormatMinute(last.decided)),
           VerdictSource(last)});
    }
  }
  if (in.comparison) {
    answer.facts.push_back({BesideGood(in), "comparison of the two records"});
  }
  TellAffected(in, &answer);
  return answer;
}

IncidentAnswer SinceWhen(const IncidentFacts& in) {
  IncidentAnswer answer{"since_when", "Since when?", {}, {}};
  const RunOutlook outlook = Summarize(in.run_history);
  const std::vector<StoredVerdict>& verdicts = in.run_history.verdicts;
  if (outlook.last_good) {
    const StoredVerdict& good = verdicts.at(*outlook.last_good);
    answer.facts.push_back(
        {fmt::format("{} last reproduced on {}", in.run.run_id, FormatMinute(good.decided)),
         VerdictSource(good)});
  }
  if (outlook.first_bad) {
    const StoredVerdict& bad = verdicts.at(*outlook.first_bad);
    answer.facts.push_back(
        {fmt::format("it is {} since {}{}", VerdictLabel(bad.verdict), FormatMinute(bad.decided),
                     outlook.last_good ? "" : ", and never reproduced"),
         VerdictSource(bad)});
  } else {
    answer.not_known = verdicts.empty()
                           ? fmt::format(
                                 "no drill has judged {}: since it was recorded at the "
                                 "latest, or not at all",
                                 in.run.run_id)
                           : fmt::format("no drill says that {} went bad", in.run.run_id);
  }
  answer.facts.push_back(
      {fmt::format(
           "{} was recorded {}{}", in.run.run_id, FormatMinute(in.run.started),
           in.good ? fmt::format(", {} {}", in.good->run_id, FormatMinute(in.good->started)) : ""),
       "their manifests"});
  return answer;
}

void TellWords(const std::vector<std::string>& words, const std::string& source,
               IncidentAnswer* answer) {
  for (std::size_t i = 0; i < std::min(words.size(), kMostChanges); ++i) {
    answer->facts.push_back({words[i], source});
  }
  if (words.size() > kMostChanges) {
    answer->facts.push_back(
        {fmt::format("and {} more differences", words.size() - kMostChanges), source});
  }
}

// The differences between the places of the reruns when the run was good and when it was bad; for a
// run that never was good, between its record and its first bad rerun.
void TellTurn(const IncidentFacts& in, IncidentAnswer* answer) {
  const RunOutlook outlook = Summarize(in.run_history);
  const std::optional<KnownChange> change = ChangeOf(in);
  if (change && change->between != ChangeBetween::kRuns) {
    std::vector<std::string> words = WordsOf(change->layers);
    if (words.empty()) words.emplace_back("nothing that is recorded differs between the two");
    TellWords(words, change->source, answer);
  } else if (outlook.broke) {
    const VerdictChange& broke = in.run_history.changes.at(*outlook.broke);
    TellWords(ChangeWords(broke.known, broke.layers), "history: verdicts of its drills", answer);
  }
}

std::string WhyNotCompared(const IncidentFacts& in) {
  if (RunIsGood(in)) return "no drill saw it turn: it is good";
  if (!in.good) return "there is no good run to compare with, and no drill saw it turn";
  return fmt::format(
      "it would be compared with {}, which a dry run does not do, and no drill saw it "
      "turn",
      in.good->run_id);
}

// What the comparison says of the two records.
void TellComparison(const IncidentFacts& in, IncidentAnswer* answer) {
  const std::string source = "comparison of the two records";
  if (SeedsAloneDiffer(in)) {
    answer->facts.push_back(
        {fmt::format("{} and {} are runs of one configuration, and of what both records say their "
                     "seeds alone differ",
                     in.good->run_id, in.run.run_id),
         source});
    return;
  }
  const std::vector<Cause> causes = CausesBeyondSeeds(in);
  for (std::size_t i = 0; i < std::min(causes.size(), kMostToldReasons); ++i) {
    answer->facts.push_back(
        {fmt::format("{} ({}, {})", causes[i].statement, LayerName(causes[i].layer),
                     StrengthName(causes[i].strength)),
         source});
  }
  TellWords(WordsOf(LayersBeyondSeeds(in)), source, answer);
}

IncidentAnswer WhatChanged(const IncidentFacts& in) {
  IncidentAnswer answer{"what_changed", "What changed?", {}, {}};
  TellTurn(in, &answer);
  if (!in.comparison) {
    if (answer.facts.empty()) answer.not_known = WhyNotCompared(in);
    return answer;
  }
  TellComparison(in, &answer);
  std::vector<std::string> unknown;
  for (const LayerComparison& layer : in.comparison->layers) {
    if (layer.state == LayerState::kUnknown) unknown.emplace_back(LayerName(layer.layer));
    std::ranges::copy(layer.not_known, std::back_inserter(unknown));
  }
  if (!unknown.empty()) answer.not_known = "whether these changed: " + Names(unknown);
  if (answer.facts.empty()) {
    answer.facts.push_back({"nothing that both records say", "comparison of the two records"});
  }
  return answer;
}

IncidentRun RunOf(const Manifest& manifest, const RunHistory& history) {
  IncidentRun run{.run_id = manifest.run_id,
                  .declared = manifest.determinism.declared,
                  .started = manifest.started,
                  .last = {}};
  if (!history.verdicts.empty()) run.last = history.verdicts.back();
  return run;
}

void AddCandidates(const IncidentFacts& in, IncidentReport* report) {
  constexpr std::size_t kMostCandidates = 500;
  const auto add = [&](const FamilyMember& one, std::string why_not) {
    if (report->candidates.size() == kMostCandidates) {
      ++report->candidates_left_out;
      return;
    }
    report->candidates.push_back({.run_id = one.entry.run_id,
                                  .started = one.entry.started,
                                  .verdict = one.entry.last_verdict,
                                  .why_not = std::move(why_not)});
  };
  if (in.found.chosen) add(in.found.members.at(*in.found.chosen), "");
  for (std::size_t i = 0; i < in.found.members.size(); ++i) {
    if (in.found.chosen != i) add(in.found.members[i], in.found.members[i].why_not);
  }
}

}  // namespace

IncidentReport BuildIncidentReport(const IncidentFacts& in) {
  IncidentReport report;
  report.family = in.run.family;
  report.run = RunOf(in.run, in.run_history);
  if (in.good) report.good = RunOf(*in.good, *in.good_history);
  report.named = in.named;
  AddCandidates(in, &report);
  report.planned = in.planned;
  report.interrupted = in.rollback && in.rollback->interrupted;
  report.files = in.files.files;
  report.signatures = in.files.signatures;
  report.rollback = RollbackOf(in);
  if (in.comparison) {
    report.compared = in.comparison->verdict;
    report.compared_headline = in.comparison->headline;
    report.causes = CausesBeyondSeeds(in);
    report.layers = in.comparison->layers;
  }
  report.next = NextOf(in, report.rollback);
  report.answers = {WhatHappened(in), SinceWhen(in), WhatChanged(in), WayBack(in, report.rollback),
                    Prevention(in, report.next)};
  report.exit_code = ExitCodeOfIncident(in, report.rollback);
  report.headline = HeadlineOf(in, report.rollback);
  return report;
}

}  // namespace rharness
