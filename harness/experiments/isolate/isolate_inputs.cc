// Reading both sides of a search.
#include "harness/experiments/isolate/isolate_inputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <sstream>
#include <utility>

#include "compare/curves/series.h"
#include "harness/base/borrowed_repository.h"
#include "harness/base/files.h"
#include "harness/base/trouble.h"
#include "harness/drill/drill_folder.h"
#include "harness/drill/given_names.h"
#include "harness/drill/surroundings.h"
#include "harness/execution/rerun/data_cache.h"
#include "harness/execution/rerun/found_data.h"
#include "harness/execution/rerun/python_place.h"
#include "harness/experiments/isolate/trial_judge.h"
#include "harness/history/store.h"
#include "harness/verdict/verdict.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostChain = 10000;

std::shared_ptr<HistoryStore> NoHistory() { return nullptr; }

// A file, or the id of a run of the history.
Result<Manifest> LoadSide(const std::string& name, HistoryStore* history) {
  std::error_code error;
  if (fs::is_regular_file(name, error)) return LoadManifest(name);
  if (history != nullptr) return history->Get(name);
  return NotFound("no such file; for the id of a run of a history, give --history",
                  TerminalSafe(name));
}

// The evidence at a path: a file, the folder around it, or for a drill's folder that of each rerun
// of the run.
std::map<int, fs::path> EvidenceAt(const fs::path& path, const std::string& run_id) {
  std::map<int, fs::path> found;
  std::error_code error;
  if (fs::is_regular_file(path, error)) return {{0, path}};
  if (fs::is_regular_file(path / "evidence.json", error)) return {{0, path / "evidence.json"}};
  for (const auto& entry : fs::directory_iterator(path / "runs" / run_id, error)) {
    const std::string name = entry.path().filename().string();
    const bool number = !name.empty() && name.size() < 9 &&
                        std::ranges::all_of(name, [](char c) { return c >= '0' && c <= '9'; });
    if (number && fs::is_regular_file(entry.path() / "evidence.json", error)) {
      found[std::stoi(name)] = entry.path() / "evidence.json";
    }
  }
  return found;
}

bool IsEvidence(const fs::path& path) {
  const auto text = ReadFile(path, std::uint64_t{64} << 20);
  if (!text.ok()) return false;
  const auto json = ParseJson(*text, path.string());
  const Json* schema = json.ok() ? json->Find("schema") : nullptr;
  return schema != nullptr && schema->kind() == Json::Kind::kString &&
         schema->AsString().starts_with("rharness.evidence/");
}

// The drifted side from evidence: the first that shows a difference.
Status TakeEvidence(const std::map<int, fs::path>& files, const IsolateOptions& options,
                    IsolateSettings* settings) {
  const Family family(settings->family);
  const bool bits = settings->bits;
  for (const auto& [number, file] : files) {
    ASSIGN_OR_RETURN(const Evidence evidence, LoadEvidence(file));
    if (evidence.run_id != settings->recorded.run_id) {
      return InvalidInput(fmt::format("is evidence of run {}, not of {}",
                                      TerminalSafe(evidence.run_id), settings->recorded.run_id),
                          file.string());
    }
    const Manifest seen = AsSeen(settings->recorded, evidence);
    const fs::path folder = fs::absolute(file).parent_path().parent_path().parent_path();
    const TrialJudge judge{settings->recorded, family, options.drill.places, folder.parent_path()};
    std::vector<std::string> damage;
    const Signature signature = SignatureOf(judge.Judge(seen, {evidence}, &damage), bits);
    const bool telling = signature.not_judged.empty() && !signature.Empty();
    if (!telling && number != files.rbegin()->first) continue;
    if (!telling && !evidence.obstacle.empty() && options.axes.empty()) {
      return InvalidInput(fmt::format("shows no difference, because that rerun was not carried "
                                      "out: {}; name what changed with --axis, such as --axis "
                                      "data:NAME=SHA256@LOCATION",
                                      TerminalSafe(evidence.obstacle)),
                          file.string());
    }
    if (!telling && signature.not_judged.empty()) {
      return InvalidInput("shows no difference from the record", file.string());
    }
    settings->drifted = seen;
    if (telling) settings->expected = signature;
    return {};
  }
  return {};
}

