// SHA-256 of bytes and files. OpenSSL computes single streams; two streams run interleaved on the
// SHA extensions if the CPU has them (digest_pair.h).
#ifndef RHARNESS_HARNESS_BASE_DIGEST_H_
#define RHARNESS_HARNESS_BASE_DIGEST_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/descriptor.h"
#include "harness/base/result.h"

namespace rharness {

using Sha256Bytes = std::array<std::uint8_t, 32>;

// Incremental SHA-256 (FIPS 180-4). Not thread-safe; movable.
class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(Sha256&&) noexcept;
  Sha256& operator=(Sha256&&) noexcept;
  void Update(std::span<const std::byte> bytes);
  void Update(std::string_view text);
  void UpdateU64(std::uint64_t value);  // eight bytes, little-endian
  Sha256Bytes Finish();                 // once; the object is spent afterwards

 private:
  struct State;
  std::unique_ptr<State> state_;
};

Sha256Bytes Sha256Of(std::span<const std::byte> bytes);
std::string Sha256HexOf(std::string_view text);  // 64 lower-case hex digits
std::string ToHex(std::span<const std::uint8_t> bytes);
bool IsSha256Hex(std::string_view text);  // 64 lower-case hex digits

struct FileDigest {
  std::string sha256;  // hex
  std::uint64_t size_bytes = 0;
};

// Digest of a regular file's content; refuses anything else and never blocks on it. Errors, with
// the path in `where`: not_found, io, invalid_input (no regular file).
Result<FileDigest> HashFile(const std::filesystem::path& path);

// Digests of many files, in the order given, on up to `threads` threads (0: one per core). One
// entry per path: an unreadable file does not hide the others.
std::vector<Result<FileDigest>> HashFiles(std::span<const std::filesystem::path> paths,
                                          int threads = 0);

struct TreeDigest {
  std::string sha256;  // hex
  std::uint64_t size_bytes = 0;
  std::uint64_t files = 0;
  std::vector<std::string> empty_folders;  // relative, sorted by bytes; no part of sha256
};

// Digest of a file (its own SHA-256) or of a directory: SHA-256 over "rharness.tree/v1\0" and, for
// every regular file below it sorted by relative path bytes, u64 path length, path, u64 size, 32
// digest bytes. Names, contents and empty files count; times, modes and owners do not. Empty
// directories are listed beside it. A symbolic link, socket or device below the root is an error
// (invalid_input): its target could change unseen. The root itself may be a symbolic link.
Result<TreeDigest> HashTree(const std::filesystem::path& path, int threads = 0);

// The name that git gives an object: the hash over "TYPE SIZE\0" and the content, in hex; SHA-1, or
// SHA-256 in repositories whose names have 64 digits. Source: Pro Git, "Git Objects".
enum class GitHash { kSha1, kSha256 };
std::string GitObjectName(std::string_view type, std::string_view content, GitHash hash);
// The name of a file's content as a blob. Errors: io; integrity when the file's length changed
// since it was opened.
Result<std::string> GitBlobName(const OpenedFile& file, GitHash hash);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_BASE_DIGEST_H_
