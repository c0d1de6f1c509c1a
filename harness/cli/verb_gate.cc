// `rharness gate`: may this driver, library or image roll out?
#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <system_error>

#include "harness/base/files.h"
#include "harness/base/log.h"
#include "harness/base/shell_word.h"
#include "harness/cli/document_options.h"
#include "harness/cli/gate_drill.h"
#include "harness/cli/gate_options.h"
#include "harness/cli/history_place.h"
#include "harness/cli/named_drill.h"
#include "harness/cli/outputs.h"
#include "harness/cli/progress_line.h"
#include "harness/cli/trusted_policy.h"
#include "harness/cli/verb.h"
#include "harness/drill/settings.h"
#include "harness/gate/gate.h"
#include "harness/history/location.h"
#include "harness/trust/attestation/endorsed_file.h"
#include "reports/gate_report.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

constexpr char kImpacted[] = "impacted";

struct GateArguments {
  std::string baseline;
  std::string candidate;
  std::string policy;
  std::string trust;
  std::string drill;
  GateDrillOptions run;
  bool json = false;
  std::string json_file;
  DocumentOptions formats;
};

// What cannot be understood closes the gate; what cannot be reached is our failure.
bool ClosesTheGate(const Error& error) {
  return error.code == ErrorCode::kInvalidInput || error.code == ErrorCode::kUnsupported;
}

// What was read is what was signed, not only what lay there before.
Status HoldToSigned(const fs::path& file, const std::string& read, const std::string& signed_for) {
  if (signed_for.empty() || read == signed_for) return {};
  return IntegrityError("was changed while it was read", file.string());
}

// `signed_for`: the SHA-256 of SignedBaseline; empty: no signature is asked for.
Status LoadBaselineInto(const std::string& path, const std::string& signed_for, GateInput* input) {
  std::error_code error;
  fs::path folder = path;
  // The fingerprint in an accepted baseline's folder stands for the folder, with its expiry.
  if (folder.filename() == kBaselineFile &&
      fs::exists(folder.parent_path() / kBaselineRecord, error)) {
    folder = folder.parent_path().empty() ? fs::path(".") : folder.parent_path();
  }
  if (!fs::is_directory(folder, error)) {
    std::string sha256;
    ASSIGN_OR_RETURN(input->baseline, LoadAsEvidence(path, &sha256));
    return HoldToSigned(path, sha256, signed_for);
  }
  auto baseline = LoadBaseline(folder);
  if (!baseline.ok() && ClosesTheGate(baseline.error())) {
    input->baseline = UnreadableFingerprint(path, baseline.error());
    return {};
  }
  if (!baseline.ok()) return baseline.error();
  RETURN_IF_ERROR(HoldToSigned(folder / kBaselineRecord, baseline->records_sha256, signed_for));
  input->baseline = std::move(baseline->fingerprint);
  input->record = std::move(baseline->record);
  return {};
}

using DrillPlaces = std::optional<RerunPlaces>;

// As the history was told of it, where one is given. A candidate's drill that this history was not
// told of is held to the one beside it (CandidateHistory).
Status HoldToHistory(const std::string& history, NamedDrill* drill) {
  if (history.empty()) return {};
  const Status held = HoldNamedDrill(history, drill);
  if (held.ok() || held.error().code != ErrorCode::kNotFound) return held;
  const fs::path own = CandidateHistory(drill->folder());
  std::error_code error;
  if (!fs::is_regular_file(own, error)) return held;
  LogInfo(fmt::format("{} is checked against {}: {} has no entry of it",
                      TerminalSafe(drill->path.string()), TerminalSafe(own.string()),
                      TerminalSafe(history)));
  return HoldNamedDrill(own.string(), drill);
}

Status RequireTwo(const std::string& candidate, const std::string& in_use) {
  if (candidate != in_use) return {};
  return InvalidInput(
      fmt::format("is drill {}, which --drill names as well; expected a drill of the same runs on "
                  "the stack in use",
                  TerminalSafe(in_use)),
      "--shadow");
}

// Its id in the history, where there is one.
std::string IdOf(const NamedDrill& drill) {
  return drill.held_id.empty() ? drill.report.drill_id : drill.held_id;
}

// Whether `--drill impacted` made it, for this candidate: a history has it under such an id. One
// that was resumed may have gone on elsewhere, where no gate looked at the machine.
bool IsOfCandidate(const NamedDrill& drill, const std::string& sha256) {
  return !sha256.empty() && drill.sessions == 1 && drill.held_id == drill.report.drill_id &&
         drill.held_id.ends_with(OfCandidate(sha256));
}

