// Policies: what a person may write, and where a mistake is named.
#include "harness/records/policy/policy.h"

#include <gtest/gtest.h>

namespace rharness {
namespace {

constexpr char kWhole[] = R"(# who may change what
version: 1
rules:
  - {probes: "gemm_*", allow: [choice, bits]}
  - probes: "*"
    allow: []
waivers:
  - probes: jit_*
    reason: the new driver's compiler was reviewed
    signed_by: ada
    until: 2026-12-31
drill: required
require: ["gemm_*", math_bits]
profiles:
  night: {dispatch: slurm, sbatch: [--partition=gpu, --account=ml], no-confirm: true}
  day:
    jobs: 2
gamedays:
  week: {fault: ["seed:lost", "data:digits=row"], no-default-faults: true}
substitutes:
  - {recorded: "A100*40GB", here: "A100*80GB", reason: same chip, signed_by: ada, until: 2027-06-30}
  - {recorded: H100, here: H200, proof: [a.json, /fp/b.json]}
)";

TEST(Policy, ReadsEveryPart) {
  const auto policy = ParsePolicy(kWhole, "p.yaml");
  ASSERT_TRUE(policy.ok()) << policy.error().ToString();
  ASSERT_EQ(policy->rules.size(), 2U);
  EXPECT_EQ(policy->rules[0].probes, "gemm_*");
  EXPECT_TRUE(policy->rules[0].choice);
  EXPECT_FALSE(policy->rules[0].tree);
  EXPECT_TRUE(policy->rules[0].bits);
  EXPECT_FALSE(policy->rules[1].choice);
  ASSERT_EQ(policy->waivers.size(), 1U);
  EXPECT_EQ(policy->waivers[0].signed_by, "ada");
  EXPECT_EQ(FormatTime(policy->waivers[0].until), "2027-01-01T00:00:00.000Z") << "the whole day";
  EXPECT_TRUE(policy->drill_required);
  EXPECT_EQ(policy->must_have, (std::vector<std::string>{"gemm_*", "math_bits"}));
}

TEST(Policy, ReadsProfilesInTheirOrder) {
  const auto policy = ParsePolicy(kWhole, "p.yaml");
  ASSERT_TRUE(policy.ok()) << policy.error().ToString();
  ASSERT_EQ(policy->profiles.size(), 2U);
  const Profile* night = FindProfile(policy->profiles, "night");
  ASSERT_NE(night, nullptr);
  ASSERT_EQ(night->options.size(), 3U);
  EXPECT_EQ(night->options[1].name, "sbatch");
  EXPECT_EQ(night->options[1].values,
            (std::vector<std::string>{"--partition=gpu", "--account=ml"}));
  EXPECT_EQ(night->options[1].where, "p.yaml:15");
  EXPECT_EQ(FindProfile(policy->profiles, "day")->options[0].values, std::vector<std::string>{"2"});
  EXPECT_EQ(FindProfile(policy->profiles, "noon"), nullptr);
  EXPECT_EQ(FindProfile(policy->profiles, "week"), nullptr) << "that is a game day's";
}

TEST(Policy, ReadsTheFaultsOfGameDays) {
  const auto policy = ParsePolicy(kWhole, "p.yaml");
  ASSERT_TRUE(policy.ok()) << policy.error().ToString();
  const Profile* week = FindProfile(policy->gamedays, "week");
  ASSERT_NE(week, nullptr);
  ASSERT_EQ(week->options.size(), 2U);
  EXPECT_EQ(week->options[0].name, "fault");
  EXPECT_EQ(week->options[0].values, (std::vector<std::string>{"seed:lost", "data:digits=row"}));
  EXPECT_EQ(week->options[0].where, "p.yaml:19");
}

TEST(Policy, ReadsSubstitutesWithPathsBesideTheFile) {
  const auto policy = ParsePolicy(kWhole, "/etc/p.yaml");
  ASSERT_TRUE(policy.ok()) << policy.error().ToString();
  ASSERT_EQ(policy->substitutes.size(), 2U);
  EXPECT_EQ(policy->substitutes[0].signed_by, "ada");
  EXPECT_FALSE(policy->substitutes[0].is_proved());
  EXPECT_EQ(policy->substitutes[1].proof,
            (std::vector<std::filesystem::path>{"/etc/a.json", "/fp/b.json"}));
}

TEST(Policy, ReadsStakesWithTheirPlaces) {
  const auto policy = ParsePolicy(
      "version: 1\nstakes:\n  - {runs: \"family ~ 'llama*'\", stake: 10}\n"
      "  - runs: declared = bitwise\n    stake: 0.5\n",
      "p.yaml");
  ASSERT_TRUE(policy.ok()) << policy.error().ToString();
  ASSERT_EQ(policy->stakes.size(), 2U);
  EXPECT_EQ(policy->stakes[0].runs, "family ~ 'llama*'");
  EXPECT_EQ(policy->stakes[0].stake, 10.0);
  EXPECT_EQ(policy->stakes[1].stake, 0.5);
  EXPECT_EQ(policy->stakes[1].where, "p.yaml:4");
}

TEST(Policy, GivesAFamilyTheFirstObjectiveThatMatchesIt) {
  const auto policy = ParsePolicy(
      "version: 1\nobjectives:\n  - {families: 'llama*', reproducible: 0.95, inconclusive: 0.1,\n"
      "     flaky: 0.02, stale_days: 30, alert: page, owner: ada}\n"
      "  - {families: '*', stale_days: 60, period_days: 7, alert: ticket}\n",
      "p.yaml");
  ASSERT_TRUE(policy.ok()) << policy.error().ToString();
  const Objective* llama = policy->FindObjective("llama-7b");
  ASSERT_NE(llama, nullptr);
  EXPECT_EQ(llama->reproducible, 0.95);
  EXPECT_EQ(llama->inconclusive, 0.1);
  EXPECT_EQ(llama->flaky, 0.02);
  EXPECT_EQ(llama->stale_days, 30.0);
  EXPECT_EQ(llama->period_days, 28.0);
  EXPECT_TRUE(llama->page);
  EXPECT_EQ(llama->owner, "ada");
  EXPECT_EQ(llama->where, "p.yaml:3");
  const Objective* rest = policy->FindObjective("mlp");
  ASSERT_NE(rest, nullptr);
  EXPECT_FALSE(rest->reproducible || rest->page);
  EXPECT_EQ(rest->period_days, 7.0);
  EXPECT_EQ(ParsePolicy("version: 1", "p.yaml")->FindObjective("mlp"), nullptr);
}

TEST(Policy, GivesAFamilyTheFirstRuleOfRetentionAndHoldsWhatBothGlobsName) {
  const auto policy = ParsePolicy(
      "version: 1\nretention:\n  - {families: 'llama*', keep_last: 5, keep_days: 0.5}\n"
      "  - {families: '*', keep_days: 90}\n"
      "holds:\n  - {families: 'credit*', runs: '*-2025', reason: case 7}\n"
      "approvals: {retirement: required}\n",
      "p.yaml");
  ASSERT_TRUE(policy.ok()) << policy.error().ToString();
  const RetentionRule* llama = policy->FindRetention("llama-7b");
  ASSERT_NE(llama, nullptr);
  EXPECT_EQ(llama->keep_last, 5.0);
  EXPECT_EQ(llama->keep_days, 0.5);
  EXPECT_EQ(llama->where, "p.yaml:3");
  EXPECT_FALSE(policy->FindRetention("mlp")->keep_last);
  EXPECT_TRUE(policy->holds[0].Names("credit-eu", "a-2025"));
  EXPECT_FALSE(policy->holds[0].Names("credit-eu", "a-2026"));
  EXPECT_FALSE(policy->holds[0].Names("debit", "a-2025"));
  EXPECT_TRUE(policy->approvals.retirement);
}

TEST(Policy, NeedsNothingButTheVersion) {
  const auto policy = ParsePolicy("version: 1", "p.yaml");
  ASSERT_TRUE(policy.ok()) << policy.error().ToString();
  EXPECT_TRUE(policy->rules.empty());
  EXPECT_FALSE(policy->drill_required);
}

struct Mistake {
  std::string yaml, where, words;
};

void ExpectNamed(const std::vector<Mistake>& cases) {
  for (const auto& one : cases) {
    const auto policy = ParsePolicy(one.yaml, "p.yaml");
    ASSERT_FALSE(policy.ok()) << one.yaml;
    EXPECT_EQ(policy.error().code, ErrorCode::kInvalidInput);
    EXPECT_TRUE(policy.error().where.starts_with(one.where))
        << one.yaml << ": " << policy.error().ToString();
    EXPECT_NE(policy.error().message.find(one.words), std::string::npos)
        << policy.error().ToString();
  }
}

TEST(Policy, NamesFileAndLineOfAMistake) {
  const std::string waiver = "version: 1\nwaivers:\n  - probes: x\n    signed_by: ada\n";
  const std::vector<Mistake> cases = {
      {"", "p.yaml", "mapping"},
      {"[1, 2]", "p.yaml", "mapping"},
      {"rules: []", "p.yaml:1", "version"},
      {"version: 2", "p.yaml:1", "version '2'"},
      {"version: 1\nrule: []", "p.yaml:2", "unknown key 'rule'"},
      {"version: 1\ndrill: required\ndrill: optional", "p.yaml:3", "twice"},
      {"version: 1\nrules:\n  - {probes: x}", "p.yaml:3", "allow"},
      {"version: 1\nrules:\n  - {probes: x, allow: [status]}", "p.yaml:3", "'status'"},
      {"version: 1\nrules: {probes: x}", "p.yaml:2", "list"},
      {"version: 1\nprofiles: [night]", "p.yaml:2", "mapping"},
      {"version: 1\nprofiles:\n  night: slurm", "p.yaml:3", "mapping"},
      {"version: 1\nprofiles:\n  night: {jobs: {a: 1}}", "p.yaml:3", "list of values"},
      {"version: 1\nprofiles:\n  a: {jobs: 1}\n  a: {jobs: 2}", "p.yaml:4", "twice"},
      {"version: 1\nsubstitutes:\n  - {recorded: a}", "p.yaml:3", "'here'"},
      {"version: 1\nsubstitutes:\n  - {recorded: a, here: b}", "p.yaml:3", "either reason"},
      {"version: 1\nsubstitutes:\n  - {recorded: a, here: b, reason: c, signed_by: d}", "p.yaml:3",
       "either reason"},
      {"version: 1\nsubstitutes:\n  - {recorded: a, here: b, proof: [c]}", "p.yaml:3",
       "two fingerprints"},
      {"version: 1\nsubstitutes:\n  - {recorded: a, here: b, reason: c, proof: [d, e]}", "p.yaml:3",
       "either reason"},
      {"version: 1\nstakes: 3", "p.yaml:2", "list"},
      {"version: 1\nstakes:\n  - {runs: family = a}", "p.yaml:3", "lacks 'stake'"},
      {"version: 1\nstakes:\n  - {runs: family = a, stake: 0}", "p.yaml:3", "'0' is no stake"},
      {"version: 1\nstakes:\n  - {runs: family = a, stake: -1}", "p.yaml:3", "above 0"},
      {"version: 1\nstakes:\n  - {runs: family = a, stake: nan}", "p.yaml:3", "above 0"},
      {"version: 1\nstakes:\n  - {runs: family = a, stake: 1e7}", "p.yaml:3", "1000000"},
      {"version: 1\nstakes:\n  - {runs: family = a, stake: 3x}", "p.yaml:3", "'3x'"},
      {"version: 1\nobjectives:\n  - {reproducible: 0.9}", "p.yaml:3", "lacks 'families'"},
      {"version: 1\nobjectives:\n  - {families: a}", "p.yaml:3", "asks for nothing"},
      {"version: 1\nobjectives:\n  - {families: a, flaky: 1}", "p.yaml:3", "'1' is no share"},
      {"version: 1\nobjectives:\n  - {families: a, stale_days: 0}", "p.yaml:3", "number of days"},
      {"version: 1\nobjectives:\n  - {families: a, flaky: 0.1, alert: call}", "p.yaml:3", "'call'"},
      {"version: 1\nrules:\n  - {probes: '', allow: []}", "p.yaml:3", "empty"},
      {waiver + "    until: 2026-12-31", "p.yaml:3", "lacks 'reason'"},
      {waiver + "    reason: x", "p.yaml:3", "lacks 'until'"},
      {waiver + "    reason: ' '\n    until: 2026-12-31", "p.yaml:5", "the reason"},
      {waiver + "    reason: x\n    until: soon", "p.yaml:6", "'soon' is no date"},
      {waiver + "    reason: x\n    until: 2026-02-30", "p.yaml:6", "no date"},
      {"version: 1\ndrill: maybe", "p.yaml:2", "'maybe'"},
      {"version: 1\nrequire: [[x]]", "p.yaml:2", "glob"},
      {"version: 1\nrules: [", "p.yaml", ""},
      {"version: 1\n\trules: x", "p.yaml", ""},
      {"version: *nowhere", "p.yaml", ""},
  };
  ExpectNamed(cases);
}

TEST(Policy, NamesFileAndLineOfAMistakeInWhatIsKeptAndApproved) {
  ExpectNamed({
      {"version: 1\nretention:\n  - {families: a}", "p.yaml:3", "keep_last, keep_days or both"},
      {"version: 1\nretention:\n  - {keep_days: 3}", "p.yaml:3", "lacks 'families'"},
      {"version: 1\nretention:\n  - {families: a, keep_last: 0}", "p.yaml:3", "number of runs"},
      {"version: 1\nretention:\n  - {families: a, keep_last: 1.5}", "p.yaml:3", "whole number"},
      {"version: 1\nretention:\n  - {families: a, keep_days: -1}", "p.yaml:3", "number of days"},
      {"version: 1\nholds:\n  - {reason: x}", "p.yaml:3", "families, runs or both"},
      {"version: 1\nholds:\n  - {runs: a}", "p.yaml:3", "lacks 'reason'"},
      {"version: 1\napprovals: {retirement: maybe}", "p.yaml:2", "'maybe'"},
      {"version: 1\napprovals: {drill: required}", "p.yaml:2", "unknown key 'drill'"},
  });
}

TEST(Policy, SurvivesHostileYaml) {
  EXPECT_FALSE(ParsePolicy(std::string(100'000, '['), "p.yaml").ok());
  EXPECT_FALSE(ParsePolicy(std::string(2 << 20, ' '), "p.yaml").ok());
  EXPECT_FALSE(ParsePolicy(std::string("version: 1\n\0x: 1", 15), "p.yaml").ok());
  const std::string bomb =
      "a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\n"
      "c: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\nversion: 1\nrequire: *c\n";
  EXPECT_FALSE(ParsePolicy(bomb, "p.yaml").ok());
}

TEST(Policy, IsOneDocument) {
  EXPECT_TRUE(ParsePolicy("%YAML 1.2\n---\nversion: 1\n...\n", "p.yaml").ok());
  // After a comma outside of any list the parser would find documents without end.
  for (const char* two : {"version: 1\n---\nversion: 1\n", "[],", "{version: 1},"}) {
    const auto policy = ParsePolicy(two, "p.yaml");
    ASSERT_FALSE(policy.ok()) << two;
    EXPECT_NE(policy.error().message.find("second YAML document"), std::string::npos)
        << policy.error().message;
  }
}

std::string Repeated(const std::string& text, int times) {
  std::string out;
  for (int i = 0; i < times; ++i) out += text;
  return out;
}

TEST(Policy, CountsEveryAliasAsWhatItStandsFor) {
  const std::string layers = "&l [bits" + Repeated(",bits", 9999) + "]";
  const auto policy = ParsePolicy("version: 1\nrules:\n- {probes: x, allow: " + layers + "}\n" +
                                      Repeated("- {probes: x, allow: *l}\n", 9999),
                                  "p.yaml");
  ASSERT_FALSE(policy.ok());
  EXPECT_EQ(policy.error().code, ErrorCode::kInvalidInput);
  EXPECT_EQ(policy.error().where, "p.yaml:3");
  EXPECT_NE(policy.error().message.find("more than 250000 values"), std::string::npos)
      << policy.error().message;
}

TEST(Policy, MayBeAsLongAsItsFileMay) {
  const auto policy = ParsePolicy(
      "version: 1\nrules:\n" + Repeated("- {probes: x, allow: [choice, tree, bits]}\n", 10'000) +
          "waivers:\n" +
          Repeated("- {probes: x, reason: y, signed_by: z, until: 2026-12-31}\n", 10'000),
      "p.yaml");
  ASSERT_TRUE(policy.ok()) << policy.error().ToString();
  EXPECT_EQ(policy->waivers.size(), 10'000U);
}

}  // namespace
}  // namespace rharness
