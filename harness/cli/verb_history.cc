// rharness history: fill, list, show and retire the runs of a history.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <system_error>
#include <utility>
#include <vector>

#include "harness/base/clock.h"
#include "harness/base/files.h"
#include "harness/base/log.h"
#include "harness/base/spelling.h"
#include "harness/base/version.h"
#include "harness/cli/history_text.h"
#include "harness/cli/manifest_files.h"
#include "harness/cli/outputs.h"
#include "harness/cli/progress_line.h"
#include "harness/cli/verb.h"
#include "harness/drill/history_of.h"
#include "harness/drill/select.h"
#include "harness/drill/selection_check.h"
#include "harness/history/store.h"
#include "harness/manifest/admission.h"
#include "harness/manifest/manifest.h"
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
  std::string run_id;
  std::string reason;
  std::string name;  // of what is shown: a run or a family
  bool family = false;
  std::size_t last = 20;  // drills of a family
  std::string html;
};

// A folder stands for the manifests in it, however deep.
Result<std::vector<std::filesystem::path>> FilesOf(const std::vector<std::string>& paths) {
  std::vector<std::filesystem::path> files;
  for (const std::string& path : paths) {
    std::error_code error;
    if (!std::filesystem::is_directory(path, error)) {
      files.emplace_back(path);
      continue;
    }
    ASSIGN_OR_RETURN(const ManifestFiles found, FindManifests(path));
    files.insert(files.end(), found.files.begin(), found.files.end());
  }
  return files;
}

// Loads all and logs every admission finding. Empty: some are refused and nothing may be stored.
Result<std::optional<std::vector<Manifest>>> LoadAdmitted(
    const std::vector<std::filesystem::path>& files, bool force) {
  std::vector<Manifest> manifests;
  std::size_t refused = 0;
  for (const std::filesystem::path& file : files) {
    ASSIGN_OR_RETURN(Manifest manifest, LoadManifest(file));
    const std::vector<AdmissionFinding> findings = Admit(manifest);
    for (const AdmissionFinding& finding : findings) {
      const std::string line = TerminalSafe(fmt::format(
          "{}: {}: {} ({})", file.string(), finding.path, finding.message, finding.code));
      force ? LogWarning(line) : LogError(line);
    }
    if (!findings.empty()) ++refused;
    manifests.push_back(std::move(manifest));
  }
  if (refused == 0 || force) return std::optional(std::move(manifests));
  LogError(
      fmt::format("{} of {} manifests are not complete enough to be judged one day; nothing "
                  "was stored (--force stores them as they are)",
                  refused, files.size()));
  return std::optional<std::vector<Manifest>>();
}

// A run's manifest never changes: all or nothing is stored, and what is in the way is named.
Status CheckAgainstStore(const std::vector<std::filesystem::path>& files,
                         const std::vector<Manifest>& manifests, HistoryStore* store) {
  std::map<std::string, std::size_t> first;
  for (std::size_t i = 0; i < manifests.size(); ++i) {
    const std::string& run_id = manifests[i].run_id;
    const std::string body = ToJson(manifests[i]).Dump();
    const auto [twin, is_new] = first.emplace(run_id, i);
    if (!is_new && ToJson(manifests[twin->second]).Dump() != body) {
      return IntegrityError(
          fmt::format("run '{}' is also that of {}, with other content; nothing was stored", run_id,
                      files[twin->second].string()),
          files[i].string());
    }
    const auto held = store->Get(run_id);
    if (!held.ok() && held.error().code == ErrorCode::kNotFound) continue;
    RETURN_IF_ERROR(held);
    if (ToJson(*held).Dump() == body) continue;
    return IntegrityError(
        fmt::format("run '{}' is in the history with other content; a run's manifest never "
                    "changes, so give the new one another run_id; nothing was stored",
                    run_id),
        files[i].string());
  }
  return {};
}

Result<int> AddManifests(const HistoryOptions& options) {
  ASSIGN_OR_RETURN(const auto files, FilesOf(options.paths));
  ASSIGN_OR_RETURN(const auto manifests, LoadAdmitted(files, options.force));
  if (!manifests) return kExitUsage;
  ASSIGN_OR_RETURN(const auto store, HistoryStore::Open(options.url));
  RETURN_IF_ERROR(CheckAgainstStore(files, *manifests, store.get()));
  std::size_t added = 0;
  for (const Manifest& manifest : *manifests) {
    ASSIGN_OR_RETURN(const AddOutcome outcome, store->Add(manifest, SystemClock().Now()));
    if (outcome == AddOutcome::kAdded) ++added;
  }
  if (!Globals().quiet) {
    LogInfo(fmt::format("added {}; already in the history: {}", Counted(added, "run"),
                        manifests->size() - added));
  }
  return kExitOk;
}

Result<int> ListRuns(const HistoryOptions& options) {
  Result<Selection> selection = Selection::Parse(options.select);
  if (!selection.ok()) return selection.error();
  ASSIGN_OR_RETURN(const auto store, HistoryStore::OpenExisting(options.url));
  ASSIGN_OR_RETURN(std::vector<HistoryEntry> entries, store->List(true));
  RETURN_IF_ERROR(CheckNamedValues(*selection, entries));
  if (!options.with_retired) {
    std::erase_if(entries, [](const HistoryEntry& entry) { return entry.retired.has_value(); });
  }
  const WallTime now = SystemClock().Now();
  const std::size_t all = entries.size();
  std::erase_if(entries, [&](const HistoryEntry& e) { return !selection->Matches(e, now); });
  std::set<std::string> families;
  for (const HistoryEntry& entry : entries) families.insert(entry.family);
  ASSIGN_OR_RETURN(const auto together, LoadLastTogether(families, store.get()));
  if (options.json) {
    ASSIGN_OR_RETURN(const std::vector<HistoryRun> runs, HistoryRunsOf(entries));
    return PrintJson(ToJson(runs, together));
  }
  if (all == 0) {
    LogInfo("the history holds no runs; 'rharness history add --history URL M.json' adds some");
  } else if (entries.empty()) {
    LogInfo(fmt::format("none of {} runs is selected; widen --select", all));
  } else {
    // Rows for programs are runs alone.
    const bool aligned = ::isatty(STDOUT_FILENO) != 0;
    return Print(EntriesAsTable(entries, now, aligned) +
                 (aligned ? TogetherAsLines(together, now) : ""));
  }
  return kExitOk;
}

