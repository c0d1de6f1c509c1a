// Objectives for Prometheus: the series for alerts and dashboards, by family.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

#include "reports/objectives_words.h"
#include "reports/prometheus.h"

namespace rharness {
namespace {

constexpr std::array kObjectiveStates = {ObjectiveState::kMet, ObjectiveState::kMissed,
                                         ObjectiveState::kBurning, ObjectiveState::kUnknown};

class ObjectiveSeries {
 public:
  explicit ObjectiveSeries(const ObjectivesReport& report)
      : report_(report), out_(report.history) {}

  // One sample per family, for the first hundred, the worst; NaN if it has none.
  void ByFamily(std::string_view name, std::string_view help,
                const std::function<double(const FamilyObjectives&)>& value) {
    out_.Head(name, help);
    for (const FamilyObjectives* family : Shown()) out_.Sample(name, Of(*family), value(*family));
  }
  // More of a family than one sample; `labels` as in "check=\"stale\"".
  using Add = std::function<void(std::string_view labels, double value)>;
  void Each(std::string_view name, std::string_view help,
            const std::function<void(const FamilyObjectives&, const Add&)>& add) {
    out_.Head(name, help);
    for (const FamilyObjectives* family : Shown()) {
      add(*family, [&](std::string_view labels, double value) {
        out_.Sample(name, fmt::format("{},{}", Of(*family), labels), value);
      });
    }
  }
  // The same for more families: up to a thousand, those with `first` before the others.
  void ByMore(std::string_view name, std::string_view help,
              const std::function<double(const FamilyObjectives&)>& value,
              const std::function<bool(const FamilyObjectives&)>& first) {
    constexpr std::size_t kMost = 1000;
    std::vector<const FamilyObjectives*> shown = Shown();
    const auto beyond = report_.families.begin() + static_cast<std::ptrdiff_t>(shown.size());
    for (const bool now : {true, false}) {
      for (auto family = beyond; family != report_.families.end(); ++family) {
        if (first(*family) == now && shown.size() < kMost) shown.push_back(&*family);
      }
    }
    out_.Head(name, help);
    for (const FamilyObjectives* family : shown) out_.Sample(name, Of(*family), value(*family));
  }
  PrometheusSeries& out() { return out_; }

 private:
  std::vector<const FamilyObjectives*> Shown() const {
    std::vector<const FamilyObjectives*> shown;
    for (const FamilyObjectives& family : report_.families) {
      if (shown.size() < kMostFamilySeries) shown.push_back(&family);
    }
    return shown;
  }
  static std::string Of(const FamilyObjectives& family) {
    return fmt::format("family=\"{}\",owner=\"{}\"", PrometheusLabel(family.family),
                       PrometheusLabel(family.owner));
  }

