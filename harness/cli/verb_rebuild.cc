// rharness rebuild: what of runs can still be had, asked before it is needed.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "harness/base/clock.h"
#include "harness/base/files.h"
#include "harness/base/log.h"
#include "harness/cli/manifest_files.h"
#include "harness/cli/verb.h"
#include "harness/drill/select.h"
#include "harness/drill/selection_check.h"
#include "harness/execution/rebuild/rebuild.h"
#include "harness/history/store.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

struct RebuildArguments {
  std::vector<std::string> paths;
  std::string history;
  std::string select;
  bool dry_run = false;
  std::string root = ".";
  std::vector<std::string> maps;
  std::string cache;
  bool network = false;
  bool packages = false;
  bool verify = false;
  double limit_seconds = 20.0;
  bool json = false;
};

std::atomic<bool> rebuild_interrupted{false};
void InterruptRebuild(int) { rebuild_interrupted = true; }

void CatchInterruptsOfRebuild() {
  struct sigaction action {};
  action.sa_handler = InterruptRebuild;
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) ::sigaction(signal, &action, nullptr);
}

Result<RebuildOptions> RebuildOptionsOf(const RebuildArguments& arguments) {
  RebuildOptions options{.places = {.root = arguments.root, .maps = {}, .cache = arguments.cache},
                         .network = arguments.network,
                         .packages = arguments.packages,
                         .verify = arguments.verify,
                         .should_cancel = [] { return rebuild_interrupted.load(); }};
  for (const std::string& text : arguments.maps) {
    const auto equals = text.find('=');
    if (equals == text.npos || equals == 0) {
      return InvalidInput(fmt::format("expected FROM=TO, found '{}'", text), "--map");
    }
    options.places.maps.emplace_back(text.substr(0, equals), text.substr(equals + 1));
  }
  options.limit = std::chrono::duration_cast<std::chrono::milliseconds>(
      std::chrono::duration<double>(arguments.limit_seconds));
  return options;
}

Result<std::vector<RunParts>> AskForFiles(const RebuildArguments& arguments, const Places& places,
                                          Rebuilder* rebuilder) {
  std::vector<std::string> files;
  for (const std::string& path : arguments.paths) {
    std::error_code error;
    if (!fs::is_directory(path, error)) {
      files.push_back(path);
      continue;
    }
    ASSIGN_OR_RETURN(const ManifestFiles found, FindManifests(path));
    files.insert(files.end(), found.files.begin(), found.files.end());
  }
  RETURN_IF_ERROR(RequireUsedMaps(places, files));
  std::vector<RunParts> runs;
  for (const std::string& file : files) {
    if (rebuild_interrupted) return runs;
    ASSIGN_OR_RETURN(const Manifest manifest, LoadManifest(file));
    runs.push_back(rebuilder->Ask(manifest));
  }
  return runs;
}

// Each answer is kept as soon as it is there: what `drill --select` goes by.
Result<std::vector<RunParts>> AskForHistory(const RebuildArguments& arguments, const Places& places,
                                            Rebuilder* rebuilder) {
  ASSIGN_OR_RETURN(Selection selection, Selection::Parse(arguments.select));
  ASSIGN_OR_RETURN(const auto store, HistoryStore::OpenExisting(arguments.history));
  ASSIGN_OR_RETURN(const std::vector<HistoryEntry> entries, store->List(false));
  RETURN_IF_ERROR(CheckNamedValues(selection, entries));
  RETURN_IF_ERROR(FindArtifacts(store.get(), &selection));
  const WallTime now = SystemClock().Now();
  std::vector<RunParts> runs;
  MapUse use(places);
  for (const HistoryEntry& entry : entries) {
    if (!selection.Matches(entry, now)) continue;
    if (rebuild_interrupted) return runs;
    ASSIGN_OR_RETURN(const Manifest manifest, store->Get(entry.run_id));
    use.See(manifest);
    RunParts run = rebuilder->Ask(manifest);
    if (rebuild_interrupted) return runs;  // its questions were cut off
    RETURN_IF_ERROR(store->AddRebuild({.run_id = run.run_id,
                                       .asked = SystemClock().Now(),
                                       .state = std::string(PartStateName(run.State())),
                                       .body = PartsToJson(run.parts).Dump()}));
    runs.push_back(std::move(run));
  }
  if (!use.AllUsed()) LogWarning(UnusedMapsError(use.Unused(), "no selected run").ToString());
  return runs;
}

// A line a part, below its run: what is gone first.
std::string TextOf(const std::vector<RunParts>& runs) {
  std::string text;
  std::map<PartState, std::size_t> counts;
  for (const RunParts& run : runs) {
    ++counts[run.State()];
    text += fmt::format("{}: {}\n", run.run_id, PartStateName(run.State()));
    for (const PartState state : {PartState::kGone, PartState::kUnknown, PartState::kHad}) {
      for (const Part& part : run.parts) {
        if (part.state != state) continue;
        text += fmt::format("  {:<7}  {}{}{}: {}\n", PartStateName(state), part.kind,
                            part.name.empty() ? "" : " ", part.name, part.why);
      }
    }
  }
  text += fmt::format("{} run{}", runs.size(), runs.size() == 1 ? "" : "s");
  for (const auto& [state, count] : counts) {
    text += fmt::format(", {} {}", count, PartStateName(state));
  }
  return TerminalSafe(text + "\n");
}

