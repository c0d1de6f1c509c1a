// Fuzzes both ways through a JSON document: where the quick one returns a value, the careful one
// returns the same, and what it returns is written and read back.
//
// Run: rharness-json-fuzz -max_total_time=60 -dict=manifest.dict CORPUS json_seeds
#include "harness/base/json_quick.h"
#include "tests/fuzz/fuzz_check.h"

namespace rharness {
namespace {

void Check(std::string_view text) {
  const auto value = ParseJson(text, "fuzz");
  if (text.find('\0') != std::string_view::npos) return Require(!value.ok());
  const auto carefully = ParseJsonCarefully(text, "fuzz");
  Require(value.ok() == carefully.ok());
  if (!value.ok()) return RequireError(value.error(), {ErrorCode::kInvalidInput}, "fuzz: ");
  Require(value->Dump() == carefully->Dump());
  RequireReadable(*value);
  if (const auto quickly = ParseJsonQuickly(text)) Require(quickly->Dump() == carefully->Dump());
}

}  // namespace
}  // namespace rharness

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  rharness::Check(rharness::TextOf(data, size));
  return 0;
}
