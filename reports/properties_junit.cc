// Properties as JUnit: a case a property.
#include <fmt/format.h>

#include <algorithm>

#include "reports/junit_file.h"
#include "reports/properties_report.h"
#include "reports/properties_words.h"
#include "reports/text.h"

namespace rharness {
namespace {

JunitCase CaseOf(const PropertyResult& result) {
  const Verdict verdict = ToneOf(result);
  JunitCase test{.classname = "properties." + SafeText(result.run_id, 200),
                 .name = SafeText(result.name, 200),
                 .kind = KindOf(verdict),
                 .verdict = verdict,
                 .message = result.headline,
                 .body = fmt::format("{}\n{}\n", result.claim, result.headline),
                 .properties = {}};
  for (const PropertyReason& reason : result.reasons) test.body += "- " + reason.message + "\n";
  for (const std::string& note : result.notes) test.body += note + "\n";
  for (const std::string& leg : result.legs) test.body += leg + "\n";
  const std::string before = BeforeWords(result);
  if (!before.empty()) test.body += "the drill before: " + before + "\n";
  return test;
}

}  // namespace

std::string WriteJunit(const PropertiesReport& report) {
  JunitFile file;
  file.name = "rharness properties";
  file.stamp = report.made;
  file.properties = {{"rharness.version", report.version},
                     {"rharness.headline", report.headline},
                     {"rharness.exit_code", std::to_string(report.exit_code)}};
  for (const PropertyResult& result : report.results) {
    if (file.cases.size() + 1 == kMostJunitCases) break;
    file.cases.push_back(CaseOf(result));
  }
  if (report.exit_code != 0 && std::ranges::none_of(file.cases, Fails)) {
    file.cases.push_back(AnswerCase("properties", report.headline, report.next));
  }
  return WriteJunitFile(file);
}

}  // namespace rharness
