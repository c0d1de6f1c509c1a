// Kept checkpoints, one after the other.
#include "harness/experiments/onset/checkpoint_line.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "harness/judge/comparison/subject.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostEntries = 100000;

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// "step-#.safetensors" and {100}; numbers of more than 15 digits are words.
std::pair<std::string, std::vector<std::int64_t>> Skeleton(std::string_view name) {
  std::string skeleton;
  std::vector<std::int64_t> numbers;
  for (std::size_t i = 0; i < name.size();) {
    std::size_t end = i;
    while (end < name.size() && IsDigit(name[end])) ++end;
    if (end == i) {
      skeleton += name[i++];
    } else if (end - i > 15) {
      skeleton += name.substr(i, end - i);
      i = end;
    } else {
      skeleton += '#';
      numbers.push_back(std::stoll(std::string(name.substr(i, end - i))));
      i = end;
    }
  }
  return {std::move(skeleton), std::move(numbers)};
}

struct PairOfPoints {
  LinePoint* a = nullptr;
  LinePoint* b = nullptr;
};

Status ReadParts(LinePoint* point) {
  if (!point->parts.empty()) return {};
  ASSIGN_OR_RETURN(Subject subject, LoadSubject(point->path, {}));
  point->parts = std::move(subject.weights);
  for (RecordedCheckpoint& part : point->parts) part.path = "checkpoint";
  return {};
}

// Each differing tensor, in the order of the network if known.
void TakeTensors(const CheckpointComparison& comparison, const std::vector<std::string>& order,
                 OnsetReport* report) {
  std::map<std::string_view, std::size_t> places;
  for (const std::string& name : order) places.emplace(name, places.size());
  for (const TensorDifference& one : comparison.difference.differing) {
    const double norm = std::max(one.norm_a, one.norm_b);
    report->tensors.push_back({.name = one.name,
                               .elements = one.elements,
                               .differing = one.differing,
                               .max_abs = one.max_abs,
                               .relative = norm > 0.0 ? one.norm_difference / norm : std::nan(""),
                               .max_ulp = one.max_ulp});
  }
  const auto place = [&](const std::string& name) {
    const auto found = places.find(name);
    return found == places.end() ? places.size() : found->second;
  };
  std::ranges::sort(report->tensors, [&](const OnsetTensor& a, const OnsetTensor& b) {
    const std::size_t at_a = place(a.name);
    const std::size_t at_b = place(b.name);
    return at_a != at_b ? at_a < at_b : NaturallyBefore(a.name, b.name);
  });
  report->tensor_order = order.empty()
                             ? "in the order of their names, numbers as numbers: a checkpoint does "
                               "not keep that of the network"
                             : "in the order of the network, as the trace has it";
}

// Equal, differs or not compared.
Result<CheckpointState> ComparePoints(LinePoint* a, LinePoint* b,
                                      const std::vector<std::string>& order, OnsetReport* report) {
  RETURN_IF_ERROR(ReadParts(a));
  RETURN_IF_ERROR(ReadParts(b));
  ASSIGN_OR_RETURN(const std::vector<CheckpointComparison> comparisons,
                   CompareCheckpoints(a->parts, b->parts, {}));
  CheckpointState state = CheckpointState::kNotCompared;
  for (const CheckpointComparison& one : comparisons) {
    if (one.difference.vacuous) continue;
    if (!one.difference.bit_equal) {
      state = CheckpointState::kDiffers;
      if (one.weights) TakeTensors(one, order, report);
      if (!one.first_shape_or_dtype.empty()) report->notes.push_back(one.first_shape_or_dtype);
    } else if (state != CheckpointState::kDiffers) {
      state = CheckpointState::kEqual;
    }
  }
  return state;
}

}  // namespace

bool NaturallyBefore(std::string_view a, std::string_view b) {
  std::size_t i = 0;
  std::size_t j = 0;
  const auto run = [](std::string_view text, std::size_t from) {
    std::size_t to = from;
    while (to < text.size() && IsDigit(text[to])) ++to;
    std::size_t first = from;
    while (first + 1 < to && text[first] == '0') ++first;
    return std::pair(text.substr(first, to - first), to);
  };
  while (i < a.size() && j < b.size()) {
    if (IsDigit(a[i]) && IsDigit(b[j])) {
      const auto [number_a, end_a] = run(a, i);
      const auto [number_b, end_b] = run(b, j);
      if (number_a.size() != number_b.size()) return number_a.size() < number_b.size();
      if (number_a != number_b) return number_a < number_b;
      i = end_a;
      j = end_b;
    } else {
      if (a[i] != b[j]) return a[i] < b[j];
      ++i;
      ++j;
    }
  }
  if ((i < a.size()) != (j < b.size())) return j < b.size();
  return a < b;
}

