// Which cause is named for which difference, and which comes first.
#include "compare/explain.h"

#include <gtest/gtest.h>

#include <cmath>

#include "compare/explain_reruns.h"

namespace rharness {
namespace {

std::vector<std::string> CodesOf(const std::vector<Cause>& causes) {
  std::vector<std::string> codes;
  for (const Cause& cause : causes) {
    codes.push_back(cause.code);
    EXPECT_FALSE(cause.statement.empty()) << cause.code;
    EXPECT_FALSE(cause.evidence.empty()) << cause.code;
    EXPECT_FALSE(cause.confirm.empty()) << cause.code;
  }
  return codes;
}

using Codes = std::vector<std::string>;

void Differ(Comparison* comparison, Layer layer, const std::string& key,
            std::optional<std::string> a, std::optional<std::string> b,
            FactWeight weight = FactWeight::kContext) {
  LayerComparison& of_layer = comparison->layers[static_cast<std::size_t>(layer)];
  of_layer.layer = layer;
  of_layer.state = LayerState::kDiffers;
  of_layer.differences.push_back({layer, key, weight, std::move(a), std::move(b)});
}

Codes Explained(Comparison comparison, const std::vector<Fact>& facts = {}) {
  comparison.verdict = Verdict::kDrifted;
  return CodesOf(Explain(comparison, facts, facts));
}

TEST(Explain, SaysNothingOfAnIdenticalPair) {
  Comparison comparison;
  Differ(&comparison, Layer::kData, "data.x.sha256", "a", "b", FactWeight::kIdentity);
  comparison.verdict = Verdict::kIdentical;
  EXPECT_TRUE(Explain(comparison, {}, {}).empty());
}

TEST(Explain, RanksWhatHashesShowBeforeWhatIsLikelyAndFollowsTheLayers) {
  Comparison comparison;
  Differ(&comparison, Layer::kHardware, "cpu.microcode", "1", "2");
  Differ(&comparison, Layer::kHardware, "gpu.driver", "570", "580");
  Differ(&comparison, Layer::kRandomness, "seed.init", "1", "2", FactWeight::kIdentity);
  Differ(&comparison, Layer::kData, "data.x.sha256", "a", "b", FactWeight::kIdentity);
  EXPECT_EQ(Explained(comparison),
            (Codes{"data_changed", "seed_changed", "driver_changed", "hardware_changed"}));
}

TEST(Explain, GivesTheCommandThatShowsBothCommits) {
  Comparison comparison;
  comparison.verdict = Verdict::kDrifted;
  Differ(&comparison, Layer::kCode, "code.commit", "1111", "2222");
  const auto causes = Explain(comparison, {}, {});
  ASSERT_EQ(causes.size(), 1u);
  EXPECT_EQ(causes[0].confirm, "git diff 1111 2222");
  EXPECT_EQ(causes[0].strength, Strength::kLikely);
}

TEST(Explain, TellsHyperparametersFromCode) {
  Comparison comparison;
  Differ(&comparison, Layer::kCode, "hyperparameter.learning_rate", "0.1", "0.2",
         FactWeight::kIdentity);
  EXPECT_EQ(Explained(comparison), Codes{"hyperparameter_changed"});
}

TEST(Explain, NamesThePackagesThatChangedWithAnImage) {
  Comparison comparison;
  comparison.verdict = Verdict::kDrifted;
  Differ(&comparison, Layer::kEnvironment, "image.digest", "sha256:a", "sha256:b",
         FactWeight::kIdentity);
  Differ(&comparison, Layer::kEnvironment, "software.cudnn", "9.1", "9.2");
  const auto causes = Explain(comparison, {}, {});
  ASSERT_EQ(causes.size(), 1u);
  EXPECT_EQ(causes[0].code, "image_changed");
  EXPECT_EQ(causes[0].evidence.back(), "software.cudnn: 9.1 in A, 9.2 in B");
}

TEST(Explain, FindsADeterminismSwitchThatIsOffOnBothSides) {
  const Fact off{Layer::kRandomness, "determinism.torch.use_deterministic_algorithms", "false",
                 FactWeight::kContext};
  const Fact on{Layer::kRandomness, "determinism.torch.use_deterministic_algorithms", "true",
                FactWeight::kContext};
  const Fact tuned{Layer::kRandomness, "determinism.cudnn.benchmark", "true", FactWeight::kContext};
  EXPECT_EQ(Explained({}, {off}), Codes{"determinism_flag_off"});
  EXPECT_EQ(Explained({}, {tuned}), Codes{"determinism_flag_off"});
  EXPECT_EQ(Explained({}, {on}), Codes{});
}

TEST(Explain, FindsASourceOfRandomnessWithoutASeed) {
  const Fact unseeded{Layer::kRandomness, "rng.shuffle", "not seeded", FactWeight::kContext};
  EXPECT_EQ(Explained({}, {unseeded}), Codes{"seed_missing"});
}

// A loss that differs from `first` on, there by `relative`.
Comparison WithLoss(std::int64_t first, double relative,
                    DifferenceNature nature = DifferenceNature::kNone,
                    CurveState state = CurveState::kUndecided) {
  CurveComparison curve{.name = "loss", .kind = CurveKind::kLoss, .state = state};
  curve.basis = "upgrades";
  curve.nature = nature;
  if (state == CurveState::kBeyond) curve.first_beyond = first;
  for (std::int64_t step = 1; step <= 10; ++step) {
    curve.steps.push_back(step);
    curve.a.push_back(2.0);
    curve.b.push_back(step < first ? 2.0 : 2.0 * (1 + relative));
  }
  curve.first_difference = first;
  return Comparison{.curves = {curve}};
}

TEST(Explain, TellsAnotherStartFromAnotherArithmetic) {
  using enum DifferenceNature;
  const auto beyond = [](std::int64_t first, double relative, DifferenceNature nature) {
    return Explained(WithLoss(first, relative, nature, CurveState::kBeyond));
  };
  EXPECT_EQ(beyond(1, 0.1, kShifted), (Codes{"different_start", "training_changed"}));
  EXPECT_EQ(Explained(WithLoss(1, 1e-6, kRounding)), Codes{"arithmetic_from_start"});
  Comparison leading = WithLoss(1, 1e-6, kRounding);
  leading.curves.front().a.front() = std::nan("");
  EXPECT_EQ(Explained(leading), Codes{}) << "what A did not log is no rounding of B";
  EXPECT_EQ(beyond(6, 0.1, kSpike), Codes{"event_at_step"});
  EXPECT_EQ(Explained(WithLoss(6, 1e-6, kRounding)), Codes{"arithmetic_later"});
  EXPECT_EQ(beyond(6, 1e-4, kProgress), Codes{"progress_changed"});
  EXPECT_EQ(beyond(6, 0.1, kOtherBatches), Codes{"other_batches"});
  EXPECT_EQ(Explained(WithLoss(1, 3e-4, kNewStream, CurveState::kWithin)), Codes{"random_stream"});
}

TEST(Explain, IsSilentWhereNothingWasShown) {
  EXPECT_EQ(Explained(WithLoss(1, 0.1)), Codes{}) << "open, and of no shape that says anything";
  EXPECT_EQ(Explained(WithLoss(6, 1e-3, DifferenceNature::kNone, CurveState::kWithin)), Codes{});
  // Within what further runs do: they may have differed in seed, and that is all that is known.
  Comparison seeds = WithLoss(6, 1e-3, DifferenceNature::kNone, CurveState::kWithin);
  seeds.curves[0].basis = "replicates";
  seeds.curves[0].differing = 5;
  EXPECT_EQ(Explained(seeds), Codes{"another_seed"});
}

CheckpointComparison Differing(std::uint64_t elements, std::uint64_t differing,
                               std::uint64_t max_ulp, double cosine) {
  CheckpointComparison weights{.subject = "weights"};
  weights.difference.compared = 1;
  weights.difference.elements = elements;
  TensorDifference& tensor = weights.difference.differing.emplace_back();
  tensor.name = "w";
  tensor.elements = elements;
  tensor.differing = differing;
  tensor.max_ulp = max_ulp;
  tensor.cosine = cosine;
  return weights;
}

CheckpointComparison Equal(bool weights, std::vector<std::string> metadata = {}) {
  CheckpointComparison same{.subject = "x", .weights = weights, .metadata = std::move(metadata)};
  same.difference.bit_equal = true;
  return same;
}

TEST(Explain, ReadsTheShapeOfADifferenceInTheWeights) {
  EXPECT_EQ(Explained({.checkpoints = {Differing(5000, 1, 1 << 20, 1.0)}}),
            Codes{"single_element"});
  EXPECT_EQ(Explained({.checkpoints = {Differing(1, 1, 1 << 20, 1.0)}}), Codes{});
  EXPECT_EQ(Explained({.checkpoints = {Differing(2, 1, 1 << 20, 1.0)}}), Codes{});
  EXPECT_EQ(Explained({.checkpoints = {Differing(5000, 900, 1, 1.0)}}), Codes{"last_bit"});
  EXPECT_EQ(Explained({.checkpoints = {Differing(5000, 5000, 1 << 30, 0.01)}}),
            Codes{"unrelated_weights"});
  EXPECT_EQ(Explained({.checkpoints = {Differing(5000, 5000, 40, 0.999)}}), Codes{});
}

TEST(Explain, TellsOptimizerStateAndMetadataFromWeights) {
  CheckpointComparison optimizer = Differing(5000, 5000, 40, 0.9);
  optimizer.weights = false;
  EXPECT_EQ(Explained({.checkpoints = {Equal(true), optimizer}}), Codes{"only_optimizer_state"});
  EXPECT_EQ(Explained({.checkpoints = {Equal(true, {"epoch: 3 in A, 4 in B"})}}),
            Codes{"recorded_state"});
  EXPECT_EQ(Explained({.checkpoints = {Differing(5000, 5000, 40, 0.9), optimizer}}), Codes{});
}

TEST(Explain, SaysHowToPutAVariableBack) {
  Comparison comparison;
  comparison.verdict = Verdict::kDrifted;
  Differ(&comparison, Layer::kEnvironment, "variable.OPENBLAS_CORETYPE", "Haswell", "Nehalem");
  Differ(&comparison, Layer::kEnvironment, "variable.OMP_NUM_THREADS", std::nullopt, "4");
  const auto causes = Explain(comparison, {}, {});
  ASSERT_EQ(causes.size(), 2u);
  EXPECT_EQ(causes[0].confirm, "drill again with --env OPENBLAS_CORETYPE=Haswell");
  EXPECT_EQ(causes[1].confirm, "drill again with OMP_NUM_THREADS unset");
  Comparison odd;
  odd.verdict = Verdict::kDrifted;
  Differ(&odd, Layer::kEnvironment, "variable.OMP_PLACES", "{0}; touch pwn", "cores");
  EXPECT_EQ(Explain(odd, {}, {}).at(0).confirm,
            "drill again with --env 'OMP_PLACES={0}; touch pwn'");
}

void DifferInUse(Comparison* comparison, const std::string& key, FactUse use, std::string a,
                 std::string b) {
  Differ(comparison, Layer::kEnvironment, key, std::move(a), std::move(b));
  comparison->layers[2].differences.back().use = use;
}

TEST(Explain, NamesAPackageThatNothingUsedBehindEverythingElse) {
  Comparison comparison;
  DifferInUse(&comparison, "package.dpkg.htop:amd64", FactUse::kNotUsed, "3.2", "3.3");
  Differ(&comparison, Layer::kEnvironment, "software.host_packages", "aaaa", "bbbb");
  Differ(&comparison, Layer::kEnvironment, "variable.LANG", "C", "de");
  DifferInUse(&comparison, "package.python.numpy", FactUse::kUsed, "1.26.4", "2.4.6");
  Differ(&comparison, Layer::kHardware, "gpu.driver", "570", "580");
  Differ(&comparison, Layer::kEnvironment, "variable.OPENBLAS_CORETYPE", "Haswell", "Nehalem");
  comparison.verdict = Verdict::kDrifted;
  const auto causes = Explain(comparison, {}, {});
  EXPECT_EQ(CodesOf(causes),
            (Codes{"variable_changed", "library_changed", "driver_changed", "variable_changed",
                   "unused_package_changed", "packages_changed"}));
  EXPECT_TRUE(causes[0].statement.starts_with("OPENBLAS_CORETYPE changed"));
  EXPECT_EQ(causes[1].evidence, Codes{"package.python.numpy: 1.26.4 in A, 2.4.6 in B"});
}

TEST(Explain, NamesOtherKernelsBehindTheDriverThatChoseThem) {
  Comparison comparison;
  const std::string kernel = "gpu_kernel.reduce_serial";
  DifferInUse(&comparison, kernel, FactUse::kUsed, "absent", "24 launches, 4x1x1 of 1x1x1");
  Differ(&comparison, Layer::kEnvironment, "software.cuda_driver", "13.0", "13.1");
  comparison.verdict = Verdict::kDrifted;
  const auto causes = Explain(comparison, {}, {});
  EXPECT_EQ(CodesOf(causes), (Codes{"driver_changed", "kernels_changed"}));
  ASSERT_EQ(causes.back().evidence.size(), 1U);
  EXPECT_NE(causes.back().evidence[0].find("reduce_serial"), std::string::npos);
}

TEST(Although, NamesTheMostTellingChangeOnGreen) {
  Comparison comparison;
  comparison.verdict = Verdict::kIdentical;
  EXPECT_EQ(AlthoughSentence(comparison), "");
  DifferInUse(&comparison, "package.dpkg.htop:amd64", FactUse::kNotUsed, "3.2", "3.3");
  Differ(&comparison, Layer::kEnvironment, "software.host_packages", "aaaa", "bbbb");
  EXPECT_EQ(AlthoughSentence(comparison), "") << "neither says anything of the run";
  DifferInUse(&comparison, "package.python.numpy", FactUse::kUsed, "1.26.4", "2.4.6");
  EXPECT_EQ(AlthoughSentence(comparison), "Identical, although numpy went from 1.26.4 to 2.4.6.");
  Differ(&comparison, Layer::kHardware, "cpu.model", "EPYC 9654", "EPYC 9755");
  Differ(&comparison, Layer::kEnvironment, "software.kernel", "6.1", "6.12");
  EXPECT_EQ(AlthoughSentence(comparison),
            "Identical, although numpy went from 1.26.4 to 2.4.6, and 2 more facts changed.");
  Differ(&comparison, Layer::kEnvironment, "variable.OMP_NUM_THREADS", std::nullopt, "4");
  comparison.verdict = Verdict::kEquivalent;
  EXPECT_EQ(AlthoughSentence(comparison),
            "Equivalent, although OMP_NUM_THREADS was set to 4, and 3 more facts changed.");
  comparison.verdict = Verdict::kDrifted;
  EXPECT_EQ(AlthoughSentence(comparison), "");
}

TEST(Although, IsAFindingThatDoesNotDecide) {
  Comparison comparison;
  comparison.verdict = Verdict::kIdentical;
  NoteAlthough(&comparison);
  EXPECT_TRUE(comparison.findings.empty());
  Differ(&comparison, Layer::kEnvironment, "library.libz.so.1", "/a/libz.so.1, build id ab",
         "/b/libz.so.1, build id ab");
  NoteAlthough(&comparison);
  EXPECT_TRUE(comparison.findings.empty()) << "the same build from another place";
  Differ(&comparison, Layer::kHardware, "gpu.driver", "570", "580");
  NoteAlthough(&comparison);
  ASSERT_EQ(comparison.findings.size(), 1u);
  EXPECT_EQ(comparison.findings[0].code, "facts_changed");
  EXPECT_EQ(comparison.findings[0].message,
            "Identical, although the GPU driver went from 570 to 580.");
  EXPECT_FALSE(comparison.findings[0].decisive);
}

RerunOutputs Output(int rerun, const std::string& group, const std::string& weights) {
  return {.rerun = rerun, .group = group, .digests = {{"weights w", weights}, {"metric m", "1"}}};
}

TEST(Reruns, ThatDifferAmongThemselvesAreFound) {
  EXPECT_TRUE(DifferAmongReruns({}).empty());
  EXPECT_TRUE(DifferAmongReruns({Output(1, "h", "a")}).empty());
  EXPECT_TRUE(DifferAmongReruns({Output(1, "h", "a"), Output(2, "h", "a")}).empty());
  EXPECT_TRUE(DifferAmongReruns({Output(1, "h", "a"), Output(2, "other machine", "b")}).empty());
  RerunOutputs lacking{.rerun = 4, .group = "h", .digests = {}};
  const auto differences =
      DifferAmongReruns({Output(1, "h", "a"), Output(2, "h", "b"), Output(3, "h", "a"), lacking});
  ASSERT_EQ(differences.size(), 1u);
  EXPECT_EQ(differences[0].subject, "weights w");
  EXPECT_EQ(differences[0].reruns, 3);
  EXPECT_EQ(differences[0].ways, 2);
}

TEST(Reruns, ThatDifferAmongNodesNameTheNodes) {
  const auto on = [](int rerun, const char* node, const char* digest) {
    RerunOutputs output = Output(rerun, "h", digest);
    output.node = node;
    return output;
  };
  EXPECT_EQ(DifferAmongReruns({on(1, "n1", "b"), on(2, "n2", "a"), on(3, "n3", "b")})[0].nodes,
            "n1, n3 | n2");
  // On one node it is not the node.
  EXPECT_EQ(DifferAmongReruns({on(1, "n1", "a"), on(2, "n1", "b")})[0].nodes, "");
  EXPECT_EQ(DifferAmongReruns({on(1, "", "a"), on(2, "n1", "b")})[0].nodes, "");
  std::vector<RerunOutputs> many = {on(1, "odd", "a")};
  for (int i = 0; i < 100; ++i) many.push_back(on(i, ("n" + std::to_string(i)).c_str(), "b"));
  EXPECT_NE(DifferAmongReruns(many)[0].nodes.find("and 92 more | odd"), std::string::npos);
  Comparison comparison;
  comparison.verdict = Verdict::kDrifted;
  comparison.declared_bitwise = true;
  AddRerunsCause({on(1, "n1", "a"), on(2, "n2", "b")}, &comparison);
  ASSERT_EQ(comparison.causes.size(), 1u);
  EXPECT_NE(comparison.causes[0].statement.find("nodes (n1 | n2)"), std::string::npos);
}

TEST(Reruns, ThatDifferAmongThemselvesAreNamedBeforeTheEnvironment) {
  Comparison comparison;
  comparison.verdict = Verdict::kDrifted;
  comparison.declared_bitwise = true;
  Differ(&comparison, Layer::kData, "data.x.sha256", "a", "b", FactWeight::kIdentity);
  Differ(&comparison, Layer::kEnvironment, "image.digest", "a", "b", FactWeight::kIdentity);
  Differ(&comparison, Layer::kEnvironment, "variable.OMP_NUM_THREADS", "1", "2");
  const std::vector<RerunOutputs> reruns = {Output(1, "h", "a"), Output(2, "h", "b")};
  comparison.causes = Explain(comparison, {}, {});
  AddRerunsCause(reruns, &comparison);
  EXPECT_EQ(CodesOf(comparison.causes),
            (Codes{"data_changed", "reruns_differ", "image_changed", "variable_changed"}));
  ASSERT_EQ(comparison.findings.size(), 1u);
  EXPECT_EQ(comparison.findings[0].code, "reruns_differ");
  EXPECT_NE(comparison.findings[0].message.find("a seed that is not passed on"), std::string::npos);
  Comparison spread;  // of a statistical run, whose shift was tested against it
  spread.verdict = Verdict::kDrifted;
  AddRerunsCause(reruns, &spread);
  EXPECT_TRUE(spread.causes.empty());
  EXPECT_EQ(spread.findings.size(), 1u) << "it is told all the same";
  Comparison agreeing;
  AddRerunsCause({Output(1, "h", "a"), Output(2, "h", "a")}, &agreeing);
  EXPECT_TRUE(agreeing.causes.empty() && agreeing.findings.empty());
}

}  // namespace
}  // namespace rharness
