// A Kubernetes as far as kubectl shows one, for tests without one.
#ifndef RHARNESS_TESTS_EXECUTION_DISPATCH_SCRIPTED_CLUSTER_H_
#define RHARNESS_TESTS_EXECUTION_DISPATCH_SCRIPTED_CLUSTER_H_

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "harness/base/files.h"
#include "harness/base/subprocess.h"
#include "harness/execution/dispatch/kubernetes_objects.h"
#include "tests/execution/dispatch/kubernetes_answers.h"

namespace rharness {

// A server as far as kubectl shows one: what it is told to create is there, in what state a test
// says.
class ScriptedCluster {
 public:
  ProcessResult operator()(const ProcessSpec& spec) {
    std::size_t at = 1;
    while (at < spec.argv.size() && spec.argv[at].starts_with("--")) ++at;
    const std::vector<std::string> rest(spec.argv.begin() + static_cast<std::ptrdiff_t>(at),
                                        spec.argv.end());
    const std::string verb = rest.at(0);
    ++calls[verb + (verb == "get" ? " " + rest.at(1) : "")];
    if (verb == "config")
      return Say(R"({"current-context": "here",
        "clusters": [{"cluster": {"server": "https://10.0.0.1"}}]})");
    if (silent > 0) {
      --silent;
      return Fail(
          "The connection to the server 10.0.0.1 was refused - did you specify the right "
          "host or port?\n");
    }
    if (verb == "version") {
      return Say(R"({"serverVersion": {"major": "1", "minor": ")" + minor + "\"}}");
    }
    if (verb == "get") return Get(rest.at(1));
    if (verb == "create") return Create(rest);
    if (verb == "logs") return log.empty() ? Fail("Error from server: no log\n") : Say(log);
    if (verb == "delete") {
      deleted.push_back(fmt::format("{}", fmt::join(rest, " ")));
      return Say("");
    }
    return Fail("error: unknown command\n");
  }

  std::map<std::string, int> calls;
  int silent = 0;  // so many calls are not answered
  std::string uid = "u-1";
  std::string minor = "20";        // of its version
  std::string refusal;             // of what is created
  std::string part_refusal;        // of a part of it
  bool forgets_to_answer = false;  // creates, and dies before it says so
  std::set<std::string> jobs;      // that are there
  std::set<std::string> services;  // as they were made
  std::string pods;                // items
  std::string events;
  std::string log;      // of every pod
  std::string secrets;  // that were made, as JSON
  std::vector<std::string> deleted;

 private:
  static ProcessResult Say(const std::string& text) {
    ProcessResult result;
    result.outcome.kind = OutcomeKind::kExited;
    result.stdout_text = text;
    return result;
  }
  static ProcessResult Fail(const std::string& text) {
    ProcessResult result = Say("");
    result.outcome.exit_code = 1;
    result.stderr_text = text;
    return result;
  }
  ProcessResult Get(const std::string& kinds) {
    if (kinds == "namespace") {
      return Say(R"({"kind": "Namespace", "metadata": {"name": "kube-system", "uid": ")" + uid +
                 "\"}}");
    }
    if (kinds == "events") return Say(answers::List(events));
    if (kinds == "nodes") return Say(answers::List(answers::Node("n1", "4", "8Gi")));
    std::string items;
    for (const std::string& job : jobs) items += (items.empty() ? "" : ",") + answers::Job(job);
    if (!pods.empty()) items += (items.empty() ? "" : ",") + pods;
    return Say(answers::List(items));
  }
  ProcessResult Create(const std::vector<std::string>& rest) {
    const auto given = std::ranges::find_if(
        rest, [](const std::string& one) { return one.starts_with("--filename="); });
    const std::string file = given->substr(given->find('=') + 1);
    if (rest.back() == "json") return Say(*ReadFile(file));  // --dry-run=client
    if (std::ranges::find(rest, "--dry-run=server") != rest.end()) {
      return refusal.empty() ? Say("") : Fail(refusal);
    }
    if (!refusal.empty()) return Fail(refusal);
    std::string there;
    const auto json = ReadJsonFile(file);
    for (const Json& job : json->Find("items")->AsArray()) {
      const std::string name = TextAt(job, {"metadata", "name"});
      if (TextAt(job, {"kind"}) == "Secret") {
        secrets += job.Dump();
        continue;
      }
      if (TextAt(job, {"kind"}) == "Service") {
        services.insert(name);
        continue;
      }
      if (!jobs.insert(name).second) {
        there += "Error from server (AlreadyExists): jobs.batch \"" + name + "\" already exists\n";
      }
    }
    if (std::exchange(forgets_to_answer, false))
      return Fail("Unable to connect to the server: EOF\n");
    there += part_refusal;
    return there.empty() ? Say("") : Fail(there);
  }
};

}  // namespace rharness

#endif  // RHARNESS_TESTS_EXECUTION_DISPATCH_SCRIPTED_CLUSTER_H_
