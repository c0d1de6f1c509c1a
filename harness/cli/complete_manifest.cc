// What somebody says of an imported run, as the options of `rharness import --complete`.
#include "harness/cli/complete_manifest.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "harness/base/clock.h"
#include "harness/base/files.h"
#include "harness/base/log.h"
#include "harness/cli/outputs.h"
#include "harness/cli/verb.h"
#include "harness/execution/fetch/pin.h"
#include "harness/execution/rerun/complete.h"
#include "harness/records/intake/blockers.h"
#include "harness/records/intake/croissant.h"
#include "harness/records/manifest/admission.h"

namespace rharness {
namespace {

Status ReadTime(const std::string& text, const char* option, WallTime* out) {
  if (text.empty()) return {};
  const auto time = ParseTime(text);
  if (!time.ok()) {
    return InvalidInput(
        fmt::format("expected a time such as 2026-03-01T12:00:00Z, found '{}'", text), option);
  }
  *out = *time;
  return {};
}

Result<Completion> CompletionOf(const CompletionArguments& options, bool determinism) {
  Completion completion;
  RecordArguments arguments = options.arguments;
  arguments.out = options.file;
  ASSIGN_OR_RETURN(completion.said, BuildRequest(arguments));
  RETURN_IF_ERROR(ReadTime(options.started, "--started", &completion.started));
  RETURN_IF_ERROR(ReadTime(options.ended, "--ended", &completion.ended));
  completion.run_id = options.run_id;
  for (const std::string& output : options.outputs) {
    const auto sign = output.find('=');
    const std::string from = output.substr(0, sign);
    if (sign == output.npos || from.empty()) {
      return InvalidInput(fmt::format("expected OLD=NEW, found '{}'", output), "--output");
    }
    ASSIGN_OR_RETURN(const auto to, SafeRelativePath(output.substr(sign + 1), "--output"));
    completion.outputs.emplace_back(from, to.string());
  }
  completion.repository = options.repository;
  completion.commit = options.commit;
  completion.working_directory = options.working_directory;
  completion.here = options.here;
  completion.determinism = determinism;
  completion.otherwise = !options.croissant.empty();
  return completion;
}

// What a data set's publisher says of its files, before what is said here.
Status TakeCroissant(const CompletionArguments& options, Manifest* manifest) {
  constexpr std::uint64_t kMostBytes = std::uint64_t{64} << 20;
  ASSIGN_OR_RETURN(const Json json, ReadJsonFile(options.croissant, kMostBytes));
  ASSIGN_OR_RETURN(const Croissant croissant, ParseCroissant(json, options.croissant));
  const auto folder = std::filesystem::path(options.croissant).parent_path();
  ASSIGN_OR_RETURN(const CroissantUse use, ApplyCroissant(croissant, folder, options.arguments.root,
                                                          SystemClock().Now(), manifest));
  if (Globals().quiet) return {};
  for (const std::string& remark : use.remarks) {
    LogWarning(TerminalSafe(fmt::format("{}: {}", options.croissant, remark)));
  }
  LogInfo(TerminalSafe(
      fmt::format("{}: {} of its {} files are data of the run; {} lie here with "
                  "the stated SHA-256",
                  options.croissant, use.files, croissant.files.size(), use.verified)));
  return {};
}

}  // namespace

Result<int> Complete(const CompletionArguments& options, bool determinism) {
  ASSIGN_OR_RETURN(Manifest manifest, LoadManifest(options.file));
  ASSIGN_OR_RETURN(Completion completion, CompletionOf(options, determinism));
  ASSIGN_OR_RETURN(const auto pins, PinSources(options.arguments.sources, &completion.said.data));
  if (!options.croissant.empty()) RETURN_IF_ERROR(TakeCroissant(options, &manifest));
  ASSIGN_OR_RETURN(manifest,
                   CompleteManifest(std::move(manifest), completion, SystemClock().Now()));
  SayPins(pins, &manifest);
  const std::string& out = options.out.empty() ? options.file : options.out;
  if (!options.out.empty()) RETURN_IF_ERROR(CheckOutputs({out}, {options.file}, false));
  RETURN_IF_ERROR(WriteJsonFile(out, ToJson(manifest)));
  if (Globals().quiet) return kExitOk;
  std::string text;
  const auto findings = Admit(manifest);
  for (const Finding& finding : findings) {
    text += fmt::format("still {}: {}: {}\n", finding.subject, finding.code, finding.message);
    const std::string filling = FillingOf(finding, manifest, out);
    if (!filling.empty()) text += fmt::format("      {}\n", filling);
  }
  text += findings.empty() ? fmt::format("{}: can be rerun\n", out)
                           : fmt::format("{}: {} {} left\n", out, findings.size(),
                                         findings.size() == 1 ? "finding is" : "findings are");
  return Print(TerminalSafe(text));
}

namespace {

Option& AddRepeatable(Command* verb, const char* name, std::vector<std::string>* values,
                      const std::string& help) {
  return verb->Add(name, values, help + "; repeatable").OneEach();
}

void AddRunOptions(Command* verb, CompletionArguments* options) {
  RecordArguments* a = &options->arguments;
  verb->Heading("With --complete: what ran");
  verb->Add("--run-id", &options->run_id, "Another name for the run").NotEmpty();
  verb->Add("--repository", &options->repository, "Folder or URL of the code");
  verb->Add("--commit", &options->commit, "The full commit");
  AddRepeatable(verb, "--code-file", &a->code_files, "Sources, hashed as they are here").File();
  verb->Add("--image", &a->image, "REFERENCE@sha256:DIGEST, or the path of a SIF or squashfs file")
      .Value("IMAGE")
      .NotEmpty();
  verb->Add("--working-directory", &options->working_directory,
            "Folder below the repository's in which the command runs");
  verb->Add("--started", &options->started, "When it started: 2026-03-01T12:00:00Z");
  verb->Add("--ended", &options->ended, "When it ended");
  verb->Add("--here", &options->here,
            "Take what is missing of the environment and the hardware from this machine");
}

void AddDataOptions(Command* verb, CompletionArguments* options) {
  RecordArguments* a = &options->arguments;
  verb->Heading("With --complete: what it read and wrote");
  AddRepeatable(verb, "--data", &a->data,
                "Input files and folders, hashed as they are here: [NAME=]PATH")
      .Path();
  AddRepeatable(
      verb, "--source", &a->sources,
      "Where a file of --data lies, too: NAME=URL (https, s3, lakefs); its server is asked "
      "for the version or commit that it is now");
  AddRepeatable(verb, "--made-by", &a->made_by,
                "Which transform wrote data of the record: NAME=REPOSITORY@COMMIT, with ,version=V "
                "behind it or NAME=version=V alone");
  verb->Add(
          "--croissant", &options->croissant,
          "Description of a data set: its files' SHA-256 and sources; files at hand must match it")
      .File();
  AddRepeatable(verb, "--seed", &a->seeds, "Seeds: NAME=INTEGER");
  AddRepeatable(verb, "--rng", &a->rng_sources, "Sources of randomness without a known seed");
  AddRepeatable(verb, "--hyper", &a->hyperparameters, "Hyperparameters: NAME=JSON, or NAME=TEXT");
  AddRepeatable(verb, "--weights", &a->weights,
                "Checkpoints that the run wrote, hashed as they are here")
      .Path();
  AddRepeatable(
      verb, "--output", &options->outputs,
      "Where the command writes an output that the record has elsewhere: OLD=NEW, files or "
      "folders, OLD is . for all of them");
  AddRepeatable(verb, "--artifact", &a->artifacts, "Other outputs: ROLE=PATH");
  verb->Add("--metrics", &a->metrics_path, "Metrics file that the command writes").File();
  AddRepeatable(verb, "--metric", &a->metrics,
                "What a metric of the record means: NAME,direction=higher,margin=0.01,primary,"
                "on=DATA; with NAME,on=DATA alone the rest stays");
  verb->Add("--determinism", &a->determinism, "What a rerun must meet")
      .Choices({"bitwise", "statistical"});
  verb->Add("--scope", &a->scope, "Where the bits hold")
      .Choices({"hardware_class", "architecture"});
  verb->Add("--root", &a->root, "Record folders below this one relative to it").Folder();
}

}  // namespace

void AddCompletionOptions(Command* verb, CompletionArguments* arguments) {
  const std::size_t before = verb->options().size();
  verb->Add("--complete", &arguments->file,
            "Fill in what this manifest lacks: a hint of today, with the options below")
      .File();
  AddRunOptions(verb, arguments);
  AddDataOptions(verb, arguments);
  for (std::size_t i = before + 1; i < verb->options().size(); ++i) {
    arguments->options.push_back(verb->options()[i].get());
  }
  verb->Note(
      "Values that --complete adds are hints, with the day, in the manifest's \"origin\": "
      "nobody observed them during the run. Content for which the record has a SHA-256 must "
      "match it; other content is refused. An import lists what is missing, and `rharness "
      "check` what is still missing.");
}

Status RequireComplete(const CompletionArguments& arguments) {
  const auto given =
      std::ranges::find_if(arguments.options, [](const Option* one) { return one->given() > 0; });
  if (given == arguments.options.end()) return {};
  return InvalidInput("goes with --complete M.json", (*given)->facts().LongName());
}

}  // namespace rharness
