// A gate's drill through the drill of every day.
#include "harness/cli/gate_drill.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "harness/base/digest.h"
#include "harness/base/files.h"
#include "harness/base/log.h"
#include "harness/base/subprocess.h"
#include "harness/cli/interrupts.h"
#include "harness/cli/probe_program.h"
#include "harness/cli/progress_line.h"
#include "harness/cli/python_libraries.h"
#include "harness/drill/drill.h"
#include "harness/drill/historical_runs.h"
#include "harness/execution/rerun/rerun.h"
#include "harness/records/manifest/evidence.h"

namespace rharness {
namespace {

constexpr std::string_view kVariable = "environment.";
constexpr std::chrono::minutes kProbingLimit{60};

std::string DeviceOf(const Fingerprint& fingerprint) {
  const auto device = fingerprint.stack.find("device");
  return device == fingerprint.stack.end() ? "cpu" : device->second;
}

// This process's environment with the candidate's variables of numeric libraries, and no others of
// these.
std::map<std::string, std::string> ProbedEnvironment(const Fingerprint& candidate) {
  std::map<std::string, std::string> environment = ProcessEnvironment();
  std::erase_if(environment, [](const auto& entry) { return IsNumericVariable(entry.first); });
  for (const auto& [key, value] : candidate.stack) {
    const std::string name = key.starts_with(kVariable) ? key.substr(kVariable.size()) : "";
    if (IsNumericVariable(name)) environment[name] = value;
  }
  return environment;
}

// The probes of these names, taken on this machine.
Result<Fingerprint> ProbeHere(const std::vector<std::string>& names, const Fingerprint& candidate,
                              const GateDrillOptions& options) {
  ASSIGN_OR_RETURN(const std::filesystem::path program, FindProbeProgram(options.program, false));
  std::vector<std::string> folders = options.library_paths;
  std::vector<std::string> python;
  if (!options.python.empty()) {
    ASSIGN_OR_RETURN(const std::vector<std::string> more, PythonLibraryFolders(options.python));
    folders.insert(folders.end(), more.begin(), more.end());
    python = {"--python", options.python};
  }
  ProcessSpec spec;
  spec.argv = {program.string(), "run", "--quiet", "--device", DeviceOf(candidate)};
  // As often as there: what is tried more often may be seen not to repeat.
  for (const auto& [option, times] :
       {std::pair("--repeat", candidate.repeats), {"--processes", candidate.processes}}) {
    if (times > 0) spec.argv.insert(spec.argv.end(), {option, std::to_string(times)});
  }
  for (const std::string& name : names) spec.argv.insert(spec.argv.end(), {"--probe", name});
  // Some of the probes alone run, and need not take something from each folder.
  for (const std::string& one : folders) spec.argv.insert(spec.argv.end(), {"--also-search", one});
  spec.argv.insert(spec.argv.end(), python.begin(), python.end());
  spec.environment = ProbedEnvironment(candidate);
  ProcessLimits limits;
  limits.timeout = kProbingLimit;
  limits.output_bytes = kMostFingerprintBytes;
  const ProcessResult process = RunProcess(spec, limits, {}, Interrupted);
  if (process.stdout_text.empty()) {
    return ProcessError(fmt::format("probing this machine: {}: {}", process.outcome.ToString(),
                                    TerminalSafe(process.stderr_text)));
  }
  ASSIGN_OR_RETURN(const Json json, ParseJson(process.stdout_text, "this machine's fingerprint"));
  return ParseFingerprint(json, "this machine");
}

// What tells the candidate from another machine: the probes that changed, as far as they work; else
// all that show something.
Fingerprint TellingProbes(const FingerprintDifference& difference, const Fingerprint& candidate) {
  Fingerprint shown = candidate;
  std::erase_if(shown.probes, [](const FingerprintProbe& probe) {
    return probe.family == kIdentityFamily || !probe.Shows();
  });
  Fingerprint changed = shown;
  std::erase_if(changed.probes, [&](const FingerprintProbe& probe) {
    return std::ranges::find(difference.probes, probe.name, &ProbeDifference::probe) ==
           difference.probes.end();
  });
  return changed.probes.empty() ? shown : changed;
}

// Whether what these probes showed on the candidate shows here, too.
Status CheckHere(const FingerprintDifference& difference, const Fingerprint& candidate,
                 const GateDrillOptions& options) {
  const Fingerprint there = TellingProbes(difference, candidate);
  if (there.probes.empty()) {
    return ProcessError(
        "no probe showed anything on the candidate, so nothing shows whether this machine is the "
        "candidate; --trust-here drills without that check");
  }
  std::vector<std::string> names;
  for (const FingerprintProbe& probe : there.probes) names.push_back(probe.name);
  LogInfo(fmt::format("probing this machine: {}", fmt::join(names, ", ")));
  ASSIGN_OR_RETURN(const Fingerprint here, ProbeHere(names, candidate, options));
  const FingerprintDifference between = DiffFingerprints(there, here);
  const ProbeDifference* contradiction = FindContradiction(between);
  if (between.comparable && contradiction == nullptr) return {};
  const std::string stack = WhatDiffersHere(candidate, here);
  return ProcessError(fmt::format(
      "this machine is not the candidate: {}{}{}; drill where {} was taken, then name that drill's "
      "folder (--drill DIR)",
      between.comparable ? contradiction->sentence : between.why, stack.empty() ? "" : "; ", stack,
      candidate.file));
}

// A history beside the drill's folder, of the impacted runs alone. Returns its place.
Result<std::string> MakeCandidateHistory(const GateDecision& decision, const GateInput& input,
                                         const std::filesystem::path& folder) {
  const std::filesystem::path place = CandidateHistory(folder);
  if (place.has_parent_path()) RETURN_IF_ERROR(MakeDirectories(place.parent_path()));
  ASSIGN_OR_RETURN(const auto store, HistoryStore::Open(place.string()));
  for (const ImpactedRun& run : decision.impacted_runs) {
    const auto manifest = std::ranges::find(input.history, run.run_id, &Manifest::run_id);
    if (manifest == input.history.end()) Abort("an impacted run is none of the history");
    const auto added = store->Add(*manifest, SystemClock().Now());
    if (!added.ok()) return added.error();
  }
  return place.string();
}

// A drill of the impacted runs, here and now.
Result<Report> RunGateDrill(const GateInput& input, const GateDrillOptions& options,
                            DrillOptions drill) {
  drill.places.root = options.root;
  drill.substitutes = input.policy.substitutes;
  drill.plan.jobs = options.jobs;
  drill.plan.reruns = options.reruns;
  drill.plan.slots = SlotsOf(CaptureEnvironment().hardware, options.gpus);
  ProgressLine line(VerbProgress());
  const DrillHooks hooks{.progress = [&](const Progress& progress) { line.Show(progress); },
                         .should_stop = Interrupted};
  auto report = RunDrill(drill, hooks, &SystemClock());
  line.Clear();
  return report;
}

}  // namespace

std::filesystem::path CandidateHistory(const std::filesystem::path& out) {
  std::error_code error;
  std::filesystem::path place = std::filesystem::absolute(out, error).lexically_normal();
  if (!place.has_filename()) place = place.parent_path();  // "gate-drill/", "."
  return place += ".db";
}

Result<std::vector<Manifest>> LoadHistory(const std::string& url) {
  ASSIGN_OR_RETURN(const auto store, HistoryStore::OpenExisting(url));
  ASSIGN_OR_RETURN(const auto entries, SelectEntries("", SystemClock().Now(), store.get()));
  return LoadRuns(RunIdsOf(entries), store.get());
}

namespace {

// None: it cannot be read, or is of another run.
Result<std::optional<Evidence>> EvidenceOf(const std::string& run_id, int rerun,
                                           const std::filesystem::path& folder,
                                           const EvidenceDigests* held) {
  const auto path = RerunFolder(folder, run_id, rerun) / "evidence.json";
  const auto text = ReadFile(path);
  if (!text.ok()) return std::optional<Evidence>();
  if (held != nullptr) {
    const auto entered = held->find({run_id, rerun});
    if (entered == held->end() || entered->second != Sha256HexOf(*text)) {
      return IntegrityError("is not the evidence that the history has of this rerun",
                            path.string());
    }
  }
  const auto json = ParseJson(*text, path.string());
  auto evidence = json.ok() ? ParseEvidence(*json, path.string()) : Result<Evidence>(json.error());
  if (!evidence.ok() || evidence->run_id != run_id) return std::optional<Evidence>();
  return std::optional(std::move(*evidence));
}

}  // namespace

Result<RerunPlaces> DrilledIn(const Report& drill, const std::filesystem::path& folder,
                              const EvidenceDigests* held) {
  RerunPlaces places;
  for (const ReportRun& run : drill.runs) {
    if (!SafeRelativePath(run.run_id, "run_id").ok()) continue;
    for (const ReportRerun& rerun : run.reruns) {
      if (rerun.state == RerunEnd::State::kInfra) continue;
      ASSIGN_OR_RETURN(const auto evidence, EvidenceOf(run.run_id, rerun.index, folder, held));
      if (!evidence) {
        places.erase(run.run_id);
        break;
      }
      places.emplace(run.run_id, evidence->environment);
    }
  }
  return places;
}

std::string SelectionOf(const std::vector<ImpactedRun>& runs, std::size_t all) {
  if (runs.size() == all) return "";
  std::string selection;
  for (const ImpactedRun& run : runs) {
    selection += fmt::format("{}run_id = {}", selection.empty() ? "" : " or ", run.run_id);
  }
  return selection;
}

Result<Report> DrillImpacted(const GateDecision& decision, const GateInput& input,
                             const GateDrillOptions& options) {
  CountInterrupts();
  DrillOptions drill;
  drill.environment = CandidateVariables(input.baseline, input.candidate);
  drill.out = options.out;
  drill.candidate = options.candidate;
  if (!options.trust_here) {
    RETURN_IF_ERROR(CheckHere(decision.difference, input.candidate, options));
  }
  ASSIGN_OR_RETURN(drill.history, MakeCandidateHistory(decision, input, options.out));
  // By name: an attempt that did not come so far may have left others there.
  constexpr std::size_t kNotAll = 0;
  drill.selection = SelectionOf(decision.impacted_runs, kNotAll);
  return RunGateDrill(input, options, std::move(drill));
}

Result<Report> DrillInUse(const GateDecision& decision, const GateInput& input,
                          const GateDrillOptions& options) {
  DrillOptions drill;
  drill.environment = CandidateVariables(input.candidate, input.baseline);
  drill.out = options.shadow;
  drill.history = options.history;
  drill.selection = SelectionOf(decision.impacted_runs, input.history.size());
  return RunGateDrill(input, options, std::move(drill));
}

}  // namespace rharness