Status TakeDrill(NamedDrill drill, bool held, std::optional<Report>* report, DrillPlaces* places) {
  // A report alone does not say where its runs were rerun.
  ASSIGN_OR_RETURN(*places,
                   DrilledIn(drill.report, drill.folder(), held ? &drill.evidence : nullptr));
  *report = std::move(drill.report);
  return {};
}

Status LoadDrillsInto(const GateArguments& arguments, GateInput* input) {
  const std::string& history = arguments.run.history;
  if (arguments.drill.empty() || arguments.drill == kImpacted) return {};
  ASSIGN_OR_RETURN(NamedDrill candidate, ReadNamedDrill(arguments.drill));
  if (arguments.run.shadow.empty()) {
    RETURN_IF_ERROR(HoldToHistory(history, &candidate));
    input->place_proven = IsOfCandidate(candidate, arguments.run.candidate);
    return TakeDrill(std::move(candidate), !history.empty(), &input->drill, &input->drilled_in);
  }
  ASSIGN_OR_RETURN(NamedDrill in_use, ReadNamedDrill(arguments.run.shadow));
  RETURN_IF_ERROR(RequireTwo(candidate.report.drill_id, in_use.report.drill_id));
  RETURN_IF_ERROR(HoldToHistory(history, &candidate));
  if (!history.empty()) RETURN_IF_ERROR(HoldNamedDrill(history, &in_use));
  RETURN_IF_ERROR(RequireTwo(IdOf(candidate), IdOf(in_use)));
  RETURN_IF_ERROR(
      TakeDrill(std::move(candidate), !history.empty(), &input->drill, &input->drilled_in));
  return TakeDrill(std::move(in_use), !history.empty(), &input->in_use, &input->in_use_at);
}

Status CheckFree(const std::string& folder, std::string_view option, std::string_view read_by) {
  std::error_code error;
  // What a drill leaves in its folder first.
  if (folder.empty() || !fs::exists(fs::path(folder) / "journal.jsonl", error)) return {};
  return InvalidInput(
      fmt::format("{} {} holds a drill already; name another folder, or judge by that drill "
                  "with {} {}",
                  option, TerminalSafe(folder), read_by, TerminalSafe(ShellWord(folder))),
      "rharness gate");
}

Status Check(const GateArguments& arguments) {
  if (arguments.baseline.empty() || arguments.candidate.empty()) {
    return InvalidInput("expected --baseline and --candidate, or the subcommand baseline or fleet",
                        "rharness gate");
  }
  const fs::path baseline = arguments.baseline;  // perhaps a folder
  std::vector<std::string> inputs = FilesOfHistory(arguments.run.history);
  inputs.insert(inputs.end(),
                {arguments.baseline, baseline / kBaselineFile, baseline / kBaselineRecord,
                 arguments.candidate, arguments.policy, arguments.trust});
  for (const std::string& drill : {arguments.drill, arguments.run.shadow}) {
    if (drill.empty() || drill == kImpacted) continue;
    for (const char* file : {"", "report.json", "journal.jsonl"})
      inputs.push_back(fs::path(drill) / file);
  }
  RETURN_IF_ERROR(
      CheckOutputs(FilesOf(arguments.formats, {arguments.json_file}), inputs, arguments.json));
  if (!arguments.run.shadow.empty() && arguments.drill.empty()) {
    return InvalidInput("--shadow needs --drill", "rharness gate");
  }
  if (arguments.drill != kImpacted) return {};
  if (arguments.run.history.empty() || arguments.run.out.empty()) {
    return InvalidInput("--drill impacted needs --history URL and --out DIR", "rharness gate");
  }
  RETURN_IF_ERROR(CheckFree(arguments.run.out, "--out", "--drill"));
  // Perhaps the fleet's own, which learns nothing of a candidate.
  const fs::path own = CandidateHistory(arguments.run.out);
  std::error_code error;
  if (fs::exists(fs::symlink_status(own, error))) {
    return InvalidInput(fmt::format("--out {} would have its history in {}, which is there "
                                    "already; name another folder, or move that away",
                                    TerminalSafe(arguments.run.out), TerminalSafe(own.string())),
                        "rharness gate");
  }
  return CheckFree(arguments.run.shadow, "--shadow", "--shadow");
}

