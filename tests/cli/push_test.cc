// `rharness slo --push` to a real Pushgateway.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "tests/cli/monitoring.h"

namespace rharness {
namespace {

using testing::HasSubstr;
using testing::Not;

// Each sample of an exposition as "NAME label label ..." in order, without what a gateway adds.
std::set<std::string> SamplesOf(const std::string& exposition) {
  std::set<std::string> samples;
  std::istringstream lines(exposition);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t open = line.find('{'), close = line.rfind('}');
    if (!line.starts_with("rharness_") || open == line.npos || close == line.npos) continue;
    std::set<std::string> labels;
    for (std::size_t at = open + 1; at < close;) {
      const std::size_t end = std::min(line.find("\",", at), close - 1) + 1;
      labels.insert(line.substr(at, end - at));
      at = end + 1;
    }
    labels.erase("instance=\"\"");
    labels.erase("job=\"rharness\"");
    std::string sample = line.substr(0, open);
    for (const std::string& label : labels) sample += " " + label;
    samples.insert(std::move(sample));
  }
  return samples;
}

class Pushed : public Monitoring {
 protected:
  void SetUp() override {
    for (const char* program : {"prometheus-pushgateway", "python3"}) {
      if (!Has(program)) GTEST_SKIP() << "no " << program << " here";
    }
    Write("series", "");
    ports_ = ServeSeries();
  }
  void StartGateway(const std::vector<std::string>& options = {}) {
    std::vector<std::string> argv = {"prometheus-pushgateway",
                                     "--web.listen-address=127.0.0.1:" + ports_[1],
                                     "--persistence.file="};
    argv.insert(argv.end(), options.begin(), options.end());
    Serve(argv);
    ASSERT_TRUE(Await([&] {
      return Run({"python3", "-c",
                  "import socket, sys; socket.create_connection(('127.0.0.1', int(sys.argv[1])))",
                  ports_[1]})
          .outcome.Succeeded();
    }));
  }
  std::string Gateway() const { return "http://127.0.0.1:" + ports_[1]; }
  ProcessResult PushTo(const std::string& url) const {
    return Slo({"--policy", "policy.yaml", "--metrics", "slo.prom", "--push", url});
  }

  std::vector<std::string> ports_;
};

TEST_F(Pushed, AreTheSeriesOfTheTextfileInPlaceOfThoseBefore) {
  StartGateway();
  ASSERT_EQ(DrillInto("first", {"--env", "SHIFT=9"}), 1);
  const ProcessResult red = PushTo(Gateway());
  EXPECT_EQ(red.outcome.exit_code, 1) << red.stderr_text;
  EXPECT_EQ(red.stderr_text, "");
  const auto written = SamplesOf(Read(At("slo.prom")));
  EXPECT_GT(written.size(), 40U);
  EXPECT_EQ(SamplesOf(Fetch(Gateway() + "/metrics")), written);
  EXPECT_THAT(Fetch(Gateway() + "/metrics"), HasSubstr("rharness_slo_run_broken{"));
  // Of another history, whose series stand beside these.
  std::filesystem::copy_file(At("runs.db"), At("other.db"));
  ASSERT_EQ(DrillInto("second"), 0);
  EXPECT_EQ(Run({kRharness, "slo", "--history", "other.db", "--push", Gateway()}).outcome.exit_code,
            0);
  PushTo(Gateway());
  const std::string both = Fetch(Gateway() + "/metrics");
  EXPECT_THAT(both, testing::ContainsRegex("history=\"[^\"]*/other.db\""));
  EXPECT_THAT(
      both, Not(testing::ContainsRegex("rharness_slo_run_broken[^\n]*history=\"[^\"]*/runs.db\"")))
      << "what reproduces again is broken no more";
  EXPECT_THAT(both,
              testing::ContainsRegex("rharness_slo_run_broken[^\n]*history=\"[^\"]*/other.db\""));
}

TEST_F(Pushed, HoldAnyNameOfAHistory) {
  StartGateway();
  const std::string name = "runs of Ada & Zoë?.db";
  std::filesystem::copy_file(At("runs.db"), At(name));
  const ProcessResult pushed = Run({kRharness, "slo", "--history", name, "--push", Gateway()});
  EXPECT_EQ(pushed.outcome.exit_code, 0) << pushed.stderr_text;
  EXPECT_THAT(Fetch(Gateway() + "/metrics"), HasSubstr("/runs of Ada & Zoë?.db\""));
}

TEST_F(Pushed, SayWhatIsThereAndThatTheGatewayIsNot) {
  ASSERT_EQ(DrillInto("first", {"--env", "SHIFT=9"}), 1);
  const ProcessResult refused = PushTo(Gateway());
  EXPECT_EQ(refused.outcome.exit_code, 4);
  EXPECT_THAT(refused.stderr_text, HasSubstr(ports_[1]));
  EXPECT_THAT(refused.stdout_text, HasSubstr("0 of 5 runs reproduced"));
  EXPECT_THAT(Read(At("slo.prom")), HasSubstr("rharness_slo_runs"));
  const ProcessResult bad = PushTo("gateway:9091");
  EXPECT_EQ(bad.outcome.exit_code, 2);
  EXPECT_EQ(bad.stdout_text, "") << "before anything is measured";
  const ProcessResult secret = PushTo("http://ada:pa55@127.0.0.1:" + ports_[1]);
  EXPECT_EQ(secret.outcome.exit_code, 2);
  EXPECT_THAT(secret.stderr_text, Not(HasSubstr("pa55")));
}

TEST_F(Pushed, AreShownAPasswordFromTheEnvironment) {
  // bcrypt of "pw" at cost 4, made with Python's crypt: the gateway asks it of "ada".
  Write(
      "web.yaml",
      "basic_auth_users: {ada: '$2b$04$wEw.KgwBDrlmxv1LPt.UZOyYeBXmqafIo.ysdR/H8cZPxhlcGESF2'}\n");
  StartGateway({"--web.config.file=web.yaml"});
  const ProcessResult without = PushTo(Gateway());
  EXPECT_EQ(without.outcome.exit_code, 2);
  EXPECT_THAT(without.stderr_text, HasSubstr("refuses without credentials (401)"));
  environment_["RHARNESS_PUSH_USERNAME"] = "ada";
  environment_["RHARNESS_PUSH_PASSWORD"] = "wrong-one";
  const ProcessResult wrong = PushTo(Gateway());
  EXPECT_EQ(wrong.outcome.exit_code, 2);
  EXPECT_THAT(wrong.stderr_text, Not(HasSubstr("wrong-one")));
  environment_["RHARNESS_PUSH_PASSWORD"] = "pw";
  const ProcessResult pushed = PushTo(Gateway());
  EXPECT_EQ(pushed.outcome.exit_code, 3) << pushed.stderr_text;
}

}  // namespace
}  // namespace rharness
