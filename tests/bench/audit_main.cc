// An audit log of a million entries, from inside: prints lines "NAME NUMBER".
//
// usage: rharness-audit-cost FOLDER [ROUNDS]   FOLDER must be there; the log is made below it
// verify_seconds: CPU of reading the log, of recomputing its tree and of holding it to its hashes
// and head; hash_seconds: of SHA-256 over the bytes of its entries, read alike; medians of
// interleaved rounds. proof_ms: CPU of one inclusion proof, mean of a thousand; proof_worst_ms: the
// longest.
#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <vector>

#include "harness/trust/audit/log_append.h"
#include "harness/trust/audit/log_view.h"
#include "harness/trust/audit/proof.h"

namespace rharness {
namespace {

constexpr int kEntries = 1'000'000;
constexpr int kProofs = 1000;

double CpuSeconds() {
  timespec now{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

double MedianOf(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

// Manifests of runs.
class MillionRecords : public AppendSource {
 public:
  Status Load() override { return {}; }
  Status Take(const AuditEntry&) override { return {}; }
  Result<std::vector<HeldRecord>> New() override {
    std::vector<HeldRecord> records;
    for (int i = 0; i < kEntries; ++i) {
      const std::string name = fmt::format("resnet50-2026-{:07}", i);
      records.push_back({"manifest", name, Sha256Of(std::as_bytes(std::span(name)))});
    }
    return records;
  }
};

double HashOnce(const std::filesystem::path& file) {
  const double begin = CpuSeconds();
  std::ifstream in(file, std::ios::binary);
  std::string block(std::size_t{8} << 20, '\0');
  Sha256 hash;
  while (in.read(block.data(), static_cast<std::streamsize>(block.size())) || in.gcount() > 0) {
    hash.Update(std::string_view(block.data(), static_cast<std::size_t>(in.gcount())));
  }
  (void)hash.Finish();
  return CpuSeconds() - begin;
}

template <class T>
T Must(Result<T> result) {
  if (!result.ok()) Abort(result.error().ToString());
  return std::move(*result);
}

double VerifyOnce(const std::filesystem::path& folder) {
  const double begin = CpuSeconds();
  LogView log = Must(OpenLog(folder));
  if (Must(CheckLog(&log, {})).tree.size != kEntries) Abort("not all entries");
  return CpuSeconds() - begin;
}

void Measure(const std::filesystem::path& folder, int rounds) {
  MillionRecords records;
  const double begin = CpuSeconds();
  const Appended made =
      Must(AppendToLog({.folder = folder, .begin = true, .clock = &SystemClock()}, &records));
  fmt::print("append_seconds {}\n", CpuSeconds() - begin);
  std::vector<double> verify, hash;
  for (int round = 0; round < rounds; ++round) {
    hash.push_back(HashOnce(folder / kEntriesFile));
    verify.push_back(VerifyOnce(folder));
  }
  fmt::print("verify_seconds {}\nhash_seconds {}\n", MedianOf(verify), MedianOf(hash));
  LogView log = Must(OpenLog(folder));
  double all = 0.0, worst = 0.0;
  for (std::uint64_t i = 0; i < kProofs; ++i) {
    const double start = CpuSeconds();
    Must(ProveEntry(&log, i * 7919 * 97 % kEntries, made.tree));
    const double took = CpuSeconds() - start;
    all += took;
    worst = std::max(worst, took);
  }
  fmt::print("proof_ms {}\nproof_worst_ms {}\n", all * 1e3 / kProofs, worst * 1e3);
}

}  // namespace
}  // namespace rharness

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  const std::filesystem::path folder = std::filesystem::path(argv[1]) / "audit";
  std::filesystem::remove_all(folder);
  rharness::Measure(folder, argc > 2 ? std::max(1, std::atoi(argv[2])) : 5);
  std::filesystem::remove_all(folder);
  return 0;
}
