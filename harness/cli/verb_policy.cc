// rharness policy check: is this file what a site means, before a night depends on it?
#include <fmt/format.h>

#include <memory>
#include <utility>

#include "harness/base/files.h"
#include "harness/base/log.h"
#include "harness/cli/drill_options.h"
#include "harness/cli/gameday_options.h"
#include "harness/cli/policy_check.h"
#include "harness/cli/trusted_policy.h"
#include "harness/cli/verb.h"
#include "harness/drill/risk.h"
#include "harness/drill/substitutes.h"
#include "harness/insight/objectives/family_checks.h"
#include "harness/records/policy/policy.h"
#include "reports/text.h"

namespace rharness {
namespace {

constexpr char kFile[] =
    R"text(A policy is a YAML file in which a site writes down what it has decided: `drill`, `gate` and `gameday` read it where --policy names it, and so does `policy check`. Only the version must be there.

  version: 1

  # Options of `rharness drill` by their names, for --profile NAME. What the command line says goes
  # first, and the environment, too. One that may be repeated takes a list, a flag true or false.
  profiles:
    night:
      dispatch: slurm
      sbatch: ["--partition=gpu", "--account=ml"]
      gpu-budget: 40h
      quiet-hours: ["07:00-19:00"]
      storm-stop: 30

  # Options of `rharness gameday` likewise: which faults are planted, in which runs.
  gamedays:
    week:
      select: "family ~ 'llama*'"
      fault: ["hyperparameter:learning_rate*0.95,0.9@--lr", "seed:lost", "data:corpus=row"]
      trials: 60

  # GPUs that may stand in for the recorded ones: patterns of their models. Either somebody answers
  # for it until a day, or two fingerprints (paths beside this file) prove it: for each run whose
  # probe families both of them show and which do not differ.
  substitutes:
    - recorded: "NVIDIA A100*40GB"
      here: "NVIDIA A100*80GB"
      reason: the same chip with more memory
      signed_by: ada
      until: 2027-06-30
    - recorded: "NVIDIA H100*"
      here: "NVIDIA H200"
      proof: [h100.json, h200.json]

  # How much hangs on runs, for `drill --order risk`: expressions as of --select, and a number that
  # multiplies the risk. The first that holds counts; without any it is 1.
  stakes:
    - {runs: "family ~ 'llama*' and declared = bitwise", stake: 10}
    - {runs: "run_id ~ 'release-*'", stake: 5}

  # What rharness slo holds families to: the first that matches a family is its own.
  objectives:
    - {families: "llama*", reproducible: 0.95, inconclusive: 0.1, stale_days: 30, alert: page,
       owner: ml-platform}
    - {families: "*", reproducible: 0.9, period_days: 56}

  # For the gate: what may change, who answers for what else, which probes must be there.
  rules:
    - {probes: "gemm_*", allow: [choice, bits]}
    - {probes: "family:reduction", allow: [bits]}
  waivers:
    - {probes: "jit_*", reason: reviewed, signed_by: ada, until: 2026-12-31}
  drill: required
  require: ["gemm_*"]

  # Whether a retirement takes two people's signatures (rharness history retire):
  # required or optional.
  approvals: {retirement: required}