// Who answers for the baseline has signed it: of an accepted one the record, which names its
// fingerprint, else the fingerprint. Returns the SHA-256 that was signed; empty without a policy.
Result<std::string> SignedBaseline(const GateArguments& arguments) {
  if (arguments.trust.empty()) return std::string();
  const WallTime now = SystemClock().Now();
  ASSIGN_OR_RETURN(const TrustPolicy trust, LoadTrustPolicy(arguments.trust));
  std::error_code error;
  fs::path baseline = arguments.baseline;
  if (fs::is_directory(baseline, error)) {
    baseline /= kBaselineRecord;
  } else if (fs::exists(baseline.parent_path() / kBaselineRecord, error) &&
             baseline.filename() == kBaselineFile) {
    baseline = baseline.parent_path() / kBaselineRecord;
  }
  ASSIGN_OR_RETURN(const Verified accepted, VerifyEndorsed(baseline, trust, now));
  LogInfo(TerminalSafe(
      fmt::format("{} is signed by {}", baseline.string(), accepted.signed_by.front().owner)));
  return accepted.endorsement()->file.sha256;
}

Result<GateInput> LoadInput(const std::string& signed_for, GateArguments* given) {
  GateArguments& arguments = *given;
  GateInput input;
  input.now = SystemClock().Now();
  RETURN_IF_ERROR(LoadBaselineInto(arguments.baseline, signed_for, &input));
  ASSIGN_OR_RETURN(input.candidate, LoadAsEvidence(arguments.candidate, &arguments.run.candidate));
  if (!arguments.policy.empty()) {
    ASSIGN_OR_RETURN(input.policy, LoadTrustedPolicy(arguments.policy, arguments.trust, input.now));
  }
  if (!arguments.run.history.empty()) {
    ASSIGN_OR_RETURN(input.history, LoadHistory(arguments.run.history));
  }
  RETURN_IF_ERROR(LoadDrillsInto(arguments, &input));
  return input;
}

// Decides, reruns what depends on the change where that was asked for, and decides again.
Result<GateDecision> Decide(const GateArguments& arguments, GateInput* input) {
  GateDecision decision = DecideGate(*input);
  const bool rerun = arguments.drill == kImpacted && decision.difference.comparable &&
                     !decision.impacted_runs.empty();
  if (!rerun) return decision;
  ASSIGN_OR_RETURN(input->drill, DrillImpacted(decision, *input, arguments.run));
  ASSIGN_OR_RETURN(input->drilled_in, DrilledIn(*input->drill, arguments.run.out, nullptr));
  input->place_proven = true;
  if (!arguments.run.shadow.empty() && !input->drill->interrupted) {
    ASSIGN_OR_RETURN(input->in_use, DrillInUse(decision, *input, arguments.run));
    ASSIGN_OR_RETURN(input->in_use_at, DrilledIn(*input->in_use, arguments.run.shadow, nullptr));
  }
  return DecideGate(*input);
}

int Show(const GateDecision& decision, const Document& document, const std::vector<Output>& outputs,
         const GateArguments& arguments) {
  if (arguments.json) return PrintJson(ToJson(decision));
  if (const Output* output = OnStdout(outputs)) return Print(output->make());
  if (!Globals().quiet) {
    return Print(WriteTerminal(document, ReportColumns(STDOUT_FILENO), ColorOn(STDOUT_FILENO),
                               ReportRows(STDOUT_FILENO)));
  }
  if (!decision.open) LogError(TerminalSafe(decision.headline));
  return kExitOk;
}

Result<int> Run(GateArguments arguments) {
  RETURN_IF_ERROR(Check(arguments));
  ASSIGN_OR_RETURN(const std::string signed_for, SignedBaseline(arguments));
  ASSIGN_OR_RETURN(GateInput input, LoadInput(signed_for, &arguments));
  ASSIGN_OR_RETURN(const GateDecision decision, Decide(arguments, &input));
  const Document document = DocumentOf(BuildReport(input, decision));
  std::vector<Output> outputs = OutputsOf(arguments.formats, document);
  outputs.push_back({arguments.json_file, [&] { return ToJson(decision).Dump(2) + "\n"; }});
  RETURN_IF_ERROR(WriteFiles(outputs));
  const int shown = Show(decision, document, outputs, arguments);
  return shown == kExitOk ? decision.exit_code : shown;
}

