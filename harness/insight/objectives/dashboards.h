// Dashboards for Grafana over the series of `rharness slo` and of drills: for budget owners, for
// on-call engineers, and for debugging.
//
// Role: text from dashboards/, compiled in, so that an installed program has it. Pure. Source:
// grafana.com/docs, "JSON model" (classic, schema version 42) and "Provisioning".
#ifndef RHARNESS_HARNESS_INSIGHT_OBJECTIVES_DASHBOARDS_H_
#define RHARNESS_HARNESS_INSIGHT_OBJECTIVES_DASHBOARDS_H_

#include <string>
#include <string_view>
#include <vector>

namespace rharness {

struct DashboardFile {
  std::string name;  // "rharness-executive.json", "rharness.yaml"
  std::string text;
};

// The dashboards, and the provider that registers them in Grafana; `folder`: their absolute path
// for Grafana.
std::vector<DashboardFile> Dashboards(std::string_view folder);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_INSIGHT_OBJECTIVES_DASHBOARDS_H_
