// Token by token: bits, distances, ratios, experts.
#include "compare/tokens/compare_tokens.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>

#include "compare/tokens/decide_kl.h"
#include "compare/tokens/token_findings.h"
#include "compare/tokens/token_pairs.h"

namespace rharness {
namespace {

const double kLogTwo = std::log(2.0);
// vLLM's servers write -9999 where a log-probability is minus infinity (JSON has none).
constexpr double kStandsForInfinity = -9999.0;

bool IsValue(double logprob) { return std::isfinite(logprob) && logprob != kStandsForInfinity; }

bool IsSingle(double value) {
  return !std::isfinite(value) || static_cast<double>(static_cast<float>(value)) == value;
}

// Steps between two finite values of one type; 0 and -0 are one step apart.
template <class Float, class Bits>
std::uint64_t StepsOf(Float a, Float b) {
  constexpr Bits kSign = Bits{1} << (8 * sizeof(Bits) - 1);
  const auto ordered = [](Float value) {
    const Bits bits = std::bit_cast<Bits>(value);
    return (bits & kSign) != 0 ? static_cast<Bits>(~bits) : static_cast<Bits>(bits | kSign);
  };
  const Bits x = ordered(a);
  const Bits y = ordered(b);
  return x > y ? x - y : y - x;
}

class TokenMeter {
 public:
  TokenMeter(const TokenScores& a, const TokenScores& b, const TokenRules& rules)
      : a_(a), b_(b), values_b_(rules.sampler_as_b ? a.sampler : b.logprobs) {
    const auto both_single = [](const std::vector<double>& values) {
      return std::ranges::all_of(values, IsSingle);
    };
    single_ = both_single(a.logprobs) && both_single(values_b_);
    d_.steps_of = single_ ? "F32" : "F64";
    d_.sampled_by_b = rules.sampled_by_b.value_or(false);
  }

  void Add(const SequencePair& pair) {
    ++d_.sequences;
    const CommonTokens common = CommonOf(a_, b_, pair);
    d_.other_tokens += common.other ? 1 : 0;
    d_.ended += common.ended ? 1 : 0;
    d_.unscored += common.skip_a + common.skip_b;
    if (common.other && !d_.first_other) d_.first_other = PlaceOf(pair, common.count);
    KlUnit unit;
    double log_product = 0.0;
    for (std::size_t i = 0; i < common.count; ++i) AddToken(pair, common, i, &unit, &log_product);
    AddRouting(pair, common);
    if (unit.tokens == 0.0) return;
    units_.push_back(unit);
    products_.push_back(log_product);
    d_.sequences_beyond_two += std::fabs(log_product) > kLogTwo ? 1 : 0;
    if (std::fabs(log_product) > std::fabs(d_.largest_log_product)) {
      d_.largest_log_product = log_product;
    }
  }

  TokenDifference Finish() {
    if (!distances_.empty()) {
      d_.mean = sum_ / static_cast<double>(distances_.size());
      d_.median_abs = Quantile(0.5);
      d_.p99_abs = Quantile(0.99);
      d_.p999_abs = Quantile(0.999);
    }
    d_.effective_sequences = EffectiveSequences();
    return std::move(d_);
  }
  const std::vector<KlUnit>& units() const { return units_; }

 private:
  TokenPlace PlaceOf(const SequencePair& pair, std::size_t position) const {
    const TokenSequence& of = a_.sequences[pair.a];
    return {.prompt = of.prompt, .sample = of.sample, .position = position};
  }

  std::uint64_t UlpOf(double a, double b) const {
    return single_ ? StepsOf<float, std::uint32_t>(static_cast<float>(a), static_cast<float>(b))
                   : StepsOf<double, std::uint64_t>(a, b);
  }

  void AddToken(const SequencePair& pair, const CommonTokens& common, std::size_t i, KlUnit* unit,
                double* log_product) {
    const std::size_t place = common.skip_a + i;
    const double a = a_.logprobs[a_.sequences[pair.a].begin + place];
    const double b = values_b_[b_.sequences[pair.b].begin + common.skip_b + i];
    ++d_.tokens;
    const bool differs = std::bit_cast<std::uint64_t>(a) != std::bit_cast<std::uint64_t>(b);
    const bool both = IsValue(a) && IsValue(b);
    const auto here = [&] {
      TokenPlace at = PlaceOf(pair, place);
      at.a = a;
      at.b = b;
      at.ulp = both ? UlpOf(a, b) : 0;
      return at;
    };
    if (differs) {
      ++d_.differing;
      if (!d_.first) d_.first = here();
    }
    if (!both) {
      ++d_.non_finite;
      d_.became_non_finite += IsValue(a) ? 1 : 0;
      d_.ceased += IsValue(b) ? 1 : 0;
      return;
    }
    if (differs) {
      const std::uint64_t ulp = UlpOf(a, b);
      d_.max_ulp = std::max(d_.max_ulp, ulp);
      if (ulp > 0) ++d_.ulp_histogram[static_cast<std::size_t>(std::bit_width(ulp)) - 1];
    }
    const double distance = b - a;
    sum_ += distance;
    distances_.push_back(static_cast<float>(std::fabs(distance)));
    if (!d_.farthest || std::fabs(distance) > d_.max_abs) {
      d_.max_abs = std::fabs(distance);
      if (differs) d_.farthest = here();
    }
    d_.beyond_two += std::fabs(distance) > kLogTwo ? 1 : 0;
    const double log_ratio = d_.sampled_by_b ? -distance : distance;
    unit->tokens += 1.0;
    unit->k1 -= log_ratio;
    unit->k3 += K3Of(log_ratio);
    *log_product += log_ratio;
  }

