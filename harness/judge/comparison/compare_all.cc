// The passes of one call: pair up, load, compare, tally.
#include "harness/judge/comparison/compare_all.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "compare/curves/tensorboard.h"
#include "compare/curves/tracker_log.h"
#include "compare/siblings.h"
#include "compare/weights/checkpoint_folder.h"
#include "compare/weights/open_checkpoint.h"
#include "compare/weights/side_files.h"
#include "harness/base/version.h"
#include "harness/judge/comparison/subject_records.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

bool IsFolder(const fs::path& path) {
  std::error_code error;
  return fs::is_directory(path, error);
}

// The sides of a pair, each read once.
class Sides {
 public:
  explicit Sides(const ComparisonRequest& request) : request_(request) {}

  const Result<Subject>& Of(const fs::path& path) {
    const auto known = read_.find(path);
    if (known != read_.end()) return known->second;
    return read_.emplace(path, request_.load(path, request_.subject)).first->second;
  }
  void Forget() { read_.clear(); }

 private:
  const ComparisonRequest& request_;
  std::map<fs::path, Result<Subject>> read_;
};

// What CompareAll works on: the pairs, and the replicates that all of them share.
struct Work {
  std::string title;
  bool single = false;
  bool skips_unknown = false;  // folders may have files that are not compared
  PathPairs pairs;
};

// Whether a path is one thing. A folder whose index or .metadata makes it one checkpoint, or that
// has MLPerf results, stays one thing if it is damaged: that is the error of the call.
Result<bool> IsOneThing(const fs::path& path, Sides* sides) {
  if (!IsFolder(path)) return true;
  const Result<Subject>& subject = sides->Of(path);
  if (subject.ok()) return true;
  const auto contents = ListFolder(path);
  if (HoldsResultLogs(path) || (contents.ok() && contents->declared())) return subject.error();
  return false;
}

// Two folders are one pair when each is one thing, such as a sharded checkpoint; else they are
// folders of things.
Result<Work> PairUp(const ComparisonRequest& request, Sides* sides) {
  Work work;
  if (!request.pairs.empty()) {
    ASSIGN_OR_RETURN(work.pairs, FindPairs(request.pairs));
    work.title = fmt::format("{} pairs of {}", work.pairs.pairs.size(), request.pairs.string());
    return work;
  }
  work.title = fmt::format("{} against {}", request.a.string(), request.b.string());
  ASSIGN_OR_RETURN(const bool one_a, IsOneThing(request.a, sides));
  ASSIGN_OR_RETURN(const bool one_b, IsOneThing(request.b, sides));
  work.single = !IsFolder(request.a) || !IsFolder(request.b) || (one_a && one_b);
  if (work.single) {
    work.pairs.pairs.push_back({"", request.a, request.b});
    return work;
  }
  ASSIGN_OR_RETURN(work.pairs, PairFolders(request.a, request.b));
  work.skips_unknown = true;
  return work;
}

// Where no file of two folders is compared, each may be the log of a run: says why it was not read.
Status CheckLogs(const ComparisonRequest& request, Sides* sides) {
  for (const fs::path& path : {request.a, request.b}) {
    const Result<Subject>& subject = sides->Of(path);
    if (!subject.ok() && (HoldsEventFiles(path) || HoldsTrackerLog(path))) return subject.error();
  }
  return {};
}

// Whether neither file is of a kind that is read.
bool IsUnknown(const PathPair& pair, Sides* sides) {
  for (const fs::path& path : {pair.a, pair.b}) {
    const Result<Subject>& subject = sides->Of(path);
    if (subject.ok() || subject.error().code != ErrorCode::kUnsupported) return false;
  }
  return true;
}

// Text without a checkpoint's name: a lock, a log, a note beside the data. Excludes files loaded
// with weights, such as a config.json.
bool IsNote(const fs::path& path) {
  if (SideFileOf(path.filename()) == SideFile::kModel) return false;
  const auto head = ReadHead(path, 4096);
  return head.ok() && IsText(*head) && !IsTextCheckpoint(*head) &&
         !IsCheckpointName(path.filename().string());
}

// Whether a compared pair has no tensor and is one file twice: it shows nothing.
bool IsEmptyTwice(const Comparison& comparison, const PathPair& pair) {
  const auto vacuous = [](const CheckpointComparison& checkpoint) {
    return checkpoint.difference.vacuous && !checkpoint.from_digests;
  };
  if (comparison.checkpoints.empty() || !comparison.metrics.empty() || !comparison.curves.empty() ||
      !std::ranges::all_of(comparison.checkpoints, vacuous)) {
    return false;
  }
  const auto bytes = CompareUnread(pair.a, pair.b, {});
  return bytes.ok() && bytes->difference.bit_equal;
}

// A pair of files that no reader opens: the same bytes are the same, others decide nothing.
Result<Comparison> CompareBytes(const PathPair& pair, std::string_view why) {
  Comparison comparison;
  comparison.name = pair.name;
  comparison.a = {pair.a.string(), SideKind::kFile, "not read"};
  comparison.b = {pair.b.string(), SideKind::kFile, "not read"};
  ASSIGN_OR_RETURN(CheckpointComparison file, CompareUnread(pair.a, pair.b, why));
  comparison.checkpoints.push_back(std::move(file));
  JudgeComparison(&comparison);
  return comparison;
}

Result<Gathered> GatherOne(const PathPair& pair, const std::vector<Subject>& replicates,
                           const CompareOptions& options, Sides* sides) {
  const Result<Subject>& a = sides->Of(pair.a);
  if (!a.ok()) return a.error();
  const Result<Subject>& b = sides->Of(pair.b);
  if (!b.ok()) return b.error();
  ASSIGN_OR_RETURN(Gathered gathered, GatherComparison(*a, *b, replicates, options));
  gathered.comparison.name = pair.name;
  return gathered;
}

