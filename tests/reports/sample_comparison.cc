// Comparisons for the tests; see sample_comparison.h.
#include "tests/reports/sample_comparison.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

namespace rharness {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

FactDifference DifferingFact(Layer layer, std::string key, FactWeight weight, std::string a,
                             std::optional<std::string> b) {
  return {layer, std::move(key), weight, std::move(a), std::move(b)};
}

void SetLayers(Comparison* comparison) {
  constexpr std::array<int, 5> kCompared = {2, 3, 14, 6, 4};
  for (std::size_t i = 0; i < 5; ++i) {
    comparison->layers[i].layer = kLayers[i];
    comparison->layers[i].state = LayerState::kSame;
    comparison->layers[i].compared = kCompared[i];
  }
}

void AddDifference(Comparison* comparison, FactDifference difference) {
  LayerComparison& layer = comparison->layers[static_cast<std::size_t>(difference.layer)];
  layer.state = LayerState::kDiffers;
  layer.differences.push_back(std::move(difference));
}

TensorDifference Tensor(std::string name, std::uint64_t elements, int bins, double max_abs) {
  TensorDifference tensor;
  tensor.name = std::move(name);
  tensor.dtype = DType::kBF16;
  tensor.shape = {elements / 64, 64};
  tensor.elements = elements;
  tensor.first_index = 5;
  tensor.max_abs = max_abs;
  tensor.max_rel = 20 * max_abs;
  tensor.max_ulp = (std::uint64_t{1} << bins) - 1;
  for (int i = 0; i < bins; ++i) {
    const auto count = static_cast<std::uint64_t>(static_cast<double>(elements) *
                                                  std::exp(-0.4 * (i - 2) * (i - 2)) / 6.0);
    tensor.ulp_histogram[static_cast<std::size_t>(i)] = count + 1;
    tensor.differing += count + 1;
  }
  tensor.norm_a = 12.5;
  tensor.norm_b = 12.5 + max_abs;
  tensor.norm_difference = 9 * max_abs;
  tensor.cosine = 1.0 - max_abs * max_abs;
  return tensor;
}

// 32 layers of 9 tensors; from layer 4 on they differ, more and more.
CheckpointComparison Weights() {
  CheckpointComparison weights;
  weights.subject = "weights model.safetensors";
  weights.digest_a = "5f70bf18a086007016e948b04aed3b82103a36bea41755b6cddfaf10ace3c6ef";
  weights.digest_b = "9d0e7c1fa8e2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c4d5e6f708192a3b4c";
  CheckpointDifference& difference = weights.difference;
  difference.compared = 290;
  difference.elements = 1'100'048'384;
  for (int layer = 0; layer < 32; ++layer) {
    GroupDifference group;
    group.group = fmt::format("model.layers.{}", layer);
    group.tensors = 9;
    group.elements = 33'816'576;
    if (layer >= 4) {
      const double size = 2e-7 * std::exp(0.22 * layer) * (layer % 5 == 0 ? 0.3 : 1.0);
      group.differing_tensors = 7;
      group.differing = 40'000;
      group.max_abs = size;
      group.max_rel = 20 * size;
      group.max_ulp = 60;
      group.relative_norm = size;
      difference.differing.push_back(
          Tensor(fmt::format("model.layers.{}.mlp.up_proj.weight", layer), 65'536, 7, size));
    }
    difference.groups.push_back(group);
  }
  difference.differing[1].max_abs = difference.differing[1].max_rel = kNan;
  difference.differing[2].non_finite_changes = 3;
  difference.differing[2].nan_changes = 2;
  difference.differing[2].zero_sign_changes = 1;
  difference.differing[3].norm_a = kNan;
  difference.differing[3].cosine = kNan;
  difference.only_b = {"lm_head.bias"};
  difference.shape_or_dtype = {"model.embed_tokens.weight"};
  weights.metadata = {"format", "trainer_version"};
  return weights;
}

CheckpointComparison Optimizer() {
  CheckpointComparison optimizer;
  optimizer.subject = "optimizer state";
  optimizer.weights = false;
  optimizer.from_digests = true;
  optimizer.difference.compared = 4;
  TensorDifference tensor;
  tensor.name = "exp_avg.0";
  tensor.shape = {128, 784};
  tensor.max_abs = kNan;
  optimizer.difference.differing = {tensor};
  return optimizer;
}

// A loss that falls from 10.9; B leaves A at step `apart` and drifts off by `growth` a step.
CurveComparison Curve(std::string name, int steps, int apart, double growth) {
  CurveComparison curve;
  curve.name = std::move(name);
  curve.kind = CurveKind::kLoss;
  curve.basis = "growth_model";
  for (int step = 0; step < steps; ++step) {
    const double t = step;
    const double a = 2.1 + 8.8 * std::exp(-t / (0.15 * steps)) + 0.03 * std::sin(1.7 * t);
    const double gap =
        step < apart ? 0.0 : 1e-7 * std::exp(growth * (step - apart)) * (1.2 + std::cos(2.3 * t));
    curve.steps.push_back(10 * step);
    curve.a.push_back(a);
    curve.b.push_back(a + std::min(gap, 0.4));
    curve.band.push_back(2e-6 * std::exp(0.04 * step));
    if (gap > 0) ++curve.differing;
  }
  if (apart < steps) curve.first_difference = 10 * apart;
  return curve;
}

CurveComparison BeyondCurve() {
  CurveComparison curve = Curve("lm loss", 200, 17, 0.075);
  curve.state = CurveState::kBeyond;
  for (std::size_t i = 0; i < curve.steps.size() && !curve.first_beyond; ++i) {
    if (std::fabs(curve.b[i] - curve.a[i]) > curve.band[i]) curve.first_beyond = curve.steps[i];
  }
  curve.max_abs = 0.19;
  curve.max_rel = 0.09;
  curve.max_step = 1990;
  curve.statistic = 37.4;
  curve.false_alarm = 0.01;
  curve.only_b = 12;
  curve.rule = "|b - a| at most the published growth of bf16 training, exp(0.04 step) from 2e-6";
  curve.message = "lm loss leaves its band at step 1010 and is 9 % off at step 1990.";
  return curve;
}

std::vector<CurveComparison> RichCurves() {
  CurveComparison advice = Curve("grad norm", 60, 17, 0.1);
  advice.kind = CurveKind::kMetric;
  advice.state = CurveState::kUndecided;
  advice.basis = "none";
  advice.band.clear();
  advice.b[40] = kNan;
  advice.b[41] = kInf;
  advice.first_non_finite = 400;
  advice.message = "grad norm differs from step 170 on, and nothing says how far it may.";
  CurveComparison resource;
  resource.name = "iteration-time";
  resource.kind = CurveKind::kResource;
  resource.state = CurveState::kUndecided;
  resource.steps = {1, 2, 3};
  resource.a = {0.51, 0.5, 0.52};
  resource.b = {0.47, 0.49, 0.48};
  resource.differing = 3;
  resource.first_difference = 1;
  CurveComparison vacuous;
  vacuous.name = "num-zeros";
  vacuous.kind = CurveKind::kMetric;
  vacuous.state = CurveState::kVacuous;
  vacuous.vacuity = "constant";
  vacuous.steps = {1, 2};
  vacuous.a = vacuous.b = {0.0, 0.0};
  vacuous.band = {kInf, 0.0};
  CurveComparison missing;
  missing.name = "val loss";
  missing.kind = CurveKind::kLoss;
  missing.only_a = 20;
  missing.message = "val loss is in A only.";
  return {advice, resource, vacuous, missing, BeyondCurve()};
}

MetricDecision ComparedMetric(std::string name, MetricVerdict verdict, double shift) {
  MetricDecision metric;
  metric.name = std::move(name);
  metric.unit = "nats per token";
  metric.verdict = verdict;
  metric.history = {3.412, 3.405, 3.421, 3.409, 3.416, 3.411};
  metric.reruns = {3.411 + shift, 3.418 + shift, 3.409 + shift};
  metric.mean_history = 3.41233;
  metric.difference = shift + 0.0003;
  metric.standard_deviation = 0.0058;
  metric.standard_error = 0.0041;
  metric.df = 15;
  metric.t = metric.difference / metric.standard_error;
  metric.p_difference = std::exp(-std::fabs(metric.t) * 1.2);
  metric.ci_low = metric.difference - 0.0072;
  metric.ci_high = metric.difference + 0.0072;
  metric.margin = 0.02;
  metric.variance_basis = "pooled";
  metric.power = 0.91;
  metric.minimum_detectable = 0.016;
  return metric;
}

std::vector<Cause> RichCauses() {
  return {{"library_changed",
           Layer::kEnvironment,
           Strength::kLikely,
           "Another cuBLAS sums in another order, from the first matrix product on.",
           {"library.cublas: 13.0.2.14 against 13.1.0.3",
            "the first differing step is 170, the first differing layer model.layers.4",
            "most distances are 1 to 4 ULP, as a reordered sum leaves them"},
           "rharness probe diff runs/a/fingerprint.json runs/b/fingerprint.json"},
          {"seed_missing",
           Layer::kRandomness,
           Strength::kPossible,
           "The seed of the data loader was not set.",
           {"randomness.loader.seed: 17 against nothing"},
           "Set the seed of the loader and run B again."},
          {"driver_changed",
           Layer::kEnvironment,
           Strength::kPossible,
           "The driver differs.",
           {"driver.version: 580.65.06 against 590.12.01"},
           "rharness compare runs/a runs/b --only environment"},
          {"node_changed",
           Layer::kHardware,
           Strength::kPossible,
           "The run went to another node.",
           {},
           ""}};
}

Comparison RichPair() {
  Comparison pair;
  pair.a = {"runs/2026-08-14/seed-3", SideKind::kEvidence, "safetensors, 290 tensors, 2.2 GB"};
  pair.b = {"runs/2026-11-20/seed-3", SideKind::kEvidence, "safetensors, 291 tensors, 2.2 GB"};
  pair.verdict = Verdict::kDrifted;
  pair.headline = "lm loss leaves its band at step 1010, and 28 of 290 tensors differ.";
  pair.findings = {
      {"curve_beyond", std::nullopt, "curve lm loss", "37.4 times the band", "1",
       "the published growth of bf16 training",
       "lm loss is further apart than a reordering of sums takes it.", true},
      {"bits_differ", Layer::kEnvironment, "tensor model.layers.4.mlp.up_proj.weight",
       "28 of 290 tensors", "0 tensors", "bits were promised",
       "The first differing tensor is model.layers.4.mlp.up_proj.weight at index 5.", true},
      {"metadata_differ", std::nullopt, "weights model.safetensors", "", "", "",
       "Two keys of the metadata differ.", false}};
  pair.causes = RichCauses();
  SetLayers(&pair);
  AddDifference(&pair, DifferingFact(Layer::kEnvironment, "library.cublas", FactWeight::kContext,
                                     "13.0.2.14", "13.1.0.3"));
  AddDifference(&pair, DifferingFact(Layer::kEnvironment, "driver.version", FactWeight::kContext,
                                     "580.65.06", "590.12.01"));
  AddDifference(&pair, DifferingFact(Layer::kRandomness, "randomness.loader.seed",
                                     FactWeight::kContext, "17", std::nullopt));
  AddDifference(&pair, DifferingFact(Layer::kHardware, "gpu.model", FactWeight::kClass,
                                     "NVIDIA H100 80GB HBM3", "NVIDIA H200"));
  pair.layers[0].state = LayerState::kUnknown;
  pair.layers[1].only_recorded = 2;
  pair.checkpoints = {Weights(), Optimizer()};
  pair.curves = RichCurves();
  pair.metrics = {ComparedMetric("tokens_per_second", MetricVerdict::kWithin, 0.001),
                  ComparedMetric("val_loss", MetricVerdict::kDrifted, 0.061)};
  pair.metrics[0].primary = false;
  pair.metrics[1].reruns.push_back(kNan);
  pair.metrics[1].reason = "detectable_shift,material";
  pair.notes = {"Two files of B are larger than 4 GB and were not compared."};
  return pair;
}

Comparison CurvePair(std::string name, CurveState state, Verdict verdict) {
  Comparison pair;
  pair.name = std::move(name);
  pair.a = {"before.json", SideKind::kCurves, "megatron golden values, 3 curves"};
  pair.b = {"after.json", SideKind::kCurves, "megatron golden values, 3 curves"};
  pair.expect_bitwise = false;
  pair.verdict = verdict;
  SetLayers(&pair);
  for (LayerComparison& layer : pair.layers) {
    layer.state = LayerState::kUnknown;
    layer.compared = 0;
  }
  const bool identical = state == CurveState::kIdentical;
  CurveComparison loss = Curve("lm loss", 50, identical ? 50 : 3, 0.08);
  loss.state = state;
  loss.max_rel = identical ? 0.0 : 3.1e-4;
  loss.basis = identical ? "bits" : "growth_model";
  pair.curves = {loss};
  pair.headline = identical ? "lm loss is equal bit for bit over 50 steps."
                            : "lm loss differs from step 30 on, by at most 0.031 %.";
  return pair;
}

ComparisonSet SetOf(std::string title, std::vector<Comparison> comparisons) {
  ComparisonSet set;
  set.title = std::move(title);
  set.version = "0.1.0";
  set.made = *ParseTime("2026-11-20T01:00:04.250Z");
  set.comparisons = std::move(comparisons);
  TallySample(&set);
  return set;
}

}  // namespace

void TallySample(ComparisonSet* set) {
  std::vector<Verdict> verdicts;
  set->counts.clear();
  for (const Verdict verdict : kVerdicts) set->counts[std::string(VerdictName(verdict))] = 0;
  for (const Comparison& comparison : set->comparisons) {
    verdicts.push_back(comparison.verdict);
    ++set->counts[std::string(VerdictName(comparison.verdict))];
  }
  set->exit_code = ExitCodeOf(verdicts);
}

ComparisonSet RichComparison() {
  ComparisonSet set = SetOf("runs/2026-08-14/seed-3 against runs/2026-11-20/seed-3", {RichPair()});
  set.notes = {"The container image of A is no longer in the registry."};
  return set;
}

ComparisonSet IdenticalComparison() {
  Comparison pair = CurvePair("", CurveState::kIdentical, Verdict::kIdentical);
  CheckpointComparison weights = Weights();
  weights.difference = {};
  weights.difference.bit_equal = true;
  weights.difference.compared = 290;
  weights.difference.elements = 1'100'048'384;
  weights.digest_b = weights.digest_a;
  weights.metadata.clear();
  pair.checkpoints = {weights};
  pair.metrics = {ComparedMetric("val_loss", MetricVerdict::kInconclusive, 0.0)};
  pair.expect_bitwise = true;
  SetLayers(&pair);
  pair.headline = "290 tensors, 1 curve and 1 metric are equal bit for bit.";
  return SetOf("runs/a against runs/b", {pair});
}

ComparisonSet InconclusiveComparison() {
  Comparison pair = CurvePair("", CurveState::kUndecided, Verdict::kInconclusive);
  pair.curves[0].band.clear();
  pair.curves[0].basis = "none";
  pair.curves[0].max_abs = 8e-4;
  pair.headline = "lm loss differs from step 30 on, and nothing says how far it may.";
  pair.findings = {{"no_basis", std::nullopt, "curve lm loss", "", "", "a band needs replicates",
                    "Give at least one replicate of A; five give a stated false-alarm rate.",
                    true}};
  return SetOf("before.json against after.json", {pair});
}

ComparisonSet EmptyComparison() { return SetOf("0 pairs of pairs/", {}); }

ComparisonSet PairsComparison(int pairs) {
  std::vector<Comparison> list;
  for (int i = 0; i < pairs; ++i) {
    const std::string name = fmt::format("gpt3-weekly-dgx-h100-{:02}", i);
    if (i == 40 || i == 41) {
      list.push_back(RichPair());
      list.back().name = name;
    } else if (i % 17 == 3 && i < 85) {
      list.push_back(CurvePair(name, CurveState::kUndecided, Verdict::kInconclusive));
    } else if (i == 50) {
      list.push_back(CurvePair(name, CurveState::kMissing, Verdict::kNotComparable));
      list.back().headline = "The data are not the same.";
    } else if (i < 6 && i != 3) {
      list.push_back(CurvePair(name, CurveState::kIdentical, Verdict::kIdentical));
    } else {
      list.push_back(CurvePair(name, CurveState::kWithin, Verdict::kEquivalent));
    }
  }
  return SetOf(fmt::format("{} pairs of pairs/", pairs), std::move(list));
}

ComparisonSet LargeComparison(int pairs) {
  std::vector<Comparison> list(static_cast<std::size_t>(pairs), RichPair());
  for (int i = 0; i < pairs; ++i) list[static_cast<std::size_t>(i)].name = fmt::format("p{}", i);
  return SetOf(fmt::format("{} pairs", pairs), std::move(list));
}

}  // namespace rharness
