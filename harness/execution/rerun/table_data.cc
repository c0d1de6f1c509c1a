// Versions of tables as data: through tables/delta_table.h.
#include "harness/execution/rerun/table_data.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <system_error>

#include "harness/base/digest.h"
#include "harness/base/trouble.h"
#include "harness/execution/tables/delta_table.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

struct OpenedTable {
  DeltaTable table;
  DeltaVersion version;
};

Result<OpenedTable> OpenTable(const fs::path& path, const DataItem& item) {
  ASSIGN_OR_RETURN(const DeltaSource source, ParseDeltaSource(item.source));
  if (!source.version) {
    return InvalidInput(
        fmt::format("source '{}' names no version; expected delta:FOLDER@VERSION", item.source));
  }
  ASSIGN_OR_RETURN(DeltaTable table, DeltaTable::Open(path));
  ASSIGN_OR_RETURN(DeltaVersion version, table.Read(*source.version));
  return OpenedTable{std::move(table), std::move(version)};
}

template <class F>
void ForEachFile(const DeltaVersion& version, F&& f) {
  for (const DeltaFile& file : version.files) {
    f(file.path);
    if (!file.deletions_path.empty()) f(file.deletions_path);
  }
}

}  // namespace

Result<CapturedTable> CaptureTable(DataItem item, const fs::path& path) {
  ASSIGN_OR_RETURN(const DeltaSource source, ParseDeltaSource(item.source));
  ASSIGN_OR_RETURN(const DeltaTable table, DeltaTable::Open(path));
  ASSIGN_OR_RETURN(const DeltaVersion version, table.Read(source.version.value_or(table.newest())));
  ASSIGN_OR_RETURN(SnapshotDigest digest, table.Hash(version));
  item.kind = DataKind::kDelta;
  item.source = DeltaSourceText(item.location, version.version);
  item.sha256 = std::move(digest.sha256);
  item.size_bytes = digest.size_bytes;
  return CapturedTable{std::move(item), table.newest()};
}

Result<std::string> UnfitTable(const fs::path& path, const DataItem& item) {
  const auto opened = OpenTable(path, item);
  Status status;
  if (opened.ok()) {
    status = opened->table.CheckFiles(opened->version);
  } else {
    status = opened.error();
  }
  if (status.ok()) return std::string();
  if (IsTrouble(status.error())) return status.error();
  return status.error().ToString();
}

Result<ContentCache::Content> HashTable(const fs::path& path, const DataItem& item,
                                        ContentCache* cache) {
  ASSIGN_OR_RETURN(const OpenedTable opened, OpenTable(path, item));
  ASSIGN_OR_RETURN(
      const SnapshotDigest digest,
      opened.table.HashBy(opened.version, [&](const fs::path& relative) -> Result<FileDigest> {
        ASSIGN_OR_RETURN(ContentCache::Content content, cache->Hash(path / relative));
        return FileDigest{std::move(content.sha256), content.size_bytes};
      }));
  return ContentCache::Content{digest.sha256, digest.size_bytes};
}

Status WriteTable(const fs::path& from, const DataItem& item, const fs::path& to, bool linked) {
  ASSIGN_OR_RETURN(const OpenedTable opened, OpenTable(from, item));
  return opened.table.WriteTo(opened.version, to,
                              linked ? DeltaTable::Files::kLinked : DeltaTable::Files::kCopied);
}

std::string TableIdentity(const fs::path& path, const DataItem& item) {
  const auto opened = OpenTable(path, item);
  if (!opened.ok()) return {};
  Sha256 sha;
  ForEachFile(opened->version, [&](const std::string& file) {
    struct stat info {};
    if (::lstat((path / file).c_str(), &info) == 0) sha.Update(FileIdentity(path / file, info));
    sha.Update("\n");
  });
  return ToHex(sha.Finish());
}

bool LinksStand(const fs::path& view, const fs::path& table, const DataItem& item) {
  const auto opened = OpenTable(table, item);
  if (!opened.ok()) return false;
  bool stand = true;
  ForEachFile(opened->version, [&](const std::string& file) {
    std::error_code error;
    stand = stand && fs::read_symlink(view / file, error) == table / file;
  });
  return stand;
}

std::string NewerVersions(const fs::path& path, const DataItem& item) {
  const auto source = ParseDeltaSource(item.source);
  const auto table = DeltaTable::Open(path);
  if (!source.ok() || !table.ok() || table->newest() <= source->version.value_or(0)) return {};
  return fmt::format(
      "data '{}': version {} is recorded, and the table is now at version {}; a run that reads the "
      "newest reads that one",
      item.name, source->version.value_or(0), table->newest());
}

bool NamesVersion(const std::string& source) {
  const auto parsed = ParseDeltaSource(source);
  return parsed.ok() && parsed->version.has_value();
}

std::string GainedDuringRun(const fs::path& path, const DataItem& item, std::uint64_t before,
                            bool stated) {
  const auto table = DeltaTable::Open(path);
  if (!table.ok() || table->newest() <= before) return {};
  if (stated) {
    return fmt::format(
        "data '{}': its table went from version {} to {} during the run; {} is recorded, and the "
        "run itself chooses what it reads",
        item.name, before, table->newest(), item.source);
  }
  return fmt::format(
      "data '{}' {}: its table came from version {} to {}, and no version was stated "
      "(delta:FOLDER@VERSION); which one the run read is not known",
      item.name, kChangedDuringRun, before, table->newest());
}

}  // namespace rharness
