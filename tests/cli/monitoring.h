// The programs of monitoring beside a history of drills: each as Debian ships it.
#ifndef RHARNESS_TESTS_CLI_MONITORING_H_
#define RHARNESS_TESTS_CLI_MONITORING_H_

#include <atomic>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/cli/slo_program.h"

namespace rharness {

class Monitoring : public SloProgram {
 protected:
  ~Monitoring() override {
    stop_ = true;
    for (std::thread& server : servers_) server.join();
  }
  static bool Has(const std::string& program) {
    ProcessLimits limits;
    limits.timeout = std::chrono::minutes(1);
    return RunProcess(ProcessSpec{.argv = {"sh", "-c", "command -v " + program},
                                  .environment = PickEnvironment({"PATH"})},
                      limits)
        .outcome.Succeeded();
  }
  // Until the test ends.
  void Serve(std::vector<std::string> argv) {
    servers_.emplace_back([this, spec = ProcessSpec{std::move(argv), environment_, At("")}] {
      ProcessLimits limits;
      limits.timeout = std::chrono::minutes(4);
      RunProcess(spec, limits, {}, [this] { return stop_.load(); });
    });
  }
  template <class Condition>
  static bool Await(Condition condition) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(90);
    while (!condition()) {
      if (std::chrono::steady_clock::now() > end) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
    }
    return true;
  }
  // The file "series" is what the first of three ports serves, and "posted" what is posted there;
  // the others are free.
  std::vector<std::string> ServeSeries() {
    Serve({"python3", RHARNESS_SOURCE_DIR "/tests/cli/alert_world.py", At("series"), At("posted"),
           At("ports")});
    std::vector<std::string> ports(3);
    if (!Await([&] { return std::filesystem::exists(At("ports")); })) return ports;
    std::istringstream text(Read(At("ports")));
    for (std::string& port : ports) text >> port;
    return ports;
  }
  // Asks every second; `more`: of its configuration.
  void ServePrometheus(const std::string& port, const std::string& target,
                       const std::string& more = "") {
    Write("prometheus.yml",
          "global: {scrape_interval: 1s, evaluation_interval: 1s}\nrule_files: [rules.yaml]\n"
          "scrape_configs:\n  - {job_name: rharness, honor_labels: true, static_configs: "
          "[{targets: ['127.0.0.1:" +
              target + "']}]}\n" + more);
    prometheus_ = "http://127.0.0.1:" + port;
    Serve({"prometheus", "--config.file=prometheus.yml", "--storage.tsdb.path=tsdb",
           "--web.listen-address=127.0.0.1:" + port});
  }
  std::string Ask(const std::string& query) const {
    return Fetch(prometheus_ + "/api/v1/query", query);
  }
  // What is there, as text; empty: nothing.
  std::string Fetch(const std::string& url, const std::string& query = "") const {
    return Run({"python3", "-c",
                "import sys, urllib.parse, urllib.request\n"
                "url, query = sys.argv[1:]\n"
                "if query: url += '?query=' + urllib.parse.quote(query)\n"
                "print(urllib.request.urlopen(url, timeout=10).read().decode())",
                url, query})
        .stdout_text;
  }

  std::string prometheus_;  // its address

 private:
  std::vector<std::thread> servers_;
  std::atomic<bool> stop_{false};
};

}  // namespace rharness

#endif  // RHARNESS_TESTS_CLI_MONITORING_H_
