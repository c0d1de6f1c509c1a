// Scales and ticks; see svg_axis.h.
#include "reports/svg_axis.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "reports/html_escape.h"

namespace rharness {

double SvgScale::At(double value) const {
  const double share = log ? (std::log(value) - std::log(low)) / (std::log(high) - std::log(low))
                           : (value - low) / (high - low);
  return from + (to - from) * std::clamp(share, 0.0, 1.0);
}

bool SvgScale::Usable() const {
  return std::isfinite(low) && std::isfinite(high) && std::isfinite(high - low) && high > low &&
         (!log || low > 0.0);
}

double NiceStep(double range) {
  const double power = std::pow(10.0, std::floor(std::log10(range / 5.0)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power * 5.0 >= range) return factor * power;
  }
  return 10.0 * power;
}

std::string TickLabel(double value, double step) {
  const int decimals = std::max(0, -static_cast<int>(std::floor(std::log10(step) + 1e-9)));
  if (decimals > 7 || std::fabs(value) >= 1e7) return fmt::format("{:.5g}", value);
  if (std::fabs(value) < step / 2) value = 0.0;
  return fmt::format("{:.{}f}", value, decimals);
}

std::string DecadeLabel(int exponent) {
  constexpr int kSmallestPlain = -2;
  constexpr int kLargestPlain = 3;
  if (exponent >= kSmallestPlain && exponent <= kLargestPlain) {
    return fmt::format("{:g}", std::pow(10.0, exponent));
  }
  return fmt::format("1e{}", exponent);
}

std::string SvgStepAxis(const SvgScale& x, double y) {
  std::string out =
      fmt::format("<path class=\"axis\" d=\"M{:.0f} {:.0f}H{:.0f}\"/>", x.from, y, x.to);
  const double step = std::max(NiceStep(x.high - x.low), 1.0);
  const double first = std::ceil(x.low / step);
  for (int i = 0; i < 8; ++i) {
    const double value = (first + i) * step;
    if (!(value <= x.high)) break;
    out += fmt::format(
        "<path class=\"axis\" d=\"M{0:.1f} {1:.0f}v4\"/><text x=\"{0:.1f}\" y=\"{2:.0f}\" "
        "text-anchor=\"middle\">{3}</text>",
        x.At(value), y, y + 17, TickLabel(value, step));
  }
  return out + fmt::format("<text x=\"{:.0f}\" y=\"{:.0f}\" text-anchor=\"middle\">step</text>",
                           (x.from + x.to) / 2, y + 32);
}

std::string SvgValueAxis(const SvgScale& y, double left, double right) {
  std::string out;
  const auto tick = [&](double value, const std::string& label) {
    out += fmt::format(
        "<path class=\"grid\" d=\"M{0:.0f} {1:.1f}H{2:.0f}\"/><text x=\"{3:.0f}\" y=\"{4:.1f}\" "
        "text-anchor=\"end\">{5}</text>",
        left, y.At(value), right, left - 6, y.At(value) + 4, label);
  };
  if (y.log) {
    const int first = static_cast<int>(std::ceil(std::log10(y.low) - 1e-9));
    const int last = static_cast<int>(std::floor(std::log10(y.high) + 1e-9));
    const int stride = std::max(1, (last - first + 5) / 6);
    for (int e = first; e <= last; e += stride) tick(std::pow(10.0, e), DecadeLabel(e));
    return out;
  }
  const double step = NiceStep(y.high - y.low);
  const double first = std::ceil(y.low / step);
  for (int i = 0; i < 8; ++i) {
    const double value = (first + i) * step;
    if (!(value <= y.high)) break;
    tick(value, TickLabel(value, step));
  }
  return out;
}

std::string SvgOpen(double width, double height, std::string_view id, std::string_view title,
                    std::string_view description) {
  return fmt::format(
      "<svg viewBox=\"0 0 {0:.0f} {1:.0f}\" role=\"img\" aria-labelledby=\"{2}-t {2}-d\">"
      "<title id=\"{2}-t\">{3}</title><desc id=\"{2}-d\">{4}</desc>",
      width, height, id, HtmlText(title, 300), HtmlText(description));
}

std::vector<std::size_t> ThinByLargest(const std::vector<double>& keys, std::size_t most) {
  std::vector<std::size_t> kept;
  const std::size_t n = keys.size();
  if (n == 0) return kept;
  const auto larger = [&](std::size_t a, std::size_t b) {
    if (std::isnan(keys[b])) return false;
    return std::isnan(keys[a]) || keys[a] > keys[b];
  };
  const std::size_t stretches = std::min(n, std::max<std::size_t>(most, 2));
  for (std::size_t s = 0; s < stretches; ++s) {
    const std::size_t first = s * n / stretches;
    std::size_t largest = first;
    for (std::size_t i = first + 1; i < (s + 1) * n / stretches; ++i) {
      if (larger(i, largest)) largest = i;
    }
    if (s == 0 && largest != 0) kept.push_back(0);
    kept.push_back(largest);
  }
  if (kept.back() != n - 1) kept.push_back(n - 1);
  return kept;
}

}  // namespace rharness
