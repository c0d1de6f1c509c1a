// The files of a version of a Delta table, from the actions of its log, one after another.
//
// Role: private to this folder. Pure: files of the log are read by delta_log.h.
// Source: delta-io/delta, PROTOCOL.md, "Actions" and "Action Reconciliation".
#ifndef RHARNESS_HARNESS_EXECUTION_TABLES_DELTA_STATE_H_
#define RHARNESS_HARNESS_EXECUTION_TABLES_DELTA_STATE_H_

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "harness/base/result.h"

namespace rharness {

// Rows of a data file that are deleted, as an action describes them.
struct DeletionVector {
  std::string storage;  // "u": a file of the table, "i": within the log, "p": a file anywhere
  std::string content;  // "pathOrInlineDv"
  std::optional<std::int64_t> offset;
  std::int64_t size_bytes = 0;
  std::int64_t cardinality = 0;
};

// A data file of a version.
struct DeltaFile {
  std::string path;  // below the table, decoded
  std::uint64_t size_bytes = 0;
  std::string deletions;       // the log's text on its deletion vector; empty: it has none
  std::string deletions_path;  // file of the vector, below the table; empty: none
};

struct AddAction {
  std::string path;  // as the log has it, a URL
  std::int64_t size_bytes = -1;
  std::optional<DeletionVector> deletions;
};

// Not thread-safe. Errors are invalid_input unless noted; callers add the place.
class DeltaState {
 public:
  // Before the actions of a commit; those of a checkpoint count as one.
  void BeginVersion();
  // Errors: unsupported, for unknown versions and features of the protocol, by name.
  Status SetProtocol(std::int64_t reader_version, const std::vector<std::string>& features);
  Status SetId(std::string id);  // of metaData
  // Errors also: unsupported, for files outside of the table (those of a shallow clone).
  Status Add(const AddAction& add);
  // A missing one is no error: logs are cleaned.
  Status Remove(const AddAction& remove);

  const std::string& id() const { return id_; }
  // The resulting files, sorted by path; the state is empty afterwards. Errors: parts missing from
  // a readable table, and a path with two deletion vectors.
  Result<std::vector<DeltaFile>> Finish();

 private:
  struct Entry {
    std::uint64_t size_bytes = 0;
    std::uint64_t version = 0;  // counted by BeginVersion
    std::string deletions_path;
  };
  std::string id_;
  bool has_protocol_ = false;
  std::uint64_t version_ = 0;
  std::uint64_t key_bytes_ = 0;
  std::unordered_map<std::string, Entry> files_;  // by path, '\0', deletions
  std::set<std::string> removed_;                 // of this commit
};

}  // namespace rharness

#endif  // RHARNESS_HARNESS_EXECUTION_TABLES_DELTA_STATE_H_
