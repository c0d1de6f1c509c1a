// What a site decided in its policy file, as the drill heeds it; and the templates that use it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <regex>
#include <string>
#include <vector>

#include "harness/base/json.h"
#include "tests/cli/drill_program.h"
#include "tests/records/manifest/schema_check.h"

namespace rharness {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class PolicyProgram : public DrillProgram {
 protected:
  ProcessResult Check(const std::string& yaml, const std::vector<std::string>& options = {}) {
    Write("p.yaml", yaml);
    std::vector<std::string> argv = {kRharness, "policy", "check", "p.yaml"};
    argv.insert(argv.end(), options.begin(), options.end());
    return Run(argv);
  }
  // The settings of the drill in out/, as its journal has them.
  Json Settings() const {
    std::istringstream journal(Read(At("out/journal.jsonl")));
    std::string line;
    std::getline(journal, line);
    return ParseJson(line.substr(line.find('{')), "journal").value();
  }
};

TEST_F(PolicyProgram, AProfileGivesOptionsAndTheCommandLineGoesFirst) {
  RecordRuns(1);
  Write("p.yaml",
        "version: 1\nprofiles:\n"
        "  night: {history: runs.db, reruns: 2, jobs: 1, no-confirm: true, rerun-disk: 1GiB,\n"
        "          env: [A=b, C], budget: 90m}\n");
  const ProcessResult result = Run({kRharness, "drill", "--policy", "p.yaml", "--profile", "night",
                                    "--out", "out", "--reruns", "1"});
  EXPECT_EQ(result.outcome.exit_code, 0) << result.stderr_text;
  EXPECT_EQ(Calls(), 1);
  const Json settings = Settings();
  const Json& plan = *settings.Find("plan");
  EXPECT_EQ(plan.Find("jobs")->Dump(), "1");
  EXPECT_EQ(plan.Find("rerun_disk_bytes")->Dump(), "1073741824");
  EXPECT_EQ(plan.Find("budget_seconds")->Dump(), "5400.0");
  EXPECT_EQ(settings.Find("environment")->Dump(), R"({"A":"b","C":null})");
  EXPECT_FALSE(settings.Find("confirm")->AsBool());
}

TEST_F(PolicyProgram, AMistakeInAProfileIsNamedByFileAndLine) {
  RecordRuns(1);
  const struct {
    std::string options;
    std::string words;
  } cases[] = {{"{jbos: 1}", "did you mean jobs?"},
               {"{resume: true}", "'resume'"},
               {"{profile: x}", "'profile'"},
               {"{jobs: many}", "jobs: "},
               {"{jobs: [1, 2]}", "takes one value, and has 2"},
               {"{no-confirm: maybe}", "true or false"},
               {"{budget: soon}", "budget: "},
               {"{dispatch: moon}", "dispatch: "}};
  for (const auto& [options, words] : cases) {
    Write("p.yaml", "version: 1\nprofiles:\n  night: " + options + "\n");
    const ProcessResult drill = Drill({"--policy", "p.yaml", "--profile", "night"});
    EXPECT_EQ(drill.outcome.exit_code, 2) << options;
    EXPECT_THAT(drill.stderr_text, AllOf(HasSubstr("p.yaml:3"), HasSubstr(words))) << options;
    const ProcessResult check = Check(Read(At("p.yaml")));
    EXPECT_EQ(check.outcome.exit_code, 2) << options;
    EXPECT_THAT(check.stderr_text, AllOf(HasSubstr("p.yaml:3"), HasSubstr(words))) << options;
  }
  EXPECT_FALSE(std::filesystem::exists(At("out")));
  EXPECT_EQ(Calls(), 0);
}

TEST_F(PolicyProgram, ProfilesAreNamedWhereOneIsNotThere) {
  RecordRuns(1);
  Write("p.yaml", "version: 1\nprofiles: {night: {jobs: 1}, day: {jobs: 2}}\n");
  const ProcessResult unknown = Drill({"--policy", "p.yaml", "--profile", "noon"});
  EXPECT_EQ(unknown.outcome.exit_code, 2);
  EXPECT_THAT(unknown.stderr_text, HasSubstr("no profile 'noon'; expected night, day"));
  const ProcessResult none = Drill({"--profile", "night"});
  EXPECT_EQ(none.outcome.exit_code, 2);
  EXPECT_THAT(none.stderr_text, HasSubstr("goes with --policy FILE"));
}

TEST_F(PolicyProgram, CheckSaysWhatAPolicyComesTo) {
  const std::string yaml =
      "version: 1\nprofiles:\n  night: {dispatch: slurm, sbatch: [--partition=gpu]}\n"
      "substitutes:\n"
      "  - {recorded: A, here: B, reason: same, signed_by: ada, until: 2020-01-31}\n"
      "waivers:\n  - {probes: x, reason: y, signed_by: ada, until: 2020-01-31}\n"
      "retention:\n  - {families: \"*\", keep_last: 5, keep_days: 90}\n"
      "holds:\n  - {runs: \"a*\", families: mlp, reason: case 7}\n"
      "approvals: {retirement: required}\n"
      "objectives: [{families: \"*\", reproducible: 0.6, alert: page}]\n";
  const ProcessResult text = Check(yaml);
  EXPECT_EQ(text.outcome.exit_code, 0) << text.stderr_text;
  EXPECT_EQ(text.stdout_text,
            "profile night\n  dispatch: slurm\n  sbatch: --partition=gpu\n"
            "substitute B for A\n  same, signed by ada (plain text, not verified), through "
            "2020-01-31 (UTC)\n"
            "objective of families *: 0.6 reproducible\n"
            "waiver of x\n  y, signed by ada (plain text, not verified), through 2020-01-31 (UTC)\n"
            "gate: 0 rules, 1 waiver, 0 required probes, a drill is optional\n"
            "retirements take two people\n"
            "retention of *: the last 5 runs and 90 days\nhold of mlp, a*: case 7\n"
            "warning: substitute B for A: its day has ended\n"
            "warning: waiver of x: its day has ended\n"
            "warning: p.yaml:13: no page can come of reproducible: 0.6, for where no run "
            "reproduces the budget burns 2.5 times as fast as it lasts, and a page needs more than "
            "2.8 times; ask for more than 0.643, or for alert: ticket\n");
  const Json json = ParseJson(Check(yaml, {"--json"}).stdout_text, "check").value();
  EXPECT_EQ(json.Find("schema")->AsString(), "rharness.policy_check/v1");
  EXPECT_EQ(json.Find("warnings")->AsArray().size(), 3u);
  EXPECT_EQ(json.Find("retention")->Dump(),
            R"([{"families":"*","keep_last":5.0,"keep_days":90.0,"where":"p.yaml:9"}])");
  EXPECT_EQ(json.Find("holds")->Dump(),
            R"([{"families":"mlp","runs":"a*","reason":"case 7","where":"p.yaml:11"}])");
  EXPECT_EQ(json.Find("retirement_approvals")->Dump(), "true");
  ASSERT_EQ(Run({kRharness, "documents", "--schemas", "schemas"}).outcome.exit_code, 0);
  const std::string schema = At("schemas/policy_check.schema.json").string();
  ExpectDescribed(LoadSchemaFile(schema), json);
  EXPECT_NE(Validate(schema, json), 1);
  EXPECT_EQ(json.Find("profiles")->Find("night")->Find("dispatch")->Dump(), R"(["slurm"])");
  const ProcessResult alone = Check("version: 1\nprofiles: {night: {sbatch: --partition=gpu}}\n");
  EXPECT_EQ(alone.outcome.exit_code, 2);
  EXPECT_THAT(alone.stderr_text, HasSubstr("profile night: --sbatch: goes with --dispatch slurm"));
  EXPECT_EQ(
      Check("version: 1\nsubstitutes: [{recorded: a, here: b, proof: [c, d]}]\n").outcome.exit_code,
      2)
      << "no such fingerprints";
}

TEST_F(PolicyProgram, GameDaysAreDeclaredInIt) {
  RecordRuns(2);
  const std::string yaml =
      "version: 1\ngamedays:\n  week: {history: runs.db, fault: [\"env:A=1\", \"env:B=1\"],\n"
      "    no-default-faults: true}\n";
  EXPECT_EQ(Check(yaml).stdout_text,
            "game day week\n  history: runs.db\n  fault: env:A=1, env:B=1\n"
            "  no-default-faults: true\n"
            "gate: 0 rules, 0 waivers, 0 required probes, a drill is optional\n");
  const Json json = ParseJson(Check(yaml, {"--json"}).stdout_text, "check").value();
  EXPECT_EQ(json.Find("gamedays")->Find("week")->Find("fault")->Dump(), R"(["env:A=1","env:B=1"])");
  const auto gameday = [&](std::vector<std::string> more) {
    std::vector<std::string> argv = {kRharness, "gameday", "--policy", "p.yaml"};
    argv.insert(argv.end(), more.begin(), more.end());
    return Run(argv);
  };
  const ProcessResult plan = gameday({"--profile", "week", "--dry-run"});
  EXPECT_EQ(plan.outcome.exit_code, 0) << plan.stderr_text;
  EXPECT_THAT(plan.stdout_text, AllOf(HasSubstr("A=1"), HasSubstr("B=1")));
  const ProcessResult one = gameday({"--profile", "week", "--fault", "env:C=1", "--dry-run"});
  EXPECT_THAT(one.stdout_text, AllOf(HasSubstr("C=1"), testing::Not(HasSubstr("A=1"))))
      << "the command line goes first";
  const ProcessResult unknown = gameday({"--profile", "night"});
  EXPECT_EQ(unknown.outcome.exit_code, 2);
  EXPECT_THAT(unknown.stderr_text, HasSubstr("no profile 'night'; expected week"));
  const ProcessResult resumed = gameday({"--profile", "week", "--resume"});
  EXPECT_EQ(resumed.outcome.exit_code, 2);
  EXPECT_THAT(resumed.stderr_text, HasSubstr("own settings"));
  EXPECT_EQ(Calls(), 0);
}

TEST_F(PolicyProgram, SlipsInAGameDayAreNamedWithTheirPlace) {
  const struct {
    std::string options;
    std::string words;
  } cases[] = {{"{fault: [\"seed:lost\", \"moon:full\"]}", "moon:full"},
               {"{faults: x}", "did you mean fault?"},
               {"{trials: many}", "trials: "},
               {"{distribute: true, dispatch: slurm}", "is for drills alone"},
               {"{sample: 3}", "'sample'"}};
  for (const auto& [options, words] : cases) {
    const ProcessResult check = Check("version: 1\ngamedays:\n  week: " + options + "\n");
    EXPECT_EQ(check.outcome.exit_code, 2) << options;
    EXPECT_THAT(check.stderr_text, AllOf(HasSubstr("p.yaml:3"), HasSubstr(words))) << options;
  }
}

// Recorded on another GPU than this machine's, which a stand-in for the driver's library tells of.
class OnOtherGpus : public PolicyProgram {
 protected:
  void SetUp() override {
    environment_["LD_LIBRARY_PATH"] = RHARNESS_FAKE_NVML;  // two NVIDIA H200
    Record("a", {"--gpus", "1"});
    std::string manifest = Read(At("runs/a.json"));
    manifest = std::regex_replace(manifest, std::regex("NVIDIA H200"), "NVIDIA H100");
    Write("runs/a.json", manifest);
    Add();
  }
  ProcessResult DrillUnder(const std::string& substitute) {
    std::filesystem::remove_all(At("out"));
    Write("p.yaml", "version: 1\nsubstitutes:\n  - " + substitute + "\n");
    return Drill({"--policy", "p.yaml"});
  }
  std::string Verdict() const {
    return std::string(VerdictName(StoredReport().runs.at(0).verdict));
  }
};

TEST_F(OnOtherGpus, ARunIsNotComparableBeforeItCostsAnything) {
  EXPECT_EQ(Drill().outcome.exit_code, 3);
  EXPECT_EQ(Verdict(), "not_comparable");
  EXPECT_EQ(Calls(), 0);
  EXPECT_THAT(EvidenceOf("a").obstacle,
              AllOf(HasSubstr("recorded on 2 x NVIDIA H100 (140 GiB), nvlink; "),
                    HasSubstr(" has 2 x NVIDIA H200 (140 GiB), nvlink: GPU model NVIDIA H200 "
                              "instead of NVIDIA H100; the policy accepts no substitute")));
}

TEST_F(OnOtherGpus, ASubstituteThatIsSignedForStandsIn) {
  const std::string substitute =
      "{recorded: NVIDIA H100, here: NVIDIA H2*, reason: same chip, signed_by: ada, until: ";
  EXPECT_EQ(DrillUnder(substitute + "2999-01-01}").outcome.exit_code, 0);
  EXPECT_EQ(Calls(), 1);
  EXPECT_THAT(
      Read(At("out/report.json")),
      HasSubstr("accepted as a substitute: same chip, signed by ada (plain text, not verified)"));
  const ProcessResult expired = DrillUnder(substitute + "2020-01-01}");
  EXPECT_EQ(expired.outcome.exit_code, 3);
  EXPECT_EQ(Calls(), 1) << "no further one";
  EXPECT_THAT(Read(At("out/report.json")), HasSubstr("its day has ended"));
}

// What a template runs, with its paths moved below this test's folder.
class Templates : public PolicyProgram, public testing::WithParamInterface<const char*> {
 protected:
  std::string CommandOf(const std::string& file, const std::vector<std::string>& beginnings) const {
    std::ifstream in(std::string(RHARNESS_SOURCE_DIR "/scenarios/ci/") + file);
    std::string found;
    for (std::string line; std::getline(in, line);) {
      if (line.starts_with("#") || line.starts_with("//")) continue;
      std::size_t begin = line.npos;
      for (const std::string& one : beginnings) begin = std::min(begin, line.find(one));
      if (begin != line.npos && line.find("--profile") != line.npos) found = line.substr(begin);
    }
    for (const auto& [from, to] : {std::pair("%%", "%"), {"\\\\%", "%"}, {"\\$\\$", "$$"}}) {
      found = std::regex_replace(found, std::regex(from), to);
    }
    while (found.ends_with('\'')) found.pop_back();
    return found;
  }
  void SetPolicy() {
    std::string policy = Read(RHARNESS_SOURCE_DIR "/scenarios/ci/policy.yaml");
    EXPECT_EQ(Check(policy).outcome.exit_code, 0);
    policy = std::regex_replace(policy, std::regex("/srv/rharness/runs.db"), "runs.db");
    policy = std::regex_replace(policy, std::regex("/srv/rharness"), ".");
    policy = std::regex_replace(policy, std::regex("quiet-hours.*"), "jobs: 2");
    Write("p.yaml", policy);
    environment_["RHARNESS_POLICY"] = "p.yaml";
    environment_["PATH"] = RHARNESS_BIN_DIR ":" + environment_["PATH"];
  }
};

TEST_P(Templates, RunTheNightThatTheirPolicyDescribes) {
  RecordRuns(2);
  SetPolicy();
  const std::string command = CommandOf(GetParam(), {"rharness --quiet drill", "rharness drill"});
  ASSERT_THAT(command, HasSubstr("--profile night"));
  const ProcessResult result =
      Run({"sh", "-c", command + " && ls drill/junit.xml || ls drills/*/junit.xml"});
  EXPECT_EQ(result.outcome.exit_code, 0) << command << "\n" << result.stderr_text;
  EXPECT_THAT(result.stdout_text, HasSubstr("/junit.xml"));
  EXPECT_EQ(Calls(), 2);
}

using GamedayTemplates = Templates;

TEST_P(GamedayTemplates, HoldTheGameDayThatTheirPolicyDescribes) {
  RecordRuns(11);
  SetPolicy();
  const std::string command = CommandOf(GetParam(), {"day=gamedays/"});
  ASSERT_THAT(command, HasSubstr("gameday --profile week"));
  const ProcessResult result = Run({"sh", "-c", command});
  EXPECT_EQ(result.outcome.exit_code, 0) << command << "\n"
                                         << result.stdout_text << result.stderr_text;
  const Json told = ParseJson(Read(At("certificate.json")), "certificate").value();
  EXPECT_THAT(told.Dump(), HasSubstr("env:OMP_NUM_THREADS=1")) << "a fault of the policy's";
}

INSTANTIATE_TEST_SUITE_P(Week, GamedayTemplates,
                         testing::Values("rharness-gameday.service", "crontab"));
INSTANTIATE_TEST_SUITE_P(All, Templates,
                         testing::Values("rharness-drill.service", "crontab", "gitlab-ci.yml",
                                         "github-workflow.yml", "Jenkinsfile"));

}  // namespace
}  // namespace rharness
