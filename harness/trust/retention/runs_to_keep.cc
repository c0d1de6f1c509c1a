// The runs whose files are kept, by rules, holds and known facts.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <map>
#include <tuple>

#include "harness/history/last_good.h"
#include "harness/records/policy/known_probes.h"
#include "harness/trust/retention/retention_plan.h"

namespace rharness {
namespace {

constexpr std::size_t kDay = 10;

// "policy.yaml:3", from whichever folder it was named.
std::string Place(const std::string& where) {
  return std::filesystem::path(where).filename().string();
}

std::string Day(WallTime time) { return FormatTime(time).substr(0, kDay); }

// Somebody has still to find out what became of it.
bool IsOpen(const HistoryEntry& entry) {
  return entry.last_verdict && !Reproduced(*entry.last_verdict);
}

struct Family {
  std::map<std::string, std::size_t> rank;         // by run_id: 0 is the one that was recorded last
  std::string last_good;                           // a run_id; empty: none
  std::map<std::string, std::string> good_before;  // the last good run before an open one
};

// Those that are not retired count among themselves; one that is, among all.
std::map<std::string, std::size_t> RanksOf(std::vector<const RunRecord*> runs) {
  std::ranges::sort(runs, [](const RunRecord* a, const RunRecord* b) {
    return std::tie(b->entry.started, b->entry.run_id) <
           std::tie(a->entry.started, a->entry.run_id);
  });
  std::map<std::string, std::size_t> ranks;
  std::size_t all = 0;
  std::size_t not_retired = 0;
  for (const RunRecord* run : runs) {
    ranks[run->entry.run_id] = run->entry.retired ? all : not_retired++;
    ++all;
  }
  return ranks;
}

Family FamilyOf(const std::vector<const RunRecord*>& runs) {
  Family family{.rank = RanksOf(runs), .last_good = {}, .good_before = {}};
  std::vector<const HistoryEntry*> good;
  for (const RunRecord* run : runs) {
    if (run->good) good.push_back(&run->entry);
  }
  if (const HistoryEntry* last = LastGoodBefore(good, {})) family.last_good = last->run_id;
  for (const RunRecord* run : runs) {
    if (run->entry.retired || !IsOpen(run->entry)) continue;
    const HistoryEntry* before = LastGoodBefore(good, run->entry.started);
    if (before != nullptr) family.good_before.try_emplace(before->run_id, run->entry.run_id);
  }
  return family;
}

std::map<std::string, Family> FamiliesOf(const std::vector<RunRecord>& runs) {
  std::map<std::string, std::vector<const RunRecord*>> members;
  for (const RunRecord& run : runs) members[run.entry.family].push_back(&run);
  std::map<std::string, Family> families;
  for (const auto& [name, of_it] : members) families.emplace(name, FamilyOf(of_it));
  return families;
}

std::string WaiverFor(const Manifest& manifest, const Policy& policy, WallTime now) {
  for (const Waiver& waiver : policy.waivers) {
    if (now >= waiver.until || !MayConcern(waiver.probes, manifest.probe_families)) continue;
    return fmt::format("waiver '{}' of what it depends on holds {}", waiver.probes,
                       FormatUntil(waiver.until));
  }
  return "";
}

std::string LastText(double count) {
  return count == 1.0 ? "the last" : fmt::format("among the last {:.0f}", count);
}

std::string DaysText(double days) {
  return fmt::format("{:.6g} day{}", days, days == 1.0 ? "" : "s");
}

// Empty: nothing keeps it.
std::string WhyKept(const RunRecord& run, const Family& family, const Policy& policy,
                    WallTime now) {
  const HistoryEntry& entry = run.entry;
  for (const Hold& hold : policy.holds) {
    if (hold.Names(entry.family, entry.run_id)) {
      return fmt::format("hold: {} ({})", hold.reason, Place(hold.where));
    }
  }
  const RetentionRule* rule = policy.FindRetention(entry.family);
  if (rule == nullptr) return "no rule names family " + entry.family;
  if (entry.started == WallTime()) return "its record does not say when it began";
  if (rule->keep_last && static_cast<double>(family.rank.at(entry.run_id)) < *rule->keep_last) {
    return fmt::format("{} of family {} ({})", LastText(*rule->keep_last), entry.family,
                       Place(rule->where));
  }
  const std::chrono::duration<double, std::ratio<86'400>> age = now - entry.started;
  if (rule->keep_days && age.count() < *rule->keep_days) {
    return fmt::format("younger than {} ({})", DaysText(*rule->keep_days), Place(rule->where));
  }
  if (entry.run_id == family.last_good) return "last good run of family " + entry.family;
  if (const auto bad = family.good_before.find(entry.run_id); bad != family.good_before.end()) {
    return fmt::format("last good run before {}, which somebody has to look at", bad->second);
  }
  if (!entry.retired && IsOpen(entry)) {
    return fmt::format("open: its last verdict is {}", VerdictName(*entry.last_verdict));
  }
  return WaiverFor(run.manifest, policy, now);
}

}  // namespace

std::vector<KeptRun> RunsToKeep(const std::vector<RunRecord>& runs, const Policy& policy,
                                const std::set<std::string>& claimed, WallTime now) {
  const std::map<std::string, Family> families = FamiliesOf(runs);
  std::vector<KeptRun> kept;
  for (const RunRecord& run : runs) {
    const HistoryEntry& entry = run.entry;
    const std::string why = claimed.contains(entry.run_id)
                                ? "a drill has it now"
                                : WhyKept(run, families.at(entry.family), policy, now);
    if (!why.empty()) kept.push_back({entry.run_id, entry.family, why});
  }
  std::ranges::sort(kept, {}, &KeptRun::run_id);
  return kept;
}

std::string WhyItGoes(const HistoryEntry& entry, const RetentionRule& rule) {
  std::string text = fmt::format("recorded {}:", Day(entry.started));
  if (rule.keep_last) {
    text += fmt::format(" not {} of family {}", LastText(*rule.keep_last), entry.family);
  }
  if (rule.keep_days) {
    text += fmt::format("{} older than {}", rule.keep_last ? "," : "", DaysText(*rule.keep_days));
  }
  return text + fmt::format(" ({})", Place(rule.where));
}

}  // namespace rharness
