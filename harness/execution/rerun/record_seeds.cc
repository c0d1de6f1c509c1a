// Seeds and generators of a recorded run, and whether a seed is one that a rerun sets again.
//
// From one run it cannot be seen whether a number that it set as a seed is fixed or came from a
// clock, an address or the system. It is taken as fixed if the run was given it:
//
//   it is a number of the command, of a recorded environment variable, or of a source or settings
//   file of the run that the run itself did not write; or one that packages use by default (0, 42,
//   ...); or such a seed that is set, and at most kMostOffset more, as of a rank or a worker.
//
// Others are of unknown origin: derived from these, a package's own constant, or drawn. They stay
// seeds, with a hint that says so: a rerun that draws others shows it by its outputs.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <system_error>
#include <vector>

#include "harness/base/files.h"
#include "harness/base/source_folder.h"
#include "harness/execution/rerun/record_find.h"
#include "harness/records/observe/files_seen.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

constexpr int kMostSeeds = 8;  // of one function
constexpr std::int64_t kMostOffset = 1024;
constexpr std::size_t kMostGivenFiles = 2000;
constexpr std::size_t kMostGivenBytes = std::size_t{1} << 20;  // of one file
constexpr auto kUsualSeeds =
    std::to_array<std::int64_t>({0, 1, 42, 123, 1234, 1337, 3407, 5489, 12345});

using Numbers = std::set<std::int64_t>;

// Numbers of a text, decimal or hexadecimal, as Python writes them: "1_000", "-3", "0x2a".
void AddNumbers(std::string_view text, Numbers* out) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  for (std::size_t at = 0; at < text.size();) {
    if (!is_digit(text[at])) {
      ++at;
      continue;
    }
    const bool negative = at > 0 && text[at - 1] == '-';
    const bool hex = text.substr(at).starts_with("0x") || text.substr(at).starts_with("0X");
    std::string digits(negative ? "-" : "");
    at += hex ? 2 : 0;
    for (; at < text.size(); ++at) {
      const char c = text[at];
      const bool letter = hex && ((c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'));
      if (c != '_' && !is_digit(c) && !letter) break;
      if (c != '_') digits += c;
    }
    std::int64_t number = 0;
    const auto read =
        std::from_chars(digits.data(), digits.data() + digits.size(), number, hex ? 16 : 10);
    if (read.ec != std::errc() || read.ptr != digits.data() + digits.size()) continue;
    out->insert(number);
    if (negative && number != std::numeric_limits<std::int64_t>::min()) out->insert(-number);
  }
}

bool IsGivenName(std::string_view path) {
  return (IsSourceName(path) && !path.ends_with(".so")) || path.ends_with(".json") ||
         path.ends_with(".txt") || path.ends_with(".env") || path.ends_with(".conf") ||
         path.ends_with(".ipynb");
}

// What a run was given, and did not write itself.
Numbers NumbersGiven(const RecordRequest& request, const fs::path& folder, const Recording& run) {
  Numbers given(kUsualSeeds.begin(), kUsualSeeds.end());
  for (const std::string& word : request.command) AddNumbers(word, &given);
  // A rerun has no others.
  for (const auto& [name, value] : run.environment.variables) {
    if (value) AddNumbers(*value, &given);
  }
  std::size_t files = 0;
  const auto add = [&](const fs::path& path) {
    std::error_code ignored;
    if (files == kMostGivenFiles || fs::file_size(path, ignored) > kMostGivenBytes || ignored ||
        IsChangedSince(path, run.started)) {
      return;
    }
    ++files;
    if (const auto text = ReadFile(path); text.ok()) AddNumbers(*text, &given);
  };
  for (const SeenInput& input : run.observation->inputs.value_or(std::vector<SeenInput>())) {
    if (IsGivenName(input.path)) add(folder / input.path);
  }
  for (const DataItem& item : run.data) {
    if (IsGivenName(item.path)) add(folder / item.path);
  }
  for (const std::string& word : request.command) {
    if (IsGivenName(word)) add(folder / word);
  }
  // Those of a commit are not listed one by one.
  const auto source = SourceFolder::Open(folder.string());
  if (!source.ok()) return given;
  (void)source->ForEachFile([&](const std::string& relative, EntryKind kind) -> Result<bool> {
    if (kind == EntryKind::kFile && IsGivenName(relative)) add(folder / relative);
    return files < kMostGivenFiles;
  });
  return given;
}

std::optional<std::int64_t> WholeNumber(std::string_view value) {
  std::int64_t seed = 0;
  const auto read = std::from_chars(value.data(), value.data() + value.size(), seed);
  if (read.ec != std::errc() || read.ptr != value.data() + value.size()) return std::nullopt;
  return seed;
}

// The numbers of a seed that is a number, or several as NumPy takes them: "[7, 11]".
std::vector<std::int64_t> NumbersOf(std::string_view value) {
  std::vector<std::int64_t> numbers;
  const bool list = value.starts_with('[') && value.ends_with(']');
  if (list) value = value.substr(1, value.size() - 2);
  while (!value.empty()) {
    const auto number = WholeNumber(value.substr(0, value.find(", ")));
    if (!number) return {};
    numbers.push_back(*number);
    const auto next = value.find(", ");
    value = list && next != value.npos ? value.substr(next + 2) : "";
  }
  return numbers;
}

// Those of the seeds that were set that are fixed.
Numbers FixedSeeds(const Numbers& set, const Numbers& given) {
  Numbers fixed;
  std::optional<std::int64_t> last;  // that was given
  for (const std::int64_t seed : set) {
    if (given.contains(seed)) last = seed;
    const bool near = last && (*last > 0 || seed <= kMostOffset) &&
                      seed <= std::numeric_limits<std::int64_t>::max() - kMostOffset &&
                      seed - *last <= kMostOffset;
    if (given.contains(seed) || near) fixed.insert(seed);
  }
  return fixed;
}

}  // namespace

