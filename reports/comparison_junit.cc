// A comparison as JUnit XML: one case a pair, or, of a single comparison, one a subject.
//
// Role: layout only; which state becomes which element is argued in README.md.
#include <fmt/format.h>

#include <algorithm>

#include "reports/comparison_report.h"
#include "reports/comparison_summary.h"
#include "reports/junit_parts.h"
#include "reports/words.h"

namespace rharness {
namespace {

constexpr std::size_t kMostTensors = 20;  // named in one body

// One case before it is written: its body is made when the number of cases is known.
struct Subject {
  std::string classname;  // "weights"
  std::string name;
  JunitKind kind = JunitKind::kPassed;
  Verdict verdict = Verdict::kIdentical;
  std::string message;
  std::string body;
};

// What explains or advises never fails and is never skipped: its words stand in a passed case.
JunitKind KindOfSubject(const SubjectState& state) {
  return state.decides ? KindOf(state.colour) : JunitKind::kPassed;
}

Subject MakeSubject(std::string classname, std::string name, const SubjectState& state,
                    const std::string& words) {
  Subject subject{std::move(classname), std::move(name), KindOfSubject(state),
                  state.colour,         words,           {}};
  subject.body = fmt::format("{}: {}{}\n", state.label, words,
                             state.decides ? "" : "\n(this explains; it does not decide)");
  return subject;
}

Subject LayerSubject(const LayerComparison& layer) {
  SubjectState state = StateOf(layer);
  // Nothing is known of it, which is no pass.
  if (layer.state == LayerState::kUnknown) state = {Verdict::kInconclusive, "?", "unknown", true};
  Subject subject =
      MakeSubject("layers", fmt::format("layer {}", LayerName(layer.layer)), state,
                  layer.state == LayerState::kUnknown
                      ? "nothing was recorded, or nothing was seen"
                      : fmt::format("{} compared, {} differ",
                                    Counted(static_cast<std::uint64_t>(layer.compared), "fact"),
                                    layer.differences.size()));
  for (const FactDifference& difference : layer.differences) {
    subject.body += fmt::format("- {}: {} → {}\n", SafeText(difference.key),
                                FactWords(difference.recorded), FactWords(difference.observed));
  }
  return subject;
}

void AppendNames(std::string_view what, const std::vector<std::string>& names, std::string* body) {
  for (std::size_t i = 0; i < std::min(names.size(), kMostTensors); ++i) {
    *body += fmt::format("- {}: {}\n", what, SafeText(names[i], 300));
  }
  if (names.size() > kMostTensors) {
    *body += fmt::format("- {}: {} more\n", what, FormatCount(names.size() - kMostTensors));
  }
}

Subject CheckpointSubject(const CheckpointComparison& checkpoint, const Comparison& comparison) {
  Subject subject = MakeSubject("weights", checkpoint.subject, StateOf(checkpoint, comparison),
                                CheckpointWords(checkpoint));
  const CheckpointDifference& difference = checkpoint.difference;
  for (std::size_t i = 0; i < std::min(difference.differing.size(), kMostTensors); ++i) {
    const TensorDifference& tensor = difference.differing[i];
    subject.body += fmt::format("- {}: {}\n", SafeText(tensor.name, 300), TensorWords(tensor));
  }
  if (difference.differing.size() > kMostTensors) {
    subject.body += fmt::format("- {} more tensors differ\n",
                                FormatCount(difference.differing.size() - kMostTensors));
  }
  AppendNames("only in A", difference.only_a, &subject.body);
  AppendNames("only in B", difference.only_b, &subject.body);
  AppendNames("other shape or type", difference.shape_or_dtype, &subject.body);
  return subject;
}

Subject CurveSubject(const CurveComparison& curve) {
  Subject subject = MakeSubject("curves", "curve " + curve.name, StateOf(curve), CurveWords(curve));
  if (!curve.rule.empty()) subject.body += "rule: " + SafeText(curve.rule) + "\n";
  return subject;
}

Subject MetricSubject(const MetricDecision& metric, const Comparison& comparison) {
  return MakeSubject("metrics", "metric " + metric.name, StateOf(metric, comparison),
                     MetricWords(metric));
}

std::string VerdictBody(const Comparison& comparison) {
  std::string body =
      fmt::format("{}: {}\n", VerdictLabel(comparison.verdict), SafeText(comparison.headline));
  for (const Finding& finding : comparison.findings) body += "- " + FindingWords(finding) + "\n";
  for (const Cause& cause : comparison.causes) {
    body += fmt::format("{} cause, {}: {}\n", SafeText(cause.strength, 40), LayerName(cause.layer),
                        SafeText(cause.statement));
    for (const std::string& line : cause.evidence) body += "  - " + SafeText(line) + "\n";
    if (!cause.confirm.empty()) body += "  confirm: " + SafeText(cause.confirm) + "\n";
  }
  if (!Reproduced(comparison.verdict)) {
    body += DifferenceLines("what differs between the two", comparison.layers);
  }
  for (const std::string& note : comparison.notes) body += "note: " + SafeText(note) + "\n";
  return body;
}

Subject WholeSubject(std::string classname, std::string name, const Comparison& comparison) {
  return {std::move(classname), std::move(name),     KindOf(comparison.verdict),
          comparison.verdict,   comparison.headline, VerdictBody(comparison)};
}

// The verdict, then every layer, checkpoint, deciding curve and metric. Layers of which nothing is
// known on either side (two plain checkpoints) are no subject.
std::vector<Subject> SubjectsOf(const Comparison& comparison) {
  std::vector<Subject> subjects = {WholeSubject("comparison", "verdict", comparison)};
  const bool facts =
      std::any_of(comparison.layers.begin(), comparison.layers.end(),
                  [](const auto& layer) { return layer.state != LayerState::kUnknown; });
  for (const LayerComparison& layer : comparison.layers) {
    if (facts) subjects.push_back(LayerSubject(layer));
  }
  for (const CheckpointComparison& checkpoint : comparison.checkpoints) {
    subjects.push_back(CheckpointSubject(checkpoint, comparison));
  }
  for (const CurveComparison* curve : OrderedCurves(comparison)) {
    if (StateOf(*curve).decides) subjects.push_back(CurveSubject(*curve));
  }
  for (const MetricDecision* metric : OrderedMetrics(comparison)) {
    subjects.push_back(MetricSubject(*metric, comparison));
  }
  return subjects;
}

std::vector<Subject> PairsOf(const ComparisonSet& set, const ComparisonSummary& summary,
                             std::size_t most) {
  std::vector<Subject> subjects;
  for (const Comparison* comparison : summary.order) {
    if (subjects.size() == most) break;
    const auto place = static_cast<std::size_t>(comparison - set.comparisons.data()) + 1;
    subjects.push_back(WholeSubject("pairs", PairName(*comparison, place), *comparison));
  }
  return subjects;
}

bool Fails(const Subject& subject) {
  return subject.kind == JunitKind::kFailure || subject.kind == JunitKind::kError;
}

void AddSuiteProperties(pugi::xml_node suite, const ComparisonSet& set, std::size_t left_out) {
  pugi::xml_node properties = suite.append_child("properties");
  AddProperty(properties, "rharness.version", set.version);
  AddProperty(properties, "rharness.title", set.title);
  AddProperty(properties, "rharness.exit_code", std::to_string(set.exit_code));
  if (left_out > 0) {
    AddProperty(
        properties, "rharness.cases_left_out",
        fmt::format("{}, the least severe; see comparison.json", Counted(left_out, "case")));
  }
}

}  // namespace

std::string WriteJunit(const ComparisonSet& set) {
  const ComparisonSummary summary = Summarize(set);
  const bool single = IsSingle(set);
  const std::size_t most = kMostJunitCases - 1;  // one is kept for the answer
  std::vector<Subject> subjects =
      single ? SubjectsOf(set.comparisons.front()) : PairsOf(set, summary, most);
  const std::size_t all = single ? subjects.size() : set.comparisons.size();
  if (subjects.size() > most) subjects.resize(most);
  JunitDocument junit;
  AddSuiteProperties(junit.suite, set, all - subjects.size());
  if (set.exit_code != 0 && std::none_of(subjects.begin(), subjects.end(), Fails)) {
    AddAnswerCase(junit.suite, "the comparison reached a verdict", "comparison", summary.answer,
                  summary.next_step);
  }
  const std::size_t body_bytes = JunitBodyBytes(subjects.size());
  UniqueNames names;
  for (const Subject& subject : subjects) {
    pugi::xml_node test = AddCase(junit.suite, subject.classname, names.Of(subject.name), 0.0);
    pugi::xml_node properties = test.append_child("properties");
    AddProperty(properties, "verdict", VerdictName(subject.verdict));
    SetResult(test, subject.kind, subject.verdict, subject.message,
              SafeText(subject.body, body_bytes, Lines::kKeep));
  }
  return FinishJunit(&junit, "rharness compare", 0.0, set.made);
}

}  // namespace rharness
