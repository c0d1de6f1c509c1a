// The members of a certificate of a game day.
//
// Role: private to reports/; each list writes, reads and describes.
#ifndef RHARNESS_REPORTS_SENSITIVITY_MEMBERS_H_
#define RHARNESS_REPORTS_SENSITIVITY_MEMBERS_H_

#include "harness/base/json_members.h"
#include "harness/base/json_reader.h"
#include "reports/sensitivity.h"

namespace rharness {

template <class Io, Is<SensitivityRate> T>
void Members(Io& io, T& rate) {
  io.Noun(
      "Trials of one kind, and how many of them were called. Of a fault a call is that it was "
      "found; where nothing is planted, that a drill called all the same.");
  io.Must("name", rate.name,
          "A fault as --fault takes it, or what was done without one: same, stored_flips.");
  io.Must("words", rate.words, "The same for people: a learning rate 5 % lower.");
  io.Must("trials", rate.trials, Count("Runs that it was tried in."));
  io.Must("found", rate.found,
          Count("Called: drifted or not comparable; where nothing is planted, failed, too."));
  io.Must("undecided", rate.undecided, Count("Neither called nor passed."));
  io.May("equal", rate.equal, Count("Of pairs: equal bit for bit. Left out: none."));
  io.May("not_made", rate.not_made,
         Count("Could not be carried out, or judged; none of the trials."));
  io.Must("low", rate.low, Share("Of found / trials, the lower end of the interval."));
  io.Must("high", rate.high, Share("The upper end."));
  io.Must("enough", rate.enough, "The interval is as narrow as was asked for.");
  io.May(
      "more_runs", rate.more,
      Count(
          "Further runs of the configuration that would make it so; left out: none is known to."));
  io.May("cannot", rate.cannot, "Why there are no trials.");
  io.May("example", rate.example, "Of the first that passed, else of the first that was found.");
}

template <class Io, Is<SensitivityFamily> T>
void Members(Io& io, T& family) {
  io.Noun("The runs of one configuration.");
  io.Must("name", family.name, "For people.");
  io.Must("family", family.family);
  io.Must("configuration", family.configuration,
          "SHA-256 over what makes runs replicates of each other.");
  io.Must("declared", family.declared,
          About("What the runs promise.").OneOf("bitwise statistical"));
  io.Must("tolerances", family.tolerances,
          "SHA-256 of what the verdicts are decided by; a certificate holds while it is the same.");
  io.Must("runs", family.runs, Count("In which faults were planted."));
  io.May("together", family.together,
         Count("Runs that were judged as one drill, all with the fault."));
  io.May("beside", family.beside, Count("Further runs of such a drill, without it."));
  io.List("faults", family.faults);
  io.List("unchanged", family.unchanged, "False alarms and flips.");
}

template <class Io, Is<Sensitivity> T>
void Members(Io& io, T& sensitivity) {
  io.Schema("rharness.sensitivity", kSensitivityVersion);
  io.Must("gameday_id", sensitivity.gameday_id);
  io.Must("version", sensitivity.version, "Of the program: a certificate holds for this one.");
  io.MayTime("made", sensitivity.made, "RFC 3339, UTC.");
  io.May("host", sensitivity.host, "Where the trials ran.");
  io.Must("reruns", sensitivity.reruns, Count("Of each run, as it was drilled."));
  io.Must("confirm", sensitivity.confirm, "A drift of a single rerun was confirmed.");
  io.Must("width", sensitivity.width, Share("Of an interval that is told, at most."));
  io.Must("confidence", sensitivity.confidence, Share("Of the intervals (Clopper and Pearson)."));
  io.List("families", sensitivity.families);
}

// Counts and intervals must agree.
void CheckRead(JsonReader& reader, const SensitivityRate& rate);

}  // namespace rharness

#endif  // RHARNESS_REPORTS_SENSITIVITY_MEMBERS_H_
