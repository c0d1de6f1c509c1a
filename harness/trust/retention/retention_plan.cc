// The files of released runs: found, compared with the record, and listed.
#include "harness/trust/retention/retention_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "harness/base/digest.h"
#include "harness/base/files.h"
#include "harness/base/glob.h"
#include "harness/base/log.h"
#include "harness/base/trouble.h"
#include "harness/history/last_good.h"
#include "harness/trust/retention/needed_files.h"
#include "harness/trust/retention/own_files.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

// What one run's record says of one file.
struct FileClaim {
  const RunRecord* run = nullptr;
  const Artifact* artifact = nullptr;
  std::uint64_t size_bytes = 0;
  std::string sha256;
  bool kept = false;  // its run is kept
};
using Claims = std::map<fs::path, std::vector<FileClaim>>;

std::string LostBy(const Artifact& artifact) {
  if (IsCheckpoint(artifact)) {
    const std::string rest = "nothing can be continued from it or loaded from there";
    if (artifact.tensor_digest.empty()) return rest;
    return "whether a rerun's numbers are equal can still be told, how far they differ cannot; " +
           rest;
  }
  if (artifact.role == "metrics") return "nothing: its numbers are in the manifest";
  if (artifact.role == "log") return "rharness check cannot hold the record to it";
  if (artifact.role == kModelOfTracker) return "the model cannot be loaded from there";
  return "it cannot be compared or looked at";
}

class Planner {
 public:
  struct Stays {
    KeptPlaces needed;  // or made by runs that are kept
    KeptPlaces needed_by_retired;
  };
  Planner(const Policy& policy, const HeldFolder& root, const OwnFiles& own, const Stays& stays)
      : policy_(policy), root_(root), own_(own), stays_(stays) {}

  void Gather(const std::vector<RunRecord>& runs, const std::set<std::string>& kept) {
    for (const RunRecord& run : runs) {
      for (const Artifact& artifact : run.manifest.artifacts) {
        Claim(run, artifact, kept.contains(run.entry.run_id));
      }
    }
  }

  Status Look(RetentionReport* report) {
    for (const auto& [path, claims] : claims_) RETURN_IF_ERROR(LookAt(path, claims, report));
    std::ranges::move(unplaced_, std::back_inserter(report->kept_files));
    std::ranges::stable_sort(report->kept_files, {}, &KeptFile::path);
    return {};
  }

 private:
  void Claim(const RunRecord& run, const Artifact& artifact, bool kept) {
    if (artifact.location.empty()) return;
    const auto place = BelowRoot(artifact.location, root_.path());
    if (!place.ok()) {
      if (!kept) {
        unplaced_.push_back({run.entry.run_id, artifact.location, place.error().message});
      }
      return;
    }
    claims_[*place].push_back({&run, &artifact, artifact.size_bytes, artifact.sha256, kept});
    for (const ArtifactPart& part : artifact.parts) {
      const auto beside = SafeRelativePath((place->parent_path() / part.path).string(), "parts");
      if (!beside.ok()) continue;
      claims_[*beside].push_back({&run, &artifact, part.size_bytes, part.sha256, kept});
    }
  }

  // Why the file is kept although a run lets go of it; empty: it goes.
  Result<std::string> WhyKept(const fs::path& path, const std::vector<FileClaim>& claims) const {
    const FileClaim& last = claims.back();
    for (const FileClaim& claim : claims) {
      if (claim.kept) {
        return fmt::format("is also of run {}, which is kept", claim.run->entry.run_id);
      }
      ASSIGN_OR_RETURN(const std::string needed, stays_.needed.WhoHas(path, claim.sha256));
      if (!needed.empty()) return "is " + needed;
      if (claim.sha256 != last.sha256) {
        return fmt::format("runs {} and {} recorded different content at this place",
                           claim.run->entry.run_id, last.run->entry.run_id);
      }
    }
    if (!IsSha256Hex(last.sha256)) return std::string("its content was not recorded");
    ASSIGN_OR_RETURN(const std::string own, own_.What(root_, path));
    if (!own.empty()) return "is " + own;
    ASSIGN_OR_RETURN(const OpenedFile file, root_.OpenFile(path));
    if (file.size_bytes != last.size_bytes) {
      return fmt::format("is not what was recorded: {} bytes, recorded {}", file.size_bytes,
                         last.size_bytes);
    }
    return std::string();
  }

