// The way back in sentences; see way_back.h.
#include "harness/incident/way_back.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/base/clock.h"
#include "reports/text.h"
#include "reports/words.h"

namespace rharness {
namespace {

struct FileCounts {
  std::size_t checkpoints = 0, as_recorded = 0, changed = 0, absent = 0, not_kept = 0;
};

FileCounts CountFiles(const std::vector<IncidentFile>& files) {
  FileCounts counts;
  for (const IncidentFile& file : files) {
    if (!file.checkpoint) continue;
    ++counts.checkpoints;
    counts.as_recorded += file.state == "as_recorded" ? 1 : 0;
    counts.changed += file.state == "changed" ? 1 : 0;
    counts.not_kept += file.state == "not_kept" ? 1 : 0;
    counts.absent += file.state != "as_recorded" && file.state != "changed" ? 1 : 0;
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
  return fmt::format("of its {}, {} as recorded, {} changed and {} not to be had",
                     Counted(counts.checkpoints, "checkpoint file"), counts.as_recorded,
                     counts.changed, counts.absent);
}

std::string RollbackWords(const IncidentFacts& in, const IncidentRollback& rollback) {
  if (rollback.state == "not_run") {
    return in.planned ? fmt::format("it would be rerun, {}, about {} s",
                                    Counted(static_cast<std::uint64_t>(rollback.reruns), "rerun"),
                                    FormatNumber(rollback.rerun_seconds, 3))
                      : "it was not rerun, so that the way back is not proven";
  }
  if (in.rollback && in.rollback->interrupted)
    return "its rerun was interrupted, so that nothing is proven";
  if (!rollback.verdict) return rollback.headline;
  return fmt::format("rerun now, it is {}: {}", VerdictLabel(*rollback.verdict), rollback.headline);
}

std::string WhyNone(const IncidentFacts& in) {
  std::size_t bad = 0, never = 0;
  for (const FamilyMember& one : in.found.members) {
    bad += one.bad ? 1 : 0;
    never += one.entry.last_verdict.empty() ? 1 : 0;
  }
  if (in.found.members.empty()) return "it has no other run";
  return fmt::format("of {} {} bad, and {} never drilled",
                     Counted(in.found.members.size(), "other run"),
                     bad == 1 ? "1 is" : fmt::format("{} are", bad),
                     never == 1 ? "1 was" : fmt::format("{} were", never));
}

}  // namespace

IncidentRollback RollbackOf(const IncidentFacts& in) {
  IncidentRollback rollback;
  if (!in.good) return rollback;
  rollback.state = "not_run";
  if (!in.not_rerun.empty()) {
    rollback.state = "failed";
    rollback.headline = "it could not be rerun: " + in.not_rerun;
    return rollback;
  }
  rollback.reruns = in.planned_reruns;
  rollback.rerun_seconds = in.planned_seconds;
  if (!in.rollback) return rollback;
  rollback.drill_id = in.rollback->drill_id;
  rollback.reruns = 0;
  rollback.rerun_seconds = 0.0;
  rollback.state = "failed";
  const auto run = std::ranges::find(in.rollback->runs, in.good->run_id, &ReportRun::run_id);
  if (run == in.rollback->runs.end()) {
    rollback.headline = "the rollback drill did not come to it";
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
  rollback.state = code == 0 ? "proven" : code == 1 ? "refuted" : code == 3 ? "open" : "failed";
  return rollback;
}

IncidentAnswer WayBack(const IncidentFacts& in, const IncidentRollback& rollback) {
  IncidentAnswer answer{
      "way_back", "Which run is the last good one, and does it reproduce today?", {}, {}};
  if (!in.good) {
    answer.not_known = "no run of the family can be gone back to: " + WhyNone(in);
    return answer;
  }
  const FamilyMember& member = in.found.members.at(*in.found.chosen);
  answer.facts.push_back({fmt::format("{} is the run to go back to: recorded {}, {} on {}",
                                      in.good->run_id, FormatMinute(in.good->started),
                                      member.good->verdict, FormatMinute(member.good->decided)),
                          "history: verdict of drill " + member.good->drill_id});
  for (const PassedRun& one : in.passed) {
    answer.facts.push_back({fmt::format("{} is newer and good, but {}", one.run_id, one.damage),
                            "its files, hashed now"});
  }
  answer.facts.push_back({FilesWords(CountFiles(in.files.files)), "its files, hashed now"});
  for (const IncidentFile& file : in.files.files) {
    if (file.state != "changed") continue;
    answer.facts.push_back({fmt::format("{} is not the recorded file: {}", file.path, file.words),
                            "its files, hashed now"});
  }
  for (const IncidentSignature& one : in.files.signatures) {
    answer.facts.push_back({fmt::format("{}: {}", one.state, one.words), one.file});
  }
  if (in.files.signatures.empty())
    answer.not_known = "who answers for them: nothing signed lies there";
  const std::string words = RollbackWords(in, rollback);
  if (in.rollback) {
    answer.facts.push_back({words, "rollback drill " + rollback.drill_id});
    if (rollback.state == "proven") {
      answer.facts.push_back({"what the rerun wrote lies in the work folder, drill/runs/" +
                                  in.good->run_id + "/1/artifacts",
                              "rollback drill " + rollback.drill_id});
    }
  } else if (!in.not_rerun.empty()) {
    answer.facts.push_back({words, "the rollback drill, which was not begun"});
  } else {
    answer.not_known += (answer.not_known.empty() ? "" : "; ") + words;
  }
  return answer;
}

int ExitCodeOfIncident(const IncidentFacts& in, const IncidentRollback& rollback) {
  if (in.files.tampered || std::ranges::any_of(in.passed, &PassedRun::tampered)) return 5;
  if (!in.good) return 3;
  if (in.planned) return 0;
  if (rollback.state == "proven") return 0;
  if (rollback.state == "refuted") return 1;
  return rollback.state == "failed" ? 4 : 3;
}

std::string HeadlineOf(const IncidentFacts& in, const IncidentRollback& rollback) {
  if (!in.good) {
    return fmt::format("No run of the family of {} can be gone back to: {}.", in.run.run_id,
                       WhyNone(in));
  }
  std::string text =
      fmt::format("{} is the last good run before {}", in.good->run_id, in.run.run_id);
  if (!in.passed.empty()) {
    text += fmt::format(
        " whose files are whole ({} is newer, but {}{})", in.passed.front().run_id,
        in.passed.front().damage,
        in.passed.size() > 1 ? fmt::format(", and so on for {} more", in.passed.size() - 1) : "");
  }
  if (in.files.tampered) {
    text += ", and " + in.files.damage;
  } else {
    text += "; " + FilesWords(CountFiles(in.files.files));
  }
  std::string words = RollbackWords(in, rollback);
  while (words.ends_with('.')) words.pop_back();
  return fmt::format("{}; {}.", text, words);
}

std::string NextOf(const IncidentFacts& in, const IncidentRollback& rollback) {
  if (!in.good) {
    const auto never = std::ranges::find_if(in.found.members, [](const FamilyMember& one) {
      return one.entry.last_verdict.empty() && !one.entry.retired;
    });
    if (never != in.found.members.end()) {
      return fmt::format("drill {}: rharness drill --history URL --select 'run_id = {}' --out DIR",
                         never->entry.run_id, never->entry.run_id);
    }
    return fmt::format(
        "look for what made them drift: rharness isolate {} --history URL --against "
        "DIR --out why",
        in.run.run_id);
  }
  if (in.files.tampered) {
    return "do not go back to these files: find out who changed them; what the rollback rerun "
           "wrote is compared with the record by rharness compare";
  }
  if (rollback.state == "proven") {
    std::string damaged;
    for (const PassedRun& one : in.passed) {
      if (one.tampered) damaged = fmt::format("find out who changed the files of {}, ", one.run_id);
    }
    return fmt::format(
        "go back to {}, {}then look for the cause: rharness isolate {} --history URL "
        "--against DIR --out why",
        in.good->run_id, damaged, in.run.run_id);
  }
  if (rollback.state == "refuted") {
    return fmt::format(
        "what reruns of {} differ in is of where they run, not of {}: rharness "
        "isolate {} --history URL --against DIR --out why",
        in.good->run_id, in.run.run_id, in.good->run_id);
  }
  if (rollback.state == "not_run") {
    return fmt::format("prove the way back: rharness incident {} --history URL --out DIR",
                       in.run.run_id);
  }
  if (!in.not_rerun.empty()) {
    return fmt::format(
        "mend what keeps it from being rerun, then again into another folder: "
        "rharness incident {} --history URL --out DIR",
        in.run.run_id);
  }
  return "see rollback/report.html for why nothing is shown, and rerun";
}

}  // namespace rharness
