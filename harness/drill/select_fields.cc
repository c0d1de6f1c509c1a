// The field nearest to a typed name.
#include "harness/drill/select_fields.h"

#include <fmt/format.h>

#include <iterator>

#include "harness/base/spelling.h"

namespace rharness {
namespace {

constexpr std::string_view kFields[] = {
    "run_id",           "family",   "configuration", "declared", "started",
    "duration_seconds", "verified", "last_verdict",  "rebuild",  "artifact"};

}  // namespace

std::string FieldExpected(const std::string& typed) {
  std::string nearest = NearestName(typed, {std::begin(kFields), std::end(kFields)});
  for (const std::string_view field : kFields) {
    if (nearest.empty() && field.ends_with("_" + typed)) nearest = field;
  }
  return fmt::format("{}{}", kFieldsExpected,
                     nearest.empty() ? "" : fmt::format("; did you mean '{}'?", nearest));
}

}  // namespace rharness
