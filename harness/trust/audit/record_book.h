// What an audit log is about, as it is now: is every entry still true, and what is not in the log
// yet?
//
// Role: holds the records of a history and of the files beside it, and is asked with one entry
// after another. Pure once it is loaded.
#ifndef RHARNESS_HARNESS_TRUST_AUDIT_RECORD_BOOK_H_
#define RHARNESS_HARNESS_TRUST_AUDIT_RECORD_BOOK_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "harness/base/result.h"
#include "harness/history/held_record.h"
#include "harness/trust/audit/entry.h"

namespace rharness {

struct RecordSources {
  std::string history;                 // its URL
  std::vector<std::string> baselines;  // folders of accepted baselines
  std::vector<std::string> policies;   // files
};

// A waiver or substitute of which its policy says something else by now than the last entry about
// it, or nothing at all.
struct ChangedException {
  std::uint64_t index = 0;  // of the entry
  std::string kind;
  std::string name;
  bool is_there = false;  // with another content
};

// Of a history and of baselines every entry must be there with the content that it had, once.
// Policies and what stands in them change: each new content is a new entry, and what was there once
// need not be there now.
class RecordBook {
 public:
  // Errors: those of ReadHeldRecords, ReadBaselineRecords and ReadPolicyRecords; invalid_input
  // where two baselines or policies have one name.
  static Result<RecordBook> Load(const RecordSources& sources);
  // Of these records.
  explicit RecordBook(std::vector<HeldRecord> records);

  // The entry is next in its log. Errors: integrity, which name it: not there any more, changed, or
  // there a second time.
  Status Take(const AuditEntry& entry);

  // What no entry that was taken is about, in the order of the records.
  std::vector<const HeldRecord*> Missing() const;
  // Of the policies that are here, in the order of the entries. Those that expired and were taken
  // out are as legitimate as those that were taken back; one that says something else was not
  // entered as it is.
  std::vector<ChangedException> Exceptions() const;
  // Entries about what this was not loaded with, such as baselines, or kinds of a later version.
  std::uint64_t not_looked_at() const { return not_looked_at_; }
  std::size_t size() const { return records_.size(); }
  // Whether anybody signed for a retirement or a deletion, or files were deleted.
  bool HasApprovals() const;
  // What the history derives from its records and says otherwise; after all entries were taken.
  const std::optional<Error>& derived() const { return derived_; }

 private:
  struct State {
    std::size_t at = 0;                  // in records_
    std::optional<std::uint64_t> entry;  // the last one that is about it as it is now
  };
  // "baseline h100/": what is here of such a name is here as a whole.
  bool IsHeldHere(const AuditEntry& entry) const;
  void Index();

  std::vector<HeldRecord> records_;
  std::unordered_map<std::string, State> by_name_;  // kind, NUL, name
  std::map<std::string, AuditEntry> exceptions_;    // by the same: of waivers, the last entry
  std::vector<std::string> baseline_names_;
  std::optional<Error> derived_;
  std::uint64_t not_looked_at_ = 0;
};

}  // namespace rharness

#endif  // RHARNESS_HARNESS_TRUST_AUDIT_RECORD_BOOK_H_
