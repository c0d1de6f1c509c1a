// rpm's database by SQLite, and its headers.
#include "harness/records/manifest/rpm_database.h"

#include <sqlite3.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "harness/base/files.h"
#include "harness/records/manifest/system_packages.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMostDatabaseBytes = std::uint64_t{512} << 20;
constexpr int kStepsBetweenLooks = 100'000;
constexpr int kMostLooks = 5'000;  // some seconds: a view in the place of the table might not end

// Of rpmtag.h.
constexpr std::uint32_t kNameTag = 1000;
constexpr std::uint32_t kVersionTag = 1001;
constexpr std::uint32_t kReleaseTag = 1002;
constexpr std::uint32_t kEpochTag = 1003;
constexpr std::uint32_t kArchTag = 1022;
constexpr std::uint32_t kDirIndexesTag = 1116;
constexpr std::uint32_t kBaseNamesTag = 1117;
constexpr std::uint32_t kDirNamesTag = 1118;

constexpr std::uint32_t kInt32 = 4;
constexpr std::uint32_t kString = 6;
constexpr std::uint32_t kStringArray = 8;

constexpr std::size_t kIntroBytes = 8;
constexpr std::size_t kEntryBytes = 16;
constexpr std::size_t kMostEntries = 65'535;
// For a byte of the header, which has a hundred a file beside its name: one long folder that very
// many files name would fill the memory.
constexpr std::size_t kMostPathBytes = 8;

std::uint32_t BigEndian(std::string_view bytes, std::size_t at) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    value = value << 8U | static_cast<std::uint8_t>(bytes[at + i]);
  }
  return value;
}

// Entries {tag, type, offset, count} behind their number and the number of bytes of the store that
// follows them; all integers of 32 bits, the high byte first.
class RpmHeader {
 public:
  explicit RpmHeader(std::string_view bytes) {
    if (bytes.size() < kIntroBytes) return;
    const std::size_t entries = BigEndian(bytes, 0);
    const std::size_t stored = BigEndian(bytes, 4);
    if (entries > kMostEntries) return;
    const std::size_t index = entries * kEntryBytes;
    if (bytes.size() - kIntroBytes < index) return;
    if (bytes.size() - kIntroBytes - index < stored) return;
    index_ = bytes.substr(kIntroBytes, index);
    store_ = bytes.substr(kIntroBytes + index, stored);
  }

  std::string Text(std::uint32_t tag) const {
    const std::vector<std::string> texts = Texts(tag, kString);
    return texts.empty() ? std::string() : texts.front();
  }

  std::vector<std::string> Texts(std::uint32_t tag, std::uint32_t type) const {
    std::vector<std::string> texts;
    const auto entry = Find(tag, type);
    if (!entry) return texts;
    std::string_view rest = store_.substr(entry->offset);
    for (std::uint32_t i = 0; i < entry->count; ++i) {
      const std::size_t end = rest.find('\0');
      if (end == std::string_view::npos) break;
      texts.emplace_back(rest.substr(0, end));
      rest.remove_prefix(end + 1);
    }
    return texts;
  }

  std::vector<std::uint32_t> Numbers(std::uint32_t tag) const {
    std::vector<std::uint32_t> numbers;
    const auto entry = Find(tag, kInt32);
    if (!entry) return numbers;
    const std::size_t there = (store_.size() - entry->offset) / 4;
    for (std::size_t i = 0; i < std::min<std::size_t>(there, entry->count); ++i) {
      numbers.push_back(BigEndian(store_, entry->offset + 4 * i));
    }
    return numbers;
  }

 private:
  struct Entry {
    std::uint32_t offset = 0;
    std::uint32_t count = 0;
  };

  std::optional<Entry> Find(std::uint32_t tag, std::uint32_t type) const {
    for (std::size_t at = 0; at < index_.size(); at += kEntryBytes) {
      if (BigEndian(index_, at) != tag || BigEndian(index_, at + 4) != type) continue;
      const Entry entry{BigEndian(index_, at + 8), BigEndian(index_, at + 12)};
      if (entry.offset < store_.size()) return entry;
    }
    return std::nullopt;
  }

  std::string_view index_;
  std::string_view store_;
};

