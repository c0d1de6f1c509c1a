// The final origin of an imported run: its fields by path, and missing ones.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

#include "harness/records/intake/imported_run.h"

namespace rharness {
namespace {

// What a rerun needs of any run; one that no importer set is named as missing.
constexpr std::array<std::string_view, 12> kNeeded = {"code.repository",
                                                      "code.commit",
                                                      "image",
                                                      "data",
                                                      "command",
                                                      "hyperparameters",
                                                      "seeds",
                                                      "environment.variables",
                                                      "environment.software",
                                                      "environment.hardware",
                                                      "metrics",
                                                      "artifacts"};

bool IsPartOf(std::string_view path, std::string_view whole) {
  return path.starts_with(whole) &&
         (path.size() == whole.size() || path[whole.size()] == '.' || path[whole.size()] == '[');
}

bool NamesSeed(std::string_view name) {
  std::string lower(name);
  for (char& c : lower) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  return lower.find("seed") != lower.npos || lower == "random_state";
}

// Sorted; the last entry of a field counts.
std::vector<FieldOrigin> ByPath(std::vector<FieldOrigin> fields) {
  std::vector<std::size_t> order(fields.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, [&](std::size_t a, std::size_t b) {
    const int compared = fields[a].path.compare(fields[b].path);
    return compared != 0 ? compared < 0 : a > b;
  });
  std::vector<FieldOrigin> sorted;
  sorted.reserve(fields.size());
  for (const std::size_t i : order) {
    if (sorted.empty() || sorted.back().path != fields[i].path) {
      sorted.push_back(std::move(fields[i]));
    }
  }
  return sorted;
}

}  // namespace

Manifest ImportedRun::Take() && {
  for (const auto& [name, value] : manifest_.hyperparameters) {
    if (!NamesSeed(name) || manifest_.seeds.contains(name)) continue;
    Remark(
        fmt::format("hyperparameters.{} may be a seed; say which generator it is of: "
                    "`rharness import --complete --seed NAME=INTEGER`",
                    name));
  }
  if (further_remarks_ > 0) {
    origin_.remarks.push_back(fmt::format("and {} more", further_remarks_));
  }
  for (const std::string_view needed : kNeeded) {
    const bool set = std::ranges::any_of(
        origin_.fields, [&](const FieldOrigin& field) { return IsPartOf(field.path, needed); });
    if (!set) origin_.fields.push_back({std::string(needed), Grade::kMissing, ""});
  }
  origin_.fields = ByPath(std::move(origin_.fields));
  manifest_.origin = std::move(origin_);
  return std::move(manifest_);
}

}  // namespace rharness
