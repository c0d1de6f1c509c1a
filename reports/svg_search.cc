// A search drawn: trials as rows, axes as columns, the answer as a mark of its colour beside them.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "reports/html_escape.h"
#include "reports/isolation_report.h"
#include "reports/svg_axis.h"
#include "reports/text.h"

namespace rharness {
namespace {

constexpr std::size_t kMostRows = 200;
constexpr std::size_t kMostColumns = 48;
constexpr double kRow = 20.0;
constexpr double kSlant = 60.0;  // degrees, of the names above the columns
constexpr double kLeft = 46.0;
constexpr double kGrid = 560.0;  // width that columns share, at most kCell each
constexpr double kCell = 34.0;
constexpr double kAnswer = 250.0;
constexpr double kLeastWidth = 900.0;  // narrower ones would be drawn too large
constexpr double kLetter = 6.4;        // of a letter, about
constexpr double kCapital = 8.8;       // of a bold capital, as in names of variables
constexpr int kNameCells = 44;         // longer ones are elided, and stay distinguishable

// Axes with columns in a picture: those of the cause first, then the others in order.
std::vector<std::size_t> Columns(const IsolationReport& report, std::size_t settable) {
  std::vector<std::size_t> columns;
  for (std::size_t i = 0; i < settable; ++i) {
    if (!report.axes[i].cause.empty()) columns.push_back(i);
  }
  if (columns.size() > kMostColumns) columns.resize(kMostColumns);
  for (std::size_t i = 0; i < settable && columns.size() < kMostColumns; ++i) {
    if (report.axes[i].cause.empty()) columns.push_back(i);
  }
  std::ranges::sort(columns);
  return columns;
}

// The slanted names above the columns.
std::vector<std::string> NamesOf(const IsolationReport& report,
                                 const std::vector<std::size_t>& columns) {
  std::vector<std::string> names;
  for (const std::size_t i : columns) names.push_back(SafeText(report.axes[i].name, 200));
  return ElideApart(names, kNameCells);
}

int WidestOf(const std::vector<std::string>& names) {
  int letters = 0;
  for (const std::string& name : names) letters = std::max(letters, DisplayWidth(name));
  return letters;
}

double Slant(double (*part)(double)) { return part(kSlant * std::numbers::pi / 180.0); }

std::string Head(const IsolationReport& report, const std::vector<std::size_t>& columns,
                 const std::vector<std::string>& texts, double cell, double names) {
  std::string out;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const IsolationAxis& axis = report.axes[columns[i]];
    const double x = kLeft + cell * (static_cast<double>(i) + 0.5);
    out += fmt::format(
        "<text x=\"{0:.1f}\" y=\"{1:.1f}\" transform=\"rotate(-{5:.0f} {0:.1f} {1:.1f})\"{2}>{3}"
        "<title>{4}</title></text>",
        x, names - 8, axis.cause.empty() ? "" : " font-weight=\"700\"", HtmlText(texts[i]),
        HtmlText(fmt::format("{}: {} -> {}", axis.name, axis.recorded, axis.drifted), 300), kSlant);
  }
  return out;
}

std::string Cell(const IsolationAxis& axis, int position, double x, double y, double cell) {
  const double gap = cell > 6.0 ? 2.0 : 0.4;
  const std::string_view mark = position == 0 ? "h0" : "set";
  std::string out = fmt::format(
      "<rect class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\"><title>{}"
      "</title></rect>",
      mark, x + gap / 2, y + 2, cell - gap, kRow - 4,
      HtmlText(
          fmt::format("{}: {}", axis.name,
                      position == 0           ? "as recorded"
                      : position == axis.last ? "as drifted"
                                              : fmt::format("step {} of {}", position, axis.last)),
          300));
  if (axis.last > 1 && position > 0 && cell > 16.0) {
    out +=
        fmt::format("<text class=\"in\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{}</text>",
                    x + cell / 2, y + kRow - 6, position);
  }
  return out;
}

std::string Rows(const IsolationReport& report, const std::vector<std::size_t>& columns,
                 double cell, double names, double total) {
  std::string out;
  const std::size_t rows = std::min(report.trials.size(), kMostRows);
  const double width = cell * static_cast<double>(columns.size());
  const int letters = static_cast<int>((total - kLeft - width - 28) / kLetter);
  for (std::size_t row = 0; row < rows; ++row) {
    const IsolationTrial& trial = report.trials[row];
    const double y = names + kRow * static_cast<double>(row);
    out +=
        fmt::format("<g class=\"{}\"><text x=\"{:.0f}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>",
                    VerdictName(ToneOf(trial)), kLeft - 8, y + kRow - 6, trial.number);
    for (std::size_t i = 0; i < columns.size(); ++i) {
      out += Cell(report.axes[columns[i]], trial.at[columns[i]],
                  kLeft + cell * static_cast<double>(i), y, cell);
    }
    out += fmt::format(
        "<rect class=\"new\" x=\"{0:.1f}\" y=\"{1:.1f}\" width=\"10\" height=\"{2:.1f}\"/><text "
        "x=\"{3:.1f}\" y=\"{4:.1f}\">{5}<title>{6}</title></text></g>",
        kLeft + width + 10, y + 2, kRow - 4, kLeft + width + 28, y + kRow - 6,
        HtmlText(ElideEnd(fmt::format("{}: {}", AnswerWords(trial), SafeText(trial.seen, 300)),
                          letters)),
        HtmlText(trial.seen, 300));
  }
  return out;
}

std::string Description(const IsolationReport& report) {
  std::string words = fmt::format(
      "Each row is a rerun, each column a change; a filled cell was set as it drifted. {} in all. ",
      Counted(report.trials.size(), "rerun"));
  return words + SafeText(report.headline, 400);
}

}  // namespace

std::string SvgSearch(const IsolationReport& report, std::string_view id) {
  if (report.trials.empty()) return "";
  const auto unset = [](const IsolationAxis& axis) { return !axis.cannot_be_set.empty(); };
  const auto settable =
      static_cast<std::size_t>(std::ranges::find_if(report.axes, unset) - report.axes.begin());
  const std::vector<std::size_t> columns = Columns(report, settable);
  if (columns.empty()) return "";
  const double cell = std::min(kCell, kGrid / static_cast<double>(columns.size()));
  const auto rows = static_cast<double>(std::min(report.trials.size(), kMostRows));
  const double grid = cell * static_cast<double>(columns.size());
  const std::vector<std::string> texts = NamesOf(report, columns);
  const double widest = WidestOf(texts) * kCapital;
  const double names = 18.0 + widest * Slant(std::sin);
  // The last names lean out to the right.
  const double width =
      std::max(kLeastWidth, kLeft + grid + std::max(kAnswer, widest * Slant(std::cos)));
  std::string out = SvgOpen(width, names + kRow * rows + 8, id, "The search", Description(report));
  out += Head(report, columns, texts, cell, names);
  out += Rows(report, columns, cell, names, width);
  return out + "</svg>";
}

}  // namespace rharness
