// From the records of all steps of one rank to the point where two runs part.
#include "compare/traces/onset.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <span>

#include "compare/traces/relate.h"

namespace rharness {
namespace {

bool Differs(const OnsetRecord& record) {
  return record.state != RecordState::kEqual && record.state != RecordState::kUnknown;
}

// Steps of one side within the range of the other, which does not have them.
std::vector<std::int64_t> StepsMissing(const StepSpans& in, const StepSpans& from) {
  std::vector<std::int64_t> missing;
  for (const auto& [step, records] : in) {
    const bool within = !from.empty() && step > from.begin()->first && step < from.rbegin()->first;
    if (within && !from.contains(step)) missing.push_back(step);
  }
  return missing;
}

OnsetStep SummaryOf(std::int64_t step, const std::vector<OnsetRecord>& records) {
  OnsetStep summary{.step = step};
  double squares = 0.0;
  double norms = 0.0;
  bool parameters = false;
  for (const OnsetRecord& record : records) {
    ++summary.compared;
    summary.differing += Differs(record) && IsComputed(record.a.kind) ? 1 : 0;
    const bool paired = record.state != RecordState::kOnlyA && record.state != RecordState::kOnlyB;
    if (!paired) continue;
    const double distance = record.distance;
    if (record.a.kind == TraceKind::kParameter && !std::isnan(record.a.norm)) {
      const double norm = std::max(record.a.norm, record.b.norm);
      if (!std::isnan(distance)) squares += distance * distance * norm * norm;
      norms += norm * norm;
      parameters = true;
    }
    if (record.a.kind == TraceKind::kOutput && record.a.name.empty()) summary.outputs = distance;
    if (record.a.kind == TraceKind::kLoss) summary.loss = distance;
  }
  if (parameters) summary.parameters = norms > 0.0 ? std::sqrt(squares / norms) : 0.0;
  return summary;
}

// The batches of a side, with the steps that had them.
std::multimap<std::string, std::int64_t> BatchesOf(const Trace& trace) {
  std::multimap<std::string, std::int64_t> batches;
  for (const TraceRecord& record : trace.records) {
    if (record.kind == TraceKind::kBatch && !record.digest.empty()) {
      batches.emplace(record.digest, record.step);
    }
  }
  return batches;
}

class OnsetSearch {
 public:
  OnsetSearch(const Trace& a, const Trace& b) : a_(a), b_(b) {}

  Onset Run() {
    onset_.rank = a_.rank;
    onset_.damaged = a_.bad_lines + b_.bad_lines > 0;
    const StepSpans of_a = SpansOf(a_);
    const StepSpans of_b = SpansOf(b_);
    for (const auto& [step, records] : of_a) {
      const auto found = of_b.find(step);
      if (found == of_b.end()) continue;
      Look(step, {.a = records,
                  .b = found->second,
                  .a_ends = !a_.ended && step == of_a.rbegin()->first,
                  .b_ends = !b_.ended && step == of_b.rbegin()->first,
                  .parted_before = onset_.origin.has_value() || parted_});
    }
    NoteMissing(StepsMissing(of_a, of_b), "A");
    NoteMissing(StepsMissing(of_b, of_a), "B");
    if (onset_.steps.empty()) {
      onset_.notes.push_back("the traces have no step in common");
    } else if (!onset_.origin && known_ > 0) {
      onset_.end = "equal";
    }
    if (onset_.origin) Classify();
    JudgeGrowth();
    return std::move(onset_);
  }

 private:
  // Where runs can part: on equal inputs, or where one has other operators.
  bool CanPart(const OnsetRecord& record) const {
    if (!IsComputed(record.a.kind)) return false;
    if (record.state == RecordState::kOrigin) return true;
    // What is not there may be in a line that could not be read.
    if (record.state == RecordState::kOnlyA && b_.bad_lines > 0) return false;
    if (record.state == RecordState::kOnlyB && a_.bad_lines > 0) return false;
    const bool lonely = record.state == RecordState::kOnlyA || record.state == RecordState::kOnlyB;
    // The optimizer's own tensors have other names in other versions.
    return lonely && record.a.kind != TraceKind::kState;
  }

