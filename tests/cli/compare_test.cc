// `rharness compare` as a user meets it: the real program, its output and its exit codes.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "harness/base/files.h"
#include "tests/cli/compare_verb.h"
#include "tests/shared_data.h"

namespace rharness {
namespace {

TEST_F(CompareVerb, FindsTheSameTensorsIdenticalWhateverTheMetadata) {
  const std::string a = WriteWeights("a.safetensors", {1, 2, 3, 4});
  const std::string b =
      WriteWeights("b.safetensors", {1, 2, 3, 4}, R"("__metadata__":{"time":"now"},)");
  const ProcessResult result = Compare({a, b});
  EXPECT_EQ(result.outcome.exit_code, 0) << result.stderr_text;
  EXPECT_NE(result.stdout_text.find("identical"), std::string::npos) << result.stdout_text;
}

TEST_F(CompareVerb, NamesTensorIndexAndDistanceOfOneChangedBit) {
  const std::string a = WriteWeights("a.safetensors", {1, 2, 3, 4});
  const std::string b = WriteWeights("b.safetensors", {1, 2, std::nextafter(3.0f, 4.0f), 4});
  const Json json = CompareJson({a, b}, 1);
  EXPECT_EQ(json.Find("schema")->AsString(), "rharness.comparison/v1");
  EXPECT_EQ(json.Find("verdict")->AsString(), "drifted");
  EXPECT_TRUE(json.Find("causes")->AsArray().empty());  // one of four elements means nothing
  const std::string text = Compare({a, b}).stdout_text;
  EXPECT_NE(text.find("fc1.weight"), std::string::npos) << text;
  EXPECT_NE(text.find("1 ULP"), std::string::npos) << text;
}

TEST_F(CompareVerb, SaysNothingWhenQuietAndEqualAndOneLineWhenNot) {
  const std::string a = WriteWeights("a.safetensors", {1, 2, 3, 4});
  const std::string b = WriteWeights("b.safetensors", {1, 2, 3, 5});
  const ProcessResult same = Compare({a, a, "--quiet"});
  EXPECT_EQ(same.outcome.exit_code, 0);
  EXPECT_EQ(same.stdout_text + same.stderr_text, "");
  const ProcessResult other = Compare({a, b, "--quiet"});
  EXPECT_EQ(other.outcome.exit_code, 1);
  EXPECT_EQ(other.stdout_text, "");
  EXPECT_EQ(std::ranges::count(other.stderr_text, '\n'), 1) << other.stderr_text;
}

TEST_F(CompareVerb, LeavesOpenWhatStatisticsCannotDecide) {
  const std::string a = WriteWeights("a.safetensors", {1, 2, 3, 4});
  const std::string b = WriteWeights("b.safetensors", {1, 2, 3, 5});
  EXPECT_EQ(Compare({a, b, "--expect", "statistical"}).outcome.exit_code, 3);
}

TEST_F(CompareVerb, EndsWithTwoOnWhatItCannotRead) {
  const std::string a = WriteWeights("a.safetensors", {1, 2, 3, 4});
  for (const std::string& other : {At("missing"), Write("empty.json", ""),
                                   Write("noise.bin", "this is nothing that anyone compares"),
                                   Write("cut.safetensors", ReadFile(a)->substr(0, 40))}) {
    const ProcessResult result = Compare({a, other});
    EXPECT_EQ(result.outcome.exit_code, 2) << other;
    EXPECT_NE(result.stderr_text.find(other), std::string::npos) << result.stderr_text;
    EXPECT_EQ(result.stdout_text, "");
  }
  EXPECT_EQ(Compare({a}).outcome.exit_code, 2);
  EXPECT_EQ(Compare({}).outcome.exit_code, 2);
  EXPECT_EQ(Compare({a, a, "--pairs", At("")}).outcome.exit_code, 2);
}

TEST_F(CompareVerb, TellsAReorderedLossFromAFaultOfHalfAPercent) {
  const std::string a = WriteLoss("a.json", 0.0);
  EXPECT_EQ(Compare({a, WriteLoss("same.json", 0.0)}).outcome.exit_code, 0);
  const std::vector<std::string> replicates = {
      "--replicate", WriteLoss("r.json", 2e-5, 3), "--replicate", WriteLoss("s.json", -3e-5, 2),
      "--replicate", WriteLoss("t.json", 1e-5, 4), "--replicate", WriteLoss("u.json", -2e-5, 6)};
  std::vector<std::string> rounding = {a, WriteLoss("rounding.json", 3e-5, 5)};
  rounding.insert(rounding.end(), replicates.begin(), replicates.end());
  EXPECT_EQ(CompareJson(rounding, 0).Find("verdict")->AsString(), "equivalent");
  std::vector<std::string> fault = {a, WriteLoss("fault.json", 5e-3, 12)};
  fault.insert(fault.end(), replicates.begin(), replicates.end());
  const Json json = CompareJson(fault, 1);
  EXPECT_EQ(json.Find("verdict")->AsString(), "drifted");
  EXPECT_NE(json.Find("headline")->AsString().find("step 12"), std::string::npos)
      << json.Find("headline")->AsString();
}

TEST_F(CompareVerb, WritesEveryReportAndABundleThatHoldsThem) {
  const std::string a = WriteLoss("a.json", 0.0);
  const std::string b = WriteLoss("b.json", 0.5);
  const ProcessResult result =
      Compare({a, b, "--html", At("r/page.html"), "--junit", At("r/j.xml"), "--markdown",
               At("r/s.md"), "--json-file", At("r/c.json"), "--bundle", At("r/case.tar.zst")});
  for (const char* name : {"r/page.html", "r/j.xml", "r/s.md", "r/c.json", "r/case.tar.zst"}) {
    EXPECT_TRUE(std::filesystem::exists(At(name))) << name << result.stderr_text;
  }
  // The archive is one zstd frame and nothing after it, or tar would end with an error.
  const std::string bundle = *ReadFile(At("r/case.tar.zst"));
  EXPECT_TRUE(bundle.starts_with("\x28\xb5\x2f\xfd"));
  EXPECT_NE(bundle.back(), '\0');
  ProcessLimits limits;
  limits.timeout = std::chrono::seconds(60);
  const ProcessResult again = RunProcess(
      ProcessSpec{{kRharness, "report", At("r/c.json"), "--html", At("r/again.html")}, {}, "/"},
      limits);
  EXPECT_EQ(again.outcome.exit_code, 0) << again.stderr_text;
  EXPECT_EQ(*ReadFile(At("r/again.html")), *ReadFile(At("r/page.html")));
}

TEST_F(CompareVerb, RefusesABundleOfAnotherKind) {
  const std::string a = WriteLoss("a.json", 0.0);
  const ProcessResult result = Compare({a, a, "--bundle", At("case.zip")});
  EXPECT_EQ(result.outcome.exit_code, 2);
  EXPECT_NE(result.stderr_text.find(".tar.zst"), std::string::npos) << result.stderr_text;
}

TEST_F(CompareVerb, ComparesEveryPairAndKeepsTheUnreadableOneApart) {
  WriteLoss("pairs/good/before.json", 0.0);
  WriteLoss("pairs/good/after.json", 0.0);
  Write("pairs/bad/before.json", "");
  WriteLoss("pairs/bad/after.json", 0.0);
  WriteLoss("pairs/lonely/before.json", 0.0);
  const Json json = CompareJson({"--pairs", At("pairs")}, 3);
  EXPECT_EQ(json.Find("counts")->Find("identical")->ToInt64(), 1);
  EXPECT_EQ(json.Find("counts")->Find("not_comparable")->ToInt64(), 2);  // bad and lonely
}

TEST_F(CompareVerb, PairsTwoFoldersByTheNamesInThem) {
  WriteLoss("x/one.json", 0.0);
  WriteLoss("y/one.json", 0.0);
  WriteLoss("x/deep/two.json", 0.0);
  WriteLoss("y/deep/two.json", 0.0);
  const Json json = CompareJson({At("x"), At("y")}, 0);
  EXPECT_EQ(json.Find("comparisons")->AsArray().size(), 2u);
  EXPECT_EQ(Compare({At("x"), At("x/deep")}).outcome.exit_code, 2);
}

TEST_F(CompareVerb, TakesNoJsonOverSeveralLinesForJsonLines) {
  const std::string state = Write("state.json", "{\n  \"epoch\": 1.0,\n  \"best\": []\n}\n");
  const ProcessResult result = Compare({state, state});
  EXPECT_EQ(result.outcome.exit_code, 2);
  EXPECT_NE(result.stderr_text.find("is JSON without a schema of ours"), std::string::npos)
      << result.stderr_text;
}

TEST_F(CompareVerb, TakesTheHistoryOfATrainersStateForCurves) {
  const auto write = [&](const std::string& name, const std::string& last) {
    std::string entries;
    for (int step = 1; step <= 12; ++step) {
      entries += fmt::format("{{\"loss\": {}, \"step\": {}}}, ", 3.0 - 0.1 * step, step);
    }
    return Write(name, fmt::format("{{\"global_step\": 13, \"log_history\": [{}{{\"loss\": {}, "
                                   "\"step\": 13}}]}}",
                                   entries, last));
  };
  const std::string a = write("a.json", "1.7");
  EXPECT_EQ(Compare({a, write("b.json", "1.7")}).outcome.exit_code, 0);
  EXPECT_EQ(Compare({a, write("c.json", "9.0")}).outcome.exit_code, 1);
}

TEST_F(CompareVerb, ComparesEnvironmentsLayerByLayer) {
  const std::string a = Write("a.json", R"({"variables": {"OMP_NUM_THREADS": "1"},
      "software": {"cudnn": "9.1"}, "hardware": {}, "packages": {"python": {}, "dpkg": {}}})");
  const std::string b = Write("b.json", R"({"variables": {"OMP_NUM_THREADS": "2"},
      "software": {"cudnn": "9.2"}, "hardware": {}, "packages": {"python": {}, "dpkg": {}}})");
  EXPECT_EQ(Compare({a, a}).outcome.exit_code, 0);
  const Json json = CompareJson({a, b}, 1);
  EXPECT_EQ(json.Find("causes")->AsArray().size(), 2u);
}

