// Groups statements by their words; see told_once.h.
#include "reports/told_once.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "compare/fact_order.h"
#include "reports/text.h"
#include "reports/words.h"

namespace rharness {
namespace {

constexpr std::size_t kMostNamedRuns = 3;
constexpr std::string_view kFactsChanged = "facts_changed";
constexpr std::string_view kRerunsDiffer = "reruns_differ";
constexpr std::string_view kFileUnproven = "file_unproven";

struct Group {
  ToldOnce told;
  bool alone_too = false;
  std::optional<FactDifference> change;  // of kChange; none: of packages beside the run
};

// Groups by kind and text, in the order of their first run.
class Groups {
 public:
  void Add(ToldKind kind, const std::string& text, const ReportRun& run) {
    Group& group = groups_[{kind, text}];
    group.told.kind = kind;
    group.told.text = text;
    // A run may have one statement for each of its reruns.
    if (!group.told.runs.empty() && group.told.runs.back() == &run) return;
    group.told.runs.push_back(&run);
  }
  Group& Of(ToldKind kind, const std::string& text) { return groups_[{kind, text}]; }
  std::vector<Group> Take() {
    std::vector<Group> list;
    for (auto& [key, group] : groups_) {
      if (group.told.runs.size() > 1 || group.alone_too) list.push_back(std::move(group));
    }
    return list;
  }

 private:
  std::map<std::pair<ToldKind, std::string>, Group> groups_;
};

void AddRun(const ReportRun& run, Groups* groups) {
  if (!Reproduced(run.verdict) && !run.headline.empty()) {
    groups->Add(ToldKind::kHeadline, run.headline, run);
  }
  for (const Finding& finding : run.findings) {
    // A headline is the message of the decisive finding, or begins with it.
    if (finding.message.empty() || run.headline.starts_with(finding.message)) continue;
    if (finding.decisive && Reproduced(run.verdict)) continue;  // the green row shows it already
    const bool unproven = finding.code == kFileUnproven;
    groups->Add(unproven ? ToldKind::kUnproven : ToldKind::kFinding, finding.message, run);
    if (finding.code == kFactsChanged || finding.code == kRerunsDiffer) {
      groups->Of(ToldKind::kFinding, finding.message).alone_too = true;
    }
  }
  for (const Cause& cause : run.causes) {
    if (cause.code == kRerunsDiffer) continue;  // a finding says it
    groups->Add(ToldKind::kCause, CauseWords(cause), run);
  }
  for (const LayerComparison& layer : run.layers) {
    for (const std::string& part : layer.not_known) {
      const std::string words = fmt::format("{} not known: {}", LayerName(layer.layer), part);
      groups->Add(ToldKind::kNotKnown, words, run);
      groups->Of(ToldKind::kNotKnown, words).alone_too = true;
    }
    if (const std::string unused = UnusedPackageWords(layer); !unused.empty()) {
      groups->Add(ToldKind::kChange, fmt::format("{} {}", LayerName(layer.layer), unused), run);
    }
    for (const FactDifference& difference : layer.differences) {
      if (IsUnusedPackage(difference)) continue;
      const std::string words = ChangeWords(difference);
      groups->Add(ToldKind::kChange, words, run);
      groups->Of(ToldKind::kChange, words).change = difference;
    }
  }
}

bool Before(const Group& a, const Group& b) {
  if (a.told.kind != b.told.kind) return a.told.kind < b.told.kind;
  if (Severity(a.told.verdict) != Severity(b.told.verdict)) {
    return Severity(a.told.verdict) < Severity(b.told.verdict);
  }
  if (a.told.runs.size() != b.told.runs.size()) return a.told.runs.size() > b.told.runs.size();
  if (!a.change || !b.change) return a.change.has_value() && !b.change;
  return TellsMore(*a.change, *b.change);
}

}  // namespace

std::string CauseWords(const Cause& cause) {
  std::string words = fmt::format("{} cause ({}): {}", StrengthName(cause.strength),
                                  LayerName(cause.layer), cause.statement);
  return cause.evidence.empty() ? words : words + " " + cause.evidence.front();
}

std::string ChangeWords(const FactDifference& difference) {
  return fmt::format("{} {}: {} → {}", LayerName(difference.layer), difference.key,
                     FactWords(difference.recorded), FactWords(difference.observed));
}

std::vector<ToldOnce> TellOnce(const Report& report) {
  Groups groups;
  for (const ReportRun& run : report.runs) AddRun(run, &groups);
  std::vector<Group> list = groups.Take();
  for (Group& group : list) {
    std::ranges::stable_sort(group.told.runs, {},
                             [](const ReportRun* run) { return Severity(run->verdict); });
    group.told.verdict = group.told.runs.front()->verdict;
  }
  std::ranges::stable_sort(list, Before);
  std::vector<ToldOnce> told;
  for (Group& group : list) told.push_back(std::move(group.told));
  return told;
}

std::string ToldWords(const ToldOnce& told) {
  std::vector<std::string> names;
  for (const ReportRun* run : told.runs) {
    if (names.size() == kMostNamedRuns) break;
    names.push_back(SafeText(run->run_id, 80));
  }
  const std::string text = SafeText(told.text, 600);
  if (told.runs.size() == 1) return fmt::format("{}: {}", names.front(), text);
  const std::size_t more = told.runs.size() - names.size();
  return fmt::format("{} ({}{}): {}", Counted(told.runs.size(), "run"), fmt::join(names, ", "),
                     more == 0 ? "" : fmt::format(" and {} more", FormatCount(more)), text);
}

std::size_t RunsWithHeadline(const std::vector<ToldOnce>& told, const std::string& headline) {
  for (const ToldOnce& one : told) {
    if (one.kind != ToldKind::kHeadline) break;
    if (one.text == headline) return one.runs.size();
  }
  return 1;
}

}  // namespace rharness
