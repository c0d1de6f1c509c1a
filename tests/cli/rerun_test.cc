// rharness rerun as a program: one ticket, once, and what its exit code says.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <memory>

#include "harness/base/files.h"
#include "harness/execution/rerun/end_marker.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class RerunProgram : public testing::Test {
 protected:
  void SetUp() override {
    auto made = ScopedTempDir::Make();
    ASSERT_TRUE(made.ok());
    folder_ = std::make_unique<ScopedTempDir>(std::move(*made));
    ticket_.drill_id = "d";
    ticket_.launcher = "host";
    ticket_.resources.timeout_seconds = 60;
    ticket_.places.root = folder_->path();
    ticket_.manifest.run_id = "r";
    ticket_.manifest.image.kind = ImageKind::kHost;
  }
  fs::path At(const std::string& name) const { return folder_->path() / name; }
  void Issue(const std::string& script) {
    ticket_.manifest.command = {"sh", "-c", script, "sh", folder_->path().string()};
    ASSERT_TRUE(WriteJsonFile(At("ticket.json"), ToJson(ticket_)).ok());
  }
  ProcessResult Run(const std::function<void(int)>& on_start = {}) const {
    return RunProcess({.argv = {RHARNESS_BIN_DIR "/rharness", "rerun", At("ticket.json").string(),
                                "--out", At("out").string()},
                       .environment = PickEnvironment({"PATH"})},
                      {.timeout = std::chrono::seconds(60)}, on_start);
  }
  Result<std::optional<ProvenEnd>> End() const { return ReadEndMarker(At("out"), ticket_); }

  std::unique_ptr<ScopedTempDir> folder_;
  Ticket ticket_;
};

TEST_F(RerunProgram, LeavesEvidenceThatItsTicketProves) {
  Issue("echo hello; exit 3");
  const ProcessResult result = Run();
  EXPECT_EQ(result.outcome.exit_code, 0) << "an answer, whatever became of the run";
  EXPECT_EQ(result.stdout_text, "r.1: exited with 3\n");
  const auto end = End();
  ASSERT_TRUE(end.ok() && *end) << (end.ok() ? "no marker" : end.error().ToString());
  EXPECT_EQ((*end)->result.evidence.outcome.exit_code, 3);
  EXPECT_FALSE((*end)->result.evidence.machine.host.empty());
  EXPECT_EQ(*ReadFile(At("out/runs/r/1/stdout.log")), "hello\n");
}

TEST_F(RerunProgram, CarriesAnAttemptOutOnce) {
  Issue("echo >> \"$1/started\"");
  EXPECT_EQ(Run().outcome.exit_code, 0);
  const ProcessResult again = Run();
  EXPECT_EQ(again.outcome.exit_code, 6);
  EXPECT_THAT(again.stderr_text, HasSubstr("already taken up"));
  EXPECT_EQ(*ReadFile(At("started")), "\n");
}

TEST_F(RerunProgram, RefusesATicketThatWasChanged) {
  Issue("true");
  std::string text = *ReadFile(At("ticket.json"));
  text.replace(text.find("\"true\""), 6, "\"evil\"");
  ASSERT_TRUE(WriteFileAtomic(At("ticket.json"), text).ok());
  const ProcessResult result = Run();
  EXPECT_EQ(result.outcome.exit_code, 5);
  EXPECT_THAT(result.stderr_text, HasSubstr("is not the ticket that was issued"));
  EXPECT_FALSE(fs::exists(At("out")));
}

TEST_F(RerunProgram, OfRootTakesNoTicketOfAnotherUser) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root";
  std::error_code error;
  if (fs::exists("/run/.containerenv", error) || fs::exists("/.dockerenv", error)) {
    GTEST_SKIP() << "root of a container carries out any ticket";
  }
  Issue("touch \"$1/ran\"");
  ASSERT_EQ(::chown(At("ticket.json").c_str(), 65534, 65534), 0);
  const ProcessResult refused = Run();
  EXPECT_EQ(refused.outcome.exit_code, 2);
  EXPECT_THAT(refused.stderr_text, HasSubstr("ticket.json: is a ticket of user 65534"));
  EXPECT_FALSE(fs::exists(At("ran")));
  ASSERT_EQ(::chown(At("ticket.json").c_str(), 0, 0), 0);
  EXPECT_EQ(Run().outcome.exit_code, 0);
  EXPECT_TRUE(fs::exists(At("ran")));
}

TEST_F(RerunProgram, SaysWhatTheMachineLacks) {
  ticket_.launcher = "docker";
  ticket_.manifest.image.kind = ImageKind::kOci;
  Issue("true");
  const ProcessResult result =
      RunProcess({.argv = {RHARNESS_BIN_DIR "/rharness", "rerun", At("ticket.json").string(),
                           "--out", At("out").string()},
                  .environment = {{"PATH", "/nowhere"}}},
                 {.timeout = std::chrono::seconds(60)});
  EXPECT_THAT(result.stdout_text, HasSubstr("needs docker, which is not available on "));
  const auto end = End();
  ASSERT_TRUE(end.ok() && *end);
  EXPECT_THAT((*end)->result.evidence.obstacle, HasSubstr("docker"));
}

TEST_F(RerunProgram, ThatIsStoppedHasNoAnswer) {
  Issue("kill -TERM $PPID; sleep 50");
  const ProcessResult result = Run();
  EXPECT_EQ(result.outcome.exit_code, 4) << result.stdout_text << result.stderr_text;
  const auto end = End();
  ASSERT_TRUE(end.ok() && *end);
  EXPECT_EQ((*end)->result.evidence.outcome.kind, OutcomeKind::kCancelled);
}

// Each of these is believed by nobody.
TEST_F(RerunProgram, LeavesNothingThatCanBePassedOffForAnother) {
  Issue("echo hello");
  ASSERT_EQ(Run().outcome.exit_code, 0);
  Ticket other = ticket_;
  other.attempt = 2;
  EXPECT_THAT(ReadEndMarker(At("out"), other).error().ToString(), HasSubstr("another ticket"));
  const fs::path log = At("out/runs/r/1/stdout.log");
  ASSERT_TRUE(WriteFileAtomic(log, "HELLO\n").ok());
  EXPECT_THAT(End().error().ToString(), HasSubstr("does not have the logs"));
  fs::remove(log);
  ASSERT_TRUE(WriteFileAtomic(At("elsewhere"), "hello\n").ok());
  fs::create_symlink(At("elsewhere"), log);
  EXPECT_EQ(End().error().code, ErrorCode::kIntegrity) << "by no link";
  fs::remove(At("out/ended.json"));
  EXPECT_FALSE(End()->has_value()) << "without the marker nothing has ended";
}

}  // namespace
}  // namespace rharness