void AddInputs(Command* verb, GateArguments* arguments) {
  verb->Add("--baseline", &arguments->baseline,
            "Fingerprint in use, or the folder of an accepted baseline")
      .Path()
      .NotEmpty();
  verb->Add("--candidate", &arguments->candidate, "Fingerprint of the stack to roll out").File();
  verb->Add("--policy", &arguments->policy,
            "YAML: allowed changes, waivers, required probes; none: nothing may change")
      .File()
      .Env("RHARNESS_POLICY")
      .NotEmpty();
  verb->Add("--trust", &arguments->trust,
            "Trust policy (`rharness verify --help`): policy and baseline must be signed, as "
            "`rharness sign FILE` does, the policy by whom its waivers name")
      .File()
      .NotEmpty();
  AddHistoryOption(verb, &arguments->run.history, "Store of runs, to find the impacted ones");
  verb->Add("--drill", &arguments->drill,
            "Folder of a drill on the candidate, which must agree with --history, or with DIR.db "
            "beside it; or `impacted`: rerun the impacted runs here, on the candidate, and judge "
            "their verdicts")
      .Folder()
      .NotEmpty();
}

void AddDrillOptions(Command* verb, GateArguments* arguments) {
  verb->Heading("A drill of the impacted runs");
  verb->Add("--out", &arguments->run.out,
            "Folder of that drill, with a history of its own beside it (DIR.db): verdicts on a "
            "candidate do not enter --history")
      .Folder();
  verb->Add("--shadow", &arguments->run.shadow,
            "Folder of a drill of the same runs on the stack in use, to compare with the "
            "candidate's; with --drill impacted they are rerun here, after the candidate's, and "
            "these verdicts enter --history")
      .Folder()
      .NotEmpty();
  verb->Add("--root", &arguments->run.root,
            "Where relative data and code locations of that drill lie")
      .Folder()
      .ShowDefault();
  verb->Add(
      "--trust-here", &arguments->run.trust_here,
      "Do not check by probes, before that drill, that this machine computes like the candidate");
  verb->Add("--program", &arguments->run.program,
            "The rharness-probe for that; else the one beside rharness")
      .File()
      .Env("RHARNESS_PROBE");
  verb->Add("--python", &arguments->run.python,
            "Then probe the libraries of this Python's packages, as for the candidate")
      .File("PROGRAM")
      .NotEmpty();
  verb->Add("--library-path", &arguments->run.library_paths,
            "Folders searched for that stack's libraries first, as for the candidate")
      .Folder()
      .NotEmpty();
  verb->Add("--jobs", &arguments->run.jobs, "Reruns at a time; 0: as many as fit")
      .Between(0, 100000);
  verb->Add("--reruns", &arguments->run.reruns, "Reruns of each run")
      .Between(1, 1000)
      .ShowDefault();
  verb->Add("--gpus", &arguments->run.gpus, "GPUs to share out among its reruns (default: all)")
      .Between(0, 100000);
}

void AddOutputs(Command* verb, GateArguments* arguments) {
  verb->Heading("Output");
  verb->Add("--json", &arguments->json, "Print rharness.gate/v1 instead of text");
  verb->Add("--json-file", &arguments->json_file, "Write that JSON to a file as well; - is stdout")
      .File();
  AddDocumentOptions(verb, &arguments->formats, "a probe");
}

}  // namespace

void AddGate(Command& root) {
  auto arguments = std::make_shared<GateArguments>();
  Command& verb = root.AddVerb("gate", "Decide whether a driver, CUDA or image may roll out");
  AddInputs(&verb, arguments.get());
  AddDrillOptions(&verb, arguments.get());
  AddOutputs(&verb, arguments.get());
  AddGateBaseline(verb);
  AddGateFleet(verb);
  verb.ExitCode(kExitOk, "open");
  verb.ExitCode(kExitDrift, "closed by a change");
  verb.ExitCode(kExitUsage, "usage or unreadable input");
  verb.ExitCode(kExitInconclusive, "closed for lack of evidence");
  verb.ExitCode(kExitInfrastructure, "the drill could not be carried out");
  verb.ExitCode(
      kExitIntegrity,
      "the baseline is not the accepted one; with --history: a drill differs from its entry in the "
      "history; with --trust: baseline or policy is not signed by a trusted key");
  verb.Example("rharness gate --baseline baseline --candidate next.json --policy policy.yaml");
  verb.Example(
      "rharness gate --baseline a.json --candidate b.json --history runs.db --drill impacted --out "
      "d");
  verb.Example(
      "rharness gate --baseline a.json --candidate b.json --history runs.db --drill impacted --out "
      "candidate --shadow gate-in-use");
  verb.Do([arguments] {
    auto history = HistoryAt(arguments->run.history);
    if (!history.ok()) return FailWith(history.error());
    arguments->run.history = std::move(*history);
    const auto code = Run(*arguments);
    return code.ok() ? *code : FailWith(code.error());
  });
}

}  // namespace rharness