TEST_F(CompareVerb, CallsNoEnvironmentTheSameOfWhichAPartWasNotRecorded) {
  const std::string before = Write("before.json", R"({"variables": {"OMP_NUM_THREADS": "1"},
      "software": {"glibc": "2.36"}, "hardware": {}})");
  const ProcessResult result = Compare({before, before});
  EXPECT_EQ(result.outcome.exit_code, 3);
  EXPECT_NE(result.stdout_text.find("environment not known: Python packages not recorded"),
            std::string::npos)
      << result.stdout_text;
}

TEST_F(CompareVerb, SaysOnGreenWhatChangedAllTheSame) {
  const auto with_numpy = [&](const std::string& name, const std::string& version) {
    return Write(name, R"({"metrics": {"loss": 0.5}, "software": {"numpy": ")" + version +
                           R"("}, "curves": {"loss": {"steps": [1, 2], "values": [1.0, 0.5]}}})");
  };
  const ProcessResult result =
      Compare({with_numpy("a.json", "1.26.4"), with_numpy("b.json", "2.4.6")});
  EXPECT_EQ(result.outcome.exit_code, 0) << result.stdout_text;
  EXPECT_NE(result.stdout_text.find("Identical, although numpy went from 1.26.4 to 2.4.6."),
            std::string::npos)
      << result.stdout_text;
}

