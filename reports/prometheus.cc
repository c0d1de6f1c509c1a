// Labels, values and series as Prometheus reads them; see prometheus.h.
#include "reports/prometheus.h"

#include <fmt/format.h>

#include <cmath>

#include "harness/base/digest.h"
#include "reports/text.h"

namespace rharness {

std::string LabelText(std::string_view text) {
  constexpr std::size_t kMostBytes = 200;
  constexpr std::size_t kBesideDigest = 150;
  constexpr std::size_t kDigits = 12;
  const std::string safe = SafeText(text, kMostBytes, Lines::kKeep);
  if (safe == text) return safe;
  return SafeText(text, kBesideDigest, Lines::kKeep) + " #" + Sha256HexOf(text).substr(0, kDigits);
}

std::string PrometheusLabel(std::string_view text) {
  std::string escaped;
  for (const char c : LabelText(text)) {
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
