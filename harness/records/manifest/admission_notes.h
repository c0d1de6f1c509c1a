// Notes on an admitted manifest: checks in it that cannot fail, and so show nothing; secrets in it.
//
// Role: refuses nothing; `record`, `check` and `history add` print it. Pure.
#ifndef RHARNESS_HARNESS_RECORDS_MANIFEST_ADMISSION_NOTES_H_
#define RHARNESS_HARNESS_RECORDS_MANIFEST_ADMISSION_NOTES_H_

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "harness/records/manifest/admission.h"
#include "harness/records/manifest/manifest.h"

namespace rharness {

// Values of one metric over the runs of one configuration, which differ in their seeds.
struct MetricSpread {
  std::size_t runs = 0;
  double mean = 0.0;
  double squares = 0.0;      // sum of squared deviations from the mean
  double deviation() const;  // sample standard deviation; 0 of fewer than two runs
};

// Notes on manifests that are checked together, since the spread of a metric over its family shows
// how wide a margin is.
//
// Codes: "vacuous_curve" (constant, or fewer than two points: neither confirms nor refuses
// anything), "non_finite_curve" (some values; Admit refuses one that ends so), "wide_margin" (no
// value could exceed it, or it is six standard deviations of the family or more; the default
// without a margin is three), "bad_margin" (0 or less of a metric that is not primary),
// "secret_in_command" (a command keeps its words, so that it can be rerun).
class AdmissionNotes {
 public:
  // The manifest's notes are Of(number of manifests added before).
  void Add(const Manifest& manifest);
  // A run without notes here that counts for the spread. Each run_id counts once.
  void AddToSpread(const Manifest& manifest);
  std::vector<Finding> Of(std::size_t index) const;

 private:
  struct Margin {
    Metric metric;
    std::string path;
    std::optional<std::pair<double, double>> curve;  // least and greatest value of its curve
  };
  struct Noted {
    std::string configuration;
    std::vector<Finding> notes;
    std::vector<Margin> margins;
  };

  std::vector<Noted> noted_;
  std::set<std::string> run_ids_;
  std::map<std::pair<std::string, std::string>, MetricSpread> spreads_;  // configuration, metric
};

// Of one manifest alone.
std::vector<Finding> NotesOnAdmission(const Manifest& manifest);

// Whether all its finite values are equal, or it has fewer than two points.
bool IsVacuous(const Curve& curve);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_RECORDS_MANIFEST_ADMISSION_NOTES_H_
