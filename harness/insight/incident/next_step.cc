// The next command, completed with known values; see next_step.h.
#include "harness/insight/incident/next_step.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "harness/base/shell_word.h"
#include "harness/insight/incident/changes.h"
#include "reports/history_summary.h"

namespace rharness {
namespace {

// `--history H --root R`, as they were given.
std::string PlaceWords(const IncidentFacts& in) {
  std::string text = " --history " + ShellWord(in.given.history);
  if (!in.given.root.empty()) text += " --root " + ShellWord(in.given.root);
  return text;
}

std::string IncidentAgain(const IncidentFacts& in) {
  std::string text = fmt::format("rharness incident {}{}", in.run.run_id, PlaceWords(in));
  if (!in.given.policy.empty()) text += " --policy " + ShellWord(in.given.policy);
  return text;
}

std::string IsolateCommand(const IncidentFacts& in, const std::string& run,
                           const std::string& against) {
  return fmt::format("rharness isolate {}{} --against {} --out why", run, PlaceWords(in),
                     ShellWord(against));
}

std::string DrillCommand(const IncidentFacts& in, const std::string& run, std::string_view more) {
  return fmt::format("rharness drill{} --select 'run_id = {}'{} --out drill-{}", PlaceWords(in),
                     run, more, run);
}

// `since`: why there is nothing to put back.
std::string RerunMore(const IncidentFacts& in, std::string_view since) {
  const std::string& run = in.run.run_id;
  std::string text =
      fmt::format("rerun {} several times and see whether the reruns agree, since {}: {}", run,
                  since, DrillCommand(in, run, " --reruns 5"));
  if (in.planned) return text;  // there is no bundle
  return text + fmt::format(
                    "; and see where a rerun parts from the record: rharness compare --trace {} "
                    "{}{} --out where",
                    ShellWord(in.given.out + "/manifests/run.json"),
                    fmt::format("drill-{}/runs/{}/1", run, run),
                    in.given.root.empty() ? std::string() : " --root " + ShellWord(in.given.root));
}

std::string WhyNothingDiffers(const IncidentFacts& in, ChangeBetween between) {
  if (between == ChangeBetween::kDrills) {
    return "nothing that is recorded differs between its last good drill and the first bad one";
  }
  if (between == ChangeBetween::kRecord) {
    return "nothing that is recorded differs between its record and where the first bad drill "
           "reran it";
  }
  return fmt::format("nothing {} differs from {}",
                     SeedsAloneDiffer(in) ? "but the seeds" : "that is recorded", in.good->run_id);
}

const StoredVerdict& FirstBad(const IncidentFacts& in) {
  const std::optional<std::size_t> bad = Summarize(in.run_history).first_bad;
  return in.run_history.verdicts.at(bad.value_or(in.run_history.verdicts.size() - 1));
}

// Of a run that a drill found bad: one change is tried by hand, and several are searched.
std::string PutBack(const IncidentFacts& in, const std::vector<std::string>& words) {
  const std::string& run = in.run.run_id;
  if (words.size() == 1) {
    return fmt::format("put back what changed ({}), then drill it again: {}", words.front(),
                       DrillCommand(in, run, ""));
  }
  return fmt::format(
      "put back what changed, one at a time, beginning with {} (and {} more), or let a search do "
      "it: {}",
      words.front(), words.size() - 1, IsolateCommand(in, run, FirstBad(in).drill_id));
}

// The search for the cause of the drift: between reruns of the run itself, and between another run
// and this one only if no drill judged it.
std::string LookForCause(const IncidentFacts& in) {
  const std::string& run = in.run.run_id;
  if (in.run_history.run.retired) {
    return fmt::format("there is nothing to do for {}, which is retired", run);
  }
  const std::optional<KnownChange> change = ChangeOf(in);
  const std::vector<std::string> words =
      change ? WordsOf(change->layers) : std::vector<std::string>();
  if (change && words.empty()) return RerunMore(in, WhyNothingDiffers(in, change->between));
  if (change && change->between != ChangeBetween::kRuns) return PutBack(in, words);
  if (change) {
    return "look for the cause: " +
           IsolateCommand(in, in.good->run_id, in.given.out + "/manifests/run.json");
  }
  if (in.run_history.verdicts.empty()) return "drill it: " + DrillCommand(in, run, "");
  // The history does not have the places of its drills.
  return fmt::format("drill it again, and look for the cause there: {}; {}",
                     DrillCommand(in, run, ""), IsolateCommand(in, run, "drill-" + run));
}

std::string NextWithoutGood(const IncidentFacts& in) {
  const auto never = std::ranges::find_if(in.found.members, [](const FamilyMember& one) {
    return !one.entry.last_verdict && !one.entry.retired;
  });
  if (in.newer_good > 0) {
    return fmt::format("go back to a run that was recorded later: {} --good {} --out OTHER",
                       IncidentAgain(in), NearestNewerGood(in.found, in.run.started)->entry.run_id);
  }
  if (never == in.found.members.end()) return LookForCause(in);
  return fmt::format("drill {}: {}", never->entry.run_id,
                     DrillCommand(in, never->entry.run_id, ""));
}

std::string NextOfProven(const IncidentFacts& in) {
  std::string damaged;
  for (const PassedRun& one : in.passed) {
    if (one.tampered) damaged = fmt::format("find out who changed the files of {}, ", one.run_id);
  }
  return fmt::format("go back to {}, {}then {}", in.good->run_id, damaged, LookForCause(in));
}

bool IsRelative(const std::string& path) {
  return !path.empty() && !path.starts_with('/') && path.find(':') == path.npos;
}

}  // namespace

bool NamesRelativePaths(const IncidentGiven& given) {
  return IsRelative(given.history) || IsRelative(given.root) || IsRelative(given.out);
}

bool RunIsGood(const IncidentFacts& in) {
  const RunOutlook outlook = Summarize(in.run_history);
  return outlook.last_good && !outlook.first_bad;
}

const StoredVerdict* TellingVerdict(const IncidentFacts& in) {
  const std::vector<StoredVerdict>& verdicts = in.run_history.verdicts;
  if (verdicts.empty()) return nullptr;
  if (IsConclusive(verdicts.back().verdict)) return &verdicts.back();
  const RunOutlook outlook = Summarize(in.run_history);
  return outlook.first_bad ? &verdicts.at(*outlook.first_bad) : &verdicts.back();
}

std::string NextOf(const IncidentFacts& in, const IncidentRollback& rollback) {
  if (in.rollback && in.rollback->interrupted) {
    return fmt::format("continue it: rharness incident --resume --history {} --out {}",
                       ShellWord(in.given.history), ShellWord(in.given.out));
  }
  if (in.good && in.files.tampered) {
    return "do not go back to these files: find out who changed them; compare the rollback rerun's "
           "outputs with the record by rharness compare";
  }
  if (RunIsGood(in)) {
    return fmt::format("nothing to do for {}: name the run that went bad, if it is a different one",
                       in.run.run_id);
  }
  if (!in.good) return NextWithoutGood(in);
  if (rollback.state == RollbackState::kProven) return NextOfProven(in);
  if (rollback.state == RollbackState::kRefuted) {
    return fmt::format("what reruns of {} differ in is of where they run, not of {}: {}",
                       in.good->run_id, in.run.run_id,
                       IsolateCommand(in, in.good->run_id, in.given.out + ".work/drill"));
  }
  if (!in.nowhere.empty()) {
    return fmt::format(
        "give the folder of the files, by --root or --artifacts, into another folder: {}{} --out "
        "OTHER; where they are lost, rerun it: {}",
        IncidentAgain(in), in.given.root.empty() ? " --root DIR" : " --artifacts DIR",
        DrillCommand(in, in.good->run_id, ""));
  }
  if (rollback.state == RollbackState::kNotRun) {
    return fmt::format("prove the way back: {} --out {}", IncidentAgain(in),
                       in.planned ? ShellWord(in.given.out) : "OTHER");
  }
  if (!in.not_rerun.empty()) {
    return "fix the obstacle to its rerun, then again into another folder: " + IncidentAgain(in) +
           " --out OTHER";
  }
  return "rollback/report.html says why nothing is shown; then rerun";
}

}  // namespace rharness
