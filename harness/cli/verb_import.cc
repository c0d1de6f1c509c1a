// rharness import: the records that other tools keep of runs, as manifests in a folder; and what
// such a manifest lacks, filled in.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "harness/base/digest.h"
#include "harness/base/file_batch.h"
#include "harness/base/files.h"
#include "harness/base/log.h"
#include "harness/base/shell_word.h"
#include "harness/base/shown_url.h"
#include "harness/base/trouble.h"
#include "harness/cli/complete_manifest.h"
#include "harness/cli/interrupts.h"
#include "harness/cli/verb.h"
#include "harness/records/intake/blockers.h"
#include "harness/records/intake/clean.h"
#include "harness/records/intake/intake.h"
#include "reports/text.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostUnread = 100;  // sentences a record

constexpr char kGrades[] =
    R"text(Nothing is guessed. Each field of a manifest says what it is worth and where it stood ("origin" in the file): exact, where the source holds the value itself or its identity (a full commit, a SHA-256, a metric as it was logged); hint, where it may be so (a short commit, a tag, a truncated digest, a file as it is today); missing, where the source does not say. What blocks a rerun is listed with the command that would fill it; `rharness history add FOLDER` takes in the runs that nothing blocks, and with --force the others.

An import is the same when it is done again: a run has its name from its source, a manifest that has not changed is left alone, and one that has is not written over without --overwrite. Where a disk or a server failed in the midst of a run, the record says so, the exit code is 4, and a later import replaces the record unless somebody edited it. A malformed line is named with its number and the rest is kept. Nothing at the source is changed, executed or unpickled.)text";

struct ImportArguments {
  std::vector<std::string> sources;
  std::string from;
  std::string out;
  std::string family;
  std::vector<std::string> runs;
  bool no_artifacts = false;
  bool overwrite = false;
  bool dry_run = false;
  bool json = false;
  CompletionArguments completion;
};

struct GradeCounts {
  std::array<std::size_t, 3> of{};  // by Grade
  std::size_t& operator[](Grade grade) { return of[static_cast<std::size_t>(grade)]; }
};

// What an import came to.
struct Imported {
  std::size_t runs = 0;
  std::size_t written = 0;
  std::size_t unchanged = 0;
  std::vector<std::string> in_the_way;  // files that hold another record
  std::size_t refused = 0;
  std::size_t complete = 0;
  std::size_t remarks = 0;
  std::map<std::string, GradeCounts, std::less<>> parts;
  std::vector<Blocker> blockers;
  std::vector<Error> trouble;  // in parts of the run that is taken next
  std::size_t unread = 0;      // runs with such parts, and what could not be read at all
};

// The worst grade of each part counts: a part with one hint is a hint.
void CountGrades(const Origin& origin, Imported* sum) {
  std::vector<std::pair<std::string_view, Grade>> worst;
  for (const FieldOrigin& field : origin.fields) {
    const std::string_view name = PartOf(field.path);
    // Fields are sorted by their paths: nearly always the last one.
    const auto part = std::ranges::find(worst.rbegin(), worst.rend(), name,
                                        &std::pair<std::string_view, Grade>::first);
    if (part == worst.rend()) {
      worst.emplace_back(name, field.grade);
    } else {
      part->second = std::max(part->second, field.grade);
    }
  }
  for (const auto& [name, grade] : worst) {
    auto part = sum->parts.find(name);
    if (part == sum->parts.end()) part = sum->parts.emplace(name, GradeCounts()).first;
    ++part->second[grade];
  }
}

// Remarks of a hundred thousand runs are in their files; the first are told.
void TellRemarks(const Manifest& manifest, Imported* sum) {
  constexpr std::size_t kMost = 20;
  for (const std::string& remark : manifest.origin->remarks) {
    if (sum->remarks++ < kMost && !Globals().quiet) {
      LogWarning(TerminalSafe(fmt::format("{}: {}", manifest.run_id, remark)));
    }
  }
}

std::string DigestOfPartial(Manifest manifest) {
  manifest.origin->imported_sha256.clear();
  return Sha256HexOf(ToJson(manifest).Dump());
}

