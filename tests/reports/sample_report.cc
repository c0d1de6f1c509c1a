// Reports for the tests; see sample_report.h.
#include "tests/reports/sample_report.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <numeric>

namespace rharness {
namespace {

using Values = std::vector<double>;

WallTime At(std::string_view text) { return *ParseTime(text); }

double Mean(const Values& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

MetricDecision Metric(std::string name, std::string unit, MetricVerdict verdict, Values history,
                      Values reruns, double margin, double deviation, double quantile) {
  MetricDecision metric;
  metric.name = std::move(name);
  metric.unit = std::move(unit);
  metric.verdict = verdict;
  metric.mean_history = Mean(history);
  metric.difference = Mean(reruns) - metric.mean_history;
  metric.standard_deviation = deviation;
  const auto n = static_cast<double>(history.size());
  const auto k = static_cast<double>(reruns.size());
  metric.standard_error = deviation * std::sqrt(1 / n + 1 / k);
  metric.df = 8 + n + k - 2;
  metric.t = metric.difference / metric.standard_error;
  metric.p_difference = std::exp(-std::fabs(metric.t) * 1.2);
  metric.ci_low = metric.difference - quantile * metric.standard_error;
  metric.ci_high = metric.difference + quantile * metric.standard_error;
  metric.margin = margin;
  metric.variance_basis = "pooled";
  metric.power = 0.91;
  metric.minimum_detectable = 3.9 * metric.standard_error;
  metric.history = std::move(history);
  metric.reruns = std::move(reruns);
  return metric;
}

FactDifference Changed(Layer layer, std::string key, FactWeight weight, std::string recorded,
                       std::string observed) {
  return {layer, std::move(key), weight, std::move(recorded), std::move(observed)};
}

FactDifference DriverChange() {
  return Changed(Layer::kEnvironment, "driver.version", FactWeight::kContext, "580.65.06",
                 "590.12.01");
}

void SetLayers(ReportRun* run) {
  constexpr std::array<int, 5> kCompared = {2, 3, 14, 6, 4};
  for (std::size_t i = 0; i < 5; ++i) {
    run->layers[i].layer = kLayers[i];
    run->layers[i].state = LayerState::kSame;
    run->layers[i].compared = kCompared[i];
  }
}

void AddDifference(ReportRun* run, FactDifference difference) {
  LayerComparison& layer = run->layers[static_cast<std::size_t>(difference.layer)];
  layer.state = LayerState::kDiffers;
  layer.differences.push_back(std::move(difference));
}

void AddReruns(ReportRun* run, int count, double seconds) {
  for (int i = 1; i <= count; ++i) {
    ReportRerun rerun;
    rerun.index = i;
    rerun.outcome = "exited with 0";
    rerun.wall_seconds = seconds + 0.31 * i;
    rerun.cpu_seconds = 1.8 * seconds;
    rerun.peak_memory_bytes = 734'003'200;
    rerun.state = RerunEnd::State::kCompared;
    rerun.evidence_path = fmt::format("runs/{}/rerun-{}", run->run_id, i);
    rerun.stderr_path = rerun.evidence_path + "/stderr.log";
    run->reruns.push_back(std::move(rerun));
  }
}

ReportRun Run(std::string id, std::string family, Verdict verdict, std::string headline) {
  ReportRun run;
  run.run_id = std::move(id);
  run.family = std::move(family);
  run.verdict = verdict;
  run.declared = "statistical";
  run.headline = std::move(headline);
  run.recorded = At("2026-08-14T02:17:44.120Z");
  run.recorded_seconds = 41.2;
  SetLayers(&run);
  return run;
}

ExactComparison EqualWeights() {
  return {"weights model.safetensors", ExactComparison::State::kEqual, ComparedBy::kTensors, "",
          "6 tensors, 101,770 values"};
}

ReportRun Identical(std::string id, std::string family) {
  ReportRun run = Run(std::move(id), std::move(family), Verdict::kIdentical,
                      "Every tensor, curve and metric is equal bit for bit.");
  run.declared = "bitwise";
  run.exact = {
      EqualWeights(),
      {"curve train_loss", ExactComparison::State::kEqual, ComparedBy::kValues, "", "200 steps"}};
  AddReruns(&run, 2, 40.8);
  return run;
}

ReportRun Equivalent() {
  ReportRun run = Run("digits-cnn/2026-08-14/seed-5", "digits-cnn", Verdict::kEquivalent,
                      "test_accuracy and train_loss lie within their margins.");
  run.metrics = {
      Metric("test_accuracy", "fraction", MetricVerdict::kWithin,
             {0.9712, 0.9734, 0.9701, 0.9722, 0.9718}, {0.9709, 0.9725, 0.9716}, 0.008, 0.0016,
             1.8),
      Metric("train_loss", "nats", MetricVerdict::kWithin, {0.0912, 0.0897, 0.0921, 0.0904, 0.0915},
             {0.0909, 0.0918, 0.0902}, 0.006, 0.0011, 1.8)};
  AddDifference(&run, DriverChange());
  AddReruns(&run, 3, 62.0);
  return run;
}

ReportRun DeterminismViolation() {
  ReportRun run = Run("digits-mlp/2026-08-14/seed-3", "digits-mlp", Verdict::kDrifted,
                      "Declared bitwise, but fc1.weight differs from step 17 on.");
  run.declared = "bitwise";
  TensorDifference tensor{"fc1.weight", DType::kF32, {128, 784}, 100'352, 88'213, 5,
                          3.73e-6,      41,          0};
  run.exact = {
      {"weights model.safetensors", ExactComparison::State::kDiffers, ComparedBy::kTensors,
       "tensor fc1.weight", "2 of 6 tensors differ", std::make_shared<TensorDifference>(tensor)},
      {"curve train_loss", ExactComparison::State::kDiffers, ComparedBy::kValues, "step 17",
       "recorded 0.41877103, now 0.41877106"},
      {"metric test_accuracy", ExactComparison::State::kEqual, ComparedBy::kValues, "",
       "0.9708 on both sides"}};
  CheckpointComparison weights{.subject = "weights model.safetensors"};
  weights.difference.compared = 6;
  weights.difference.elements = 101'770;
  weights.difference.differing = {tensor};
  weights.digest_a = std::string(64, 'a');
  weights.digest_b = std::string(64, 'b');
  run.checkpoints = {weights};
  CurveComparison curve{
      .name = "train_loss", .kind = CurveKind::kLoss, .state = CurveState::kUndecided};
  curve.basis = "none";
  for (int i = 0; i < 20; ++i) {
    curve.steps.push_back(i + 1);
    curve.a.push_back(2.3 / (1 + i));
    curve.b.push_back(2.3 / (1 + i) + (i < 16 ? 0.0 : 3e-8));
  }
  curve.differing = 4;
  curve.first_difference = 17;
  curve.max_rel = 2.6e-7;
  curve.max_abs = 3e-8;
  curve.max_step = 20;
  curve.message = "train_loss differs from step 17 on";
  run.curves = {curve};
  run.causes = {{.code = "driver_changed",
                 .layer = Layer::kEnvironment,
                 .strength = Strength::kLikely,
                 .statement = "The driver changed between the recording and now.",
                 .evidence = {"driver.version: 580.65.06 recorded, 590.12.01 now"},
                 .confirm = "rerun with the recorded driver"}};
  run.notes = {"the original is compared by its bytes"};
  run.comparison_path = "runs/seed-3/comparison.html";
  run.findings = {
      {"determinism_violation", Layer::kEnvironment, "tensor fc1.weight",
       "88,213 of 100,352 elements differ", "0 elements",
       "a run declared bitwise must be equal bit for bit",
       "Two reruns agree with each other and differ from the recording in the same bits.", true},
      {"detectable_shift", std::nullopt, "metric test_accuracy", "0", "±0.005",
       "equivalence at α = 0.05", "The accuracy itself has not moved.", false}};
  AddDifference(&run, DriverChange());
  AddDifference(&run, Changed(Layer::kEnvironment, "library.cublas", FactWeight::kContext,
                              "13.0.2.14", "13.1.0.3"));
  AddReruns(&run, 2, 40.6);
  return run;
}

ReportRun Shifted(std::string id, double shift) {
  ReportRun run = Run(std::move(id), "lm-small", Verdict::kDrifted,
                      fmt::format("val_loss rose by {:.3f}, more than its margin of 0.02.", shift));
  run.metrics = {Metric("val_loss", "nats per token", MetricVerdict::kDrifted,
                        {3.412, 3.405, 3.421, 3.409, 3.416, 3.411},
                        {3.411 + shift, 3.418 + shift, 3.409 + shift}, 0.02, 0.0058, 1.8),
                 Metric("tokens_per_second", "tokens/s", MetricVerdict::kWithin,
                        {48120, 47890, 48310, 48055}, {48202, 48011, 48148}, 1500, 170, 1.8)};
  run.metrics[0].reason = "detectable_shift,material";
  run.metrics[1].primary = false;
  run.findings = {{"mean_shift", std::nullopt, "metric val_loss", fmt::format("+{:.4f}", shift),
                   "±0.02", "|t| test at α = 0.01, not equivalent at α = 0.05",
                   "The mean of the reruns lies outside the margin around the recorded mean.",
                   true}};
  AddDifference(&run, DriverChange());
  run.layers[4].state = LayerState::kUnknown;
  run.layers[3].only_recorded = 2;
  run.recorded_seconds = 5410;
  AddReruns(&run, 3, 5480);
  return run;
}

ReportRun Inconclusive() {
  ReportRun run = Run("digits-cnn/2026-09-02/seed-11", "digits-cnn", Verdict::kInconclusive,
                      "One rerun cannot show test_accuracy within its margin; 2 more would.");
  run.metrics = {Metric("test_accuracy", "fraction", MetricVerdict::kInconclusive,
                        {0.9712, 0.9734, 0.9701}, {0.9668}, 0.008, 0.0019, 2.2)};
  run.metrics[0].more_reruns = 2;
  run.metrics[0].power = 0.44;
  run.more_reruns = 2;
  run.findings = {{"not_shown", std::nullopt, "metric test_accuracy", "interval reaches −0.0096",
                   "±0.008", "equivalence at α = 0.025 for one rerun",
                   "The interval of the difference reaches beyond the margin on one side.", true}};
  AddReruns(&run, 1, 61.0);
  return run;
}

ReportRun NotComparable() {
  ReportRun run = Run("tabular-gbdt/2026-07-30", "tabular-gbdt", Verdict::kNotComparable,
                      "The data are not the recorded ones: train.parquet has another SHA-256.");
  run.findings = {{"data_changed", Layer::kData, "data train.parquet", "9b1c…e07a", "4f72…11d3",
                   "identity facts must be the recorded ones",
                   "train.parquet was rewritten on 2026-11-02.", true}};
  AddDifference(&run, Changed(Layer::kData, "data.train.sha256", FactWeight::kIdentity,
                              "4f72c8a09d3f5f6e1b7f5f5f0e2a8a4c6b0d9e8f7a6b5c4d3e2f1a0b9c8d11d3",
                              "9b1c7e5a3f2d1c0b9a8f7e6d5c4b3a2f1e0d9c8b7a6f5e4d3c2b1a0f9e8de07a"));
  run.layers[3].state = LayerState::kUnknown;
  return run;
}

ReportRun Failed() {
  ReportRun run = Run("lm-small/2026-09-21/seed-2", "lm-small", Verdict::kFailed,
                      "The rerun ended with exit code 1 after 12 s, in both attempts.");
  AddReruns(&run, 2, 12.0);
  for (ReportRerun& rerun : run.reruns) {
    rerun.outcome = "exited with 1";
    rerun.state = RerunEnd::State::kFailed;
    rerun.reason = "The program ended with exit code 1 before its first step.";
    rerun.stderr_tail =
        "Traceback (most recent call last):\n  File \"/src/train.py\", line 88, in <module>\n"
        "    main()\n  File \"/src/train.py\", line 61, in main\n    model.to(device)\n"
        "RuntimeError: CUDA error: no kernel image is available for execution on the device\n";
  }
  run.findings = {{"run_failed", Layer::kEnvironment, "rerun 1", "exited with 1", "exited with 0",
                   "a run that does not end has nothing to compare",
                   "Both reruns ended with exit code 1.", true}};
  AddDifference(&run, DriverChange());
  return run;
}

ReportRun Infra() {
  ReportRun run = Run("vision-vit/2026-06-01/seed-1", "vision-vit", Verdict::kInfra,
                      "The image could not be pulled: the registry answered 503 four times.");
  for (auto& layer : run.layers) {
    layer.state = LayerState::kUnknown;
    layer.compared = 0;
  }
  AddReruns(&run, 1, 0.0);
  run.reruns[0].outcome = "not started";
  run.reruns[0].state = RerunEnd::State::kInfra;
  run.reruns[0].reason = "Pulling registry.example.com/vit@sha256:77aa… failed: 503.";
  run.reruns[0].peak_memory_bytes = 0;
  return run;
}

// What a run declares is what is expected of it.
void Promise(Report* report) {
  for (ReportRun& run : report->runs) {
    run.is_rerun = true;
    run.expect_bitwise = run.declared_bitwise = run.declared == "bitwise";
  }
}

}  // namespace

Report SampleReport() {
  Report report;
  report.title = "Drill of 12 runs";
  report.drill_id = "nightly-2026-11-20";
  report.version = "0.1.0";
  report.started = At("2026-11-20T01:00:04.250Z");
  report.ended = At("2026-11-20T06:41:37.900Z");
  report.history = "postgresql://ci-db.example.com/rharness";
  report.selection = "tag:golden and age < 180d";
  report.launcher = "podman";
  report.executor = "local";
  report.host = "gpu-07: 2 × EPYC 9354, 4 × H200 (driver 590.12.01), Debian 12";
  report.notes = {"The driver of this host changed from 580.65.06 to 590.12.01 on 2026-11-18."};
  report.runs = {Identical("digits-mlp/2026-08-14/seed-1", "digits-mlp"),
                 Identical("digits-mlp/2026-08-14/seed-2", "digits-mlp"),
                 DeterminismViolation(),
                 Equivalent(),
                 Inconclusive(),
                 Shifted("lm-small/2026-09-21/seed-0", 0.061),
                 Shifted("lm-small/2026-09-21/seed-1-with-a-rather-long-name-of-its-own", 0.055),
                 Failed(),
                 NotComparable(),
                 Infra(),
                 Identical("order-stats/2026-10-01", "order-stats"),
                 Identical("order-stats/2026-10-02", "order-stats")};
  const std::string found = "a learning rate 5 % lower would have been found in 93 % (84-98) of 60";
  report.runs[3].sensitivity = found;
  report.sensitivity = {{.family = "digits-mlp",
                         .configuration = std::string(64, 'c'),
                         .source = "game day of 2026-11-01",
                         .sentences = {found, "a lost seed would have been found in all"},
                         .stale = ""},
                        {.family = "lm-small",
                         .configuration = std::string(64, 'd'),
                         .source = "game day of 2026-10-01",
                         .sentences = {},
                         .stale = "it is of rharness 0.0.9"}};
  Promise(&report);
  Tally(&report);
  return report;
}

Report LargeReport(int runs, int drifted_every) {
  Report report;
  report.title = fmt::format("Drill of {} runs", runs);
  report.version = "0.1.0";
  report.started = At("2026-11-20T01:00:00Z");
  report.ended = At("2026-11-20T07:00:00Z");
  for (int i = 0; i < runs; ++i) {
    const bool drifted = drifted_every > 0 && i % drifted_every == 0;
    ReportRun run = drifted ? DeterminismViolation() : Identical("", "digits-mlp");
    run.run_id = fmt::format("digits-mlp/2026-08-14/seed-{}", i);
    report.runs.push_back(std::move(run));
  }
  Promise(&report);
  Tally(&report);
  return report;
}

Report EmptyReport() {
  Report report;
  report.title = "Drill of 0 runs";
  report.version = "0.1.0";
  report.selection = "tag:nothing";
  Tally(&report);
  return report;
}

Report HostileReport(const std::string& text) {
  Report report = SampleReport();
  report.title = report.drill_id = report.version = report.history = text;
  report.selection = report.launcher = report.executor = report.host = text;
  report.notes = {text, text};
  for (ReportSensitivity& sensitivity : report.sensitivity) {
    sensitivity.family = sensitivity.configuration = sensitivity.source = text;
    sensitivity.stale = text;
    sensitivity.sentences = {text};
  }
  for (ReportRun& run : report.runs) {
    run.run_id = run.family = run.declared = run.headline = text;
    run.notes = {text};
    run.comparison_path = run.sensitivity = text;
    for (Finding& f : run.findings) {
      f.code = f.subject = f.observed = f.limit = f.rule = f.message = text;
    }
    for (LayerComparison& layer : run.layers) {
      for (FactDifference& difference : layer.differences) {
        difference.key = text;
        difference.recorded = difference.observed = text;
      }
    }
    for (ExactComparison& exact : run.exact) {
      exact.subject = exact.first_difference = exact.detail = text;
      if (exact.tensor) exact.tensor = std::make_shared<TensorDifference>(TensorDifference{text});
    }
    for (MetricDecision& metric : run.metrics) {
      metric.name = metric.unit = metric.reason = metric.variance_basis = text;
      metric.reruns.push_back(std::numeric_limits<double>::quiet_NaN());
    }
    for (Cause& cause : run.causes) {
      cause.code = cause.statement = cause.confirm = text;
      cause.evidence = {text};
    }
    for (CheckpointComparison& checkpoint : run.checkpoints) {
      checkpoint.subject = checkpoint.digest_a = text;
      checkpoint.difference.differing[0].name = text;
    }
    for (CurveComparison& curve : run.curves) {
      curve.name = curve.message = curve.rule = curve.basis = text;
    }
    for (ReportRerun& rerun : run.reruns) {
      rerun.stdout_path = rerun.stderr_path = text;
      rerun.outcome = rerun.reason = rerun.evidence_path = rerun.stderr_tail = text;
    }
  }
  return report;
}

}  // namespace rharness
