// Retention plans and requests for deletion, as text and as JSON.
#include "reports/retention_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "reports/retention_members.h"
#include "reports/terminal_parts.h"
#include "reports/text.h"

namespace rharness {
namespace {

constexpr std::size_t kMostNameBytes = 200;
constexpr std::size_t kMostNamed = 3;
constexpr std::size_t kMostFiles = 20;

std::string SafeName(const std::string& name) { return SafeText(name, kMostNameBytes); }

std::string JoinedNames(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + SafeName(name);
  return text;
}

// "mlp-1, mlp-2, mlp-3 and 4 more: among the last 7 of family mlp", one line per reason.
std::string KeptRunsText(const std::vector<KeptRun>& kept, int columns) {
  std::map<std::string, std::vector<std::string>> by_reason;
  for (const KeptRun& run : kept) by_reason[run.why].push_back(run.run_id);
  std::string text;
  for (auto& [why, runs] : by_reason) {
    const std::size_t more = runs.size() > kMostNamed ? runs.size() - kMostNamed : 0;
    runs.resize(runs.size() - more);
    text += Wrapped(fmt::format("{}{}: {}", JoinedNames(runs),
                                more == 0 ? "" : fmt::format(" and {} more", more), SafeText(why)),
                    columns, 2);
  }
  return text;
}

// "  why   ...", with the text wrapped behind its name.
std::string NamedLine(std::string_view name, const std::string& value, int columns) {
  constexpr int kNameColumns = 8;
  return fmt::format("  {:<6}", name) +
         Wrapped(SafeText(value), columns, kNameColumns).substr(kNameColumns);
}

// What is still missing before the files of the list go.
std::string SignedWords(const DeletionTold* told) {
  if (told != nullptr && told->state == DeletionState::kApproved) {
    return fmt::format(
        "{} and {} signed for this list, which `rharness history prune apply` deletes",
        SafeName(told->asked_by), SafeName(told->approved_by));
  }
  if (told != nullptr && told->state == DeletionState::kAsked) {
    return fmt::format("{} asked for this list; nothing is deleted before somebody else approves",
                       SafeName(told->asked_by));
  }
  return "Nothing is deleted unless two people signed for this list";
}

// For a list, carried out or not: "; 1 of 2 files is gone, 1 stays (it was changed)".
std::string OutcomeWords(const DeletionTold& told) {
  std::string text;
  if (told.deleted != 0 || told.stays != 0) {
    text = fmt::format("; {} of {} {} gone", told.deleted, Counted(told.items, "file"),
                       told.deleted == 1 ? "is" : "are");
  }
  if (told.stays == 1) text += ", 1 stays (it was changed)";
  if (told.stays > 1) text += fmt::format(", {} stay (they were changed)", told.stays);
  if (told.state == DeletionState::kDone) text += ", since " + told.last;
  if (!told.ended_by.empty()) {
    text += fmt::format(
        "; {} by {}{}{}",
        told.ended_by != told.asked_by && told.approved_by.empty() ? "rejected" : "taken back",
        SafeName(told.ended_by), told.ended_reason.empty() ? "" : ": ",
        SafeText(told.ended_reason));
  }
  return text;
}

std::string FilesText(const RetentionReport& report, int columns) {
  if (report.kept_files.empty()) return "";
  std::string text =
      fmt::format("{} kept though no rule keeps {}:\n", Counted(report.kept_files.size(), "file"),
                  report.kept_files.size() == 1 ? "it" : "them");
  for (std::size_t i = 0; i < std::min(report.kept_files.size(), kMostFiles); ++i) {
    const KeptFile& file = report.kept_files[i];
    text += Wrapped(
        fmt::format("{} of {}: {}", SafeName(file.path), SafeName(file.run_id), SafeText(file.why)),
        columns, 2);
  }
  return report.kept_files.size() > kMostFiles ? text + "  ... (all: --json)\n" : text;
}

}  // namespace

std::string WriteTerminal(const RetentionReport& report, int columns, const DeletionTold* told) {
  const DeletionList& list = report.list;
  std::string text;
  for (const DeletionItem& item : list.items) {
    text += fmt::format("{}  {}, {} of {}\n", SafeName(item.path), FormatBytes(item.size_bytes),
                        SafeName(item.role), JoinedNames(item.runs)) +
            NamedLine("why", item.why, columns) + NamedLine("lost", item.lost, columns);
  }
  if (!list.items.empty()) text += "\n";
  if (!report.kept_runs.empty()) {
    text += fmt::format("{} kept:\n", Counted(report.kept_runs.size(), "run")) +
            KeptRunsText(report.kept_runs, columns);
  }
  text += FilesText(report, columns);
  for (const std::string& hold : report.idle_holds) {
    text += Wrapped("a hold names no run of this history and keeps nothing: " + SafeText(hold),
                    columns);
  }
  if (list.items.empty()) return text + "Nothing would be deleted.\n";
  text += fmt::format("{} below {} would be deleted, {}.\n", Counted(list.items.size(), "file"),
                      SafeText(list.root), FormatBytes(list.bytes()));
  return text + Wrapped(SignedWords(told) + ":", columns) + DigestOf(list) + "\n";
}

Json ToJson(const RetentionReport& report) { return MemberWriter::Written(report); }

std::string LineOf(const DeletionTold& told) {
  const bool in_part = told.state == DeletionState::kDone && told.stays != 0;
  const std::string_view state = in_part ? "ended" : NameIn(kDeletionStateNames, told.state);
  std::string text = fmt::format("{}: {}, {}, {}", told.list_sha256.substr(0, 64), state,
                                 Counted(told.items, "file"), FormatBytes(told.bytes));
  if (!told.reason.empty()) text += ": " + SafeText(told.reason);
  if (!told.asked_by.empty()) {
    text +=
        fmt::format(" (asked for by {}{}, until {})", SafeName(told.asked_by),
                    told.approved_by.empty() ? "" : ", approved by " + SafeName(told.approved_by),
                    told.expires);
  }
  text += OutcomeWords(told);
  if (!told.doubt.empty()) text += ": " + SafeText(told.doubt);
  return text;
}

std::string CarriedOutWords(const DeletionTold& told) {
  return fmt::format("was carried out at {}: {} of {} {} gone; asked for by {}, approved by {}",
                     told.last, told.deleted, Counted(told.items, "file"),
                     told.deleted == 1 ? "is" : "are", SafeName(told.asked_by),
                     SafeName(told.approved_by));
}

std::string WriteTerminal(const std::vector<DeletionTold>& deletions) {
  std::string text;
  for (const DeletionTold& one : deletions) text += LineOf(one) + "\n";
  return text;
}

Json ToJson(const std::vector<DeletionTold>& deletions) {
  return MemberWriter::Written(DeletionsDocument{deletions});
}

}  // namespace rharness