// Whether the file is as an import left it that could not read all of it.
bool IsPartial(std::string_view text, const std::string& file) {
  const auto json = ParseJson(text, file);
  const auto manifest = json.ok() ? ParseManifest(*json, file) : Result<Manifest>(json.error());
  return manifest.ok() && manifest->origin && !manifest->origin->unread.empty() &&
         DigestOfPartial(*manifest) == manifest->origin->imported_sha256;
}

Status Store(const Manifest& manifest, const ImportArguments& arguments, FileBatch* batch,
             Imported* sum) {
  const fs::path file = fs::path(arguments.out) / (manifest.run_id + ".json");
  // The source may hold two runs of one name.
  if (batch->Holds(file)) RETURN_IF_ERROR(batch->Flush());
  std::error_code error;
  const bool exists = !arguments.out.empty() && fs::exists(fs::symlink_status(file, error));
  const std::string text = exists || !arguments.dry_run ? ToJson(manifest).Dump(2) + "\n" : "";
  if (exists) {
    const auto there = ReadFile(file);
    if (there.ok() && *there == text) {
      ++sum->unchanged;
      return {};
    }
    // A part of a run is no better than what is there.
    if (!manifest.origin->unread.empty()) return {};
    const bool partial = !arguments.no_artifacts && there.ok() && IsPartial(*there, file.string());
    if (!arguments.overwrite && !partial) {
      sum->in_the_way.push_back(file.string());
      return {};
    }
    if (partial) LogInfo(TerminalSafe(fmt::format("{}: is read whole now", file.string())));
  }
  if (!arguments.dry_run) {
    RETURN_IF_ERROR(exists ? WriteFileAtomic(file, text) : batch->Add(file, text));
  }
  ++sum->written;
  return {};
}

void Refuse(const std::string& where, const Error& why, Imported* sum) {
  ++(IsTrouble(why) ? sum->unread : sum->refused);
  LogWarning(TerminalSafe(fmt::format("{}: {}", WithoutCredentials(where), why.ToString())));
}

Status Take(ImportedRun run, const ImportArguments& arguments, FileBatch* batch, Imported* sum) {
  Manifest manifest = std::move(run).Take();
  if (!arguments.family.empty()) manifest.family = arguments.family;
  if (!sum->trouble.empty()) ++sum->unread;
  for (const Error& error : std::exchange(sum->trouble, {})) {
    if (manifest.origin->unread.size() < kMostUnread) {
      manifest.origin->unread.push_back(CleanText(error.ToString(), 1024));
    }
  }
  // What was made must be what a reader takes.
  if (const Status taken = CheckManifest(&manifest, manifest.run_id); !taken.ok()) {
    Refuse(manifest.run_id, taken.error(), sum);
    return {};
  }
  if (!manifest.origin->unread.empty()) {
    manifest.origin->imported_sha256 = DigestOfPartial(manifest);
  }
  ++sum->runs;
  CountGrades(*manifest.origin, sum);
  if (!CountBlockers(manifest, sum->runs, &sum->blockers)) ++sum->complete;
  TellRemarks(manifest, sum);
  return Store(manifest, arguments, batch, sum);
}

Status ImportOne(const std::string& source, const ImportArguments& arguments, FileBatch* batch,
                 Imported* sum) {
  ASSIGN_OR_RETURN(const SourceKind* kind, FindSourceKind(arguments.from, source));
  if (arguments.from.empty()) {
    for (const SourceKind* other : OtherKindsIn(source, *kind)) {
      LogInfo(TerminalSafe(fmt::format(
          "{}: taken are the records of {}; it holds others, too: rharness import --from {} {}",
          WithoutCredentials(source), kind->name, other->name,
          ShellWord(WithoutCredentials(source)))));
    }
  }
  ImportRequest request;
  request.source = source;
  request.family = arguments.family;
  request.runs = arguments.runs;
  request.artifacts = !arguments.no_artifacts;
  request.should_cancel = Interrupted;
  request.on_trouble = [&](const Error& error) { sum->trouble.push_back(error); };
  ImportSink sink;
  sink.take = [&](ImportedRun run) { return Take(std::move(run), arguments, batch, sum); };
  sink.refuse = [&](const std::string& where, const Error& why) { Refuse(where, why, sum); };
  return kind->import(request, sink);
}

