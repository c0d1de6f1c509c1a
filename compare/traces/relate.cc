// Which record of a step differs on equal inputs.
#include "compare/traces/relate.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <tuple>

namespace rharness {
namespace {

constexpr double kNotKnown = std::numeric_limits<double>::quiet_NaN();
constexpr double kMostTerms = 16384.0;

using RecordKey = std::tuple<TraceKind, std::string_view, int, int>;

RecordKey KeyOf(const TraceRecord& record) {
  return {record.kind, record.name, record.call, record.index};
}

double ElementsOf(const TraceRecord& record) {
  double elements = 1.0;
  for (const std::uint64_t size : record.shape) elements *= static_cast<double>(size);
  return elements;
}

// "layer1.conv" of "layer1.conv.weight"; "" of "weight".
std::string OwnerOf(std::string_view name) {
  const auto dot = name.rfind('.');
  return std::string(dot == std::string_view::npos ? "" : name.substr(0, dot));
}

bool HasBelow(const std::set<std::string>& names, const std::string& name) {
  if (name.empty()) return !names.empty();
  const auto found = names.lower_bound(name + ".");
  return found != names.end() && found->starts_with(name + ".");
}

bool IsForward(TraceKind kind) {
  return kind == TraceKind::kParameter || kind == TraceKind::kBuffer || kind == TraceKind::kBatch ||
         kind == TraceKind::kInput || kind == TraceKind::kOutput;
}

std::string_view MethodOf(const std::string& digest) {
  return std::string_view(digest).substr(0, digest.find(':'));
}

enum class Sameness { kSame, kOther, kNotKnown };

Sameness CompareRecords(const TraceRecord& a, const TraceRecord& b) {
  if (a.kind == TraceKind::kSetting) return a.value == b.value ? Sameness::kSame : Sameness::kOther;
  if (a.shape != b.shape || a.dtype != b.dtype) return Sameness::kOther;
  const bool comparable =
      !a.digest.empty() && !b.digest.empty() && MethodOf(a.digest) == MethodOf(b.digest);
  if (!comparable) return Sameness::kNotKnown;
  return a.digest == b.digest ? Sameness::kSame : Sameness::kOther;
}

class StepRelation {
 public:
  explicit StepRelation(const StepSides& step) : step_(step) {}

  std::vector<OnsetRecord> Relate() {
    std::multimap<RecordKey, std::size_t> places;
    for (std::size_t i = 0; i < step_.b.size(); ++i) places.emplace(KeyOf(step_.b[i]), i);
    std::vector<std::optional<std::size_t>> partner(step_.a.size());
    std::vector<bool> taken(step_.b.size(), false);
    std::size_t last_b = 0;  // behind the last that both have
    std::size_t last_a = 0;
    for (std::size_t i = 0; i < step_.a.size(); ++i) {
      const auto found = places.lower_bound(KeyOf(step_.a[i]));
      if (found == places.end() || found->first != KeyOf(step_.a[i])) continue;
      partner[i] = found->second;
      paired_.insert(KeyOf(step_.a[i]));
      taken[found->second] = true;
      last_a = i + 1;
      last_b = std::max(last_b, found->second + 1);
      places.erase(found);
    }
    std::size_t next_b = 0;
    for (std::size_t i = 0; i < step_.a.size(); ++i) {
      if (!partner[i]) {
        if (!step_.b_ends || i < last_a) AddLonely(step_.a[i], RecordState::kOnlyA);
        continue;
      }
      for (; next_b < *partner[i]; ++next_b) {
        if (!taken[next_b]) AddLonely(step_.b[next_b], RecordState::kOnlyB);
      }
      AddPair(step_.a[i], step_.b[*partner[i]]);
    }
    for (; next_b < step_.b.size(); ++next_b) {
      if (!taken[next_b] && (!step_.a_ends || next_b < last_b)) {
        AddLonely(step_.b[next_b], RecordState::kOnlyB);
      }
    }
    return std::move(records_);
  }

