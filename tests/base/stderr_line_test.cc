// What reaches stderr when messages and a status line share it.
#include "harness/base/stderr_line.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <string>
#include <thread>
#include <vector>

#include "harness/base/files.h"

namespace rharness {
namespace {

// Stderr goes to a file while this lives.
class CapturedStderr {
 public:
  CapturedStderr()
      : folder_(*ScopedTempDir::Make("rharness-stderr-")), before_(::dup(STDERR_FILENO)) {
    const int file =
        ::open((folder_.path() / "stderr").c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
    ::dup2(file, STDERR_FILENO);
    ::close(file);
  }
  ~CapturedStderr() {
    ::dup2(before_, STDERR_FILENO);
    ::close(before_);
  }
  CapturedStderr(const CapturedStderr&) = delete;
  CapturedStderr& operator=(const CapturedStderr&) = delete;
  std::string text() const { return *ReadFile(folder_.path() / "stderr"); }

 private:
  ScopedTempDir folder_;
  int before_;
};

TEST(StderrLine, DrawsTheStatusAnewBelowAMessage) {
  const CapturedStderr captured;
  ShowStatusLine("1/2 done");
  WriteMessage("hello\n");
  ClearStatusLine();
  WriteMessage("bye\n");
  EXPECT_EQ(captured.text(), "\r\x1b[K1/2 done\r\x1b[Khello\n1/2 done\r\x1b[Kbye\n");
}

TEST(StderrLine, WritesNothingWhereNothingChanges) {
  const CapturedStderr captured;
  ClearStatusLine();
  AbandonStatusLine();
  EXPECT_EQ(captured.text(), "");
  ShowStatusLine("1/2 done");
  ShowStatusLine("1/2 done");
  EXPECT_EQ(captured.text(), "\r\x1b[K1/2 done");
  ClearStatusLine();
}

TEST(StderrLine, IsTakenAwayByAProcessThatEndsInASignalHandler) {
  const CapturedStderr captured;
  ShowStatusLine("1/2 done");
  AbandonStatusLine();
  EXPECT_EQ(captured.text(), "\r\x1b[K1/2 done\r\x1b[K");
  ClearStatusLine();
}

TEST(StderrLine, TearsNoMessageOfManyThreads) {
  constexpr int kThreads = 4;
  constexpr int kMessages = 200;
  const CapturedStderr captured;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([] {
        for (int j = 0; j < kMessages; ++j) WriteMessage("a message that is whole\n");
      });
    }
    for (int i = 0; i < kMessages; ++i) ShowStatusLine("status " + std::to_string(i));
  }
  ClearStatusLine();
  const std::string text = captured.text();
  int whole = 0;
  for (std::size_t end = text.find('\n'); end != std::string::npos;
       end = text.find('\n', end + 1)) {
    const std::string message = "a message that is whole";
    ASSERT_GE(end, message.size());
    EXPECT_EQ(text.substr(end - message.size(), message.size()), message);
    const std::size_t begin = end - message.size();
    // At the start of a line: after a line break, an erased status, or nothing.
    EXPECT_TRUE(begin == 0 || text[begin - 1] == '\n' || text[begin - 1] == 'K') << begin;
    ++whole;
  }
  EXPECT_EQ(whole, kThreads * kMessages);
}

}  // namespace
}  // namespace rharness
