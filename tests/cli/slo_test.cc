// `rharness slo` as a program: after drills, with and without a policy.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reports/terminal_parts.h"
#include "reports/text.h"
#include "tests/cli/slo_program.h"

namespace rharness {
namespace {

using testing::HasSubstr;

TEST_F(SloProgram, GoesRedWithADrillThatDrifts) {
  const ProcessResult unknown = Slo({"--policy", "policy.yaml"});
  EXPECT_EQ(unknown.outcome.exit_code, 3) << unknown.stderr_text;
  EXPECT_THAT(unknown.stdout_text, HasSubstr("Next: drill them"));
  ASSERT_EQ(DrillInto("first"), 0);
  ASSERT_EQ(DrillInto("second"), 0);
  const ProcessResult met = Slo({"--policy", "policy.yaml"});
  EXPECT_EQ(met.outcome.exit_code, 0) << met.stdout_text << met.stderr_text;
  EXPECT_THAT(met.stdout_text, HasSubstr("The one family with objectives keeps them."));
  for (const std::vector<std::string>& verb :
       std::vector<std::vector<std::string>>{{"slo"}, {"history", "trends"}}) {
    std::vector<std::string> argv = {"/usr/bin/env", "COLUMNS=60", kRharness};
    argv.insert(argv.end(), verb.begin(), verb.end());
    argv.insert(argv.end(), {"--history", "runs.db"});
    const std::string text = Run(argv).stdout_text;
    EXPECT_NE(text, "");
    for (const std::string& line : SplitLines(text)) EXPECT_LE(DisplayWidth(line), 60) << line;
  }
  ASSERT_EQ(DrillInto("third", {"--env", "SHIFT=9"}), 1);
  const ProcessResult red = Slo({"--policy", "policy.yaml", "--html", "page/slo.html", "--metrics",
                                 "slo.prom", "--junit", "slo.xml", "--markdown", "slo.md"});
  EXPECT_EQ(red.outcome.exit_code, 1) << red.stdout_text << red.stderr_text;
  EXPECT_THAT(red.stdout_text, HasSubstr("misses them and burns its budget now: tiny"));
  EXPECT_THAT(red.stdout_text, HasSubstr("0 of 5 runs reproduced in 28 days"));
  EXPECT_THAT(Read(At("page/slo.html")), HasSubstr("Objectives"));
  EXPECT_THAT(Read(At("slo.xml")), HasSubstr("classname=\"slo.tiny\" name=\"reproducible\""));
  EXPECT_THAT(Read(At("slo.md")), HasSubstr("### Missed, or not known"));
  EXPECT_THAT(Read(At("slo.prom")),
              HasSubstr("rharness_slo_alarm{history=\"" + At("runs.db").string() +
                        "\",family=\"tiny\",owner=\"ada\","
                        "alarm=\"fast\",severity=\"page\"} 1\n"));
  const auto json = ParseJson(Slo({"--policy", "policy.yaml", "--json"}).stdout_text, "stdout");
  ASSERT_TRUE(json.ok()) << json.error().ToString();
  const Json& tiny = json->Find("families")->AsArray().front();
  EXPECT_EQ(tiny.Find("bad")->ToDouble(), 5.0);
  EXPECT_EQ(tiny.Find("flipped")->ToDouble(), 5.0);
  EXPECT_EQ(tiny.Find("records")->ToDouble(), 5.0) << "of each the record was looked at";
  EXPECT_EQ(tiny.Find("weights")->ToDouble(), 0.0) << "none has a checkpoint";
  EXPECT_GT(tiny.Find("seconds_to_verdict")->ToDouble().value_or(0.0), 0.0);
  const auto& broken = json->Find("broken")->AsArray();
  ASSERT_EQ(broken.size(), 5U);
  EXPECT_EQ(broken.front().Find("verdict")->AsString(), "drifted");
  EXPECT_THAT(Read(At("slo.prom")),
              HasSubstr("rharness_slo_run_broken{history=\"" + At("runs.db").string() +
                        "\",family=\"tiny\","
                        "owner=\"ada\",run_id=\"c\",verdict=\"drifted\"} 1\n"));
}

TEST_F(SloProgram, RefusesWhatItCannotMeasure) {
  const ProcessResult nowhere =
      Run({kRharness, "slo", "--history", "nowhere.db", "--policy", "policy.yaml"});
  EXPECT_EQ(nowhere.outcome.exit_code, 2) << nowhere.stderr_text;
  EXPECT_THAT(nowhere.stderr_text, HasSubstr("nowhere.db"));
  Write("empty.db", "");
  const ProcessResult nothing = Run({kRharness, "slo", "--history", "empty.db"});
  EXPECT_EQ(nothing.outcome.exit_code, 2);
  EXPECT_THAT(nothing.stderr_text, HasSubstr("is empty, and no history yet"));
  EXPECT_EQ(Read(At("empty.db")), "") << "and none is made of it";
  Write("bad.yaml", "version: 1\nobjectives:\n  - {families: tiny}\n");
  const ProcessResult empty = Slo({"--policy", "bad.yaml"});
  EXPECT_EQ(empty.outcome.exit_code, 2);
  EXPECT_THAT(empty.stderr_text, HasSubstr("bad.yaml:3: an objective needs"));
  const ProcessResult same = Slo({"--policy", "policy.yaml", "--html", "policy.yaml"});
  EXPECT_EQ(same.outcome.exit_code, 2) << same.stderr_text;
  EXPECT_THAT(Read(At("policy.yaml")), HasSubstr("families: tiny"));
  // Nor is a page written over the history, whatever it is called.
  std::filesystem::create_symlink("runs.db", At("link.db"));
  for (const char* name : {"runs.db", "./runs.db", "link.db", "runs.db-wal"}) {
    const ProcessResult over = Slo({"--html", name});
    EXPECT_EQ(over.outcome.exit_code, 2) << name;
    EXPECT_THAT(over.stderr_text, HasSubstr("would take the place of")) << name;
    EXPECT_EQ(Run({kRharness, "history", "show", "tiny", "--history", "runs.db", "--html", name})
                  .outcome.exit_code,
              2)
        << name;
  }
  EXPECT_EQ(Slo({}).outcome.exit_code, 0);
}

}  // namespace
}  // namespace rharness
