// Signed statements on the history, kept in it: retirements that a second person approved, and
// records of deletions under retention rules.
//
// Role: a part of the store's interface. Envelopes are kept as text; harness/trust/attestation
// verifies their signatures.
#ifndef RHARNESS_HARNESS_HISTORY_SIGNED_RECORDS_H_
#define RHARNESS_HARNESS_HISTORY_SIGNED_RECORDS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/base/clock.h"
#include "harness/base/result.h"

namespace rharness {

// One signature of one statement: a request has one, an approval has two.
struct SignedRecord {
  std::string statement_sha256;  // of the payload: equal for all signatures of a statement
  std::string key_id;
  std::string predicate;
  std::string subject;        // a run; for a withdrawal the SHA-256 of the statement
  std::string signed_by;      // owner of the key at entry
  WallTime entered{};         // by the clock of the entering machine
  std::string envelope;       // with this signature alone
  std::int64_t sequence = 0;  // read only: in order of entry
};

// A retirement that two people signed.
struct SignedRetirement {
  std::string statement_sha256;
  std::string asked_by;
  WallTime asked{};
  std::string approved_by;
  WallTime approved{};
  // Read only: when the run was retired: at the approval, or earlier, if unsigned at first.
  WallTime retired = {};
};

// A finished or ongoing deletion of one list.
struct DeletionRecord {
  std::string list_sha256;  // of `body`
  WallTime begun{};
  std::string asked_by;  // these two are empty if no signature was required
  std::string approved_by;
  std::string body;           // the list, as JSON
  std::int64_t sequence = 0;  // read only
};
// For each item first kAbout, then one of the others.
enum class DeletionStep { kAbout, kGone, kMissing, kStays };
struct DeletedItem {
  std::string list_sha256;
  int item = 0;  // of the list, from 0
  DeletionStep step = DeletionStep::kAbout;
  WallTime at{};
  std::int64_t bytes = 0;
};
// The amount of data that rules depend on: it grows with every run and every drill.
struct HistoryMark {
  std::int64_t runs = 0;
  std::int64_t drills = 0;
  bool operator==(const HistoryMark&) const = default;
};
// A file about to be deleted, and the conditions that must hold at this moment.
struct AboutToGo {
  DeletedItem item;
  std::string statement_sha256;   // of the request, signed by two people
  std::vector<std::string> runs;  // whose it is
  HistoryMark mark;               // at planning time
};
enum class MayGo { kYes, kTakenBack, kClaimed, kHistoryGrew };

class SignedRecords {
 public:
  virtual ~SignedRecords() = default;

  // An existing record, by statement and key, stays unchanged.
  virtual Status AddSigned(const SignedRecord& record) = 0;
  // A statement that withdraws an earlier one, its subject. Errors: invalid_input if a retirement
  // holds by that one, or it was withdrawn already.
  virtual Status AddWithdrawal(const SignedRecord& record) = 0;
  // All of the predicate, or of one subject; in order of entry.
  virtual Result<std::vector<SignedRecord>> Signed(const std::string& predicate) = 0;
  virtual Result<std::vector<SignedRecord>> SignedOf(const std::string& predicate,
                                                     const std::string& subject) = 0;

  // Enters the last signature that a retirement needed, and the retirement, in one transaction;
  // `reason` as in Retire. A run retired unsigned for the same reason becomes signed. Errors:
  // not_found; invalid_input if it was retired with signatures already or for another reason, or
  // the statement was withdrawn.
  virtual Status RetireSigned(const SignedRecord& last, const std::string& reason,
                              const SignedRetirement& retirement) = 0;

  // Before the first file is deleted. The same list again changes nothing.
  virtual Status BeginDeletion(const DeletionRecord& record) = 0;
  // Before and after each file. The same step again changes nothing, nor does a second end. Errors:
  // not_found (no such list), invalid_input (an end without kAbout).
  virtual Status AddDeleted(const DeletedItem& item) = 0;
  // The first step of a file, unless, in the same transaction, its request was withdrawn, a drill
  // holds one of its runs, or there is more data than at the mark: then nothing is entered.
  virtual Result<MayGo> AddAboutToGo(const AboutToGo& about) = 0;
  virtual Result<HistoryMark> Mark() = 0;
  virtual Result<std::vector<DeletionRecord>> Deletions() = 0;  // in the order of their sequence
  virtual Result<std::vector<DeletedItem>> DeletedItems(const std::string& list_sha256) = 0;
};

}  // namespace rharness

#endif  // RHARNESS_HARNESS_HISTORY_SIGNED_RECORDS_H_
