// The history: manifests, drills, reruns and verdicts in one SQL database, append-only.
//
// Role: a drill selects from it and reports to it, and drills coordinate their claims in it. No
// record is updated or deleted: retiring a run adds a row, and triggers refuse the rest.
#ifndef RHARNESS_HARNESS_HISTORY_STORE_H_
#define RHARNESS_HARNESS_HISTORY_STORE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/history/attestation_record.h"
#include "harness/history/claim.h"
#include "harness/history/entered_drill.h"
#include "harness/history/property_record.h"
#include "harness/history/replicate_record.h"
#include "harness/history/signed_records.h"
#include "harness/history/tally.h"
#include "harness/records/manifest/manifest.h"

namespace rharness {

class HistoryStore : public HistoryTallies, public SignedRecords, public EnteredDrills {
 public:
  // "sqlite:PATH", a bare path, or "postgresql://HOST:PORT/DATABASE?...". Makes the history when
  // there is none, and migrates an old one; refuses a newer schema. Errors: invalid_input (a URL
  // that cannot be read or holds a password), not_found (no such database), io (unreachable, no
  // permission), unsupported (newer schema or verdict, no libpq here), integrity (damaged, or not
  // the schema of a history), timeout (locked by another process for 30 s). A store is for one
  // thread; any number of stores and processes may share a history.
  static Result<std::unique_ptr<HistoryStore>> Open(const std::string& url);
  // Opens an existing history: a misspelled path must not become an empty history. Errors: those,
  // not_found.
  static Result<std::unique_ptr<HistoryStore>> OpenExisting(const std::string& url);
  ~HistoryStore() override = default;

  // The same run_id with the same content is kAlreadyThere; with other content: invalid_input.
  virtual Result<AddOutcome> Add(const Manifest& manifest, WallTime now) = 0;
  // Many at once in one transaction, all or none; returns the number of new ones. Much faster than
  // one by one, up to some hundreds.
  virtual Result<std::size_t> AddAll(std::span<const NewRun> runs, WallTime now) = 0;
  // Errors: integrity if the stored text was changed.
  virtual Result<HeldContent> Compare(const NewRun& run) = 0;
  virtual Result<Manifest> Get(const std::string& run_id) = 0;            // not_found
  virtual Result<HistoryEntry> Find(const std::string& run_id) = 0;       // not_found
  virtual Result<std::vector<HistoryEntry>> List(bool with_retired) = 0;  // by started, run_id
  virtual Result<std::vector<Manifest>> LoadFamily(const std::string& family) = 0;  // not retired
  // The `limit` runs that have waited longest to be compared (identical, equivalent or drifted),
  // never verified ones first, then by started, run_id; not retired. Reads an index.
  virtual Result<std::vector<HistoryEntry>> NextToDrill(std::size_t limit) = 0;
  virtual Result<std::vector<HistoryCount>> Summarize() = 0;  // by family, last_verdict

  // Errors: not_found; invalid_input without a reason or when retired already.
  virtual Status Retire(const std::string& run_id, const std::string& reason, WallTime now) = 0;

  // A drill's results in one transaction; writing the same results again changes nothing. Other
  // results of a known drill_id, from a resumed drill, are entered as drill_id.2, .3, ...;
  // superseded ones are kept and no longer read. Errors: not_found when a record names a run that
  // is not in the history.
  virtual Status AddDrill(const DrillRecord& drill, const DrillResults& results) = 0;
  Status AddDrill(const DrillRecord& drill, const std::vector<RerunRecord>& reruns,
                  const std::vector<VerdictRecord>& verdicts) {
    return AddDrill(drill, DrillResults{reruns, verdicts, {}});
  }
  // For a drill without further data.
  Status AddDrill(const std::string& drill_id, WallTime started,
                  const std::vector<RerunRecord>& reruns,
                  const std::vector<VerdictRecord>& verdicts) {
    return AddDrill(DrillRecord{drill_id, started, {}, {}}, DrillResults{reruns, verdicts, {}});
  }

