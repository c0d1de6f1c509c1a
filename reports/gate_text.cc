// A gate's decision in words: the next step, one screen of a terminal, a step summary.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>

#include "harness/base/version.h"
#include "reports/fingerprint_grid.h"
#include "reports/fingerprint_report.h"
#include "reports/gate_report.h"
#include "reports/markdown_parts.h"
#include "reports/terminal_parts.h"
#include "reports/text.h"

namespace rharness {
namespace {

constexpr int kLeastGateColumns = 20;
constexpr int kRowsForTheStack = 8;  // with fewer the reasons come first
constexpr std::size_t kTableRows = 200;

std::string GateLine(std::string_view text, int columns) {
  return ElideEnd(SafeText(text), std::max(columns, kLeastGateColumns));
}

std::string_view Colour(const GateDecision& decision) {
  if (decision.open) return ColourOf(Verdict::kIdentical);
  return ColourOf(decision.exit_code == 1 ? Verdict::kDrifted : Verdict::kInconclusive);
}

// By family, and by name while they are few.
std::string RunsLine(const GateDecision& decision) {
  constexpr std::size_t kNamed = 8;
  std::map<std::string, std::vector<std::string>> families;
  for (const ImpactedRun& run : decision.impacted_runs) {
    families[run.family.empty() ? "no family" : run.family].push_back(run.run_id);
  }
  std::string names;
  for (const auto& [family, runs] : families) {
    names += fmt::format("{}{} {}", names.empty() ? ": " : ", ", runs.size(), family);
    if (runs.size() <= kNamed) names += fmt::format(" ({})", fmt::join(runs, ", "));
  }
  return fmt::format("{} impacted, {} not{}", Counted(decision.impacted_runs.size(), "run"),
                     decision.unaffected_runs, names);
}

std::string StackLine(const std::vector<FactDifference>& stack) {
  constexpr std::size_t kNamed = 3;
  std::string facts;
  for (std::size_t i = 0; i < std::min(stack.size(), kNamed); ++i) {
    facts +=
        fmt::format("{}{} {} → {}", i == 0 ? "" : ", ", stack[i].key,
                    stack[i].recorded.value_or("(absent)"), stack[i].observed.value_or("(absent)"));
  }
  if (stack.size() > kNamed) facts += fmt::format(" and {} more", stack.size() - kNamed);
  return fmt::format("The stack: {} {}: {}", Counted(stack.size(), "fact"),
                     stack.size() == 1 ? "differs" : "differ", facts);
}

bool Closes(const GateDecision& decision, std::string_view code) {
  return std::ranges::any_of(decision.reasons, [&](const GateReason& reason) {
    return reason.closes && reason.code == code;
  });
}

std::string_view SignOf(const GateReason& reason) {
  if (reason.warns) return "!";
  return reason.closes ? "✗" : "·";
}

// Equal statements on several subjects appear once.
struct SharedReason {
  const GateReason* first;
  std::size_t more = 0;  // subjects beside the first one's
};

std::vector<SharedReason> Shared(const std::vector<GateReason>& reasons) {
  std::vector<SharedReason> shared;
  std::map<std::tuple<std::string_view, std::string_view, std::string_view, bool>, std::size_t> at;
  for (const GateReason& reason : reasons) {
    const auto [found, fresh] =
        at.try_emplace({reason.code, reason.message, reason.rule, reason.closes}, shared.size());
    if (fresh) {
      shared.push_back({&reason});
    } else {
      ++shared[found->second].more;
    }
  }
  return shared;
}

void Table(const GateDecision& decision, std::string* out) {
  if (decision.reasons.empty()) return;
  *out += "| | Reason | Of | What | Rule |\n|---|---|---|---|---|\n";
  std::size_t shown = 0;
  for (const auto& [reason, more] : Shared(decision.reasons)) {
    if (shown == kTableRows || out->size() > kMarkdownBytes) break;
    *out += fmt::format("| {} | {} | {}{} | {} | {} |\n", SignOf(*reason),
                        MarkdownCode(reason->code), MarkdownCode(reason->subject, 160),
                        more > 0 ? fmt::format(" and {} more", FormatCount(more)) : "",
                        MarkdownText(reason->message, 500), MarkdownText(reason->rule, 300));
    shown += 1 + more;
  }
  *out += "\n";
  if (shown < decision.reasons.size()) {
    *out += fmt::format("_{} more are in the output of --json._\n\n",
                        FormatCount(decision.reasons.size() - shown));
  }
}

}  // namespace

std::string SentenceOf(const GateReason& reason) {
  if (reason.message.find(reason.subject) != std::string::npos) return reason.message;
  return fmt::format("{}: {}", reason.subject, reason.message);
}

std::string NextStep(const GateDecision& decision) {
  if (decision.open) return "Roll out, and accept the candidate as the next baseline.";
  if (Closes(decision, "baseline_expired")) {
    return "Run the probes on the stack in use again and accept them as the baseline.";
  }
  if (decision.difference.silent == "candidate") {
    return "Probe the candidate again, rharness probe run --out FILE, and gate that file: nothing "
           "is known of the candidate.";
  }
  if (decision.difference.silent == "baseline") {
    return "Probe the stack in use again and accept that as the baseline: nothing is known of this "
           "one.";
  }
  if (!decision.difference.comparable) {
    return "Run the probes on both stacks again: nothing could be compared.";
  }
  if (Closes(decision, "drill_missing")) {
    return "Drill the impacted runs: rharness gate ... --drill impacted --out DIR.";
  }
  if (Closes(decision, "drill_elsewhere")) {
    return "Drill on the candidate, with its variables: the runs were rerun on another stack.";
  }
  if (Closes(decision, "drill_drifted")) {
    return "Keep this stack back: runs drifted on it, and no policy or waiver allows that. The "
           "drill's report says where they differ first.";
  }
  if (decision.exit_code == 3) return "Get the missing evidence that the reasons name.";
  return "Keep this stack back, or allow the change in the policy, or sign a waiver for it.";
}

std::string WriteTerminal(const GateDecision& decision, int columns, int rows, bool color) {
  const std::string_view answer = decision.open             ? "OPEN"
                                  : decision.exit_code == 1 ? "CLOSED"
                                                            : "CLOSED for lack of evidence";
  std::vector<std::string> head = {Painted(answer, Colour(decision), color)};
  head.front() +=
      "  " + GateLine(decision.difference.summary, columns - static_cast<int>(answer.size()) - 2);
  std::vector<std::string> items;
  for (const auto& [reason, more] : Shared(decision.reasons)) {
    items.push_back(GateLine(
        fmt::format("{} {} | {}{} | {}", SignOf(*reason), reason->code, SentenceOf(*reason),
                    more > 0 ? fmt::format(" (and of {} more)", FormatCount(more)) : "",
                    reason->rule),
        columns));
  }
  std::vector<std::string> tail;
  if (!decision.difference.stack.empty() && rows > kRowsForTheStack) {
    tail.push_back(GateLine(StackLine(decision.difference.stack), columns));
  }
  if (!decision.impacted_runs.empty() || decision.unaffected_runs > 0) {
    tail.push_back(GateLine(RunsLine(decision), columns));
  }
  tail.push_back(GateLine("Next: " + NextStep(decision), columns));
  return FitLines(head, items, tail, "reason", rows);
}

std::string WriteMarkdown(const GateDecision& decision) {
  std::string out = fmt::format("## {} Gate {}\n\n**{}**\n\nNext: {}\n\n",
                                decision.open ? "✓" : "✗", decision.open ? "open" : "closed",
                                MarkdownText(decision.headline), MarkdownText(NextStep(decision)));
  Table(decision, &out);
  if (!decision.difference.stack.empty()) {
    out +=
        fmt::format("#### The stack: {} {}\n\n", Counted(decision.difference.stack.size(), "fact"),
                    decision.difference.stack.size() == 1 ? "differs" : "differ");
    out += MarkdownList(decision.difference.stack, [](const FactDifference& fact) {
      return fmt::format("{}: {} → {}", MarkdownCode(fact.key),
                         MarkdownCode(fact.recorded.value_or("(absent)")),
                         MarkdownCode(fact.observed.value_or("(absent)")));
    });
  }
  if (!decision.impacted_runs.empty()) {
    out += fmt::format("#### {} impacted, {} not\n\n",
                       Counted(decision.impacted_runs.size(), "run"), decision.unaffected_runs);
    out += MarkdownList(decision.impacted_runs, [](const ImpactedRun& run) {
      return fmt::format("{}: {}", MarkdownCode(run.run_id, 160),
                         Counted(run.probes.size(), "changed probe"));
    });
  }
  return out + fmt::format("<sub>rharness {} · exit code {}</sub>\n", MarkdownText(kVersion, 60),
                           decision.exit_code);
}

}  // namespace rharness