  void NoteMissing(const std::vector<std::int64_t>& steps, std::string_view side) {
    constexpr std::size_t kMostTold = 5;
    if (steps.empty()) return;
    const std::span<const std::int64_t> told(steps.data(), std::min(steps.size(), kMostTold));
    onset_.notes.push_back(
        fmt::format("rank {}: of the steps that both traced, {} {} in {} alone: {}{}", onset_.rank,
                    steps.size(), steps.size() == 1 ? "is" : "are", side, fmt::join(told, ", "),
                    steps.size() > kMostTold ? ", ..." : ""));
  }

  void Look(std::int64_t step, const StepSides& sides) {
    std::vector<OnsetRecord> records = RelateRecords(sides);
    onset_.steps.push_back(SummaryOf(step, records));
    if (onset_.origin) return;
    for (const OnsetRecord& record : records) {
      (record.state == RecordState::kUnknown ? unknown_ : known_) += 1;
      if (record.a.kind == TraceKind::kSetting && record.state == RecordState::kOrigin) {
        settings_.insert(
            fmt::format("{}: {} in A, {} in B", record.a.name, record.a.value, record.b.value));
      }
      if (record.a.kind == TraceKind::kRng && record.state == RecordState::kOrigin) {
        generators_.insert(record.a.name);
      }
    }
    const auto can_part = [this](const OnsetRecord& one) { return CanPart(one); };
    const auto first = std::ranges::find_if(records, can_part);
    if (first == records.end()) {
      const bool equal = std::ranges::none_of(
          records, [](const OnsetRecord& one) { return Differs(one) && IsComputed(one.a.kind); });
      if (equal) onset_.equal_until = step;
      parted_ = parted_ || !equal;
      return;
    }
    onset_.origin = *first;
    for (const OnsetRecord& record : records) {
      const bool further = CanPart(record) && &record != &*first;
      if (further && onset_.origins.size() < kMostOrigins) onset_.origins.push_back(record);
    }
    onset_.strip = std::move(records);
  }

  void Classify() {
    const OnsetRecord& origin = *onset_.origin;
    onset_.end = "parts";
    if (origin.state != RecordState::kOrigin) {
      return Set(origin.a.call > 0 ? "calls" : "structure", Layer::kCode);
    }
    // A rounding of the same operator is another kernel; more than that is another computation.
    const bool rounds = origin.size == DifferenceSize::kRounding ||
                        origin.size == DifferenceSize::kReducedPrecision;
    const Layer computed = rounds ? Layer::kEnvironment : Layer::kCode;
    switch (origin.a.kind) {
      case TraceKind::kParameter:
      case TraceKind::kBuffer:
      case TraceKind::kState:
        return ClassifyState();
      case TraceKind::kBatch:
        return ClassifyBatch();
      case TraceKind::kInput:
        return Set("between_operators", computed);
      case TraceKind::kOutput:
        if (origin.a.random || origin.b.random) return Set("random_operator", Layer::kRandomness);
        return Set("operator", computed);
      case TraceKind::kLoss:
        return Set("loss", computed);
      case TraceKind::kOutputGradient:
        return Set("backward", computed);
      case TraceKind::kGradient:
        return Set("gradient", computed);
      case TraceKind::kUpdated:
        if (!settings_.empty()) return Set("settings", Layer::kCode);
        return Set("optimizer", computed);
      case TraceKind::kSetting:
      case TraceKind::kRng:
        return;
    }
  }

  void ClassifyState() {
    const TraceRecord& record = onset_.origin->a;
    if (!onset_.equal_until) {
      const bool weights = record.kind == TraceKind::kParameter;
      return Set(weights ? "initial_weights" : "initial_state", Layer::kRandomness);
    }
    if (*onset_.equal_until + 1 < record.step) {
      onset_.end = "between_steps";
      return;
    }
    // Nothing else of a step writes these.
    const bool rounds = onset_.origin->size == DifferenceSize::kRounding;
    const Layer layer = rounds ? Layer::kEnvironment : Layer::kCode;
    if (record.kind == TraceKind::kBuffer) return Set("operator", layer);
    if (record.kind == TraceKind::kState) return Set("optimizer", layer);
    Set("outside_of_steps", Layer::kCode);
  }