using Connection = std::unique_ptr<sqlite3, decltype(&sqlite3_close)>;
using Statement = std::unique_ptr<sqlite3_stmt, decltype(&sqlite3_finalize)>;

// A database in memory with these bytes, which outlive it; null if invalid.
Connection OpenBytes(std::string* bytes) {
  constexpr std::size_t kHeaderBytes = 100;
  constexpr std::size_t kWriteVersion = 18;
  constexpr std::size_t kReadVersion = 19;
  sqlite3* raw = nullptr;
  if (bytes->size() < kHeaderBytes || !bytes->starts_with("SQLite format 3")) {
    return {nullptr, &sqlite3_close};
  }
  // rpm keeps a log beside it (2), which a database in memory cannot have (1).
  (*bytes)[kWriteVersion] = (*bytes)[kReadVersion] = 1;
  const int opened = sqlite3_open_v2(":memory:", &raw, SQLITE_OPEN_READWRITE, nullptr);
  Connection connection(raw, &sqlite3_close);
  if (opened != SQLITE_OK) return {nullptr, &sqlite3_close};
  const auto size = static_cast<sqlite3_int64>(bytes->size());
  auto* data = reinterpret_cast<unsigned char*>(bytes->data());
  if (sqlite3_deserialize(raw, "main", data, size, size, SQLITE_DESERIALIZE_READONLY) !=
      SQLITE_OK) {
    return {nullptr, &sqlite3_close};
  }
  sqlite3_db_config(raw, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(raw, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_db_config(raw, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
  sqlite3_db_config(raw, SQLITE_DBCONFIG_ENABLE_VIEW, 0, nullptr);
  return connection;
}

}  // namespace

void ForEachRpmHeader(const fs::path& path,
                      const std::function<void(std::string_view header)>& take) {
  auto bytes = ReadFile(path, kMostDatabaseBytes);
  if (!bytes.ok()) return;
  const Connection connection = OpenBytes(&*bytes);
  if (connection == nullptr) return;
  int looks = 0;
  const auto look = [](void* counted) {
    return ++*static_cast<int*>(counted) > kMostLooks ? 1 : 0;
  };
  sqlite3_progress_handler(connection.get(), kStepsBetweenLooks, look, &looks);
  sqlite3_stmt* raw = nullptr;
  constexpr char kQuery[] = "SELECT blob FROM Packages ORDER BY hnum";
  if (sqlite3_prepare_v2(connection.get(), kQuery, -1, &raw, nullptr) != SQLITE_OK) return;
  const Statement statement(raw, &sqlite3_finalize);
  while (sqlite3_step(raw) == SQLITE_ROW) {
    const auto* blob = static_cast<const char*>(sqlite3_column_blob(raw, 0));
    const int size = sqlite3_column_bytes(raw, 0);
    if (blob != nullptr && size > 0) take({blob, static_cast<std::size_t>(size)});
  }
}

RpmPackage ParseRpmHeader(std::string_view bytes) {
  const RpmHeader header(bytes);
  RpmPackage package{
      .name = header.Text(kNameTag), .version = header.Text(kVersionTag), .files = {}};
  if (package.name.empty() || package.version.empty() || package.name == "gpg-pubkey") return {};
  const std::string architecture = header.Text(kArchTag);
  if (!architecture.empty()) package.name += "." + architecture;
  const std::string release = header.Text(kReleaseTag);
  if (!release.empty()) package.version += "-" + release;
  const std::vector<std::uint32_t> epoch = header.Numbers(kEpochTag);
  if (!epoch.empty()) package.version = std::to_string(epoch.front()) + ":" + package.version;
  const std::vector<std::string> folders = header.Texts(kDirNamesTag, kStringArray);
  const std::vector<std::string> names = header.Texts(kBaseNamesTag, kStringArray);
  const std::vector<std::uint32_t> of_folder = header.Numbers(kDirIndexesTag);
  std::size_t room = kMostPathBytes * bytes.size();
  for (std::size_t i = 0; i < std::min(names.size(), of_folder.size()); ++i) {
    if (of_folder[i] >= folders.size()) continue;
    const std::string& folder = folders[of_folder[i]];
    if (folder.size() + names[i].size() > room) break;
    room -= folder.size() + names[i].size();
    package.files.push_back(folder + names[i]);
  }
  return package;
}

}  // namespace rharness
