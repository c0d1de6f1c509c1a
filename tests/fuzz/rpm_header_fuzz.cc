// Fuzzes the reader of a header of rpm's database: what it tells lies in the header.
//
// Run: rharness-rpm-header-fuzz -max_total_time=60 CORPUS rpm_header_seeds
#include "harness/records/manifest/system_packages.h"
#include "tests/fuzz/fuzz_check.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = rharness::TextOf(data, size);
  const rharness::RpmPackage package = rharness::ParseRpmHeader(text);
  if (package.name.empty()) {
    rharness::Require(package.version.empty() && package.files.empty());
    return 0;
  }
  // Two texts each, which may be the same bytes; and a number.
  rharness::Require(!package.version.empty() && package.name.size() <= 2 * size + 1 &&
                    package.version.size() <= 2 * size + 16);
  std::size_t bytes = 0;
  for (const std::string& file : package.files) bytes += file.size();
  rharness::Require(package.files.size() <= size && bytes <= 8 * size);
  return 0;
}
