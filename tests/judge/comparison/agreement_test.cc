// `drill` and `compare` of one record and its rerun: one verdict, whatever changed.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <iterator>

#include "compare/items/kept_items.h"
#include "harness/base/digest.h"
#include "harness/base/files.h"
#include "harness/judge/compare_rerun.h"
#include "harness/judge/comparison/compare_subjects.h"
#include "harness/judge/judge_family.h"
#include "harness/judge/judge_siblings.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

// A rerun that saw and made what was recorded.
Evidence RerunOf(const Manifest& manifest) {
  Evidence evidence;
  evidence.run_id = manifest.run_id;
  evidence.rerun = 1;
  evidence.started = evidence.ended = manifest.started;
  evidence.outcome.kind = OutcomeKind::kExited;
  evidence.environment = manifest.environment;
  evidence.image_digest = manifest.image.digest;
  evidence.code_commit = manifest.code.commit;
  evidence.code_files = manifest.code.files;
  evidence.data = manifest.data;
  evidence.seeds = manifest.seeds;
  evidence.artifacts = manifest.artifacts;
  for (Artifact& artifact : evidence.artifacts) artifact.location.clear();
  for (const Metric& metric : manifest.metrics) {
    evidence.metrics.metrics[metric.name] = metric.value;
  }
  evidence.metrics.curves = manifest.curves;
  return evidence;
}

struct Change {
  std::string name;
  std::function<void(Manifest*, Evidence*)> make;
};

void ScaleCurves(double factor, Evidence* evidence) {
  for (Curve& curve : evidence->metrics.curves) {
    for (double& value : curve.values) value *= factor;
  }
}

void OtherWeights(Evidence* evidence) {
  for (Artifact& artifact : evidence->artifacts) {
    artifact.tensor_digest = artifact.sha256 = std::string(64, 'e');
    artifact.tensors.clear();
  }
}

void MoveMetrics(double margins, const Manifest& manifest, Evidence* evidence) {
  for (const Metric& metric : manifest.metrics) {
    evidence->metrics.metrics[metric.name] += margins * metric.margin.value_or(0.01);
  }
}

void AddOutput(const std::string& role, char seen, Manifest* manifest, Evidence* evidence) {
  Artifact file{.role = role, .path = "model.pkl", .sha256 = std::string(64, 'a')};
  manifest->artifacts.push_back(file);
  file.sha256 = std::string(64, seen);
  evidence->artifacts.push_back(file);
}

std::vector<Change> Changes() {
  return {
      {"nothing", [](Manifest*, Evidence*) {}},
      {"other weights alone", [](Manifest*, Evidence* e) { OtherWeights(e); }},
      {"rounding",
       [](Manifest*, Evidence* e) {
         OtherWeights(e);
         ScaleCurves(1.0 + 1e-9, e);
       }},
      {"a loss off by a hundredth beside equal metrics",
       [](Manifest*, Evidence* e) {
         OtherWeights(e);
         ScaleCurves(1.02, e);
       }},
      {"a secondary metric that moved beside a loss that is a little off",
       [](Manifest* m, Evidence* e) {
         OtherWeights(e);
         ScaleCurves(1.02, e);
         MoveMetrics(0.5, *m, e);
         m->metrics.push_back({.name = "mse", .value = 1.0});
         e->metrics.metrics["mse"] = 1.5;
       }},
      {"a loss grossly off beside metrics within their margins",
       [](Manifest* m, Evidence* e) {
         OtherWeights(e);
         ScaleCurves(1.4, e);
         MoveMetrics(0.5, *m, e);
       }},
      {"metrics within their margins",
       [](Manifest* m, Evidence* e) {
         OtherWeights(e);
         MoveMetrics(0.5, *m, e);
       }},
      {"metrics next to their records",
       [](Manifest* m, Evidence* e) {
         OtherWeights(e);
         MoveMetrics(1e-6, *m, e);
       }},
      {"metrics beyond their margins",
       [](Manifest* m, Evidence* e) {
         OtherWeights(e);
         ScaleCurves(1.4, e);
         MoveMetrics(3.0, *m, e);
       }},
      {"the same file", [](Manifest* m, Evidence* e) { AddOutput("other", 'a', m, e); }},
      {"another file", [](Manifest* m, Evidence* e) { AddOutput("other", 'b', m, e); }},
      {"another log", [](Manifest* m, Evidence* e) { AddOutput("log", 'b', m, e); }},
      {"no file",
       [](Manifest* m, Evidence* e) {
         AddOutput("other", 'b', m, e);
         e->artifacts.pop_back();
       }},
  };
}

