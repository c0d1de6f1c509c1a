// Fuzzes YAML as JSON: no crash, no undefined behaviour, bounds that hold, a value that is written
// and read back, and with every scalar as its text the same shape.
//
// Run: rharness-intake-yaml-fuzz -max_total_time=90 CORPUS intake_yaml_seeds
#include "harness/net/yaml.h"
#include "tests/fuzz/fuzz_check.h"

namespace rharness {
namespace {

struct Shape {
  std::size_t values = 0;
  std::size_t depth = 0;
};

void Measure(const Json& json, std::size_t depth, Shape* shape) {
  ++shape->values;
  shape->depth = std::max(shape->depth, depth);
  if (json.IsArray()) {
    for (const Json& element : json.AsArray()) Measure(element, depth + 1, shape);
  } else if (json.IsObject()) {
    for (const auto& [key, value] : json.AsObject()) Measure(value, depth + 1, shape);
  }
}

void Check(std::string_view text) {
  const auto typed = ParseYamlAsJson(text, "fuzz");
  const auto texts = ParseYamlAsJson(text, "fuzz", YamlScalars::kText);
  Require(typed.ok() == texts.ok());
  if (!typed.ok()) return RequireError(typed.error(), {ErrorCode::kInvalidInput}, "fuzz:");
  Shape a, b;
  Measure(*typed, 0, &a);
  Measure(*texts, 0, &b);
  Require(a.values == b.values && a.depth == b.depth);
  Require(a.values <= kMostYamlValues && a.depth <= kMostYamlDepth);
}

}  // namespace
}  // namespace rharness

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  rharness::Check(rharness::TextOf(data, size));
  return 0;
}
