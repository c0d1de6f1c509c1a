// Labels, values and series as Prometheus reads them; see prometheus.h.
#include "reports/prometheus.h"

#include <fmt/format.h>

#include <cmath>

#include "harness/base/digest.h"
#include "reports/text.h"

namespace rharness {

namespace {

constexpr std::size_t kMostLabelBytes = 200;

// What SafeText spells out (\xNN, \u{NNNN}) is told from what is spelled so already: in a text with
// either, backslashes are doubled. What SafeText drops or joins is spelled out as well.
std::string Spelled(std::string_view text) {
  const bool plain = SafeText(text, std::string_view::npos, Lines::kKeep) == text;
  if (plain && text.find("\\x") == text.npos && text.find("\\u{") == text.npos) {
    return std::string(text);
  }
  std::string spelled;
  for (const char c : text) {
    if (c == '\x1b' || c == '\r') {
      spelled += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    } else {
      spelled.append(c == '\\' ? 2 : 1, c);
    }
  }
  return spelled;
}

// A cut text has more bytes than that, and ends with what tells it from others that begin alike.
std::string Shortened(std::string_view text) {
  const std::string safe = SafeText(Spelled(text), kMostLabelBytes, Lines::kKeep);
  return safe.size() <= kMostLabelBytes ? safe : safe + " #" + Sha256HexOf(text).substr(0, 12);
}

}  // namespace

std::string PrometheusLabel(std::string_view text) {
  std::string escaped;
  for (const char c : Shortened(text)) {
    if (c == '\\' || c == '"') escaped.push_back('\\');
    if (c == '\n') {
      escaped += "\\n";
    } else {
      escaped.push_back(c);
    }
  }
  return escaped;
}

std::string PrometheusValue(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
  if (value == std::floor(value) && std::fabs(value) < 1e15) return fmt::format("{:.0f}", value);
  return fmt::format("{}", value);
}

PrometheusSeries::PrometheusSeries(std::string_view history)
    : history_(fmt::format("history=\"{}\"", PrometheusLabel(history))) {}

void PrometheusSeries::Head(std::string_view name, std::string_view help) {
  out_ += fmt::format("# HELP {} {}\n# TYPE {} gauge\n", name, help, name);
}

void PrometheusSeries::Sample(std::string_view name, std::string_view labels, double value) {
  out_ += fmt::format("{}{{{}{}{}}} {}\n", name, history_, labels.empty() ? "" : ",", labels,
                      PrometheusValue(value));
}

}  // namespace rharness