// Both records have results, and these are the same to the last bit. What a record has not is no
// result of it.
bool SameResults(const Manifest& then, const Manifest& now) {
  const auto weights = [](const Manifest& run) {
    std::map<std::string, std::string> digests;
    for (const Artifact& one : run.artifacts) {
      if (IsCheckpoint(one)) digests[one.path] = LoadedDigest(one);
    }
    return digests;
  };
  const auto numbers = [](const Manifest& run) {
    std::map<std::string, std::vector<double>> values;
    for (const Metric& one : run.metrics) values[one.name] = {one.value};
    for (const Curve& one : run.curves) {
      if (KindOfCurve(one.name) != CurveKind::kResource) values["curve " + one.name] = one.values;
    }
    return values;
  };
  const bool digests =
      std::ranges::none_of(weights(then), [](const auto& one) { return one.second.empty(); });
  const bool any = !weights(then).empty() || !numbers(then).empty();
  return any && digests && weights(then) == weights(now) && numbers(then) == numbers(now);
}

// The run as rerun by the drill of this id, from the history; none: the history has no verdict of
// such a drill.
Result<std::optional<Manifest>> SeenByDrill(const std::string& drill_id, const Manifest& recorded,
                                            HistoryStore* history) {
  std::optional<Manifest> none;
  if (history == nullptr) return none;
  ASSIGN_OR_RETURN(const auto verdicts, history->Verdicts(recorded.run_id));
  const auto found = std::ranges::find(verdicts, drill_id, &VerdictRecord::drill_id);
  if (found == verdicts.end()) return none;
  if (found->verdict == Verdict::kIdentical) {
    return InvalidInput(
        fmt::format("that drill called {} identical: nothing drifted there", recorded.run_id),
        "--against " + drill_id);
  }
  if (found->surroundings_sha256.empty()) {
    return InvalidInput(
        fmt::format("the history keeps nothing of where that drill reran {}; expected the drill's "
                    "folder",
                    recorded.run_id),
        "--against " + drill_id);
  }
  ASSIGN_OR_RETURN(const Surroundings parts, history->GetSurroundings(found->surroundings_sha256));
  ASSIGN_OR_RETURN(const Evidence evidence, EvidenceFrom(parts, recorded, "surroundings"));
  return std::optional(AsSeen(recorded, evidence));
}

Status TakeDrifted(const IsolateOptions& options, HistoryStore* history,
                   IsolateSettings* settings) {
  if (options.against.empty()) return {};
  std::error_code error;
  if (!fs::exists(options.against, error)) {
    ASSIGN_OR_RETURN(settings->drifted, SeenByDrill(options.against, settings->recorded, history));
    if (settings->drifted) return {};
  }
  const auto evidence = EvidenceAt(options.against, settings->recorded.run_id);
  if (!evidence.empty() && (evidence.begin()->first > 0 || IsEvidence(evidence.begin()->second))) {
    return TakeEvidence(evidence, options, settings);
  }
  if (fs::is_directory(options.against, error)) {
    return NotFound(fmt::format("has no evidence of run {}; expected the folder of a drill of it, "
                                "or of one of its reruns",
                                settings->recorded.run_id),
                    TerminalSafe(options.against));
  }
  ASSIGN_OR_RETURN(settings->drifted, LoadSide(options.against, history));
  if (SameResults(settings->recorded, *settings->drifted)) {
    return InvalidInput("has the results of the record, bit for bit: nothing drifted",
                        TerminalSafe(options.against));
  }
  return {};
}

