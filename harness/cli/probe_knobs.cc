// `rharness probe knobs`: which variables that a run declares change what this stack computes.
//
// A fingerprint with all of them, and one without each. One without which every probe answers as
// before is inert here. What differs between two fingerprints with all of them is left out.
#include "harness/cli/probe_knobs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <memory>
#include <set>

#include "compare/fingerprints/fingerprint_diff.h"
#include "harness/base/files.h"
#include "harness/base/log.h"
#include "harness/base/subprocess.h"
#include "harness/cli/probe_program.h"
#include "harness/records/manifest/environment.h"
#include "harness/records/manifest/manifest.h"

namespace rharness {
namespace {

using Variables = std::map<std::string, std::string>;

struct KnobsArguments {
  std::string manifest;                // empty: --variable alone
  std::vector<std::string> variables;  // NAME=VALUE
  std::vector<std::string> globs;
  std::string device = "cpu";
  int repeats = 3;
  int processes = 2;
  std::string program;
  bool json = false;
};

struct Knob {
  std::string name;
  std::string value;
  std::string state;                // "acts", "inert", "open"
  std::vector<std::string> probes;  // that answer otherwise without it
  std::string sentence;
};

Result<Variables> KnobsOf(const KnobsArguments& arguments) {
  Variables knobs;
  if (!arguments.manifest.empty()) {
    ASSIGN_OR_RETURN(const Manifest manifest, LoadManifest(arguments.manifest));
    for (const auto& [name, value] : manifest.environment.variables) {
      if (value && !IsWithheld(*value) && IsNumericVariable(name)) knobs[name] = *value;
    }
  }
  for (const std::string& text : arguments.variables) {
    const auto equals = text.find('=');
    if (equals == text.npos || equals == 0) {
      return InvalidInput(fmt::format("'{}' is none; expected NAME=VALUE", TerminalSafe(text)),
                          "--variable");
    }
    knobs[text.substr(0, equals)] = text.substr(equals + 1);
  }
  if (knobs.empty()) {
    return InvalidInput("declares no variable of a numeric library; expected some, or --variable",
                        arguments.manifest.empty() ? "--variable" : arguments.manifest);
  }
  return knobs;
}

// What reads it is asked by probes of this device; empty: yes.
std::string WhyNotAsked(const std::string& name, const std::string& device) {
  constexpr std::array<std::string_view, 5> kGpu = {"CUDA_", "CUBLAS", "CUDNN_", "NCCL_",
                                                    "NVIDIA_"};
  const bool of_gpu =
      std::ranges::any_of(kGpu, [&](std::string_view prefix) { return name.starts_with(prefix); });
  if (of_gpu && device == "cpu") return "what reads it computes on a GPU; --device cuda:0 asks it";
  // NumPy's own loops are asked with --python alone, and PyTorch and oneDNN not at all.
  constexpr std::array<std::string_view, 4> kNotAsked = {"ATEN_", "DNNL_", "NPY_", "ONEDNN_"};
  const bool not_asked = std::ranges::any_of(
      kNotAsked, [&](std::string_view prefix) { return name.starts_with(prefix); });
  return IsNumericVariable(name) && !not_asked ? "" : "no probe is known to ask what reads it";
}

class Prober {
 public:
  static Result<Prober> Make(const KnobsArguments& arguments) {
    ASSIGN_OR_RETURN(ScopedTempDir folder, ScopedTempDir::Make("rharness-knobs-"));
    ASSIGN_OR_RETURN(const auto program, FindProbeProgram(arguments.program, false));
    std::vector<std::string> argv = {program.string(),
                                     "run",
                                     "--quiet",
                                     "--device",
                                     arguments.device,
                                     "--repeat",
                                     std::to_string(arguments.repeats),
                                     "--processes",
                                     std::to_string(arguments.processes)};
    for (const std::string& glob : arguments.globs) argv.insert(argv.end(), {"--probe", glob});
    return Prober(std::move(folder), std::move(argv));
  }

