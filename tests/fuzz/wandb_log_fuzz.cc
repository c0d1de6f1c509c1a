// Fuzzes the reader of W&B's transaction logs: no crash, no undefined behaviour, records in the
// order of their places, and a run of what they say that a manifest's reader takes.
//
// The checksum of each part is made right first, so that records get to their reader.
//
// Run: rharness-wandb-log-fuzz -max_total_time=90 CORPUS wandb_log_seeds
#include <zlib.h>

#include <string>
#include <utility>

#include "compare/curves/wandb_log.h"
#include "harness/records/intake/wandb_run.h"
#include "tests/fuzz/fuzz_check.h"

namespace rharness {
namespace {

constexpr std::size_t kHeadBytes = 7;

void MakeChecksumsRight(std::string* log) {
  for (std::size_t at = kHeadBytes; at + kHeadBytes <= log->size();) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>((*log)[at + i]); };
    const std::size_t length = byte(4) + (std::size_t{byte(5)} << 8);
    if (at + kHeadBytes + length > log->size()) return;
    const auto crc = ::crc32(0, reinterpret_cast<const Bytef*>(log->data()) + at + 6,
                             static_cast<uInt>(length + 1));
    for (std::size_t i = 0; i < 4; ++i) (*log)[at + i] = static_cast<char>(crc >> (8 * i) & 0xff);
    at += kHeadBytes + length;
  }
}

void CheckRun(WandbRun run) {
  run.id = "fuzz";
  const Manifest manifest = BuildWandbRun(std::move(run), {}).Take();
  const Json json = ToJson(manifest);
  RequireReadable(json);
  Require(ParseManifest(json, "written").ok());
}

void Check(std::string_view text) {
  std::string log(text);
  if (log.starts_with(":W&B")) MakeChecksumsRight(&log);
  WandbRun run;
  std::size_t before = 0;
  const Status status = ReadWandbLog(
      log, "fuzz",
      [&](std::string_view record, std::size_t offset) {
        Require(offset > before && offset < log.size());
        before = offset;
        AddWandbRecord(record, &run);
      },
      [](const std::string& remark) { Require(remark.starts_with("byte ")); });
  if (!status.ok()) return RequireError(status.error(), {ErrorCode::kInvalidInput}, "fuzz");
  CheckRun(std::move(run));
}

}  // namespace
}  // namespace rharness

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  rharness::Check(rharness::TextOf(data, size));
  return 0;
}
