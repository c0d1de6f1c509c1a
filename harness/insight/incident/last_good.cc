// Choosing the run to go back to; see last_good.h.
#include "harness/insight/incident/last_good.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "harness/history/last_good.h"
#include "reports/incident_report.h"
#include "reports/text.h"
#include "reports/words.h"

namespace rharness {
namespace {

std::string WhyNotGood(const FamilyMember& member) {
  if (member.entry.retired) return fmt::format("it is retired: {}", *member.entry.retired);
  if (member.good && !member.bad) return "";
  if (member.bad) {
    return fmt::format("drill {} called it {} on {}", member.bad->drill_id,
                       VerdictLabel(member.bad->verdict), FormatMinute(member.bad->decided));
  }
  return member.entry.last_verdict
             ? fmt::format("no drill could say anything of it; the last verdict is {}",
                           VerdictLabel(*member.entry.last_verdict))
             : "no drill has judged it";
}

bool IsNewerGood(const FamilyMember& one, WallTime started) {
  return one.good && !one.bad && !one.entry.retired && one.entry.started >= started;
}

Result<LastGood> TakeNamed(LastGood found, const HistoryEntry& run, const std::string& named) {
  if (named == run.run_id) return InvalidInput("is the run itself", "--good");
  const auto at = std::ranges::find_if(
      found.members, [&](const FamilyMember& one) { return one.entry.run_id == named; });
  if (at == found.members.end()) {
    return InvalidInput(
        fmt::format("'{}' is no run of the family '{}' of {}", named, run.family, run.run_id),
        "--good");
  }
  if (const std::string why = WhyNotGood(*at); !why.empty()) {
    return InvalidInput(fmt::format("'{}' is not usable as the last good run: {}", named, why),
                        "--good");
  }
  at->why_not.clear();
  found.chosen = static_cast<std::size_t>(at - found.members.begin());
  return found;
}

}  // namespace

Result<LastGood> ChooseLastGood(const HistoryEntry& run, std::vector<FamilyMember> members,
                                const std::string& named) {
  std::erase_if(members, [&](const FamilyMember& one) { return one.entry.run_id == run.run_id; });
  std::ranges::sort(members, std::greater<>(), [](const FamilyMember& one) {
    return std::tie(one.entry.started, one.entry.run_id);
  });
  LastGood found{.members = std::move(members), .chosen = {}};
  std::vector<const HistoryEntry*> good;
  for (const FamilyMember& member : found.members) {
    if (WhyNotGood(member).empty()) good.push_back(&member.entry);
  }
  const HistoryEntry* last = LastGoodBefore(good, run.started);
  for (std::size_t i = 0; i < found.members.size(); ++i) {
    FamilyMember& member = found.members[i];
    member.why_not = WhyNotGood(member);
    if (!member.why_not.empty()) continue;
    if (member.entry.started >= run.started) {
      member.why_not = fmt::format("it is good, but was not recorded before {}: --good {} takes it",
                                   run.run_id, member.entry.run_id);
      continue;
    }
    member.may_be = true;
    if (&member.entry == last) {
      found.chosen = i;
    } else {
      member.why_not = "it is good, and an older one";
    }
  }
  if (named.empty()) return found;
  found.chosen.reset();
  return TakeNamed(std::move(found), run, named);
}

std::size_t NewerGood(const LastGood& found, const HistoryEntry& run) {
  return static_cast<std::size_t>(std::ranges::count_if(
      found.members, [&](const auto& one) { return IsNewerGood(one, run.started); }));
}

const FamilyMember* NearestNewerGood(const LastGood& found, WallTime started) {
  const auto nearest =
      std::find_if(found.members.rbegin(), found.members.rend(),
                   [&](const FamilyMember& one) { return IsNewerGood(one, started); });
  return nearest == found.members.rend() ? nullptr : &*nearest;
}

bool PassOver(const std::string& why, LastGood* found) {
  for (std::size_t i = *found->chosen + 1; i < found->members.size(); ++i) {
    if (!found->members[i].may_be) continue;
    found->members[*found->chosen].why_not = why;
    found->members[i].why_not.clear();
    found->chosen = i;
    return true;
  }
  return false;
}

Status RefuseRetired(const HistoryEntry& chosen) {
  if (!chosen.retired) return {};
  return InvalidInput(
      fmt::format("'{}', which the incident began with, was retired meanwhile: {}; it is not "
                  "usable, and a new incident (another --out) finds a different one",
                  chosen.run_id, *chosen.retired),
      "history");
}

Status TakeAgain(const std::string& chosen, LastGood* found) {
  for (std::size_t i = 0; i < found->members.size(); ++i) {
    FamilyMember& member = found->members[i];
    if (member.entry.run_id != chosen) continue;
    RETURN_IF_ERROR(RefuseRetired(member.entry));
    if (!member.good) break;
    member.why_not.clear();
    found->chosen = i;
    return {};
  }
  return InvalidInput(fmt::format("'{}', which the incident began with, is not a good run of the "
                                  "family any more; begin again with another --out",
                                  chosen),
                      "history");
}

Result<std::vector<FamilyMember>> LoadFamilyMembers(const HistoryEntry& run, HistoryStore* store) {
  ASSIGN_OR_RETURN(std::vector<JudgedRun> runs, LoadJudgedRuns(run.family, store));
  std::vector<FamilyMember> members;
  for (JudgedRun& one : runs) {
    members.push_back({.entry = std::move(one.entry),
                       .good = std::move(one.good),
                       .bad = std::move(one.bad),
                       .why_not = {}});
  }
  return members;
}

}  // namespace rharness