  const ObjectivesReport& report_;
  PrometheusSeries out_;
};

double OrNan(const std::optional<double>& value) { return value.value_or(std::nan("")); }
double Ratio(std::int64_t part, std::int64_t all) {
  return all == 0 ? std::nan("") : static_cast<double>(part) / static_cast<double>(all);
}

void AddIndicators(ObjectiveSeries* series) {
  series->Each("rharness_slo_runs", "Runs by their last verdict in the period of the objective.",
               [](const FamilyObjectives& f, const ObjectiveSeries::Add& add) {
                 add("state=\"good\"", static_cast<double>(f.good));
                 add("state=\"bad\"", static_cast<double>(f.bad));
                 add("state=\"open\"", static_cast<double>(f.open));
               });
  series->ByFamily(
      "rharness_slo_reproducible_ratio",
      "Reproduced runs among those with a conclusive verdict (identical, equivalent, drifted, "
      "failed); NaN when none had one.",
      [](const FamilyObjectives& f) { return OrNan(f.rate); });
  series->ByFamily("rharness_slo_identical_ratio",
                   "Runs equal to the bit among those with a conclusive verdict.",
                   [](const FamilyObjectives& f) { return Ratio(f.identical, f.good + f.bad); });
  series->ByFamily(
      "rharness_slo_open_ratio", "Runs without a conclusive verdict among the judged.",
      [](const FamilyObjectives& f) { return Ratio(f.open, f.good + f.bad + f.open); });
  series->ByFamily("rharness_slo_flaky_ratio",
                   "Runs that did and did not reproduce among those judged twice or more.",
                   [](const FamilyObjectives& f) { return Ratio(f.flipped, f.checked_twice); });
  series->ByFamily("rharness_slo_unchanged_flaky_ratio",
                   "Runs that did and did not reproduce among those judged twice or more with "
                   "nothing changed.",
                   [](const FamilyObjectives& f) { return Ratio(f.flakes.part, f.flakes.all); });
  series->ByFamily(
      "rharness_slo_attested_ratio", "Judged runs whose last verdict was signed.",
      [](const FamilyObjectives& f) { return Ratio(f.attested.part, f.attested.all); });
}

void AddMeasures(ObjectiveSeries* series) {
  // An alert asks whether they are more than a day ago: a family must not seem new to it because it
  // came among the first hundred.
  series->ByMore(
      "rharness_slo_determinism_violations",
      "Runs declared bitwise that drifted, without a good verdict since.",
      [](const FamilyObjectives& f) { return static_cast<double>(f.violations); },
      [](const FamilyObjectives& f) { return f.violations > 0; });
  series->ByFamily("rharness_slo_oldest_seconds",
                   "How long the run has waited that waits longest to be compared (identical, "
                   "equivalent, drifted).",
                   [](const FamilyObjectives& f) { return 86400.0 * f.oldest_days; });
  series->ByFamily(
      "rharness_slo_weights_equal_ratio",
      "Runs with checkpoints equal to the bit among those whose checkpoints were compared.",
      [](const FamilyObjectives& f) { return Ratio(f.weights_equal, f.weights); });
  series->ByFamily("rharness_slo_metric_spread_ratio",
                   "Root of the mean square of the largest differences of metrics, in margins.",
                   [](const FamilyObjectives& f) { return OrNan(f.spread); });
  series->ByFamily(
      "rharness_slo_warned_ratio",
      "Runs in which an operator has no deterministic implementation among the observed.",
      [](const FamilyObjectives& f) { return Ratio(f.warned, f.looked_at); });
  series->ByFamily("rharness_slo_data_had_ratio",
                   "Runs whose data were available as recorded among those with data.",
                   [](const FamilyObjectives& f) { return Ratio(f.data_had, f.data); });
  series->ByFamily("rharness_slo_records_whole_ratio", "Runs with a record without gaps.",
                   [](const FamilyObjectives& f) { return Ratio(f.records_whole, f.records); });
  series->ByFamily("rharness_slo_rollback_ratio",
                   "Runs that reproduced among those rerun in rollback drills.",
                   [](const FamilyObjectives& f) { return OrNan(f.rollback_rate); });
  series->ByFamily("rharness_slo_seconds_to_verdict", "Wall time of reruns for one verdict.",
                   [](const FamilyObjectives& f) { return OrNan(f.seconds_to_verdict); });
  series->ByFamily("rharness_slo_never_verified",
                   "Runs that were never compared (identical, equivalent, drifted).",
                   [](const FamilyObjectives& f) { return static_cast<double>(f.never); });
  series->ByFamily("rharness_slo_rebuildable_ratio",
                   "Runs whose parts are all available among those with a known answer.",
                   [](const FamilyObjectives& f) { return Ratio(f.had, f.had + f.gone); });
  series->ByFamily(
      "rharness_slo_runtime_ratio", "Mean time of a rerun over that of the recorded run.",
      [](const FamilyObjectives& f) { return f.reruns == 0 ? std::nan("") : f.mean_ratio; });
  series->ByFamily("rharness_slo_runtime_sd_ratio",
                   "Standard deviation of the time of a rerun over that of the recorded run.",
                   [](const FamilyObjectives& f) { return OrNan(f.ratio_sd); });
}

// Of those that are known.
void AddIntervals(ObjectiveSeries* series) {
  series->Each("rharness_slo_interval", "95 % interval of an indicator.",
               [](const FamilyObjectives& f, const ObjectiveSeries::Add& add) {
                 const auto interval = [&](std::string_view name, double low, double high) {
                   add(fmt::format("indicator=\"{}\",bound=\"low\"", name), low);
                   add(fmt::format("indicator=\"{}\",bound=\"high\"", name), high);
                 };
                 if (f.rate) interval("reproducible", f.rate_low, f.rate_high);
                 if (f.flakes.all > 0) interval("unchanged_flaky", f.flakes.low, f.flakes.high);
                 if (f.attested.all > 0) interval("attested", f.attested.low, f.attested.high);
                 if (f.ratio_sd) interval("runtime_sd", f.ratio_sd_low, f.ratio_sd_high);
               });
}

// Over all families, including those without a series: these have no label `family`.
void AddTotals(const ObjectivesReport& report, PrometheusSeries* out) {
  std::int64_t good = 0, bad = 0, open = 0, without = 0;
  std::array<std::int64_t, kObjectiveStates.size()> families{};
  double oldest_days = 0.0;
  for (const FamilyObjectives& family : report.families) {
    good += family.good;
    bad += family.bad;
    open += family.open;
    oldest_days = std::max(oldest_days, family.oldest_days);
    const auto at = std::ranges::find(kObjectiveStates, family.state());
    ++(family.checks.empty() ? without
                             : families[static_cast<std::size_t>(at - kObjectiveStates.begin())]);
  }
  const auto add = [&](std::string_view name, std::string_view state, std::int64_t count) {
    out->Sample(name, fmt::format("state=\"{}\"", state), static_cast<double>(count));
  };
  constexpr std::string_view kRuns = "rharness_slo_all_runs";
  out->Head(kRuns, "Runs of all families by their last verdict in the period of the objective.");
  add(kRuns, "good", good);
  add(kRuns, "bad", bad);
  add(kRuns, "open", open);
  constexpr std::string_view kFamilies = "rharness_slo_all_families";
  out->Head(kFamilies, "Families by the state of their objectives; none: they have none.");
  for (std::size_t i = 0; i < families.size(); ++i) {
    add(kFamilies, ObjectiveStateName(kObjectiveStates[i]), families[i]);
  }
  add(kFamilies, "none", without);
  out->Gauge("rharness_slo_all_oldest_seconds",
             "How long the run of any family has waited that waits longest to be compared.",
             86400.0 * oldest_days);
}

// The one series with a run's name: one alert is one run.
void AddBroken(const ObjectivesReport& report, PrometheusSeries* out) {
  constexpr std::string_view kName = "rharness_slo_run_broken";
  out->Head(kName,
            "1 for a run that drifted or failed, without a good verdict since; a hundred at most.");
  for (const BrokenRun& run : report.broken) {
    out->Sample(kName,
                fmt::format("family=\"{}\",owner=\"{}\",run_id=\"{}\",verdict=\"{}\"",
                            PrometheusLabel(run.family), PrometheusLabel(run.owner),
                            PrometheusLabel(run.run_id), VerdictName(run.verdict)),
                1.0);
  }
}

}  // namespace

std::string WriteMetrics(const ObjectivesReport& report) {
  ObjectiveSeries series(report);
  series.out().Gauge("rharness_slo_timestamp_seconds", "When the objectives were measured.",
                     std::chrono::duration<double>(report.at.time_since_epoch()).count());
  AddTotals(report, &series.out());
  AddIndicators(&series);
  AddMeasures(&series);
  AddIntervals(&series);
  series.ByFamily("rharness_slo_budget_left_ratio",
                  "Share of the error budget of the period that is left; below 0: overspent.",
                  [](const FamilyObjectives& f) { return OrNan(f.budget_left); });
  series.Each(
      "rharness_slo_check", "1 where a thing that the policy asks is so now.",
      [](const FamilyObjectives& f, const ObjectiveSeries::Add& add) {
        for (const ObjectiveCheck& check : f.checks) {
          for (const ObjectiveState state : kObjectiveStates) {
            add(fmt::format("check=\"{}\",state=\"{}\"", check.name, ObjectiveStateName(state)),
                check.state == state ? 1.0 : 0.0);
          }
        }
      });
  series.Each("rharness_slo_alarm", "1 where both windows of an alarm burn the error budget.",
              [](const FamilyObjectives& f, const ObjectiveSeries::Add& add) {
                for (const BudgetAlarm& alarm : f.alarms) {
                  add(fmt::format("alarm=\"{}\",severity=\"{}\"", alarm.name,
                                  alarm.page ? "page" : "ticket"),
                      alarm.fires ? 1.0 : 0.0);
                }
              });
  series.Each("rharness_slo_burn_rate", "1 spends the error budget in just its period.",
              [](const FamilyObjectives& f, const ObjectiveSeries::Add& add) {
                for (const BudgetAlarm& alarm : f.alarms) {
                  add(fmt::format("alarm=\"{}\",window=\"long\"", alarm.name), alarm.long_burn);
                  add(fmt::format("alarm=\"{}\",window=\"short\"", alarm.name), alarm.short_burn);
                }
              });
  AddBroken(report, &series.out());
  return series.out().Take();
}

}  // namespace rharness
