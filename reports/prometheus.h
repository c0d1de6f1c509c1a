// Series of Prometheus' text exposition (format 0.0.4): no timestamps, one HELP and TYPE a metric.
// Private to this folder, but for what a label says.
#ifndef RHARNESS_REPORTS_PROMETHEUS_H_
#define RHARNESS_REPORTS_PROMETHEUS_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

namespace rharness {

// With a sample a family. Of drills the others are one series, "(other)"; of objectives series of
// their own have the totals of all (objectives_metrics.cc).
inline constexpr std::size_t kMostFamilySeries = 100;

// What a label says: the text, where it is safe (text.h) and no longer than 200 bytes; else as much
// of it as can be said, and the beginning of its SHA-256, so that different texts are different.
std::string LabelText(std::string_view text);
// The same with backslash, quote and newline escaped.
std::string PrometheusLabel(std::string_view text);
std::string PrometheusValue(double value);

// Series, each with the label of their history.
class PrometheusSeries {
 public:
  explicit PrometheusSeries(std::string_view history);

  void Head(std::string_view name, std::string_view help);
  // `labels`: more of them, such as "verdict=\"drifted\""; may be empty.
  void Sample(std::string_view name, std::string_view labels, double value);
  void Gauge(std::string_view name, std::string_view help, double value) {
    Head(name, help);
    Sample(name, "", value);
  }
  std::string Take() { return std::move(out_); }

 private:
  std::string history_;
  std::string out_;
};

}  // namespace rharness

#endif  // RHARNESS_REPORTS_PROMETHEUS_H_
