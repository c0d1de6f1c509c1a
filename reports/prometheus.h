// Series of Prometheus' text exposition (format 0.0.4): no timestamps, one HELP and TYPE per
// metric. Private to this folder, except the text of labels.
#ifndef RHARNESS_REPORTS_PROMETHEUS_H_
#define RHARNESS_REPORTS_PROMETHEUS_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

namespace rharness {

// Families with a sample each. For drills the others are one series, "(other)"; for objectives
// separate series have the totals of all (objectives_metrics.cc).
inline constexpr std::size_t kMostFamilySeries = 100;

// The text of a label: unchanged if it is safe (text.h) and no longer than 200 bytes; else its safe
// part, and the beginning of its SHA-256, so that different texts stay different.
std::string LabelText(std::string_view text);
// The same with backslash, quote and newline escaped.
std::string PrometheusLabel(std::string_view text);
std::string PrometheusValue(double value);

// Series, each with the label of their history.
class PrometheusSeries {
 public:
  explicit PrometheusSeries(std::string_view history);

  void Head(std::string_view name, std::string_view help);
  // `labels`: further ones, such as "verdict=\"drifted\""; may be empty.
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