  // With these variables and no other of a numeric library. A probe that fails is an answer.
  Result<Fingerprint> Ask(const Variables& knobs) const {
    const std::string file = folder_.path() / "fingerprint.json";
    RETURN_IF_ERROR(RemoveTree(file));
    ProcessSpec spec;
    spec.argv = argv_;
    spec.argv.insert(spec.argv.end(), {"--out", file});
    spec.environment = ProcessEnvironment();
    std::erase_if(spec.environment, [](const auto& one) { return IsNumericVariable(one.first); });
    for (const auto& [name, value] : knobs) spec.environment[name] = value;
    const ProcessResult result = RunProcess(spec);
    const Outcome& outcome = result.outcome;
    if (outcome.kind != OutcomeKind::kExited ||
        (outcome.exit_code != kExitOk && outcome.exit_code != kExitInfrastructure)) {
      return ProcessError(fmt::format("{} {}: {}", kProbeProgram, outcome.ToString(),
                                      TerminalSafe(result.stderr_text)));
    }
    std::error_code missing;
    if (!std::filesystem::exists(file, missing)) {
      return ProcessError("the program ended and wrote no fingerprint", argv_.front());
    }
    return LoadFingerprint(file);
  }

 private:
  Prober(ScopedTempDir folder, std::vector<std::string> argv)
      : folder_(std::move(folder)), argv_(std::move(argv)) {}
  ScopedTempDir folder_;
  std::vector<std::string> argv_;
};

// Those that say how it computes, and not what it is.
std::set<std::string> Changed(const FingerprintDifference& difference) {
  std::set<std::string> names;
  for (const ProbeDifference& probe : difference.probes) {
    if (probe.family != kIdentityFamily) names.insert(probe.probe);
  }
  return names;
}

void Judge(const FingerprintDifference& difference, const std::set<std::string>& unsteady,
           Knob* knob) {
  std::set<std::string> changed = Changed(difference);
  for (const std::string& name : unsteady) changed.erase(name);
  knob->probes = {changed.begin(), changed.end()};
  const int steady = difference.compared - static_cast<int>(unsteady.size());
  if (!changed.empty()) {
    constexpr std::size_t kMost = 4;
    const auto end = changed.size() > kMost ? std::next(changed.begin(), kMost) : changed.end();
    knob->state = "acts";
    knob->sentence =
        fmt::format("of {} probes {} without it: {}{}", difference.compared,
                    changed.size() == 1 ? std::string("1 answers otherwise")
                                        : fmt::format("{} answer otherwise", changed.size()),
                    fmt::join(changed.begin(), end, ", "), changed.size() > kMost ? ", ..." : "");
  } else if (!difference.comparable || steady <= 0) {
    knob->state = "open";
    knob->sentence = difference.why.empty() ? "no probe answered" : difference.why;
  } else {
    knob->state = "inert";
    knob->sentence = fmt::format("{} probes answer as they do with it", steady);
  }
}

Result<std::vector<Knob>> AskEach(const Prober& prober, const Variables& knobs,
                                  const std::string& device) {
  ASSIGN_OR_RETURN(const Fingerprint with, prober.Ask(knobs));
  ASSIGN_OR_RETURN(const Fingerprint again, prober.Ask(knobs));
  const std::set<std::string> unsteady = Changed(DiffFingerprints(with, again));
  std::vector<Knob> asked;
  for (const auto& [name, value] : knobs) {
    Knob knob{.name = name, .value = value, .sentence = WhyNotAsked(name, device)};
    if (knob.sentence.empty()) {
      Variables without = knobs;
      without.erase(name);
      ASSIGN_OR_RETURN(const Fingerprint bare, prober.Ask(without));
      Judge(DiffFingerprints(with, bare), unsteady, &knob);
    } else {
      knob.state = "open";
    }
    asked.push_back(std::move(knob));
  }
  return asked;
}

Json JsonOf(const std::vector<Knob>& knobs, const std::string& device) {
  Json list = Json::MakeArray();
  for (const Knob& knob : knobs) {
    Json probes = Json::MakeArray();
    for (const std::string& probe : knob.probes) probes.Append(probe);
    list.Append(Json::MakeObject({{"name", knob.name},
                                  {"value", knob.value},
                                  {"state", knob.state},
                                  {"probes", std::move(probes)},
                                  {"sentence", knob.sentence}}));
  }
  return Json::MakeObject(
      {{"schema", "rharness.knobs/v1"}, {"device", device}, {"knobs", std::move(list)}});
}

std::string TextOf(const std::vector<Knob>& knobs) {
  std::string text;
  for (const Knob& knob : knobs) {
    text += fmt::format("{:<6} {}={}: {}\n", knob.state, knob.name, knob.value, knob.sentence);
  }
  return TerminalSafe(text);
}

Result<int> Run(const KnobsArguments& arguments) {
  ASSIGN_OR_RETURN(const Variables knobs, KnobsOf(arguments));
  ASSIGN_OR_RETURN(const Prober prober, Prober::Make(arguments));
  ASSIGN_OR_RETURN(const std::vector<Knob> asked, AskEach(prober, knobs, arguments.device));
  const auto any = [&](const char* state) {
    return std::ranges::find(asked, state, &Knob::state) != asked.end();
  };
  const int code = any("inert") ? kExitDrift : any("open") ? kExitInconclusive : kExitOk;
  int shown = kExitOk;
  if (arguments.json) {
    shown = PrintJson(JsonOf(asked, arguments.device));
  } else if (!Globals().quiet || code == kExitDrift) {
    shown = Print(TextOf(asked));
  }
  return shown == kExitOk ? code : shown;
}

}  // namespace

void AddProbeKnobs(Command& probe) {
  auto arguments = std::make_shared<KnobsArguments>();
  Command& verb = probe.AddVerb("knobs", "Report which declared variables change results");
  verb.Add("manifest", &arguments->manifest, "A run; its variables of numeric libraries are tested")
      .File();
  verb.Add("--variable", &arguments->variables, "NAME=VALUE, a further variable; repeatable");
  verb.Add("--probe", &arguments->globs, "Names of probes; * and ? match; else as `probe run`")
      .Value("GLOB");
  verb.Add("--device", &arguments->device, "cpu or cuda:N").ShowDefault();
  verb.Add("--repeat", &arguments->repeats, "Times that each result is made in a process")
      .Between(1, 1000)
      .ShowDefault();
  verb.Add("--processes", &arguments->processes, "Fresh processes that each probe runs in")
      .Between(1, 1000)
      .ShowDefault();
  verb.Add("--program", &arguments->program, "The rharness-probe to start; else the one beside it")
      .File()
      .Env("RHARNESS_PROBE");
  verb.Add("--json", &arguments->json, "Print the answers as JSON (rharness.knobs/v1)");
  verb.Note(
      "This stack is fingerprinted twice with all of the variables, and once without each. "
      "\"acts\": results of probes differ without it. \"inert\": all results stay the same, so "
      "here it changes nothing that is probed. \"open\": no probe covers the library that reads "
      "it.");
  verb.ExitCode(kExitOk, "all of them act");
  verb.ExitCode(kExitDrift, "one is inert");
  verb.ExitCode(kExitUsage, "usage, or nothing to ask");
  verb.ExitCode(kExitInconclusive, "none is inert, and one is open");
  verb.ExitCode(kExitInfrastructure, "no fingerprint was made");
  verb.Example("rharness probe knobs runs/mlp-1.json");
  verb.Example("rharness probe knobs --variable OPENBLAS_CORETYPE=Haswell --probe 'gemm_*'");
  verb.Do([arguments] {
    const auto code = Run(*arguments);
    return code.ok() ? *code : FailWith(code.error());
  });
}

}  // namespace rharness
