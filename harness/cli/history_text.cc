// Tables, summaries and JSON of a history's runs.
#include "harness/cli/history_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "harness/base/files.h"

namespace rharness {
namespace {

constexpr std::size_t kColumns = 7;
using TableRow = std::array<std::string, kColumns>;

std::string Ago(const std::optional<WallTime>& time, WallTime now) {
  if (!time) return "never";
  const Seconds age = std::max(Seconds(0), std::chrono::duration_cast<Seconds>(now - *time));
  return FormatDuration(age) + " ago";
}

std::string LastVerdict(const HistoryEntry& entry) {
  return entry.last_verdict.empty() ? "-" : entry.last_verdict;
}

TableRow RowOf(const HistoryEntry& entry, WallTime now) {
  TableRow row = {entry.run_id,
                  entry.family,
                  FormatTime(entry.started),
                  FormatDuration(Seconds(entry.duration_seconds)),
                  entry.declared,
                  entry.retired ? "retired" : LastVerdict(entry),
                  Ago(entry.verified, now)};
  for (std::string& cell : row) cell = TerminalSafe(cell);
  return row;
}

std::string JoinedByTabs(const std::vector<TableRow>& rows) {
  std::string text;
  for (const TableRow& row : rows) text += fmt::format("{}\n", fmt::join(row, "\t"));
  return text;
}

std::string Aligned(const std::vector<TableRow>& rows) {
  std::array<std::size_t, kColumns> widths{};
  for (const TableRow& row : rows) {
    for (std::size_t i = 0; i < kColumns; ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (const TableRow& row : rows) {
    for (std::size_t i = 0; i + 1 < kColumns; ++i) {
      text += fmt::format("{:<{}}  ", row[i], widths[i]);
    }
    text += row.back() + "\n";
  }
  return text;
}

std::optional<std::string> TimeText(const std::optional<WallTime>& time) {
  if (!time) return std::nullopt;
  return FormatTime(*time);
}

Json EntryAsJson(const HistoryEntry& entry) {
  Json json;
  json.Set("run_id", entry.run_id)
      .Set("family", entry.family)
      .Set("configuration", entry.configuration)
      .Set("started", FormatTime(entry.started))
      .Set("duration_seconds", entry.duration_seconds)
      .Set("declared", entry.declared)
      .Set("added", FormatTime(entry.added))
      .Set("last_verdict", entry.last_verdict.empty() ? Json() : Json(entry.last_verdict))
      .Set("verified", TimeText(entry.verified))
      .Set("retired", entry.retired);
  return json;
}

// Reasons are stored as JSON text; text that is none is shown as it is.
Json ReasonsOf(const VerdictRecord& verdict) {
  Result<Json> json = ParseJson(verdict.reasons, verdict.drill_id);
  return json.ok() ? std::move(*json) : Json(verdict.reasons);
}

std::string ReasonLines(const VerdictRecord& verdict) {
  const Json reasons = ReasonsOf(verdict);
  if (!reasons.IsArray()) return {};
  std::string text;
  for (const Json& reason : reasons.AsArray()) {
    const Json* message = reason.Find("message");
    if (message == nullptr || message->kind() != Json::Kind::kString) continue;
    text += fmt::format("      {}\n", TerminalSafe(message->AsString()));
  }
  return text;
}

std::string CodeText(const Code& code) {
  if (code.commit.empty()) return fmt::format("{} files by hash", code.files.size());
  return fmt::format("{} at {}{}", code.repository, code.commit.substr(0, 12),
                     code.dirty ? ", with local changes" : "");
}

std::string ImageText(const Image& image) {
  if (image.kind != "oci") return "none (ran on the host)";
  return fmt::format("{}/{}@{}", image.registry, image.repository, image.digest);
}

std::string MetricsText(const std::vector<Metric>& metrics) {
  std::vector<std::string> texts;
  for (const Metric& metric : metrics) {
    if (!metric.primary) continue;
    texts.push_back(fmt::format("{} = {}{}", metric.name, metric.value,
                                metric.margin ? fmt::format(" (margin {})", *metric.margin) : ""));
  }
  return texts.empty() ? "no primary metric" : fmt::format("{}", fmt::join(texts, ", "));
}

}  // namespace

std::string EntriesAsTable(const std::vector<HistoryEntry>& entries, WallTime now, bool aligned) {
  std::vector<TableRow> rows = {
      {"RUN", "FAMILY", "STARTED", "DURATION", "DECLARED", "LAST VERDICT", "VERIFIED"}};
  for (const HistoryEntry& entry : entries) rows.push_back(RowOf(entry, now));
  return aligned ? Aligned(rows) : JoinedByTabs(rows);
}

Json EntriesAsJson(const std::vector<HistoryEntry>& entries) {
  Json runs = Json::MakeArray();
  for (const HistoryEntry& entry : entries) runs.Append(EntryAsJson(entry));
  Json json;
  json.Set("schema", "rharness.history/v1").Set("runs", std::move(runs));
  return json;
}

std::string RunAsText(const HistoryEntry& entry, const Manifest& manifest,
                      const std::vector<VerdictRecord>& verdicts, WallTime now) {
  std::string text;
  const auto line = [&text](std::string_view name, std::string_view value) {
    text += fmt::format("{:<14}{}\n", name, TerminalSafe(value));
  };
  line("run", entry.run_id);
  line("family", entry.family);
  line("configuration", entry.configuration);
  line("started", FormatTime(entry.started));
  line("duration", FormatDuration(Seconds(entry.duration_seconds)));
  line("declared", entry.declared);
  line("command", fmt::format("{}", fmt::join(manifest.command, " ")));
  line("code", CodeText(manifest.code));
  line("image", ImageText(manifest.image));
  line("data", fmt::format("{} items", manifest.data.size()));
  line("metrics", MetricsText(manifest.metrics));
  line("artifacts", fmt::format("{} files", manifest.artifacts.size()));
  line("added", FormatTime(entry.added));
  line("verified", Ago(entry.verified, now));
  if (entry.retired) line("retired", *entry.retired);
  if (verdicts.empty()) {
    line("verdicts", "none yet; 'rharness drill' reruns the run and judges it");
    return text;
  }
  text += "verdicts\n";
  for (const VerdictRecord& verdict : verdicts) {
    text +=
        TerminalSafe(fmt::format("  {}  {:<14}  {} reruns  drill {}", FormatTime(verdict.decided),
                                 verdict.verdict, verdict.reruns, verdict.drill_id)) +
        "\n" + ReasonLines(verdict);
  }
  return text;
}

Json RunAsJson(const HistoryEntry& entry, const Manifest& manifest,
               const std::vector<VerdictRecord>& verdicts) {
  Json list = Json::MakeArray();
  for (const VerdictRecord& verdict : verdicts) {
    Json item;
    item.Set("drill_id", verdict.drill_id)
        .Set("verdict", verdict.verdict)
        .Set("decided", FormatTime(verdict.decided))
        .Set("reruns", verdict.reruns)
        .Set("reasons", ReasonsOf(verdict));
    list.Append(std::move(item));
  }
  Json json;
  json.Set("schema", "rharness.history_run/v1")
      .Set("run", EntryAsJson(entry))
      .Set("verdicts", std::move(list))
      .Set("manifest", ToJson(manifest));
  return json;
}

}  // namespace rharness
