// The kept checkpoints of a run as a line: those whose names differ in one number.
//
// Role: pure except for reading checkpoints. The first differing one of a line bounds where two
// runs part: after the last equal one.
#ifndef RHARNESS_HARNESS_EXPERIMENTS_ONSET_CHECKPOINT_LINE_H_
#define RHARNESS_HARNESS_EXPERIMENTS_ONSET_CHECKPOINT_LINE_H_

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compare/compare_checkpoints.h"
#include "reports/onset_report.h"

namespace rharness {

struct LinePoint {
  std::string name;  // "checkpoint-500/model.safetensors"
  std::int64_t number = 0;
  std::vector<RecordedCheckpoint> parts;  // weights and optimizer state; empty: read from `path`
  std::filesystem::path path;
};

// Finds the names that form a line: their parts between numbers are equal, one number differs, and
// they are most. Returns the number of each, by its index; a single name is a line of its own,
// without a number (0). Several names without a line: none.
std::vector<std::pair<std::size_t, std::int64_t>> LineOfNames(
    const std::vector<std::string>& names);

// The weights of a subject (without any, all its checkpoints), or the entries of a folder whose
// names have a number.
std::vector<LinePoint> LineOf(std::vector<RecordedCheckpoint> checkpoints);
std::vector<LinePoint> LineIn(const std::filesystem::path& folder);

// "layers.2" before "layers.10".
bool NaturallyBefore(std::string_view a, std::string_view b);

// Compares both lines, number by number, up to the first difference, into `report`. `order`: the
// names of tensors as in a trace; empty: ordered by NaturallyBefore, since a checkpoint file's own
// order is that of names or types and not of the network. Errors: those of CompareCheckpoints.
Status CompareLines(std::vector<LinePoint> a, std::vector<LinePoint> b,
                    const std::vector<std::string>& order, OnsetReport* report);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_EXPERIMENTS_ONSET_CHECKPOINT_LINE_H_
