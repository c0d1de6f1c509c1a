// From a drill that drifts to the one who is called: the series, a real Prometheus with the rules,
// a real Alertmanager with the routes, and what it posts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/monitoring.h"

namespace rharness {
namespace {

using testing::HasSubstr;

class AlertsProgram : public Monitoring {
 protected:
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
    const std::vector<std::string> ports = ServeSeries();
    const std::string& manager = ports[2];
    const ProcessResult written =
        Run({kRharness, "slo", "rules", "--policy", "policy.yaml", "--rules", "rules.yaml",
             "--routes", "routes.yaml", "--webhook", "http://127.0.0.1:" + ports[0] + "/"});
    ASSERT_TRUE(written.outcome.Succeeded()) << written.stderr_text;
    std::string routes = Read(At("routes.yaml"));
    const std::string wait = "group_wait: 30s";
    ASSERT_NE(routes.find(wait), std::string::npos);
    Write("routes.yaml", routes.replace(routes.find(wait), wait.size(), "group_wait: 1s"));
    Serve({"prometheus-alertmanager", "--config.file=routes.yaml", "--storage.path=alertmanager",
           "--cluster.listen-address=", "--web.listen-address=127.0.0.1:" + manager});
    ServePrometheus(ports[1], ports[0],
                    "alerting:\n  alertmanagers: [{static_configs: [{targets: ['127.0.0.1:" +
                        manager + "']}]}]\n");
  }
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
