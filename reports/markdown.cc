// The report as GitHub-flavoured Markdown for a step summary, which GitHub drops whole above 1 MiB.
#include <fmt/format.h>

#include <algorithm>

#include "reports/model.h"
#include "reports/names.h"
#include "reports/summary.h"
#include "reports/text.h"

namespace rharness {
namespace {

constexpr std::size_t kTableBytes = 400'000;  // budget of the table of runs
constexpr std::size_t kTotalBytes = 900'000;  // table and details; the rest is small
constexpr std::size_t kMostListed = 20;       // reasons, differences, ... of one run

bool IsAlphaNumeric(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

// HTML specials as entities; in Markdown these also end code, tags and autolinks.
void AppendEntity(char c, std::string* out) {
  switch (c) {
    case '&':
      *out += "&amp;";
      return;
    case '<':
      *out += "&lt;";
      return;
    case '>':
      *out += "&gt;";
      return;
    case '"':
      *out += "&quot;";
      return;
    default:
      out->push_back(c);
  }
}

// One line of Markdown text that shows `text` as it is: no markup, no table cell, no link, and no
// mention or issue reference, which would notify people.
std::string Plain(std::string_view text, std::size_t limit_bytes = 1000) {
  static constexpr std::string_view kMarkup = "\\`*_{}[]()~|!";
  const std::string safe = SafeText(text, limit_bytes);
  std::string out;
  for (std::size_t i = 0; i < safe.size(); ++i) {
    const char c = safe[i];
    if (kMarkup.find(c) != std::string_view::npos) out.push_back('\\');
    AppendEntity(c, &out);
    const bool before_word = i + 1 < safe.size() && IsAlphaNumeric(safe[i + 1]);
    if ((c == '@' || c == '#') && before_word) out += "&#8203;";
    if (c == ':' && safe.compare(i, 3, "://") == 0) out += "&#8203;";
    if (c == '.' && i >= 3 && safe.compare(i - 3, 3, "www") == 0) out += "&#8203;";
  }
  return out;
}

// The same in a <code> element, where GitHub looks for no mentions.
std::string Code(std::string_view text, std::size_t limit_bytes = 300) {
  return text.empty() ? "" : fmt::format("<code>{}</code>", Plain(text, limit_bytes));
}

// Lines of a log in a <pre> block.
std::string Preformatted(std::string_view text) {
  std::string out = "<pre>";
  for (const char c : SafeText(Tail(text, 4'000), 4'000, Lines::kKeep)) AppendEntity(c, &out);
  return out + "</pre>\n\n";
}

std::string Badge(Verdict verdict) {
  return fmt::format("{} {}", VerdictSign(verdict), VerdictLabel(verdict));
}

void Header(const Report& report, const Summary& summary, std::string* out) {
  *out += fmt::format("## {}\n\n**{}**\n\n", Plain(report.title), Plain(summary.answer));
  *out += fmt::format("Next: {}\n\n", Plain(summary.next_step));
  std::vector<std::string> counts;
  for (const Verdict verdict : kVerdicts) {
    const auto count = report.counts.find(std::string(VerdictName(verdict)));
    if (count != report.counts.end() && count->second > 0) {
      counts.push_back(fmt::format("{} **{}**", Badge(verdict), count->second));
    }
  }
  if (!counts.empty()) *out += fmt::format("{}\n\n", fmt::join(counts, " · "));
  for (const std::string& note : report.notes) *out += fmt::format("> {}\n\n", Plain(note));
}

void Shared(const Summary& summary, std::string* out) {
  if (summary.shared.empty()) return;
  *out += "### What changed in the drifted runs\n\n";
  *out += "| Layer | Fact | Recorded | Now | Drifted runs | Reproduced runs |\n";
  *out += "|---|---|---|---|--:|--:|\n";
  for (const SharedDifference& shared : summary.shared) {
    *out += fmt::format("| {} | {} | {} | {} | {} of {} | {} of {} |\n", LayerName(shared.layer),
                        Code(shared.key), Code(shared.recorded), Code(shared.observed),
                        shared.drifted, summary.drifted, shared.reproduced, summary.reproduced);
  }
  *out += "\n";
}

void Table(const Summary& summary, std::string* out) {
  *out += "### Runs\n\n| Verdict | Run | Family | Compared | Reruns | Time | Why |\n";
  *out += "|---|---|---|---|--:|--:|---|\n";
  const std::size_t start = out->size();
  std::size_t shown = 0;
  for (const ReportRun* run : summary.order) {
    const std::string row =
        fmt::format("| {} | {} | {} | {} | {} | {} | {} |\n", Badge(run->verdict),
                    Code(run->run_id, 160), Plain(run->family, 100), ComparedInShort(*run),
                    run->reruns.size(), RerunTime(*run), Plain(run->headline, 300));
    if (out->size() - start + row.size() > kTableBytes) break;
    *out += row;
    ++shown;
  }
  *out += "\n";
  if (shown < summary.order.size()) {
    *out += fmt::format("_The table is cut: {} more, the least severe, are in report.json._\n\n",
                        Counted(summary.order.size() - shown, "run"));
  }
}

// "- item" lines, at most kMostListed of them, saying how many were left out.
template <class T, class F>
std::string List(const std::vector<T>& items, F line) {
  std::string out;
  const std::size_t shown = std::min(items.size(), kMostListed);
  for (std::size_t i = 0; i < shown; ++i) out += fmt::format("- {}\n", line(items[i]));
  if (shown < items.size()) out += fmt::format("- … and {} more\n", items.size() - shown);
  return out.empty() ? out : out + "\n";
}

std::string MetricLine(const MetricDecision& metric) {
  const std::string head = fmt::format("{}: {}; difference {} {}", Code(metric.name),
                                       Plain(MetricVerdictName(metric.verdict)),
                                       FormatNumber(metric.difference, 4), Plain(metric.unit, 40));
  const std::string tail =
      fmt::format(", margin {}, n = {}, k = {}", FormatNumber(metric.margin, 4),
                  metric.history.size(), metric.reruns.size());
  if (metric.standard_error <= 0) return head + tail + ", not tested";
  return fmt::format("{} (interval {} to {}){}, p {}, power {}", head,
                     FormatNumber(metric.ci_low, 4), FormatNumber(metric.ci_high, 4), tail,
                     FormatNumber(metric.p_difference, 4), FormatNumber(metric.power, 4));
}

std::string Details(const ReportRun& run) {
  std::string out = fmt::format("<details><summary>{} {}: {}</summary>\n\n", Badge(run.verdict),
                                Code(run.run_id, 160), Plain(run.headline, 500));
  out += List(run.reasons, [](const Finding& finding) {
    std::string line = fmt::format("{}: {}", Code(finding.code), Plain(finding.message));
    if (!finding.observed.empty()) line += fmt::format(" Observed {}.", Code(finding.observed));
    if (!finding.limit.empty()) line += fmt::format(" Limit {}.", Code(finding.limit));
    return line;
  });
  std::vector<ExactComparison> unequal;
  std::copy_if(run.exact.begin(), run.exact.end(), std::back_inserter(unequal),
               [](const auto& e) { return e.state != ExactComparison::State::kEqual; });
  out += List(unequal, [](const ExactComparison& exact) {
    return fmt::format("{} {}: {} {}", Code(exact.subject), NameIn(kExactStateNames, exact.state),
                       Code(exact.first_difference), Plain(exact.detail));
  });
  out += List(run.metrics, MetricLine);
  for (const LayerComparison& layer : run.layers) {
    out += List(layer.differences, [&](const FactDifference& difference) {
      return fmt::format("{} {}: recorded {}, now {}", LayerName(layer.layer), Code(difference.key),
                         Code(difference.recorded.value_or("(absent)")),
                         Code(difference.observed.value_or("(absent)")));
    });
  }
  for (const ReportRerun& rerun : run.reruns) {
    if (rerun.stderr_tail.empty()) continue;
    out +=
        fmt::format("Rerun {}: {}. {}\n\n", rerun.index, Plain(rerun.outcome), Plain(rerun.reason));
    out += Preformatted(rerun.stderr_tail);
  }
  return out + "</details>\n\n";
}

void AllDetails(const Summary& summary, std::string* out) {
  std::size_t left_out = 0;
  for (const ReportRun* run : summary.order) {
    if (Reproduced(run->verdict)) continue;
    const std::string details = left_out > 0 ? "" : Details(*run);
    if (left_out > 0 || out->size() + details.size() > kTotalBytes) {
      ++left_out;
      continue;
    }
    *out += details;
  }
  if (left_out > 0) {
    *out += fmt::format("_The details are cut: those of {} more are in report.json._\n\n",
                        Counted(left_out, "run"));
  }
}

}  // namespace

std::string WriteMarkdown(const Report& report) {
  const Summary summary = Summarize(report);
  std::string out;
  Header(report, summary, &out);
  Shared(summary, &out);
  if (!report.runs.empty()) Table(summary, &out);
  AllDetails(summary, &out);
  out += fmt::format("<sub>{} · {} · took {} · {} · rharness {} · exit code {}</sub>\n",
                     Plain(report.drill_id, 200), FormatMinute(report.started),
                     FormatDuration(report.ended - report.started), Plain(report.host, 300),
                     Plain(report.version, 60), report.exit_code);
  return out;
}

}  // namespace rharness
