// Delta Lake tables: a version of one as a snapshot with a digest of its own, without Spark.
//
// Role: the entry of this folder. A log lists the files of a version, but no hashes; a snapshot is
// that version with the SHA-256 of each. Tables are folders; the log and the files are untrusted.
#ifndef RHARNESS_HARNESS_EXECUTION_TABLES_DELTA_TABLE_H_
#define RHARNESS_HARNESS_EXECUTION_TABLES_DELTA_TABLE_H_

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/digest.h"
#include "harness/base/held_folder.h"
#include "harness/base/result.h"
#include "harness/execution/tables/delta_state.h"

namespace rharness {

// One version of a table, as its log says.
struct DeltaVersion {
  std::string id;  // the table's, of metaData
  std::uint64_t version = 0;
  std::vector<DeltaFile> files;        // sorted by path
  std::vector<std::string> log_files;  // below _delta_log: the source of this

  std::uint64_t SizeBytes() const;
};

struct SnapshotDigest {
  std::string sha256;            // hex
  std::uint64_t size_bytes = 0;  // of the data files
  std::uint64_t files = 0;
};

// SHA-256 and size of a file below the table, by its relative path.
using TableHasher = std::function<Result<FileDigest>(const std::filesystem::path&)>;

// Movable.
class DeltaTable {
 public:
  // Lists the log, as it is now. Errors: not_found (no folder, no log), io; integrity for a log
  // that is a link.
  static Result<DeltaTable> Open(const std::filesystem::path& path);

  const std::filesystem::path& path() const { return folder_->path(); }
  std::uint64_t newest() const { return newest_; }
  // The files of the version. Reads no data file. Memory: about 300 bytes a file; at most four
  // million. Errors: not_found (a future version, or its log was cleaned), unsupported (an unknown
  // protocol or feature, files outside of the table), invalid_input (a log that breaks its rules),
  // io; all name the file of the log.
  Result<DeltaVersion> Read(std::uint64_t version) const;
  // SHA-256 over "rharness.delta/v1" and, as texts with their lengths before them (u64, little-
  // endian): the id, the version, and of each file, sorted by path, the path, the size, the log's
  // text on its deletion vector, the SHA-256 and that of the deletion vector's file. Times,
  // statistics, partition values and the form of the log do not count. Errors: not_found for a
  // missing file, integrity for a size that differs from the log or a symbolic link, io.
  Result<SnapshotDigest> Hash(const DeltaVersion& version) const;
  // The same with hashes from `hasher`, file by file: the data, then the vector.
  Result<SnapshotDigest> HashBy(const DeltaVersion& version, const TableHasher& hasher) const;
  // Writes the version as a table of its own, in which it is the newest: its log, and its files as
  // copies, or as links to those of this table. `to` must not exist. Errors: those of Hash.
  enum class Files { kCopied, kLinked };
  Status WriteTo(const DeltaVersion& version, const std::filesystem::path& to, Files files) const;
  // Whether each file exists with the size in the log; not_found and integrity as in Hash.
  Status CheckFiles(const DeltaVersion& version) const;

 private:
  DeltaTable() = default;
  Error Gone(const DeltaVersion& version, const std::string& path, const Error& error) const;
  Status ReadLogFile(const std::string& name, DeltaState* state,
                     std::vector<std::string>* sidecars) const;

  std::shared_ptr<const HeldFolder> folder_;
  std::vector<std::string> names_;  // in the log's folder
  std::uint64_t newest_ = 0;
};

// "delta:FOLDER@VERSION", a snapshot in a manifest's source; "delta:FOLDER" is its newest.
struct DeltaSource {
  std::string table;
  std::optional<std::uint64_t> version;
};
bool IsDeltaSource(std::string_view source);
// Errors: invalid_input.
Result<DeltaSource> ParseDeltaSource(std::string_view source);
std::string DeltaSourceText(std::string_view table, std::uint64_t version);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_EXECUTION_TABLES_DELTA_TABLE_H_
