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
#include "harness/base/digest.h"
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
#include "harness/drill/image_tags.h"
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
struct FoundFiles {
  std::vector<std::filesystem::path> files;
  std::size_t skipped = 0;  // others in the folders
};
Result<FoundFiles> ManifestFilesOf(const std::vector<std::string>& paths) {
  FoundFiles all;
  for (const std::string& path : paths) {
    std::error_code error;
    if (!std::filesystem::is_directory(path, error)) {
      all.files.emplace_back(path);
      continue;
    }
    ASSIGN_OR_RETURN(const ManifestFiles found, FindManifests(path));
    all.files.insert(all.files.end(), found.files.begin(), found.files.end());
    all.skipped += found.skipped;
  }
  return all;
}

// Logs what is missing in manifests: of the first few all of it, of the others only what none had.
class Findings {
 public:
  explicit Findings(bool force) : force_(force) {}

  void Log(const std::filesystem::path& file, const std::vector<AdmissionFinding>& findings) {
    if (findings.empty()) return;
    const bool few = ++refused_ <= kFew;
    bool told = false;
    for (const AdmissionFinding& finding : findings) {
      if (!codes_.insert(finding.code).second && !few) continue;
      told = true;
      const std::string line = TerminalSafe(fmt::format(
          "{}: {}: {} ({})", file.string(), finding.path, finding.message, finding.code));
      force_ ? LogWarning(line) : LogError(line);
    }
    if (!told) ++untold_;
  }
  // Whether none is refused.
  bool End(std::size_t all) const {
    if (untold_ > 0) {
      const std::string line =
          fmt::format("the same is missing in {}", Counted(untold_, "more manifest"));
      force_ ? LogWarning(line) : LogError(line);
    }
    if (refused_ == 0 || force_) return true;
    LogError(
        fmt::format("{} of {} manifests are not complete enough to be judged one day; nothing "
                    "was stored (--force stores them as they are)",
                    refused_, all));
    return false;
  }

 private:
  static constexpr std::size_t kFew = 20;
  const bool force_;
  std::set<std::string> codes_;
  std::size_t refused_ = 0;
  std::size_t untold_ = 0;
};

// What was read of a file, to know its manifest again.
struct ReadOnce {
  std::filesystem::path file;
  std::string sha256;  // of its bytes
  std::string stored;  // SHA-256 of its manifest as it is stored
};

struct ReadText {
  std::string sha256;
  Json json;
};
Result<ReadText> ReadManifestText(const std::filesystem::path& file) {
  ASSIGN_OR_RETURN(const std::string text, ReadFile(file));
  ASSIGN_OR_RETURN(Json json, ParseJson(text, file.string()));
  return ReadText{Sha256HexOf(text), std::move(json)};
}

Status DiffersFromStored(const std::string& run_id, const std::filesystem::path& file) {
  return IntegrityError(
      fmt::format("run '{}' is in the history with other content; a run's manifest never "
                  "changes, so give the new one another run_id; nothing was stored",
                  run_id),
      file.string());
}

// Reads all and logs what is missing. A run's manifest never changes: what is in the way of storing
// all of them is named. Empty: some are refused and nothing may be stored. A hundred thousand
// manifests take gigabytes, so that none is held. `store`: null where there is no history yet.
Result<std::vector<ReadOnce>> CheckAll(const std::vector<std::filesystem::path>& files, bool force,
                                       HistoryStore* store) {
  Findings findings(force);
  std::vector<ReadOnce> read;
  std::map<std::string, std::size_t> first;
  std::optional<Error> in_the_way;  // told after what is missing
  for (const std::filesystem::path& file : files) {
    ASSIGN_OR_RETURN(const ReadText text, ReadManifestText(file));
    ASSIGN_OR_RETURN(const Manifest manifest, ParseManifest(text.json, file.string()));
    findings.Log(file, Admit(manifest));
    const std::string body = ToJson(manifest).Dump();
    read.push_back({file, text.sha256, Sha256HexOf(body)});
    if (in_the_way) continue;
    const auto [twin, is_new] = first.emplace(manifest.run_id, read.size() - 1);
    if (!is_new && read[twin->second].stored != read.back().stored) {
      in_the_way = IntegrityError(
          fmt::format("run '{}' is also that of {}, with other content; nothing was stored",
                      manifest.run_id, read[twin->second].file.string()),
          file.string());
      continue;
    }
    if (store == nullptr) continue;
    const auto held = store->Get(manifest.run_id);
    if (!held.ok() && held.error().code == ErrorCode::kNotFound) continue;
    if (!held.ok()) in_the_way = held.error();
    if (held.ok() && ToJson(*held).Dump() != body) {
      in_the_way = DiffersFromStored(manifest.run_id, file).error();
    }
  }
  if (!findings.End(files.size())) return std::vector<ReadOnce>();
  if (in_the_way) return *in_the_way;
  return read;
}

