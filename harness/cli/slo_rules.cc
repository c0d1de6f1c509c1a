// Alert rules, routes and dashboards: who gets which alert.
#include "harness/cli/slo_rules.h"

#include <filesystem>
#include <memory>

#include "harness/cli/outputs.h"
#include "harness/cli/verb.h"
#include "harness/insight/objectives/alert_rules.h"
#include "harness/insight/objectives/dashboards.h"

namespace rharness {
namespace {

struct RulesArguments {
  std::string policy;
  std::string rules;
  std::string routes;
  std::string dashboards;
  AlertOptions options;
};

// A URL of a web page or a server; it goes into files that others read.
Status CheckUrl(const std::string& url, std::string_view option) {
  if (url.empty()) return {};
  const bool web = url.starts_with("https://") || url.starts_with("http://");
  if (web && url.find_first_of(" \t\r\n\"") == std::string::npos) return {};
  return InvalidInput("expected a URL that begins with https:// or http://", std::string(option));
}

// In this folder, which its provider names.
std::vector<Output> DashboardOutputs(const std::string& folder) {
  std::vector<Output> outputs;
  if (folder.empty()) return outputs;
  const std::filesystem::path path = FromAnywhere(folder);
  for (DashboardFile& file : Dashboards(path.string())) {
    outputs.push_back(
        {(path / file.name).string(), [text = std::move(file.text)] { return text; }});
  }
  return outputs;
}

Result<int> WriteRules(const RulesArguments& arguments) {
  if (arguments.rules.empty() && arguments.routes.empty() && arguments.dashboards.empty()) {
    return InvalidInput("name what to write: --rules, --routes or --dashboards",
                        "rharness slo rules");
  }
  RETURN_IF_ERROR(CheckUrl(arguments.options.runbooks, "--runbooks"));
  RETURN_IF_ERROR(CheckUrl(arguments.options.webhook, "--webhook"));
  const auto dashboards = DashboardOutputs(arguments.dashboards);
  std::vector<std::string> paths = PathsOf(dashboards);
  paths.insert(paths.end(), {arguments.rules, arguments.routes});
  RETURN_IF_ERROR(CheckOutputs(paths, {arguments.policy}, false));
  Policy policy;
  if (!arguments.policy.empty()) {
    ASSIGN_OR_RETURN(policy, LoadPolicy(arguments.policy));
  }
  const std::vector<Output> outputs = {
      {arguments.rules, [&] { return AlertRules(arguments.options); }},
      {arguments.routes, [&] { return AlertRoutes(policy, arguments.options); }}};
  RETURN_IF_ERROR(WriteFiles(outputs));
  RETURN_IF_ERROR(WriteFiles(dashboards));
  const Output* output = OnStdout(outputs);
  return output == nullptr ? kExitOk : Print(output->make());
}

}  // namespace

void AddSloRules(Command* slo) {
  auto arguments = std::make_shared<RulesArguments>();
  Command& verb =
      slo->AddVerb("rules", "Write alert rules for Prometheus and routes for Alertmanager");
  verb.Describe(
      "Writes rules for Prometheus over the series of `rharness slo --metrics` and of drills "
      "(metrics.prom), a configuration for Alertmanager that takes each alert to the owner whom "
      "the "
      "policy names, and dashboards for Grafana.");
  verb.Add("--policy", &arguments->policy, "YAML file with the objectives and their owners")
      .File()
      .Env("RHARNESS_POLICY");
  verb.Add("--rules", &arguments->rules, "Write rules for Prometheus to this file; - is stdout")
      .File();
  verb.Add("--routes", &arguments->routes,
           "Write a configuration for Alertmanager to this file; - is stdout")
      .File();
  verb.Add("--dashboards", &arguments->dashboards,
           "Write dashboards for Grafana into this folder, with their provider (rharness.yaml)")
      .Folder();
  verb.Add("--runbooks", &arguments->options.runbooks,
           "Where the pages for alerts are, each below it by the alert's name")
      .Value("URL");
  verb.Add("--webhook", &arguments->options.webhook, "Where all receivers post their alerts")
      .Value("URL");
  verb.Note(
      "Alerts: RharnessBudgetBurning (a page or a ticket, as the objective says), "
      "RharnessObjectiveMissed, RharnessDeterminismViolation (more than a day ago, as far as "
      "a week of samples shows), RharnessRunBroken (one for each run that stopped "
      "reproducing), RharnessObjectiveUnknown (for 7 days), RharnessObjectivesNotMeasured "
      "(for 2 days), RharnessNoDrillSucceeded (for 7 days), and RharnessObjectivesAbsent and "
      "RharnessDrillsAbsent where no such series came in 30 days. Series that disappeared "
      "with their host raise alerts for 30 days, or as long as Prometheus keeps samples. "
      "`rharness slo`, which reads the verdicts, decides whether a budget burns. Labels are "
      "history, family, owner and severity, and the run where an alert is about one run.");
  verb.Note(
      "Routes: by owner and severity, to the receivers OWNER-page and OWNER-ticket. They "
      "notify nobody until they are filled in or --webhook is given. Each family gets one "
      "notification, repeated after 12 hours (a ticket: after 3 days). While a page is open "
      "for a burning budget, tickets of that family are held back, except those for broken "
      "runs.");
  verb.Note(
      "Dashboards: executive, on call and debug, for Grafana 12 and later. Put rharness.yaml into "
      "its provisioning/dashboards, or import the others.");
  verb.ExitCode(kExitOk, "written");
  verb.ExitCode(kExitUsage, "usage or invalid input");
  verb.ExitCode(kExitInfrastructure, "a file could not be written");
  verb.Example("rharness slo rules --rules rharness_rules.yaml --runbooks https://wiki/rharness");
  verb.Example("rharness slo rules --dashboards /var/lib/grafana/dashboards/rharness");
  verb.Example("rharness slo rules --policy policy.yaml --routes alertmanager.yaml");
  verb.Do([arguments] {
    const auto code = WriteRules(*arguments);
    return code.ok() ? *code : FailWith(code.error());
  });
}

}  // namespace rharness
