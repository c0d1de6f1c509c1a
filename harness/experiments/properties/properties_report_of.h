// The results of a drill of properties, in numbers and sentences. Pure.
#ifndef RHARNESS_HARNESS_EXPERIMENTS_PROPERTIES_PROPERTIES_REPORT_OF_H_
#define RHARNESS_HARNESS_EXPERIMENTS_PROPERTIES_PROPERTIES_REPORT_OF_H_

#include <map>
#include <string>
#include <vector>

#include "harness/experiments/properties/properties_settings.h"
#include "harness/history/property_record.h"
#include "reports/properties_report.h"

namespace rharness {

struct PropertiesDone {
  const PropertiesSettings& settings;
  std::vector<PropertyResult> results;
  // By run id: the history's verdicts on its properties, in its order; without those of this drill.
  std::map<std::string, std::vector<PropertyRecord>> before;
  std::vector<std::string> noise;  // RunWork::noise of each run that has some
  std::vector<std::string> notes;
  std::vector<std::string> damage;  // of earlier processes' evidence
  std::string host;
  WallTime made;
  int legs = 0;
  double run_seconds = 0.0;
  bool interrupted = false;
};
PropertiesReport BuildPropertiesReport(PropertiesDone done);

// The planned legs, one result per property.
PropertiesReport BuildPropertiesPlan(const PropertiesSettings& settings);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_EXPERIMENTS_PROPERTIES_PROPERTIES_REPORT_OF_H_
