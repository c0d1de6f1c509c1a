// A run of Weights & Biases on disk, and its mapping to a manifest.
//
// Role: private to the files of W&B's importer. Pure.
#ifndef RHARNESS_HARNESS_RECORDS_INTAKE_WANDB_RUN_H_
#define RHARNESS_HARNESS_RECORDS_INTAKE_WANDB_RUN_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compare/curves/wandb_metrics.h"
#include "harness/base/json.h"
#include "harness/records/intake/intake.h"

namespace rharness {

struct WandbGpu {
  std::string name;
  std::uint64_t memory_bytes = 0;
};

struct WandbHost {   // host and start of the program
  std::string from;  // "wandb-metadata.json", or the log
  std::string os, python, docker, program, code_path, root, executable, cpu, gpu, cuda;
  std::vector<std::string> args;
  std::string git_remote, git_commit;
  std::uint64_t gpu_count = 0;
  std::vector<WandbGpu> gpus;
  std::map<std::string, std::string> slurm;  // "nnodes": SLURM_NNODES
};

struct WandbUsedArtifact {
  std::string name, type, id;
};

struct WandbRun : WandbMetrics {
  std::string id, project, group;
  WallTime started{};
  std::optional<std::int64_t> exit_code;  // empty: the log has no end
  WandbHost host;
  std::map<std::string, Json> config;  // without "_wandb"
  std::vector<WandbUsedArtifact> used;
  std::map<std::string, std::string> packages;  // of requirements.txt
  std::optional<std::string> diff_sha256;       // of diff.patch
  std::vector<Artifact> artifacts;              // without roles
  std::vector<std::string> remarks;
};

// Adds one record of the transaction log; returns whether it could be read. Skips fields that are
// not needed. Source: wandb/proto/wandb_internal.proto of wandb 0.31.
bool AddWandbRecord(std::string_view record, WandbRun* run);

// The files beside the log, if any; the log takes precedence.
void AddWandbMetadata(const Json& metadata, WandbRun* run);  // wandb-metadata.json
void AddWandbConfig(const Json& config, WandbRun* run);      // config.yaml
void AddWandbSummary(const Json& summary, WandbRun* run);    // wandb-summary.json
// wandb-history.jsonl, the log of clients before 0.10: an object per line, its step "_step", or
// else the line's number from 0 on.
void AddWandbHistory(std::string_view text, WandbRun* run);
// "NAME==VERSION" per line; a remark counts other lines (URLs, folders).
void AddWandbRequirements(std::string_view text, WandbRun* run);

ImportedRun BuildWandbRun(WandbRun run, const ImportRequest& request);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_RECORDS_INTAKE_WANDB_RUN_H_
