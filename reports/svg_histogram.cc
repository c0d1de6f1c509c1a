// Distances in ULP as bars; see svg_plots.h.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "reports/svg_axis.h"
#include "reports/svg_plots.h"
#include "reports/text.h"

namespace rharness {
namespace {

constexpr double kHistogramWidth = 560.0;
constexpr double kHistogramHeight = 200.0;
constexpr double kHistogramLeft = 52.0;
constexpr double kHistogramRight = 550.0;
constexpr double kHistogramTop = 12.0;
constexpr double kHistogramBottom = 158.0;
constexpr int kLeastBins = 8;  // so that one bar does not fill the picture
constexpr int kMostLabels = 12;

// "1", "2 to 3", "4 to 7", ...: the distances that a bin counts.
std::string BinWords(int bin) {
  if (bin == 0) return "1 ULP";
  const std::uint64_t first = std::uint64_t{1} << bin;
  return fmt::format("{} to {} ULP", FormatCount(first), FormatCount(first - 1 + first));
}

// Powers of two are read as numbers while they are short.
std::string BinLabel(int bin) {
  if (bin <= 9) return std::to_string(1 << bin);
  if (bin < 20) return fmt::format("{}k", 1 << (bin - 10));
  return bin < 30 ? fmt::format("{}M", 1 << (bin - 20)) : fmt::format("2^{}", bin);
}

std::string Labels(int bins, double slot) {
  const int stride = (bins + kMostLabels - 1) / kMostLabels;
  std::string out;
  for (int bin = 0; bin < bins; bin += stride) {
    out += fmt::format("<text x=\"{:.1f}\" y=\"{:.0f}\" text-anchor=\"middle\">{}</text>",
                       kHistogramLeft + slot * (bin + 0.5), kHistogramBottom + 16, BinLabel(bin));
  }
  return out +
         fmt::format(
             "<text x=\"{:.0f}\" y=\"{:.0f}\" text-anchor=\"middle\">distance, ULP (from this "
             "power of two up to the next)</text>",
             (kHistogramLeft + kHistogramRight) / 2, kHistogramBottom + 34);
}

}  // namespace

std::string SvgHistogram(const UlpHistogram& histogram, std::string_view id) {
  const int last = LastBin(histogram);
  if (last < 0) return "";
  const std::uint64_t most = *std::max_element(histogram.begin(), histogram.end());
  const std::uint64_t all = std::accumulate(histogram.begin(), histogram.end(), std::uint64_t{0});
  // From half a count, so that a single one still has a bar.
  const SvgScale y = {0.5, std::max(10.0, static_cast<double>(most)) * 1.3, kHistogramBottom,
                      kHistogramTop, true};
  const int bins = std::max(last + 1, kLeastBins);
  const double slot = (kHistogramRight - kHistogramLeft) / bins;
  const auto fullest = std::max_element(histogram.begin(), histogram.end()) - histogram.begin();
  std::string out = SvgOpen(
      kHistogramWidth, kHistogramHeight, id, "Differing elements by distance in ULP",
      fmt::format("{}; the most, {}, lie {} apart, the farthest {}.", Counted(all, "finite pair"),
                  FormatCount(most), BinWords(static_cast<int>(fullest)), BinWords(last)));
  out += SvgValueAxis(y, kHistogramLeft, kHistogramRight);
  for (int bin = 0; bin <= last; ++bin) {
    const std::uint64_t count = histogram[static_cast<std::size_t>(bin)];
    if (count == 0) continue;
    const double top = y.At(static_cast<double>(count));
    out += fmt::format(
        "<rect class=\"bar\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\"><title>"
        "{}: {}</title></rect>",
        kHistogramLeft + slot * (bin + 0.1), top, slot * 0.8, kHistogramBottom - top, BinWords(bin),
        Counted(count, "element"));
  }
  out += fmt::format("<path class=\"axis\" d=\"M{:.0f} {:.0f}H{:.0f}\"/>", kHistogramLeft,
                     kHistogramBottom, kHistogramRight);
  return out + Labels(bins, slot) + "</svg>";
}

}  // namespace rharness
