// What people signed about the history, kept in it: retirements that a second person approved, and
// records of what was deleted under retention rules.
//
// Role: a part of the store's interface. Envelopes are kept as text; whether their signatures count
// is harness/trust/attestation's to say.
#ifndef RHARNESS_HARNESS_HISTORY_SIGNED_RECORDS_H_
#define RHARNESS_HARNESS_HISTORY_SIGNED_RECORDS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/base/clock.h"
#include "harness/base/result.h"

namespace rharness {

// One signature of one statement: what was asked for has one, what was approved has two.
struct SignedRecord {
  std::string statement_sha256;  // of the payload: the same of all signatures of a statement
  std::string key_id;
  std::string predicate;
  std::string subject;        // a run; of a withdrawal the SHA-256 of the statement
  std::string signed_by;      // whose key it was, when it was entered
  WallTime entered{};         // by the clock of who entered it
  std::string envelope;       // with this signature alone
  std::int64_t sequence = 0;  // read only: in the order in which they were entered
};

// A retirement that two people signed.
struct SignedRetirement {
  std::string statement_sha256;
  std::string asked_by;
  WallTime asked{};
  std::string approved_by;
  WallTime approved{};
  // Read alone: when the run was retired. As it was approved, or earlier, unsigned at first.
  WallTime retired = {};
};

// What was deleted, or is being deleted, by one list.
struct DeletionRecord {
  std::string list_sha256;  // of `body`
  WallTime begun{};
  std::string asked_by;  // these two are empty where nobody had to sign
  std::string approved_by;
  std::string body;           // the list, as JSON
  std::int64_t sequence = 0;  // read only
};
// Of each item first that it is about to go, then one of the others.
enum class DeletionStep { kAbout, kGone, kMissing, kStays };
struct DeletedItem {
  std::string list_sha256;
  int item = 0;  // of the list, from 0
  DeletionStep step = DeletionStep::kAbout;
  WallTime at{};
  std::int64_t bytes = 0;
};
// How much there is of what rules look at: it grows with every run and every drill.
struct HistoryMark {
  std::int64_t runs = 0;
  std::int64_t drills = 0;
  bool operator==(const HistoryMark&) const = default;
};
// A file that is about to go, and what it is held to in this moment.
struct AboutToGo {
  DeletedItem item;
  std::string statement_sha256;   // of the request that two people signed
  std::vector<std::string> runs;  // whose it is
  HistoryMark mark;               // of what it was planned by
};
enum class MayGo { kYes, kTakenBack, kClaimed, kHistoryGrew };

class SignedRecords {
 public:
  virtual ~SignedRecords() = default;

  // What is there already, by statement and key, stays as it is.
  virtual Status AddSigned(const SignedRecord& record) = 0;
  // A statement that takes back another one, its subject. Errors: invalid_input where a retirement
  // holds by that one, or it was taken back already.
  virtual Status AddWithdrawal(const SignedRecord& record) = 0;
  // All of the predicate, also of one subject; in the order in which they were entered.
  virtual Result<std::vector<SignedRecord>> Signed(const std::string& predicate) = 0;
  virtual Result<std::vector<SignedRecord>> SignedOf(const std::string& predicate,
                                                     const std::string& subject) = 0;

  // The last signature that a retirement needed, and the retirement, in one transaction; `reason`
  // as in Retire. A run that was retired unsigned, for the same reason, is signed for now. Errors:
  // not_found; invalid_input where it was retired with signatures already or for another reason, or
  // the statement was taken back.
  virtual Status RetireSigned(const SignedRecord& last, const std::string& reason,
                              const SignedRetirement& retirement) = 0;

  // Before the first file goes. The same list again changes nothing.
  virtual Status BeginDeletion(const DeletionRecord& record) = 0;
  // Before and after each file. The same step again changes nothing, nor does a second end. Errors:
  // not_found (no such list), invalid_input (an end of what was not about to go).
  virtual Status AddDeleted(const DeletedItem& item) = 0;
  // The first step of a file, unless, in the same transaction, its request was taken back, a drill
  // has one of its runs, or there is more than the mark says: then nothing is entered.
  virtual Result<MayGo> AddAboutToGo(const AboutToGo& about) = 0;
  virtual Result<HistoryMark> Mark() = 0;
  virtual Result<std::vector<DeletionRecord>> Deletions() = 0;  // in the order of their sequence
  virtual Result<std::vector<DeletedItem>> DeletedItems(const std::string& list_sha256) = 0;
};

}  // namespace rharness

#endif  // RHARNESS_HARNESS_HISTORY_SIGNED_RECORDS_H_
