// What the comparison of loss curves finds and what it does not, on published curves: pairs before
// and after a real upgrade, with faults planted, beside the rules that are in use.
//
// Source of the curves: NVIDIA Megatron-LM, golden values before and after commits 2795ebde97 (an
// upgrade) and 93ebf8d72f (no change of losses). The limit that judges a pair is fitted to the
// pairs of other models.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "compare/curves/curve_comparison.h"
#include "compare/curves/curve_files.h"
#include "compare/curves/growth_model.h"
#include "compare/stats/moments.h"
#include "tests/compare/curves/planted_faults.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

fs::path SharedData() {
  const char* folder = std::getenv("RHARNESS_SHARED_DATA");
  return folder != nullptr ? fs::path(folder) : fs::path(RHARNESS_SOURCE_DIR) / "../shared/data";
}

struct Pair {
  std::string name;
  std::string model;
  std::string architecture;
  CurveSeries before;
  CurveSeries after;
};

// What is trained, whatever the layout, the GPU or the length of the run.
std::string ModelOf(const std::string& name) {
  const std::string family = name.substr(0, name.find("__"));
  const auto has = [&](const char* word) { return name.find(word) != name.npos; };
  if (family == "t5") return has("t5_11b") ? "t5_11b" : "t5_220m";
  if (family != "gpt") return family;
  for (const char* variant : {"gpt3_7b", "rope", "swiglu", "disable_bias", "untie", "mla",
                              "qk_layernorm", "decoupled_lr"}) {
    if (has(variant)) return std::string("gpt ") + variant;
  }
  return "gpt plain";
}

// The pairs that have a loss curve on both sides.
std::vector<Pair> LoadPairs(const fs::path& folder) {
  std::vector<fs::path> folders;
  for (const auto& entry : fs::directory_iterator(folder)) folders.push_back(entry.path());
  std::sort(folders.begin(), folders.end());
  std::vector<Pair> pairs;
  for (const fs::path& path : folders) {
    const auto before = LoadCurves(path / "before.json");
    const auto after = LoadCurves(path / "after.json");
    if (!before.ok() || !after.ok()) continue;
    const std::string name = path.filename().string();
    Pair pair{name, ModelOf(name), name.substr(0, name.find("__")), {}, {}};
    for (const CurveSeries& series : *before) {
      if (series.name == "lm loss") pair.before = series;
    }
    for (const CurveSeries& series : *after) {
      if (series.name == "lm loss") pair.after = series;
    }
    if (!pair.before.steps.empty()) pairs.push_back(std::move(pair));
  }
  return pairs;
}

double LargestRelative(const Pair& pair) {
  double largest = 0.0;
  for (std::size_t i = 0; i < pair.before.values.size(); ++i) {
    const double a = pair.before.values[i];
    largest = std::max(largest, std::fabs(pair.after.values[i] - a) / std::fabs(a));
  }
  return largest;
}

// The record without the models whose name starts so; "-" leaves out none.
GrowthRecord FitWithout(const std::vector<Pair>& pairs, const std::string& left_out) {
  std::map<std::string, double> largest;
  for (const Pair& pair : pairs) {
    if (pair.model.starts_with(left_out)) continue;
    largest[pair.model] = std::max(largest[pair.model], LargestRelative(pair));
  }
  std::vector<double> logs;
  for (const auto& [model, value] : largest) logs.push_back(std::log10(value));
  const stats::Moments moments = stats::ComputeMoments(logs);
  GrowthRecord record = kPublishedGrowth;
  record.models = moments.count;
  record.mean_log10 = moments.mean;
  record.sd_log10 = std::sqrt(moments.Variance());
  return record;
}

// The rule of Megatron-LM's tests (python_test_utils/common.py): apart by at most 5 % of the golden
// value at every step, of which max(1, min(50, 1 %)) may fail.
bool RelativeRuleFails(const CurveSeries& golden, const CurveSeries& actual) {
  const std::size_t count = golden.values.size();
  std::size_t failing = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const double limit = 0.05 * std::fabs(golden.values[i]);
    failing += std::fabs(actual.values[i] - golden.values[i]) > limit;
  }
  return failing > std::max<std::size_t>(1, std::min<std::size_t>(50, count / 100));
}

