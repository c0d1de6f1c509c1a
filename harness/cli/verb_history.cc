// rharness history: fill, list and show the runs of a history.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "harness/base/clock.h"
#include "harness/base/files.h"
#include "harness/base/log.h"
#include "harness/base/spelling.h"
#include "harness/base/version.h"
#include "harness/cli/document_options.h"
#include "harness/cli/history_add.h"
#include "harness/cli/history_place.h"
#include "harness/cli/history_text.h"
#include "harness/cli/outputs.h"
#include "harness/cli/retired_runs.h"
#include "harness/cli/verb.h"
#include "harness/drill/history_of.h"
#include "harness/drill/select.h"
#include "harness/drill/selection_check.h"
#include "harness/history/location.h"
#include "harness/history/store.h"
#include "harness/judge/image_tags.h"
#include "harness/records/manifest/manifest.h"
#include "harness/trust/approval/deleted_files.h"
#include "harness/trust/approval/retirement_approval.h"
#include "reports/history_report.h"
#include "reports/text.h"

namespace rharness {
namespace {

struct HistoryOptions {
  std::string url;
  std::vector<std::string> paths;
  bool force = false;
  std::string select;
  bool with_retired = false;
  bool json = false;
  std::string name;  // of what is shown: a run or a family
  bool family = false;
  std::size_t last = 20;  // drills of a family
  DocumentOptions formats;
};

Result<int> AddPaths(const HistoryOptions& options) {
  return AddManifests(options.url, options.paths, options.force);
}

// What is told is no less worth telling where a retirement is not as it was signed.
int OrDoubt(const RetirementDoubtTexts& doubts, int code) {
  return code == kExitOk && !doubts.empty() ? kExitIntegrity : code;
}

// Writes the formats that were asked for, and prints one of them, or JSON, or `text`.
Result<int> Tell(const HistoryOptions& options, const Document& document,
                 const std::function<Json()>& json, const std::function<std::string()>& text) {
  const std::vector<Output> outputs = OutputsOf(options.formats, document);
  RETURN_IF_ERROR(WriteFiles(outputs));
  return PrintReport(outputs, {.verb = "history",
                               .headline = document.headline,
                               .exit_code = document.exit_code,
                               .as_json = options.json,
                               .json = json,
                               .text = text});
}

Result<int> ListRuns(const HistoryOptions& options) {
  ASSIGN_OR_RETURN(const std::string url, HistoryAt(options.url));
  RETURN_IF_ERROR(CheckOutputs(FilesOf(options.formats), FilesOfHistory(url), options.json));
  Result<Selection> selection = Selection::Parse(options.select);
  if (!selection.ok()) return selection.error();
  ASSIGN_OR_RETURN(const auto store, HistoryStore::OpenExisting(url));
  ASSIGN_OR_RETURN(std::vector<HistoryEntry> entries, store->List(true));
  RETURN_IF_ERROR(CheckNamedValues(*selection, entries));
  RETURN_IF_ERROR(FindArtifacts(store.get(), &*selection));
  if (!options.with_retired) {
    std::erase_if(entries, [](const HistoryEntry& entry) { return entry.retired.has_value(); });
  }
  const WallTime now = SystemClock().Now();
  const std::size_t all = entries.size();
  std::erase_if(entries, [&](const HistoryEntry& e) { return !selection->Matches(e, now); });
  std::set<std::string> families;
  for (const HistoryEntry& entry : entries) families.insert(entry.family);
  ASSIGN_OR_RETURN(const auto together, LoadLastTogether(families, store.get()));
  ASSIGN_OR_RETURN(const auto doubts, WarnOfRetirements(entries, now, store.get()));
  std::vector<HistoryRun> runs = HistoryRunsOf(entries);
  for (HistoryRun& run : runs) TellDoubt(doubts, &run);
  const Document document = DocumentOf(runs, together, kVersion, OrDoubt(doubts, kExitOk));
  if (all == 0 && !options.json) {
    LogInfo("the history holds no runs; 'rharness history add --history URL M.json' adds some");
  } else if (entries.empty() && !options.json) {
    LogInfo(fmt::format("none of {} runs is selected; widen --select", all));
  }
  return Tell(
      options, document, [&] { return ToJson(runs, together); },
      [&]() -> std::string {
        if (entries.empty()) return "";
        // Rows for programs are runs alone.
        const bool aligned = ::isatty(STDOUT_FILENO) != 0;
        return EntriesAsTable(entries, doubts, now, aligned) +
               (aligned ? TogetherAsLines(together, now) : "");
      });
}

template <class History>
Result<int> Show(const History& history, const HistoryOptions& options, const Document& document) {
  return Tell(
      options, document, [&] { return ToJson(history); }, [&] { return ScreenText(document); });
}

// Of the last runs of a family: a thousand manifests take seconds to read.
Result<std::vector<std::string>> TagMovesOf(const std::vector<HistoryEntry>& family,
                                            HistoryStore* store) {
  constexpr std::size_t kMostRead = 100;
  std::vector<Manifest> runs;
  for (std::size_t i = family.size() - std::min(family.size(), kMostRead); i < family.size(); ++i) {
    ASSIGN_OR_RETURN(Manifest manifest, store->Get(family[i].run_id));
    runs.push_back(std::move(manifest));
  }
  return TagMoves(runs);
}

Result<int> ShowRun(const HistoryEntry& entry, const HistoryOptions& options, bool also_family,
                    HistoryStore* store) {
  ASSIGN_OR_RETURN(RunHistory history, LoadRunHistory(entry.run_id, store));
  ASSIGN_OR_RETURN(const Manifest manifest, store->Get(entry.run_id));
  history.history = options.url;
  ASSIGN_OR_RETURN(const RetirementTold told,
                   RetirementOf(entry.run_id, nullptr, SystemClock().Now(), store));
  if (told.state == RetirementState::kDoubtful) return IntegrityError(told.doubt, entry.run_id);
  if (told.state == RetirementState::kAsked)
    history.notes.push_back("to be retired: " + LineOf(told));
  history.record = RecordOf(entry, manifest, SystemClock().Now());
  ASSIGN_OR_RETURN(const auto verdicts, store->PropertyVerdicts(entry.run_id));
  std::ranges::copy(PropertiesOf(verdicts), std::back_inserter(history.record));
  ASSIGN_OR_RETURN(const auto deleted,
                   DeletedFilesOf(entry.run_id, nullptr, SystemClock().Now(), store));
  for (const DeletedFile& one : deleted) {
    history.record.emplace_back(
        "deleted", fmt::format("{} {}: {}", one.file.role, one.file.path, DeletedWords(one)));
  }
  ASSIGN_OR_RETURN(const std::vector<Claim> claims, store->Claims());
  for (const Claim& claim : claims) {
    if (claim.run_id != entry.run_id) continue;
    history.notes.push_back(fmt::format("drill {} (host {}, process {}) has it now, since {}",
                                        claim.drill_id, claim.host, claim.pid,
                                        FormatTime(claim.since)));
  }
  if (manifest.image.kind == ImageKind::kOci) {
    ASSIGN_OR_RETURN(const auto family, store->FamilyEntries(entry.family));
    ASSIGN_OR_RETURN(const auto moves, TagMovesOf(family, store));
    history.notes.insert(history.notes.end(), moves.begin(), moves.end());
  }
  if (also_family) {
    history.notes.push_back(fmt::format(
        "'{}' names a family, too; this is the run. For the family: --family", entry.run_id));
  }
  return Show(history, options, DocumentOf(history, kVersion));
}

Result<int> ShowFamily(const HistoryOptions& options, HistoryStore* store) {
  ASSIGN_OR_RETURN(FamilyHistory history, LoadFamilyHistory(options.name, options.last, store));
  history.history = options.url;
  ASSIGN_OR_RETURN(const auto family, store->FamilyEntries(options.name));
  ASSIGN_OR_RETURN(const auto moves, TagMovesOf(family, store));
  history.notes.insert(history.notes.end(), moves.begin(), moves.end());
  ASSIGN_OR_RETURN(const auto doubts, WarnOfRetirements(family, SystemClock().Now(), store));
  for (FamilyRun& run : history.runs) TellDoubt(doubts, &run.run);
  return Show(history, options, DocumentOf(history, kVersion, OrDoubt(doubts, kExitOk)));
}

// A run or a family, whichever the history holds by that name; the run where it holds both.
Result<int> ShowNamed(const HistoryOptions& given) {
  HistoryOptions options = given;
  ASSIGN_OR_RETURN(options.url, HistoryAt(given.url));
  RETURN_IF_ERROR(
      CheckOutputs(FilesOf(options.formats), FilesOfHistory(options.url), options.json));
  ASSIGN_OR_RETURN(const auto store, HistoryStore::OpenExisting(options.url));
  ASSIGN_OR_RETURN(const auto family, store->FamilyEntries(options.name));
  const Result<HistoryEntry> entry = store->Find(options.name);
  if (!entry.ok() && entry.error().code != ErrorCode::kNotFound) return entry.error();
  if (entry.ok() && !options.family) {
    return ShowRun(*entry, options, !family.empty(), store.get());
  }
  if (!family.empty()) return ShowFamily(options, store.get());
  ASSIGN_OR_RETURN(const auto entries, store->List(true));
  std::vector<std::string> names;
  for (const HistoryEntry& one : entries) {
    names.push_back(one.run_id);
    names.push_back(one.family);
  }
  const std::string nearest = NearestName(options.name, names);
  return NotFound(
      fmt::format("'{}' is neither a run nor a family of the history{} 'rharness history list' "
                  "lists both",
                  TerminalSafe(options.name),
                  nearest.empty() ? ";" : fmt::format("; did you mean {}?", TerminalSafe(nearest))),
      TerminalSafe(options.url));
}

void AddDoubtNote(Command* step) {
  step->Note(
      "Retirements are checked against what was signed for them, without keys. Where one is not as "
      "it was "
      "signed a warning says so, nobody is named, and the exit code is 5.");
}

// One of the verbs below `history`.
Command& AddStep(Command& history, const std::shared_ptr<HistoryOptions>& options, const char* name,
                 const char* summary, Result<int> (*run)(const HistoryOptions&)) {
  Command& step = history.AddVerb(name, summary);
  step.Add("--history", &options->url,
           "The history: sqlite:PATH, the path of its file, or postgresql://HOST:PORT/DATABASE; to "
           "list and show also a folder of manifests, or a drill's")
      .File("URL")
      .Env("RHARNESS_HISTORY")
      .Required();
  step.Do([options, run] {
    const Result<int> code = run(*options);
    return code.ok() ? *code : FailWith(code.error());
  });
  return step;
}

}  // namespace

void AddHistory(Command& root) {
  const auto options = std::make_shared<HistoryOptions>();
  Command& history = root.AddVerb("history", "Store recorded runs and their verdicts");

  Command& add = AddStep(history, options, "add", "Store manifests", AddPaths);
  add.Add("manifests", &options->paths, "Manifests, or folders of *.json manifests")
      .Path()
      .Required();
  add.Example("rharness history add --history runs.db runs/");
  add.Add("--force", &options->force, "Store manifests that are not admitted, too");

  Command& list = AddStep(history, options, "list", "List the runs", ListRuns);
  list.Add("--select", &options->select,
           "Only the runs for which this holds, such as "
           "'family = resnet50 and (verified = never or verified > 30d)'")
      .Value("EXPRESSION");
  list.Example("rharness history list --history runs.db --select 'family = mlp'");
  list.Example("rharness history list --history runs.db --junit junit.xml");
  list.Note(
      "'artifact' is the SHA-256 of a file that the run made, or the tensor digest of its weights "
      "(rharness hash): of a model at hand it tells the run. Every manifest is read for it.");
  list.Add("--retired", &options->with_retired, "Retired runs, too");
  AddDocumentOptions(&list, &options->formats, "a run");
  list.Add("--json", &options->json, "As JSON");
  AddDoubtNote(&list);

  Command& show =
      AddStep(history, options, "show",
              "Show a run or a family: verdict by date, since when, and what changed", ShowNamed);
  show.Add("name", &options->name, "The run, or the family").Required();
  show.Add("--family", &options->family, "The family, where a run has that name, too");
  show.Add("--last", &options->last, "A family's last drills to show")
      .Between(1, 1000)
      .ShowDefault();
  AddDocumentOptions(&show, &options->formats, "a run");
  show.Example("rharness history show --history runs.db mlp-1");
  show.Example("rharness history show --history runs.db mlp --last 5 --html mlp.html");
  show.Add("--json", &options->json, "As JSON");
  AddDoubtNote(&show);
}

}  // namespace rharness
