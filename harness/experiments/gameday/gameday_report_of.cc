// Headlines of game days.
#include "harness/experiments/gameday/gameday_report_of.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/base/version.h"
#include "reports/text.h"

namespace rharness {
namespace {

std::string CountWords(std::size_t count, std::string_view noun) {
  return Counted(static_cast<std::uint64_t>(count), noun);
}

GamedayReport StartGamedayReport(const GamedaySettings& settings) {
  const DrillOptions& options = settings.drill.options;
  GamedayReport report;
  report.sensitivity.gameday_id = settings.drill.drill_id;
  report.sensitivity.version = kVersion;
  report.sensitivity.made = settings.drill.started;
  report.sensitivity.reruns = 1;
  report.sensitivity.confirm = options.confirm;
  report.sensitivity.width = settings.gameday.width;
  report.sensitivity.confidence = kGamedayConfidence;
  return report;
}

// The fewest further runs with which some rate of the family would have enough trials; 0: none is
// known to.
int FewestMore(const SensitivityFamily& family) {
  int fewest = 0;
  for (const SensitivityRate& rate : family.faults) {
    if (rate.more > 0 && rate.cannot.empty()) {
      fewest = fewest == 0 ? rate.more : std::min(fewest, rate.more);
    }
  }
  return fewest;
}

std::string Headline(const GamedayReport& report) {
  const auto& families = report.sensitivity.families;
  for (const SensitivityFamily& family : families) {
    const std::string telling = TellingSentence(family);
    if (telling.empty()) continue;
    const auto others = std::ranges::count_if(families, [&](const SensitivityFamily& other) {
      return &other != &family && !TellingSentence(other).empty();
    });
    return fmt::format("{}: {}{}", SafeText(family.name, 100), telling,
                       others == 0
                           ? ""
                           : fmt::format("; {} below", CountWords(static_cast<std::size_t>(others),
                                                                  "more certificate")));
  }
  return "Too few trials for a certificate of sensitivity";
}

// Trials of planted faults that were neither found nor left open, where none was found: what would
// be found of such faults is nothing. 0: some were found, or none passed.
int PassedUnfound(const SensitivityFamily& family) {
  int passed = 0;
  for (const SensitivityRate& rate : family.faults) {
    if (rate.found > 0) return 0;
    passed += rate.trials - rate.undecided;
  }
  return passed;
}

std::string NextStep(const GamedayReport& report) {
  for (const SensitivityFamily& family : report.sensitivity.families) {
    if (PassedUnfound(family) == 0) continue;
    return fmt::format("Narrow the margins of {}: they pass every fault that was planted",
                       SafeText(family.name, 100));
  }
  for (const SensitivityFamily& family : report.sensitivity.families) {
    const int fewest = FewestMore(family);
    if (!TellingSentence(family).empty() || fewest == 0) continue;
    return fmt::format("Record {} of {} for its first rate{}",
                       CountWords(static_cast<std::size_t>(fewest), "more run"),
                       SafeText(family.name, 100),
                       report.certified ? "; the others have a certificate" : "");
  }
  if (report.certified) {
    return fmt::format("rharness drill --certificate {} shows it beside every 'equivalent'",
                       kCertificateFile);
  }
  return "The notes say why there are no trials";
}

}  // namespace

GamedayReport BuildGamedayReport(GamedayDone done) {
  GamedayReport report = StartGamedayReport(done.settings);
  report.sensitivity.families = std::move(done.families);
  report.sensitivity.host = std::move(done.host);
  report.sensitivity.made = done.made;
  report.reruns = done.reruns;
  report.run_seconds = done.run_seconds;
  report.notes = std::move(done.notes);
  report.interrupted = done.interrupted;
  if (done.left_out > 0) {
    report.notes.push_back(
        fmt::format("{} beyond the budget: the trials are fewer",
                    CountWords(static_cast<std::size_t>(done.left_out), "rerun")));
  }
  for (const SensitivityFamily& family : report.sensitivity.families) {
    const int passed = PassedUnfound(family);
    if (passed == 0) continue;
    report.notes.push_back(fmt::format(
        "{}: no planted fault was found, and {} passed: its 'equivalent' says nothing about these "
        "faults",
        SafeText(family.name, 100), CountWords(static_cast<std::size_t>(passed), "trial")));
  }
  report.certified = !report.interrupted && !CertificateOf(report).families.empty();
  report.headline = report.interrupted ? "Interrupted; --resume continues" : Headline(report);
  report.next = report.interrupted ? "" : NextStep(report);
  report.exit_code = report.interrupted ? 4 : report.certified ? 0 : 3;
  return report;
}

GamedayReport BuildGamedayPlan(const GamedaySettings& settings, const std::vector<Ground>& grounds,
                               const GamedayPlan& plan) {
  GamedayReport report = StartGamedayReport(settings);
  report.planned = true;
  report.reruns = static_cast<int>(plan.reruns.size());
  report.run_seconds = plan.run_seconds;
  report.exit_code = 0;
  std::size_t runs = 0;
  for (const Ground& ground : grounds) {
    SensitivityFamily family{.name = ground.name,
                             .family = ground.family,
                             .configuration = ground.configuration,
                             .runs = static_cast<int>(ground.run_ids.size()),
                             .together = settings.gameday.together,
                             .beside = settings.gameday.beside};
    runs += ground.run_ids.size();
    for (const GroundFault& one : ground.faults) {
      SensitivityRate rate{.name = one.fault.name, .words = FaultWords(one.fault)};
      rate.cannot = one.cannot;
      if (one.cannot.empty()) {
        rate.example =
            one.index >= 0 ? CountWords(ground.run_ids.size(), "rerun") : "in copies of outputs";
      }
      family.faults.push_back(std::move(rate));
    }
    report.sensitivity.families.push_back(std::move(family));
  }
  report.headline = fmt::format("{} of {}, {} in all", CountWords(runs, "run"),
                                CountWords(grounds.size(), "configuration"),
                                CountWords(plan.reruns.size(), "rerun"));
  report.next = "A drift that is seen once is rerun once more; that is not counted here";
  if (plan.left_out > 0) {
    report.notes.push_back(fmt::format(
        "{} beyond the budget", CountWords(static_cast<std::size_t>(plan.left_out), "rerun")));
  }
  return report;
}

Sensitivity CertificateOf(const GamedayReport& report) {
  Sensitivity certificate = report.sensitivity;
  for (SensitivityFamily& family : certificate.families) {
    std::erase_if(family.faults, [](const SensitivityRate& rate) { return !rate.enough; });
  }
  std::erase_if(certificate.families,
                [](const SensitivityFamily& family) { return family.faults.empty(); });
  return certificate;
}

}  // namespace rharness
