// The handwritten digits: reads the CSV file, or a folder of CSV shards, and splits it by index.
#ifndef RHARNESS_SCENARIOS_COMMON_DIGITS_H_
#define RHARNESS_SCENARIOS_COMMON_DIGITS_H_

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace rharness::scenarios {

inline constexpr std::size_t kPixels = 64;   // 8 x 8, row by row
inline constexpr std::size_t kClasses = 10;  // the digits 0..9

// Images row by row, each pixel divided by 16 (exact in float), and their labels.
struct Digits {
  std::vector<float> pixels;         // size() * kPixels values in [0, 1]
  std::vector<std::uint8_t> labels;  // 0..9
  std::size_t size() const { return labels.size(); }
};

// Some rows of Digits, side by side in memory.
struct Batch {
  std::span<const float> pixels;  // size() * kPixels
  std::span<const std::uint8_t> labels;
  std::size_t size() const { return labels.size(); }
};

struct Split {
  Digits train;
  Digits test;
};

// How the shards of a folder follow each other: by name, or as the file system happens to list
// them, which differs between machines and copies of the same data.
enum class ShardOrder { kSorted, kAsListed };

// `path` is one CSV file, or a folder whose *.csv files are read one after the other. A line holds
// 64 integers 0..16 and a label 0..9, separated by commas. False and an error that names file and
// line for a missing file, an empty data set, a wrong count of fields, or a value out of range.
bool LoadDigits(const std::filesystem::path& path, ShardOrder order, Digits* digits,
                std::string* error);

// Rows whose index leaves 4 when divided by 5 are the test set: 359 of 1,797.
Split SplitByIndex(const Digits& digits);

}  // namespace rharness::scenarios

#endif  // RHARNESS_SCENARIOS_COMMON_DIGITS_H_
