// Delta tables in tests: those that delta-rs and Arrow wrote (make_tables.py), and logs by hand.
#ifndef RHARNESS_TESTS_EXECUTION_TABLES_TABLE_FOLDER_H_
#define RHARNESS_TESTS_EXECUTION_TABLES_TABLE_FOLDER_H_

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/files.h"
#include "harness/execution/tables/delta_table.h"

namespace rharness {

inline std::filesystem::path RecordedTables() {
  return std::filesystem::path(RHARNESS_SOURCE_DIR) / "tests/execution/tables/recorded";
}

// "SIZE PATH" of each file of a version, out of what make_tables.py wrote.
inline std::vector<std::string> FilesIn(std::istream& in, int version) {
  std::vector<std::string> files;
  int of = 0;
  std::string rest;
  while (in >> of && std::getline(in >> std::ws, rest)) {
    if (of == version) files.push_back(rest);
  }
  return files;
}
// The same of the recorded table: as delta-rs saw it.
inline std::vector<std::string> FilesByDeltaRs(int version) {
  std::ifstream in(RecordedTables() / "files.txt");
  return FilesIn(in, version);
}

inline std::vector<std::string> FilesOf(const Result<DeltaVersion>& version) {
  std::vector<std::string> files;
  if (!version.ok()) return {version.error().ToString()};
  for (const DeltaFile& file : version->files) {
    files.push_back(fmt::format("{} {}", file.size_bytes, file.path));
  }
  return files;
}

// A table whose log a test writes.
class TableFolder : public testing::Test {
 protected:
  static constexpr char kProtocol[] = R"({"protocol":{"minReaderVersion":1,"minWriterVersion":2}})";
  static constexpr char kMetaData[] = R"({"metaData":{"id":"5f7a","schemaString":"{}"}})";

  static std::string Add(std::string_view path, int size, std::string_view more = "") {
    return fmt::format(R"({{"add":{{"path":"{}","size":{},"partitionValues":{{}}{}}}}})", path,
                       size, more);
  }
  static std::string Remove(std::string_view path) {
    return fmt::format(R"({{"remove":{{"path":"{}","dataChange":true}}}})", path);
  }
  void Put(const std::string& name, std::string_view content) {
    ASSERT_TRUE(WriteFileAtomic(root() / name, content).ok());
  }
  void Commit(int version, const std::vector<std::string>& lines) {
    std::string text;
    for (const std::string& line : lines) text += line + "\n";
    Put(fmt::format("_delta_log/{:020}.json", version), text);
  }
  // Protocol, id and the lines, as version 0.
  void Begin(std::vector<std::string> lines) {
    lines.insert(lines.begin(), {kProtocol, kMetaData});
    Commit(0, lines);
  }
  Result<DeltaVersion> Read(std::uint64_t version) const {
    ASSIGN_OR_RETURN(const DeltaTable table, DeltaTable::Open(root()));
    return table.Read(version);
  }
  // Why the version cannot be read.
  std::string Refusal(std::uint64_t version = 0) const {
    const auto read = Read(version);
    return read.ok() ? "it was read" : read.error().ToString();
  }
  Result<SnapshotDigest> Hash(std::uint64_t version) const { return HashAt(root(), version); }
  static Result<SnapshotDigest> HashAt(const std::filesystem::path& path, std::uint64_t version) {
    ASSIGN_OR_RETURN(const DeltaTable table, DeltaTable::Open(path));
    ASSIGN_OR_RETURN(const DeltaVersion read, table.Read(version));
    return table.Hash(read);
  }
  std::filesystem::path root() const { return folder_.path() / "table"; }
  std::filesystem::path beside() const { return folder_.path(); }

 private:
  ScopedTempDir folder_ = *ScopedTempDir::Make();
};

}  // namespace rharness

#endif  // RHARNESS_TESTS_EXECUTION_TABLES_TABLE_FOLDER_H_