std::vector<std::pair<std::size_t, std::int64_t>> LineOfNames(
    const std::vector<std::string>& names) {
  std::map<std::string, std::vector<std::size_t>> groups;
  std::vector<std::vector<std::int64_t>> numbers;
  for (std::size_t i = 0; i < names.size(); ++i) {
    auto [skeleton, found] = Skeleton(names[i]);
    groups[skeleton].push_back(i);
    numbers.push_back(std::move(found));
  }
  std::vector<std::pair<std::size_t, std::int64_t>> line;
  for (const auto& [skeleton, members] : groups) {
    std::vector<std::size_t> varying;
    const std::size_t count = numbers[members.front()].size();
    for (std::size_t at = 0; at < count; ++at) {
      std::set<std::int64_t> values;
      for (const std::size_t member : members) values.insert(numbers[member][at]);
      if (values.size() > 1) varying.push_back(at);
    }
    if (varying.size() != 1 || members.size() <= line.size()) continue;
    line.clear();
    for (const std::size_t member : members) {
      line.emplace_back(member, numbers[member][varying.front()]);
    }
  }
  if (line.empty() && names.size() == 1) line.emplace_back(0, 0);
  std::ranges::sort(line, {}, [](const auto& one) { return one.second; });
  return line;
}

std::vector<LinePoint> LineOf(std::vector<RecordedCheckpoint> checkpoints) {
  const auto is_weights = [](const RecordedCheckpoint& one) { return one.role == "weights"; };
  if (std::ranges::any_of(checkpoints, is_weights)) {
    std::erase_if(checkpoints, [&](const RecordedCheckpoint& one) { return !is_weights(one); });
  }
  std::vector<std::string> names;
  for (const RecordedCheckpoint& one : checkpoints) names.push_back(one.path);
  std::vector<LinePoint> points;
  for (const auto& [index, number] : LineOfNames(names)) {
    LinePoint point{.name = names[index], .number = number};
    point.parts.push_back(std::move(checkpoints[index]));
    point.parts.back().path = "checkpoint";
    points.push_back(std::move(point));
  }
  return points;
}

std::vector<LinePoint> LineIn(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (auto it = fs::directory_iterator(folder, error); !error && it != fs::directory_iterator();
       it.increment(error)) {
    const std::string name = it->path().filename().string();
    if (std::ranges::any_of(name, IsDigit)) names.push_back(name);
    if (names.size() > kMostEntries) break;
  }
  std::ranges::sort(names);
  std::vector<LinePoint> points;
  for (const auto& [index, number] : LineOfNames(names)) {
    points.push_back(
        {.name = names[index], .number = number, .parts = {}, .path = folder / names[index]});
  }
  return points;
}

Status CompareLines(std::vector<LinePoint> a, std::vector<LinePoint> b,
                    const std::vector<std::string>& order, OnsetReport* report) {
  std::map<std::int64_t, PairOfPoints> pairs;
  for (LinePoint& point : a) pairs[point.number].a = &point;
  for (LinePoint& point : b) pairs[point.number].b = &point;
  bool parted = false;
  for (auto& [number, pair] : pairs) {
    OnsetCheckpoint checkpoint{.name = (pair.a != nullptr ? pair.a : pair.b)->name,
                               .number = number};
    if (pair.a == nullptr || pair.b == nullptr) {
      checkpoint.state = pair.a != nullptr ? CheckpointState::kOnlyA : CheckpointState::kOnlyB;
    } else if (parted) {
      checkpoint.state = CheckpointState::kNotCompared;
    } else {
      ASSIGN_OR_RETURN(checkpoint.state, ComparePoints(pair.a, pair.b, order, report));
      parted = checkpoint.state == CheckpointState::kDiffers;
    }
    report->checkpoints.push_back(std::move(checkpoint));
  }
  return {};
}

}  // namespace rharness
