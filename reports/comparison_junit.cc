// A comparison as JUnit XML: one case per pair, or, for a single comparison, one per subject.
//
// Role: layout only; README.md explains the element of each state.
#include <fmt/format.h>

#include <algorithm>

#include "reports/comparison_report.h"
#include "reports/comparison_summary.h"
#include "reports/junit_file.h"
#include "reports/words.h"

namespace rharness {
namespace {

constexpr std::size_t kMostNamedTensors = 20;  // named in one body

// Explaining and advisory subjects never fail and are never skipped: their words are in a passed
// case.
JunitKind KindOfSubject(const SubjectState& state) {
  return state.decides ? KindOf(state.colour) : JunitKind::kPassed;
}

JunitCase MakeSubject(std::string classname, std::string name, const SubjectState& state,
                      const std::string& words) {
  return {.classname = std::move(classname),
          .name = std::move(name),
          .kind = KindOfSubject(state),
          .verdict = state.colour,
          .message = words,
          .body = fmt::format("{}: {}{}\n", state.label, words,
                              state.decides ? "" : "\n(this explains; it does not decide)")};
}

JunitCase LayerSubject(const LayerComparison& layer) {
  SubjectState state = StateOf(layer);
  // Nothing is known of it, which is no pass.
  if (layer.state == LayerState::kUnknown) state = {Verdict::kInconclusive, "?", "not known", true};
  JunitCase subject =
      MakeSubject("layers", fmt::format("layer {}", LayerName(layer.layer)), state,
                  layer.state == LayerState::kUnknown
                      ? "nothing was recorded, or nothing was seen"
                      : fmt::format("{} compared, {} differ",
                                    Counted(static_cast<std::uint64_t>(layer.compared), "fact"),
                                    layer.differences.size()));
  for (const std::string& part : layer.not_known) {
    subject.body += fmt::format("- not known: {}\n", SafeText(part));
  }
  for (const FactDifference& difference : layer.differences) {
    subject.body += fmt::format("- {}: {} → {}\n", SafeText(difference.key),
                                FactWords(difference.recorded), FactWords(difference.observed));
  }
  return subject;
}

void AppendNames(std::string_view what, const std::vector<std::string>& names, std::string* body) {
  for (std::size_t i = 0; i < std::min(names.size(), kMostNamedTensors); ++i) {
    *body += fmt::format("- {}: {}\n", what, SafeText(names[i], 300));
  }
  if (names.size() > kMostNamedTensors) {
    *body += fmt::format("- {}: {} more\n", what, FormatCount(names.size() - kMostNamedTensors));
  }
}

JunitCase CheckpointSubject(const CheckpointComparison& checkpoint, const Comparison& comparison) {
  JunitCase subject = MakeSubject("weights", checkpoint.subject, StateOf(checkpoint, comparison),
                                  CheckpointWords(checkpoint));
  const CheckpointDifference& difference = checkpoint.difference;
  for (std::size_t i = 0; i < std::min(difference.differing.size(), kMostNamedTensors); ++i) {
    const TensorDifference& tensor = difference.differing[i];
    subject.body += fmt::format("- {}: {}\n", SafeText(tensor.name, 300), TensorWords(tensor));
  }
  if (difference.differing.size() > kMostNamedTensors) {
    subject.body += fmt::format("- {} more tensors differ\n",
                                FormatCount(difference.differing.size() - kMostNamedTensors));
  }
  AppendNames("only in A", difference.only_a, &subject.body);
  AppendNames("only in B", difference.only_b, &subject.body);
  AppendNames("other shape or type", difference.shape_or_dtype, &subject.body);
  return subject;
}

JunitCase CurveSubject(const CurveComparison& curve) {
  JunitCase subject =
      MakeSubject("curves", "curve " + curve.name, StateOf(curve), CurveWords(curve));
  if (!curve.rule.empty()) subject.body += "rule: " + SafeText(curve.rule) + "\n";
  return subject;
}

JunitCase MetricSubject(const MetricDecision& metric, const Comparison& comparison) {
  return MakeSubject("metrics", "metric " + metric.name, StateOf(metric, comparison),
                     MetricWords(metric));
}

std::string VerdictBody(const Comparison& comparison) {
  std::string body =
      fmt::format("{}: {}\n", VerdictLabel(comparison.verdict), SafeText(comparison.headline));
  for (const Finding& finding : comparison.findings) body += "- " + FindingWords(finding) + "\n";
  for (const Cause& cause : comparison.causes) {
    body += fmt::format("{} cause, {}: {}\n", StrengthName(cause.strength), LayerName(cause.layer),
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

JunitCase WholeSubject(std::string classname, std::string name, const Comparison& comparison) {
  return {.classname = std::move(classname),
          .name = std::move(name),
          .kind = KindOf(comparison.verdict),
          .verdict = comparison.verdict,
          .message = comparison.headline,
          .body = VerdictBody(comparison)};
}

// The verdict, then every layer, checkpoint, deciding curve and metric. Layers not known on either
// side (two plain checkpoints) are no subject.
std::vector<JunitCase> SubjectsOf(const Comparison& comparison) {
  std::vector<JunitCase> subjects = {WholeSubject("comparison", "verdict", comparison)};
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

std::vector<JunitCase> PairsOf(const ComparisonSet& set, const ComparisonSummary& summary,
                               std::size_t most) {
  std::vector<JunitCase> subjects;
  for (const Comparison* comparison : summary.order) {
    if (subjects.size() == most) break;
    const auto place = static_cast<std::size_t>(comparison - set.comparisons.data()) + 1;
    subjects.push_back(WholeSubject("pairs", PairName(*comparison, place), *comparison));
  }
  return subjects;
}

JunitProperties PropertiesOf(const ComparisonSet& set, std::size_t left_out) {
  JunitProperties properties = {{"rharness.version", set.version},
                                {"rharness.title", set.title},
                                {"rharness.exit_code", std::to_string(set.exit_code)}};
  if (left_out > 0) {
    properties.emplace_back(
        "rharness.cases_left_out",
        fmt::format("{}, the least severe; see comparison.json", Counted(left_out, "case")));
  }
  return properties;
}

}  // namespace

std::string WriteJunit(const ComparisonSet& set) {
  const ComparisonSummary summary = Summarize(set);
  const bool single = IsSingle(set);
  const std::size_t most = kMostJunitCases - 1;  // one is kept for the answer
  JunitFile file;
  file.name = "rharness compare";
  file.stamp = set.made;
  file.cases = single ? SubjectsOf(set.comparisons.front()) : PairsOf(set, summary, most);
  const std::size_t all = single ? file.cases.size() : set.comparisons.size();
  if (file.cases.size() > most) file.cases.resize(most);
  file.properties = PropertiesOf(set, all - file.cases.size());
  for (JunitCase& test : file.cases) {
    test.properties = {{"verdict", std::string(VerdictName(test.verdict))}};
  }
  if (set.exit_code != 0 && std::none_of(file.cases.begin(), file.cases.end(), Fails)) {
    file.cases.insert(file.cases.begin(), AnswerCase("the comparison reached a verdict",
                                                     summary.answer, summary.next_step));
  }
  return WriteJunitFile(file);
}

}  // namespace rharness
