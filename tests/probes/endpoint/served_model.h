// A server with OpenAI's API and a planted behaviour, by Python: served_model.py.
#ifndef RHARNESS_TESTS_PROBES_ENDPOINT_SERVED_MODEL_H_
#define RHARNESS_TESTS_PROBES_ENDPOINT_SERVED_MODEL_H_

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <string>
#include <vector>

namespace rharness {

// Ends when its stdin does, with this process at the latest.
class ServedModel {
 public:
  explicit ServedModel(const std::string& behaviour, const std::vector<std::string>& more = {}) {
    std::array<int, 2> in{}, out{};
    EXPECT_EQ(::pipe2(in.data(), O_CLOEXEC) + ::pipe2(out.data(), O_CLOEXEC), 0);
    std::vector<std::string> argv = {"python3",
                                     RHARNESS_SOURCE_DIR "/tests/probes/endpoint/served_model.py",
                                     "--behaviour", behaviour};
    argv.insert(argv.end(), more.begin(), more.end());
    std::vector<char*> words;
    for (std::string& word : argv) words.push_back(word.data());
    words.push_back(nullptr);
    child_ = ::fork();
    if (child_ == 0) {
      ::dup2(in[0], 0);
      ::dup2(out[1], 1);
      ::execvp(words[0], words.data());
      ::_exit(127);
    }
    ::close(in[0]);
    ::close(out[1]);
    stdin_ = in[1];
    std::string port;
    for (char c = 0; ::read(out[0], &c, 1) == 1 && c != '\n';) port += c;
    ::close(out[0]);
    url_ = "http://127.0.0.1:" + port;
    started_ = !port.empty();
  }
  ServedModel(const ServedModel&) = delete;
  ServedModel& operator=(const ServedModel&) = delete;
  ~ServedModel() {
    ::close(stdin_);
    ::waitpid(child_, nullptr, 0);
  }
  // False: there is no python3.
  bool started() const { return started_; }
  const std::string& url() const { return url_; }

 private:
  pid_t child_ = -1;
  int stdin_ = -1;
  std::string url_;
  bool started_ = false;
};

}  // namespace rharness

#endif  // RHARNESS_TESTS_PROBES_ENDPOINT_SERVED_MODEL_H_