  Status LookAt(const fs::path& path, const std::vector<FileClaim>& claims,
                RetentionReport* report) const {
    if (std::ranges::all_of(claims, &FileClaim::kept)) return {};
    const auto first =
        std::ranges::find_if(claims, [](const FileClaim& claim) { return !claim.kept; });
    const auto why = WhyKept(path, claims);
    if (!why.ok() && why.error().code == ErrorCode::kNotFound) return {};
    if (!why.ok() && why.error().code == ErrorCode::kIo) return why.error();
    const std::string kept = why.ok() ? *why : why.error().message;
    if (!kept.empty()) {
      report->kept_files.push_back({first->run->entry.run_id, path.string(), kept});
      return {};
    }
    const auto item = ItemOf(path, claims);
    if (item.ok()) report->list.items.push_back(*item);
    const bool gone = !item.ok() && item.error().code == ErrorCode::kNotFound;
    return item.ok() || gone ? Status() : Status(item.error());
  }

  Result<DeletionItem> ItemOf(const fs::path& path, const std::vector<FileClaim>& claims) const {
    const FileClaim& first = claims.front();
    DeletionItem item{.path = path.string(),
                      .size_bytes = first.size_bytes,
                      .sha256 = first.sha256,
                      .role = first.artifact->role,
                      .runs = {},
                      .why = {},
                      .lost = LostBy(*first.artifact)};
    for (const FileClaim& claim : claims) {
      const HistoryEntry& entry = claim.run->entry;
      if (std::ranges::find(item.runs, entry.run_id) != item.runs.end()) continue;
      item.runs.push_back(entry.run_id);
      item.why +=
          (item.why.empty() ? "" : "; ") + WhyItGoes(entry, *policy_.FindRetention(entry.family));
    }
    std::ranges::sort(item.runs);
    ASSIGN_OR_RETURN(const std::string needed, stays_.needed_by_retired.WhoHas(path, first.sha256));
    if (!needed.empty())
      item.lost += fmt::format("; no rerun of what is retired: it is {}", needed);
    return item;
  }

  const Policy& policy_;
  const HeldFolder& root_;
  const OwnFiles& own_;
  const Stays& stays_;
  Claims claims_;
  std::vector<KeptFile> unplaced_;
};

// What the drills of this site map, by the profiles of its policy, and what the caller does.
KeptPlaces::Maps MapsOf(const Policy& policy, KeptPlaces::Maps maps) {
  for (const Profile& profile : policy.profiles) {
    for (const ProfileOption& option : profile.options) {
      if (option.name != "map") continue;
      for (const std::string& value : option.values) {
        const auto equals = value.find('=');
        if (equals == 0 || equals == value.npos) continue;
        maps.emplace_back(value.substr(0, equals), value.substr(equals + 1));
      }
    }
  }
  return maps;
}

Result<Planner::Stays> WhatStays(const std::vector<RunRecord>& runs,
                                 const std::set<std::string>& kept, const HeldFolder& root,
                                 const KeptPlaces::Maps& maps) {
  ASSIGN_OR_RETURN(KeptPlaces needed, KeptPlaces::Make(&root, maps));
  RETURN_IF_ERROR(AddNeeded(runs, false, &needed));
  for (const RunRecord& run : runs) {
    if (!kept.contains(run.entry.run_id)) continue;
    RETURN_IF_ERROR(AddMade(run.manifest, &needed));
  }
  ASSIGN_OR_RETURN(KeptPlaces by_retired, KeptPlaces::Make(&root, maps));
  RETURN_IF_ERROR(AddNeeded(runs, true, &by_retired));
  return Planner::Stays{std::move(needed), std::move(by_retired)};
}