struct Rates {
  int trials = 0;
  int ours = 0;    // the limit comes from the other models
  int strict = 0;  // the limit comes from the other architectures, which are four at most
  int relative_rule = 0;
  int exact = 0;

  double Of(int count) const { return static_cast<double>(count) / trials; }
};

// The faulty curve that comes of an unfaulted one, for a step to begin at.
using Plant = std::function<CurveSeries(const CurveSeries&, std::int64_t)>;

struct Fault {
  std::string name;
  std::string size;
  Plant plant;
  bool has_position = true;
};

class Judge {
 public:
  explicit Judge(const std::vector<Pair>& pairs) : pairs_(pairs) {
    for (const Pair& pair : pairs) {
      rules_[pair.model].growth = FitWithout(pairs, pair.model);
      rules_[pair.architecture].growth = FitWithout(pairs, pair.architecture);
    }
  }

  Rates Count(const Fault& fault) const {
    constexpr int kPositions = 5;
    std::mt19937_64 random(20250601);
    Rates rates;
    for (const Pair& pair : pairs_) {
      for (int i = 0; i < (fault.has_position ? kPositions : 1); ++i) {
        // Neither the first nor the last value: something comes before the fault and after it.
        const std::size_t at = 1 + random() % (pair.after.steps.size() - 2);
        const CurveSeries faulty = fault.plant(pair.after, pair.after.steps[at]);
        const auto found = CompareCurve(pair.before, faulty, {}, rules_.at(pair.model));
        const auto strict = CompareCurve(pair.before, faulty, {}, rules_.at(pair.architecture));
        ++rates.trials;
        rates.ours += found.state == CurveState::kBeyond;
        rates.strict += strict.state == CurveState::kBeyond;
        rates.relative_rule += RelativeRuleFails(pair.before, faulty);
        rates.exact += found.differing > 0;
      }
    }
    return rates;
  }

 private:
  const std::vector<Pair>& pairs_;
  std::map<std::string, CurveRules> rules_;
};

std::vector<Fault> AllFaults() {
  std::vector<Fault> faults;
  faults.push_back(
      {"none (false alarms)", "", [](const CurveSeries& s, std::int64_t) { return s; }, false});
  for (const double size : {2e-4, 5e-4, 1e-3, 5e-3, 1e-2, 2e-2, 5e-2}) {
    faults.push_back(
        {"loss offset", fmt::format("{:g} %", 100.0 * size),
         [size](const CurveSeries& s, std::int64_t from) { return PlantOffset(s, from, size); }});
  }
  for (const double size : {5e-3, 1e-2, 2e-2, 5e-2}) {
    faults.push_back(
        {"learning rate lower", fmt::format("{:g} %", 100.0 * size),
         [size](const CurveSeries& s, std::int64_t from) { return PlantSlip(s, from, size); }});
  }
  faults.push_back({"update lost", "1 step", PlantStuckStep});
  for (const double length : {1.0, 2.0, 5.0, 10.0, 20.0}) {
    faults.push_back(
        {"warm-up lost", fmt::format("{:g} steps", length),
         [length](const CurveSeries& s, std::int64_t) { return PlantLostWarmup(s, length); },
         false});
  }
  return faults;
}

class Detection : public testing::Test {
 protected:
  void SetUp() override {
    const fs::path folder = SharedData() / "megatron";
    if (!fs::is_directory(folder)) {
      GTEST_SKIP() << "no published curves in " << folder << "; set RHARNESS_SHARED_DATA";
    }
    upgrade_ = LoadPairs(folder / "bump-pytorch-25.05");
    control_ = LoadPairs(folder / "control-nan-cleanup");
  }
  std::vector<Pair> upgrade_;
  std::vector<Pair> control_;
};

TEST_F(Detection, FindsTheControlCurvesIdenticalAndOneOfThemUnableToTell) {
  ASSERT_EQ(control_.size(), 44u);
  int vacuous = 0;
  for (const Pair& pair : control_) {
    const CurveComparison found = CompareCurve(pair.before, pair.after, {}, {});
    EXPECT_EQ(found.differing, 0u) << pair.name;
    if (found.state == CurveState::kVacuous) {
      // A throughput test that records a loss of 0 at every step: equal, and no evidence.
      EXPECT_EQ(found.vacuity, "constant");
      EXPECT_NE(pair.name.find("throughput"), pair.name.npos) << found.message;
      ++vacuous;
    } else {
      EXPECT_EQ(found.state, CurveState::kIdentical) << pair.name << ": " << found.message;
    }
  }
  EXPECT_EQ(vacuous, 1);
}