TEST_F(CompareVerb, NeverPassesWhatOneSideAloneHas) {
  const std::string weights = BytesOf<float>({1, 2});
  const std::string full =
      Write("full.safetensors", FileOf({{"fc.weight", "F32", "[2]", weights},
                                        {"optimizer.state.0.exp_avg", "F32", "[2]", weights}}));
  const std::string bare =
      Write("bare.safetensors", FileOf({{"fc.weight", "F32", "[2]", weights}}));
  const std::string state =
      Write("state.safetensors", FileOf({{"optimizer.state.0.exp_avg", "F32", "[2]", weights}}));
  EXPECT_EQ(Compare({full, bare}).outcome.exit_code, 1);
  EXPECT_EQ(Compare({bare, full}).outcome.exit_code, 1);
  EXPECT_EQ(Compare({full, state}).outcome.exit_code, 1);
  EXPECT_EQ(Compare({full, bare, "--weights-only"}).outcome.exit_code, 0);
  // Folders: a file that is gone, and one that is new.
  WriteLoss("p/same.json", 0.0);
  WriteLoss("q/same.json", 0.0);
  EXPECT_EQ(Compare({At("p"), At("q")}).outcome.exit_code, 0);
  WriteLoss("p/gone.json", 0.0);
  EXPECT_EQ(Compare({At("p"), At("q")}).outcome.exit_code, 3);
}

