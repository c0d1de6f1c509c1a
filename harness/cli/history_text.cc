// Tables of a history's runs, and one run's record as names and values.
#include "harness/cli/history_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "harness/base/files.h"
#include "harness/records/manifest/lineage.h"
#include "reports/text.h"

namespace rharness {
namespace {

constexpr std::size_t kColumns = 8;
using TableRow = std::array<std::string, kColumns>;

std::string Ago(const std::optional<WallTime>& time, WallTime now) {
  if (!time) return "never";
  const Seconds age = std::max(Seconds(0), std::chrono::duration_cast<Seconds>(now - *time));
  return FormatDuration(age) + " ago";
}

std::string LastVerdict(const HistoryEntry& entry) {
  return entry.last_verdict ? std::string(VerdictName(*entry.last_verdict)) : "-";
}

std::string RetiredBy(const HistoryEntry& entry, bool doubtful) {
  if (doubtful) return "retired, doubtful";
  if (!entry.retirement) return "retired, unsigned";
  return fmt::format("retired by {} and {}", entry.retirement->asked_by,
                     entry.retirement->approved_by);
}

TableRow RowOf(const HistoryEntry& entry, bool doubtful, WallTime now) {
  TableRow row = {entry.run_id,
                  entry.family,
                  FormatTime(entry.started),
                  FormatDuration(Seconds(entry.duration_seconds)),
                  entry.declared,
                  entry.retired ? RetiredBy(entry, doubtful) : LastVerdict(entry),
                  Ago(entry.verified, now),
                  entry.rebuild ? std::string(PartStateName(*entry.rebuild)) : "-"};
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

std::string CodeText(const Code& code) {
  if (code.commit.empty()) return Counted(code.files.size(), "file") + " by hash";
  return fmt::format("{} at {}{}", code.repository, code.commit.substr(0, 12),
                     code.dirty ? ", with local changes" : "");
}

std::string ImageText(const Image& image) {
  if (image.kind == ImageKind::kHost) return "none (ran on the host)";
  if (image.kind != ImageKind::kOci) return fmt::format("{} ({})", image.location, image.digest);
  return fmt::format("{}/{}@{}", image.registry, image.repository, image.digest);
}

// How many, and which of them say what made them.
std::string DataText(const std::vector<DataItem>& data) {
  std::string text = Counted(data.size(), "item");
  for (const DataItem& item : data) {
    if (!item.made_by) continue;
    text += fmt::format("; {} made by {}", InWords(item), InWords(*item.made_by));
  }
  return text;
}

std::string StateWords(PropertyState state) {
  if (state == PropertyState::kHeldWithin) return "held within its margins";
  return SpacedName(PropertyStateName(state));
}

std::string MetricsText(const std::vector<Metric>& metrics) {
  std::vector<std::string> texts;
  for (const Metric& metric : metrics) {
    if (!metric.primary) continue;
    texts.push_back(
        fmt::format("{} = {}{}{}", metric.name, metric.value,
                    metric.evaluated_on.empty() ? "" : fmt::format(" on '{}'", metric.evaluated_on),
                    metric.margin ? fmt::format(" (margin {})", *metric.margin) : ""));
  }
  return texts.empty() ? "no primary metric" : fmt::format("{}", fmt::join(texts, ", "));
}

}  // namespace

std::string EntriesAsTable(const std::vector<HistoryEntry>& entries,
                           const std::map<std::string, std::string>& doubts, WallTime now,
                           bool aligned) {
  std::vector<TableRow> rows = {
      {"RUN", "FAMILY", "STARTED", "DURATION", "DECLARED", "LAST VERDICT", "VERIFIED", "REBUILD"}};
  for (const HistoryEntry& entry : entries) {
    rows.push_back(RowOf(entry, doubts.contains(entry.run_id), now));
  }
  return aligned ? Aligned(rows) : JoinedByTabs(rows);
}

std::string TogetherAsLines(const std::vector<LastTogether>& together, WallTime now) {
  std::string text;
  for (const LastTogether& one : together) {
    text += fmt::format("{}all {} runs of {} together: {}, {}\n", text.empty() ? "\n" : "",
                        one.last.runs, TerminalSafe(one.name), VerdictName(one.last.verdict),
                        Ago(one.last.decided, now));
  }
  return text;
}

std::vector<std::pair<std::string, std::string>> RecordOf(const HistoryEntry& entry,
                                                          const Manifest& manifest, WallTime now) {
  return {{"run", entry.run_id},
          {"family", entry.family},
          {"configuration", entry.configuration},
          {"started", FormatTime(entry.started)},
          {"duration", FormatDuration(Seconds(entry.duration_seconds))},
          {"declared", entry.declared},
          {"command", fmt::format("{}", fmt::join(manifest.command, " "))},
          {"code", CodeText(manifest.code)},
          {"image", ImageText(manifest.image)},
          {"data", DataText(manifest.data)},
          {"metrics", MetricsText(manifest.metrics)},
          {"artifacts", Counted(manifest.artifacts.size(), "file")},
          {"added", FormatTime(entry.added)},
          {"verified", Ago(entry.verified, now)},
          {"rebuild", entry.rebuild ? std::string(PartStateName(*entry.rebuild)) : "never asked"}};
}

std::vector<std::pair<std::string, std::string>> PropertiesOf(
    const std::vector<PropertyRecord>& verdicts) {
  constexpr std::size_t kMostTold = 5;
  std::map<std::string, std::vector<std::string>> told;
  for (auto one = verdicts.rbegin(); one != verdicts.rend(); ++one) {
    std::vector<std::string>& texts = told[one->property];
    if (texts.size() == kMostTold) continue;
    texts.push_back(fmt::format("{} on {} (drill {})", StateWords(one->state),
                                FormatMinute(one->decided), one->drill_id));
  }
  std::vector<std::string> texts;
  for (const auto& [name, each] : told) {
    texts.push_back(fmt::format("{}: {}", name, fmt::join(each, ", ")));
  }
  if (texts.empty()) return {};
  return {{"properties", fmt::format("{}", fmt::join(texts, "; "))}};
}

}  // namespace rharness