  # How long what runs made is kept (rharness history prune), by the first rule
  # for the family: here that of the last 5 runs, and of the last 365 days.
  # Families without a rule keep everything, and so does what is held.
  retention:
    - {families: "llama*", keep_last: 5, keep_days: 365}
  holds:
    - {families: "credit*", runs: "*-2025", reason: "case 2026-14"}

A waiver, and a substitute without proof, is somebody's word: signed_by is plain text, unless the file is signed (rharness sign) and --trust is given; then it must be an owner of a key that signed it.

A rerun that needs GPUs is carried out on the recorded class alone: the same model, memory, number of cores and MIG mode, and for several GPUs the same interconnect. On another one it is not comparable, and the reason names both, unless a substitute holds; then it is judged as if the class were the recorded one, and says what stood in. Runs without GPUs are rerun on any CPU, and bits decide.)text";

struct Arguments {
  std::string file;
  std::string trust;
  bool json = false;
};

// What holds no longer, what proves nothing, and what can never call anybody.
std::vector<std::string> WarningsOf(const Policy& policy, const Substitutes& substitutes,
                                    WallTime now) {
  std::vector<std::string> warnings = substitutes.Notes();
  for (const Waiver& waiver : policy.waivers) {
    if (now < waiver.until) continue;
    warnings.push_back(fmt::format("waiver of {}: its day has ended", waiver.probes));
  }
  for (std::string& page : FindIdlePages(policy)) warnings.push_back(std::move(page));
  return warnings;
}

std::string OptionText(const ProfileOption& option) {
  return fmt::format("{}: {}", option.name, fmt::join(option.values, ", "));
}

std::string ProfilesText(std::string_view what, const std::vector<Profile>& profiles) {
  std::string text;
  for (const Profile& profile : profiles) {
    text += fmt::format("{} {}\n", what, profile.name);
    for (const ProfileOption& option : profile.options) text += "  " + OptionText(option) + "\n";
  }
  return text;
}

std::string LastText(double count) {
  return count == 1.0 ? " the last run" : fmt::format(" the last {:.0f} runs", count);
}

std::string RetentionText(const Policy& policy) {
  std::string text;
  for (const RetentionRule& one : policy.retention) {
    text += fmt::format(
        "retention of {}:{}{}\n", one.families, one.keep_last ? LastText(*one.keep_last) : "",
        one.keep_days ? fmt::format("{} {:.6g} day{}", one.keep_last ? " and" : "", *one.keep_days,
                                    *one.keep_days == 1.0 ? "" : "s")
                      : "");
  }
  for (const Hold& one : policy.holds) {
    text += fmt::format("hold of {}{}{}: {}\n", one.families,
                        one.families.empty() || one.runs.empty() ? "" : ", ", one.runs, one.reason);
  }
  return text;
}

std::string TextOf(const Policy& policy, const std::vector<std::string>& warnings) {
  std::string text = ProfilesText("profile", policy.profiles);
  text += ProfilesText("game day", policy.gamedays);
  for (const Substitute& one : policy.substitutes) {
    text += fmt::format("substitute {} for {}\n  {}\n", one.here, one.recorded, StandsText(one));
  }
  for (const Stake& one : policy.stakes) {
    text += fmt::format("stake {:.6g} of runs with {}\n", one.stake, one.runs);
  }
  for (const Objective& one : policy.objectives) {
    text +=
        fmt::format("objective of families {}{}{}\n", one.families,
                    one.reproducible ? fmt::format(": {:.6g} reproducible", *one.reproducible) : "",
                    one.owner.empty() ? "" : ", owned by " + one.owner);
  }
  for (const Waiver& one : policy.waivers) {
    text += fmt::format("waiver of {}\n  {}, signed by {}, {}\n", one.probes, one.reason,
                        SignerInWords(one.signed_by, one.verified), FormatUntil(one.until));
  }
  text += fmt::format("gate: {}, {}, {}, a drill is {}\n", Counted(policy.rules.size(), "rule"),
                      Counted(policy.waivers.size(), "waiver"),
                      Counted(policy.must_have.size(), "required probe"),
                      policy.drill_required ? "required" : "optional");
  if (policy.approvals.retirement) text += "retirements take two people\n";
  text += RetentionText(policy);
  for (const std::string& warning : warnings) text += "warning: " + warning + "\n";
  return TerminalSafe(text);
}

Result<int> Check(const Arguments& arguments) {
  const WallTime now = SystemClock().Now();
  ASSIGN_OR_RETURN(const Policy policy, LoadTrustedPolicy(arguments.file, arguments.trust, now));
  for (const Profile& profile : policy.profiles) RETURN_IF_ERROR(CheckDrillProfile(profile));
  for (const Profile& day : policy.gamedays) RETURN_IF_ERROR(CheckGamedayProfile(day));
  ASSIGN_OR_RETURN(const Stakes stakes, Stakes::Parse(policy.stakes));
  ASSIGN_OR_RETURN(const Substitutes substitutes, Substitutes::Load(policy.substitutes, now));
  const std::vector<std::string> warnings = WarningsOf(policy, substitutes, now);
  if (arguments.json) return PrintJson(PolicyCheckJson(policy, warnings));
  if (!Globals().quiet) return Print(TextOf(policy, warnings));
  for (const std::string& warning : warnings) LogWarning(TerminalSafe(warning));
  return kExitOk;
}

}  // namespace

void AddPolicy(Command& root) {
  auto arguments = std::make_shared<Arguments>();
  Command& verb = root.AddVerb("policy", "Check a site's policy file");
  verb.Note(kFile);
  Command& check =
      verb.AddVerb("check", "Read a policy file as drill and gate would, and print what it means");
  check.Add("policy", &arguments->file, "The YAML file").File().Required();
  check
      .Add("--trust", &arguments->trust,
           "Trust policy: the file must be signed by everybody whom its waivers and substitutes "
           "name")
      .File();
  check.Add("--json", &arguments->json, "Print one JSON document (rharness.policy_check/v1)");
  check.Note(
      "Every profile is checked against the options of `rharness drill`, every game day against "
      "those of `rharness gameday` with its faults, every stake against the language of --select; "
      "every proof is read. Entries that are no longer valid, because their day has ended or "
      "their fingerprints differ, are warnings.");
  check.ExitCode(kExitOk, "it can be used");
  check.ExitCode(kExitUsage, "it cannot; the error names file, line and what was expected");
  check.ExitCode(
      kExitIntegrity,
      "with --trust: it is not signed by a trusted key, or not by everybody whom it names");
  check.Example("rharness policy check policy.yaml");
  check.Do([arguments] {
    const auto code = Check(*arguments);
    return code.ok() ? *code : FailWith(code.error());
  });
}

}  // namespace rharness
