// The way back in sentences; see way_back.h.
#include "harness/insight/incident/way_back.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/clock.h"
#include "harness/insight/incident/next_step.h"
#include "reports/history_summary.h"
#include "reports/text.h"
#include "reports/words.h"

namespace rharness {
namespace {

struct FileCounts {
  std::size_t checkpoints = 0, as_recorded = 0, changed = 0, absent = 0, not_kept = 0, missing = 0;
};

FileCounts CountFiles(const std::vector<IncidentFile>& files) {
  FileCounts counts;
  for (const IncidentFile& file : files) {
    if (!file.checkpoint) continue;
    ++counts.checkpoints;
    counts.as_recorded += file.state == FileState::kAsRecorded ? 1 : 0;
    counts.changed += file.state == FileState::kChanged ? 1 : 0;
    counts.missing += file.state == FileState::kMissing ? 1 : 0;
    counts.not_kept += file.state == FileState::kNotKept ? 1 : 0;
    counts.absent +=
        file.state != FileState::kAsRecorded && file.state != FileState::kChanged ? 1 : 0;
  }
  return counts;
}

std::string FilesWords(const FileCounts& counts) {
  if (counts.checkpoints == 0) return "its record has no checkpoint";
  if (counts.as_recorded == counts.checkpoints) {
    return fmt::format("its {} {} as recorded", Counted(counts.checkpoints, "checkpoint file"),
                       counts.checkpoints == 1 ? "is" : "are");
  }
  if (counts.not_kept == counts.checkpoints) {
    return fmt::format("its record does not say where its {} {} kept (--artifacts)",
                       Counted(counts.checkpoints, "checkpoint file"),
                       counts.checkpoints == 1 ? "is" : "are");
  }
  if (counts.missing == counts.checkpoints) {
    return fmt::format("its {} not found",
                       counts.checkpoints == 1
                           ? std::string("checkpoint file was")
                           : fmt::format("{} checkpoint files were", counts.checkpoints));
  }
  if (counts.changed == counts.checkpoints) {
    return counts.checkpoints == 1
               ? std::string("its checkpoint file is not the recorded one")
               : fmt::format("none of its {} checkpoint files is the recorded one",
                             counts.checkpoints);
  }
  return fmt::format("of its {}, {} {} as recorded, {} {} changed and {} {} not available",
                     Counted(counts.checkpoints, "checkpoint file"), counts.as_recorded,
                     counts.as_recorded == 1 ? "is" : "are", counts.changed,
                     counts.changed == 1 ? "is" : "are", counts.absent,
                     counts.absent == 1 ? "is" : "are");
}

std::string RollbackWords(const IncidentFacts& in, const IncidentRollback& rollback) {
  if (rollback.state == RollbackState::kNotRun) {
    if (!in.nowhere.empty()) {
      return fmt::format("it {} rerun: {}", in.planned ? "would not be" : "was not", in.nowhere);
    }
    if (!in.rerun) {
      return in.planned ? "it would not be rerun, so that the way back would not be proven"
                        : "it was not rerun, so that the way back is not proven";
    }
    return fmt::format("it would be rerun, {}, about {} s",
                       Counted(static_cast<std::uint64_t>(rollback.reruns), "rerun"),
                       FormatNumber(rollback.rerun_seconds, 3));
  }
  if (in.rollback && in.rollback->interrupted)
    return "its rerun was interrupted, so nothing is shown";
  if (!rollback.verdict) return rollback.headline;
  return fmt::format("rerun now, it is {}: {}", VerdictLabel(*rollback.verdict), rollback.headline);
}

std::string WhyNone(const IncidentFacts& in) {
  if (in.found.members.empty()) return "it has no other run";
  std::size_t retired = 0, later = 0, bad = 0, never = 0, open = 0;
  for (const FamilyMember& one : in.found.members) {
    const bool good = one.good && !one.bad;
    ++(one.entry.retired        ? retired
       : good                   ? later
       : one.bad                ? bad
       : one.entry.last_verdict ? open
                                : never);
  }
  std::vector<std::string> parts;
  const auto tell = [&](std::size_t count, const char* is, const char* are, std::string_view what) {
    if (count > 0) parts.push_back(fmt::format("{} {} {}", count, count == 1 ? is : are, what));
  };
  tell(bad, "is", "are", "bad");
  tell(never, "was", "were", "never drilled");
  tell(open, "was", "were", "left open by every drill");
  tell(retired, "is", "are", "retired");
  if (const FamilyMember* near = NearestNewerGood(in.found, in.run.started); near != nullptr) {
    tell(later, "is good, but was", "are good, but were",
         "recorded later: --good " + near->entry.run_id);
  }
  std::string text = "of " + Counted(in.found.members.size(), "other run");
  for (std::size_t i = 0; i < parts.size(); ++i) {
    text += (i == 0 ? " " : i + 1 == parts.size() ? " and " : ", ") + parts[i];
  }
  return text;
}

}  // namespace

IncidentRollback RollbackOf(const IncidentFacts& in) {
  IncidentRollback rollback;
  if (!in.good) return rollback;
  rollback.state = RollbackState::kNotRun;
  if (!in.not_rerun.empty()) {
    rollback.state = RollbackState::kFailed;
    rollback.headline = "it could not be rerun: " + in.not_rerun;
    return rollback;
  }
  rollback.reruns = in.planned_reruns;
  rollback.rerun_seconds = in.planned_seconds;
  if (!in.rollback) return rollback;
  rollback.drill_id = in.rollback->drill_id;
  rollback.reruns = 0;
  rollback.rerun_seconds = 0.0;
  rollback.state = RollbackState::kFailed;
  const auto run = std::ranges::find(in.rollback->runs, in.good->run_id, &ReportRun::run_id);
  if (run == in.rollback->runs.end()) {
    rollback.headline = "the rollback drill did not reach it";
    return rollback;
  }
  for (const ReportRerun& rerun : run->reruns) {
    ++rollback.reruns;
    rollback.rerun_seconds += rerun.wall_seconds;
  }
  rollback.verdict = run->verdict;
  rollback.headline = run->headline;
  if (in.rollback->interrupted) return rollback;
  const int code = ExitCodeOf({run->verdict});
  rollback.state = code == 0   ? RollbackState::kProven
                   : code == 1 ? RollbackState::kRefuted
                   : code == 3 ? RollbackState::kOpen
                               : RollbackState::kFailed;
  return rollback;
}

namespace {

void TellFiles(const IncidentFacts& in, IncidentAnswer* answer) {
  constexpr std::string_view kHashed = "its files, hashed now";
  constexpr std::size_t kMostTold = 3;
  answer->facts.push_back({FilesWords(CountFiles(in.files.files)), std::string(kHashed)});
  std::size_t told = 0;
  for (const IncidentFile& file : in.files.files) {
    const bool gone =
        file.checkpoint && (file.state == FileState::kMissing || file.state == FileState::kNotRead);
    if (file.state == FileState::kChanged) {
      answer->facts.push_back(
          {fmt::format("{} is not the recorded file: {}", file.path, file.words),
           std::string(kHashed)});
    } else if (gone && told++ < kMostTold) {
      answer->facts.push_back(
          {fmt::format("{}: {}", file.path, file.words), "its files, looked for now"});
    }
  }
  for (const IncidentSignature& one : in.files.signatures) {
    answer->facts.push_back(
        {fmt::format("{}: {}", SpacedName(NameIn(kSignatureStateNames, one.state)), one.words),
         one.file});
  }
  if (in.files.signatures.empty()) answer->not_known = "nothing signed lies there";
}

void TellRerun(const IncidentFacts& in, const IncidentRollback& rollback, IncidentAnswer* answer) {
  const std::string words = RollbackWords(in, rollback);
  const std::string drill = "rollback drill " + rollback.drill_id;
  if (in.rollback) {
    answer->facts.push_back({words, drill});
    if (rollback.state != RollbackState::kProven) return;
    answer->facts.push_back({"the rerun's outputs lie in the work folder, drill/runs/" +
                                 in.good->run_id + "/1/artifacts",
                             drill});
  } else if (!in.not_rerun.empty()) {
    answer->facts.push_back({words, "the rollback drill, which was not begun"});
  } else if (in.planned) {
    answer->facts.push_back({words, "the plan of the rollback drill"});
  } else {
    answer->not_known += (answer->not_known.empty() ? "" : "; ") + words;
  }
}

}  // namespace

IncidentAnswer WayBack(const IncidentFacts& in, const IncidentRollback& rollback) {
  IncidentAnswer answer{
      "way_back", "Which run is the last good one, and does it reproduce today?", {}, {}};
  if (in.newer_good > 0) {
    answer.facts.push_back(
        {fmt::format("{} of the family {} newer than {}: --good may name {}",
                     Counted(in.newer_good, "good run"), in.newer_good == 1 ? "is" : "are",
                     in.run.run_id, in.newer_good == 1 ? "it" : "one"),
         "history: last verdicts of the family"});
  }
  if (!in.good) {
    answer.facts.push_back({"the family has no usable last good run: " + WhyNone(in),
                            "history: last verdicts of the family"});
    return answer;
  }
  const FamilyMember& member = in.found.members.at(*in.found.chosen);
  answer.facts.push_back(
      {fmt::format("{} is the run to go back to{}: recorded {}, {} on {}", in.good->run_id,
                   in.named ? ", which --good names" : "", FormatMinute(in.good->started),
                   VerdictLabel(member.good->verdict), FormatMinute(member.good->decided)),
       "history: verdict of drill " + member.good->drill_id});
  for (const PassedRun& one : in.passed) {
    answer.facts.push_back({fmt::format("{} is newer and good, but {}", one.run_id, one.damage),
                            "its files, hashed now"});
  }
  TellFiles(in, &answer);
  TellRerun(in, rollback, &answer);
  return answer;
}

int ExitCodeOfIncident(const IncidentFacts& in, const IncidentRollback& rollback) {
  if (in.files.tampered || in.older_tampered) return 5;
  if (std::ranges::any_of(in.passed, &PassedRun::tampered)) return 5;
  if (!in.good) return 3;
  if (in.planned) return in.nowhere.empty() ? 0 : 3;
  if (rollback.state == RollbackState::kProven) return 0;
  if (rollback.state == RollbackState::kRefuted) return 1;
  return rollback.state == RollbackState::kFailed ? 4 : 3;
}

namespace {

// Of a run that is good: that comes first.
std::string NotBad(const IncidentFacts& in) {
  const RunOutlook outlook = Summarize(in.run_history);
  const std::vector<StoredVerdict>& verdicts = in.run_history.verdicts;
  const bool open = !IsConclusive(verdicts.back().verdict);
  return fmt::format(
      "{} is not bad: its last verdict{} is {}; nothing went bad that the history knows of",
      in.run.run_id, open ? " that says something" : "",
      VerdictLabel(verdicts.at(*outlook.last_good).verdict));
}

std::string GoodOfHeadline(const IncidentFacts& in) {
  if (in.named) return fmt::format("{} is the run that --good names", in.good->run_id);
  std::string text =
      fmt::format("{} is the last good run before {}", in.good->run_id, in.run.run_id);
  if (in.passed.empty()) return text;
  return text + fmt::format(" whose files are whole ({} is newer, but {}{})",
                            in.passed.front().run_id, in.passed.front().damage,
                            in.passed.size() > 1
                                ? fmt::format(", and so on for {} more", in.passed.size() - 1)
                                : "");
}

}  // namespace

std::string HeadlineOf(const IncidentFacts& in, const IncidentRollback& rollback) {
  std::string before = RunIsGood(in) ? NotBad(in) + ". " : std::string();
  if (in.run_history.run.retired) before = in.run.run_id + " is retired. " + before;
  if (!in.good) {
    return fmt::format("{}The family of {} has no usable last good run: {}.", before, in.run.run_id,
                       WhyNone(in));
  }
  std::string text = GoodOfHeadline(in);
  if (in.files.tampered) {
    text += ", and " + in.files.damage;
  } else {
    text += "; " + FilesWords(CountFiles(in.files.files));
  }
  std::string words = RollbackWords(in, rollback);
  while (words.ends_with('.')) words.pop_back();
  return fmt::format("{}{}; {}.", before, text, words);
}

}  // namespace rharness
