// The planted faults. Each does what the real mishap does, by the same system calls.
#include "scenarios/common/plant.h"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <bit>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <new>
#include <system_error>

namespace rharness::scenarios {
namespace {

namespace fs = std::filesystem;

constexpr std::array<PlantInfo, 11> kPlants = {{
    {Plant::kSeedNotPropagated, "seed-not-propagated", "shuffles with a seed from the clock"},
    {Plant::kDirectoryOrder, "directory-order", "reads the shards of --data as listed, unsorted"},
    {Plant::kNanMetric, "nan-metric", "test_loss is not a number"},
    {Plant::kFlipBit, "flip-bit", "one weight is off by one unit in the last place"},
    {Plant::kTimestampMetadata, "timestamp-metadata", "same tensors, the time in __metadata__"},
    {Plant::kTruncatedCheckpoint, "truncated-checkpoint", "model.safetensors ends early"},
    {Plant::kHang, "hang", "stops for ever after the first epoch"},
    {Plant::kCrash, "crash", "SIGSEGV after the first epoch"},
    {Plant::kOom, "oom", "takes memory without bound"},
    {Plant::kFillDisk, "fill-disk", "writes files without bound below the output folder"},
    {Plant::kGrandchild, "grandchild", "leaves a process running in the background"},
}};

std::uint64_t ClockNanoseconds() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
}

[[noreturn]] void Hang() {
  while (true) pause();
}

[[noreturn]] void Crash() {
  // The default action, whatever handler a wrapper has installed.
  signal(SIGSEGV, SIG_DFL);
  raise(SIGSEGV);
  std::abort();
}

[[noreturn]] void TakeMemory() {
  constexpr std::size_t kBlock = std::size_t{16} << 20;
  while (true) {
    char* block = new (std::nothrow) char[kBlock];
    if (block == nullptr) break;
    // Memory that was never written is not charged to the process. Volatile keeps the stores.
    for (std::size_t i = 0; i < kBlock; i += 4096) static_cast<volatile char*>(block)[i] = 1;
  }
  fmt::print(stderr, "out of memory\n");
  std::exit(1);
}

bool AppendTo(const fs::path& path, const std::string& bytes) {
  std::ofstream file(path, std::ios::binary | std::ios::app);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  file.close();
  return static_cast<bool>(file);
}

[[noreturn]] void FillDisk(const fs::path& out) {
  const fs::path folder = out / "fill";
  std::error_code status;
  fs::create_directories(folder, status);
  const std::string small(std::size_t{64} << 10, 's');
  const std::string large(std::size_t{4} << 20, 'L');
  std::uint64_t count = 0;
  while (AppendTo(folder / "big.bin", large) &&
         AppendTo(folder / fmt::format("{:06}.bin", count), small)) {
    ++count;
  }
  fmt::print(stderr, "{}: {}\n", folder.string(), std::strerror(errno));
  std::exit(1);
}

void LeaveGrandchild(const fs::path& out) {
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    alarm(600);
    Hang();
  }
  std::string error;
  if (child < 0 || !WriteFile(out / "grandchild.pid", fmt::format("{}\n", child), &error)) {
    fmt::print(stderr, "grandchild not left: {}\n", error);
  }
}

}  // namespace

std::span<const PlantInfo> AllPlants() { return kPlants; }

std::optional<Plant> PlantNamed(std::string_view name) {
  for (const PlantInfo& info : kPlants) {
    if (info.name == name) return info.plant;
  }
  return std::nullopt;
}

std::uint64_t PlantedShuffleSeed(Plant plant, std::uint64_t seed) {
  return plant == Plant::kSeedNotPropagated ? ClockNanoseconds() : seed;
}

ShardOrder PlantedShardOrder(Plant plant) {
  return plant == Plant::kDirectoryOrder ? ShardOrder::kAsListed : ShardOrder::kSorted;
}

Metadata PlantedMetadata(Plant plant) {
  if (plant != Plant::kTimestampMetadata) return {};
  return {{"created_unix_nanoseconds", std::to_string(ClockNanoseconds())}};
}

void DisturbTensors(Plant plant, std::vector<Tensor>* tensors) {
  if (plant != Plant::kFlipBit) return;
  float& weight = tensors->back().values.front();
  weight = std::bit_cast<float>(std::bit_cast<std::uint32_t>(weight) ^ 1U);
}

void DisturbMetrics(Plant plant, Metrics* metrics) {
  if (plant != Plant::kNanMetric) return;
  const double no_images = 0;
  metrics->test_loss = 0 / no_images;
}

void DisturbCheckpoint(Plant plant, std::string* bytes) {
  if (plant == Plant::kTruncatedCheckpoint) bytes->resize(bytes->size() / 10 * 6);
}

void DisturbRun(Plant plant, const fs::path& out) {
  switch (plant) {
    case Plant::kHang:
      Hang();
    case Plant::kCrash:
      Crash();
    case Plant::kOom:
      TakeMemory();
    case Plant::kFillDisk:
      FillDisk(out);
    case Plant::kGrandchild:
      LeaveGrandchild(out);
      break;
    default:
      break;
  }
}

}  // namespace rharness::scenarios