TEST_F(CompareVerb, DoesNotPassByAReplicateThatShowsNothing) {
  const std::string a = WriteLoss("a.json", 0.0);
  const std::string b = WriteLoss("b.json", 1.0, 5);
  std::string flat = "step,train loss\n";
  for (int step = 1; step <= 20; ++step) flat += std::to_string(step) + ",2.3\n";
  // So far off that it is drifted where no further run lies as far.
  EXPECT_EQ(Compare({a, b, "--replicate", b}).outcome.exit_code, 1);
  EXPECT_EQ(Compare({a, b, "--replicate", Write("flat.csv", flat)}).outcome.exit_code, 1);
  // A run as far away as the fault is a band too wide to show it.
  EXPECT_EQ(Compare({a, b, "--replicate", WriteLoss("far.json", -1.1, 5)}).outcome.exit_code, 3);
  EXPECT_EQ(
      Compare({a, b, "--replicate", WriteWeights("w.safetensors", {1, 2, 3, 4})}).outcome.exit_code,
      2);
}

TEST_F(CompareVerb, DoesNotPassALossThatStoppedBeingFiniteInA) {
  std::string a = "step,loss\n", b = a, replicate = a;
  for (int step = 1; step <= 40; ++step) {
    const double value = 3.0 - 0.01 * step;
    const std::string row = std::to_string(step) + ",";
    a += row + (step > 20 ? std::string("nan") : std::to_string(value)) + "\n";
    b += row + (step > 20 ? std::string("999") : std::to_string(value + 1e-6)) + "\n";
    replicate += row + std::to_string(value + 2e-6) + "\n";
  }
  EXPECT_EQ(
      Compare({Write("a.csv", a), Write("b.csv", b), "--replicate", Write("r.csv", replicate)})
          .outcome.exit_code,
      3);
}

TEST_F(CompareVerb, ComparesTheMetricsOfARunsOwnFile) {
  const std::string a = Write("a.json", R"({"metrics": {"accuracy": 0.97}})");
  const std::string b = Write("b.json", R"({"metrics": {"accuracy": 0.5}})");
  EXPECT_EQ(Compare({a, a}).outcome.exit_code, 0);
  EXPECT_EQ(Compare({a, b, "--expect", "bitwise"}).outcome.exit_code, 1);
  EXPECT_EQ(Compare({a, b}).outcome.exit_code, 3);
  // Half a unit of the sixth place is what a reordering does; a changed prediction is not.
  const std::string near = Write("c.json", R"({"metrics": {"accuracy": 0.9700005}})");
  EXPECT_EQ(Compare({a, near}).outcome.exit_code, 0);
  EXPECT_EQ(Compare({a, Write("d.json", R"({"metrics": {"accuracy": 0.971}})")}).outcome.exit_code,
            3);
  const std::string nan = Write("n.json", R"({"metrics": {"accuracy": "nan"}})");
  EXPECT_EQ(Compare({nan, nan}).outcome.exit_code, 3);
  EXPECT_EQ(Compare({a, nan}).outcome.exit_code, 1);
}