// Commits from after `good` to `bad`, the first parents alone; none if git cannot list them: then
// only the two are known, with a note.
Result<std::vector<std::string>> CommitsBetween(const Places& places, const Code& good,
                                                const std::string& bad) {
  ASSIGN_OR_RETURN(const fs::path path,
                   Locate(places, good.repository.empty() ? "." : good.repository));
  ASSIGN_OR_RETURN(const BorrowedRepository git, BorrowedRepository::OfWorkTree(path));
  const auto ancestor = git.Run({"merge-base", "--is-ancestor", good.commit, bad});
  if (!ancestor.outcome.Succeeded()) {
    return InvalidInput(fmt::format("{} does not follow {} there", bad, good.commit),
                        path.string());
  }
  ASSIGN_OR_RETURN(const std::string text,
                   git.Ask({"rev-list", "--first-parent", "--reverse", good.commit + ".." + bad}));
  std::vector<std::string> commits;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) commits.push_back(line);
  if (commits.size() > kMostChain) {
    return InvalidInput(fmt::format("{} commits are too many for one search", commits.size()),
                        path.string());
  }
  return commits;
}

Status FindChain(const IsolateOptions& options, IsolateSettings* settings) {
  ASSIGN_OR_RETURN(const std::vector<Axis> axes, AxesOf(*settings, options.parse_image));
  const auto axis = std::ranges::find(axes, true, &Axis::chain_may_be_found);
  if (axis == axes.end()) return {};
  Code good = axis->values.front().code;
  auto commits = CommitsBetween(options.drill.places, good, axis->values.back().code.commit);
  if (commits.ok()) {
    settings->chain = std::move(*commits);
    return {};
  }
  settings->notes.push_back(
      "the commits between the two are not known, so that they are one step: " +
      commits.error().ToString());
  return {};
}

// The data at an item's location, or in the cache under its hash.
Result<TreeDigest> LookForData(const Places& places, const DataItem& item) {
  std::error_code error;
  const fs::path cached =
      places.cache.empty() ? fs::path() : PathInCache(places.cache, item.sha256);
  if (!cached.empty() && fs::exists(cached, error)) return HashData(cached, item);
  ASSIGN_OR_RETURN(const fs::path path,
                   Locate(places, item.location.empty() ? item.path : item.location));
  return HashData(path, item);
}

// Why this value of a data axis is not available; empty: it is. Fills in the size of a requested
// one.
Result<std::string> WhyDataAreMissing(const Places& places, const std::optional<DataItem>& item,
                                      IsolateSettings* settings) {
  if (!item) return std::string();
  const auto found = LookForData(places, *item);
  if (!found.ok() && IsTrouble(found.error())) return found.error();
  if (!found.ok()) return found.error().ToString();
  if (found->sha256 != item->sha256) {
    return fmt::format("{} has the SHA-256 {}",
                       item->location.empty() ? item->path : item->location, found->sha256);
  }
  const std::string other = OtherEmptyFolders(item->empty_folders, found->empty_folders);
  // A rerun has the recorded ones, but where data are mounted as they are.
  if (!other.empty() && item->path.starts_with('/')) return other;
  if (item->size_bytes == 0) settings->sizes[item->sha256] = found->size_bytes;
  return std::string();
}

// Data missing in the version of one side are held at the version of the other.
Status HoldMissingData(const IsolateOptions& options, IsolateSettings* settings) {
  ASSIGN_OR_RETURN(const std::vector<Axis> axes, AxesOf(*settings, options.parse_image));
  for (const Axis& axis : axes) {
    if (axis.kind != AxisKind::kData || !axis.cannot_be_set.empty()) continue;
    const Places& places = options.drill.places;
    ASSIGN_OR_RETURN(const std::string then,
                     WhyDataAreMissing(places, axis.values.front().data, settings));
    ASSIGN_OR_RETURN(const std::string now,
                     WhyDataAreMissing(places, axis.values.back().data, settings));
    if (!now.empty() && (axis.asked_for || !then.empty())) {
      return InvalidInput("cannot be had: " + now, TerminalSafe(axis.name));
    }
    if (then.empty() && now.empty()) continue;
    settings->held.push_back(
        {.name = axis.name,
         .why = now.empty() ? fmt::format("the recorded one is not available ({}): it stays as it "
                                          "drifted in every rerun",
                                          then)
                            : fmt::format("the drifted one cannot be had ({}): it stays as "
                                          "recorded in every rerun",
                                          now),
         .drifted = now.empty()});
  }
  return {};
}