TEST_F(Detection, FindsEveryUpgradedCurveChangedAndNoneBeyondALimitOfOtherModels) {
  ASSERT_EQ(upgrade_.size(), 92u);
  for (const Pair& pair : upgrade_) {
    CurveRules rules;
    rules.growth = FitWithout(upgrade_, pair.model);
    const CurveComparison found = CompareCurve(pair.before, pair.after, {}, rules);
    EXPECT_EQ(found.state, CurveState::kWithin) << pair.name << ": " << found.message;
    EXPECT_EQ(found.basis, "growth_model");
    EXPECT_EQ(CompareCurve(pair.before, pair.after, {}, {}).state, CurveState::kWithin);
  }
}

TEST_F(Detection, TheConstantsAreThoseOfTheRecord) {
  const GrowthRecord fitted = FitWithout(upgrade_, "-");
  EXPECT_EQ(fitted.models, kPublishedGrowth.models);
  EXPECT_NEAR(fitted.mean_log10, kPublishedGrowth.mean_log10, 1e-8);
  EXPECT_NEAR(fitted.sd_log10, kPublishedGrowth.sd_log10, 1e-8);
  for (const Pair& pair : upgrade_) {
    EXPECT_EQ(OutsideRecord(kPublishedGrowth, pair.before.steps, pair.before.values), "")
        << pair.name;
  }
}

// What counting near-duplicates as independent would do.
TEST_F(Detection, OfUpgradesAsFaultsIsWhatALimitFromAllPairsWouldDo) {
  std::vector<double> logs;
  for (const Pair& pair : upgrade_) logs.push_back(std::log10(LargestRelative(pair)));
  const stats::Moments moments = stats::ComputeMoments(logs);
  GrowthRecord naive = kPublishedGrowth;
  naive.models = moments.count;
  naive.mean_log10 = moments.mean;
  naive.sd_log10 = std::sqrt(moments.Variance());
  EXPECT_NEAR(GrowthLimit(naive, 0.01), 6.5e-5, 5e-7);
  const double limit = std::log10(GrowthLimit(naive, 0.01));
  EXPECT_EQ(std::count_if(logs.begin(), logs.end(), [&](double log) { return log > limit; }), 2);
}

TEST_F(Detection, OfPlantedFaultsIsThatOfTheTable) {
  const Judge judge(upgrade_);
  std::map<std::string, Rates> table;
  fmt::print("{:<20} {:>8} {:>7} {:>9} {:>22} {:>9} {:>12}\n", "fault", "size", "trials",
             "rharness", "(other architectures)", "5 % rule", "exact match");
  for (const Fault& fault : AllFaults()) {
    const Rates rates = judge.Count(fault);
    table[fault.name + " " + fault.size] = rates;
    fmt::print("{:<20} {:>8} {:>7} {:>9.3f} {:>22.3f} {:>9.3f} {:>12.3f}\n", fault.name, fault.size,
               rates.trials, rates.Of(rates.ours), rates.Of(rates.strict),
               rates.Of(rates.relative_rule), rates.Of(rates.exact));
  }
  const Rates& none = table.at("none (false alarms) ");
  EXPECT_EQ(none.ours, 0);
  EXPECT_EQ(none.strict, 0);
  EXPECT_EQ(none.relative_rule, 0);
  EXPECT_EQ(none.exact, none.trials);
  for (const char* found : {"loss offset 0.05 %", "loss offset 0.1 %", "loss offset 1 %",
                            "update lost 1 step", "warm-up lost 2 steps"}) {
    EXPECT_GE(table.at(found).Of(table.at(found).ours), 0.99) << found;
    EXPECT_EQ(table.at(found).relative_rule, 0) << found;
  }
  for (const char* late : {"learning rate lower 1 %", "learning rate lower 2 %"}) {
    EXPECT_GE(table.at(late).Of(table.at(late).ours), 0.85) << late;
    EXPECT_EQ(table.at(late).relative_rule, 0) << late;
  }
}

}  // namespace
}  // namespace rharness
