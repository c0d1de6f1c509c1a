// The journal survives what machines do to files.
#include "harness/drill/journal.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <filesystem>

#include "harness/base/files.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

class JournalTest : public testing::Test {
 protected:
  void SetUp() override {
    auto folder = ScopedTempDir::Make();
    ASSERT_TRUE(folder.ok());
    folder_.emplace(std::move(*folder));
    path_ = folder_->path() / "journal.jsonl";
  }

  // A journal with a header and three entries of two jobs.
  std::string WriteSample() {
    auto journal = Journal::Create(path_, Json::MakeObject({{"drill_id", "d1"}}));
    EXPECT_TRUE(journal.ok());
    EXPECT_TRUE(journal->Append({.job = "a.1", .state = AttemptState::kPrepared}).ok());
    EXPECT_TRUE(journal
                    ->Append({.job = "b.1",
                              .state = AttemptState::kStarted,
                              .attempt = 2,
                              .pid = 4711,
                              .start_ticks = 99})
                    .ok());
    EXPECT_TRUE(
        journal->Append({.job = "a.1", .state = AttemptState::kCollected, .evidence_sha256 = "abc"})
            .ok());
    return *ReadFile(path_);
  }

  std::optional<ScopedTempDir> folder_;
  fs::path path_;
};

TEST_F(JournalTest, RemembersTheLastStateOfEachJob) {
  WriteSample();
  const auto content = ReadJournal(path_);
  ASSERT_TRUE(content.ok()) << content.error().ToString();
  EXPECT_EQ(content->header.Find("drill_id")->AsString(), "d1");
  EXPECT_EQ(content->entries, 3U);
  EXPECT_FALSE(content->torn);
  ASSERT_EQ(content->last.size(), 2U);
  EXPECT_EQ(content->last.at("a.1").state, AttemptState::kCollected);
  EXPECT_EQ(content->last.at("a.1").evidence_sha256, "abc");
  EXPECT_EQ(content->last.at("b.1").pid, 4711);
  EXPECT_EQ(content->last.at("b.1").start_ticks, 99U);
  EXPECT_EQ(content->last.at("b.1").attempt, 2);
}

TEST_F(JournalTest, RefusesToStartWhereADrillWasStarted) {
  WriteSample();
  const auto again = Journal::Create(path_, Json::MakeObject());
  ASSERT_FALSE(again.ok());
  EXPECT_EQ(again.error().code, ErrorCode::kInvalidInput);
  EXPECT_NE(again.error().message.find("--resume"), std::string::npos);
}

TEST_F(JournalTest, DropsATornLastLineWhereverItTore) {
  const std::string whole = WriteSample();
  const std::size_t last_line = whole.rfind('\n', whole.size() - 2) + 1;
  for (std::size_t length = last_line + 1; length < whole.size(); ++length) {
    ASSERT_TRUE(WriteFileAtomic(path_, whole.substr(0, length)).ok());
    const auto content = ReadJournal(path_);
    ASSERT_TRUE(content.ok()) << length << ": " << content.error().ToString();
    EXPECT_TRUE(content->torn) << length;
    EXPECT_EQ(content->entries, 2U) << length;
    EXPECT_EQ(content->last.at("a.1").state, AttemptState::kPrepared) << length;
  }
}

TEST_F(JournalTest, AppendsCleanlyAfterATornLine) {
  const std::string whole = WriteSample();
  ASSERT_TRUE(WriteFileAtomic(path_, whole.substr(0, whole.size() - 5)).ok());
  JournalContent past;
  {
    auto journal = Journal::Open(path_, &past);
    ASSERT_TRUE(journal.ok());
    EXPECT_TRUE(past.torn);
    ASSERT_TRUE(journal->Append({.job = "c.1", .state = AttemptState::kPrepared}).ok());
  }
  const auto content = ReadJournal(path_);
  ASSERT_TRUE(content.ok()) << content.error().ToString();
  EXPECT_FALSE(content->torn);
  EXPECT_EQ(content->entries, 3U);
  EXPECT_TRUE(content->last.contains("c.1"));
}

TEST_F(JournalTest, RefusesDamageBeforeTheLastLine) {
  const std::string whole = WriteSample();
  const std::size_t first_line_end = whole.find('\n');
  for (std::size_t at = 0; at < first_line_end; ++at) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x01);
    ASSERT_TRUE(WriteFileAtomic(path_, damaged).ok());
    const auto content = ReadJournal(path_);
    ASSERT_FALSE(content.ok()) << "byte " << at;
    EXPECT_EQ(content.error().code, ErrorCode::kIntegrity);
    EXPECT_NE(content.error().where.find("byte 0"), std::string::npos);
  }
}