TEST_F(CompareVerb, NeverWritesOverWhatItCompares) {
  const std::string a = WriteWeights("a.safetensors", {1, 2, 3, 4});
  const std::string before = *ReadFile(a);
  for (const char* option : {"--html", "--json-file", "--junit", "--markdown"}) {
    EXPECT_EQ(Compare({a, a, option, a}).outcome.exit_code, 2) << option;
  }
  EXPECT_EQ(*ReadFile(a), before);
  EXPECT_EQ(Compare({a, a, "--html", At("x"), "--junit", At("x")}).outcome.exit_code, 2);
  EXPECT_EQ(Compare({a, a, "--bundle", At("..tar.zst")}).outcome.exit_code, 2);
  EXPECT_FALSE(std::filesystem::exists(At("x")));
}

TEST_F(CompareVerb, WritesOneReportToStdoutWhenAskedTo) {
  const std::string a = WriteLoss("a.json", 0.0);
  const ProcessResult result = Compare({a, a, "--junit", "-"});
  EXPECT_EQ(result.outcome.exit_code, 0);
  EXPECT_TRUE(result.stdout_text.starts_with("<?xml")) << result.stdout_text.substr(0, 80);
  EXPECT_EQ(Compare({a, a, "--junit", "-", "--json"}).outcome.exit_code, 2);
}

TEST_F(CompareVerb, SaysWhatBesideTheTensorsDiffers) {
  const std::string a =
      WriteWeights("a.safetensors", {1, 2, 3, 4}, R"("__metadata__":{"epoch":"3"},)");
  const std::string b =
      WriteWeights("b.safetensors", {1, 2, 3, 4}, R"("__metadata__":{"epoch":"9"},)");
  const ProcessResult result = Compare({a, b});
  EXPECT_EQ(result.outcome.exit_code, 0);
  EXPECT_NE(result.stdout_text.find("epoch: 3 in A, 9 in B"), std::string::npos)
      << result.stdout_text;
}

TEST_F(CompareVerb, TakesASchemaInsideACheckpointForItsMetadata) {
  const std::string a = WriteWeights("a.safetensors", {1, 2, 3, 4},
                                     R"("__metadata__":{"schema":"rharness.manifest/v1"},)");
  EXPECT_EQ(Compare({a, a}).outcome.exit_code, 0);
}

// Real curves of a real upgrade and of a change that touched no arithmetic.
TEST_F(CompareVerb, FindsARealUpgradeWithinReorderingAndItsControlIdentical) {
  const auto data = SharedData("megatron");
  if (!data) GTEST_SKIP() << kNoSharedData;
  // The loss of one of the 44 is 0 at every step on both sides: equal, and shows nothing.
  const Json control = CompareJson({"--pairs", *data / "control-nan-cleanup"}, 0);
  // One has losses of 0 throughout: equal, as its memory is, which is not constant.
  EXPECT_EQ(control.Find("counts")->Find("identical")->ToInt64(), 44);
  // One file is empty at its source, and two hold no loss.
  const Json upgrade = CompareJson({"--pairs", *data / "bump-pytorch-25.05"}, 3);
  EXPECT_EQ(upgrade.Find("counts")->Find("equivalent")->ToInt64(), 92);
  EXPECT_EQ(upgrade.Find("counts")->Find("drifted")->ToInt64(), 0);
}

// Ten seeds each of two systems on one benchmark, and the official checker's decision.
TEST_F(CompareVerb, ComparesRealResultsOfTwoSubmitters) {
  const auto logs = SharedData("mlperf-v5.1"), rcps = SharedData("mlperf-rcp");
  if (!logs || !rcps) GTEST_SKIP() << kNoSharedData;
  const Json json = CompareJson({*logs / "AMD/results/MI350X_EPYC_9575F_pytorch/llama31_8b",
                                 *logs / "Supermicro/results/8xMI355X_2xEPYC_9575F/llama31_8b",
                                 "--rcp", *rcps / "training_5.1.0/rcps_llama31_8b.json"},
                                0);
  EXPECT_EQ(json.Find("verdict")->AsString(), "equivalent");
  int accepted = 0;
  for (const Json& finding : json.Find("findings")->AsArray()) {
    accepted += finding.Find("code")->AsString() == "rcp_pass";
  }
  EXPECT_EQ(accepted, 2);
  EXPECT_EQ(json.Find("causes")->AsArray().at(0).Find("code")->AsString(),
            "hyperparameter_changed");
}

}  // namespace
}  // namespace rharness