Result<std::vector<RunRecord>> LoadRecords(HistoryStore* history) {
  ASSIGN_OR_RETURN(std::vector<HistoryEntry> entries, history->List(true));
  std::ranges::sort(entries, {}, &HistoryEntry::run_id);
  std::set<std::string> families;
  for (const HistoryEntry& entry : entries) families.insert(entry.family);
  std::set<std::string> good;
  for (const std::string& family : families) {
    ASSIGN_OR_RETURN(const std::vector<JudgedRun> judged, LoadJudgedRuns(family, history));
    for (const JudgedRun& run : judged) {
      if (run.IsGood()) good.insert(run.entry.run_id);
    }
  }
  std::vector<RunRecord> runs;
  for (HistoryEntry& entry : entries) {
    ASSIGN_OR_RETURN(Manifest manifest, history->Get(entry.run_id));
    const bool is_good = good.contains(entry.run_id);
    runs.push_back({std::move(entry), std::move(manifest), is_good});
  }
  return runs;
}

// A slip in a name would leave runs to a later rule, or without their hold.
void WarnOfIdle(const Policy& policy, const std::vector<RunRecord>& runs) {
  const auto warn = [&](const std::string& families, const std::string& names, const char* what,
                        const std::string& where) {
    const auto matches = [&](const RunRecord& run) {
      return (families.empty() || GlobMatches(families, run.entry.family)) &&
             (names.empty() || GlobMatches(names, run.entry.run_id));
    };
    if ((families == "*" && names.empty()) || std::ranges::any_of(runs, matches)) return;
    const char* both = families.empty() || names.empty() ? "" : "', '";
    LogWarning(TerminalSafe(fmt::format("{}: the {} of '{}{}{}' matches no run of the history",
                                        where, what, families, both, names)));
  };
  for (const RetentionRule& rule : policy.retention) warn(rule.families, "", "rule", rule.where);
  for (const Hold& hold : policy.holds) warn(hold.families, hold.runs, "hold", hold.where);
}

// A hold that keeps nothing was meant to keep something: a misspelt run, or another history.
std::vector<std::string> IdleHolds(const std::vector<RunRecord>& runs, const Policy& policy) {
  std::vector<std::string> idle;
  for (const Hold& hold : policy.holds) {
    const bool holds = std::ranges::any_of(
        runs, [&](const RunRecord& run) { return hold.Names(run.entry.family, run.entry.run_id); });
    if (holds) continue;
    idle.push_back(fmt::format("families '{}', runs '{}': {}", hold.families,
                               hold.runs.empty() ? "*" : hold.runs, hold.reason));
  }
  return idle;
}

}  // namespace

Result<RetentionReport> PlanRetention(const RetentionInputs& inputs, WallTime now,
                                      HistoryStore* history) {
  ASSIGN_OR_RETURN(const std::string text, ReadFile(inputs.policy, kMostPolicyText));
  ASSIGN_OR_RETURN(const Policy policy, ParsePolicy(text, inputs.policy));
  if (policy.retention.empty()) {
    return InvalidInput("has no rules of retention; `rharness help policy` shows some",
                        inputs.policy);
  }
  std::error_code error;
  const fs::path place = fs::canonical(inputs.root, error);
  if (error) return PathError("cannot be reached", error.value(), inputs.root);
  ASSIGN_OR_RETURN(const HeldFolder root, HeldFolder::Open(place));
  ASSIGN_OR_RETURN(const std::vector<RunRecord> runs, LoadRecords(history));
  WarnOfIdle(policy, runs);
  ASSIGN_OR_RETURN(const std::vector<Claim> claims, history->Claims());
  std::set<std::string> claimed;
  for (const Claim& claim : claims) claimed.insert(claim.run_id);
  RetentionReport report{
      .history = inputs.history,
      .policy = inputs.policy,
      .list = {.root = place.string(), .policy_sha256 = Sha256HexOf(text), .items = {}},
      .kept_runs = RunsToKeep(runs, policy, claimed, now),
      .kept_files = {},
      .idle_holds = IdleHolds(runs, policy)};
  std::set<std::string> kept;
  for (const KeptRun& run : report.kept_runs) kept.insert(run.run_id);
  const OwnFiles own(inputs.never);
  ASSIGN_OR_RETURN(const Planner::Stays stays,
                   WhatStays(runs, kept, root, MapsOf(policy, inputs.maps)));
  Planner planner(policy, root, own, stays);
  planner.Gather(runs, kept);
  RETURN_IF_ERROR(planner.Look(&report));
  return report;
}

}  // namespace rharness
