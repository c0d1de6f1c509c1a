// Files that are damaged, foreign, newer, out of reach or locked.
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <filesystem>
#include <vector>

#include "harness/history/location.h"
#include "harness/history/open_store.h"
#include "tests/history/store_fixture.h"

namespace rharness {
namespace {

using FaultTest = HistoryFileTest;

void Fill(HistoryStore& store, int runs) {
  for (int i = 0; i < runs; ++i) {
    ASSERT_TRUE(store.Add(MakeManifest("run-" + std::to_string(i), kDay1), At(kDay1)).ok());
  }
}

// Opens the file and reads everything; the first error, if any.
Status ReadAll(const std::filesystem::path& path) {
  ASSIGN_OR_RETURN(const auto store, HistoryStore::Open(path.string()));
  ASSIGN_OR_RETURN(const auto entries, store->List(true));
  for (const HistoryEntry& entry : entries) {
    ASSIGN_OR_RETURN(const Manifest manifest, store->Get(entry.run_id));
    if (manifest.run_id != entry.run_id) return InternalError("another run");
  }
  return {};
}

TEST_F(FaultTest, ReportsATruncatedFileAsDamagedWhereverItIsCut) {
  Fill(*OpenStore(), 40);
  const std::string whole = ReadFile(Path()).value();
  ASSERT_TRUE(ReadAll(Path()).ok());
  for (std::size_t size = 4096; size < whole.size(); size += 4096) {
    const auto cut = folder_.path() / ("cut-" + std::to_string(size));
    ASSERT_TRUE(WriteFileAtomic(cut, std::string_view(whole).substr(0, size)).ok());
    const Status status = ReadAll(cut);
    ASSERT_FALSE(status.ok()) << size;
    EXPECT_EQ(status.error().code, ErrorCode::kIntegrity) << status.error().ToString();
    EXPECT_NE(status.error().ToString().find(cut.string()), std::string::npos);
  }
}

// SQLite's reads, of which one fails as on a bad disk. SQLite itself tells that as damage.
int reads_to_failure = 0;
ssize_t ReadOfABadDisk(int file, void* to, std::size_t bytes, off_t at) {
  if (--reads_to_failure != 0) return ::pread(file, to, bytes, at);
  errno = EIO;
  return -1;
}

TEST_F(FaultTest, TellsADiskThatCannotBeReadFromDamage) {
  Fill(*OpenStore(), 40);
  sqlite3_vfs* vfs = sqlite3_vfs_find(nullptr);
  const std::vector<const char*> calls = {"pread", "pread64"};
  int failed = 0;
  for (int n = 1; n <= 60; ++n) {
    for (const char* call : calls) {
      vfs->xSetSystemCall(vfs, call, reinterpret_cast<sqlite3_syscall_ptr>(ReadOfABadDisk));
    }
    reads_to_failure = n;
    const Status status = ReadAll(Path());
    for (const char* call : calls) vfs->xSetSystemCall(vfs, call, nullptr);
    if (status.ok()) continue;
    ++failed;
    EXPECT_EQ(status.error().code, ErrorCode::kIo) << n << ": " << status.error().ToString();
  }
  EXPECT_GT(failed, 20);
  EXPECT_TRUE(ReadAll(Path()).ok());
}

TEST_F(FaultTest, RefusesAFileThatIsNoDatabaseAndLeavesItAlone) {
  const std::string text = "run_id,family\n" + std::string(5000, 'x');
  ASSERT_TRUE(WriteFileAtomic(Path(), text).ok());
  const auto store = TryOpen();
  ASSERT_FALSE(store.ok());
  EXPECT_EQ(store.error().code, ErrorCode::kInvalidInput);
  EXPECT_NE(store.error().message.find("not an SQLite database"), std::string::npos);
  EXPECT_EQ(ReadFile(Path()).value(), text);
}

TEST_F(FaultTest, RefusesTheDatabaseOfAnotherProgram) {
  RawDatabase(Path()).Run("CREATE TABLE bookmarks (url TEXT)");
  const auto store = TryOpen();
  ASSERT_FALSE(store.ok());
  EXPECT_EQ(store.error().code, ErrorCode::kInvalidInput);
  EXPECT_EQ(RawDatabase(Path()).Rows("SELECT name FROM sqlite_master"),
            std::vector<std::string>{"bookmarks"});
}

TEST_F(FaultTest, RefusesANewerSchemaByName) {
  OpenStore();
  ASSERT_EQ(RawDatabase(Path()).Run("UPDATE rharness_meta SET value = '999'"), "");
  const auto store = TryOpen();
  ASSERT_FALSE(store.ok());
  EXPECT_EQ(store.error().code, ErrorCode::kUnsupported);
  EXPECT_NE(store.error().message.find("rharness.history.database/v999"), std::string::npos);
}

TEST_F(FaultTest, RefusesASchemaVersionThatIsNone) {
  for (const char* value : {"", "two", "3x", "-1", "0", "99999999999999999999"}) {
    OpenStore();
    ASSERT_EQ(
        RawDatabase(Path()).Run("UPDATE rharness_meta SET value = '" + std::string(value) + "'"),
        "");
    const auto store = TryOpen();
    ASSERT_FALSE(store.ok()) << value;
    EXPECT_EQ(store.error().code, ErrorCode::kIntegrity) << value;
    std::filesystem::remove(Path());
  }
}

TEST_F(FaultTest, SaysThatTheFolderIsMissing) {
  const auto store = HistoryStore::Open((folder_.path() / "no" / "history.db").string());
  ASSERT_FALSE(store.ok());
  EXPECT_EQ(store.error().code, ErrorCode::kIo);
  EXPECT_FALSE(std::filesystem::exists(folder_.path() / "no"));
}

TEST_F(FaultTest, SaysThatTheFolderCannotBeWritten) {
  // The superuser may write to read-only folders, but nobody makes files in /proc.
  for (const std::string& path : {std::string("/proc/history.db"), std::string("/proc")}) {
    const auto store = HistoryStore::Open(path);
    ASSERT_FALSE(store.ok());
    EXPECT_EQ(store.error().code, ErrorCode::kIo) << store.error().ToString();
    EXPECT_NE(store.error().ToString().find("writable"), std::string::npos)
        << store.error().ToString();
  }
}

TEST_F(FaultTest, GivesUpOnALockWithinItsTimeoutAndSaysSo) {
  auto store = std::move(OpenSqliteHistory(Path(), std::chrono::milliseconds(20))).value();
  RawDatabase other(Path());
  ASSERT_EQ(other.Run("BEGIN IMMEDIATE"), "");
  const auto added = store->Add(MakeManifest("a", kDay1), At(kDay1));
  ASSERT_FALSE(added.ok());
  EXPECT_EQ(added.error().code, ErrorCode::kTimeout);
  EXPECT_NE(added.error().message.find("locked by another process"), std::string::npos);
  EXPECT_TRUE(store->List(true)->empty());
  ASSERT_EQ(other.Run("ROLLBACK"), "");
  EXPECT_TRUE(store->Add(MakeManifest("a", kDay1), At(kDay1)).ok());
}

TEST_F(FaultTest, LeavesNoTraceOfAWriteThatFails) {
  const auto store = OpenStore();
  // The n-th statement of an insert fails, for every n.
  for (const char* table : {"runs", "manifests", "standing"}) {
    ASSERT_EQ(RawDatabase(Path()).Run("CREATE TRIGGER broken BEFORE INSERT ON " +
                                      std::string(table) + " BEGIN SELECT RAISE(ABORT, 'no'); END"),
              "");
    EXPECT_FALSE(store->Add(MakeManifest("a", kDay1), At(kDay1)).ok()) << table;
    ASSERT_EQ(RawDatabase(Path()).Run("DROP TRIGGER broken"), "");
    EXPECT_EQ(RawDatabase(Path()).Rows("SELECT (SELECT COUNT(*) FROM runs), "
                                       "(SELECT COUNT(*) FROM manifests), "
                                       "(SELECT COUNT(*) FROM standing)"),
              std::vector<std::string>{"0|0|0"})
        << table;
  }
  EXPECT_TRUE(store->Add(MakeManifest("a", kDay1), At(kDay1)).ok());
}

TEST_F(FaultTest, OpensPathsWithSpacesAndEqualsSigns) {
  for (const char* name : {"a b  c.db", "db=x timeout=1.db", ":memory:", "'.db", "%41.db"}) {
    const auto path = folder_.path() / name;
    const auto store = HistoryStore::Open("sqlite:" + path.string());
    ASSERT_TRUE(store.ok()) << name << ": " << store.error().ToString();
    EXPECT_TRUE(std::filesystem::is_regular_file(path)) << name;
  }
}

TEST(HistoryUrl, NeverRepeatsAPassword) {
  for (const char* url : {"mysql://user:s3cret@db", "mariadb://s3cret"}) {
    const auto store = HistoryStore::Open(url);
    ASSERT_FALSE(store.ok()) << url;
    EXPECT_EQ(store.error().code, ErrorCode::kUnsupported) << url;
    EXPECT_EQ(store.error().ToString().find("s3cret"), std::string::npos) << url;
    EXPECT_NE(store.error().message.find("sqlite:PATH"), std::string::npos) << url;
  }
}

TEST(HistoryUrl, ReadsSqliteUrlsAndBarePaths) {
  EXPECT_EQ(ParseHistoryUrl("sqlite:/a/b.db")->string(), "/a/b.db");
  EXPECT_EQ(ParseHistoryUrl("sqlite:///a/b.db")->string(), "/a/b.db");
  EXPECT_EQ(ParseHistoryUrl("/a/../b.db")->string(), "/b.db");
  EXPECT_EQ(*ParseHistoryUrl("b.db"), std::filesystem::current_path() / "b.db");
  EXPECT_EQ(*ParseHistoryUrl("x:y.db"), std::filesystem::current_path() / "x:y.db");
  for (const char* url : {"", "sqlite:", "sqlite://", "a\"b", "a\nb", "a\x7F"}) {
    EXPECT_EQ(ParseHistoryUrl(url).error().code, ErrorCode::kInvalidInput) << url;
  }
}

// Magic numbers as statfs(2) and linux/magic.h list them.
TEST(JournalMode, IsARollbackJournalOnNetworkFilesystems) {
  for (const std::uint64_t magic : {0x6969u, 0xFF534D42u, 0x0BD00BD0u, 0x65735546u, 0x00C36400u}) {
    EXPECT_EQ(JournalModeFor(magic), "delete") << magic;
  }
  for (const std::uint64_t magic : {0xEF53u, 0x58465342u, 0x9123683Eu, 0x01021994u, 0x794C7630u}) {
    EXPECT_EQ(JournalModeFor(magic), "wal") << magic;  // ext4, XFS, Btrfs, tmpfs, overlayfs
  }
}

TEST_F(FaultTest, UsesTheJournalOfItsFilesystem) {
  OpenStore();
  EXPECT_EQ(RawDatabase(Path()).Rows("PRAGMA journal_mode"),
            std::vector<std::string>{std::string(JournalModeAt(Path()).value())});
}

}  // namespace
}  // namespace rharness
