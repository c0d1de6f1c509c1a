// Reading labelled sets, planting faults, counting.
#include "tests/compare/curves/curve_sets.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "compare/curves/curve_files.h"
#include "tests/compare/curves/planted_faults.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

const CurveSeries* LossOf(const std::vector<CurveSeries>& curves, const std::string& name) {
  const CurveSeries* first = nullptr;
  for (const CurveSeries& curve : curves) {
    if (KindOfCurve(curve.name) != CurveKind::kLoss) continue;
    if (curve.name == name) return &curve;
    if (first == nullptr) first = &curve;
  }
  return first;
}

double LargestRelative(const CurveComparison& c) {
  double largest = 0.0;
  for (std::size_t i = 0; i < c.steps.size(); ++i) {
    if (!std::isfinite(c.a[i]) || !std::isfinite(c.b[i]) || c.a[i] == c.b[i]) continue;
    largest = std::max(largest, std::fabs(c.b[i] - c.a[i]) / std::fabs(c.a[i]));
  }
  return largest;
}

LabelledSet LoadSet(const fs::path& folder) {
  LabelledSet set{.name = folder.filename().string()};
  set.control = set.name.starts_with("control");
  std::vector<fs::path> paths;
  for (const auto& entry : fs::directory_iterator(folder)) paths.push_back(entry.path());
  std::ranges::sort(paths);
  for (const fs::path& path : paths) {
    const auto before = LoadCurves(path / "before.json");
    const auto after = LoadCurves(path / "after.json");
    const CurveSeries* a = before.ok() ? LossOf(*before, "lm loss") : nullptr;
    const CurveSeries* b = after.ok() && a != nullptr ? LossOf(*after, a->name) : nullptr;
    if (a == nullptr || b == nullptr || a->name != b->name) {
      ++set.without_loss;
      continue;
    }
    LabelledPair pair{path.filename().string(), *a, *b, 0.0};
    pair.largest = LargestRelative(CompareCurve(*a, *b, {}, {}));
    set.pairs.push_back(std::move(pair));
  }
  return set;
}

using Plant = std::function<CurveSeries(const CurveSeries&)>;

std::vector<std::pair<std::string, Plant>> Faults() {
  std::vector<std::pair<std::string, Plant>> faults;
  const auto add = [&](std::string name, Plant plant) {
    faults.emplace_back(std::move(name), std::move(plant));
  };
  for (const double size : {5e-4, 1e-3, 2e-3, 5e-3, 1e-2, 5e-2}) {
    const std::string percent = fmt::format("{:g} %", 100.0 * size);
    add("offset " + percent, [=](const CurveSeries& s) { return PlantOffset(s, 0, size); });
    add("from halfway " + percent,
        [=](const CurveSeries& s) { return PlantOffset(s, s.steps[s.steps.size() / 2], size); });
    add("growing " + percent, [=](const CurveSeries& s) { return PlantGrowing(s, size); });
    add("spike " + percent, [=](const CurveSeries& s) { return PlantSpike(s, size); });
  }
  for (const double share : {0.02, -0.02, 0.05, -0.05}) {
    add(fmt::format("learning rate {:+g} %", -100.0 * share),
        [=](const CurveSeries& s) { return PlantSlip(s, s.steps.front(), share); });
  }
  add("doubled", [](const CurveSeries& s) { return PlantOffset(s, 0, 1.0); });
  add("zeros", [](const CurveSeries& s) { return PlantOffset(s, 0, -1.0); });
  return faults;
}

CurveSeries Finite(const CurveSeries& series) {
  CurveSeries out{series.name, {}, {}, series.quantum};
  for (std::size_t i = 0; i < series.values.size(); ++i) {
    if (!std::isfinite(series.values[i])) continue;
    out.steps.push_back(series.steps[i]);
    out.values.push_back(series.values[i]);
  }
  return out;
}

std::map<std::string, int>& ClassOf(const LabelledPair& pair, SetTable* table) {
  if (pair.largest >= kLargeChange) return table->large;
  return pair.largest < kSmallChange ? table->small : table->between;
}

