// Fuzzes the record of accepted baselines beside a good fingerprint: what is accepted after any
// readable record is loaded again, a record that does not name the fingerprint loads nothing, and
// errors name the folder.
//
// "BASELINE" in an input stands for the SHA-256 of the fingerprint in the folder.
// Run: rharness-gate-baseline-fuzz -max_total_time=60 -dict=gate_baseline.dict CORPUS
// gate_baseline_seeds
#include <filesystem>
#include <fstream>
#include <string>

#include "harness/base/digest.h"
#include "harness/base/files.h"
#include "harness/gate/baseline.h"
#include "tests/compare/fingerprints/build_fingerprint.h"
#include "tests/fuzz/fuzz_check.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

void Write(const fs::path& path, const std::string& text) {
  Require(static_cast<bool>(std::ofstream(path, std::ios::binary) << text << std::flush));
}

std::string WithDigest(std::string text, const std::string& digest) {
  constexpr std::string_view kWord = "BASELINE";
  for (auto at = text.find(kWord); at != text.npos; at = text.find(kWord, at + digest.size())) {
    text.replace(at, kWord.size(), digest);
  }
  return text;
}

void CheckFolder(const fs::path& folder, const std::string& records, const std::string& digest) {
  const auto loaded = LoadBaseline(folder);
  if (loaded.ok()) {
    Require(loaded->record.fingerprint_sha256 == digest && !loaded->fingerprint.probes.empty());
  } else {
    RequireError(loaded.error(),
                 {ErrorCode::kInvalidInput, ErrorCode::kIntegrity, ErrorCode::kNotFound},
                 folder.string());
    Require((loaded.error().code == ErrorCode::kNotFound) == records.empty());
  }
  const WallTime now = ParseTime("2026-11-20T12:00:00Z").value();
  const WallTime expires = now + std::chrono::days(30);
  const auto accepted = AcceptBaseline(folder / "good.json", folder, "ada", "why", now, expires);
  Require(accepted.ok() || !loaded.ok());
  if (!accepted.ok()) return;
  Require(!loaded.ok() || accepted->replaces_sha256 == digest);
  const auto again = LoadBaseline(folder);
  Require(again.ok() && again->record.accepted_by == "ada" && again->record.reason == "why");
  Require(again->record.accepted == now && again->record.expires == expires);
  Require(again->record.replaces_sha256 == accepted->replaces_sha256);
}

}  // namespace
}  // namespace rharness

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const auto folder = rharness::ScopedTempDir::Make("fuzz-");
  static const std::string good =
      rharness::FingerprintBuilder().Probe("math_bits", "math").Bits("expf", "exp").ToJson().Dump();
  static const std::string digest = rharness::Sha256HexOf(good);
  const std::string records =
      rharness::WithDigest(std::string(rharness::TextOf(data, size)), digest);
  const std::filesystem::path& path = folder->path();
  rharness::Write(path / "good.json", good);
  rharness::Write(path / rharness::kBaselineFile, good);
  rharness::Write(path / rharness::kBaselineRecord, records);
  rharness::CheckFolder(path, records, digest);
  return 0;
}
