// Files that retention rules would delete or keep, with reasons. Model and writers.
//
// Role: pure; harness/trust/retention fills it.
#ifndef RHARNESS_REPORTS_RETENTION_REPORT_H_
#define RHARNESS_REPORTS_RETENTION_REPORT_H_

#include <string>
#include <vector>

#include "harness/base/json.h"
#include "harness/base/member_facts.h"
#include "reports/deletion_list.h"

namespace rharness {

struct KeptRun {
  std::string run_id;
  std::string family;
  std::string why;
};

// A file that its runs release and that is kept all the same.
struct KeptFile {
  std::string run_id;
  std::string path;
  std::string why;
};

struct RetentionReport {
  std::string history;
  std::string policy;
  DeletionList list;
  std::vector<KeptRun> kept_runs;       // by run_id
  std::vector<KeptFile> kept_files;     // by path
  std::vector<std::string> idle_holds;  // holds of the policy that name no run, in words
};

// "rharness.retention/v1".
Json ToJson(const RetentionReport& report);
// Of a request: signed by one person, by two, too late for either, taken back; files of it are
// gone, or may be; all had their turn; the history does not say what was signed.
enum class DeletionState { kAsked, kApproved, kExpired, kWithdrawn, kBegun, kDone, kDoubtful };
inline constexpr NameTable<DeletionState, 7> kDeletionStateNames = {
    {{DeletionState::kAsked, "asked"},
     {DeletionState::kApproved, "approved"},
     {DeletionState::kExpired, "expired"},
     {DeletionState::kWithdrawn, "withdrawn"},
     {DeletionState::kBegun, "begun"},
     {DeletionState::kDone, "done"},
     {DeletionState::kDoubtful, "doubtful"}}};
// A request to delete the files of one list, and its state: "rharness.deletions/v1".
struct DeletionTold {
  std::string list_sha256;
  DeletionState state = DeletionState::kAsked;
  std::string reason;
  std::string asked_by;
  std::string asked;        // times as RFC 3339; empty: none
  std::string approved_by;  // empty: nobody
  std::string expires;
  std::uint64_t items = 0;
  std::uint64_t bytes = 0;
  std::uint64_t deleted = 0;     // of these items
  std::uint64_t stays = 0;       // of these items: they had changed by then
  std::string begun;             // start of the deletion; empty: not started
  std::string last;              // time of the last file handled
  std::string ended_by;          // who withdrew it; empty: nobody
  std::string ended_reason;      // why
  std::string doubt;             // the doubt, in a sentence
  std::string statement_sha256;  // the last signed statement for it; not in the JSON
};
Json ToJson(const std::vector<DeletionTold>& deletions);
std::string WriteTerminal(const std::vector<DeletionTold>& deletions);  // a line each
std::string LineOf(const DeletionTold& told);
// "was carried out at T: 2 of 2 files are gone; asked for by Ada, approved by Bob", for one that is
// "done".
std::string CarriedOutWords(const DeletionTold& told);

// Each file with its bytes, the reason, and the loss; then kept files with reasons. `told`: the
// state of this list; nullptr: not known.
std::string WriteTerminal(const RetentionReport& report, int columns = 80,
                          const DeletionTold* told = nullptr);

}  // namespace rharness

#endif  // RHARNESS_REPORTS_RETENTION_REPORT_H_
