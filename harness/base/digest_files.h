// Hashes the contents of many files; digest.h is its interface.
#ifndef RHARNESS_HARNESS_BASE_DIGEST_FILES_H_
#define RHARNESS_HARNESS_BASE_DIGEST_FILES_H_

#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

#include "harness/base/digest.h"
#include "harness/base/digest_pair.h"

namespace rharness {

struct ContentDigest {
  Sha256Bytes sha256{};
  std::uint64_t size_bytes = 0;
};

// What to do when the last component of a path is a symbolic link.
enum class LinkPolicy { kFollow, kRefuse };

// HashFiles with binary digests. Only regular files are read: anything else is invalid_input and
// never blocks. Errors, each in its own entry: not_found, io, invalid_input.
std::vector<Result<ContentDigest>> HashFileContents(std::span<const std::filesystem::path> paths,
                                                    int threads, LinkPolicy links,
                                                    PairEngine engine = BestPairEngine());

}  // namespace rharness

#endif  // RHARNESS_HARNESS_BASE_DIGEST_FILES_H_