 private:
  // A repeated record, as by a restarted run, says nothing.
  void AddLonely(const TraceRecord& record, RecordState state) {
    if (paired_.contains(KeyOf(record))) state = RecordState::kUnknown;
    records_.push_back({.a = record, .b = record, .state = state, .distance = kNotKnown});
    records_.back().size = DifferenceSize::kNotMeasured;
  }

  void AddPair(const TraceRecord& a, const TraceRecord& b) {
    OnsetRecord pair{.a = a, .b = b};
    Remember(a);
    const Sameness sameness = CompareRecords(a, b);
    if (sameness == Sameness::kNotKnown) {
      pair.state = RecordState::kUnknown;
      pair.size = DifferenceSize::kNotMeasured;
      pair.distance = kNotKnown;
    } else if (sameness == Sameness::kOther) {
      pair.state = IsHandedOn(a) ? RecordState::kHandedOn : RecordState::kOrigin;
      Measure(&pair);
      RememberDifference(a);
    }
    records_.push_back(std::move(pair));
  }

  bool IsHandedOn(const TraceRecord& record) const {
    const std::string owner = OwnerOf(record.name);
    switch (record.kind) {
      case TraceKind::kSetting:
      case TraceKind::kRng:
      case TraceKind::kBatch:
        return false;
      case TraceKind::kParameter:
      case TraceKind::kBuffer:
      case TraceKind::kState:
        return step_.parted_before;
      case TraceKind::kInput:
      case TraceKind::kLoss:
        return forward_differs_;
      case TraceKind::kOutput:
        if (!has_inputs_.contains({record.name, record.call})) return forward_differs_;
        return other_inputs_.contains({record.name, record.call}) ||
               HasBelow(other_state_, record.name) || HasBelow(other_operators_, record.name);
      case TraceKind::kOutputGradient:
        return forward_differs_ || backward_differs_;
      case TraceKind::kGradient:
        if (!output_gradients_.contains(owner)) return forward_differs_ || backward_differs_;
        return other_output_gradients_.contains(owner) || OtherInputs(owner) ||
               other_state_.contains(record.name);
      case TraceKind::kUpdated:
        if (!gradients_.contains(record.name)) return forward_differs_ || backward_differs_;
        return other_gradients_.contains(record.name) || other_state_.contains(record.name) ||
               HasBelow(other_optimizer_, record.name);
    }
    return false;
  }

  bool OtherInputs(const std::string& owner) const {
    const auto found = other_inputs_.lower_bound({owner, 0});
    return found != other_inputs_.end() && found->first == owner;
  }

  void Remember(const TraceRecord& record) {
    double& most = largest_[record.name];
    switch (record.kind) {
      case TraceKind::kInput:
        has_inputs_.insert({record.name, record.call});
        most = std::max(most, ElementsOf(record));
        break;
      case TraceKind::kOutputGradient:
        output_gradients_.insert(record.name);
        most = std::max(most, ElementsOf(record));
        break;
      case TraceKind::kGradient:
        gradients_.insert(record.name);
        break;
      case TraceKind::kParameter:
        if (record.name.ends_with("weight") && record.shape.size() >= 2) {
          products_[OwnerOf(record.name)] =
              ElementsOf(record) / std::max(1.0, static_cast<double>(record.shape.front()));
        }
        break;
      default:
        break;
    }
  }

  void RememberDifference(const TraceRecord& record) {
    if (IsForward(record.kind)) forward_differs_ = true;
    switch (record.kind) {
      case TraceKind::kParameter:
      case TraceKind::kBuffer:
        other_state_.insert(record.name);
        break;
      case TraceKind::kState:
        other_optimizer_.insert(record.name);
        break;
      case TraceKind::kInput:
        other_inputs_.insert({record.name, record.call});
        other_operators_.insert(record.name);
        break;
      case TraceKind::kOutput:
        other_operators_.insert(record.name);
        break;
      case TraceKind::kOutputGradient:
        other_output_gradients_.insert(record.name);
        backward_differs_ = true;
        break;
      case TraceKind::kGradient:
        other_gradients_.insert(record.name);
        backward_differs_ = true;
        break;
      case TraceKind::kLoss:
        backward_differs_ = true;
        break;
      default:
        break;
    }
  }