// A rerun that did not end well.
std::vector<Change> Ends() {
  return {
      {"an obstacle of this machine", [](Manifest*, Evidence* e) { e->obstacle = "no registry"; }},
      {"an obstacle of the code",
       [](Manifest*, Evidence* e) {
         e->obstacle = "no such commit";
         e->obstacle_layer = Layer::kCode;
       }},
      {"a failed run", [](Manifest*, Evidence* e) { e->outcome.exit_code = 1; }},
      {"a failed run on other data",
       [](Manifest*, Evidence* e) {
         e->outcome.exit_code = 1;
         e->data.at(0).sha256 = std::string(64, 'f');
       }},
      {"an output that is missing",
       [](Manifest*, Evidence* e) { e->remarks.push_back({.code = "output_missing"}); }},
      {"data that changed under the run",
       [](Manifest*, Evidence* e) {
         e->remarks.push_back({.code = "data_changed_during_run", .layer = Layer::kData});
       }},
  };
}

// Of this run alone, with the confirming rerun that a drill makes: training repeats itself here.
Verdict DrillVerdict(const Manifest& manifest, Evidence evidence,
                     const fs::path& drill_folder = "/nowhere") {
  RunState state;
  state.manifest = manifest;
  std::vector<std::string> damage;
  for (const int rerun : {1, 2}) {
    evidence.rerun = rerun;
    state.evidence[rerun] = evidence;
    state.reruns.emplace(
        rerun, CompareRerun(manifest, evidence, {.root = drill_folder}, drill_folder, &damage));
  }
  MergeAndJudgeSiblings({&state});
  JudgeTogether({&state}, Family({manifest}));
  return state.comparison.verdict;
}

Result<Comparison> Compared(const Manifest& manifest, const Evidence& evidence,
                            const fs::path& folder) {
  const fs::path a = folder / "manifest.json", b = folder / "evidence.json";
  RETURN_IF_ERROR(WriteFileAtomic(a, ToJson(manifest).Dump()));
  RETURN_IF_ERROR(WriteFileAtomic(b, ToJson(evidence).Dump()));
  ASSIGN_OR_RETURN(const Subject subject_a, LoadSubject(a, {.root = folder}));
  ASSIGN_OR_RETURN(const Subject subject_b, LoadSubject(b, {}));
  return CompareSubjects(subject_a, subject_b, {}, {});
}

TEST(DrillAndCompare, GiveOneVerdictOfARecordAndItsRerun) {
  const fs::path folder = fs::path(testing::TempDir()) / "drill_and_compare";
  fs::create_directories(folder);
  const fs::path scenarios = fs::path(RHARNESS_SOURCE_DIR) / "scenarios";
  std::vector<Change> changes = Changes();
  std::ranges::move(Ends(), std::back_inserter(changes));
  int records = 0;
  std::map<Verdict, int> seen;
  for (const char* scenario : {"digits_blas", "digits_portable", "digits_torch"}) {
    for (const auto& entry : fs::directory_iterator(scenarios / scenario / "history")) {
      if (entry.path().extension() != ".json") continue;
      const auto recorded = LoadManifest(entry.path());
      ASSERT_TRUE(recorded.ok()) << recorded.error().ToString();
      ++records;
      for (const Change& change : changes) {
        Manifest manifest = *recorded;
        Evidence evidence = RerunOf(manifest);
        change.make(&manifest, &evidence);
        const auto compared = Compared(manifest, evidence, folder);
        ASSERT_TRUE(compared.ok()) << compared.error().ToString();
        EXPECT_EQ(VerdictName(DrillVerdict(manifest, evidence)), VerdictName(compared->verdict))
            << manifest.run_id << ", " << change.name << ": " << compared->headline;
        ++seen[compared->verdict];
      }
    }
  }
  fs::remove_all(folder);
  EXPECT_GE(records, 20);
  for (const Verdict verdict :
       {Verdict::kIdentical, Verdict::kEquivalent, Verdict::kDrifted, Verdict::kInconclusive,
        Verdict::kNotComparable, Verdict::kFailed, Verdict::kInfra}) {
    EXPECT_GT(seen[verdict], 0) << VerdictName(verdict);
  }
}

