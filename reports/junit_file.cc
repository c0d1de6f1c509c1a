// JUnit as XML; see junit_file.h.
#include "reports/junit_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <pugixml.hpp>

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

void AddProperties(pugi::xml_node parent, const JunitProperties& members) {
  if (members.empty()) return;
  pugi::xml_node properties = parent.append_child("properties");
  for (const auto& [name, value] : members) {
    pugi::xml_node property = properties.append_child("property");
    property.append_attribute("name") = name.c_str();
    property.append_attribute("value") = SafeText(value).c_str();
  }
}

void AddResult(pugi::xml_node node, const JunitCase& test, const std::string& body) {
  if (test.kind == JunitKind::kPassed) return SetText(node.append_child("system-out"), body);
  pugi::xml_node result = node.append_child(test.kind == JunitKind::kFailure ? "failure"
                                            : test.kind == JunitKind::kError ? "error"
                                                                             : "skipped");
  result.append_attribute("message") = SafeText(test.message, 500).c_str();
  if (test.kind != JunitKind::kSkipped) {
    result.append_attribute("type") =
        std::string(test.type.empty() ? VerdictName(test.verdict) : test.type).c_str();
  }
  SetText(result, body);
}

void AddCase(pugi::xml_node suite, const JunitCase& test, const std::string& name,
             std::size_t body_bytes) {
  pugi::xml_node node = suite.append_child("testcase");
  node.append_attribute("classname") = SafeText(test.classname, 200).c_str();
  node.append_attribute("name") = name.c_str();
  node.append_attribute("time") = fmt::format("{:.3f}", test.seconds).c_str();
  AddProperties(node, test.properties);
  AddResult(node, test, SafeText(test.body, body_bytes, Lines::kKeep));
}

// The text of all cases, and the number of their elements by name. Only one case at a time is held
// as XML nodes.
std::string CasesText(const JunitFile& file, std::map<std::string, int>* elements) {
  const std::size_t body_bytes = JunitBodyBytes(file.cases.size());
  std::map<std::string, int> names;
  StringWriter writer;
  for (const JunitCase& test : file.cases) {
    std::string name = SafeText(test.name, 300);
    const int seen = ++names[name];
    if (seen > 1) name += fmt::format(" ({})", seen);
    pugi::xml_document one;
    AddCase(one, test, name, body_bytes);
    for (pugi::xml_node child : one.first_child().children()) ++(*elements)[child.name()];
    one.first_child().print(writer, "  ", pugi::format_default, pugi::encoding_utf8, 2);
  }
  return writer.Take();
}

void SetTotals(pugi::xml_node node, std::map<std::string, int> elements, const JunitFile& file) {
  node.append_attribute("name") = file.name.c_str();
  node.append_attribute("tests") = file.cases.size();
  node.append_attribute("failures") = elements["failure"];
  node.append_attribute("errors") = elements["error"];
  node.append_attribute("skipped") = elements["skipped"];
  node.append_attribute("time") = fmt::format("{:.3f}", std::max(file.seconds, 0.0)).c_str();
  if (file.stamp == WallTime{}) return;
  node.append_attribute("timestamp") = FormatTime(file.stamp).substr(0, 19).c_str();
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

std::size_t JunitBodyBytes(std::size_t cases) {
  return std::clamp(kTextBudgetBytes / std::max<std::size_t>(cases, 1), kLeastBodyBytes,
                    kMostBodyBytes);
}

bool Fails(const JunitCase& test) {
  return test.kind == JunitKind::kFailure || test.kind == JunitKind::kError;
}

JunitCase AnswerCase(std::string name, const std::string& answer, const std::string& next_step) {
  return {.classname = "rharness",
          .name = std::move(name),
          .kind = JunitKind::kFailure,
          .verdict = Verdict::kInconclusive,
          .message = answer,
          .body = answer + "\n" + next_step + "\n"};
}

std::string WriteJunitFile(const JunitFile& file) {
  std::map<std::string, int> elements;
  const std::string cases = CasesText(file, &elements);
  pugi::xml_document document;
  pugi::xml_node declaration = document.append_child(pugi::node_declaration);
  declaration.append_attribute("version") = "1.0";
  declaration.append_attribute("encoding") = "UTF-8";
  pugi::xml_node root = document.append_child("testsuites");
  pugi::xml_node suite = root.append_child("testsuite");
  AddProperties(suite, file.properties);
  SetTotals(suite, elements, file);
  SetTotals(root, elements, file);
  // Where the cases stand; an element of this name is nowhere else.
  constexpr std::string_view kPlace = "    <cases />\n";
  suite.append_child("cases");
  StringWriter writer;
  document.save(writer, "  ", pugi::format_default, pugi::encoding_utf8);
  std::string text = writer.Take();
  return text.replace(text.rfind(kPlace), kPlace.size(), cases);
}

}  // namespace rharness