std::string TextOf(const Imported& sum, const ImportArguments& arguments) {
  std::string text = fmt::format("{:<24} {:>8} {:>8} {:>8}\n", "FIELD", "exact", "hint", "missing");
  for (auto [part, counts] : sum.parts) {
    text += fmt::format("{:<24} {:>8} {:>8} {:>8}\n", part, counts[Grade::kExact],
                        counts[Grade::kHint], counts[Grade::kMissing]);
  }
  if (!sum.blockers.empty())
    text += "\nWHAT BLOCKS A RERUN, IN HOW MANY RUNS, AND WHAT WOULD FILL IT\n";
  for (std::size_t i = 0; i < sum.blockers.size(); ++i) {
    const Blocker& one = sum.blockers[i];
    text += fmt::format("{:>6}  {}: {}\n", one.runs, one.field, one.message);
    const bool said_below =
        i + 1 < sum.blockers.size() && sum.blockers[i + 1].command == one.command;
    if (!one.command.empty() && !said_below) {
      text += fmt::format("{:>6}  {}\n", "", one.command);
    }
  }
  text +=
      fmt::format("\n{} {}: {} {}, {} unchanged; {} can be rerun as they are\n", sum.runs,
                  sum.runs == 1 ? "run" : "runs", sum.written,
                  arguments.dry_run ? "would be written" : "written", sum.unchanged, sum.complete);
  return text;
}

Json JsonOf(const Imported& sum) {
  Json fields = Json::MakeObject();
  for (auto [part, counts] : sum.parts) {
    fields.Set(part, Json::MakeObject({{"exact", counts[Grade::kExact]},
                                       {"hint", counts[Grade::kHint]},
                                       {"missing", counts[Grade::kMissing]}}));
  }
  Json blockers = Json::MakeArray();
  for (const Blocker& one : sum.blockers) {
    blockers.Append(Json::MakeObject({{"field", one.field},
                                      {"code", one.code},
                                      {"message", one.message},
                                      {"command", one.command},
                                      {"runs", one.runs}}));
  }
  Json in_the_way = Json::MakeArray();
  for (const std::string& file : sum.in_the_way) in_the_way.Append(file);
  return Json::MakeObject({{"schema", "rharness.import/v1"},
                           {"runs", sum.runs},
                           {"written", sum.written},
                           {"unchanged", sum.unchanged},
                           {"refused", sum.refused},
                           {"unread", sum.unread},
                           {"complete", sum.complete},
                           {"remarks", sum.remarks},
                           {"in_the_way", std::move(in_the_way)},
                           {"fields", std::move(fields)},
                           {"blockers", std::move(blockers)}});
}

// Files that hold another record than the source now has.
void TellInTheWay(const std::vector<std::string>& files) {
  constexpr std::size_t kMost = 5;
  for (std::size_t i = 0; i < std::min(files.size(), kMost); ++i) {
    LogError(TerminalSafe(
        fmt::format("{}: there is another record already; --overwrite replaces it", files[i])));
  }
  if (files.size() > kMost) LogError(fmt::format("and {} more files", files.size() - kMost));
}

int RunImport(const ImportArguments& arguments) {
  CountInterrupts();
  if (arguments.sources.empty()) {
    return FailWith(
        InvalidInput("expected folders, files or URLs to import, or --complete M.json"));
  }
  if (arguments.out.empty() && !arguments.dry_run) {
    return FailWith(InvalidInput("is required, but for --dry-run", "--out"));
  }
  Imported sum;
  FileBatch batch;
  for (const std::string& source : arguments.sources) {
    const Status status = ImportOne(source, arguments, &batch, &sum);
    // What was taken is kept, whatever came after it.
    const Status kept = batch.Flush();
    if (!kept.ok()) return FailWith(kept.error());
    if (!status.ok()) {
      if (sum.written > 0) {
        LogError(fmt::format("{} runs were written before this", sum.written));
      }
      return FailWith(status.error());
    }
  }
  if (!sum.trouble.empty()) ++sum.unread;  // that no run came after
  if (sum.remarks > 20 && !Globals().quiet) {
    LogWarning(fmt::format("and {} more remarks, in the manifests", sum.remarks - 20));
  }
  TellInTheWay(sum.in_the_way);
  int code = kExitOk;
  if (arguments.json) {
    code = PrintJson(JsonOf(sum));
  } else if (!Globals().quiet) {
    code = Print(TerminalSafe(TextOf(sum, arguments)));
  }
  if (code != kExitOk) return code;
  if (Interrupted()) return kExitInfrastructure;
  if (sum.unread > 0) {
    LogError(fmt::format(
        "{} could not be read whole; import again once the disk or the server is "
        "well{}",
        Counted(sum.unread, "run"),
        arguments.no_artifacts ? "" : ", or take them without (--no-artifacts --overwrite)"));
    return kExitInfrastructure;
  }
  return sum.refused > 0 || !sum.in_the_way.empty() ? kExitUsage : kExitOk;
}

