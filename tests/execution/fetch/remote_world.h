// A cache, a record with one data item, and variables that a test sets.
#ifndef RHARNESS_TESTS_EXECUTION_FETCH_REMOTE_WORLD_H_
#define RHARNESS_TESTS_EXECUTION_FETCH_REMOTE_WORLD_H_

#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <string>

#include "harness/base/digest.h"
#include "harness/base/files.h"
#include "harness/execution/fetch/fetch.h"
#include "harness/execution/rerun/data_cache.h"
#include "tests/execution/fetch/scripted_server.h"

namespace rharness {

inline constexpr char kCommit[] =
    "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";

class RemoteWorld : public testing::Test {
 protected:
  RemoteWorld() {
    options_.variable = [this](const char* name) {
      const auto found = variables_.find(name);
      return found == variables_.end() ? std::string() : found->second;
    };
    options_.limits.first_wait = std::chrono::milliseconds(1);
    options_.limits.longest_wait = std::chrono::milliseconds(20);
    options_.limits.attempts = 3;
    options_.limits.stalled = std::chrono::seconds(1);
  }
  void UseS3(const ScriptedServer& server) {
    variables_["AWS_ENDPOINT_URL"] = server.url();
    variables_["AWS_ACCESS_KEY_ID"] = "AKIDEXAMPLE";
    variables_["AWS_SECRET_ACCESS_KEY"] = "verysecretkey";
  }
  void UseLakefs(const ScriptedServer& server) {
    variables_["LAKECTL_SERVER_ENDPOINT_URL"] = server.url();
    variables_["LAKECTL_CREDENTIALS_ACCESS_KEY_ID"] = "AKIAJ";
    variables_["LAKECTL_CREDENTIALS_SECRET_ACCESS_KEY"] = "verysecretkey";
  }
  Fetched FetchFrom(const std::string& source, const std::string& recorded = "data") {
    FetchOptions options;
    options.cache = folder_.path() / "cache";
    options.places.root = folder_.path() / "root";
    options.remote = options_;
    Manifest manifest;
    manifest.run_id = "r";
    manifest.data = {DataItem{.name = "train",
                              .location = "gone",
                              .path = "gone",
                              .kind = DataKind::kFile,
                              .sha256 = Sha256HexOf(recorded),
                              .size_bytes = recorded.size(),
                              .source = source}};
    Fetcher fetcher(options);
    auto fetched = fetcher.Fetch(manifest);
    EXPECT_TRUE(fetched.ok()) << fetched.error().ToString();
    return fetched.ok() && !fetched->empty() ? fetched->front() : Fetched();
  }
  bool IsCached(const std::string& content) const {
    return std::filesystem::exists(PathInCache(folder_.path() / "cache", Sha256HexOf(content)));
  }
  // Nothing half-written stays.
  bool IsClean() const {
    std::error_code error;
    const auto incoming = folder_.path() / "cache/incoming";
    return !std::filesystem::exists(incoming, error) || std::filesystem::is_empty(incoming);
  }
  std::filesystem::path Put(const std::string& name, const std::string& content) {
    EXPECT_TRUE(WriteFileAtomic(folder_.path() / name, content).ok());
    return folder_.path() / name;
  }

  ScopedTempDir folder_ = *ScopedTempDir::Make();
  std::map<std::string, std::string> variables_;
  RemoteOptions options_;
};

}  // namespace rharness

#endif  // RHARNESS_TESTS_EXECUTION_FETCH_REMOTE_WORLD_H_