  // Of all drills, without superseded ones; in the order of their sequence. Errors: not_found.
  virtual Result<std::vector<VerdictRecord>> Verdicts(const std::string& run_id) = 0;
  // The first verdict with a higher sequence that is drifted or failed. Reads an index.
  virtual Result<std::optional<VerdictRecord>> FirstBadAfter(const std::string& run_id,
                                                             std::int64_t sequence) = 0;
  // Errors: not_found; integrity if it was changed.
  virtual Result<Surroundings> GetSurroundings(const std::string& sha256) = 0;
  // Those of these entries, each once. Reads no manifest.
  virtual Result<VerifiedEnvironments> EnvironmentsOf(const std::vector<HistoryEntry>& entries) = 0;
  // End of the last drill in which every run reproduced. A drill of an older version counts if all
  // its stored verdicts are identical or equivalent.
  virtual Result<std::optional<WallTime>> LastSuccess() = 0;

  // Of one family, including retired runs. Empty if there is no such family.
  virtual Result<std::vector<HistoryEntry>> FamilyEntries(const std::string& family) = 0;
  // The last `limit` drills that judged any of its runs, oldest first.
  virtual Result<std::vector<DrillRecord>> FamilyDrills(const std::string& family,
                                                        std::size_t limit) = 0;
  // One drill's verdicts on its runs, by run_id; without reasons.
  virtual Result<std::vector<VerdictRecord>> FamilyVerdicts(const std::string& family,
                                                            const std::string& drill_id) = 0;
  // Existing ones, by configuration, stack, run and number, stay unchanged. Errors: not_found when
  // a record names a run that is not in the history.
  virtual Status AddReplicates(const std::vector<ReplicateRecord>& replicates) = 0;
  // Of one configuration on any stack, by stack, run and number. Errors: integrity if changed.
  virtual Result<std::vector<ReplicateRecord>> Replicates(const std::string& configuration) = 0;

  // Drills' verdicts on its runs together, for each configuration; without superseded ones, in the
  // order of their sequence. Drills of older versions have none.
  virtual Result<std::vector<FamilyRecord>> TogetherVerdicts(const std::string& family) = 0;
  // The last of these of every configuration of every family, by family and name.
  virtual Result<std::vector<FamilyRecord>> LastTogetherVerdicts() = 0;
  // The last identical or equivalent verdict of each run that has one, by run_id; no reasons.
  virtual Result<std::vector<VerdictRecord>> FamilyLastGood(const std::string& family) = 0;

  // Existing ones, by drill, run and property, stay unchanged. Errors: not_found when a record
  // names a run that is not in the history.
  virtual Status AddPropertyVerdicts(const std::vector<PropertyRecord>& verdicts) = 0;
  // Of all drills, in order of entry; empty if the run is unknown.
  virtual Result<std::vector<PropertyRecord>> PropertyVerdicts(const std::string& run_id) = 0;

  // Existing ones, by drill, run and key, stay. Errors: not_found (no such verdict).
  virtual Status AddAttestations(const std::vector<AttestationRecord>& attestations) = 0;

  // The last answer entered becomes HistoryEntry::rebuild. Errors: not_found.
  virtual Status AddRebuild(const RebuildRecord& record) = 0;
  // The last one; empty: never asked. Errors: not_found.
  virtual Result<std::optional<RebuildRecord>> LastRebuild(const std::string& run_id) = 0;

  // Runs with a drifted or failed verdict and no later good one, those judged last first; not
  // retired. `last_verdict` is the last such verdict, whatever open ones followed.
  virtual Result<std::vector<HistoryEntry>> LastBad(std::size_t limit) = 0;

  // Takes, in this order and `most` at most, those of these runs that no other drill holds, until
  // its lease is over; runs that it holds already stay and count. A run that is not in the history
  // is not taken. `held`: those of others, among the requested ones that were tried.
  virtual Result<ClaimOutcome> TakeClaims(const Claimant& who,
                                          const std::vector<std::string>& run_ids,
                                          std::size_t most) = 0;
  // The same for all that it took, cheaper if it still has them.
  virtual Result<ClaimOutcome> RenewClaims(const Claimant& who,
                                           const std::vector<std::string>& run_ids) = 0;
  // Of a drill that this process worked on; a drill that another process continued keeps them.
  virtual Status ReleaseClaims(const std::string& drill_id, const std::string& process) = 0;
  // All whose lease is not over, by run.
  virtual Result<std::vector<Claim>> Claims() = 0;
};

// Of a manifest that ParseManifest took.
NewRun NewRunOf(const Manifest& manifest);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_HISTORY_STORE_H_
