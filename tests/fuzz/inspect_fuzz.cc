// Fuzzes the readers of Inspect's logs: no crash, no undefined behaviour; errors with their file;
// the same values of a log as JSON and of the archive that has it as its header.
//
// An input that begins as an archive is read as one.
//
// Run: rharness-inspect-fuzz -max_total_time=120 CORPUS inspect_seeds
#include <bit>
#include <fstream>
#include <string>

#include "harness/base/files.h"
#include "harness/base/held_folder.h"
#include "harness/records/logs/evaluation_results.h"
#include "tests/compare/weights/zip_file.h"
#include "tests/fuzz/fuzz_check.h"

namespace rharness {
namespace {

constexpr char kLog[] = "a.eval";

Result<EvaluationResults> ReadArchive(std::string_view bytes) {
  static const auto* folder = new auto(ScopedTempDir::Make());
  Require(folder->ok());
  Require((std::ofstream((*folder)->path() / kLog) << bytes).good());
  const auto held = HeldFolder::Open((*folder)->path());
  Require(held.ok());
  return ReadInspectArchive(*held, kLog, "fuzz");
}

void CheckResults(const Result<EvaluationResults>& results, std::string_view where) {
  if (!results.ok()) {
    return RequireError(results.error(),
                        {ErrorCode::kInvalidInput, ErrorCode::kUnsupported, ErrorCode::kIntegrity},
                        where);
  }
  // Names have the task, the score and the metric.
  for (const auto& [name, value] : results->values) {
    Require(name.find('/') < name.rfind('/'));
  }
  Require(results->remarks.size() <= 1);
}

bool SameValues(const EvaluationResults& a, const EvaluationResults& b) {
  return a.remarks == b.remarks && std::ranges::equal(a.values, b.values, [](auto& x, auto& y) {
           return x.first == y.first &&
                  std::bit_cast<std::uint64_t>(x.second) == std::bit_cast<std::uint64_t>(y.second);
         });
}

void Check(std::string_view text) {
  if (text.starts_with("PK")) return CheckResults(ReadArchive(text), "");
  const auto results = ParseInspectLog(text, "fuzz");
  CheckResults(results, "fuzz");
  const auto archived = ReadArchive(ZipOf({{.name = "_journal/start.json", .content = "{}"},
                                           {.name = "header.json", .content = std::string(text)}}));
  Require(archived.ok() == results.ok());
  if (results.ok()) Require(SameValues(*results, *archived));
}

}  // namespace
}  // namespace rharness

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  rharness::Check(rharness::TextOf(data, size));
  return 0;
}
