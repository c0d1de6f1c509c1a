// An MLflow server in tests that remembers what is written to it, and one that does not answer as
// it should.
#ifndef RHARNESS_TESTS_INSIGHT_PUBLISH_REGISTRY_WORLD_H_
#define RHARNESS_TESTS_INSIGHT_PUBLISH_REGISTRY_WORLD_H_

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <string>
#include <string_view>
#include <thread>

#include "harness/base/files.h"
#include "harness/base/subprocess.h"

namespace rharness {

class FakeRegistry {
 public:
  ~FakeRegistry() { Stop(); }
  static bool CanRun() { return std::system("python3 -c '' 2> /dev/null") == 0; }

  // fake_registry.py says what a mode and a state are. Waits until the server answers.
  void Start(const std::string& mode, const Json& state) {
    Stop();
    stop_ = false;
    std::filesystem::remove(folder_.path() / "port");
    ASSERT_TRUE(WriteJsonFile(State(), state).ok());
    ProcessSpec spec;
    spec.argv = {"python3", RHARNESS_SOURCE_DIR "/tests/insight/publish/fake_registry.py", mode,
                 folder_.path() / "port", State()};
    spec.environment = PickEnvironment({"PATH"});
    server_ = std::thread([this, spec] {
      ProcessLimits limits;
      limits.timeout = std::chrono::minutes(2);
      RunProcess(spec, limits, {}, [this] { return stop_.load(); });
    });
    for (int i = 0; i < 600 && !ReadFile(folder_.path() / "port").ok(); ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    const auto port = ReadFile(folder_.path() / "port");
    ASSERT_TRUE(port.ok()) << "the server did not start";
    url_ = "http://127.0.0.1:" + *port;
  }
  void Stop() {
    stop_ = true;
    if (server_.joinable()) server_.join();
  }
  // The same server again, in another mode, with what it has.
  void Become(const std::string& mode) { Start(mode, Now()); }

  const std::string& url() const { return url_; }
  Json Now() const { return ReadJsonFile(State()).value(); }
  std::size_t Writes() const { return Now().Find("writes")->AsArray().size(); }
  // A member of a member of ...: At({"runs", "abc", "tags", "x"}); null where there is none.
  Json At(std::initializer_list<std::string_view> path) const {
    Json value = Now();
    for (const std::string_view name : path) {
      const Json* member = value.Find(name);
      if (member == nullptr) return {};
      value = Json(*member);
    }
    return value;
  }

 private:
  std::filesystem::path State() const { return folder_.path() / "state.json"; }

  ScopedTempDir folder_ = *ScopedTempDir::Make();
  std::atomic<bool> stop_{false};
  std::thread server_;
  std::string url_;
};

// A server's state with these runs, and nothing else.
inline Json RunsOfRegistry(std::initializer_list<std::string_view> ids) {
  Json runs = Json::MakeObject();
  for (const std::string_view id : ids) {
    runs.Set(id, Json::MakeObject({{"deleted", false},
                                   {"tags", Json::MakeObject()},
                                   {"metrics", Json::MakeArray()}}));
  }
  return Json::MakeObject({{"runs", std::move(runs)},
                           {"models", Json::MakeObject()},
                           {"files", Json::MakeObject()},
                           {"writes", Json::MakeArray()}});
}

}  // namespace rharness

#endif  // RHARNESS_TESTS_INSIGHT_PUBLISH_REGISTRY_WORLD_H_
