// Certificates for the runs of a drill, on its page and its terminal.
#include <fmt/format.h>

#include <algorithm>

#include "reports/html_escape.h"
#include "reports/html_page.h"
#include "reports/sensitivity_parts.h"
#include "reports/terminal_parts.h"
#include "reports/text.h"

namespace rharness {
namespace {

constexpr std::size_t kMostCertified = 50;
constexpr std::size_t kMostCertifiedSentences = 40;

}  // namespace

std::string HtmlSensitivity(const Report& report) {
  if (report.sensitivity.empty()) return "";
  std::string out =
      "<h2 id=\"sensitivity\">Would it have been noticed?</h2>\n<p class=\"soft\">How often this "
      "drill's comparison found faults that were planted on purpose, from the certificates of game "
      "days.</p>\n";
  const std::size_t shown = std::min(report.sensitivity.size(), kMostCertified);
  for (std::size_t i = 0; i < shown; ++i) {
    const ReportSensitivity& one = report.sensitivity[i];
    std::string items;
    for (std::size_t n = 0; n < std::min(one.sentences.size(), kMostCertifiedSentences); ++n) {
      items += fmt::format("<li>{}</li>\n", HtmlText(one.sentences[n], 400));
    }
    if (!one.stale.empty()) {
      items = fmt::format(
          "<li class=\"inconclusive\"><span class=\"b\">does not hold here</span>: "
          "{}</li>\n",
          HtmlText(one.stale, 400));
    }
    out += fmt::format("<h3>{}</h3>\n<ul>\n{}</ul>\n<p class=\"soft\">{}</p>\n",
                       HtmlText(one.family, 200), items, HtmlText(one.source, 400));
  }
  return out + HtmlLeftOut(report.sensitivity.size(), shown, "report.json");
}

std::string TerminalSensitivity(const Report& report, int columns) {
  std::string out;
  constexpr std::size_t kMost = 6;
  const std::size_t shown = std::min(report.sensitivity.size(), kMost);
  for (std::size_t i = 0; i < shown; ++i) {
    const ReportSensitivity& one = report.sensitivity[i];
    const std::string family = SafeText(one.family, 100);
    out += Wrapped(one.stale.empty()
                       ? fmt::format("{}: {}", family, SafeText(one.sentences.front(), 400))
                       : fmt::format("{}: the certificate of its sensitivity does not hold: {}",
                                     family, SafeText(one.stale, 300)),
                   columns);
  }
  if (shown < report.sensitivity.size()) {
    out += fmt::format("and {} more on the page\n", report.sensitivity.size() - shown);
  }
  return out.empty() ? out : out + "\n";
}

}  // namespace rharness
