// The compiled-in files of dashboards/; see dashboards.h.
#include "harness/insight/objectives/dashboards.h"

#include "harness/base/json.h"
#include "harness/insight/objectives/dashboard_texts.h"

namespace rharness {

std::vector<DashboardFile> Dashboards(std::string_view folder) {
  constexpr std::string_view kFolder = "\"@FOLDER@\"";
  std::string provider(kProviderText);
  const std::size_t at = provider.find(kFolder);
  // A string of JSON is a double-quoted scalar of YAML.
  provider.replace(at, kFolder.size(), Json(folder).Dump());
  const std::size_t first_line = provider.find('\n') + 1;
  return {{"rharness-executive.json", std::string(kExecutiveText)},
          {"rharness-oncall.json", std::string(kOncallText)},
          {"rharness-debug.json", std::string(kDebugText)},
          {"rharness.yaml", provider.substr(first_line)}};
}

}  // namespace rharness
