// Drawing A, its replicates and B from groups of real repeats.
#include "tests/compare/curves/repeats.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <random>
#include <set>

#include "compare/curves/curve_comparison.h"
#include "compare/stats/moments.h"
#include "harness/base/files.h"

namespace rharness {
namespace {

constexpr std::uint64_t kMaxBytes = std::uint64_t{64} << 20;
constexpr double kPrinted = 1e-4;  // four decimals

std::vector<std::string> Split(const std::string& line) {
  std::vector<std::string> cells(1);
  for (const char c : line) {
    if (c == ',') {
      cells.emplace_back();
    } else if (c != '\r') {
      cells.back() += c;
    }
  }
  return cells;
}

// The runs of a group on the steps that all of them have.
RepeatGroup Common(const std::string& name,
                   const std::map<std::string, std::map<std::int64_t, double>>& runs) {
  RepeatGroup group{.name = name};
  std::map<std::int64_t, std::size_t> seen;
  for (const auto& [run, values] : runs) {
    for (const auto& [step, value] : values) ++seen[step];
  }
  std::vector<double> late;
  for (const auto& [run, values] : runs) {
    CurveSeries series{"val_loss", {}, {}, kPrinted};
    for (const auto& [step, value] : values) {
      if (seen[step] != runs.size()) continue;
      series.steps.push_back(step);
      series.values.push_back(value);
    }
    const std::size_t quarter = std::max<std::size_t>(1, series.values.size() / 4);
    double sum = 0.0;
    for (std::size_t i = series.values.size() - quarter; i < series.values.size(); ++i) {
      sum += series.values[i];
    }
    late.push_back(sum / static_cast<double>(quarter));
    group.runs.push_back(std::move(series));
  }
  group.late_deviation = std::sqrt(stats::ComputeMoments(late).Variance());
  return group;
}

CurveSeries Shifted(CurveSeries series, double by) {
  const std::size_t quarter = std::max<std::size_t>(1, series.values.size() / 4);
  for (std::size_t i = series.values.size() - quarter; i < series.values.size(); ++i) {
    series.values[i] += by;
  }
  return series;
}

struct Tally {
  int trials = 0;
  int beyond = 0;
};

RepeatRates RatesWith(const std::vector<RepeatGroup>& all, int replicates, int trials) {
  std::vector<const RepeatGroup*> groups;
  for (const RepeatGroup& group : all) {
    if (group.runs.size() >= static_cast<std::size_t>(replicates) + 2) groups.push_back(&group);
  }
  RepeatRates rates{
      .replicates = replicates, .trials = trials, .groups = static_cast<int>(groups.size())};
  if (groups.empty()) return rates;
  std::mt19937_64 random(20261122);
  std::map<std::string, Tally> by_group;
  for (int trial = 0; trial < trials; ++trial) {
    const RepeatGroup& group = *groups[static_cast<std::size_t>(trial) % groups.size()];
    std::vector<std::size_t> order(group.runs.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    for (std::size_t i = 0; i < static_cast<std::size_t>(replicates) + 2; ++i) {
      std::swap(order[i], order[i + random() % (order.size() - i)]);
    }
    std::vector<CurveSeries> others;
    for (std::size_t i = 2; i < static_cast<std::size_t>(replicates) + 2; ++i) {
      others.push_back(group.runs[order[i]]);
    }
    const CurveSeries& a = group.runs[order[0]];
    const CurveSeries& b = group.runs[order[1]];
    const auto state = [&](double deviations) {
      return CompareCurve(a, Shifted(b, deviations * group.late_deviation), others, {}).state;
    };
    const CurveState plain = state(0.0);
    rates.beyond += plain == CurveState::kBeyond;
    rates.undecided += plain == CurveState::kUndecided;
    rates.within += plain == CurveState::kWithin || plain == CurveState::kIdentical;
    rates.found_5 += state(5.0) == CurveState::kBeyond;
    rates.found_10 += state(10.0) == CurveState::kBeyond;
    rates.found_38 += state(38.0) == CurveState::kBeyond;
    Tally& tally = by_group[group.name];
    ++tally.trials;
    tally.beyond += plain == CurveState::kBeyond;
  }
  for (double* share : {&rates.beyond, &rates.undecided, &rates.within, &rates.found_5,
                        &rates.found_10, &rates.found_38}) {
    *share /= trials;
  }
  for (const auto& [name, tally] : by_group) {
    if (tally.trials < 100) continue;
    rates.worst_group =
        std::max(rates.worst_group, static_cast<double>(tally.beyond) / tally.trials);
  }
  return rates;
}

}  // namespace

Result<std::vector<RepeatGroup>> LoadRepeats(const std::filesystem::path& csv) {
  ASSIGN_OR_RETURN(const std::string text, ReadFile(csv, kMaxBytes));
  std::map<std::string, std::map<std::string, std::map<std::int64_t, double>>> groups;
  std::map<std::string, std::size_t> columns;
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::vector<std::string> cells = Split(text.substr(begin, end - begin));
    begin = end + 1;
    if (columns.empty()) {
      for (std::size_t i = 0; i < cells.size(); ++i) columns[cells[i]] = i;
      for (const char* name : {"group", "run", "step", "val_loss"}) {
        if (!columns.contains(name)) {
          return InvalidInput(fmt::format("expected a column {}", name), csv.string());
        }
      }
      continue;
    }
    if (cells.size() != columns.size()) continue;
    groups[cells[columns["group"]]][cells[columns["run"]]]
          [std::strtoll(cells[columns["step"]].c_str(), nullptr, 10)] =
              std::strtod(cells[columns["val_loss"]].c_str(), nullptr);
  }
  std::vector<RepeatGroup> out;
  for (const auto& [name, runs] : groups) out.push_back(Common(name, runs));
  return out;
}

std::vector<RepeatRates> RatesOf(const std::vector<RepeatGroup>& groups, int trials) {
  std::vector<RepeatRates> rates;
  for (const int replicates : {0, 1, 2, 3, 4, 5, 9}) {
    rates.push_back(RatesWith(groups, replicates, trials));
  }
  return rates;
}

std::string Print(const std::vector<RepeatRates>& rates) {
  std::string out = fmt::format("{:>10} {:>7} {:>8} {:>8} {:>10} {:>8} {:>12} {:>8} {:>8} {:>8}\n",
                                "replicates", "groups", "trials", "A/A", "undecided", "within",
                                "worst group", "5 sd", "10 sd", "38 sd");
  for (const RepeatRates& r : rates) {
    out += fmt::format(
        "{:>10} {:>7} {:>8} {:>8.4f} {:>10.3f} {:>8.3f} {:>12.3f} {:>8.3f} {:>8.3f} "
        "{:>8.3f}\n",
        r.replicates, r.groups, r.trials, r.beyond, r.undecided, r.within, r.worst_group, r.found_5,
        r.found_10, r.found_38);
  }
  return out;
}

}  // namespace rharness