  void ClassifyBatch() {
    const TraceRecord& a = onset_.origin->a;
    const TraceRecord& b = onset_.origin->b;
    const auto elsewhere = [](const Trace& in, const TraceRecord& record) {
      const auto batches = BatchesOf(in);
      const auto [from, to] = batches.equal_range(record.digest);
      return std::any_of(from, to, [&](const auto& one) { return one.second != record.step; });
    };
    const bool moved = elsewhere(b_, a) || elsewhere(a_, b);
    const bool permuted = a.shape == b.shape && a.norm > 0.0 &&
                          std::abs(a.norm - b.norm) <= 1e-12 * a.norm && a.max == b.max;
    if (moved || permuted) {
      onset_.reasons.push_back(moved ? "the same batch comes at another step of the other run"
                                     : "both batches have one norm and one largest value: the same "
                                       "numbers, in another order");
      return Set("batch_order", Layer::kRandomness);
    }
    Set("batch", Layer::kData);
  }

  void Set(std::string what, Layer layer) {
    onset_.what = std::move(what);
    onset_.layer = layer;
    const OnsetRecord& origin = *onset_.origin;
    const bool drew = origin.a.random || origin.b.random;
    if (!generators_.empty() && (drew || layer == Layer::kRandomness)) {
      onset_.reasons.push_back(
          fmt::format("the generator {} was in another state before", *generators_.begin()));
    }
    if (onset_.what == "settings" || onset_.what == "optimizer") {
      for (const std::string& setting : settings_)
        onset_.reasons.push_back("optimizer: " + setting);
    } else if (!settings_.empty()) {
      onset_.notes.push_back(fmt::format("settings differ: {}", fmt::join(settings_, "; ")));
    }
  }

  void JudgeGrowth() {
    if (unknown_ > 0) {
      onset_.notes.push_back(
          fmt::format("{} records have no digest that both sides share, or are written twice: they "
                      "are not judged",
                      unknown_));
    }
    for (const auto& [name, value] : a_.flags) {
      const auto found = b_.flags.find(name);
      if (found != b_.flags.end() && found->second != value) {
        onset_.notes.push_back(fmt::format("{}: {} in A, {} in B", name, value, found->second));
      }
    }
    if (a_.framework_version != b_.framework_version) {
      onset_.notes.push_back(fmt::format("{}: {} in A, {} in B", a_.framework, a_.framework_version,
                                         b_.framework_version));
    }
    if (!onset_.origin) return;
    if (onset_.end == "between_steps") {  // how it began was not traced
      onset_.growth = "unknown";
      return;
    }
    const auto is_larger = [](const OnsetRecord& one) {
      return one.size == DifferenceSize::kLarge || one.size == DifferenceSize::kReducedPrecision;
    };
    if (std::ranges::any_of(onset_.origins, is_larger)) {
      onset_.growth = "change";
      return;
    }
    switch (onset_.origin->size) {
      case DifferenceSize::kNone:
      case DifferenceSize::kNotMeasured:
        onset_.growth = "unknown";
        return;
      case DifferenceSize::kReducedPrecision:
      case DifferenceSize::kLarge:
        onset_.growth = "change";
        return;
      case DifferenceSize::kRounding:
        break;
    }
    onset_.growth = "rounding_grows";
    for (std::size_t i = 1; i < onset_.steps.size(); ++i) {
      const OnsetStep& before = onset_.steps[i - 1];
      const OnsetStep& now = onset_.steps[i];
      const bool adjacent = now.step == before.step + 1 && before.parameters > 0.0;
      if (!adjacent || !(now.parameters > std::ldexp(1.0, -10))) continue;
      if (now.parameters > kJumpFactor * before.parameters) {
        onset_.growth = "rounding_jumps";
        onset_.jump = now.step;
        return;
      }
    }
  }

  const Trace& a_;
  const Trace& b_;
  Onset onset_;
  bool parted_ = false;
  std::size_t unknown_ = 0;  // records without a conclusion, and the others
  std::size_t known_ = 0;
  std::set<std::string> settings_;
  std::set<std::string> generators_;
};

}  // namespace

Onset OnsetOfRank(const Trace& a, const Trace& b) { return OnsetSearch(a, b).Run(); }

std::string_view RecordStateName(RecordState state) {
  constexpr std::string_view kNames[] = {"equal",  "origin", "handed_on",
                                         "only_a", "only_b", "unknown"};
  return kNames[static_cast<std::size_t>(state)];
}

std::string_view DifferenceSizeName(DifferenceSize size) {
  constexpr std::string_view kNames[] = {"none", "rounding", "reduced_precision", "large",
                                         "not_measured"};
  return kNames[static_cast<std::size_t>(size)];
}

}  // namespace rharness