// A Python environment that is missing here is held as recorded.
Status HoldMissingPython(const IsolateOptions& options, IsolateSettings* settings) {
  if (options.drill.dispatch != "local") return {};
  ASSIGN_OR_RETURN(const std::vector<Axis> axes, AxesOf(*settings, options.parse_image));
  for (const Axis& axis : axes) {
    if (axis.kind != AxisKind::kPython || !axis.cannot_be_set.empty()) continue;
    for (const AxisValue& value : axis.values) {
      const std::string why = value.setting ? WhyNoPython(*value.setting) : "";
      if (why.empty()) continue;
      if (axis.asked_for) return InvalidInput("cannot be had: " + why, TerminalSafe(axis.name));
      settings->held.push_back(
          {.name = axis.name,
           .why = fmt::format("the drifted one cannot be had ({}): it stays as recorded in every "
                              "rerun",
                              why)});
    }
  }
  return {};
}

// What a rerun would not heed is no axis.
Status CheckAxes(const IsolateOptions& options, const IsolateSettings& settings) {
  ASSIGN_OR_RETURN(const std::vector<Axis> axes, AxesOf(settings, options.parse_image));
  for (const Axis& axis : axes) {
    if (axis.kind == AxisKind::kNode && options.drill.dispatch != "slurm") {
      return InvalidInput("goes with --dispatch slurm", "--axis node:");
    }
    if (axis.kind == AxisKind::kVariable && options.drill.environment.contains(axis.subject)) {
      return InvalidInput("is set for every rerun, and is what changed, too; take one of the two",
                          TerminalSafe("--env " + axis.subject));
    }
  }
  return {};
}

}  // namespace

Result<IsolateSettings> GatherSettings(const IsolateOptions& options, Clock* clock) {
  IsolateSettings settings{.drill = {.drill_id = MakeDrillId(clock->Now()),
                                     .started = clock->Now(),
                                     .options = options.drill},
                           .axes = options.axes,
                           .rules = options.rules,
                           .end_reruns = options.end_reruns};
  std::shared_ptr<HistoryStore> history = NoHistory();
  if (!options.drill.history.empty()) {
    ASSIGN_OR_RETURN(history, HistoryStore::OpenExisting(options.drill.history));
  }
  ASSIGN_OR_RETURN(settings.recorded, LoadSide(options.run, history.get()));
  settings.drill.run_ids = {settings.recorded.run_id};
  settings.bits = options.bits || settings.recorded.determinism.declared == "bitwise";
  if (history != nullptr && !settings.recorded.family.empty()) {
    ASSIGN_OR_RETURN(settings.family, history->LoadFamily(settings.recorded.family));
  }
  const auto own = std::ranges::find(settings.family, settings.recorded.run_id, &Manifest::run_id);
  if (own == settings.family.end()) settings.family.push_back(settings.recorded);
  RETURN_IF_ERROR(TakeDrifted(options, history.get(), &settings));
  std::vector<Manifest> sides = {settings.recorded};
  if (settings.drifted) sides.push_back(*settings.drifted);
  RETURN_IF_ERROR(RequireUsedMaps(options.drill, sides));
  if (!settings.drifted && settings.axes.empty()) {
    return InvalidInput("expected what drifted, by --against, or what changed, by --axis",
                        "rharness isolate");
  }
  RETURN_IF_ERROR(CheckAxes(options, settings));
  RETURN_IF_ERROR(FindChain(options, &settings));
  RETURN_IF_ERROR(HoldMissingData(options, &settings));
  RETURN_IF_ERROR(HoldMissingPython(options, &settings));
  return settings;
}

}  // namespace rharness