// One manifest is completed at a time: a second one in the place of the command is a slip.
Status CheckCommand(const std::vector<std::string>& command) {
  if (command.empty() || !command.front().ends_with(".json")) return {};
  return InvalidInput(
      fmt::format("completes one manifest; expected the run's command after --, found '{}'",
                  command.front()),
      "--complete");
}

Result<int> CompleteOne(ImportArguments arguments, const Command& verb) {
  for (const char* option :
       {"--from", "--run", "--no-artifacts", "--overwrite", "--dry-run", "--json"}) {
    if (verb.Given(option)) return InvalidInput("does not go with --complete", option);
  }
  RETURN_IF_ERROR(CheckCommand(arguments.sources));
  CompletionArguments& completion = arguments.completion;
  completion.arguments.command = arguments.sources;
  completion.arguments.family = arguments.family;
  completion.out = arguments.out;
  return Complete(completion, verb.Given("--determinism") || verb.Given("--scope"));
}

int ImportOrComplete(const ImportArguments& arguments, const Command& verb) {
  if (arguments.completion.file.empty()) {
    const Status alone = RequireComplete(arguments.completion);
    return alone.ok() ? RunImport(arguments) : FailWith(alone.error());
  }
  const auto code = CompleteOne(arguments, verb);
  return code.ok() ? *code : FailWith(code.error());
}

std::string KindsText() {
  std::string text = "What can be imported, found by its content:\n";
  for (const SourceKind& kind : SourceKinds()) {
    text += fmt::format("\n  {:<10} {}", kind.name, kind.describe);
  }
  return text;
}

}  // namespace

void AddImport(Command& root) {
  auto options = std::make_shared<ImportArguments>();
  Command& verb = root.AddVerb(
      "import", "Turn the records of other tools into manifests, each field with its worth");
  verb.Add("sources", &options->sources,
           "Folders, files or URLs; with --complete the run's command, after --");
  verb.Add("--out", &options->out,
           "Folder for the manifests, RUN_ID.json each; of --complete the file; default: in place")
      .Path();
  verb.Add("--from", &options->from, "Kind of the sources; default: found by their content");
  verb.Add("--family", &options->family, "Family of all runs; default: as the source groups them");
  verb.Add("--run", &options->runs, "Only runs with this id in the source; may be repeated");
  verb.Add("--no-artifacts", &options->no_artifacts, "Hash no artifacts, which reads them whole");
  verb.Add("--overwrite", &options->overwrite, "Replace manifests whose source has changed");
  verb.Add("--dry-run", &options->dry_run, "Write nothing");
  verb.Add("--json", &options->json, "Print the outcome as JSON");
  AddCompletionOptions(&verb, &options->completion);
  verb.Note(KindsText());
  verb.Note(kGrades);
  verb.ExitCode(kExitOk, "all were imported; --complete: written, whether complete or not");
  verb.ExitCode(kExitUsage,
                "a source cannot be read, a record was refused, or another record is in its place; "
                "--complete: nothing was said, or what was said cannot be");
  verb.ExitCode(kExitInfrastructure,
                "a server or a disk failed (what was read of a run is kept, and replaced by a "
                "later import), or it was interrupted");
  verb.Example("rharness import mlruns --out runs");
  verb.Example("rharness import records.json --out runs --family resnet50");
  verb.Example("rharness import --complete runs/mlflow-3f2a.json --croissant data/croissant.json");
  verb.Example(
      "rharness import --complete runs/mlflow-3f2a.json --data train=data/train.csv --here -- "
      "python3 train.py");
  const Command* parsed = &verb;
  verb.Do([options, parsed] { return ImportOrComplete(*options, *parsed); });
}

}  // namespace rharness