SetTable Judge(const LabelledSet& set, double score_limit) {
  SetTable table{.name = set.name, .control = set.control};
  CurveRules rules;
  table.score_limit = rules.score_limit = score_limit;
  for (const auto& [name, plant] : Faults()) table.faults.emplace_back(name, Counted{});
  for (const LabelledPair& pair : set.pairs) {
    const CurveComparison found = CompareCurve(pair.before, pair.after, {}, rules);
    ++ClassOf(pair, &table)[std::string(CurveStateName(found.state))];
    if (pair.largest >= kSmallChange || found.first_non_finite) continue;
    if (found.basis == "upgrades") {
      table.largest_score = std::max(table.largest_score, found.statistic * score_limit);
    }
    const CurveSeries after = Finite(pair.after);
    if (found.state == CurveState::kVacuous || after.values.size() < 5) continue;
    std::size_t i = 0;
    for (const auto& [name, plant] : Faults()) {
      Counted& counted = table.faults[i++].second;
      ++counted.trials;
      const CurveComparison faulty = CompareCurve(Finite(pair.before), plant(after), {}, rules);
      counted.found += faulty.state == CurveState::kBeyond;
    }
  }
  return table;
}

int Sum(const std::map<std::string, int>& states) {
  int sum = 0;
  for (const auto& [state, count] : states) sum += count;
  return sum;
}

std::string StatesOf(const std::map<std::string, int>& states) {
  std::string text;
  for (const auto& [state, count] : states) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, state);
  }
  return states.empty() ? "none" : fmt::format("{}: {}", Sum(states), text);
}

}  // namespace

Result<std::vector<LabelledSet>> LoadLabelledSets(const fs::path& folder) {
  std::error_code error;
  std::vector<fs::path> paths;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    if (it->is_directory(error)) paths.push_back(it->path());
  }
  if (error) return NotFound("cannot be listed: " + error.message(), folder.string());
  if (paths.empty()) return NotFound("holds no folder of pairs", folder.string());
  std::ranges::sort(paths);
  std::vector<LabelledSet> sets;
  for (const fs::path& path : paths) sets.push_back(LoadSet(path));
  return sets;
}

std::vector<SetTable> TableOf(const std::vector<LabelledSet>& sets) {
  // The scores do not depend on the limit that they are held to.
  std::vector<UpgradeScore> scores;
  for (const LabelledSet& set : sets) {
    UpgradeScore score{.name = set.name};
    for (const LabelledPair& pair : set.pairs) {
      if (pair.largest >= kSmallChange) continue;
      const CurveComparison found = CompareCurve(pair.before, pair.after, {}, {});
      if (found.basis != "upgrades") continue;
      ++score.pairs;
      score.largest = std::max(score.largest, found.statistic * CurveRules{}.score_limit);
    }
    scores.push_back(score);
  }
  std::vector<SetTable> tables;
  for (std::size_t i = 0; i < sets.size(); ++i) {
    std::vector<UpgradeScore> others;
    for (std::size_t j = 0; j < sets.size(); ++j) {
      if (j != i && scores[j].pairs > 0) others.push_back(scores[j]);
    }
    tables.push_back(
        Judge(sets[i], others.empty() ? CurveRules{}.score_limit : ScoreLimit(others)));
  }
  return tables;
}

std::string Print(const std::vector<SetTable>& tables) {
  std::string out;
  for (const SetTable& table : tables) {
    out += fmt::format("{}\n  less than 0.5 %  {}\n  between          {}\n  1 % and more     {}\n",
                       table.name, StatesOf(table.small), StatesOf(table.between),
                       StatesOf(table.large));
    out += fmt::format("  largest score {:.3f}, limit from the other sets {:.3f}\n",
                       table.largest_score, table.score_limit);
  }
  out += fmt::format("\n{:<24}", "faults found");
  for (const SetTable& table : tables) out += fmt::format("{:>22}", table.name);
  out += fmt::format("\n{:<24}", "trials each");
  for (const SetTable& table : tables) {
    out += fmt::format("{:>22}", table.faults.front().second.trials);
  }
  for (std::size_t i = 0; i < tables.front().faults.size(); ++i) {
    out += fmt::format("\n{:<24}", tables.front().faults[i].first);
    for (const SetTable& table : tables) {
      out += fmt::format("{:>22.3f}", table.faults[i].second.Share());
    }
  }
  return out + "\n";
}

}  // namespace rharness
