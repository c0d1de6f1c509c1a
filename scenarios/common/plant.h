// Planted faults: what goes wrong in real training jobs, switched on by name so that a drill can
// be shown to find it. Nothing here is used unless --plant names it, and no arithmetic of the
// trainers lives here.
#ifndef RHARNESS_SCENARIOS_COMMON_PLANT_H_
#define RHARNESS_SCENARIOS_COMMON_PLANT_H_

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "scenarios/common/digits.h"
#include "scenarios/common/network.h"
#include "scenarios/common/outputs.h"

namespace rharness::scenarios {

enum class Plant {
  kNone,
  kSeedNotPropagated,
  kDirectoryOrder,
  kNanMetric,
  kFlipBit,
  kTimestampMetadata,
  kTruncatedCheckpoint,
  kHang,
  kCrash,
  kOom,
  kFillDisk,
  kGrandchild,
};

struct PlantInfo {
  Plant plant;
  std::string_view name;
  std::string_view effect;
};

std::span<const PlantInfo> AllPlants();             // without kNone
std::optional<Plant> PlantNamed(std::string_view);  // nullopt for an unknown name

// seed-not-propagated: the clock instead of the seed.
std::uint64_t PlantedShuffleSeed(Plant plant, std::uint64_t seed);
// directory-order: shards as the file system lists them.
ShardOrder PlantedShardOrder(Plant plant);
// timestamp-metadata: the time of writing, in nanoseconds.
Metadata PlantedMetadata(Plant plant);
// flip-bit: the first value of the last tensor, fc2.weight[0, 0], moves to a neighbouring float.
void DisturbTensors(Plant plant, std::vector<Tensor>* tensors);
// nan-metric: the test loss becomes 0/0.
void DisturbMetrics(Plant plant, Metrics* metrics);
// truncated-checkpoint: the last 40 % of the bytes are missing.
void DisturbCheckpoint(Plant plant, std::string* bytes);

// Called once, after the first epoch. `out` is the folder of the run.
// hang: never returns. crash: SIGSEGV. oom: touches 16 MiB blocks until refused (exit 1) or killed.
// fill-disk: grows fill/big.bin and small files beside it until refused (exit 1) or killed.
// grandchild: leaves a process that outlives the run, holds its stdout and stderr, notes its id in
// grandchild.pid, and ends itself after 10 minutes.
void DisturbRun(Plant plant, const std::filesystem::path& out);

}  // namespace rharness::scenarios

#endif  // RHARNESS_SCENARIOS_COMMON_PLANT_H_
