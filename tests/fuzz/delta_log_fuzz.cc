// Fuzzes the log of a Delta table: the input is a commit after a good one. What is read has files
// sorted by paths below the table; what is refused says where.
//
// Run: rharness-delta-log-fuzz -max_total_time=60 CORPUS delta_log_seeds
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>

#include "harness/base/files.h"
#include "harness/execution/tables/delta_table.h"
#include "tests/fuzz/fuzz_check.h"

namespace rharness {
namespace {

const std::filesystem::path& Table() {
  static const ScopedTempDir folder = [] {
    auto made = ScopedTempDir::Make();
    Require(made.ok());
    std::filesystem::create_directories(made->path() / "_delta_log");
    std::ofstream(made->path() / "_delta_log/00000000000000000000.json")
        << R"({"protocol":{"minReaderVersion":1}})"
        << "\n"
        << R"({"metaData":{"id":"x"}})"
        << "\n"
        << R"({"add":{"path":"a.parquet","size":1}})"
        << "\n";
    return std::move(*made);
  }();
  return folder.path();
}

void Check(std::string_view text) {
  std::ofstream(Table() / "_delta_log/00000000000000000001.json", std::ios::binary) << text;
  const auto table = DeltaTable::Open(Table());
  Require(table.ok());
  const auto version = table->Read(1);
  if (!version.ok()) {
    return RequireError(version.error(), {ErrorCode::kInvalidInput, ErrorCode::kUnsupported},
                        Table().string());
  }
  Require(!version->id.empty());
  Require(std::ranges::is_sorted(version->files, {}, &DeltaFile::path));
  for (const DeltaFile& file : version->files) {
    Require(SafeRelativePath(file.path, "").ok());
    Require(file.deletions_path.empty() || SafeRelativePath(file.deletions_path, "").ok());
  }
}

}  // namespace
}  // namespace rharness

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  rharness::Check(rharness::TextOf(data, size));
  return 0;
}
