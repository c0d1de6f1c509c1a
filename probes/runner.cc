// Children, what became of them, and the fingerprint that their results add up to.
#include "probes/runner.h"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <future>
#include <set>
#include <thread>

#include "harness/base/files.h"
#include "harness/base/subprocess.h"
#include "probes/library/loader.h"
#include "probes/stack.h"

namespace rharness {
namespace {

constexpr std::uint64_t kMostResultBytes = std::uint64_t{256} << 20;
constexpr std::size_t kLongestLineBytes = 500;

using Instant = std::chrono::steady_clock::time_point;
Instant Now() { return std::chrono::steady_clock::now(); }
// To a hundredth.
double SecondsSince(Instant begin) {
  return static_cast<double>((Now() - begin) / std::chrono::milliseconds(10)) / 100.0;
}

std::string_view DeviceName(ProbeDevice device) {
  return device == ProbeDevice::kCpu ? "cpu" : "gpu";
}

// "cpu" or "cuda:N".
Result<ProbeDevice> ParseDevice(const std::string& device) {
  if (device == "cpu") return ProbeDevice::kCpu;
  const std::string number = device.starts_with("cuda:") ? device.substr(5) : "";
  const bool digits = !number.empty() && number.size() <= 3 &&
                      number.find_first_not_of("0123456789") == std::string::npos;
  if (digits) return ProbeDevice::kGpu;
  return InvalidInput(fmt::format("device '{}': expected cpu or cuda:N", device));
}

Result<std::vector<Probe>> SelectProbes(const RunOptions& options) {
  ASSIGN_OR_RETURN(const ProbeDevice device, ParseDevice(options.context.device));
  std::vector<Probe> selected;
  std::set<std::string> unmatched(options.globs.begin(), options.globs.end());
  for (const Probe& probe : Probes()) {
    if (probe.device != device) continue;
    bool matches = options.globs.empty() && !probe.by_name;
    for (const std::string& glob : options.globs) {
      if (::fnmatch(glob.c_str(), std::string(probe.name).c_str(), 0) != 0) continue;
      matches = true;
      unmatched.erase(glob);
    }
    if (matches) selected.push_back(probe);
  }
  if (!unmatched.empty()) {
    return InvalidInput(fmt::format("no probe of {} matches '{}'; `rharness-probe list` names them",
                                    options.context.device, *unmatched.begin()));
  }
  if (selected.empty()) {
    return InvalidInput(fmt::format("this program has no probe of {}", options.context.device));
  }
  return selected;
}

ProcessSpec ChildOf(const std::string& program, const Probe& probe, const ProbeContext& context) {
  ProcessSpec spec;
  spec.argv = {program,
               "--one",
               std::string(probe.name),
               "--device",
               context.device,
               "--repeat",
               std::to_string(context.repeats),
               "--seed",
               std::to_string(context.seed)};
  if (!context.python.empty()) spec.argv.insert(spec.argv.end(), {"--python", context.python});
  for (const auto& path : context.library_paths) {
    spec.argv.insert(spec.argv.end(), {"--library-path", path.string()});
  }
  spec.environment = ProcessEnvironment();
  return spec;
}

std::string LastLine(std::string_view text) {
  while (text.ends_with('\n')) text.remove_suffix(1);
  const std::size_t start = text.rfind('\n');
  if (start != std::string_view::npos) text.remove_prefix(start + 1);
  return std::string(text.substr(0, kLongestLineBytes));
}

ProbeResult Broken(ProbeStatus status, const std::string& what, const ProcessResult& process) {
  ProbeResult result;
  result.status = status;
  const std::string last = LastLine(process.stderr_text);
  result.message = last.empty() ? what : fmt::format("{}: {}", what, last);
  return result;
}

Result<ProbeResult> ResultOf(const ProcessResult& process) {
  const Outcome& outcome = process.outcome;
  switch (outcome.kind) {
    case OutcomeKind::kSignalled:
      return Broken(ProbeStatus::kCrashed, outcome.ToString(), process);
    case OutcomeKind::kTimedOut:
      return Broken(ProbeStatus::kTimedOut, outcome.ToString(), process);
    case OutcomeKind::kExited:
      break;
    default:
      return ProcessError("a probe's child was " + outcome.ToString());
  }
  if (outcome.exit_code != 0) return Broken(ProbeStatus::kFailed, outcome.ToString(), process);
  if (process.stdout_bytes > kMostResultBytes) {
    return FailedProbe(fmt::format("wrote a result of {} bytes; at most {} are read",
                                   process.stdout_bytes, kMostResultBytes));
  }
  const Result<Json> json = ParseJson(process.stdout_text, "result");
  if (!json.ok()) return FailedProbe("wrote no result: " + json.error().ToString());
  Result<ProbeResult> result = ParseProbeResult(*json);
  if (!result.ok()) return FailedProbe("wrote no result: " + result.error().ToString());
  return result;
}

// When a budget ends.
using Deadline = std::optional<Instant>;

Result<ProbeResult> RunChild(const std::string& program, const Probe& probe,
                             const RunOptions& options, const Deadline& deadline) {
  ProcessLimits limits;
  limits.timeout = probe.limit;
  if (deadline) {
    limits.timeout = std::min<std::chrono::nanoseconds>(limits.timeout, *deadline - Now());
    if (limits.timeout <= std::chrono::nanoseconds(0)) {
      ProbeResult late;
      late.status = ProbeStatus::kTimedOut;
      late.message = "not run to its end: the time for all probes was up";
      return late;
    }
  }
  limits.output_bytes = kMostResultBytes;
  return ResultOf(
      RunProcess(ChildOf(program, probe, options.context), limits, {}, options.should_cancel));
}

// Adds the cases that are missing on one side or differ.
template <class T, class Equal>
void AddChanged(const std::map<std::string, T>& a, const std::map<std::string, T>& b, Equal equal,
                std::set<std::string>* changed) {
  for (const auto& [name, value] : a) {
    const auto other = b.find(name);
    if (other == b.end() || !equal(value, other->second)) changed->insert(name);
  }
  for (const auto& [name, value] : b) {
    if (!a.contains(name)) changed->insert(name);
  }
}

void AddChangedCases(const ProbeResult& a, const ProbeResult& b, std::set<std::string>* changed) {
  const auto same_text = [](const Json& x, const Json& y) { return x.Dump() == y.Dump(); };
  AddChanged(a.choices, b.choices, same_text, changed);
  AddChanged(a.trees, b.trees, std::equal_to<>(), changed);
  AddChanged(a.tree_details, b.tree_details, same_text, changed);
  AddChanged(a.bits, b.bits, std::equal_to<>(), changed);
  changed->insert(b.unstable.begin(), b.unstable.end());
}

// What each process answered, in their order. Those of a CPU probe run side by side, which halves
// the time of a fingerprint and changes no answer that is one; a GPU's would share its memory.
std::vector<Result<ProbeResult>> RunChildren(const std::string& program, const Probe& probe,
                                             const RunOptions& options, const Deadline& deadline) {
  const bool side_by_side =
      probe.device == ProbeDevice::kCpu && std::thread::hardware_concurrency() > 1;
  const auto policy = side_by_side ? std::launch::async : std::launch::deferred;
  std::vector<std::future<Result<ProbeResult>>> children;
  for (int i = 0; i < options.processes; ++i) {
    children.push_back(
        std::async(policy, [&] { return RunChild(program, probe, options, deadline); }));
  }
  std::vector<Result<ProbeResult>> results;
  for (auto& child : children) {
    results.push_back(child.get());
    const bool fine = results.back().ok() && results.back()->status == ProbeStatus::kOk;
    if (!fine && !side_by_side) break;  // what is deferred need not run
  }
  return results;
}

// The first process's result, with the cases marked that other processes answered differently. The
// first process that is not ok ends it: its result is the probe's.
Result<ProbeResult> RunFresh(const std::string& program, const Probe& probe,
                             const RunOptions& options, const Deadline& deadline) {
  std::vector<Result<ProbeResult>> results = RunChildren(program, probe, options, deadline);
  ASSIGN_OR_RETURN(ProbeResult first, std::move(results.front()));
  std::set<std::string> unstable(first.unstable.begin(), first.unstable.end());
  for (std::size_t i = 2; i <= results.size() && first.status == ProbeStatus::kOk; ++i) {
    ASSIGN_OR_RETURN(ProbeResult next, std::move(results[i - 1]));
    if (next.status != ProbeStatus::kOk) {
      next.message = fmt::format("in process {} of {}: {}", i, options.processes, next.message);
      return next;
    }
    if (next.parameters.Dump() != first.parameters.Dump()) {
      return FailedProbe(
          fmt::format("asked another question in process {}: its parameters differ", i));
    }
    AddChangedCases(first, next, &unstable);
  }
  first.unstable.assign(unstable.begin(), unstable.end());
  return first;
}

Json FingerprintTree(const ProbeResult& result, const std::string& name) {
  Json json = DescribeTree(result.trees.at(name));
  const auto details = result.tree_details.find(name);
  if (details == result.tree_details.end()) return json;
  for (const auto& [key, value] : details->second.AsObject()) json.Set(key, value);
  return json;
}

Json FingerprintProbe(const Probe& probe, const ProbeResult& result) {
  // What did not work shows nothing, whatever it had noted before.
  const bool ok = result.status == ProbeStatus::kOk;
  Json json = ToJson(result);
  Json trees = Json::MakeObject();
  for (const auto& [name, tree] : result.trees) {
    if (ok) trees.AppendMember(name, FingerprintTree(result, name));
  }
  const auto member = [&](std::string_view key) {
    return ok ? *json.Find(key) : Json::MakeObject();
  };
  return Json()
      .Set("name", probe.name)
      .Set("family", probe.family)
      .Set("device", DeviceName(probe.device))
      .Set("status", ProbeStatusName(result.status))
      .Set("message", result.message)
      .Set("parameters", *json.Find("parameters"))
      .Set("choice", member("choices"))
      .Set("tree", std::move(trees))
      .Set("bits", member("bits"))
      .Set("deterministic", result.unstable.empty())
      .Set("unstable", *json.Find("unstable"))
      .Set("counts", *json.Find("counts"))
      .Set("notes", *json.Find("notes"));
}

// Else the system's own libraries have answered in the place of those that were asked for.
Status CheckUsed(const RunOptions& options, const std::set<std::string>& used) {
  const auto& paths = options.context.library_paths;
  for (std::size_t i = 0; i < std::min(options.asked_paths, paths.size()); ++i) {
    if (used.contains(paths[i].string())) continue;
    return InvalidInput("has no library that these probes ask for; expected one of theirs, by name",
                        fmt::format("--library-path '{}'", TerminalSafe(paths[i].string())));
  }
  return {};
}

Json ByName(const RunOptions& options) {
  Json names = Json::MakeArray();
  const bool gpu = options.context.device != "cpu";
  for (const Probe& probe : Probes()) {
    const bool of_device = (probe.device == ProbeDevice::kGpu) == gpu;
    if (of_device && probe.by_name && options.globs.empty()) names.Append(probe.name);
  }
  return names;
}

bool IsBrokenControl(const Probe& probe, const ProbeResult& result) {
  return probe.must_be_unstable && result.status == ProbeStatus::kOk && result.unstable.empty();
}

}  // namespace

Result<Json> RunProbes(const std::string& program, const RunOptions& options) {
  ASSIGN_OR_RETURN(const std::vector<Probe> selected, SelectProbes(options));
  std::string suite = "ok";
  Json probes = Json::MakeArray();
  std::map<std::string, Json> libraries;
  std::set<std::string> used;
  Json seconds = Json::MakeObject();
  const Deadline deadline =
      options.budget.count() > 0 ? std::optional(Now() + options.budget) : std::nullopt;
  for (std::size_t i = 0; i < selected.size(); ++i) {
    const Probe& probe = selected[i];
    if (options.progress) options.progress(probe, i, selected.size());
    const Instant began = Now();
    ASSIGN_OR_RETURN(const ProbeResult result, RunFresh(program, probe, options, deadline));
    seconds.Set(probe.name, SecondsSince(began));
    if (IsBrokenControl(probe, result) && suite == "ok") {
      suite = fmt::format(
          "{} must come out different from time to time and came out the same {} times in each of "
          "{} processes: this suite cannot see non-determinism",
          probe.name, options.context.repeats, options.processes);
    }
    for (const auto& [name, described] : result.libraries) {
      libraries.emplace(name, WithDigest(described));
    }
    used.insert(result.folders.begin(), result.folders.end());
    probes.Append(FingerprintProbe(probe, result));
  }
  RETURN_IF_ERROR(CheckUsed(options, used));
  const Environment environment = CaptureEnvironment();
  return Json()
      .Set("schema", "rharness.fingerprint/v1")
      .Set("stack", DescribeStack(environment, options.context.device, libraries))
      .Set("suite", suite)
      .Set("repeats",
           Json().Set("in_process", options.context.repeats).Set("processes", options.processes))
      .Set("context", CaptureContext(environment)
                          .Set("probe_seconds", std::move(seconds))
                          .Set("by_name", ByName(options)))
      .Set("probes", std::move(probes));
}

}  // namespace rharness
