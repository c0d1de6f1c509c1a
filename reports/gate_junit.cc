// A gate as JUnit: one case per probe in a CI.
#include <fmt/format.h>

#include <map>
#include <set>

#include "harness/base/version.h"
#include "reports/fingerprint_grid.h"
#include "reports/gate_report.h"
#include "reports/junit_file.h"
#include "reports/text.h"

namespace rharness {
namespace {

using ReasonsBySubject = std::map<std::string, std::vector<const GateReason*>>;

std::string ReasonLine(const GateReason& reason) {
  return fmt::format("- {}: {} (rule: {})\n", reason.code, SafeText(reason.message),
                     SafeText(reason.rule));
}

// A change fails; an unknown is an error, and both keep a pipeline red.
void Judge(const std::vector<const GateReason*>& reasons, JunitCase* test) {
  for (const GateReason* reason : reasons) {
    test->body += ReasonLine(*reason);
    if (!reason->closes) continue;
    const bool first = test->kind != JunitKind::kFailure && test->kind != JunitKind::kError;
    if (first) test->message = reason->message;
    if (!reason->lacks_evidence) {
      test->kind = JunitKind::kFailure;
      test->verdict = Verdict::kDrifted;
    } else if (test->kind != JunitKind::kFailure) {
      test->kind = JunitKind::kError;
      test->verdict = Verdict::kNotComparable;
    }
  }
}

JunitCase ProbeCase(const GridRow& row, const ReasonsBySubject& reasons) {
  JunitCase test;
  test.classname = "gate." + (row.family.empty() ? "probes" : row.family);
  test.name = row.probe;
  if (row.difference == nullptr && row.status != "ok") {
    test.kind = JunitKind::kSkipped;
    test.message = row.status;
  }
  for (std::size_t i = 0; i < row.cells.size(); ++i) {
    if (row.cells[i].state == GridCell::State::kNotShown) continue;
    test.body += fmt::format("{}: {}\n", kGridLayers[i], row.cells[i].Words());
  }
  if (const auto found = reasons.find(row.probe); found != reasons.end()) {
    Judge(found->second, &test);
  }
  return test;
}

}  // namespace

std::string WriteJunit(const GateReport& report) {
  const GateDecision& decision = report.decision;
  ReasonsBySubject reasons;
  for (const GateReason& reason : decision.reasons) reasons[reason.subject].push_back(&reason);
  JunitFile file;
  file.name = "rharness gate";
  file.stamp = report.made;
  file.properties = {{"rharness.version", kVersion},
                     {"rharness.headline", decision.headline},
                     {"rharness.exit_code", std::to_string(decision.exit_code)}};
  std::set<std::string> told;
  for (const GridRow& row : BuildGrid(decision.difference, report.baseline, report.candidate)) {
    // One is kept for the answer.
    if (file.cases.size() + 1 == kMostJunitCases) break;
    told.insert(row.probe);
    file.cases.push_back(ProbeCase(row, reasons));
  }
  for (const auto& [subject, list] : reasons) {
    if (told.contains(subject) || file.cases.size() + 1 == kMostJunitCases) continue;
    JunitCase test{.classname = "gate", .name = subject};
    Judge(list, &test);
    file.cases.push_back(std::move(test));
  }
  const bool red = std::ranges::any_of(file.cases, Fails);
  if (!decision.open && !red) {
    file.cases.insert(file.cases.begin(),
                      AnswerCase("the gate is open", decision.headline, NextStep(decision)));
  }
  return WriteJunitFile(file);
}

}  // namespace rharness
