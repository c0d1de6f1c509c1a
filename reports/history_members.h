// The members of a list of runs and of one run over many drills.
//
// Role: private to reports/; each list writes and describes.
#ifndef RHARNESS_REPORTS_HISTORY_MEMBERS_H_
#define RHARNESS_REPORTS_HISTORY_MEMBERS_H_

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "harness/base/json_members.h"
#include "reports/history_report.h"
#include "reports/history_run_members.h"
#include "reports/history_summary.h"
#include "reports/json_nouns.h"

namespace rharness {

// A change, with its verdicts instead of their places in the list.
struct ToldChange {
  VerdictPlace before;
  VerdictPlace after;
  bool known = false;
  std::array<LayerComparison, 5> layers;
};

inline std::vector<ToldChange> ChangesOf(const RunHistory& history) {
  std::vector<ToldChange> changes;
  for (const VerdictChange& one : history.changes) {
    changes.push_back({PlaceOf(history.verdicts.at(one.before)),
                       PlaceOf(history.verdicts.at(one.after)), one.known, one.layers});
  }
  return changes;
}

template <class Io, Is<LastTogether> T>
void Members(Io& io, T& one) {
  io.Must("family", one.family);
  io.Must("name", one.name);
  io.Object("last", one.last);
}

template <class Io, Is<ToldChange> T>
void Members(Io& io, T& one) {
  io.Noun("Two verdicts in a row that could tell, one good and one bad.");
  io.Object("before", one.before);
  io.Object("after", one.after);
  io.Must("known", one.known);
  io.MustPlain("sentences", ChangeWords(one.known, one.layers), "What changed, in words.");
  io.ListOrNull(one.known, "layers", one.layers,
                "The five layers; null: the history does not hold where both ran.");
}

// The list of runs.
struct HistoryRuns {
  std::vector<HistoryRun> runs;
  std::vector<LastTogether> together;
};

template <class Io, Is<HistoryRuns> T>
void Members(Io& io, T& list) {
  StartMembers(io, "runs");
  io.MustList("runs", list.runs);
  io.MustList("together", list.together,
              About("The last that drills said of each configuration of these families; absent in "
                    "older records.")
                  .Optional());
}

template <class Io, Is<RunHistory> T>
void Members(Io& io, T& history) {
  const RunOutlook outlook = Summarize(history);
  StartMembers(io, "run");
  io.Object("run", history.run);
  io.Must("answer", outlook.answer);
  io.Must("next_step", outlook.next_step);
  io.Object("last_good", PlaceAt(history, outlook.last_good),
            "One verdict of one drill; null: none.");
  io.Object("first_bad", PlaceAt(history, outlook.first_bad),
            "One verdict of one drill; null: none.");
  CountMembers(io, outlook.counts, "Verdicts by name; all seven are there.");
  io.Object("steadiness", outlook.steadiness);
  io.MustList("changes", ChangesOf(history), "Oldest first.");
  io.MustList("verdicts", history.verdicts, "Oldest first.");
  io.MustPlain("notes", history.notes);
  io.Must("manifest", history.manifest, "rharness.manifest/v1");
}

}  // namespace rharness

#endif  // RHARNESS_REPORTS_HISTORY_MEMBERS_H_
