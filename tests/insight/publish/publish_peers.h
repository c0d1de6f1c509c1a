// A real MLflow server and the programs beside it, for the tests of what is written back.
#ifndef RHARNESS_TESTS_INSIGHT_PUBLISH_PUBLISH_PEERS_H_
#define RHARNESS_TESTS_INSIGHT_PUBLISH_PUBLISH_PEERS_H_

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "harness/base/descriptor.h"
#include "harness/base/files.h"
#include "harness/base/subprocess.h"

namespace rharness {

namespace fs = std::filesystem;

inline constexpr char kRharness[] = RHARNESS_BIN_DIR "/rharness";
inline constexpr char kSources[] = RHARNESS_SOURCE_DIR;

// A port that was free a moment ago.
inline int UnusedPort() {
  const Descriptor listener(::socket(AF_INET, SOCK_STREAM, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  if (::bind(listener.get(), reinterpret_cast<sockaddr*>(&address), size) != 0) return 0;
  ::getsockname(listener.get(), reinterpret_cast<sockaddr*>(&address), &size);
  return ntohs(address.sin_port);
}

class PublishPeers : public testing::Test {
 protected:
  void SetUp() override {
    const char* folder = std::getenv("RHARNESS_PEERS");
    if (folder == nullptr) {
      GTEST_SKIP() << "./dev peers installs MLflow and rocrate; set RHARNESS_PEERS to their folder";
    }
    programs_ = fs::path(folder) / "venv/bin";
  }
  void TearDown() override {
    stop_ = true;
    if (server_.joinable()) server_.join();
  }
  fs::path At(const std::string& name) const { return folder_.path() / name; }

  ProcessResult Run(std::vector<std::string> argv, const fs::path& where) const {
    ProcessSpec spec;
    spec.argv = std::move(argv);
    if (!spec.argv[0].starts_with('/')) spec.argv[0] = programs_ / spec.argv[0];
    spec.working_directory = where;
    spec.environment = PickEnvironment({"PATH"});
    spec.environment["HOME"] = folder_.path();
    spec.environment["DO_NOT_TRACK"] = "true";
    spec.environment["MLFLOW_TRACKING_URI"] = url_;
    spec.environment["RHARNESS"] = kRharness;
    ProcessLimits limits;
    limits.timeout = std::chrono::minutes(8);
    return RunProcess(spec, limits);
  }
  ProcessResult Rharness(std::vector<std::string> words) const {
    words.insert(words.begin(), kRharness);
    return Run(std::move(words), At("run"));
  }
  // Until the end of the test; waits until it answers.
  void Serve() {
    const std::string port = std::to_string(UnusedPort());
    ProcessSpec spec;
    spec.argv = {programs_ / "mlflow",
                 "server",
                 "--backend-store-uri",
                 "sqlite:///" + At("mlflow.db").string(),
                 "--artifacts-destination",
                 At("served"),
                 "--host",
                 "127.0.0.1",
                 "--port",
                 port,
                 "--workers",
                 "1"};
    spec.working_directory = folder_.path();
    spec.environment = PickEnvironment({"PATH"});
    spec.environment["HOME"] = folder_.path();
    spec.environment["DO_NOT_TRACK"] = "true";
    server_ = std::thread([this, spec] {
      ProcessLimits limits;
      limits.timeout = std::chrono::minutes(30);
      RunProcess(spec, limits, {}, [this] { return stop_.load(); });
    });
    url_ = "http://127.0.0.1:" + port;
    const ProcessResult up = Run({"python", "-c",
                                  "import sys,time,urllib.request\n"
                                  "for _ in range(960):\n"
                                  "  try: urllib.request.urlopen(sys.argv[1] + '/health'); break\n"
                                  "  except OSError: time.sleep(0.25)\n"
                                  "else: sys.exit(1)\n",
                                  url_},
                                 folder_.path());
    ASSERT_TRUE(up.outcome.Succeeded()) << "the server did not start";
  }

  ScopedTempDir folder_ = *ScopedTempDir::Make();
  fs::path programs_;
  std::string url_;
  std::atomic<bool> stop_{false};
  std::thread server_;
};

}  // namespace rharness

#endif  // RHARNESS_TESTS_INSIGHT_PUBLISH_PUBLISH_PEERS_H_
