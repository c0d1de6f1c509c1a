// Pieces of a JUnit file; see junit_parts.h.
#include "reports/junit_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "reports/words.h"

namespace rharness {
namespace {

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

void SetText(pugi::xml_node node, const std::string& text) {
  node.append_child(pugi::node_pcdata).set_value(text.c_str());
}

void SetTotals(pugi::xml_node node, pugi::xml_node suite, const char* name, double seconds,
               WallTime stamp) {
  std::map<std::string, int> elements;
  int cases = 0;
  for (pugi::xml_node test : suite.children("testcase")) {
    ++cases;
    for (pugi::xml_node child : test.children()) ++elements[child.name()];
  }
  node.append_attribute("name") = name;
  node.append_attribute("tests") = cases;
  node.append_attribute("failures") = elements["failure"];
  node.append_attribute("errors") = elements["error"];
  node.append_attribute("skipped") = elements["skipped"];
  node.append_attribute("time") = fmt::format("{:.3f}", std::max(seconds, 0.0)).c_str();
  node.append_attribute("timestamp") = FormatTime(stamp).substr(0, 19).c_str();
}

}  // namespace

JunitKind KindOf(Verdict verdict) {
  switch (verdict) {
    case Verdict::kIdentical:
    case Verdict::kEquivalent:
      return JunitKind::kPassed;
    case Verdict::kDrifted:
      return JunitKind::kFailure;
    case Verdict::kInconclusive:
    case Verdict::kNotComparable:
      return JunitKind::kSkipped;
    case Verdict::kFailed:
    case Verdict::kInfra:
      return JunitKind::kError;
  }
  Abort("unknown Verdict");
}

JunitDocument::JunitDocument() {
  pugi::xml_node declaration = document.append_child(pugi::node_declaration);
  declaration.append_attribute("version") = "1.0";
  declaration.append_attribute("encoding") = "UTF-8";
  root = document.append_child("testsuites");
  suite = root.append_child("testsuite");
}

std::size_t JunitBodyBytes(std::size_t cases) {
  return std::clamp(kTextBudgetBytes / std::max<std::size_t>(cases, 1), kLeastBodyBytes,
                    kMostBodyBytes);
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

void SetResult(pugi::xml_node test, JunitKind kind, Verdict verdict, std::string_view headline,
               const std::string& body) {
  if (kind == JunitKind::kPassed) return SetText(test.append_child("system-out"), body);
  pugi::xml_node result = test.append_child(kind == JunitKind::kFailure ? "failure"
                                            : kind == JunitKind::kError ? "error"
                                                                        : "skipped");
  result.append_attribute("message") = SafeText(headline, 500).c_str();
  if (kind != JunitKind::kSkipped) {
    result.append_attribute("type") = std::string(VerdictName(verdict)).c_str();
  }
  SetText(result, body);
}

void AddAnswerCase(pugi::xml_node suite, const std::string& name, const char* type,
                   const std::string& answer, const std::string& next_step) {
  pugi::xml_node test = AddCase(suite, "rharness", name, 0.0);
  pugi::xml_node failure = test.append_child("failure");
  failure.append_attribute("message") = answer.c_str();
  failure.append_attribute("type") = type;
  SetText(failure, answer + "\n" + next_step + "\n");
}

std::string UniqueNames::Of(std::string_view name) {
  std::string safe = SafeText(name, 300);
  const int seen = ++seen_[safe];
  return seen > 1 ? fmt::format("{} ({})", safe, seen) : safe;
}

std::string DifferenceLines(std::string_view title, const std::array<LayerComparison, 5>& layers) {
  std::string lines;
  for (const LayerComparison& layer : layers) {
    for (const FactDifference& difference : layer.differences) {
      lines += fmt::format("- {} {}: recorded {}, observed {}\n", LayerName(layer.layer),
                           SafeText(difference.key),
                           difference.recorded ? SafeText(*difference.recorded) : "nothing",
                           difference.observed ? SafeText(*difference.observed) : "nothing");
    }
  }
  return lines.empty() ? "" : fmt::format("{}:\n{}", title, lines);
}

std::string FinishJunit(JunitDocument* junit, const char* name, double seconds, WallTime stamp) {
  SetTotals(junit->suite, junit->suite, name, seconds, stamp);
  SetTotals(junit->root, junit->suite, name, seconds, stamp);
  StringWriter writer;
  junit->document.save(writer, "  ", pugi::format_default, pugi::encoding_utf8);
  return writer.Take();
}

}  // namespace rharness
