// The rules of manifests that no single member shows; manifest_members.h lists the members.
#include <fmt/format.h>

#include <algorithm>

#include "harness/base/files.h"
#include "harness/base/json_reader.h"
#include "harness/records/manifest/environment_secrets.h"
#include "harness/records/manifest/lineage.h"
#include "harness/records/manifest/manifest_members.h"

namespace rharness {

bool DecidesVerdict(const Metric& metric, const std::vector<Metric>& metrics) {
  return metric.primary || (metric.margin && std::ranges::any_of(metrics, &Metric::primary));
}

void CheckMembers(JsonReader& reader, const MadeBy& made_by) {
  if (HoldsCredential(made_by.repository)) {
    reader.Fail("expected a URL without user and password", "repository");
  }
  if (!made_by.commit.empty() && !IsFullCommit(made_by.commit)) {
    reader.Fail("expected a full commit, of 40 or 64 hexadecimal digits", "commit");
  }
  if (made_by == MadeBy()) reader.Fail("is empty; expected a repository, a commit or a version");
}

void CheckMembers(JsonReader& reader, const DataItem& item) {
  if (HoldsCredential(item.source)) {
    reader.Fail("expected a URL without user and password", "source");
  }
}

void CheckMembers(JsonReader& reader, const Curve& curve) {
  if (curve.steps.size() != curve.values.size()) {
    return reader.Fail(fmt::format("has {} values for {} steps; expected one a step",
                                   curve.values.size(), curve.steps.size()),
                       "values");
  }
  const auto falling = std::ranges::adjacent_find(curve.steps, std::ranges::greater_equal());
  if (falling != curve.steps.end()) {
    reader.Fail(fmt::format("expected strictly increasing steps; found {} after {}", *(falling + 1),
                            *falling),
                "steps");
  }
}

void CheckMembers(JsonReader& reader, const CurvePoints& points) {
  CheckMembers(reader, points.curve);
}

void CheckMembers(JsonReader& reader, const Manifest& manifest) {
  for (std::size_t i = 0; i < manifest.metrics.size(); ++i) {
    const std::string& name = manifest.metrics[i].evaluated_on;
    if (name.empty()) continue;
    const std::string member = fmt::format("metrics[{}].evaluated_on", i);
    const std::string shown = TerminalSafe(name.substr(0, 80));
    const auto set = std::ranges::find(manifest.data, name, &DataItem::name);
    if (set == manifest.data.end()) {
      reader.Fail(fmt::format("expected the name of an entry of data; there is no '{}'", shown),
                  member);
    } else if (DigestOf(*set).empty()) {
      reader.Fail(fmt::format("data '{}' has no digest; expected data that has one, by which the "
                              "eval set is known",
                              shown),
                  member);
    }
  }
}

}  // namespace rharness
