// An incident: a run, the last good run of its family, and whether the rollback to it was proven.
//
// Role: the model; harness/insight/incident fills it from the history, the files and the rollback
// drill, and decides every sentence. Each fact has its source. A Document of it has every format;
// index.html of the bundle links only to other files of the bundle.
#ifndef RHARNESS_REPORTS_INCIDENT_REPORT_H_
#define RHARNESS_REPORTS_INCIDENT_REPORT_H_

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compare/comparison.h"
#include "compare/facts.h"
#include "harness/base/clock.h"
#include "harness/base/json.h"
#include "harness/base/member_facts.h"
#include "harness/verdict/stored_verdict.h"
#include "reports/document.h"

namespace rharness {

struct IncidentFact {
  std::string text;    // one sentence
  std::string source;  // its place: "verdict of drill ID", "comparison", "policy"
};

// One of the postmortem's five.
struct IncidentAnswer {
  std::string key;       // "what_happened", "since_when", "what_changed", "way_back", "prevent"
  std::string question;  // for people
  std::vector<IncidentFact> facts;  // empty: not known
  std::string not_known;            // the unknown part, and who would know; may be empty
};

struct IncidentRun {
  std::string run_id;
  std::string declared;
  WallTime started{};
  std::optional<StoredVerdict> last;  // empty: no drill has judged it
};

// A run of the family that the search for the last good one considered.
struct IncidentCandidate {
  std::string run_id;
  WallTime started{};
  std::optional<Verdict> verdict;  // the last one; empty: no drill has judged it
  std::string why_not;             // why it is not the last good run; empty: it is
};

// A file of the last good run, compared with its record.
enum class FileState { kAsRecorded, kChanged, kMissing, kNotKept, kNotRead };
inline constexpr NameTable<FileState, 5> kFileStateNames = {
    {{FileState::kAsRecorded, "as_recorded"},
     {FileState::kChanged, "changed"},
     {FileState::kMissing, "missing"},
     {FileState::kNotKept, "not_kept"},
     {FileState::kNotRead, "not_read"}}};
struct IncidentFile {
  std::string path;  // in the run
  std::string role;
  FileState state = FileState::kNotRead;
  std::string words;  // one sentence
  bool checkpoint = false;
};

enum class SignatureState { kVerified, kRefused, kNotChecked };
inline constexpr NameTable<SignatureState, 3> kSignatureStateNames = {
    {{SignatureState::kVerified, "verified"},
     {SignatureState::kRefused, "refused"},
     {SignatureState::kNotChecked, "not_checked"}}};
struct IncidentSignature {
  std::string file;  // its name
  SignatureState state = SignatureState::kNotChecked;
  std::string words;
};

enum class RollbackState { kProven, kRefuted, kOpen, kFailed, kNotRun, kNone };
inline constexpr NameTable<RollbackState, 6> kRollbackStateNames = {
    {{RollbackState::kProven, "proven"},
     {RollbackState::kRefuted, "refuted"},
     {RollbackState::kOpen, "open"},
     {RollbackState::kFailed, "failed"},
     {RollbackState::kNotRun, "not_run"},
     {RollbackState::kNone, "none"}}};
struct IncidentRollback {
  RollbackState state = RollbackState::kNone;
  std::string drill_id;
  std::optional<Verdict> verdict;
  std::string headline;
  int reruns = 0;
  double rerun_seconds = 0.0;  // of all of them; in a plan the expected time
};

struct IncidentPage {
  std::string code;
  std::string title;
  std::string met_in;  // where the code was met
};

struct IncidentReport {
  std::string version;  // of rharness
  WallTime made{};
  std::string history;  // URL as given, without credentials
  std::string family;
  IncidentRun run;
  std::optional<IncidentRun> good;
  bool named = false;                         // it was, by --good
  std::vector<IncidentCandidate> candidates;  // the good one first, then by start, newest first
  std::size_t candidates_left_out = 0;
  std::string headline;
  std::string next;  // a command, or one sentence
  int exit_code = 3;
  bool planned = false;
  bool interrupted = false;
  std::vector<IncidentAnswer> answers;
  std::vector<IncidentFile> files;
  std::vector<IncidentSignature> signatures;
  IncidentRollback rollback;
  std::optional<Verdict> compared;  // the good run with the run
  std::string compared_headline;
  std::vector<Cause> causes;                // of that comparison
  std::array<LayerComparison, 5> layers{};  // of that comparison
  std::vector<IncidentPage> pages;
  std::vector<std::string> notes;
  std::vector<std::pair<std::string, std::string>> bundle;  // file, what it is
};

// "The last good run", or "The run that --good names".
std::string_view GoodWords(const IncidentReport& report);

Json ToJson(const IncidentReport& report);  // "rharness.incident/v1"
// Its page is the bundle's index.html.
Document DocumentOf(const IncidentReport& report);

}  // namespace rharness

#endif  // RHARNESS_REPORTS_INCIDENT_REPORT_H_
