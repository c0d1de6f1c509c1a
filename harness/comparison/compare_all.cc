// The passes of one call: pair up, load, compare, tally.
#include "harness/comparison/compare_all.h"

#include <fmt/format.h>

#include "harness/base/version.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

bool IsFolder(const fs::path& path) {
  std::error_code error;
  return fs::is_directory(path, error);
}

// What CompareAll works on: the pairs, and the replicates that all of them share.
struct Work {
  std::string title;
  bool single = false;
  PathPairs pairs;
};

// Two folders are one pair when each is a thing of its own, such as a sharded checkpoint; else they
// are folders of things.
Result<Work> PairUp(const ComparisonRequest& request) {
  Work work;
  if (!request.pairs.empty()) {
    ASSIGN_OR_RETURN(work.pairs, FindPairs(request.pairs));
    work.title = fmt::format("{} pairs of {}", work.pairs.pairs.size(), request.pairs.string());
    return work;
  }
  work.title = fmt::format("{} against {}", request.a.string(), request.b.string());
  work.single = !IsFolder(request.a) || !IsFolder(request.b) ||
                (LoadSubject(request.a, request.subject).ok() &&
                 LoadSubject(request.b, request.subject).ok());
  if (work.single) {
    work.pairs.pairs.push_back({"", request.a, request.b});
    return work;
  }
  auto pairs = PairFolders(request.a, request.b);
  if (pairs.ok()) {
    work.pairs = std::move(*pairs);
    return work;
  }
  // Then what is wrong with one of them as a thing of its own says more.
  for (const fs::path& path : {request.a, request.b}) {
    const auto subject = LoadSubject(path, request.subject);
    if (!subject.ok()) return subject.error();
  }
  return pairs.error();
}

Result<Comparison> CompareOne(const PathPair& pair, const std::vector<Subject>& replicates,
                              const ComparisonRequest& request) {
  ASSIGN_OR_RETURN(const Subject a, LoadSubject(pair.a, request.subject));
  ASSIGN_OR_RETURN(const Subject b, LoadSubject(pair.b, request.subject));
  ASSIGN_OR_RETURN(Comparison comparison, CompareSubjects(a, b, replicates, request.compare));
  comparison.name = pair.name;
  return comparison;
}

// A pair of a set that could not be read is a result of that pair, not the end of all others.
Comparison Unreadable(const PathPair& pair, const Error& error) {
  Comparison comparison;
  comparison.name = pair.name;
  comparison.a = {pair.a.string(), "", ""};
  comparison.b = {pair.b.string(), "", ""};
  comparison.findings.push_back(
      {.code = "unreadable",
       .layer = {},
       .subject = error.where.empty() ? pair.name : error.where,
       .observed = error.message,
       .limit = "readable",
       .rule = "both sides must be readable",
       .message =
           error.where.empty() ? error.message : fmt::format("{} ({})", error.message, error.where),
       .decisive = true});
  JudgeComparison(&comparison);
  return comparison;
}

}  // namespace

Result<ComparisonSet> CompareAll(ComparisonRequest request) {
  if (!request.rcp.empty()) {
    ASSIGN_OR_RETURN(request.compare.rcp, LoadRcpSet(request.rcp));
  }
  ASSIGN_OR_RETURN(const Work work, PairUp(request));
  std::vector<Subject> replicates;
  for (const fs::path& path : request.replicates) {
    ASSIGN_OR_RETURN(Subject replicate, LoadSubject(path, request.subject));
    replicates.push_back(std::move(replicate));
  }
  ComparisonSet set{.title = work.title, .version = kVersion, .notes = work.pairs.unpaired};
  const std::size_t count = work.pairs.pairs.size();
  for (const PathPair& pair : work.pairs.pairs) {
    if (request.progress) request.progress(set.comparisons.size(), count);
    auto comparison = CompareOne(pair, replicates, request);
    if (!comparison.ok() && work.single) return comparison.error();
    set.comparisons.push_back(comparison.ok() ? std::move(*comparison)
                                              : Unreadable(pair, comparison.error()));
  }
  if (request.progress) request.progress(count, count);
  Tally(&set);
  return set;
}

}  // namespace rharness
