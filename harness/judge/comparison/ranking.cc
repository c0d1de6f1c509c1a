// Records of a sweep, ranked twice.
#include "harness/judge/comparison/ranking.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include "harness/base/files.h"
#include "harness/judge/comparison/pairs.h"
#include "harness/records/manifest/evidence.h"
#include "harness/records/manifest/manifest.h"
#include "reports/text.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

constexpr double kConfidence = 0.95;
constexpr int kBest = 3;
constexpr std::size_t kMostRuns = 5000;  // pairs are looked at, each

struct Side {
  std::map<std::string, std::vector<double>> values;  // by run
  std::vector<std::string> without;                   // runs without such a metric in their record
  MetricDirection direction = MetricDirection::kNotStated;  // of the first record that has one
};

void AddManifest(const Manifest& manifest, const std::string& metric, Side* side) {
  const auto found = std::ranges::find(manifest.metrics, metric, &Metric::name);
  if (found == manifest.metrics.end()) {
    side->without.push_back(manifest.run_id);
    return;
  }
  side->values[manifest.run_id].push_back(found->value);
  if (side->direction == MetricDirection::kNotStated) side->direction = found->direction;
}

void AddEvidence(const Evidence& evidence, const std::string& metric, Side* side) {
  const auto found = evidence.metrics.metrics.find(metric);
  if (found == evidence.metrics.metrics.end()) {
    side->without.push_back(evidence.run_id);
    return;
  }
  side->values[evidence.run_id].push_back(found->second);
}

Result<Side> ReadSide(const fs::path& folder, const std::string& metric) {
  ASSIGN_OR_RETURN(const std::set<fs::path> files, RecordFilesBelow(folder));
  Side side;
  for (const fs::path& file : files) {
    if (file.extension() != ".json") continue;
    ASSIGN_OR_RETURN(const Json json, ReadJsonFile(folder / file));
    const Json* schema = json.kind() == Json::Kind::kObject ? json.Find("schema") : nullptr;
    if (schema == nullptr || schema->kind() != Json::Kind::kString) continue;
    const std::string name = (folder / file).string();
    if (schema->AsString().starts_with("rharness.manifest/")) {
      ASSIGN_OR_RETURN(const Manifest manifest, ParseManifest(json, name));
      AddManifest(manifest, metric, &side);
    } else if (schema->AsString().starts_with("rharness.evidence/")) {
      ASSIGN_OR_RETURN(const Evidence evidence, ParseEvidence(json, name));
      AddEvidence(evidence, metric, &side);
    }
  }
  if (side.values.empty()) {
    return InvalidInput(
        fmt::format("no manifest and no evidence in it has the metric '{}'", metric),
        folder.string());
  }
  return side;
}

// The sort key: larger is better, and non-finite values rank last.
double Worth(double value, bool higher) {
  if (!std::isfinite(value)) return -std::numeric_limits<double>::infinity();
  return higher ? value : -value;
}

double Mean(const std::vector<double>& values) {
  double mean = 0.0;
  for (const double value : values) mean += value / static_cast<double>(values.size());
  return mean;
}

void PairSides(const Side& a, const Side& b, RankingComparison* ranking) {
  for (const auto& [run, values] : a.values) {
    const auto other = b.values.find(run);
    if (other == b.values.end()) {
      ranking->unpaired.push_back(run + " is in A alone");
    } else {
      ranking->runs.push_back({.run_id = run, .a = Mean(values), .b = Mean(other->second)});
    }
  }
  for (const auto& [run, values] : b.values) {
    if (!a.values.contains(run)) ranking->unpaired.push_back(run + " is in B alone");
  }
  for (const Side* side : {&a, &b}) {
    for (const std::string& run : side->without) {
      ranking->unpaired.push_back(
          fmt::format("{} has no {} in {}", run, ranking->metric, side == &a ? "A" : "B"));
    }
  }
}

// A place is one more than the number of runs that are better.
void Place(RankingComparison* ranking) {
  const bool higher = ranking->direction == MetricDirection::kHigher;
  std::vector<double> a, b;
  for (const RankedRun& run : ranking->runs) {
    a.push_back(Worth(run.a, higher));
    b.push_back(Worth(run.b, higher));
  }
  const auto place = [](const std::vector<double>& worths, double worth) {
    return 1 + static_cast<int>(std::ranges::count_if(worths, [&](double w) { return w > worth; }));
  };
  for (std::size_t i = 0; i < a.size(); ++i) {
    ranking->runs[i].place_a = place(a, a[i]);
    ranking->runs[i].place_b = place(b, b[i]);
  }
  ranking->agreement = stats::KendallTauB(a, b, kConfidence);
  std::ranges::sort(ranking->runs, [](const RankedRun& x, const RankedRun& y) {
    return std::pair(x.place_a, x.run_id) < std::pair(y.place_a, y.run_id);
  });
  ranking->best = std::min<int>(kBest, static_cast<int>(ranking->runs.size()));
  ranking->best_again = static_cast<int>(
      std::ranges::count_if(ranking->runs.begin(), ranking->runs.begin() + ranking->best,
                            [&](const RankedRun& run) { return run.place_b <= ranking->best; }));
}

