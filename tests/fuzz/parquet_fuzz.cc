// Fuzzes the Parquet that checkpoints are written in: the input is a checkpoint. What is read has
// files sorted by paths below the table; what is refused says where.
//
// Run: rharness-parquet-fuzz -max_total_time=60 CORPUS parquet_seeds
#include <algorithm>
#include <filesystem>
#include <fstream>

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
    return std::move(*made);
  }();
  return folder.path();
}

void Check(std::string_view bytes) {
  std::ofstream(Table() / "_delta_log/00000000000000000002.checkpoint.parquet", std::ios::binary)
      << bytes;
  const auto table = DeltaTable::Open(Table());
  Require(table.ok());
  const auto version = table->Read(2);
  if (!version.ok()) {
    return RequireError(version.error(),
                        {ErrorCode::kInvalidInput, ErrorCode::kUnsupported, ErrorCode::kNotFound},
                        Table().string());
  }
  Require(std::ranges::is_sorted(version->files, {}, &DeltaFile::path));
  for (const DeltaFile& file : version->files) Require(SafeRelativePath(file.path, "").ok());
}

}  // namespace
}  // namespace rharness

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  rharness::Check(rharness::TextOf(data, size));
  return 0;
}
