// Reads the digits. Integer parsing only: nothing here depends on the locale or on rounding.
#include "scenarios/common/digits.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <string_view>
#include <system_error>

namespace rharness::scenarios {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxImages = 1'000'000;

// One field at the front of `line`, which moves past it and its comma. -1 when it is no integer.
int TakeField(std::string_view* line) {
  const std::size_t end = std::min(line->find(','), line->size());
  int value = -1;
  const auto [stop, status] = std::from_chars(line->data(), line->data() + end, value);
  const bool whole = status == std::errc() && stop == line->data() + end;
  line->remove_prefix(std::min(end + 1, line->size()));
  return whole ? value : -1;
}

bool ParseLine(std::string_view line, Digits* digits, std::string* error) {
  const auto commas = static_cast<std::size_t>(std::count(line.begin(), line.end(), ','));
  if (commas != kPixels) {
    *error =
        fmt::format("expected {} fields separated by commas, found {}", kPixels + 1, commas + 1);
    return false;
  }
  for (std::size_t i = 0; i < kPixels; ++i) {
    const int pixel = TakeField(&line);
    if (pixel < 0 || pixel > 16) {
      *error = fmt::format("field {}: expected a pixel, an integer 0..16", i + 1);
      return false;
    }
    digits->pixels.push_back(static_cast<float>(pixel) * 0.0625f);
  }
  const int label = TakeField(&line);
  if (label < 0 || label >= static_cast<int>(kClasses)) {
    *error = fmt::format("field {}: expected a label, an integer 0..9", kPixels + 1);
    return false;
  }
  digits->labels.push_back(static_cast<std::uint8_t>(label));
  return true;
}

bool AppendFile(const fs::path& path, Digits* digits, std::string* error) {
  std::ifstream file(path);
  if (!file) {
    *error = fmt::format("{}: cannot be opened", path.string());
    return false;
  }
  std::string line;
  for (std::size_t number = 1; std::getline(file, line); ++number) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    std::string problem;
    if (digits->size() >= kMaxImages) problem = fmt::format("more than {} images", kMaxImages);
    if (!problem.empty() || !ParseLine(line, digits, &problem)) {
      *error = fmt::format("{}: line {}: {}", path.string(), number, problem);
      return false;
    }
  }
  if (file.bad()) *error = fmt::format("{}: cannot be read", path.string());
  return !file.bad();
}

bool ListShards(const fs::path& folder, ShardOrder order, std::vector<fs::path>* shards,
                std::string* error) {
  std::error_code status;
  for (fs::directory_iterator entry(folder, status), end; !status && entry != end;
       entry.increment(status)) {
    if (entry->path().extension() == ".csv") shards->push_back(entry->path());
  }
  if (status) {
    *error = fmt::format("{}: {}", folder.string(), status.message());
    return false;
  }
  if (order == ShardOrder::kSorted) std::sort(shards->begin(), shards->end());
  return true;
}

void AppendRow(const Digits& from, std::size_t row, Digits* to) {
  const auto first = from.pixels.begin() + static_cast<std::ptrdiff_t>(row * kPixels);
  to->pixels.insert(to->pixels.end(), first, first + kPixels);
  to->labels.push_back(from.labels[row]);
}

}  // namespace

bool LoadDigits(const fs::path& path, ShardOrder order, Digits* digits, std::string* error) {
  std::vector<fs::path> files;
  std::error_code status;
  if (fs::is_directory(path, status)) {
    if (!ListShards(path, order, &files, error)) return false;
  } else {
    files.push_back(path);
  }
  for (const fs::path& file : files) {
    if (!AppendFile(file, digits, error)) return false;
  }
  if (digits->size() < 5) {
    *error = fmt::format("{}: expected at least 5 images, found {}", path.string(), digits->size());
    return false;
  }
  return true;
}

Split SplitByIndex(const Digits& digits) {
  Split split;
  for (std::size_t row = 0; row < digits.size(); ++row) {
    AppendRow(digits, row, row % 5 == 4 ? &split.test : &split.train);
  }
  return split;
}

}  // namespace rharness::scenarios