void Decide(RankingComparison* ranking) {
  const stats::RankAgreement& agreement = ranking->agreement;
  const bool kept = agreement.low >= ranking->least;
  const bool lost = agreement.high < ranking->least;
  ranking->verdict = kept ? "kept" : lost ? "lost" : "open";
  ranking->exit_code = kept ? 0 : lost ? 1 : 3;
  const std::string best = ranking->best_again == ranking->best
                               ? fmt::format("the best {} are the same", ranking->best)
                               : fmt::format("of the best {}, {} are among them again",
                                             ranking->best, ranking->best_again);
  std::string tau = "tau is not known: all of one side are equal";
  if (!std::isnan(agreement.tau)) tau = fmt::format("tau {:.2f}", agreement.tau);
  if (!std::isnan(agreement.low)) {
    tau += fmt::format(" ({:.2f} to {:.2f})", agreement.low, agreement.high);
  } else if (!std::isnan(agreement.tau)) {
    tau += fmt::format(" of {} runs, five at least are needed", ranking->runs.size());
  }
  const std::string words = kept   ? "ranking kept"
                            : lost ? "ranking lost"
                                   : "neither shown that the ranking is kept nor that it is lost";
  ranking->headline =
      fmt::format("{}: {}, {:.2f} is required; {}", words, tau, ranking->least, best);
}

Json NumberOf(double value) {
  return std::isfinite(value) ? Json(value) : Json(fmt::format("{}", value));
}

}  // namespace

Result<RankingComparison> CompareRankings(const fs::path& a, const fs::path& b,
                                          const std::string& metric, double least) {
  ASSIGN_OR_RETURN(const Side side_a, ReadSide(a, metric));
  ASSIGN_OR_RETURN(const Side side_b, ReadSide(b, metric));
  RankingComparison ranking{.metric = metric, .least = least};
  ranking.direction =
      side_a.direction == MetricDirection::kNotStated ? side_b.direction : side_a.direction;
  if (!IsRanked(ranking.direction)) {
    return InvalidInput(fmt::format("no manifest on either side says whether a higher or a lower "
                                    "'{}' is better; evidence does not",
                                    metric),
                        a.string());
  }
  PairSides(side_a, side_b, &ranking);
  if (ranking.runs.size() < 2 || ranking.runs.size() > kMostRuns) {
    return InvalidInput(fmt::format("{} runs have '{}' on both sides; expected 2 to {}",
                                    ranking.runs.size(), metric, kMostRuns),
                        a.string());
  }
  Place(&ranking);
  Decide(&ranking);
  return ranking;
}

Json ToJson(const RankingComparison& ranking) {
  Json runs = Json::MakeArray();
  for (const RankedRun& run : ranking.runs) {
    runs.Append(Json::MakeObject({{"run_id", run.run_id},
                                  {"a", NumberOf(run.a)},
                                  {"b", NumberOf(run.b)},
                                  {"place_a", run.place_a},
                                  {"place_b", run.place_b}}));
  }
  Json unpaired = Json::MakeArray();
  for (const std::string& one : ranking.unpaired) unpaired.Append(one);
  return Json::MakeObject({{"schema", "rharness.ranking/v1"},
                           {"metric", ranking.metric},
                           {"direction", MetricDirectionName(ranking.direction)},
                           {"verdict", ranking.verdict},
                           {"headline", ranking.headline},
                           {"exit_code", ranking.exit_code},
                           {"tau", NumberOf(ranking.agreement.tau)},
                           {"low", NumberOf(ranking.agreement.low)},
                           {"high", NumberOf(ranking.agreement.high)},
                           {"confidence", kConfidence},
                           {"least", ranking.least},
                           {"best", ranking.best},
                           {"best_again", ranking.best_again},
                           {"runs", std::move(runs)},
                           {"unpaired", std::move(unpaired)}});
}

std::string WriteTerminal(const RankingComparison& ranking) {
  constexpr std::size_t kShown = 40;
  std::string out = SafeText(ranking.headline) + "\n\n";
  out += fmt::format("Places by {}, {} is better, in A and in B\n", SafeText(ranking.metric, 80),
                     MetricDirectionName(ranking.direction));
  for (std::size_t i = 0; i < std::min(kShown, ranking.runs.size()); ++i) {
    const RankedRun& run = ranking.runs[i];
    out += fmt::format("  {:>4} {:>4}  {}  {:.6g}, {:.6g}\n", run.place_a, run.place_b,
                       SafeText(run.run_id, 80), run.a, run.b);
  }
  if (ranking.runs.size() > kShown) {
    out += fmt::format("  and {} more\n", ranking.runs.size() - kShown);
  }
  for (std::size_t i = 0; i < std::min(kShown, ranking.unpaired.size()); ++i) {
    out += fmt::format("  left out: {}\n", SafeText(ranking.unpaired[i], 200));
  }
  if (ranking.unpaired.size() > kShown) {
    out += fmt::format("  and {} more left out\n", ranking.unpaired.size() - kShown);
  }
  return out;
}

}  // namespace rharness
