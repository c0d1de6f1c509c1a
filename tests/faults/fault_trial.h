// A drill of two tiny runs, one of which drifts, that something goes wrong in, and what became of
// it.
#ifndef RHARNESS_TESTS_FAULTS_FAULT_TRIAL_H_
#define RHARNESS_TESTS_FAULTS_FAULT_TRIAL_H_

#include <map>
#include <string>
#include <vector>

#include "tests/cli/drill_program.h"

namespace rharness {

// What is wrong with a trial, by kind; all empty: nothing.
struct TrialEnd {
  std::string wrong;  // another verdict than without a fault, in the report or in the history
  std::string stuck;  // neither resuming nor starting anew brings it to its end
  std::string lost;   // a finished rerun repeated, a row doubled or missing, strays left behind
  bool ok() const { return wrong.empty() && stuck.empty() && lost.empty(); }
};

// With the shim in front, which makes this fault; empty: none.
ProcessResult RunWithFault(ProcessSpec spec, const std::string& fault);

class FaultTrial : public DrillProgram {
 protected:
  FaultTrial();

  // Records "a", which reproduces, and "d", which does not, of weights of so many bytes.
  void RecordBoth(std::size_t weights_bytes);
  // A history as it was after recording, and no drill yet.
  void Reset();
  // fault: the shim's; empty: none.
  ProcessResult RunDrill(const std::string& fault, bool resume);
  // What the drill said before it is recovered, then resumes it (or starts it where none began),
  // and looks at everything that is left.
  TrialEnd Examine(const ProcessResult& faulty);

  int Drills() const;  // entries in the history

  std::filesystem::path Trial(const std::string& name) const { return At("trial/" + name); }

  int jobs_ = 1;  // reruns side by side

 private:
  std::string ReportWrong(bool finished) const;
  std::string HistoryWrong(bool finished) const;
  std::string Lost() const;
  std::size_t weights_bytes_ = 0;
};

// How many of a kind: from the environment variable RHARNESS_FAULTS, "all" or a number, or this.
std::vector<long> SampleOf(long count, long by_default);

}  // namespace rharness

#endif  // RHARNESS_TESTS_FAULTS_FAULT_TRIAL_H_