// Writes the page where one was asked for, and prints it: as JSON, or for people.
template <class History>
Result<int> Show(const History& history, const HistoryOptions& options) {
  if (options.html == "-") return Print(WriteHtml(history, kVersion));
  if (!options.html.empty()) {
    RETURN_IF_ERROR(WriteFileAtomic(options.html, WriteHtml(history, kVersion)));
  }
  if (options.json) return PrintJson(ToJson(history));
  return Print(WriteTerminal(history, TerminalColumns(STDOUT_FILENO), ColorOn(STDOUT_FILENO)));
}

Result<int> ShowRun(const HistoryEntry& entry, const HistoryOptions& options, bool also_family,
                    HistoryStore* store) {
  ASSIGN_OR_RETURN(RunHistory history, LoadRunHistory(entry.run_id, store));
  ASSIGN_OR_RETURN(const Manifest manifest, store->Get(entry.run_id));
  history.history = options.url;
  history.record = RecordOf(entry, manifest, SystemClock().Now());
  ASSIGN_OR_RETURN(const std::vector<Claim> claims, store->Claims());
  for (const Claim& claim : claims) {
    if (claim.run_id != entry.run_id) continue;
    history.notes.push_back(fmt::format("drill {} (host {}, process {}) has it now, since {}",
                                        claim.drill_id, claim.host, claim.pid,
                                        FormatTime(claim.since)));
  }
  if (also_family) {
    history.notes.push_back(fmt::format(
        "'{}' names a family, too; this is the run. For the family: --family", entry.run_id));
  }
  return Show(history, options);
}

Result<int> ShowFamily(const HistoryOptions& options, HistoryStore* store) {
  ASSIGN_OR_RETURN(FamilyHistory history, LoadFamilyHistory(options.name, options.last, store));
  history.history = options.url;
  return Show(history, options);
}

// A run or a family, whichever the history holds by that name; the run where it holds both.
Result<int> ShowNamed(const HistoryOptions& options) {
  RETURN_IF_ERROR(CheckOutputs({options.html}, {}, options.json));
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

Result<int> RetireRun(const HistoryOptions& options) {
  ASSIGN_OR_RETURN(const auto store, HistoryStore::OpenExisting(options.url));
  RETURN_IF_ERROR(store->Retire(options.run_id, options.reason, SystemClock().Now()));
  if (!Globals().quiet) LogInfo(fmt::format("retired run '{}'", options.run_id));
  return kExitOk;
}

// One of the verbs below `history`.
Command& AddStep(Command& history, const std::shared_ptr<HistoryOptions>& options, const char* name,
                 const char* summary, Result<int> (*run)(const HistoryOptions&)) {
  Command& step = history.AddVerb(name, summary);
  step.Add("--history", &options->url,
           "The history: sqlite:PATH, the path of its file, or postgresql://HOST:PORT/DATABASE")
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
  Command& history = root.AddVerb("history", "Keep recorded runs and their verdicts");

  Command& add = AddStep(history, options, "add", "Store manifests", AddManifests);
  add.Add("manifests", &options->paths, "Manifests, or folders of *.json manifests")
      .Path()
      .Required();
  add.Example("rharness history add --history runs.db runs/");
  add.Add("--force", &options->force, "Store manifests that are not admitted, too");

  Command& list = AddStep(history, options, "list", "List the runs", ListRuns);
  list.Add("--select", &options->select,
           "Only the runs for which this holds, such as "
           "'family = resnet50 and (verified = never or verified < 30d)'")
      .Value("EXPRESSION");
  list.Example("rharness history list --history runs.db --select 'family = mlp'");
  list.Add("--retired", &options->with_retired, "Retired runs, too");
  list.Add("--json", &options->json, "As JSON");

  Command& show =
      AddStep(history, options, "show",
              "Show a run or a family: verdict by date, since when, and what changed", ShowNamed);
  show.Add("name", &options->name, "The run, or the family").Required();
  show.Add("--family", &options->family, "The family, where a run has that name, too");
  show.Add("--last", &options->last, "A family's last drills to show")
      .Between(1, 1000)
      .ShowDefault();
  show.Add("--html", &options->html, "Write the page to this file, too; - is stdout").File();
  show.Example("rharness history show --history runs.db mlp-1");
  show.Example("rharness history show --history runs.db mlp --last 5 --html mlp.html");
  show.Add("--json", &options->json, "As JSON");

  Command& retire =
      AddStep(history, options, "retire",
              "Take a run out of drills and of its family's statistics; it stays in the history",
              RetireRun);
  retire.Add("run_id", &options->run_id, "The run").Required();
  retire.Example("rharness history retire --history runs.db mlp-1 --reason \"its data is gone\"");
  retire.Add("--reason", &options->reason, "Why, for those who ask later").Required();
}

}  // namespace rharness
