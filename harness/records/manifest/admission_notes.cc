// Curves that show nothing, and margins that nothing exceeds.
#include "harness/records/manifest/admission_notes.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "harness/records/manifest/environment_secrets.h"

namespace rharness {
namespace {

// A metric without a margin is judged by three standard deviations (compare/metrics/decision.h);
// twice that lets shifts pass that every run of the family would show.
constexpr double kWideDeviations = 6.0;
constexpr double kDefaultDeviations = 3.0;
constexpr std::size_t kFewestRuns = 3;
// A smaller-is-better value has no worst one; ten times as large is no longer the same result.
constexpr double kManyTimes = 10.0;
// Of a metric whose scale nobody knows, of its value or 1.
constexpr double kBeyondBelief = 1000.0;

// Parts of names that denote a share: those of "val_top1-acc" are val, top1, acc. Word error rates
// are none, as they may exceed 1.
constexpr std::array<std::string_view, 20> kShareNames = {
    "acc", "accuracy", "precision", "recall", "f1",   "auc",  "auroc", "auprc", "ap",      "map",
    "iou", "miou",     "dice",      "mrr",    "ndcg", "hits", "exact", "top1",  "success", "top5"};

enum class Scale { kUnknown, kShare, kPercent };

bool NamesShare(std::string_view name) {
  std::string part;
  const auto is_share = [&] {
    return std::ranges::find(kShareNames, part) != kShareNames.end() || part.ends_with("accuracy");
  };
  for (const char c : name) {
    const bool upper = c >= 'A' && c <= 'Z';
    if (upper || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) {
      part += upper ? static_cast<char>(c - 'A' + 'a') : c;
      continue;
    }
    if (is_share()) return true;
    part.clear();
  }
  return is_share();
}

Scale ScaleOf(const Metric& metric) {
  const bool share = metric.value >= 0.0 && metric.value <= 1.0;
  const bool percent = metric.value >= 0.0 && metric.value <= 100.0;
  if (metric.unit == "%" || metric.unit == "percent") {
    return percent ? Scale::kPercent : Scale::kUnknown;
  }
  const bool by_unit = metric.unit == "share" || metric.unit == "fraction";
  const bool by_name = NamesShare(metric.name);
  if (share && (by_unit || by_name)) return Scale::kShare;
  return by_name && percent ? Scale::kPercent : Scale::kUnknown;
}

// How far from it a value can be that is worse. Empty: not known.
std::optional<double> FarthestWorse(const Metric& metric, Scale scale) {
  if (scale == Scale::kUnknown) return std::nullopt;
  const double top = scale == Scale::kShare ? 1.0 : 100.0;
  if (metric.direction == MetricDirection::kHigher) return metric.value;
  if (metric.direction == MetricDirection::kLower) return top - metric.value;
  return std::max(metric.value, top - metric.value);
}

// Why no value of any use exceeds the margin; empty: some do.
std::string WhyNothingExceeds(const Metric& metric,
                              const std::optional<std::pair<double, double>>& curve) {
  const double margin = *metric.margin;
  const Scale scale = ScaleOf(metric);
  const auto farthest = FarthestWorse(metric, scale);
  if (farthest && margin >= *farthest) {
    return fmt::format(
        "lets every value pass: the metric is {:.6g} on a scale from 0 to {}, and no worse value "
        "is "
        "farther than {:.6g} from it; expected a margin well below that",
        metric.value, scale == Scale::kShare ? 1 : 100, *farthest);
  }
  if (curve && margin >= curve->second - curve->first) {
    return fmt::format(
        "is as wide as its whole curve, from {:.6g} to {:.6g}: a run that learned nothing would "
        "pass; expected a margin well below {:.6g}",
        curve->first, curve->second, curve->second - curve->first);
  }
  const double size = std::max(std::abs(metric.value), 1.0);
  if (!farthest && margin >= kBeyondBelief * size) {
    return fmt::format(
        "is {:.3g} beside a value of {:.6g}: no plausible value is so far from it; "
        "expected a margin below the value",
        margin, metric.value);
  }
  if (farthest || metric.value <= 0.0) return {};
  if (metric.direction == MetricDirection::kHigher && margin >= metric.value) {
    return fmt::format(
        "is no smaller than the value itself, {:.6g}: 0 would pass; expected a "
        "margin well below that",
        metric.value);
  }
  if (metric.direction == MetricDirection::kLower && margin >= kManyTimes * metric.value) {
    return fmt::format(
        "is {:.3g} times the value itself, {:.6g}: one as many times as large would "
        "pass; expected a margin below the value",
        margin / metric.value, metric.value);
  }
  return {};
}

// Of runs that differ. A metric over few examples moves in steps, which a margin must contain.
std::string WhyWideForFamily(const Metric& metric, const MetricSpread& spread) {
  constexpr double kSteps = 3.0;
  const double deviation = spread.deviation();
  if (spread.runs < kFewestRuns || deviation <= 0.0) return {};
  if (*metric.margin < kWideDeviations * deviation) return {};
  if (*metric.margin <= kSteps * metric.quantum) return {};
  return fmt::format(
      "is {:.3g} standard deviations of its family ({:.3g} over {} runs): shifts that no run of it "
      "shows would pass",
      *metric.margin / deviation, deviation, spread.runs);
}

std::string Suggestion(const MetricSpread& spread) {
  if (spread.runs < kFewestRuns || spread.deviation() <= 0.0) return {};
  return fmt::format("; {:g} standard deviations of the {} runs of its family are {:.3g}",
                     kDefaultDeviations, spread.runs, kDefaultDeviations * spread.deviation());
}

bool IsNumber(double value) { return std::isfinite(value); }

// Of a curve that a reader made, which has as many steps as values.
std::int64_t StepAt(const Curve& curve, std::ptrdiff_t at) {
  const auto i = static_cast<std::size_t>(at);
  return i < curve.steps.size() ? curve.steps[i] : at;
}

// Least and greatest finite value of the metric's curve: of its name, or that ends with its value.
std::optional<std::pair<double, double>> CurveOf(const Metric& metric,
                                                 const std::vector<Curve>& curves) {
  auto found = std::ranges::find(curves, metric.name, &Curve::name);
  if (found == curves.end()) {
    found = std::ranges::find_if(curves, [&](const Curve& curve) {
      return !IsVacuous(curve) && curve.values.back() == metric.value;
    });
  }
  if (found == curves.end() || IsVacuous(*found)) return std::nullopt;
  std::optional<std::pair<double, double>> range;
  for (const double value : found->values) {
    if (!IsNumber(value)) continue;
    if (!range) range.emplace(value, value);
    range->first = std::min(range->first, value);
    range->second = std::max(range->second, value);
  }
  return range;
}

std::vector<Finding> NotesOnCurves(const std::vector<Curve>& curves) {
  std::vector<Finding> notes;
  for (std::size_t i = 0; i < curves.size(); ++i) {
    const Curve& curve = curves[i];
    const std::string path = fmt::format("$.curves[{}].values", i);
    const auto bad = std::ranges::find_if_not(curve.values, IsNumber);
    if (!curve.values.empty() && !IsNumber(curve.values.back())) continue;  // refused
    if (bad != curve.values.end()) {
      notes.push_back(
          {.code = "non_finite_curve",
           .subject = path,
           .message = fmt::format(
               "curve '{}' has {} of {} values that are not finite, the first at step {}; "
               "such a step shows nothing",
               curve.name, std::ranges::count_if(curve.values, std::not_fn(IsNumber)),
               curve.values.size(), StepAt(curve, bad - curve.values.begin()))});
    }
    if (!IsVacuous(curve)) continue;
    const std::string why =
        curve.values.size() < 2
            ? fmt::format("has {}", curve.values.empty() ? "no point" : "one point")
            : fmt::format("never changes from {:.6g}", curve.values.back());
    notes.push_back(
        {.code = "vacuous_curve",
         .subject = path,
         .message = fmt::format("curve '{}' {}: it shows nothing, and counts neither for a rerun "
                                "nor against it",
                                curve.name, why)});
  }
  return notes;
}

// What an argument passes, and under which name: "--token=a", "--token a", "TOKEN=a".
std::pair<std::string_view, std::string_view> PassedBy(const std::vector<std::string>& command,
                                                       std::size_t at) {
  const std::string_view text = command[at];
  if (const auto equals = text.find('='); equals != text.npos) {
    return {text.substr(0, equals), text.substr(equals + 1)};
  }
  const bool behind_option = at > 0 && command[at - 1].starts_with('-') && !text.starts_with('-') &&
                             command[at - 1].find('=') == std::string::npos;
  return {behind_option ? std::string_view(command[at - 1]) : std::string_view(), text};
}

// A command is kept unchanged, since a rerun needs every word of it.
std::vector<Finding> NotesOnCommand(const std::vector<std::string>& command) {
  std::vector<Finding> notes;
  for (std::size_t i = 1; i < command.size(); ++i) {
    const auto [name, value] = PassedBy(command, i);
    const std::string_view bare = name.substr(std::min(name.find_first_not_of('-'), name.size()));
    // "--key loss" sorts or groups; a path leads to a secret but is none.
    const bool by_name = bare != "key" && IsSecret(bare, value) && value.find_first_of("/.") != 0 &&
                         value.find('$') != 0;
    if (!by_name && !HoldsCredential(value)) continue;
    notes.push_back(
        {.code = "secret_in_command",
         .subject = fmt::format("$.command[{}]", i),
         .message = fmt::format("argument {}{} looks like a secret, and everybody who may read the "
                                "manifest can read it; expected it in an environment variable "
                                "(`--variable`), which is kept as a keyed digest",
                                i, bare.empty() ? "" : fmt::format(", of '{}',", bare))});
  }
  return notes;
}

}  // namespace

double MetricSpread::deviation() const {
  return runs < 2 ? 0.0 : std::sqrt(squares / static_cast<double>(runs - 1));
}

bool IsVacuous(const Curve& curve) {
  if (curve.values.size() < 2) return true;
  const auto first = std::ranges::find_if(curve.values, IsNumber);
  return std::all_of(first, curve.values.end(),
                     [&](double value) { return !IsNumber(value) || value == *first; });
}

void AdmissionNotes::Add(const Manifest& manifest) {
  Noted noted{.configuration = ConfigurationKey(manifest),
              .notes = NotesOnCurves(manifest.curves),
              .margins = {}};
  for (std::size_t i = 0; i < manifest.metrics.size(); ++i) {
    const Metric& metric = manifest.metrics[i];
    if (!metric.margin || !IsNumber(*metric.margin) || !IsNumber(metric.value)) continue;
    const std::string path = fmt::format("$.metrics[{}].margin", i);
    if (*metric.margin > 0.0) {
      noted.margins.push_back({metric, path, CurveOf(metric, manifest.curves)});
    } else if (manifest.determinism.declared == "statistical" && !metric.primary) {
      noted.notes.push_back(
          {.code = "bad_margin",
           .subject = path,
           .message = fmt::format("margin {:g} of '{}': no rerun whose value differs can "
                                  "pass; expected a number above 0",
                                  *metric.margin, metric.name)});
    }
  }
  const std::vector<Finding> secrets = NotesOnCommand(manifest.command);
  noted.notes.insert(noted.notes.end(), secrets.begin(), secrets.end());
  noted_.push_back(std::move(noted));
  AddToSpread(manifest);
}

// Welford's running sums: a family may be large.
void AdmissionNotes::AddToSpread(const Manifest& manifest) {
  if (!run_ids_.insert(manifest.run_id).second) return;
  const std::string configuration = ConfigurationKey(manifest);
  for (const Metric& metric : manifest.metrics) {
    if (!IsNumber(metric.value)) continue;
    MetricSpread& spread = spreads_[{configuration, metric.name}];
    const double from_mean = metric.value - spread.mean;
    spread.mean += from_mean / static_cast<double>(++spread.runs);
    spread.squares += from_mean * (metric.value - spread.mean);
  }
}

std::vector<Finding> AdmissionNotes::Of(std::size_t index) const {
  const Noted& noted = noted_.at(index);
  std::vector<Finding> notes;
  for (const Margin& margin : noted.margins) {
    const auto found = spreads_.find({noted.configuration, margin.metric.name});
    const MetricSpread spread = found == spreads_.end() ? MetricSpread() : found->second;
    std::string why = WhyNothingExceeds(margin.metric, margin.curve);
    if (why.empty()) why = WhyWideForFamily(margin.metric, spread);
    if (why.empty()) continue;
    notes.push_back({.code = "wide_margin",
                     .subject = margin.path,
                     .message = fmt::format("margin {:g} of '{}' {}{}", *margin.metric.margin,
                                            margin.metric.name, why, Suggestion(spread))});
  }
  notes.insert(notes.end(), noted.notes.begin(), noted.notes.end());
  return notes;
}

std::vector<Finding> NotesOnAdmission(const Manifest& manifest) {
  AdmissionNotes notes;
  notes.Add(manifest);
  return notes.Of(0);
}

}  // namespace rharness