TEST_F(JournalTest, ReadsWhatWasAppendedBehindATornLineWhereverItTore) {
  const std::string whole = WriteSample();
  const std::size_t first = whole.find('\n') + 1;
  const std::size_t second = whole.find('\n', first) + 1;
  // The line of a.1 was cut short, and those behind it were appended all the same.
  for (std::size_t length = 1; length < second - first; ++length) {
    const std::string torn = whole.substr(0, first + length) + whole.substr(second);
    ASSERT_TRUE(WriteFileAtomic(path_, torn).ok());
    const auto content = ReadJournal(path_);
    ASSERT_TRUE(content.ok()) << length << ": " << content.error().ToString();
    EXPECT_TRUE(content->torn) << length;
    EXPECT_EQ(content->last.at("b.1").pid, 4711) << length;
    EXPECT_EQ(content->last.at("a.1").state, AttemptState::kCollected) << length;
  }
}

TEST_F(JournalTest, RefusesALineThatWasChangedHoweverWholeTheOthersAre) {
  const std::string whole = WriteSample();
  const std::size_t first = whole.find('\n') + 1;
  const std::size_t second = whole.find('\n', first) + 1;
  for (std::size_t at = first; at + 1 < second; ++at) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x01);
    ASSERT_TRUE(WriteFileAtomic(path_, damaged).ok());
    const auto content = ReadJournal(path_);
    ASSERT_FALSE(content.ok()) << "byte " << at;
    EXPECT_EQ(content.error().code, ErrorCode::kIntegrity);
  }
}

// A file may not grow beyond a limit: what the disk does when it is full, but for one process.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) {
    std::signal(SIGXFSZ, SIG_IGN);
    ::getrlimit(RLIMIT_FSIZE, &old_);
    const rlimit limit{bytes, old_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &old_);
    std::signal(SIGXFSZ, SIG_DFL);
  }

 private:
  rlimit old_{};
};

TEST_F(JournalTest, TakesBackALineThatFoundNoSpaceAndGoesOn) {
  constexpr rlim_t kLine = 9 + 42 + 1;
  for (rlim_t room = 0; room < kLine; ++room) {
    fs::remove(path_);
    auto journal = Journal::Create(path_, Json::MakeObject({{"drill_id", "d1"}}));
    ASSERT_TRUE(journal.ok());
    const auto size = fs::file_size(path_);
    Status full;
    {
      const FileSizeLimit limit(size + room);
      full = journal->Append({.job = "a.1", .state = AttemptState::kEnded, .attempt = 12});
    }
    ASSERT_FALSE(full.ok()) << room;
    EXPECT_EQ(full.error().code, ErrorCode::kIo);
    EXPECT_EQ(fs::file_size(path_), size) << room;
    ASSERT_TRUE(journal->Append({.job = "b.1", .state = AttemptState::kPrepared}).ok());
    const auto content = ReadJournal(path_);
    ASSERT_TRUE(content.ok()) << room << ": " << content.error().ToString();
    EXPECT_FALSE(content->torn);
    EXPECT_EQ(content->entries, 1U);
    EXPECT_TRUE(content->last.contains("b.1"));
  }
}

TEST_F(JournalTest, RemembersTheSessionsOfADrill) {
  {
    auto journal = Journal::Create(path_, Json::MakeObject({{"drill_id", "d1"}}));
    ASSERT_TRUE(journal.ok());
    ASSERT_TRUE(journal->AppendSession("0123456789").ok());
  }
  JournalContent past;
  auto journal = Journal::Open(path_, &past);
  ASSERT_TRUE(journal.ok());
  ASSERT_TRUE(journal->AppendSession("abcdefabcd").ok());
  EXPECT_EQ(past.sessions, std::vector<std::string>{"0123456789"});
  EXPECT_EQ(ReadJournal(path_)->sessions, (std::vector<std::string>{"0123456789", "abcdefabcd"}));
  EXPECT_EQ(past.entries, 0U);
}

TEST_F(JournalTest, RefusesAnEmptyFileAndAMissingOne) {
  ASSERT_TRUE(WriteFileAtomic(path_, "").ok());
  EXPECT_EQ(ReadJournal(path_).error().code, ErrorCode::kIntegrity);
  EXPECT_EQ(ReadJournal(path_.string() + ".none").error().code, ErrorCode::kNotFound);
}

}  // namespace
}  // namespace rharness
