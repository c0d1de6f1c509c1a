// Lines, rows and their order; see mlflow_metrics.h.
#include "compare/curves/mlflow_metrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <tuple>

#include "compare/curves/printed_number.h"
#include "harness/base/clean_text.h"

namespace rharness {
namespace {

constexpr std::array<const char*, 5> kMlflowTables = {"experiments", "runs", "metrics", "params",
                                                      "tags"};
// What `rharness report --to` writes: a run that was drilled must be the same record as before.
constexpr std::string_view kOurMetrics = "rharness.";

std::optional<std::int64_t> WholeNumber(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// NaN before all numbers, so that an order is one.
std::pair<bool, double> Ordered(double value) {
  return std::isnan(value) ? std::pair(false, 0.0) : std::pair(true, value);
}

// Source: _log_metrics of mlflow/store/tracking/sqlalchemy_store.py.
bool RestoreInfinities(std::vector<MlflowPoint>* points) {
  bool any = false;
  for (MlflowPoint& point : *points) {
    if (std::abs(point.value) != std::numeric_limits<double>::max()) continue;
    point.value = std::copysign(std::numeric_limits<double>::infinity(), point.value);
    any = true;
  }
  return any;
}

bool CountSteps(std::vector<MlflowPoint>* points) {
  if (points->size() < 2 ||
      std::ranges::any_of(*points, [](const MlflowPoint& one) { return one.step != 0; })) {
    return false;
  }
  std::ranges::stable_sort(*points, {}, &MlflowPoint::timestamp_ms);
  for (std::size_t i = 0; i < points->size(); ++i) {
    (*points)[i].step = static_cast<std::int64_t>(i);
  }
  return true;
}

}  // namespace

bool IsMlflowSystemMetric(std::string_view name) {
  return name.starts_with("system/") || name.starts_with(kOurMetrics);
}

Result<MlflowPoint> ParseMlflowMetricLine(std::string_view line, std::string_view where,
                                          std::pair<std::string, std::string>* set) {
  const std::string_view whole = line;
  std::array<std::string_view, 5> parts;
  std::size_t count = 0;
  const auto trimmed = line.find_last_not_of(" \r\t");
  line = line.substr(0, trimmed == line.npos ? 0 : trimmed + 1);
  while (!line.empty() && count < parts.size()) {
    const std::size_t end = count + 1 == parts.size() ? line.npos : line.find(' ');
    parts[count++] = line.substr(0, end);
    line = end == line.npos ? "" : line.substr(end + 1);
  }
  const auto time = WholeNumber(parts[0]);
  const auto value = NumberOfText(parts[1]);
  const auto step = count > 2 ? WholeNumber(parts[2]) : std::optional<std::int64_t>(0);
  if (!time || !value || !step || (count != 2 && count != 3 && count != 5)) {
    return InvalidInput(fmt::format("{}; expected TIMESTAMP VALUE STEP", QuotedShort(whole)),
                        std::string(where));
  }
  if (set != nullptr) *set = {std::string(parts[3]), std::string(parts[4])};
  return MlflowPoint{*time, *step, *value};
}

std::vector<MlflowPoint> ParseMlflowMetricFile(
    std::string_view text, std::size_t* points, const std::function<void(std::string)>& remark,
    const std::function<void(std::pair<std::string, std::string>)>& take_set) {
  std::vector<MlflowPoint> read;
  for (std::size_t line = 1; !text.empty(); ++line) {
    const std::size_t end = text.find('\n');
    const std::string_view one = text.substr(0, end);
    text = end == text.npos ? "" : text.substr(end + 1);
    if (one.empty()) continue;
    std::pair<std::string, std::string> set;
    const auto point = ParseMlflowMetricLine(one, fmt::format("line {}", line), &set);
    if (!point.ok()) {
      remark(point.error().ToString());
    } else if (++*points > kMostMlflowPoints) {
      remark(
          fmt::format("the run has more than {} values; this and the following ones were left "
                      "out",
                      kMostMlflowPoints));
      break;
    } else {
      read.push_back(*point);
      if (take_set) take_set(std::move(set));
    }
  }
  return read;
}

bool IsMlflowTables(const SqliteFile& database) {
  return std::ranges::all_of(kMlflowTables,
                             [&](const char* table) { return database.HasTable(table); });
}

Status ReadMlflowMetricRows(const SqliteFile& database, const std::string& run,
                            MlflowMetrics* metrics,
                            const std::function<void(std::string)>& remark) {
  std::size_t points = 0;
  RETURN_IF_ERROR(database.ForRows(
      "SELECT key, value, timestamp, step, is_nan FROM metrics WHERE run_uuid = ?1 "
      "ORDER BY key, step, timestamp",
      run, [&](const SqliteFile::Row& row) -> Status {
        const std::string name = row.Text(0);
        auto& metric = (*metrics)[name];
        if (IsMlflowSystemMetric(name) || ++points > kMostMlflowPoints) return {};
        const double value =
            row.Integer(4) != 0 ? std::numeric_limits<double>::quiet_NaN() : row.Real(1);
        metric.push_back({row.Integer(2), row.Integer(3), value});
        return {};
      }));
  if (points > kMostMlflowPoints) {
    remark(fmt::format("the run has {} values of metrics; those after the first {} were left out",
                       points, kMostMlflowPoints));
  }
  return {};
}

MlflowOrder OrderMlflowPoints(std::vector<MlflowPoint>* points) {
  MlflowOrder order;
  order.counted = CountSteps(points);
  std::ranges::sort(*points, {}, [](const MlflowPoint& point) {
    return std::tuple(point.step, point.timestamp_ms, Ordered(point.value));
  });
  order.infinities = RestoreInfinities(points);
  return order;
}

}  // namespace rharness