  double TermsOf(const TraceRecord& record) const {
    if (record.kind == TraceKind::kOutput) {
      if (const auto found = products_.find(record.name); found != products_.end()) {
        return found->second;
      }
    }
    const bool of_parameter =
        record.kind == TraceKind::kGradient || record.kind == TraceKind::kUpdated;
    const auto found = largest_.find(of_parameter ? OwnerOf(record.name) : record.name);
    const double most = found == largest_.end() ? 1.0 : found->second;
    return std::min(kMostTerms, std::max(most, ElementsOf(record)));
  }

  void Measure(OnsetRecord* pair) const {
    const TraceRecord& a = pair->a;
    const TraceRecord& b = pair->b;
    pair->size = DifferenceSize::kNotMeasured;
    pair->distance = kNotKnown;
    if (a.kind == TraceKind::kSetting || a.kind == TraceKind::kRng) return;
    if (a.shape != b.shape || a.dtype != b.dtype) return;
    pair->distance = DistanceOf(a, b, &pair->from_norms);
    pair->rounding = RoundingOf(a.dtype, TermsOf(a));
    if (a.nonfinite != b.nonfinite) {
      pair->size = DifferenceSize::kLarge;
    } else if (std::isnan(pair->distance)) {
      return;
    } else if (pair->distance > std::max(pair->rounding, std::ldexp(1.0, -7)) ||
               pair->rounding == 0.0) {
      pair->size = DifferenceSize::kLarge;
    } else if (!pair->from_norms) {
      pair->size = pair->distance <= pair->rounding ? DifferenceSize::kRounding
                                                    : DifferenceSize::kReducedPrecision;
    }
  }

  const StepSides& step_;
  std::vector<OnsetRecord> records_;
  std::set<RecordKey> paired_;
  bool forward_differs_ = false;
  bool backward_differs_ = false;
  std::set<std::pair<std::string, int>> has_inputs_;
  std::set<std::pair<std::string, int>> other_inputs_;
  std::set<std::string> output_gradients_;
  std::set<std::string> other_output_gradients_;
  std::set<std::string> gradients_;
  std::set<std::string> other_gradients_;
  std::set<std::string> other_state_;      // parameters and buffers
  std::set<std::string> other_optimizer_;  // its state
  std::set<std::string> other_operators_;
  std::map<std::string, double> largest_;   // elements of an operator's inputs
  std::map<std::string, double> products_;  // in each sum of a layer with weights
};

}  // namespace

bool IsComputed(TraceKind kind) { return kind != TraceKind::kSetting && kind != TraceKind::kRng; }

std::vector<OnsetRecord> RelateRecords(const StepSides& step) {
  return StepRelation(step).Relate();
}

double DistanceOf(const TraceRecord& a, const TraceRecord& b, bool* from_norms) {
  *from_norms = false;
  const double norm = std::max(a.norm, b.norm);
  if (std::isnan(a.norm) || std::isnan(b.norm)) return kNotKnown;
  double squares = 0.0;
  if (a.sketch.size() == b.sketch.size() && !a.sketch.empty()) {
    for (std::size_t i = 0; i < a.sketch.size(); ++i) {
      squares += (a.sketch[i] - b.sketch[i]) * (a.sketch[i] - b.sketch[i]);
    }
  } else {
    *from_norms = true;
    squares = (a.norm - b.norm) * (a.norm - b.norm);
  }
  if (squares == 0.0) return 0.0;
  return norm > 0.0 ? std::sqrt(squares) / norm : kNotKnown;
}

double RoundingOf(std::string_view dtype, double terms) {
  static const std::map<std::string_view, int> bits = {
      {"float64", -53},        {"complex128", -53}, {"float32", -24},        {"complex64", -24},
      {"float16", -11},        {"bfloat16", -8},    {"float8_e4m3", -4},     {"float8_e4m3fn", -4},
      {"float8_e4m3fnuz", -4}, {"float8_e5m2", -3}, {"float8_e5m2fnuz", -3},
  };
  const auto found = bits.find(dtype);
  if (found == bits.end()) return 0.0;
  return 10.0 * std::sqrt(std::max(1.0, terms)) * std::ldexp(1.0, found->second);
}

}  // namespace rharness
