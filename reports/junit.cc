// The report as JUnit XML, for GitLab (which reads element bodies only) and Jenkins.
//
// Role: layout only; which verdict becomes which element is argued in README.md. Limits kept: at
// most 10,000 cases and about 20 MB a file, no text above 1 MB (formats: GitLab's parser).
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <pugixml.hpp>

#include "reports/model.h"
#include "reports/summary.h"
#include "reports/text.h"

namespace rharness {
namespace {

constexpr std::size_t kMostCases = 10'000;
constexpr std::size_t kTextBudgetBytes = 16'000'000;  // of all bodies together
constexpr std::size_t kMostBodyBytes = 64'000;        // of one body
constexpr std::size_t kLeastBodyBytes = 1'000;

class StringWriter : public pugi::xml_writer {
 public:
  void write(const void* data, std::size_t size) override {
    text_.append(static_cast<const char*>(data), size);
  }
  std::string Take() { return std::move(text_); }

 private:
  std::string text_;
};

enum class Kind { kPassed, kFailure, kError, kSkipped };

Kind KindOf(Verdict verdict) {
  switch (verdict) {
    case Verdict::kIdentical:
    case Verdict::kEquivalent:
      return Kind::kPassed;
    case Verdict::kDrifted:
      return Kind::kFailure;
    case Verdict::kInconclusive:
    case Verdict::kNotComparable:
      return Kind::kSkipped;
    case Verdict::kFailed:
    case Verdict::kInfra:
      return Kind::kError;
  }
  Abort("unknown Verdict");
}

std::string ReasonLine(const Finding& finding) {
  std::string line = fmt::format("- {}: {}", SafeText(finding.code), SafeText(finding.message));
  std::vector<std::string> numbers;
  if (!finding.observed.empty()) numbers.push_back("observed " + SafeText(finding.observed));
  if (!finding.limit.empty()) numbers.push_back("limit " + SafeText(finding.limit));
  if (!finding.rule.empty()) numbers.push_back("rule: " + SafeText(finding.rule));
  if (!numbers.empty()) line += fmt::format(" ({})", fmt::join(numbers, "; "));
  return line + "\n";
}

std::string DifferenceLines(const ReportRun& run) {
  std::string lines;
  for (const LayerComparison& layer : run.layers) {
    for (const FactDifference& difference : layer.differences) {
      lines += fmt::format("- {} {}: recorded {}, observed {}\n", LayerName(layer.layer),
                           SafeText(difference.key),
                           difference.recorded ? SafeText(*difference.recorded) : "nothing",
                           difference.observed ? SafeText(*difference.observed) : "nothing");
    }
  }
  return lines.empty() ? "" : "what changed since the recording:\n" + lines;
}

std::string RerunLines(const ReportRun& run) {
  std::string lines;
  for (const ReportRerun& rerun : run.reruns) {
    lines += fmt::format("- rerun {}: {}, {}, {}{}\n", rerun.index, SafeText(rerun.state),
                         SafeText(rerun.outcome), FormatDuration(Seconds(rerun.wall_seconds)),
                         rerun.reason.empty() ? "" : ": " + SafeText(rerun.reason));
  }
  for (const ReportRerun& rerun : run.reruns) {
    if (rerun.stderr_tail.empty()) continue;
    lines += fmt::format("stderr of rerun {}, last lines:\n{}\n", rerun.index,
                         SafeText(Tail(rerun.stderr_tail, 8'000), 8'000, Lines::kKeep));
  }
  return lines;
}

// The verdict and everything that led to it as text, because bodies are all that GitLab shows.
std::string Body(const ReportRun& run, std::size_t limit_bytes) {
  std::string body = fmt::format("{}: {}\n", VerdictLabel(run.verdict), SafeText(run.headline));
  for (const Finding& finding : run.reasons) body += ReasonLine(finding);
  for (const std::string& line : run.compared) body += "- " + SafeText(line) + "\n";
  if (!Reproduced(run.verdict)) {
    body += DifferenceLines(run);
    body += RerunLines(run);
  }
  return SafeText(body, limit_bytes, Lines::kKeep);
}

void SetText(pugi::xml_node node, const std::string& text) {
  node.append_child(pugi::node_pcdata).set_value(text.c_str());
}

void AddProperty(pugi::xml_node properties, const char* name, std::string_view value) {
  pugi::xml_node property = properties.append_child("property");
  property.append_attribute("name") = name;
  property.append_attribute("value") = SafeText(value).c_str();
}

pugi::xml_node AddCase(pugi::xml_node suite, const std::string& family, const std::string& name,
                       double seconds) {
  pugi::xml_node test = suite.append_child("testcase");
  test.append_attribute("classname") = family.c_str();
  test.append_attribute("name") = name.c_str();
  test.append_attribute("time") = fmt::format("{:.3f}", seconds).c_str();
  return test;
}

void AddRun(pugi::xml_node suite, const ReportRun& run, const std::string& name,
            std::size_t body_bytes) {
  const std::string family = run.family.empty() ? "runs" : SafeText(run.family, 200);
  pugi::xml_node test = AddCase(suite, family, name, RerunSeconds(run));
  pugi::xml_node properties = test.append_child("properties");
  AddProperty(properties, "verdict", VerdictName(run.verdict));
  AddProperty(properties, "declared", run.declared);
  const std::string body = Body(run, body_bytes);
  const Kind kind = KindOf(run.verdict);
  if (kind == Kind::kPassed) return SetText(test.append_child("system-out"), body);
  pugi::xml_node result = test.append_child(kind == Kind::kFailure ? "failure"
                                            : kind == Kind::kError ? "error"
                                                                   : "skipped");
  result.append_attribute("message") = SafeText(run.headline, 500).c_str();
  if (kind != Kind::kSkipped) {
    result.append_attribute("type") = std::string(VerdictName(run.verdict)).c_str();
  }
  SetText(result, body);
}

// A drill with open runs and no failing case would look green in a viewer that hides skipped
// cases, and a drill without runs would look like nothing at all; this one case says so.
bool NeedsDrillCase(const Report& report) {
  if (report.runs.empty() || report.interrupted) return true;
  return std::none_of(report.runs.begin(), report.runs.end(),
                      [](const ReportRun& run) {
                        return KindOf(run.verdict) == Kind::kFailure ||
                               KindOf(run.verdict) == Kind::kError;
                      }) &&
         report.exit_code != 0;
}

void AddDrillCase(pugi::xml_node suite, const Summary& summary) {
  pugi::xml_node test = AddCase(suite, "rharness", "the drill reached a verdict on every run", 0.0);
  pugi::xml_node failure = test.append_child("failure");
  failure.append_attribute("message") = summary.answer.c_str();
  failure.append_attribute("type") = "drill";
  SetText(failure, summary.answer + "\n" + summary.next_step + "\n");
}

void SetTotals(pugi::xml_node node, pugi::xml_node suite, const Report& report) {
  std::map<std::string, int> elements;
  int cases = 0;
  for (pugi::xml_node test : suite.children("testcase")) {
    ++cases;
    for (pugi::xml_node child : test.children()) ++elements[child.name()];
  }
  node.append_attribute("name") = "rharness drill";
  node.append_attribute("tests") = cases;
  node.append_attribute("failures") = elements["failure"];
  node.append_attribute("errors") = elements["error"];
  node.append_attribute("skipped") = elements["skipped"];
  const std::chrono::duration<double> span = report.ended - report.started;
  node.append_attribute("time") = fmt::format("{:.3f}", std::max(span.count(), 0.0)).c_str();
  node.append_attribute("timestamp") = FormatTime(report.started).substr(0, 19).c_str();
}

void AddSuiteProperties(pugi::xml_node suite, const Report& report, std::size_t left_out) {
  pugi::xml_node properties = suite.append_child("properties");
  AddProperty(properties, "rharness.version", report.version);
  AddProperty(properties, "rharness.drill_id", report.drill_id);
  AddProperty(properties, "rharness.exit_code", std::to_string(report.exit_code));
  AddProperty(properties, "rharness.history", report.history);
  AddProperty(properties, "rharness.selection", report.selection);
  AddProperty(properties, "rharness.launcher", report.launcher);
  AddProperty(properties, "rharness.executor", report.executor);
  AddProperty(properties, "rharness.host", report.host);
  if (left_out > 0) {
    AddProperty(properties, "rharness.cases_left_out",
                fmt::format("{}, the least severe; see report.json", Counted(left_out, "case")));
  }
}

}  // namespace

std::string WriteJunit(const Report& report) {
  const Summary summary = Summarize(report);
  const bool drill_case = NeedsDrillCase(report);
  const std::size_t cases = std::min(summary.order.size(), kMostCases - (drill_case ? 1 : 0));
  const std::size_t body_bytes = std::clamp(kTextBudgetBytes / std::max<std::size_t>(cases, 1),
                                            kLeastBodyBytes, kMostBodyBytes);
  pugi::xml_document document;
  pugi::xml_node declaration = document.append_child(pugi::node_declaration);
  declaration.append_attribute("version") = "1.0";
  declaration.append_attribute("encoding") = "UTF-8";
  pugi::xml_node root = document.append_child("testsuites");
  pugi::xml_node suite = root.append_child("testsuite");
  AddSuiteProperties(suite, report, summary.order.size() - cases);
  if (drill_case) AddDrillCase(suite, summary);
  std::map<std::string, int> names;  // viewers drop the second case of one name
  for (std::size_t i = 0; i < cases; ++i) {
    const ReportRun& run = *summary.order[i];
    std::string name = SafeText(run.run_id, 300);
    const int seen = ++names[name];
    if (seen > 1) name += fmt::format(" ({})", seen);
    AddRun(suite, run, name, body_bytes);
  }
  SetTotals(suite, suite, report);
  SetTotals(root, suite, report);
  StringWriter writer;
  document.save(writer, "  ", pugi::format_default, pugi::encoding_utf8);
  return writer.Take();
}

}  // namespace rharness
