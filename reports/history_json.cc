// Histories as JSON, "rharness.history/v1": a list of runs, one run, one family.
#include <optional>
#include <utility>

#include "reports/history_family_members.h"
#include "reports/history_members.h"
#include "reports/history_report.h"

namespace rharness {

void VerdictMembers(MemberWriter& io, const FamilyVerdicts& verdicts) {
  io.Must("verdicts", ArrayOf(verdicts, [](const std::optional<Verdict>& verdict) {
            return verdict ? Json(VerdictName(*verdict)) : Json();
          }));
}

Json ToJson(const std::vector<HistoryRun>& runs, const std::vector<LastTogether>& together) {
  return MemberWriter::Written(HistoryRuns{runs, together});
}

Json ToJson(const RunHistory& history) { return MemberWriter::Written(history); }

Json ToJson(const FamilyHistory& history) { return MemberWriter::Written(history); }

}  // namespace rharness
