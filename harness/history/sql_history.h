// The history in SQL, for every database: shared by the sources of this folder, each named after
// the rows that it writes or reads (README.md).
//
// Role: private to this folder. Not here: opening and migrating (database.h).
#ifndef RHARNESS_HARNESS_HISTORY_SQL_HISTORY_H_
#define RHARNESS_HARNESS_HISTORY_SQL_HISTORY_H_

#include <cstddef>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "harness/history/database.h"
#include "harness/history/held_record.h"
#include "harness/history/store.h"

namespace rharness {

inline long long ToMs(WallTime time) { return time.time_since_epoch().count(); }
inline WallTime FromMs(long long ms) { return WallTime(std::chrono::milliseconds(ms)); }

// The environment part of a rerun's surroundings: the parts by name, with their texts or digests.
Surroundings EnvironmentOf(const Surroundings& surroundings);

class SqlHistory : public HistoryStore {
 public:
  explicit SqlHistory(std::unique_ptr<Database> database) : database_(std::move(database)) {}

  Result<AddOutcome> Add(const Manifest& manifest, WallTime now) override;
  Result<std::size_t> AddAll(std::span<const NewRun> runs, WallTime now) override;
  Result<HeldContent> Compare(const NewRun& run) override;
  Result<Manifest> Get(const std::string& run_id) override;
  Result<HistoryEntry> Find(const std::string& run_id) override;
  Result<std::vector<HistoryEntry>> List(bool with_retired) override;
  Result<std::vector<std::string>> RunsOfArtifact(const std::string& digest) override;
  Result<std::vector<Manifest>> LoadFamily(const std::string& family) override;
  Result<std::vector<HistoryEntry>> NextToDrill(std::size_t limit) override;
  Result<std::vector<HistoryCount>> Summarize() override;
  Status Retire(const std::string& run_id, const std::string& reason, WallTime now) override;
  using HistoryStore::AddDrill;
  Status AddDrill(const DrillRecord& drill, const DrillResults& results) override;
  Result<std::optional<EnteredDrill>> FindDrill(const std::string& drill_id) override;
  Result<std::vector<VerdictRecord>> Verdicts(const std::string& run_id) override;
  Result<std::optional<VerdictRecord>> FirstBadAfter(const std::string& run_id,
                                                     std::int64_t sequence) override;
  Result<Surroundings> GetSurroundings(const std::string& sha256) override;
  Result<std::optional<VerdictMeasures>> MeasuresOf(const std::string& run_id,
                                                    const std::string& drill_id) override;
  Result<VerifiedEnvironments> EnvironmentsOf(const std::vector<HistoryEntry>& entries) override;
  Result<std::optional<WallTime>> LastSuccess() override;
  Result<std::vector<HistoryEntry>> FamilyEntries(const std::string& family) override;
  Result<std::vector<DrillRecord>> FamilyDrills(const std::string& family,
                                                std::size_t limit) override;
  Result<std::vector<VerdictRecord>> FamilyVerdicts(const std::string& family,
                                                    const std::string& drill_id) override;
  Result<std::vector<VerdictRecord>> FamilyLastGood(const std::string& family) override;
  Status AddReplicates(const std::vector<ReplicateRecord>& replicates) override;
  Result<std::vector<ReplicateRecord>> Replicates(const std::string& configuration) override;
  Result<std::vector<FamilyRecord>> TogetherVerdicts(const std::string& family) override;
  Result<std::vector<FamilyRecord>> LastTogetherVerdicts() override;
  Status AddPropertyVerdicts(const std::vector<PropertyRecord>& verdicts) override;
  Result<std::vector<PropertyRecord>> PropertyVerdicts(const std::string& run_id) override;
  Status AddAttestations(const std::vector<AttestationRecord>& attestations) override;
  Status AddRebuild(const RebuildRecord& record) override;
  Result<std::optional<RebuildRecord>> LastRebuild(const std::string& run_id) override;
  Result<std::vector<VerdictTally>> TallyVerdicts(WallTime since, WallTime until) override;
  Result<std::vector<std::vector<VerdictTally>>> TallyWindows(const std::vector<WallTime>& since,
                                                              WallTime until) override;
  Result<std::vector<FlakeTally>> TallyFlakes(WallTime since, WallTime until) override;
  Result<std::vector<RuntimeTally>> TallyRuntimes(WallTime since, WallTime until) override;
  Result<std::vector<WaitingTally>> TallyWaiting(WallTime limit) override;
  Result<std::vector<RebuildTally>> TallyRebuilds() override;
  Result<std::vector<MeasureTally>> TallyMeasures(WallTime since, WallTime until) override;
  Result<std::vector<RollbackTally>> TallyRollbacks(WallTime since, WallTime until) override;
  Result<std::vector<HistoryEntry>> LastBad(std::size_t limit) override;
  Status EachVerdict(const std::function<void()>& restart,
                     const std::function<void(const VerdictStep&)>& take) override;
  Result<ClaimOutcome> TakeClaims(const Claimant& who, const std::vector<std::string>& run_ids,
                                  std::size_t most) override;
  Result<ClaimOutcome> RenewClaims(const Claimant& who,
                                   const std::vector<std::string>& run_ids) override;
  Status ReleaseClaims(const std::string& drill_id, const std::string& process) override;
  Result<std::vector<Claim>> Claims() override;
  Status AddSigned(const SignedRecord& record) override;
  Status AddWithdrawal(const SignedRecord& record) override;
  Result<std::vector<SignedRecord>> Signed(const std::string& predicate) override;
  Result<std::vector<SignedRecord>> SignedOf(const std::string& predicate,
                                             const std::string& subject) override;
  Status RetireSigned(const SignedRecord& last, const std::string& reason,
                      const SignedRetirement& retirement) override;
  Status BeginDeletion(const DeletionRecord& record) override;
  Status AddDeleted(const DeletedItem& item) override;
  Result<MayGo> AddAboutToGo(const AboutToGo& about) override;
  Result<HistoryMark> Mark() override;
  Result<std::vector<DeletionRecord>> Deletions() override;
  Result<std::vector<DeletedItem>> DeletedItems(const std::string& list_sha256) override;
  Result<HeldRecords> ReadHeld();
  Result<std::vector<HeldRecord>> ReadHeldOf(const std::string& run_id);
  Result<std::vector<HeldRecord>> ReadHeldDeletion(const std::string& list_sha256);

