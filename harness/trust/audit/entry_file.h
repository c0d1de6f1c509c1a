// The files of a log's lines and node hashes: entries.jsonl and nodes.
//
// Role: reads both without loading either completely. log_view.h decides which part of them is the
// log; log_append.h writes them.
#ifndef RHARNESS_HARNESS_TRUST_AUDIT_ENTRY_FILE_H_
#define RHARNESS_HARNESS_TRUST_AUDIT_ENTRY_FILE_H_

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "harness/base/descriptor.h"
#include "harness/base/result.h"
#include "harness/trust/audit/entry.h"
#include "harness/trust/audit/merkle.h"

namespace rharness {

inline constexpr char kEntriesFile[] = "entries.jsonl";
inline constexpr char kNodesFile[] = "nodes";
inline constexpr char kHeadsFile[] = "heads.jsonl";

inline constexpr std::uint64_t kWholeFile = ~std::uint64_t{0};

// entries.jsonl, with its length at opening.
class EntryFile {
 public:
  // The first `most_bytes` of it. A missing file is empty. Errors: io, invalid_input; integrity if
  // its last line is no entry.
  static Result<EntryFile> Open(const std::filesystem::path& folder,
                                std::uint64_t most_bytes = kWholeFile);

  // How many its last whole line says there are.
  std::uint64_t count() const { return count_; }
  std::uint64_t whole_bytes() const { return whole_bytes_; }
  // The text after the last line break: an incomplete line.
  const std::string& torn() const { return torn_; }
  const std::filesystem::path& path() const { return path_; }

  // The line of this entry, found by its index in a few reads. Errors: integrity if it is not in
  // its place.
  Result<std::string> LineAt(std::uint64_t index) const;
  // "entries.jsonl:13" of entry 12.
  std::string Where(std::uint64_t index) const;

  // All whole lines in order, without line breaks, some thousand at a time; valid during the call.
  using Batch = std::function<Status(std::span<const std::string_view>)>;
  Status ReadAll(const Batch& batch) const;

 private:
  Result<std::string> ReadAt(std::uint64_t offset, std::size_t bytes) const;
  // The first line that begins at or after `offset`, and its start.
  struct Line {
    std::uint64_t begin = 0;
    std::string text;
  };
  Result<Line> LineFrom(std::uint64_t offset) const;

  Descriptor descriptor_;
  std::filesystem::path path_;
  std::uint64_t whole_bytes_ = 0;
  std::uint64_t count_ = 0;
  std::string torn_;
};

// nodes: 32 bytes per complete subtree, in the order of merkle.h.
class NodeFile : public NodeSource {
 public:
  // The first `most_bytes` of it. A missing file is empty. Errors: io, invalid_input.
  static Result<NodeFile> Open(const std::filesystem::path& folder,
                               std::uint64_t most_bytes = kWholeFile);
  std::uint64_t size_bytes() const { return size_bytes_; }
  Result<TreeHash> Node(int level, std::uint64_t index) override;
  // Replaces `hashes` by the bytes from this offset on, fewer at the end.
  Status Read(std::uint64_t offset, std::size_t bytes, std::string* hashes) const;

 private:
  Descriptor descriptor_;
  std::filesystem::path path_;
  std::uint64_t size_bytes_ = 0;
};

}  // namespace rharness

#endif  // RHARNESS_HARNESS_TRUST_AUDIT_ENTRY_FILE_H_
