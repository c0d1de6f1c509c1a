// Prometheus text: values, bounded cardinality, and the last success carried over.
#include "reports/metrics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>
#include <sstream>

#include "reports/model.h"
#include "tests/reports/hostile.h"
#include "tests/reports/sample_report.h"

namespace rharness {
namespace {

constexpr char kHistory[] = "postgresql://ci-db.example.com/rharness";  // of the sample report

// A reader of the text exposition format, as its specification has it: HELP and TYPE once, before
// the samples of their metric, which stand together; unique label sets; no timestamp.
class Exposition {
 public:
  explicit Exposition(const std::string& text) {
    EXPECT_TRUE(text.ends_with("\n"));
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) Line(line);
  }
  // `labels`: those beside the history's.
  double Value(const std::string& name, const std::string& labels = "",
               const std::string& history = kHistory) const {
    const std::string series =
        name + "{history=\"" + history + "\"" + (labels.empty() ? "" : "," + labels) + "}";
    const auto at = samples_.find(series);
    if (at == samples_.end()) {
      ADD_FAILURE() << "no series " << series;
      return -1;
    }
    return at->second;
  }
  // Of the one series with this ending, whatever its history is.
  double ValueEnding(const std::string& name, const std::string& ending) const {
    for (const auto& [series, value] : samples_) {
      if (series.starts_with(name + "{") && series.ends_with(ending)) return value;
    }
    ADD_FAILURE() << "no series " << name << " with " << ending;
    return -1;
  }
  std::size_t size() const { return samples_.size(); }

 private:
  void Line(const std::string& line) {
    if (line.starts_with("# HELP ") || line.starts_with("# TYPE ")) {
      const std::string name = line.substr(7, line.find(' ', 7) - 7);
      EXPECT_TRUE(heads_.insert(line.substr(2, 5) + name).second) << line;
      EXPECT_TRUE(line.starts_with("# HELP ") || line.ends_with(" gauge")) << line;
      current_ = name;
      return;
    }
    std::size_t at = 0;
    while (at < line.size() &&
           (std::isalnum(static_cast<unsigned char>(line[at])) != 0 || line[at] == '_')) {
      ++at;
    }
    EXPECT_EQ(line.substr(0, at), current_) << line;
    EXPECT_TRUE(heads_.contains("HELP " + current_) && heads_.contains("TYPE " + current_));
    if (line[at] == '{') at = Labels(line, at + 1);
    ASSERT_EQ(line[at], ' ') << line;
    const std::string value = line.substr(at + 1);
    EXPECT_EQ(value.find(' '), std::string::npos) << "timestamp: " << line;
    char* end = nullptr;
    const double number = std::strtod(value.c_str(), &end);
    EXPECT_EQ(*end, '\0') << line;
    EXPECT_TRUE(samples_.emplace(line.substr(0, at), number).second) << "twice: " << line;
  }

  // Returns the position behind the closing brace.
  static std::size_t Labels(const std::string& line, std::size_t at) {
    for (;;) {
      const std::size_t quote = line.find("=\"", at);
      EXPECT_NE(quote, std::string::npos) << line;
      for (at = quote + 2; at < line.size() && line[at] != '"'; ++at) {
        if (line[at] != '\\') continue;
        ++at;
        EXPECT_TRUE(line[at] == '\\' || line[at] == '"' || line[at] == 'n') << line;
      }
      if (line.substr(at, 2) != "\",") break;
      at += 2;
    }
    EXPECT_EQ(line.substr(at, 2), "\"}") << line;
    return at + 2;
  }

