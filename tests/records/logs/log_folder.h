// A folder of logs, read and searched as a run's.
#ifndef RHARNESS_TESTS_RECORDS_LOGS_LOG_FOLDER_H_
#define RHARNESS_TESTS_RECORDS_LOGS_LOG_FOLDER_H_

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "harness/base/files.h"
#include "harness/records/logs/run_log.h"

namespace rharness {

class LogFolder : public testing::Test {
 protected:
  void Write(const std::string& path, const std::string& content) {
    ASSERT_TRUE(MakeDirectories((root() / path).parent_path()).ok());
    ASSERT_TRUE(WriteFileAtomic(root() / path, content).ok());
  }
  Result<RunLog> Try(const std::string& path, const CountsAsWritten& counts = {}) {
    return ReadRunLog(HeldFolder::Open(root()).value(), path, counts);
  }
  // "kind:path" of each.
  std::vector<std::string> Find(const CountsAsWritten& counts = {}) {
    const auto found = FindRunLogs(HeldFolder::Open(root()).value(), counts);
    EXPECT_TRUE(found.ok());
    std::vector<std::string> told;
    for (const RunLog& log : found->logs) {
      told.push_back(std::string(log.kind) + ":" + log.path.string());
    }
    for (const std::filesystem::path& path : found->others) told.push_back(path.string());
    return told;
  }
  std::filesystem::path root() const { return folder_.path(); }

 private:
  ScopedTempDir folder_ = ScopedTempDir::Make().value();
};

}  // namespace rharness

#endif  // RHARNESS_TESTS_RECORDS_LOGS_LOG_FOLDER_H_
