// Compares certificates with the runs of a drill.
#include "harness/drill/sensitivity_of.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "harness/base/digest.h"
#include "harness/base/version.h"
#include "reports/text.h"

namespace rharness {
namespace {

struct Certified {
  const Sensitivity* certificate = nullptr;
  const SensitivityFamily* family = nullptr;
};

// The newest one of the configuration, else of the family.
Certified FindCertified(const std::vector<Sensitivity>& certificates, const std::string& family,
                        const std::string& configuration) {
  Certified exact;
  Certified near;
  for (const Sensitivity& certificate : certificates) {
    for (const SensitivityFamily& one : certificate.families) {
      if (one.family != family) continue;
      Certified& place = one.configuration == configuration ? exact : near;
      if (place.certificate == nullptr || place.certificate->made <= certificate.made) {
        place = {&certificate, &one};
      }
    }
  }
  return exact.certificate != nullptr ? exact : near;
}

std::string WhyStale(const Certified& found, const Manifest& run, const std::string& configuration,
                     const DrillOptions& options) {
  const Sensitivity& certificate = *found.certificate;
  if (certificate.version != kVersion) {
    return fmt::format("it was made by rharness {}, and this is {}",
                       SafeText(certificate.version, 60), kVersion);
  }
  if (found.family->configuration != configuration) {
    return "it is of another configuration of the family (code, data, hyperparameters or command)";
  }
  if (found.family->tolerances != TolerancesOf(run)) {
    return "the margins of the metrics, or the promise of bits, are others now";
  }
  if (certificate.reruns != options.plan.reruns) {
    return fmt::format("it was made for drills with {} a run, and this one makes {}",
                       Counted(static_cast<std::uint64_t>(certificate.reruns), "rerun"),
                       options.plan.reruns);
  }
  if (certificate.confirm != options.confirm) {
    return certificate.confirm ? "it was made for drills that confirm a drift, and this one did not"
                               : "it was made for drills that do not confirm a drift";
  }
  if (options.plan.replicates > 0) return "it was made for drills without replicates";
  return "";
}

ReportSensitivity TellOf(const Certified& found, std::string stale) {
  const SensitivityFamily& family = *found.family;
  ReportSensitivity told{.family = family.family, .configuration = family.configuration};
  told.source = fmt::format(
      "Game day {} of {}{}, {} of {}, {}", SafeText(found.certificate->gameday_id, 80),
      FormatMinute(found.certificate->made),
      found.certificate->host.empty() ? "" : " on " + SafeText(found.certificate->host, 120),
      Counted(static_cast<std::uint64_t>(family.runs), "run"), SafeText(family.name, 80),
      WayWords(family));
  told.stale = std::move(stale);
  if (!told.stale.empty()) return told;
  const std::string first = TellingSentence(family);
  if (!first.empty()) told.sentences.push_back(first);
  for (const SensitivityRate& rate : family.faults) {
    if (!rate.enough) continue;
    const std::string sentence = Sentence(rate);
    if (sentence != first) told.sentences.push_back(sentence);
  }
  if (told.sentences.empty()) told.stale = "no rate of it has enough trials";
  return told;
}

}  // namespace

std::string TolerancesOf(const Manifest& run) {
  Json metrics = Json::MakeArray();
  for (const Metric& metric : run.metrics) {
    metrics.Append(Json::MakeObject({{"name", metric.name},
                                     {"direction", MetricDirectionName(metric.direction)},
                                     {"primary", metric.primary},
                                     {"margin", metric.margin},
                                     {"quantum", metric.quantum}}));
  }
  return Sha256HexOf(Json::MakeObject({{"declared", run.determinism.declared},
                                       {"scope", run.determinism.scope},
                                       {"metrics", std::move(metrics)}})
                         .Dump());
}

void AddSensitivity(const DrillOptions& options, const std::vector<const Manifest*>& runs,
                    Report* report) {
  std::map<std::string, ReportSensitivity> by_configuration;
  for (const Manifest* run : runs) {
    const auto row = std::ranges::find(report->runs, run->run_id, &ReportRun::run_id);
    if (row == report->runs.end() || options.certificates.empty()) continue;
    const std::string configuration = ConfigurationKey(*run);
    const Certified found = FindCertified(options.certificates, run->family, configuration);
    if (found.certificate == nullptr) continue;
    auto told = by_configuration.find(configuration);
    if (told == by_configuration.end()) {
      ReportSensitivity one = TellOf(found, WhyStale(found, *run, configuration, options));
      one.configuration = configuration;
      report->sensitivity.push_back(one);
      told = by_configuration.emplace(configuration, std::move(one)).first;
    }
    if (row->verdict != Verdict::kEquivalent) continue;
    row->sensitivity =
        told->second.stale.empty()
            ? told->second.sentences.front()
            : "the certificate of its sensitivity does not hold: " + told->second.stale;
  }
}

}  // namespace rharness
