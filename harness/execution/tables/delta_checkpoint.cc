// Checkpoints in Parquet: one row per action; reads the columns about files.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>

#include "harness/execution/tables/delta_log.h"
#include "harness/execution/tables/parquet_column.h"
#include "harness/execution/tables/parquet_file.h"

namespace rharness {
namespace {

constexpr std::int64_t kMostRows = 50'000'000;

enum Field {
  kAddPath,
  kAddSize,
  kStorage,
  kContent,
  kOffset,
  kSize,
  kCardinality,
  kId,
  kReaderVersion,
  kFeatures,
  kSidecar,
  kFields
};
constexpr std::array<std::string_view, kFields> kPaths = {"add.path",
                                                          "add.size",
                                                          "add.deletionVector.storageType",
                                                          "add.deletionVector.pathOrInlineDv",
                                                          "add.deletionVector.offset",
                                                          "add.deletionVector.sizeInBytes",
                                                          "add.deletionVector.cardinality",
                                                          "metaData.id",
                                                          "protocol.minReaderVersion",
                                                          "protocol.readerFeatures",
                                                          "sidecar.path"};

using CheckpointRow = std::array<std::vector<ColumnValue>, kFields>;

std::int64_t NumberIn(const CheckpointRow& row, Field field, std::int64_t otherwise) {
  return row[field].empty() ? otherwise : row[field][0].number;
}

Status TakeAdd(const CheckpointRow& row, DeltaState* state) {
  AddAction add{row[kAddPath][0].text, NumberIn(row, kAddSize, -1), {}};
  if (!row[kStorage].empty()) {
    if (row[kContent].empty()) return InvalidInput("a deletion vector has no content");
    add.deletions.emplace();
    add.deletions->storage = row[kStorage][0].text;
    add.deletions->content = row[kContent][0].text;
    if (!row[kOffset].empty()) add.deletions->offset = row[kOffset][0].number;
    add.deletions->size_bytes = NumberIn(row, kSize, 0);
    add.deletions->cardinality = NumberIn(row, kCardinality, 0);
  }
  return state->Add(add);
}

// Checkpoints list removed files for cleanup; none of them is added there.
Status TakeRow(const CheckpointRow& row, DeltaState* state, std::vector<std::string>* sidecars) {
  if (!row[kReaderVersion].empty()) {
    std::vector<std::string> features;
    for (const ColumnValue& feature : row[kFeatures]) features.push_back(feature.text);
    RETURN_IF_ERROR(state->SetProtocol(row[kReaderVersion][0].number, features));
  }
  if (!row[kId].empty()) RETURN_IF_ERROR(state->SetId(row[kId][0].text));
  if (!row[kSidecar].empty()) sidecars->push_back(row[kSidecar][0].text);
  return row[kAddPath].empty() ? Status() : TakeAdd(row, state);
}

}  // namespace

Status ReadCheckpoint(OpenedFile opened, const std::string& name, DeltaState* state,
                      std::vector<std::string>* sidecars) {
  ASSIGN_OR_RETURN(const ParquetFile file, ParquetFile::Open(std::move(opened), name));
  // One part of several may have no files, and then no column for them.
  constexpr std::array<std::string_view, 5> kOfCheckpoints = {
      "add.path", "remove.path", "protocol.minReaderVersion", "metaData.id", "sidecar.path"};
  if (std::ranges::none_of(kOfCheckpoints,
                           [&](std::string_view leaf) { return file.FindLeaf(leaf) >= 0; })) {
    return InvalidInput(
        "is no checkpoint: it has none of the columns add, remove, protocol, "
        "metaData and sidecar",
        name);
  }
  std::int64_t rows = 0;
  CheckpointRow row;
  for (const RowGroup& group : file.row_groups()) {
    std::array<std::unique_ptr<ParquetColumn>, kFields> columns;
    for (std::size_t i = 0; i < kFields; ++i) {
      const int leaf = file.FindLeaf(kPaths[i]);
      if (leaf >= 0) columns[i] = std::make_unique<ParquetColumn>(file, group, leaf);
    }
    for (std::int64_t at = 0; at < group.rows; ++at) {
      if (++rows > kMostRows) {
        return Unsupported(fmt::format("has more than {} rows", kMostRows), name);
      }
      for (std::size_t i = 0; i < kFields; ++i) {
        if (columns[i]) RETURN_IF_ERROR(columns[i]->NextRow(&row[i]));
      }
      const Status taken = TakeRow(row, state, sidecars);
      if (!taken.ok()) {
        Error error = taken.error();
        error.where = fmt::format("{}: row {}", name, rows);
        return error;
      }
    }
  }
  return {};
}

}  // namespace rharness
