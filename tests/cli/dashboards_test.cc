// The dashboards for Grafana: whatever they would ask is asked of a real Prometheus, after real
// drills.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <utility>

#include "reports/objectives_report.h"
#include "tests/cli/monitoring.h"

namespace rharness {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

// Writes a checkpoint of one number, and what a drill compares.
constexpr char kTrainer[] = R"py(import json, random, struct
random.seed(1)
head = b'{"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}  '
with open("model.safetensors", "wb") as out:
    out.write(struct.pack("<Q", len(head)) + head + struct.pack("<f", 0.5))
with open("metrics.json", "w") as out:
    json.dump({"metrics": {"accuracy": random.random()}}, out)
)py";

class DashboardsProgram : public Monitoring {
 protected:
  // One run with a checkpoint, looked at as it goes.
  void RecordOneWithWeights() {
    Write("train.py", kTrainer);
    Record("whole",
           {"--determinism", "bitwise", "--code-file", "train.py", "--weights", "model.safetensors",
            "--python-hooks"},
           {"python3", "train.py"});
    const ProcessResult added =
        Run({kRharness, "--quiet", "history", "add", "--history", "runs.db", "runs/whole.json"});
    ASSERT_TRUE(added.outcome.Succeeded()) << added.stderr_text;
  }
  void WriteDashboards() const {
    const ProcessResult written = Run({kRharness, "slo", "rules", "--policy", "policy.yaml",
                                       "--rules", "rules.yaml", "--dashboards", "dash boards"});
    ASSERT_TRUE(written.outcome.Succeeded()) << written.stderr_text;
  }
  Json AskAll() const {
    const ProcessResult asked =
        Run({"python3", RHARNESS_SOURCE_DIR "/tests/cli/dashboard_queries.py", prometheus_,
             At("dash boards")});
    auto json = ParseJson(asked.stdout_text, "stdout");
    EXPECT_TRUE(json.ok()) << asked.stdout_text << asked.stderr_text;
    return json.ok() ? std::move(*json) : Json::MakeObject({{"failures", Json::MakeArray()}});
  }
  // Names of series in a textfile.
  static std::set<std::string> NamesIn(const std::string& exposition) {
    std::set<std::string> names;
    std::istringstream lines(exposition);
    for (std::string line; std::getline(lines, line);) {
      if (line.starts_with("rharness_")) names.insert(line.substr(0, line.find('{')));
    }
    return names;
  }
};

TEST_F(DashboardsProgram, AskForNothingThatIsNotThereAfterDrills) {
  for (const char* program : {"prometheus", "python3"}) {
    if (!Has(program)) GTEST_SKIP() << "no " << program << " here";
  }
  RecordOneWithWeights();
  ASSERT_EQ(DrillInto("first"), 0);
  ASSERT_EQ(DrillInto("again"), 0);
  const ProcessResult back =
      Run({kRharness, "--quiet", "incident", "e", "--history", "runs.db", "--out", "incident"});
  EXPECT_EQ(back.outcome.exit_code, 0) << back.stdout_text << back.stderr_text;
  ASSERT_EQ(DrillInto("second", {"--env", "SHIFT=9"}), 1);
  // Its records are not complete: the parts are asked for all the same.
  EXPECT_EQ(Run({kRharness, "check", "--available", "--history", "runs.db"}).outcome.exit_code, 2);
  EXPECT_EQ(Slo({"--policy", "policy.yaml", "--metrics", "slo.prom"}).outcome.exit_code, 1);
  const std::string series = Read(At("slo.prom")) + Read(At("second/metrics.prom"));
  Write("series", series);
  WriteDashboards();
  const std::vector<std::string> ports = ServeSeries();
  ServePrometheus(ports[1], ports[0]);
  Json asked;
  ASSERT_TRUE(Await([&] { return Ask("ALERTS").find("RharnessRunBroken") != std::string::npos; }))
      << Ask("up");
  Await([&] {
    asked = AskAll();
    return asked.Find("failures")->AsArray().empty();
  });
  for (const Json& failure : asked.Find("failures")->AsArray()) ADD_FAILURE() << failure.AsString();
  EXPECT_EQ(asked.Find("files")->ToDouble(), 3.0);
  EXPECT_GT(asked.Find("queries")->ToDouble().value_or(0.0), 60.0);
  // And nothing is measured that nobody sees.
  std::set<std::string> unseen = NamesIn(series);
  for (const Json& name : asked.Find("names")->AsArray()) unseen.erase(name.AsString());
  EXPECT_THAT(unseen, IsEmpty());
}

// 40 families that do not reproduce and 123 that do, two runs each: 246 of 326 runs reproduce, and
// 120 of 200 of the hundred families that have series.
TEST_F(DashboardsProgram, TellOfAllFamiliesAndNotOfTheWorstHundred) {
  for (const char* program : {"prometheus", "python3"}) {
    if (!Has(program)) GTEST_SKIP() << "no " << program << " here";
  }
  ObjectivesReport report{.history = "h"};
  for (int i = 0; i < 163; ++i) {
    FamilyObjectives family{.family = "f" + std::to_string(i)};
    (i < 40 ? family.bad : family.good) = 2;
    report.families.push_back(std::move(family));
  }
  Write("series", WriteMetrics(report));
  WriteDashboards();
  const auto json = ReadJsonFile(At("dash boards/rharness-executive.json"));
  ASSERT_TRUE(json.ok()) << json.error().ToString();
  const Json& panel = json->Find("panels")->AsArray().front();
  EXPECT_EQ(panel.Find("title")->AsString(), "Reproduced");
  const std::string query = panel.Find("targets")->AsArray().front().Find("expr")->AsString();
  const auto of = [&](const std::string& family) {
    std::string text = query;
    for (const auto& [name, value] : {std::pair<std::string, std::string>("$history", ".*"),
                                      std::pair<std::string, std::string>("$family", family)}) {
      for (std::size_t at = text.find(name); at != text.npos; at = text.find(name)) {
        text.replace(at, name.size(), value);
      }
    }
    return Ask(text);
  };
  const std::vector<std::string> ports = ServeSeries();
  ServePrometheus(ports[1], ports[0]);
  ASSERT_TRUE(Await([&] { return of(".*").find("\"value\"") != std::string::npos; })) << Ask("up");
  EXPECT_THAT(of(".*"), HasSubstr("\"0.75460122"));
  EXPECT_THAT(of("f39|f40|f41"), HasSubstr("\"0.66666666"));
}

TEST_F(DashboardsProgram, AreWrittenWithTheirProvider) {
  WriteDashboards();
  for (const char* name : {"executive", "oncall", "debug"}) {
    const auto json = ReadJsonFile(At("dash boards/rharness-" + std::string(name) + ".json"));
    ASSERT_TRUE(json.ok()) << json.error().ToString();
    EXPECT_EQ(json->Find("uid")->AsString(), "rharness-" + std::string(name));
  }
  EXPECT_THAT(Read(At("dash boards/rharness.yaml")),
              HasSubstr("path: \"" + At("dash boards").string() + "\"\n"));
  EXPECT_THAT(Read(At("dash boards/rharness.yaml")), Not(HasSubstr("@FOLDER@")));
  Write("taken", "");
  const ProcessResult taken = Run({kRharness, "slo", "rules", "--dashboards", "taken"});
  EXPECT_EQ(taken.outcome.exit_code, 2) << taken.stderr_text;
}

}  // namespace
}  // namespace rharness
