// Retention plans and requests for deletion, as text and as JSON.
#include "reports/retention_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

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

// "mlp-1, mlp-2, mlp-3 and 4 more: among the last 7 of family mlp", a line a reason.
std::string KeptRunsText(const std::vector<KeptRun>& kept) {
  std::map<std::string, std::vector<std::string>> by_reason;
  for (const KeptRun& run : kept) by_reason[run.why].push_back(run.run_id);
  std::string text;
  for (auto& [why, runs] : by_reason) {
    const std::size_t more = runs.size() > kMostNamed ? runs.size() - kMostNamed : 0;
    runs.resize(runs.size() - more);
    text += fmt::format("  {}{}: {}\n", JoinedNames(runs),
                        more == 0 ? "" : fmt::format(" and {} more", more), SafeText(why));
  }
  return text;
}

}  // namespace

std::string WriteTerminal(const RetentionReport& report) {
  const DeletionList& list = report.list;
  std::string text;
  for (const DeletionItem& item : list.items) {
    text += fmt::format("{}  {}, {} of {}\n  why   {}\n  lost  {}\n", SafeName(item.path),
                        FormatBytes(item.size_bytes), SafeName(item.role), JoinedNames(item.runs),
                        SafeText(item.why), SafeText(item.lost));
  }
  if (!list.items.empty()) text += "\n";
  if (!report.kept_runs.empty()) {
    text += fmt::format("{} kept:\n", Counted(report.kept_runs.size(), "run")) +
            KeptRunsText(report.kept_runs);
  }
  if (!report.kept_files.empty()) {
    text += fmt::format("{} kept though no rule keeps them:\n",
                        Counted(report.kept_files.size(), "file"));
    for (std::size_t i = 0; i < std::min(report.kept_files.size(), kMostFiles); ++i) {
      const KeptFile& file = report.kept_files[i];
      text += fmt::format("  {} of {}: {}\n", SafeName(file.path), SafeName(file.run_id),
                          SafeText(file.why));
    }
    if (report.kept_files.size() > kMostFiles) text += "  ... (all: --json)\n";
  }
  if (list.items.empty()) return text + "Nothing would be deleted.\n";
  return text + fmt::format(
                    "{} below {} would be deleted, {}. Nothing is, before two people "
                    "signed for this list:\n{}\n",
                    Counted(list.items.size(), "file"), SafeText(list.root),
                    FormatBytes(list.bytes()), DigestOf(list));
}

Json ToJson(const RetentionReport& report) {
  Json kept_runs = Json::MakeArray();
  for (const KeptRun& run : report.kept_runs) {
    kept_runs.Append(
        Json::MakeObject({{"run_id", run.run_id}, {"family", run.family}, {"why", run.why}}));
  }
  Json kept_files = Json::MakeArray();
  for (const KeptFile& file : report.kept_files) {
    kept_files.Append(
        Json::MakeObject({{"run_id", file.run_id}, {"path", file.path}, {"why", file.why}}));
  }
  return Json::MakeObject({{"schema", "rharness.retention/v1"},
                           {"history", report.history},
                           {"policy", report.policy},
                           {"list_sha256", DigestOf(report.list)},
                           {"files", std::uint64_t{report.list.items.size()}},
                           {"bytes", report.list.bytes()},
                           {"list", ToJson(report.list)},
                           {"kept_runs", std::move(kept_runs)},
                           {"kept_files", std::move(kept_files)}});
}

std::string LineOf(const DeletionTold& told) {
  std::string text = fmt::format("{}: {}, {}, {}", told.list_sha256.substr(0, 64), told.state,
                                 Counted(told.items, "file"), FormatBytes(told.bytes));
  if (!told.reason.empty()) text += ": " + SafeText(told.reason);
  if (!told.asked_by.empty()) {
    text +=
        fmt::format(" (asked for by {}{}, until {})", SafeName(told.asked_by),
                    told.approved_by.empty() ? "" : ", approved by " + SafeName(told.approved_by),
                    told.expires);
  }
  if (told.deleted != 0) text += fmt::format("; {} of {} are gone", told.deleted, told.items);
  if (!told.doubt.empty()) text += ": " + SafeText(told.doubt);
  return text;
}

std::string WriteTerminal(const std::vector<DeletionTold>& deletions) {
  std::string text;
  for (const DeletionTold& one : deletions) text += LineOf(one) + "\n";
  return text;
}

Json ToJson(const std::vector<DeletionTold>& deletions) {
  Json list = Json::MakeArray();
  for (const DeletionTold& one : deletions) {
    Json json = Json::MakeObject({{"list_sha256", one.list_sha256},
                                  {"state", one.state},
                                  {"reason", one.reason},
                                  {"asked_by", one.asked_by},
                                  {"asked", one.asked},
                                  {"approved_by", one.approved_by},
                                  {"expires", one.expires},
                                  {"items", one.items},
                                  {"bytes", one.bytes},
                                  {"deleted", one.deleted}});
    if (!one.doubt.empty()) json.Set("doubt", one.doubt);
    list.Append(std::move(json));
  }
  return Json::MakeObject({{"schema", "rharness.deletions/v1"}, {"deletions", std::move(list)}});
}

}  // namespace rharness
