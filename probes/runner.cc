// Children, their ends, and the fingerprint from their results.
#include "probes/runner.h"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <atomic>
#include <future>
#include <set>
#include <thread>

#include "harness/base/files.h"
#include "harness/base/subprocess.h"
#include "probes/failed_cases.h"
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

// This process's own. By default idle threads sleep: else those of OpenBLAS and OpenMP spin between
// the many small questions, which takes more time than the answers and changes no answer. Sources:
// OpenBLAS, README, "Environment variables"; OpenMP 5.2, section 21.7.
std::map<std::string, std::string> ChildEnvironment() {
  std::map<std::string, std::string> environment = ProcessEnvironment();
  environment.try_emplace("OPENBLAS_THREAD_TIMEOUT", "4");
  environment.try_emplace("OMP_WAIT_POLICY", "PASSIVE");
  return environment;
}

// `limit`: of the child, which begins no case in the last tenth of it.
ProcessSpec ChildOf(const std::string& program, const Probe& probe, const ProbeContext& context,
                    std::chrono::nanoseconds limit) {
  using Milliseconds = std::chrono::milliseconds;
  ProcessSpec spec;
  spec.argv = {program,
               "--one",
               std::string(probe.name),
               "--device",
               context.device,
               "--repeat",
               std::to_string(context.repeats),
               "--seed",
               std::to_string(context.seed),
               "--milliseconds",
               std::to_string(std::chrono::duration_cast<Milliseconds>(limit * 9 / 10).count())};
  if (!context.python.empty()) spec.argv.insert(spec.argv.end(), {"--python", context.python});
  for (const auto& path : context.library_paths) {
    spec.argv.insert(spec.argv.end(), {"--library-path", path.string()});
  }
  spec.environment = ChildEnvironment();
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
                             const RunOptions& options, const Deadline& deadline,
                             const std::atomic<bool>& ended) {
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
  const auto should_cancel = [&] {
    return ended || (options.should_cancel && options.should_cancel());
  };
  return ResultOf(RunProcess(ChildOf(program, probe, options.context, limits.timeout), limits, {},
                             should_cancel));
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

// What one process of a probe answered, and the seconds that it took.
struct Answer {
  Result<ProbeResult> result;
  double seconds = 0.0;
};

// All processes of all probes. Those of CPU probes run concurrently, in as many lanes as there are
// processors: a lane runs its share of each probe's processes in turn and waits for no other lane.
// That more than halves the time of a fingerprint and changes no valid answer. A GPU's would share
// its memory: they run one after another, on request.
class Children {
 public:
  Children(const std::string& program, const std::vector<Probe>& probes, const RunOptions& options)
      : program_(program), probes_(probes), options_(options) {
    if (options.budget.count() > 0) deadline_ = Now() + options.budget;
    const auto lanes =
        std::min(static_cast<unsigned>(options.processes), std::thread::hardware_concurrency());
    if (probes.front().device == ProbeDevice::kGpu || lanes < 2) return;
    promised_.resize(static_cast<std::size_t>(options.processes) * probes.size());
    for (auto& answer : promised_) answers_.push_back(answer.get_future());
    for (unsigned lane = 0; lane < lanes; ++lane) {
      threads_.emplace_back([this, lane, lanes] { RunLane(lane, lanes); });
    }
  }
  ~Children() { ended_ = true; }  // and each lane is joined

  // Process i of this probe, 0-based; waits for it. Once each, probes and processes in their order.
  Answer Take(std::size_t probe, std::size_t process) {
    if (answers_.empty()) return Run(probes_[probe]);
    return answers_[process * probes_.size() + probe].get();
  }

 private:
  void RunLane(std::size_t lane, std::size_t lanes) {
    for (std::size_t i = 0; i < probes_.size(); ++i) {
      for (std::size_t at = lane; at < static_cast<std::size_t>(options_.processes) && !ended_;
           at += lanes) {
        promised_[at * probes_.size() + i].set_value(Run(probes_[i]));
      }
    }
  }

  Answer Run(const Probe& probe) {
    const Instant began = Now();
    Result<ProbeResult> result = RunChild(program_, probe, options_, deadline_, ended_);
    return {std::move(result), SecondsSince(began)};
  }

  const std::string& program_;
  const std::vector<Probe>& probes_;
  const RunOptions& options_;
  Deadline deadline_;
  std::atomic<bool> ended_ = false;  // then no one waits for an answer
  // By process, then by probe.
  std::vector<std::promise<Answer>> promised_;
  std::vector<std::future<Answer>> answers_;
  std::vector<std::jthread> threads_;  // the last member: joined before the others go
};

// The first process's result, with the cases marked that other processes answered differently, and
// the seconds of the slowest. The first process that is not ok ends it: its result is the probe's.
Result<ProbeResult> RunFresh(Children& children, std::size_t probe, int processes,
                             double* seconds) {
  Answer answer = children.Take(probe, 0);
  *seconds = answer.seconds;
  ASSIGN_OR_RETURN(ProbeResult first, std::move(answer.result));
  std::set<std::string> unstable(first.unstable.begin(), first.unstable.end());
  for (int i = 2; i <= processes && first.status == ProbeStatus::kOk; ++i) {
    answer = children.Take(probe, static_cast<std::size_t>(i - 1));
    *seconds = std::max(*seconds, answer.seconds);
    ASSIGN_OR_RETURN(ProbeResult next, std::move(answer.result));
    if (next.status != ProbeStatus::kOk) {
      next.message = fmt::format("in process {} of {}: {}", i, processes, next.message);
      return next;
    }
    if (next.parameters.Dump() != first.parameters.Dump()) {
      return FailedProbe(
          fmt::format("asked another question in process {}: its parameters differ", i));
    }
    UniteFailures(&first, &next);
    AddChangedCases(first, next, &unstable);
  }
  std::erase_if(unstable, [&](const std::string& name) {
    const auto choice = first.choices.find(name);
    return choice != first.choices.end() && choice->second.Find(kFailedMember) != nullptr;
  });
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
  // A failed probe shows nothing, whatever it had noted before.
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

// Else the system's own libraries have answered in place of the requested ones.
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
  Children children(program, selected, options);
  for (std::size_t i = 0; i < selected.size(); ++i) {
    const Probe& probe = selected[i];
    if (options.progress) options.progress(probe, i, selected.size());
    double slowest = 0.0;
    ASSIGN_OR_RETURN(const ProbeResult result, RunFresh(children, i, options.processes, &slowest));
    seconds.Set(probe.name, slowest);
    if (IsBrokenControl(probe, result) && suite == "ok") {
      suite = fmt::format(
          "{} must come out different from time to time and came out the same {} times in each of "
          "{} processes: this suite cannot see non-determinism",
          probe.name, options.context.repeats, options.processes);
    }
    for (const auto& [name, described] : result.libraries) {
      if (!libraries.contains(name)) libraries.emplace(name, WithDigest(described));
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
