// An append that is killed, or whose disk fails or is full, at any call: what was in the log stays,
// nothing of the rest is, and the next append enters it.
#include <gtest/gtest.h>

#include <cstdio>

#include "tests/cli/audit_world.h"
#include "tests/sanitized.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

class AuditCrash : public AuditWorld {
 protected:
  void AppendWith(const std::string& mode, long n) {
    const std::string log = At("runs.db.audit").string();
    environment_["LD_PRELOAD"] = RHARNESS_FAULT_SHIM;
    environment_["RHARNESS_FAULT"] = mode + " " + std::to_string(n) + " " + log;
    Append(options_);
    environment_.erase("LD_PRELOAD");
    environment_.erase("RHARNESS_FAULT");
  }
  std::vector<std::string> options_;

  std::pair<long, long> CountCalls() {
    AppendWith("none", 0);
    std::pair<long, long> counts;
    const std::string text = Read(At("runs.db.audit.count"));
    EXPECT_EQ(std::sscanf(text.c_str(), "%ld %ld", &counts.first, &counts.second), 2) << text;
    return counts;
  }
  void Begin(bool with_log) {
    options_.clear();
    if (!with_log) options_.emplace_back("--begin");
    fs::remove_all(At("runs.db.audit"));
    if (with_log) fs::copy(At("saved"), At("runs.db.audit"), fs::copy_options::recursive);
  }

  void TryAll(bool with_log) {
    Begin(with_log);
    const auto [changes, reads] = CountCalls();
    EXPECT_GT(changes, 10);
    const std::string before = with_log ? Read(At("saved/entries.jsonl")) : "";
    for (const char* mode : {"kill_before", "kill_after", "kill_mid", "no_space", "short", "io",
                             "full", "dead", "read_io"}) {
      const bool all = mode == std::string("kill_before") || mode == std::string("kill_mid");
      const long count = mode == std::string("read_io") ? reads : changes;
      for (long n = 1; n <= count; n += all ? 1 : 3) {
        SCOPED_TRACE(std::string(mode) + " " + std::to_string(n));
        Begin(with_log);
        AppendWith(mode, n);
        if (with_log) {
          const ProcessResult held = Verify();
          ASSERT_EQ(held.outcome.exit_code, 0) << held.stderr_text;
        }
        // One that was begun to its end is no longer to be begun.
        if (Append(options_).outcome.exit_code != 0) Must(Append({}));
        const ProcessResult whole = Audit("verify", {"--trust", "trust.yaml", "--complete"});
        ASSERT_EQ(whole.outcome.exit_code, 0) << whole.stderr_text;
        ASSERT_TRUE(Read(At(LogFile("entries.jsonl"))).starts_with(before));
        ASSERT_FALSE(fs::exists(At(LogFile("append.json"))));
        for (const auto& file : fs::directory_iterator(At("runs.db.audit"))) {
          ASSERT_FALSE(file.path().filename().string().starts_with(".rharness-")) << file.path();
        }
      }
    }
  }
};

TEST_F(AuditCrash, LeavesALogThatWasThereAsItWas) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer's libraries do not go with a preloaded one";
  Retire("b");
  fs::copy(At("runs.db.audit"), At("saved"), fs::copy_options::recursive);
  TryAll(true);
}

TEST_F(AuditCrash, LeavesNothingOfAFirstAppendThatTheNextOneStumblesOver) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer's libraries do not go with a preloaded one";
  TryAll(false);
}

}  // namespace
}  // namespace rharness