// A comparison finished at its source needs no second half.
Gathered Finished(Comparison comparison) {
  return {.comparison = std::move(comparison), .facts_a = {}, .facts_b = {}, .judged = true};
}

// All pairs judged together, each in its turn.
void FinishAll(std::vector<Gathered> gathered, ComparisonSet* set) {
  std::vector<Comparison*> unjudged;
  for (Gathered& one : gathered) {
    if (!one.judged) unjudged.push_back(&one.comparison);
  }
  const auto groups = JudgeSiblings(SiblingsByName(unjudged), "pairs");
  for (std::string& note : NotesOf(groups)) set->notes.push_back(std::move(note));
  for (Gathered& one : gathered) set->comparisons.push_back(FinishComparison(std::move(one)));
}

// A pair of a set that could not be compared is a result of that pair, not the end of all others.
Comparison Undone(const std::string& name, std::string code, const std::string& why) {
  Comparison comparison;
  comparison.name = name;
  comparison.findings.push_back({.code = std::move(code),
                                 .layer = {},
                                 .subject = name,
                                 .observed = {},
                                 .limit = {},
                                 .rule = "both sides must be there and readable",
                                 .message = why,
                                 .decisive = true});
  JudgeComparison(&comparison);
  return comparison;
}

Comparison Unreadable(const PathPair& pair, const Error& error) {
  const std::string why =
      error.where.empty() ? error.message : fmt::format("{} ({})", error.message, error.where);
  Comparison comparison = Undone(pair.name, "unreadable", why);
  comparison.a.path = pair.a.string();
  comparison.b.path = pair.b.string();
  return comparison;
}

// A margin that decides nothing was meant for something: a name is misspelt, or the metric is on
// one side alone. MLPerf results decide by rules of their own.
Status CheckMargins(const Margins& margins, const std::vector<Gathered>& gathered) {
  std::set<std::string> names;
  for (const Gathered& one : gathered) {
    const std::vector<Finding>& findings = one.comparison.findings;
    // What a pair that cannot be read would have had is not known.
    if (std::ranges::find(findings, "unreadable", &Finding::code) != findings.end()) return {};
    if (one.judged) continue;
    if (one.comparison.tokens) names.insert("kl");
    for (const MetricDecision& metric : one.comparison.metrics) {
      if (one.comparison.tokens && metric.name.starts_with("KL(")) continue;
      names.insert(metric.name);
      // A score of every task.
      if (metric.variance_basis == kItemsBasis) {
        names.insert(metric.name.substr(metric.name.rfind('/') + 1));
      }
    }
  }
  for (const auto& [name, unused] : margins) {
    if (names.contains(name)) continue;
    return InvalidInput(
        names.empty() ? fmt::format("no metric '{}' is compared: these two have none that a margin "
                                    "decides",
                                    name)
                      : fmt::format("no metric '{}' is compared; compared are {}", name,
                                    fmt::join(names, ", ")),
        "--metric");
  }
  return {};
}

}  // namespace

Result<ComparisonSet> CompareAll(ComparisonRequest request) {
  if (!request.rcp.empty()) {
    ASSIGN_OR_RETURN(request.compare.rcp, LoadRcpSet(request.rcp));
  }
  Sides sides(request);
  ASSIGN_OR_RETURN(const Work work, PairUp(request, &sides));
  std::vector<Subject> replicates;
  for (const fs::path& path : request.replicates) {
    ASSIGN_OR_RETURN(Subject replicate, request.load(path, request.subject));
    if (replicate.curves.empty() && replicate.manifest.metrics.empty() && !replicate.results) {
      return InvalidInput(
          "holds no curve and no metric; expected a further run of A's configuration",
          path.string());
    }
    replicates.push_back(std::move(replicate));
  }
  ComparisonSet set{.title = work.title, .version = kVersion};
  const std::size_t count = work.pairs.pairs.size();
  std::size_t done = 0;
  std::vector<Gathered> gathered;
  for (const PathPair& pair : work.pairs.pairs) {
    if (request.progress) request.progress(done++, count, pair.name);
    if (!work.single) sides.Forget();
    auto comparison = GatherOne(pair, replicates, request.compare, &sides);
    if (!comparison.ok() && work.skips_unknown && IsUnknown(pair, &sides)) {
      if (IsNote(pair.a) && IsNote(pair.b)) {
        set.notes.push_back("left out, of no kind that is compared: " + pair.name);
        continue;
      }
      auto bytes = CompareBytes(pair, comparison.error().message);
      if (bytes.ok()) {
        comparison = Finished(std::move(*bytes));
      } else {
        comparison = bytes.error();
      }
    }
    if (comparison.ok() && work.skips_unknown && IsEmptyTwice(comparison->comparison, pair)) {
      set.notes.push_back("left out, the same bytes and not one tensor: " + pair.name);
      continue;
    }
    if (!comparison.ok() && work.single) return comparison.error();
    gathered.push_back(comparison.ok() ? std::move(*comparison)
                                       : Finished(Unreadable(pair, comparison.error())));
  }
  if (work.skips_unknown && gathered.empty()) RETURN_IF_ERROR(CheckLogs(request, &sides));
  RETURN_IF_ERROR(CheckMargins(request.compare.margins, gathered));
  for (const auto& [name, why] : work.pairs.unpaired) {
    gathered.push_back(Finished(Undone(name, "unpaired", why)));
  }
  if (request.progress) request.progress(count, count, "");
  FinishAll(std::move(gathered), &set);
  Tally(&set);
  return set;
}

}  // namespace rharness
