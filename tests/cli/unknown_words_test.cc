// A verdict that a newer version wrote: every verb that reads a history says the same of it.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "harness/history/known_words.h"
#include "harness/verdict/verdict.h"
#include "tests/cli/serve_program.h"
#include "tests/history/raw_history.h"

namespace rharness {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr char kSaid[] =
    "run 'a' has the verdict 'reproduced', a word that this version does not know (it knows "
    "identical, equivalent, drifted, inconclusive, not_comparable, failed, infra); a newer "
    "rharness "
    "wrote it: use that one for this history";

TEST(KnownVerdicts, AreThoseThatTheHistoryTakes) {
  for (const KnownWords& known : kKnownWords) {
    if (std::string(known.column) != "verdict") continue;
    std::string words;
    for (const Verdict verdict : kVerdicts) {
      words += fmt::format("{}'{}'", words.empty() ? "" : ", ", VerdictName(verdict));
    }
    EXPECT_EQ(known.words, "(" + words + ")");
  }
}

class UnknownWords : public ServeProgram {
 protected:
  void SetUp() override {
    RecordRuns(1);
    const ProcessResult drill = Drill();
    ASSERT_EQ(drill.outcome.exit_code, 0) << drill.stderr_text;
  }
  // As the newer version leaves it, with what is derived from it.
  void WriteNewerVerdict() const {
    EXPECT_EQ(
        RawDatabase(At("runs.db"))
            .RunPastTriggers("UPDATE verdicts SET verdict = 'reproduced'; UPDATE standing SET "
                             "last_verdict = 'reproduced'"),
        "");
  }
};

TEST_F(UnknownWords, AreRefusedAlikeByAllThatReadAHistory) {
  Write("policy.yaml",
        "version: 1\nobjectives:\n  - {families: '*', reproducible: 0.9}\nretention:\n  - "
        "{families: '*', keep_last: 5}\n");
  WriteNewerVerdict();
  const std::vector<std::vector<std::string>> verbs = {
      {"history", "list"},
      {"history", "show", "a"},
      {"history", "retire", "a", "--reason", "old"},
      {"history", "add", "runs/a.json"},
      {"history", "trends"},
      {"slo", "--policy", "policy.yaml"},
      {"serve", "--listen", "127.0.0.1:0"},
      {"drill", "--out", "again"},
      {"drill", "--out", "again", "--dry-run"},
      {"incident", "a", "--out", "incident"},
      {"isolate", "a", "--out", "isolated", "--against", "out"},
      {"properties", "a", "--out", "properties"},
      {"gameday", "--out", "gameday"},
      {"check", "--available"},
      {"history", "retire", "list"},
      {"audit", "append", "--begin"},
      {"audit", "show", "a"},
      {"history", "prune", "--policy", "policy.yaml", "--root", "."},
      {"report", "out", "--to", "mlflow=http://127.0.0.1:9"},
  };
  for (std::vector<std::string> argv : verbs) {
    SCOPED_TRACE(fmt::format("{}", fmt::join(argv, " ")));
    argv.insert(argv.begin(), kRharness);
    argv.insert(argv.end(), {"--history", "runs.db"});
    const ProcessResult result = Run(argv);
    EXPECT_EQ(result.outcome.exit_code, 2) << result.stderr_text << result.stdout_text;
    EXPECT_THAT(result.stderr_text, HasSubstr(kSaid));
    EXPECT_EQ(result.stdout_text, "");
  }
}

TEST_F(UnknownWords, ThatComeWhileAServerRunsAreOnItsPages) {
  ASSERT_TRUE(Start()) << Log();
  EXPECT_THAT(Ask(port(), "/run/a").body, HasSubstr("Last verdict: identical"));
  WriteNewerVerdict();
  for (const char* path : {"/", "/run/a", "/family/tiny", "/families", "/trends"}) {
    SCOPED_TRACE(path);
    const Reply page = Ask(port(), path);
    EXPECT_EQ(page.status, 503);
    EXPECT_THAT(page.body, HasSubstr("This version cannot read the history"));
    EXPECT_THAT(page.body, HasSubstr("a word that this version does not know"));
    EXPECT_THAT(page.body, Not(HasSubstr("No drill has judged it")));
    EXPECT_THAT(page.body, Not(HasSubstr("all reproduced")));
  }
  EXPECT_EQ(Ask(port(), "/healthz").status, 503);
}

}  // namespace
}  // namespace rharness
