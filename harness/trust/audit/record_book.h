// The records behind an audit log: is every entry still true, and what is not in the log yet?
//
// Role: loads the records of a history and of the files beside it, and checks one entry after
// another. Pure once it is loaded.
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

// A waiver or substitute that its policy no longer has, or has with other content than its last
// entry.
struct ChangedException {
  std::uint64_t index = 0;  // of the entry
  std::string kind;
  std::string name;
  bool is_there = false;  // with another content
};

// Every entry of a history and of baselines must exist with its content, once. Policies and their
// content change: each new content is a new entry, and an older one need not exist now.
class RecordBook {
 public:
  // Errors: those of ReadHeldRecords, ReadBaselineRecords and ReadPolicyRecords; invalid_input if
  // two baselines or policies have one name.
  static Result<RecordBook> Load(const RecordSources& sources);
  // Of these records.
  explicit RecordBook(std::vector<HeldRecord> records);

  // The entry is next in its log. Errors: integrity, with its name: missing, changed, or repeated.
  Status Take(const AuditEntry& entry);

  // Records without an entry taken, in their order.
  std::vector<const HeldRecord*> Missing() const;
  // From the present policies, in the order of the entries. Expired and removed ones are as
  // legitimate as withdrawn ones; one with other content was not entered in its present form.
  std::vector<ChangedException> Exceptions() const;
  // Entries about things that were not loaded, such as baselines, or kinds of a later version.
  std::uint64_t not_looked_at() const { return not_looked_at_; }
  std::size_t size() const { return records_.size(); }
  // Whether anybody signed a retirement or a deletion, or files were deleted.
  bool HasApprovals() const;
  // The history's derived data that contradict its records; after all entries were taken.
  const std::optional<Error>& derived() const { return derived_; }

 private:
  struct State {
    std::size_t at = 0;                  // in records_
    std::optional<std::uint64_t> entry;  // the last one about its present content
  };
  // "baseline h100/": all records of such a name are loaded.
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
