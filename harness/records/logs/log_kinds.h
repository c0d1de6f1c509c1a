// The kinds of logs, and what tells them apart.
//
// Role: private to this folder.
#ifndef RHARNESS_HARNESS_RECORDS_LOGS_LOG_KINDS_H_
#define RHARNESS_HARNESS_RECORDS_LOGS_LOG_KINDS_H_

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>

namespace rharness {

inline constexpr std::string_view kOwnLog = "metrics";
inline constexpr std::string_view kTrainerLog = "trainer";
inline constexpr std::string_view kTensorBoardLog = "tensorboard";
inline constexpr std::string_view kTableLog = "csv";
inline constexpr std::string_view kLinesLog = "jsonl";
inline constexpr std::string_view kArraysLog = "json";
inline constexpr std::string_view kResultsLog = "results";
inline constexpr std::string_view kMllogLog = "mllog";
inline constexpr std::string_view kHarnessLog = "lm-eval";
inline constexpr std::string_view kInspectLog = "inspect";
inline constexpr std::string_view kHelmLog = "helm";
inline constexpr std::string_view kMlflowLog = "mlflow";
inline constexpr std::string_view kWandbLog = "wandb";
inline constexpr std::string_view kStateFile = "trainer_state.json";
// Files of a folder whose content is looked at.
inline constexpr std::size_t kMostCandidates = 1000;

// The kind of a file by its first bytes; empty: no log. `head` may be cut off.
std::string_view KindOfHead(std::string_view head);

// Whether the logs of a folder are those of one run: an evaluation has one a task.
inline bool IsOneOfMany(std::string_view kind) { return kind == kInspectLog || kind == kHelmLog; }

// The folder around a log in which all else is part of it: of kinds whose tools write more files
// beside their log.
std::optional<std::filesystem::path> FolderOwnedBy(const std::filesystem::path& log,
                                                   std::string_view kind);
// Whether a file lies below the folder; an empty one has all.
bool IsBelow(const std::filesystem::path& file, const std::filesystem::path& folder);

// N of "checkpoint-N".
std::optional<std::int64_t> CheckpointStep(std::string_view folder);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_RECORDS_LOGS_LOG_KINDS_H_
