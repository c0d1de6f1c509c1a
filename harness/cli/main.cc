// rharness-more: every verb of the command line. See program.h.
#include <vector>

#include "harness/cli/program.h"
#include "harness/cli/verb.h"

namespace rharness {
namespace {

struct VerbGroup {
  const char* title;
  std::vector<void (*)(Command&)> add;
};

// As `rharness help` lists them: what a run goes through, then what is built on its verdicts.
const std::vector<VerbGroup>& VerbGroups() {
  static const std::vector<VerbGroup> groups = {
      {"Record runs",
       {AddRecord, AddImport, AddComplete, AddAdmit, AddLint, AddRebuild, AddHistory, AddRetire,
        AddRetention, AddFetch}},
      {"Rerun them", {AddDrill, AddIsolate, AddProperties, AddGameday}},
      {"Compare", {AddCompare, AddHash}},
      {"Roll out", {AddProbe, AddGate, AddPolicy}},
      {"Operate",
       {AddSlo, AddAlerts, AddTrends, AddServe, AddIncident, AddRunbook, AddReport, AddPublish}},
      {"Prove", {AddAttest, AddVerify, AddAudit}},
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