int ExitCodeOfRuns(const std::vector<RunParts>& runs) {
  if (runs.empty()) return kExitInconclusive;
  const PartState worst = std::ranges::max(runs, {}, &RunParts::State).State();
  return worst == PartState::kGone      ? kExitDrift
         : worst == PartState::kUnknown ? kExitInconclusive
                                        : kExitOk;
}

Status CheckArguments(const RebuildArguments& arguments) {
  if (!arguments.dry_run) {
    return Unsupported(
        "nothing is brought back yet: it can only be asked what could be; expected --dry-run");
  }
  if (arguments.paths.empty() == arguments.history.empty()) {
    return InvalidInput("expected manifests, or a history (--history URL), and not both");
  }
  if (arguments.history.empty() && !arguments.select.empty()) {
    return InvalidInput("selects runs of a history; expected --history URL", "--select");
  }
  return {};
}

Result<int> Rebuild(const RebuildArguments& arguments) {
  RETURN_IF_ERROR(CheckArguments(arguments));
  ASSIGN_OR_RETURN(RebuildOptions options, RebuildOptionsOf(arguments));
  CatchInterruptsOfRebuild();
  const Places places = options.places;
  Rebuilder rebuilder(std::move(options));
  ASSIGN_OR_RETURN(const std::vector<RunParts> runs,
                   arguments.history.empty() ? AskForFiles(arguments, places, &rebuilder)
                                             : AskForHistory(arguments, places, &rebuilder));
  int code = kExitOk;
  const int outcome = ExitCodeOfRuns(runs);
  if (arguments.json) {
    code = PrintJson(ToJson(runs));
  } else if (!Globals().quiet || outcome != kExitOk) {
    code = Print(TextOf(runs));
  }
  if (code != kExitOk) return code;
  if (rebuild_interrupted) return kExitInfrastructure;
  if (runs.empty()) LogWarning("no run was asked for; widen --select");
  return outcome;
}

void AddRebuildInputs(Command* verb, RebuildArguments* a) {
  verb->Add("manifests", &a->paths, "Manifests, or folders of them, however deep").Path();
  verb->Add("--dry-run", &a->dry_run, "Ask, and bring nothing back: all that there is so far");
  verb->Add("--history", &a->history,
            "The runs of this history, which keeps the answers: sqlite:PATH, the path of its file, "
            "or postgresql://HOST:PORT/DATABASE")
      .File("URL")
      .Env("RHARNESS_HISTORY");
  verb->Add("--select", &a->select, "Of these only the runs for which this holds")
      .Value("EXPRESSION");
  verb->Add("--root", &a->root, "Where relative locations lie").Folder().ShowDefault();
  verb->Add("--map", &a->maps, "FROM=TO: a recorded location lies here at TO; repeatable")
      .OneEach();
  verb->Add("--data-cache", &a->cache, "Folder of data by their SHA-256 (fetch --cache)").Folder();
}

void AddRebuildQuestions(Command* verb, RebuildArguments* a) {
  verb->Heading("What is asked");
  verb->Add("--network", &a->network,
            "Registries for images, sources for data (http, S3, lakeFS; keys as for `fetch`), "
            "repositories that are URLs for commits");
  verb->Add("--packages", &a->packages,
            "pip's index and apt's lists for the recorded versions, of packages in use where that "
            "is known, 300 of each at most");
  verb->Add("--verify", &a->verify, "Hash data and images that are files; else sizes are compared");
  verb->Add("--limit", &a->limit_seconds, "Time limit of one question")
      .Duration(TimeUnit::kSeconds)
      .ShowDefault();
  verb->Add("--json", &a->json, "Print the answers as JSON (rharness.rebuild/v1)");
}

}  // namespace

void AddRebuild(Command& root) {
  auto options = std::make_shared<RebuildArguments>();
  RebuildArguments* a = options.get();
  Command& verb =
      root.AddVerb("rebuild", "Check whether runs can still be rerun: code, data, image, packages");
  AddRebuildInputs(&verb, a);
  AddRebuildQuestions(&verb, a);
  verb.Note(
      "Of each part (image, commit, diff, code and lock files, data, the commit of what made them, "
      "Python environment, packages, hardware) one line: had (where), gone (who says so) or "
      "unknown (why). Nothing is "
      "downloaded. Without --network "
      "and --packages nobody but this machine is asked.");
  verb.Note(
      "A history keeps the last answer of each run: `history list` shows it, `rebuild = gone` "
      "selects by it, and `drill --order risk` doubts more what may soon not be rerun.");
  verb.ExitCode(kExitOk, "everything can be had");
  verb.ExitCode(kExitDrift, "something is gone");
  verb.ExitCode(kExitUsage, "usage or invalid input; --dry-run is missing");
  verb.ExitCode(kExitInconclusive, "nothing is gone, and of something it is not known");
  verb.ExitCode(kExitInfrastructure, "the history cannot be used, or it was interrupted");
  verb.Example("rharness rebuild --dry-run runs/mlp-1.json");
  verb.Example("rharness rebuild --dry-run --network --history runs.db --select 'family = mlp'");
  verb.Do([options] {
    const auto code = Rebuild(*options);
    return code.ok() ? *code : FailWith(code.error());
  });
}

}  // namespace rharness