 private:
  soci::session& sql() { return database_->sql(); }
  std::string Where(const std::string& run_id) const;
  Error RunNotFound(const std::string& run_id) const;

  // The entries of a fixed selection and `rest`, which names one variable, :value.
  template <class T>
  Result<std::vector<HistoryEntry>> Entries(const std::string& rest, const T& value);
  Result<std::vector<SignedRecord>> SelectSigned(const std::string& predicate,
                                                 const std::string* subject);
  // These throw; call them inside Guard or Write.
  void Insert(const SignedRecord& record);
  Status Insert(const DeletedItem& item);
  int CountBy(const std::string& query, const std::string& statement);
  bool HasRun(const std::string& run_id);
  Status CheckRun(const std::string& run_id);
  Result<Manifest> Load(const std::string& run_id);
  Result<HeldContent> CompareSlowly(const NewRun& run);
  void Insert(const DrillRecord& drill, const std::string& supersedes);
  // The entries of this drill: its newest results, and how often it was entered (0: never).
  struct Held {
    std::string drill_id;
    int times = 0;
    std::vector<std::string> superseded;  // earlier names of it, in order of entry
  };
  Held FindHeld(const std::string& drill_id);
  bool SameResults(const std::string& held, const DrillRecord& drill, const DrillResults& results);
  void Insert(const FamilyRecord& family);
  Result<std::string> Kept(const std::string& sha256);
  // Enters them as results of `drill`, under its id, whatever drill_id the records have.
  Status InsertAll(const DrillRecord& drill, const std::string& supersedes, DrillResults results);
  bool HasFamily(const std::string& family);
  long long DatabaseNow();  // in ms
  std::set<std::string> Among(const std::vector<std::string>& run_ids, const std::string& query);
  void DropExpired(const std::string& but_not);
  void ExtendLease(const Claimant& who);
  std::vector<std::string> TakeFree(const Claimant& who, const std::vector<std::string>& run_ids,
                                    std::size_t most);
  Result<ClaimOutcome> Holders(const Claimant& who, const std::vector<std::string>& run_ids);

  std::unique_ptr<Database> database_;
};

}  // namespace rharness

#endif  // RHARNESS_HARNESS_HISTORY_SQL_HISTORY_H_