void FindRandomness(const RecordRequest& request, const fs::path& folder, Recording* out) {
  if (!out->observation || !request.seeds.empty() || !request.rng_sources.empty()) return;
  Numbers set;
  for (const auto& [source, values] : out->observation->seeds) {
    for (const std::string& value : values) {
      for (const std::int64_t seed : NumbersOf(value)) set.insert(seed);
    }
  }
  const Numbers fixed =
      set.empty() ? Numbers() : FixedSeeds(set, NumbersGiven(request, folder, *out));
  for (const auto& [source, values] : out->observation->seeds) {
    int count = 0;
    std::string unseeded;  // the first value that is no seed
    for (const std::string& value : values) {
      // What a package draws for itself is in no hands of the run.
      if (PlaceOfDraw(value).starts_with(kPackagePlace)) continue;
      const std::vector<std::int64_t> seeds = NumbersOf(value);
      // An object, such as a generator that is handed on, stands for one that has its own entry.
      const bool object = value.starts_with('<');
      if (seeds.empty() && !object && unseeded.empty()) unseeded = "it has no seed: " + value;
      for (const std::int64_t seed : seeds) {
        if (count == kMostSeeds) break;
        const std::string name = ++count == 1 ? source : fmt::format("{} {}", source, count);
        out->found.seeds[name] = seed;
        MarkFound("seeds." + name,
                  fixed.contains(seed)
                      ? "the run set it"
                      : "the run set it; whether it is fixed is not known, since neither the "
                        "command, nor a recorded variable, nor a source or settings of the run "
                        "has it",
                  out);
      }
    }
    if (unseeded.empty()) continue;
    // One without a seed beside seeded ones is a source of its own.
    const std::string name = count == 0 ? source : source + " (without a seed)";
    out->found.rng_sources.push_back(name);
    MarkFound("rng_sources." + name, unseeded, out);
  }
}

}  // namespace rharness
