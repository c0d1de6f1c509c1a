// rharness-more: every verb of the command line. See program.h.
#include <vector>

#include "harness/cli/history_verbs.h"
#include "harness/cli/program.h"
#include "harness/cli/verb.h"

namespace rharness {
namespace {

void AddWholeHistory(Command& root) {
  AddHistory(root);
  Command& history = *root.verbs().back();
  AddHistoryTrends(history);
  AddHistoryRetire(history);
  AddHistoryPrune(history);
}

struct VerbGroup {
  const char* title;
  std::vector<void (*)(Command&)> add;
};

// As `rharness help` lists them: what a run goes through, then what is built on its verdicts.
const std::vector<VerbGroup>& VerbGroups() {
  static const std::vector<VerbGroup> groups = {
      {"Record runs", {AddRecord, AddImport, AddCheck, AddWholeHistory, AddFetch}},
      {"Rerun them", {AddDrill, AddIsolate, AddProperties, AddGameday}},
      {"Compare", {AddCompare, AddHash}},
      {"Roll out", {AddProbe, AddGate, AddPolicy}},
      {"Operate", {AddSlo, AddServe, AddIncident, AddExplain, AddReport}},
      {"Prove", {AddSign, AddVerify, AddAudit}},
      {"Plumbing", {AddRerun, AddStats, AddDocuments, AddVersion}},
  };
  return groups;
}

void AddVerbs(Command& root) {
  for (const VerbGroup& group : VerbGroups()) {
    root.VerbGroup(group.title);
    for (const auto add : group.add) add(root);
  }
  AddHelp(root, Program());
}

}  // namespace
}  // namespace rharness

int main(int argc, char** argv) { return rharness::RunProgram(rharness::AddVerbs, argc, argv); }
