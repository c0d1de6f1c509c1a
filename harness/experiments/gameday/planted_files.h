// Plants faults in copies of files: the data that a rerun reads, the checkpoint that one left.
//
// Role: the only files that a game day changes, all of them its own. Draws (a row, a bit) follow
// from `key` alone, so that a resumed game day repeats them.
#ifndef RHARNESS_HARNESS_EXPERIMENTS_GAMEDAY_PLANTED_FILES_H_
#define RHARNESS_HARNESS_EXPERIMENTS_GAMEDAY_PLANTED_FILES_H_

#include <cstdint>
#include <filesystem>
#include <string_view>

#include "harness/base/result.h"
#include "harness/experiments/gameday/faults.h"

namespace rharness {

inline constexpr std::uint64_t kMostDataBytes = std::uint64_t{1} << 28;  // of a file with rows

// Writes `to`, a copy of the text file `from` with one row replaced by a copy of another
// (kDataRow), or all rows shuffled (kDataOrder). The first line stays: it may name the columns.
// Errors: unsupported (no text, fewer than 4 rows, larger than kMostDataBytes, all rows alike); io.
Status PlantInRows(FaultKind kind, const std::filesystem::path& from,
                   const std::filesystem::path& to, std::string_view key);

// Writes `to`, a copy of the safetensors file `from` with one bit of one element flipped, one
// tensor set to zero, or every fp32 value rounded to bfloat16 (to nearest, ties to even). At least
// one bit differs. Errors: unsupported (another format, nothing to change); io.
Status PlantInTensors(FaultKind kind, const std::filesystem::path& from,
                      const std::filesystem::path& to, std::string_view key);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_EXPERIMENTS_GAMEDAY_PLANTED_FILES_H_