// An evaluation of 1,000 items, every second one right but for those that are flipped.
std::string ItemsText(int to_right, int to_wrong, const std::string& prompt) {
  EvalItems items;
  for (int i = 0; i < 1000; ++i) {
    bool right = i % 2 == 0;
    if (!right && i / 2 < to_right) right = true;
    if (i % 2 == 0 && i / 2 < to_wrong) right = false;
    EvalItem& item = items.tasks["sums"][std::to_string(i)];
    item.scores["acc"] = right ? 1.0 : 0.0;
    item.prompt = prompt;
  }
  return KeptTextOf(items);
}

TEST(DrillAndCompare, GiveOneVerdictOnItems) {
  const ScopedTempDir folder = ScopedTempDir::Make().value();
  const auto keep = [&](const std::string& name, const std::string& text, Artifact* artifact) {
    EXPECT_TRUE(MakeDirectories((folder.path() / name).parent_path()).ok());
    EXPECT_TRUE(WriteFileAtomic(folder.path() / name, text).ok());
    artifact->sha256 = Sha256HexOf(text);
    artifact->location = name;
  };
  struct Case {
    const char* name;
    std::string items;
    bool lost;
    Verdict verdict;
  };
  const std::vector<Case> cases = {
      {"equal items", ItemsText(0, 0, "p"), false, Verdict::kIdentical},
      {"equal items that are not kept", ItemsText(0, 0, "p"), true, Verdict::kIdentical},
      {"as many lost as won", ItemsText(3, 3, "p"), false, Verdict::kEquivalent},
      {"more lost than won", ItemsText(0, 30, "p"), false, Verdict::kDrifted},
      {"flips that show nothing", ItemsText(15, 25, "p"), false, Verdict::kInconclusive},
      {"other prompts", ItemsText(0, 0, "q"), false, Verdict::kNotComparable},
      {"other items that are not kept", ItemsText(3, 3, "p"), true, Verdict::kInconclusive},
  };
  auto recorded = LoadManifest(fs::path(RHARNESS_SOURCE_DIR) / "scenarios/digits_portable/history" /
                               "digits_portable-01.json");
  ASSERT_TRUE(recorded.ok()) << recorded.error().ToString();
  recorded->determinism.declared = "statistical";
  recorded->curves.clear();
  recorded->metrics = {{.name = "sums/acc", .value = 0.5, .primary = true, .margin = 0.02}};
  recorded->artifacts = {{.role = std::string(kItemsRole), .path = "out"}};
  keep("kept.jsonl", ItemsText(0, 0, "p"), &recorded->artifacts[0]);
  for (const Case& one : cases) {
    Evidence evidence = RerunOf(*recorded);
    keep("artifacts/out.items.jsonl", one.items, &evidence.artifacts[0]);
    if (one.lost) evidence.artifacts[0].location.clear();
    const auto compared = Compared(*recorded, evidence, folder.path());
    ASSERT_TRUE(compared.ok()) << compared.error().ToString();
    EXPECT_EQ(VerdictName(compared->verdict), VerdictName(one.verdict))
        << one.name << ": " << compared->headline << "\n"
        << fmt::format("{}", fmt::join(compared->notes, "\n"));
    EXPECT_EQ(VerdictName(DrillVerdict(*recorded, evidence, folder.path())),
              VerdictName(one.verdict))
        << one.name;
  }
}

}  // namespace
}  // namespace rharness