  void AddRouting(const SequencePair& pair, const CommonTokens& common) {
    const TokenSequence& of_a = a_.sequences[pair.a];
    const TokenSequence& of_b = b_.sequences[pair.b];
    if (of_a.layers == 0 || of_a.layers != of_b.layers) return;
    const std::size_t layers = of_a.layers;
    for (std::size_t i = 0; i < common.count * layers; ++i) {
      ++d_.routed;
      const std::uint32_t a = a_.experts[of_a.experts + common.skip_a * layers + i];
      const std::uint32_t b = b_.experts[of_b.experts + common.skip_b * layers + i];
      if (a == b) continue;
      if (d_.routed_otherwise++ > 0) continue;
      d_.first_routed = PlaceOf(pair, common.skip_a + i / layers);
      d_.first_routed->layer = i % layers;
    }
  }

  // The smallest distance that this share of the tokens does not exceed.
  double Quantile(double share) {
    const auto rank =
        static_cast<std::size_t>(std::ceil(share * static_cast<double>(distances_.size())) - 1.0);
    const auto at = distances_.begin() + static_cast<std::ptrdiff_t>(rank);
    std::nth_element(distances_.begin(), at, distances_.end());
    return *at;
  }

  double EffectiveSequences() const {
    if (products_.empty()) return 0.0;
    const double most = *std::ranges::max_element(products_);
    double sum = 0.0;
    double squares = 0.0;
    for (const double product : products_) {
      const double weight = std::exp(product - most);
      sum += weight;
      squares += weight * weight;
    }
    return sum * sum / squares;
  }

  const TokenScores& a_;
  const TokenScores& b_;
  const std::vector<double>& values_b_;
  bool single_ = false;
  TokenDifference d_;
  double sum_ = 0.0;
  std::vector<float> distances_;
  std::vector<KlUnit> units_;
  std::vector<double> products_;
};

// Who drew the tokens: as declared, else as one file alone says of itself.
std::optional<bool> SamplerOf(const TokenScores& a, const TokenScores& b, const TokenRules& rules) {
  if (rules.sampled_by_b) return rules.sampled_by_b;
  if (rules.sampler_as_b) return true;
  const bool by_a = a.sampled.value_or(false);
  const bool by_b = b.sampled.value_or(false);
  return by_a != by_b ? std::optional(by_b) : std::nullopt;
}

// The decision on the divergence, held open or closed by what it does not see.
MetricDecision DecisionOf(const TokenDifference& d, const KlDecision& kl, bool coarse) {
  MetricDecision decision = kl.decision;
  decision.name = KlName(d.sampled_by_b);
  if (d.became_non_finite > 0) {
    decision.verdict = MetricVerdict::kDrifted;
    decision.reason = "non_finite";
    decision.reruns = {std::numeric_limits<double>::quiet_NaN()};
  } else if (d.non_finite > 0) {
    decision.verdict = MetricVerdict::kInconclusive;
    decision.reason = "non_finite_history";
  } else if (coarse && decision.reason == "equal") {
    decision.verdict = MetricVerdict::kInconclusive;
    decision.reason = "coarsely_printed";
  }
  return decision;
}

}  // namespace

std::string_view KlName(bool sampled_by_b) { return sampled_by_b ? "KL(B||A)" : "KL(A||B)"; }

TokenComparison CompareTokens(const TokenScores& a, const TokenScores& b, const TokenRules& rules) {
  const std::optional<bool> sampler = SamplerOf(a, b, rules);
  TokenRules known = rules;
  known.sampled_by_b = sampler.value_or(false);
  const SequencePairs pairs = PairSequences(a, b);
  TokenMeter meter(a, b, known);
  for (const SequencePair& pair : pairs.pairs) meter.Add(pair);
  TokenComparison out;
  out.difference = meter.Finish();
  TokenDifference& d = out.difference;
  d.sampler_stated = sampler.has_value();
  d.only_a = pairs.only_a.size();
  d.only_b = pairs.only_b.size();
  if (d.tokens > 0) {
    const KlDecision kl = DecideKl(meter.units(), rules.kl_margin, d.differing == 0);
    d.k1 = kl.k1;
    d.k3 = kl.k3;
    if (!a.continuations && !b.continuations) {
      out.decision = DecisionOf(d, kl, a.decimals.has_value() || b.decimals.has_value());
    }
  }
  AddTokenFindings(a, b, pairs, known, &out);
  return out;
}

}  // namespace rharness
