// One line of an audit log: the kind, name and digest of a record, and the time of its entry.
//
// Role: pure; the canonical form of a line, whose bytes are the leaf of the tree. Not here: the
// file of lines (entry_file.h), their records (record_book.h).
#ifndef RHARNESS_HARNESS_TRUST_AUDIT_ENTRY_H_
#define RHARNESS_HARNESS_TRUST_AUDIT_ENTRY_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "harness/base/clock.h"
#include "harness/base/result.h"

namespace rharness {

inline constexpr std::size_t kMostEntryBytes = 16 * 1024;  // of a line

struct AuditEntry {
  std::uint64_t index = 0;
  std::string kind;  // "manifest", "verdict", ...: lower case and underscores
  std::string name;  // of what it is about, unique among those of its kind but for what may change
  std::string sha256;  // of its content, 64 lower-case hex digits
  WallTime time{};     // when it was entered here
  bool operator==(const AuditEntry&) const = default;
};

// {"index":0,"kind":"manifest","name":"mlp-1","sha256":"...","time":"2026-11-25T08:00:00.000Z"},
// without a line break: the only accepted spelling.
std::string WriteEntry(const AuditEntry& entry);

// The parts of a line as it spells them.
struct EntryParts {
  std::uint64_t index = 0;
  std::string_view kind;
  std::string_view name;  // as spelled in JSON, without its quotes
  std::string_view sha256;
  std::string_view time;
  bool plain = true;  // the name needs no decoding: ASCII, nothing escaped
};
// For a line that is canonical except perhaps for its name; else false, and `parts` is undefined.
// `time` has the form of one. Cheap.
bool ScanEntry(std::string_view line, EntryParts* parts);

// "entry 12 (manifest mlp-1)", safe to show; "entry 12" if its record is not known.
std::string EntryWords(std::uint64_t index, std::string_view kind, std::string_view name);

// Errors: integrity, with `where`, for anything but the output of WriteEntry.
Result<AuditEntry> ParseEntry(std::string_view line, std::string_view where);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_TRUST_AUDIT_ENTRY_H_