Result<AddOutcome> AddAgain(const ReadOnce& one, HistoryStore* store) {
  ASSIGN_OR_RETURN(const ReadText text, ReadManifestText(one.file));
  if (text.sha256 != one.sha256) {
    return IntegrityError("was changed while manifests were added", one.file.string());
  }
  return store->AddRead(text.json, one.file.string(), SystemClock().Now());
}

Result<int> AddManifests(const HistoryOptions& options) {
  ASSIGN_OR_RETURN(const FoundFiles found, ManifestFilesOf(options.paths));
  const std::vector<std::filesystem::path>& files = found.files;
  // What is refused leaves no empty history behind.
  auto existing = HistoryStore::OpenExisting(options.url);
  if (!existing.ok() && existing.error().code != ErrorCode::kNotFound) return existing.error();
  ASSIGN_OR_RETURN(const std::vector<ReadOnce> read,
                   CheckAll(files, options.force, existing.ok() ? existing->get() : nullptr));
  if (read.empty() && !files.empty()) return kExitUsage;
  ASSIGN_OR_RETURN(const auto store, HistoryStore::Open(options.url));
  std::size_t added = 0;
  for (const ReadOnce& one : read) {
    auto outcome = AddAgain(one, store.get());
    if (!outcome.ok()) {
      Error error = outcome.error();
      error.message += fmt::format("; {} {} been added before, and adding all again goes on there",
                                   Counted(added, "run"), added == 1 ? "has" : "have");
      return error;
    }
    if (*outcome == AddOutcome::kAdded) ++added;
  }
  if (!Globals().quiet) {
    const std::string skipped =
        found.skipped == 0 ? "" : fmt::format("; {} skipped", Counted(found.skipped, "other file"));
    LogInfo(fmt::format("added {}; already in the history: {}{}", Counted(added, "run"),
                        read.size() - added, skipped));
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
  history.record = RecordOf(entry, manifest, SystemClock().Now());
  ASSIGN_OR_RETURN(const auto verdicts, store->PropertyVerdicts(entry.run_id));
  std::ranges::copy(PropertiesOf(verdicts), std::back_inserter(history.record));
  ASSIGN_OR_RETURN(const std::vector<Claim> claims, store->Claims());
  for (const Claim& claim : claims) {
    if (claim.run_id != entry.run_id) continue;
    history.notes.push_back(fmt::format("drill {} (host {}, process {}) has it now, since {}",
                                        claim.drill_id, claim.host, claim.pid,
                                        FormatTime(claim.since)));
  }
  if (manifest.image.kind == "oci") {
    ASSIGN_OR_RETURN(const auto family, store->FamilyEntries(entry.family));
    ASSIGN_OR_RETURN(const auto moves, TagMovesOf(family, store));
    history.notes.insert(history.notes.end(), moves.begin(), moves.end());
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
  ASSIGN_OR_RETURN(const auto family, store->FamilyEntries(options.name));
  ASSIGN_OR_RETURN(const auto moves, TagMovesOf(family, store));
  history.notes.insert(history.notes.end(), moves.begin(), moves.end());
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
