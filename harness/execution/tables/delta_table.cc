// Reading a version of a table through its folder, which no link leaves.
#include "harness/execution/tables/delta_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <system_error>

#include "harness/base/files.h"
#include "harness/base/trouble.h"
#include "harness/execution/tables/delta_log.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

constexpr char kLogFolder[] = "_delta_log";
constexpr char kSidecarFolder[] = "_sidecars";
constexpr std::size_t kMostSidecars = 100'000;
constexpr std::string_view kDeltaScheme = "delta:";

Result<std::vector<std::string>> NamesIn(const HeldFolder& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator entry(folder.through(), error), end; !error && entry != end;
       entry.increment(error)) {
    names.push_back(entry->path().filename().string());
  }
  if (error) return PathError("cannot be listed", error.value(), folder.path());
  std::ranges::sort(names);
  return names;
}

}  // namespace

std::uint64_t DeltaVersion::SizeBytes() const {
  std::uint64_t size = 0;
  for (const DeltaFile& file : files) size += file.size_bytes;
  return size;
}

Result<DeltaTable> DeltaTable::Open(const fs::path& path) {
  DeltaTable table;
  ASSIGN_OR_RETURN(HeldFolder folder, HeldFolder::Open(path));
  table.folder_ = std::make_shared<const HeldFolder>(std::move(folder));
  const auto log = table.folder_->OpenFolder(kLogFolder);
  if (!log.ok()) {
    if (log.error().code != ErrorCode::kNotFound) return log.error();
    return NotFound("is no Delta table: it has no folder _delta_log", path.string());
  }
  ASSIGN_OR_RETURN(table.names_, NamesIn(*log));
  const LogListing listing = ListingOf(table.names_);
  if (listing.commits.empty() && listing.checkpoints.empty()) {
    return NotFound("is no Delta table: its _delta_log has no commit", path.string());
  }
  if (!listing.commits.empty()) table.newest_ = *listing.commits.rbegin();
  if (!listing.checkpoints.empty()) {
    table.newest_ = std::max(table.newest_, listing.checkpoints.rbegin()->first);
  }
  return table;
}

Status DeltaTable::ReadLogFile(const std::string& name, DeltaState* state,
                               std::vector<std::string>* sidecars) const {
  const fs::path relative = fs::path(kLogFolder) / name;
  const std::string full = (path() / relative).string();
  auto file = folder_->OpenFile(relative);
  if (!file.ok()) return file.error();
  if (name.ends_with(".parquet")) return ReadCheckpoint(std::move(*file), full, state, sidecars);
  return ReadActions(*file, full, state, sidecars);
}

Result<DeltaVersion> DeltaTable::Read(std::uint64_t version) const {
  auto plan = PlanReading(ListingOf(names_), version);
  if (!plan.ok()) {
    Error error = plan.error();
    error.where = path().string();
    return error;
  }
  DeltaVersion read;
  read.version = version;
  DeltaState state;
  std::vector<std::string> sidecars;
  state.BeginVersion();
  for (const std::string& name : plan->checkpoint) {
    RETURN_IF_ERROR(ReadLogFile(name, &state, &sidecars));
    read.log_files.push_back(name);
  }
  if (sidecars.size() > kMostSidecars) {
    return Unsupported(fmt::format("has more than {} sidecars", kMostSidecars), path().string());
  }
  for (const std::string& name : sidecars) {
    if (name.find('/') != name.npos || !name.ends_with(".parquet")) {
      return Unsupported(
          fmt::format("a checkpoint names the sidecar '{}'; expected a Parquet file in "
                      "_delta_log/_sidecars",
                      TerminalSafe(name.substr(0, 120))),
          path().string());
    }
    std::vector<std::string> none;
    const std::string below = fmt::format("{}/{}", kSidecarFolder, name);
    RETURN_IF_ERROR(ReadLogFile(below, &state, &none));
    read.log_files.push_back(below);
  }
  std::vector<std::string> ignored;
  for (const std::string& name : plan->commits) {
    state.BeginVersion();
    RETURN_IF_ERROR(ReadLogFile(name, &state, &ignored));
    read.log_files.push_back(name);
  }
  read.id = state.id();
  auto files = state.Finish();
  if (!files.ok()) {
    Error error = files.error();
    error.where = path().string();
    return error;
  }
  read.files = std::move(*files);
  return read;
}

bool IsDeltaSource(std::string_view source) { return source.starts_with(kDeltaScheme); }

Result<DeltaSource> ParseDeltaSource(std::string_view source) {
  const auto wrong = [&] {
    return InvalidInput(fmt::format("expected delta:FOLDER@VERSION, found '{}'",
                                    TerminalSafe(std::string(source.substr(0, 200)))));
  };
  if (!IsDeltaSource(source)) return wrong();
  DeltaSource parsed;
  const std::string_view rest = source.substr(kDeltaScheme.size());
  const auto at = rest.rfind('@');
  const bool versioned = at != rest.npos && rest.find('/', at) == rest.npos;
  parsed.table = rest.substr(0, versioned ? at : rest.npos);
  if (parsed.table.empty()) return wrong();
  if (!versioned) return parsed;
  const std::string_view digits = rest.substr(at + 1);
  std::uint64_t version = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), version);
  if (error != std::errc{} || end != digits.data() + digits.size() || digits.empty()) {
    return wrong();
  }
  parsed.version = version;
  return parsed;
}

std::string DeltaSourceText(std::string_view table, std::uint64_t version) {
  return fmt::format("{}{}@{}", kDeltaScheme, table, version);
}

}  // namespace rharness