  std::set<std::string> heads_;
  std::string current_;
  std::map<std::string, double> samples_;
};

TEST(Metrics, SayWhatTheDrillCameTo) {
  const Exposition metrics(WriteMetrics(SampleReport()));
  EXPECT_EQ(metrics.Value("rharness_build_info", "version=\"0.1.0\""), 1);
  EXPECT_EQ(metrics.Value("rharness_runs", "verdict=\"drifted\""), 3);
  EXPECT_EQ(metrics.Value("rharness_runs", "verdict=\"not_comparable\""), 1);
  EXPECT_EQ(metrics.Value("rharness_exit_code"), 1);
  EXPECT_EQ(metrics.Value("rharness_duration_seconds"), 20493.65);
  // date -u -d 2026-11-20T06:41:37.9Z +%s.%1N
  EXPECT_EQ(metrics.Value("rharness_last_run_timestamp_seconds"), 1795156897.9);
  EXPECT_EQ(metrics.Value("rharness_last_success_timestamp_seconds"), 0);
  EXPECT_EQ(metrics.Value("rharness_reruns", "state=\"failed\""), 2);
}

TEST(Metrics, DriftRatioIsOverTheConclusiveRunsOfAFamily) {
  const Exposition metrics(WriteMetrics(SampleReport()));
  EXPECT_EQ(metrics.Value("rharness_drift_ratio", "family=\"digits-mlp\""), 1.0 / 3.0);
  EXPECT_EQ(metrics.Value("rharness_drift_ratio", "family=\"lm-small\""), 1);
  EXPECT_TRUE(std::isnan(metrics.Value("rharness_drift_ratio", "family=\"tabular-gbdt\"")));
  EXPECT_EQ(metrics.Value("rharness_undecided_ratio", "family=\"digits-cnn\""), 0.5);
}

TEST(Metrics, HostileTextOpensNoSeriesAndBreaksNoLine) {
  for (const std::string& text : HostileTexts()) {
    const Exposition metrics(WriteMetrics(HostileReport(text)));
    EXPECT_EQ(metrics.ValueEnding("rharness_runs", ",verdict=\"drifted\"}"), 3);
    EXPECT_LT(metrics.size(), 40U);
  }
}

// Prometheus takes nothing of a file in which a series stands twice.
TEST(Metrics, FamiliesThatLookAlikeHaveEachTheirSeries) {
  const std::string rest(300, 'a');
  const std::string names[] = {"a\u202eb",   "a\\u{202e}b", "a\\\\u{202e}b", "a\\\u202eb",
                               "a\x1b[31mb", "ab",          "a\\x1b[31mb",   "a\rb",
                               "a\nb",       "a\r\nb",      "a\xff\x62",     "a\\xffb",
                               rest + "1",   rest + "2"};
  Report report = LargeReport(static_cast<int>(std::size(names)), 0);
  for (std::size_t i = 0; i < std::size(names); ++i) report.runs[i].family = names[i];
  const std::string text = WriteMetrics(report);
  const Exposition metrics(text);  // expects that none stands twice
  std::size_t series = 0;
  for (auto at = text.find("\nrharness_family_runs{"); at != text.npos;
       at = text.find("\nrharness_family_runs{", at + 1)) {
    ++series;
  }
  EXPECT_EQ(series, std::size(names));
  EXPECT_EQ(text.find("\u202e"), text.npos);
  EXPECT_EQ(metrics.ValueEnding("rharness_family_runs", R"(,family="a\\u{202e}b"})"), 1);
  EXPECT_EQ(metrics.ValueEnding("rharness_family_runs", R"(,family="a\\\\u{202e}b"})"), 1);
}

TEST(Metrics, CardinalityIsBoundedWhateverTheFamiliesAre) {
  Report report = LargeReport(5'000, 0);
  for (std::size_t i = 0; i < report.runs.size(); ++i) {
    report.runs[i].family = "family-" + std::to_string(i);
  }
  const Exposition metrics(WriteMetrics(report));
  EXPECT_LT(metrics.size(), 400U);
  EXPECT_EQ(metrics.Value("rharness_family_runs", "family=\"(other)\"", ""), 4'900);
}

TEST(Metrics, KeepTheLastSuccessOfTheFileTheyReplace) {
  Report fine = LargeReport(3, 0);
  fine.history = kHistory;
  const std::string good = WriteMetrics(fine);
  const double success = Exposition(good).Value("rharness_last_success_timestamp_seconds");
  EXPECT_EQ(success, 1795158000);  // date -u -d 2026-11-20T07:00:00Z +%s
  const Exposition carried(CarryLastSuccess(WriteMetrics(SampleReport()), good));
  EXPECT_EQ(carried.Value("rharness_last_success_timestamp_seconds"), success);
  EXPECT_EQ(carried.Value("rharness_exit_code"), 1);
}

TEST(Metrics, TakeTheLastSuccessFromTheHistory) {
  Report report = SampleReport();
  report.last_success = ParseTime("2026-11-19T02:00:00Z").value();
  const Exposition metrics(WriteMetrics(report));
  // date -u -d 2026-11-19T02:00:00Z +%s
  EXPECT_EQ(metrics.Value("rharness_last_success_timestamp_seconds"), 1795053600);
  EXPECT_EQ(metrics.Value("rharness_exit_code"), 1);
}

TEST(Metrics, KeepNoSuccessOfAnotherHistoryButThatOfAFileWithoutLabels) {
  Report other = LargeReport(3, 0);
  other.history = "/srv/other.db";
  const Exposition metrics(CarryLastSuccess(WriteMetrics(SampleReport()), WriteMetrics(other)));
  EXPECT_EQ(metrics.Value("rharness_last_success_timestamp_seconds"), 0);
  const Exposition carried(CarryLastSuccess(
      WriteMetrics(SampleReport()), "rharness_last_success_timestamp_seconds 1795158000\n"));
  EXPECT_EQ(carried.Value("rharness_last_success_timestamp_seconds"), 1795158000);
}

TEST(Metrics, IgnoreAPreviousFileThatHoldsNoNumber) {
  const std::string metrics = WriteMetrics(SampleReport());
  for (const std::string previous : {"", "junk", "rharness_last_success_timestamp_seconds",
                                     "rharness_last_success_timestamp_"
                                     "seconds nan\n",
                                     "rharness_last_success_timestamp_seconds inf\n"}) {
    EXPECT_EQ(CarryLastSuccess(metrics, previous), metrics);
  }
}

TEST(Metrics, AnEmptyDrillIsNoSuccess) {
  const Exposition metrics(WriteMetrics(EmptyReport()));
  EXPECT_EQ(metrics.Value("rharness_exit_code", "", ""), 3);
  EXPECT_EQ(metrics.Value("rharness_runs", "verdict=\"identical\"", ""), 0);
  EXPECT_EQ(metrics.Value("rharness_last_success_timestamp_seconds", "", ""), 0);
}

}  // namespace
}  // namespace rharness
