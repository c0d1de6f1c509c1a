// From a drill that drifts to the one who is called: the series, a real Prometheus with the rules,
// a real Alertmanager with the routes, and what it posts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <sstream>
#include <thread>

#include "tests/cli/slo_program.h"

namespace rharness {
namespace {

using testing::HasSubstr;

constexpr auto kLongest = std::chrono::seconds(90);

class AlertsProgram : public SloProgram {
 protected:
  ~AlertsProgram() override {
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
    const auto end = std::chrono::steady_clock::now() + kLongest;
    while (!condition()) {
      if (std::chrono::steady_clock::now() > end) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
    }
    return true;
  }
  std::string Posted() const {
    const auto text = ReadFile(At("posted"));
    return text.ok() ? *text : "";
  }
  void Measure() const {
    const int code = Slo({"--policy", "policy.yaml", "--metrics", "series"}).outcome.exit_code;
    EXPECT_THAT(code, testing::AnyOf(0, 1, 3));
  }
  // Prometheus asks every second, and Alertmanager waits for no more of a family than that.
  void StartServers() {
    Serve({"python3", RHARNESS_SOURCE_DIR "/tests/cli/alert_world.py", At("series"), At("posted"),
           At("ports")});
    ASSERT_TRUE(Await([&] { return std::filesystem::exists(At("ports")); }));
    std::istringstream ports(Read(At("ports")));
    std::string own;
    std::string manager;
    ports >> own >> prometheus_ >> manager;
    const ProcessResult written =
        Run({kRharness, "alerts", "--policy", "policy.yaml", "--rules", "rules.yaml", "--routes",
             "routes.yaml", "--webhook", "http://127.0.0.1:" + own + "/"});
    ASSERT_TRUE(written.outcome.Succeeded()) << written.stderr_text;
    std::string routes = Read(At("routes.yaml"));
    const std::string wait = "group_wait: 30s";
    ASSERT_NE(routes.find(wait), std::string::npos);
    Write("routes.yaml", routes.replace(routes.find(wait), wait.size(), "group_wait: 1s"));
    Write("prometheus.yml",
          "global: {scrape_interval: 1s, evaluation_interval: 1s}\nrule_files: [rules.yaml]\n"
          "scrape_configs:\n  - {job_name: rharness, static_configs: [{targets: ['127.0.0.1:" +
              own + "']}]}\nalerting:\n  alertmanagers: [{static_configs: [{targets: ['127.0.0.1:" +
              manager + "']}]}]\n");
    Serve({"prometheus-alertmanager", "--config.file=routes.yaml", "--storage.path=alertmanager",
           "--cluster.listen-address=", "--web.listen-address=127.0.0.1:" + manager});
    Serve({"prometheus", "--config.file=prometheus.yml", "--storage.tsdb.path=tsdb",
           "--web.listen-address=127.0.0.1:" + prometheus_});
  }
  std::string Ask(const std::string& query) const {
    return Run({"python3", "-c",
                "import sys, urllib.parse, urllib.request\n"
                "url = 'http://127.0.0.1:%s/api/v1/query?query=%s' % (sys.argv[1], "
                "urllib.parse.quote(sys.argv[2]))\n"
                "print(urllib.request.urlopen(url, timeout=10).read().decode())",
                prometheus_, query})
        .stdout_text;
  }

  std::string prometheus_;  // its port
  std::vector<std::thread> servers_;
  std::atomic<bool> stop_{false};
};

TEST_F(AlertsProgram, CallTheOwnerOfAFamilyThatDrifts) {
  for (const char* program : {"prometheus", "prometheus-alertmanager", "python3"}) {
    if (!Has(program)) GTEST_SKIP() << "no " << program << " here";
  }
  ASSERT_EQ(DrillInto("first"), 0);
  Measure();
  StartServers();
  ASSERT_TRUE(Await([&] {
    return Ask("rharness_slo_alarm{alarm=\"fast\"}").find("\"0\"") != std::string::npos;
  })) << "Prometheus has no sample: "
      << Ask("up");
  EXPECT_EQ(Posted(), "");
  ASSERT_EQ(DrillInto("second", {"--env", "SHIFT=9"}), 1);
  Measure();
  ASSERT_TRUE(Await([&] { return Posted().find("RharnessBudgetBurning") != std::string::npos; }))
      << Posted() << Ask("ALERTS");
  EXPECT_THAT(Posted(), HasSubstr("\"receiver\":\"ada-page\""));
  EXPECT_THAT(Posted(), HasSubstr("\"family\":\"tiny\""));
  // Each of the runs by its name, in one notification to the owner.
  ASSERT_TRUE(Await([&] { return Posted().find("RharnessRunBroken") != std::string::npos; }))
      << Posted();
  for (const char* run : {"a", "b", "c", "d", "e"}) {
    EXPECT_THAT(Posted(), HasSubstr(std::string("\"run_id\":\"") + run + "\""));
  }
  EXPECT_THAT(Ask("owner:rharness_slo_missed:count"), HasSubstr("\"owner\":\"ada\""));
}

}  // namespace
}  // namespace rharness
