// `rharness gate` and `rharness probe diff` as a user meets them: the real program, its files and
// its exit codes.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "harness/cli/gate_drill.h"
#include "tests/cli/drill_program.h"
#include "tests/compare/fingerprints/build_fingerprint.h"

namespace rharness {
namespace {

class GateVerb : public DrillProgram {
 protected:
  GateVerb() {
    WriteFingerprint("a.json", SampleStack());
    WriteFingerprint("b.json", Rounded().OfCpu());
  }
  static FingerprintBuilder Rounded() {
    return SampleStack().Probe("math_bits", "math").Bits("expf", "other");
  }
  void WriteFingerprint(const std::string& name, const FingerprintBuilder& build) const {
    ASSERT_TRUE(WriteJsonFile(At(name), build.ToJson()).ok());
  }
  ProcessResult Rharness(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), kRharness);
    return Run(std::move(arguments));
  }
  ProcessResult Gate(const std::string& baseline, const std::string& candidate,
                     std::vector<std::string> more = {}) const {
    more.insert(more.begin(), {"gate", "--baseline", baseline, "--candidate", candidate});
    return Rharness(std::move(more));
  }
  Json GateJson(const std::string& candidate, std::vector<std::string> more, int code) const {
    more.push_back("--json");
    const ProcessResult result = Gate("a.json", candidate, std::move(more));
    EXPECT_EQ(result.outcome.exit_code, code) << result.stderr_text;
    auto json = ParseJson(result.stdout_text, "stdout");
    EXPECT_TRUE(json.ok()) << json.error().ToString();
    return json.ok() ? std::move(*json) : Json();
  }
  void Script(const std::string& name, const std::string& text) const {
    Write(name, "#!/bin/sh\n" + text + "\n");
    std::filesystem::permissions(At(name), std::filesystem::perms::owner_all);
  }
  ProcessResult Accept(const std::string& file, const std::string& expires,
                       const std::string& reason = "measured twice") const {
    return Rharness({"gate", "baseline", "accept", file, "--folder", "base", "--by", "ada",
                     "--reason", reason, "--expires", expires});
  }
};

TEST_F(GateVerb, OpensClosesAndLacksEvidenceByExitCode) {
  EXPECT_EQ(Gate("a.json", "a.json").outcome.exit_code, 0);
  const ProcessResult closed = Gate("a.json", "b.json");
  EXPECT_EQ(closed.outcome.exit_code, 1);
  EXPECT_TRUE(closed.stdout_text.starts_with("The gate is closed: ")) << closed.stdout_text;
  EXPECT_NE(closed.stdout_text.find("math_bits"), std::string::npos);
  WriteFingerprint("empty.json", FingerprintBuilder());
  EXPECT_EQ(Gate("a.json", "empty.json").outcome.exit_code, 3);
  Write("newer.json", R"({"schema": "rharness.fingerprint/v9"})");
  Write("noise.json", "this is no JSON");
  for (const char* name : {"newer.json", "noise.json"}) {
    EXPECT_EQ(Gate("a.json", name).outcome.exit_code, 3) << name;
    EXPECT_EQ(Gate(name, "a.json").outcome.exit_code, 3) << name;
  }
  const std::string noise = Gate("a.json", "noise.json").stdout_text;
  EXPECT_NE(noise.find("the candidate gave no answer"), std::string::npos) << noise;
  EXPECT_EQ(noise.find("differ"), std::string::npos) << noise;
}

TEST_F(GateVerb, EndsWithTwoOnWrongUse) {
  EXPECT_EQ(Gate("a.json", "missing.json").outcome.exit_code, 2);
  EXPECT_EQ(Rharness({"gate", "--baseline", "a.json"}).outcome.exit_code, 2);
  EXPECT_EQ(Rharness({"gate"}).outcome.exit_code, 2);
  EXPECT_EQ(Gate("a.json", "b.json", {"--drill", "impacted"}).outcome.exit_code, 2);
  EXPECT_EQ(Gate("a.json", "b.json", {"--history", "none.db"}).outcome.exit_code, 2);
  Write("bad.yaml", "version: 1\nrulez: []");
  const ProcessResult result = Gate("a.json", "b.json", {"--policy", "bad.yaml"});
  EXPECT_EQ(result.outcome.exit_code, 2);
  EXPECT_NE(result.stderr_text.find("bad.yaml:2"), std::string::npos) << result.stderr_text;
}

TEST_F(GateVerb, RefusesAnotherDocumentInPlaceOfAFingerprint) {
  Record("a", {});
  const auto message = [this](const std::string& baseline, const std::string& candidate) {
    const ProcessResult result = Gate(baseline, candidate);
    EXPECT_EQ(result.outcome.exit_code, 2) << result.stdout_text;
    EXPECT_EQ(result.stdout_text, "");
    return result.stderr_text;
  };
  const std::string words =
      "rharness: error: runs/a.json: $.schema: this is the manifest of a run "
      "(rharness.manifest/v1); expected a "
      "fingerprint (rharness.fingerprint/v1), which rharness probe run --out FILE writes\n";
  EXPECT_EQ(message("runs/a.json", "a.json"), words);
  EXPECT_EQ(message("a.json", "runs/a.json"), words);
  ASSERT_EQ(Gate("a.json", "b.json", {"--json-file", "gate.json"}).outcome.exit_code, 1);
  EXPECT_NE(message("a.json", "gate.json").find("is the decision of a gate"), std::string::npos);
}

TEST_F(GateVerb, FollowsThePolicyAndWritesEveryReport) {
  Write("p.yaml", "version: 1\nrules: [{probes: 'math_*', allow: [bits]}]");
  const ProcessResult result =
      Gate("a.json", "b.json",
           {"--policy", "p.yaml", "--html", "o/g.html", "--junit", "o/g.xml", "--markdown",
            "o/g.md", "--json-file", "o/gate.json"});
  EXPECT_EQ(result.outcome.exit_code, 0) << result.stdout_text << result.stderr_text;
  EXPECT_TRUE(Read(At("o/g.html")).starts_with("<!doctype html>"));
  EXPECT_NE(Read(At("o/g.xml")).find("<testcase"), std::string::npos);
  EXPECT_TRUE(Read(At("o/g.md")).starts_with("## The gate is open: "));
  EXPECT_EQ(ReadJsonFile(At("o/gate.json"))->Find("schema")->AsString(), "rharness.gate/v1");
}

TEST_F(GateVerb, WritesNoOutputOverAnotherOrAnInput) {
  ASSERT_EQ(Accept("a.json", "2099-01-01").outcome.exit_code, 0);
  const auto write = [this](const std::string& baseline, const std::string& page) {
    const ProcessResult result = Gate(baseline, "b.json", {"--html", page});
    EXPECT_NE(result.stderr_text.find("take the place of"), std::string::npos)
        << result.stderr_text;
    return result.outcome.exit_code;
  };
  EXPECT_EQ(write("a.json", "./a.json"), 2);
  EXPECT_EQ(write("a.json", "b.json"), 2);
  EXPECT_EQ(write("base", "base/baseline.json"), 2);
  EXPECT_EQ(Gate("a.json", "b.json", {"--html", "g", "--junit", "./g"}).outcome.exit_code, 2);
  EXPECT_FALSE(std::filesystem::exists(At("g")));
  EXPECT_EQ(Gate("a.json", "b.json", {"--junit", "-", "--json"}).outcome.exit_code, 2);
  EXPECT_EQ(Rharness({"probe", "diff", "a.json", "b.json", "--html", "a.json"}).outcome.exit_code,
            2);
  EXPECT_EQ(Rharness({"probe", "diff", "a.json", "b.json"}).outcome.exit_code, 1);
}

TEST_F(GateVerb, PrintsOneReportInPlaceOfTheText) {
  const ProcessResult result = Gate("a.json", "b.json", {"--junit", "-"});
  EXPECT_EQ(result.outcome.exit_code, 1);
  EXPECT_TRUE(result.stdout_text.starts_with("<?xml")) << result.stdout_text;
  EXPECT_FALSE(std::filesystem::exists(At("-")));
}

TEST_F(GateVerb, SaysNothingWhenQuietAndOpenAndOneLineWhenNot) {
  const ProcessResult open = Gate("a.json", "a.json", {"--quiet"});
  EXPECT_EQ(open.stdout_text + open.stderr_text, "");
  const ProcessResult closed = Gate("a.json", "b.json", {"--quiet"});
  EXPECT_EQ(closed.stdout_text, "");
  EXPECT_EQ(std::ranges::count(closed.stderr_text, '\n'), 1) << closed.stderr_text;
}

TEST_F(GateVerb, AcceptsABaselineAndLoadsItFromItsFolder) {
  EXPECT_EQ(Accept("a.json", "2001-01-01").outcome.exit_code, 2);
  EXPECT_EQ(Accept("a.json", "2999-01-01", "").outcome.exit_code, 2);
  EXPECT_EQ(Gate("base", "a.json").outcome.exit_code, 2) << "no baseline so far";
  EXPECT_EQ(Accept("a.json", "2999-01-01").outcome.exit_code, 0);
  EXPECT_EQ(Gate("base", "a.json").outcome.exit_code, 0);
  EXPECT_EQ(Gate("base", "b.json").outcome.exit_code, 1);
  WriteFingerprint("base/baseline.json", Rounded());
  EXPECT_EQ(Gate("base", "b.json").outcome.exit_code, 5);
}

TEST_F(GateVerb, RerunsOnlyTheImpactedRunsAndJudgesByThem) {
  Record("a", {"--probe-family", "gemm"});
  Record("b", {"--probe-family", "math"});
  Record("c", {});
  Add();
  Write("p.yaml", "version: 1\ndrill: required\nrules: [{probes: 'math_*', allow: [bits]}]");
  const std::vector<std::string> base = {"--history", "runs.db", "--policy", "p.yaml"};
  const Json without = GateJson("b.json", base, 3);
  ASSERT_EQ(without.Find("impacted_runs")->AsArray().size(), 2U);
  EXPECT_EQ(without.Find("impacted_runs")->AsArray()[0].Find("run_id")->AsString(), "b");
  EXPECT_EQ(without.Find("unaffected_runs")->ToInt64(), 1);
  EXPECT_EQ(without.Find("reasons")->AsArray()[0].Find("code")->AsString(), "drill_missing");
  const Json by_folder = GateJson("b.json", {"--history", "runs", "--policy", "p.yaml"}, 3);
  EXPECT_EQ(by_folder.Find("impacted_runs")->AsArray().size(), 2U) << "a folder of manifests";
  EXPECT_EQ(Calls(), 0);
  std::vector<std::string> drill = base;
  drill.insert(drill.end(), {"--drill", "impacted", "--out", "out", "--trust-here"});
  EXPECT_TRUE(GateJson("b.json", drill, 0).Find("open")->AsBool());
  EXPECT_EQ(Calls(), 2) << "b and c, and not a";
  EXPECT_EQ(StoredReport().runs.size(), 2U);
  drill = base;
  drill.insert(drill.end(), {"--drill", "out"});
  EXPECT_TRUE(GateJson("b.json", drill, 0).Find("open")->AsBool()) << "the same drill, as a folder";
  // What goes on without the gate may go on elsewhere.
  Run({kRharness, "drill", "--history", "out.db", "--out", "out", "--resume"});
  EXPECT_FALSE(GateJson("b.json", drill, 3).Find("open")->AsBool());
}

TEST_F(GateVerb, TakesTheCandidatesProbesAgainInTheLibrariesOfItsPython) {
  Record("a", {});
  Add();
  // A stack whose arithmetic is the candidate's in the libraries of a Python, and in no other.
  const auto probed = [this](const std::string& name, const std::string& bits) {
    WriteFingerprint(
        name,
        FingerprintBuilder().Probe("math_bits", "math").Bits("expf", bits).Bits("logf", "log"));
  };
  probed("loaders.json", "exp");
  probed("pythons.json", "other");
  Write("numpy.libs/libopenblas-1.so", "");
  Script("python", "echo numpy \"$HOME/numpy\"");
  Script("probe", R"(case "$*" in *numpy.libs*) cat pythons.json;; *) cat loaders.json;; esac)");
  const std::vector<std::string> drill = {"--history", "runs.db", "--drill",   "impacted",
                                          "--out",     "out",     "--program", At("probe")};
  const ProcessResult refused = Gate("a.json", "b.json", drill);
  EXPECT_EQ(refused.outcome.exit_code, 4) << refused.stdout_text;
  const std::string& said = refused.stderr_text;
  EXPECT_NE(said.find("this machine is not the candidate: math_bits"), said.npos) << said;
  std::vector<std::string> with_python = drill;
  with_python.insert(with_python.end(), {"--python", At("python")});
  const ProcessResult taken = Gate("a.json", "b.json", with_python);
  EXPECT_EQ(taken.outcome.exit_code, 1) << taken.stderr_text;
  EXPECT_NE(taken.stdout_text.find("one drilled run reproduced: 1"), taken.stdout_text.npos);
  EXPECT_EQ(StoredReport().runs.size(), 1U);
}

TEST_F(GateVerb, TakesTheCandidatesProbesAgainAsOftenAsTheyWereTaken) {
  Record("a", {});
  Add();
  Json json = Rounded().ToJson();
  json.Set("repeats", Json().Set("in_process", 5).Set("processes", 7));
  ASSERT_TRUE(WriteJsonFile(At("b.json"), json).ok());
  Script("probe", "echo \"$*\" > asked; exit 4");
  EXPECT_EQ(Gate("a.json", "b.json",
                 {"--history", "runs.db", "--drill", "impacted", "--out", "out", "--program",
                  At("probe")})
                .outcome.exit_code,
            4);
  const std::string asked = Read(At("asked"));
  EXPECT_NE(asked.find("--repeat 5 --processes 7"), std::string::npos) << asked;
}

TEST_F(GateVerb, PlansItsDrillWithTheGpusThatTheMachineHas) {
  environment_["LD_LIBRARY_PATH"] = RHARNESS_FAKE_NVML;  // two of them
  Record("a", {"--gpus", "2"});
  Add();
  const std::vector<std::string> drill = {"--history", "runs.db", "--drill",     "impacted",
                                          "--out",     "out",     "--trust-here"};
  EXPECT_EQ(Gate("a.json", "b.json", drill).outcome.exit_code, 1);
  EXPECT_EQ(Calls(), 1);
  EXPECT_TRUE(StoredReport().left_out.empty());

  std::filesystem::remove_all(At("out"));
  std::filesystem::remove(At("out.db"));
  std::vector<std::string> one_gpu = drill;
  one_gpu.insert(one_gpu.end(), {"--gpus", "1"});
  EXPECT_EQ(Gate("a.json", "b.json", one_gpu).outcome.exit_code, 1);
  EXPECT_EQ(StoredReport().left_out, std::vector<std::string>{"a"});
}

TEST(GateDrill, SharesOutAllThatTheMachineHasUnlessItIsTold) {
  Hardware hardware;
  hardware.cpu.logical_cores = 12;
  hardware.gpus.resize(8);
  EXPECT_EQ(SlotsOf(hardware, -1).cpus, 12);
  EXPECT_EQ(SlotsOf(hardware, -1).gpus, 8);
  EXPECT_EQ(SlotsOf(hardware, 0).gpus, 0);
  EXPECT_EQ(SlotsOf(Hardware(), -1).cpus, 1) << "a machine that does not say has one";
}

TEST_F(GateVerb, ClosesOnADrillThatDrifted) {
  Write("hidden", "0.75");
  Record("a", {"--determinism", "bitwise"},
         {"sh", "-c", R"sh(printf '{"metrics": {"accuracy": %s}}' "$(cat "$1")" > metrics.json)sh",
          "sh", At("hidden").string()});
  // Without weights a promise of bits is not admissible; the metric's bits are enough here.
  const ProcessResult added =
      Rharness({"history", "add", "--force", "--history", "runs.db", "runs"});
  ASSERT_TRUE(added.outcome.Succeeded()) << added.stderr_text;
  Write("hidden", "0.5");
  Write("p.yaml", "version: 1\nrules: [{probes: '*', allow: [bits]}]");
  const ProcessResult result = Gate("a.json", "b.json",
                                    {"--history", "runs.db", "--policy", "p.yaml", "--drill",
                                     "impacted", "--out", "out", "--trust-here"});
  EXPECT_EQ(result.outcome.exit_code, 1) << result.stdout_text << result.stderr_text;
  EXPECT_NE(result.stdout_text.find("drill_drifted"), std::string::npos) << result.stdout_text;
  // What the candidate broke is not broken: the fleet's history is not told of it.
  const auto standing = [&](const std::string& history) {
    return Rharness({"history", "list", "--history", history}).stdout_text;
  };
  EXPECT_EQ(standing("runs.db").find("drifted"), std::string::npos) << standing("runs.db");
  EXPECT_NE(standing("out.db").find("drifted"), std::string::npos);
  const ProcessResult again =
      Gate("a.json", "b.json", {"--history", "runs.db", "--policy", "p.yaml", "--drill", "out"});
  EXPECT_EQ(again.outcome.exit_code, 1) << again.stdout_text << again.stderr_text;
}

TEST_F(GateVerb, FindsTheOddNodeOfAFleet) {
  WriteFingerprint("fleet/n1.json", SampleStack());
  WriteFingerprint("fleet/n2.json", SampleStack());
  EXPECT_EQ(Rharness({"gate", "fleet", "fleet"}).outcome.exit_code, 0);
  WriteFingerprint("fleet/n3/first.json", Rounded());
  WriteFingerprint("fleet/n3/again.json", Rounded());
  const ProcessResult result =
      Rharness({"gate", "fleet", "fleet", "--json", "--html", "fleet.html"});
  EXPECT_EQ(result.outcome.exit_code, 1) << result.stderr_text;
  const auto json = ParseJson(result.stdout_text, "stdout");
  ASSERT_TRUE(json.ok()) << json.error().ToString();
  EXPECT_EQ(json->Find("schema")->AsString(), "rharness.fleet/v1");
  ASSERT_EQ(json->Find("odd")->AsArray().size(), 1U);
  EXPECT_EQ(json->Find("odd")->AsArray()[0].Find("node")->AsString(), "n3");
  EXPECT_NE(Read(At("fleet.html")).find("n3"), std::string::npos);
  EXPECT_EQ(Rharness({"gate", "fleet", "missing"}).outcome.exit_code, 2);
}

TEST_F(GateVerb, ProbeDiffTellsSameChangedAndNotComparable) {
  const auto diff = [&](const char* a, const char* b, std::vector<std::string> more = {}) {
    more.insert(more.begin(), {"probe", "diff", a, b});
    return Rharness(std::move(more));
  };
  EXPECT_EQ(diff("a.json", "a.json").outcome.exit_code, 0);
  const ProcessResult changed =
      diff("a.json", "b.json", {"--html", "d.html", "--junit", "d.xml", "--markdown", "d.md"});
  EXPECT_EQ(changed.outcome.exit_code, 1);
  EXPECT_TRUE(changed.stdout_text.starts_with("1 of 4 probes changed")) << changed.stdout_text;
  EXPECT_NE(Read(At("d.html")).find("math_bits"), std::string::npos);
  EXPECT_NE(Read(At("d.xml")).find("name=\"math_bits\""), std::string::npos);
  EXPECT_TRUE(Read(At("d.md")).starts_with("## 1 of 4 probes changed")) << Read(At("d.md"));
  WriteFingerprint("empty.json", FingerprintBuilder());
  EXPECT_EQ(diff("a.json", "empty.json").outcome.exit_code, 3);
  EXPECT_EQ(diff("a.json", "missing.json").outcome.exit_code, 2);
  Write("newer.json", R"({"schema": "rharness.fingerprint/v9"})");
  EXPECT_EQ(diff("a.json", "newer.json").outcome.exit_code, 3);
  const auto json = ParseJson(diff("a.json", "b.json", {"--json"}).stdout_text, "stdout");
  EXPECT_EQ(json->Find("probes")->AsArray()[0].Find("change")->AsString(), "rounding");
}

// Two kernels of OpenBLAS on one machine are two stacks; the shipped history depends on them.
class KernelRollout : public GateVerb {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(RHARNESS_BIN_DIR "/digits_blas")) {
      GTEST_SKIP() << "digits_blas was not built: OpenBLAS or Eigen is missing";
    }
    environment_["PATH"] = std::string(RHARNESS_BIN_DIR) + ":" + environment_["PATH"];
    Probe("Prescott", "before.json");
    Probe("Nehalem", "after.json");
    Write("p.yaml", "version: 1\ndrill: required\nrules: [{probes: '*', allow: [choice, bits]}]");
    const ProcessResult added =
        Rharness({"--quiet", "history", "add", "--history", "runs.db",
                  RHARNESS_SOURCE_DIR "/scenarios/digits_blas/history",
                  RHARNESS_SOURCE_DIR "/scenarios/digits_portable/history"});
    ASSERT_TRUE(added.outcome.Succeeded()) << added.stderr_text;
  }
  void Probe(const std::string& kernel, const std::string& out) {
    environment_["OPENBLAS_CORETYPE"] = kernel;
    const ProcessResult result = Rharness(
        {"--quiet", "probe", "run", "--probe", "gemm_bits", "--probe", "fp_scalar", "--out", out});
    environment_.erase("OPENBLAS_CORETYPE");
    ASSERT_TRUE(result.outcome.Succeeded()) << result.stderr_text;
  }
  ProcessResult Rollout(const std::string& candidate) const {
    return Gate("before.json", candidate,
                {"--history", "runs.db", "--policy", "p.yaml", "--drill", "impacted", "--out",
                 "out", "--root", RHARNESS_SOURCE_DIR});
  }
};

TEST_F(KernelRollout, DrillsWithTheCandidatesKernelAndFindsWhatTheDifferencePredicts) {
  const ProcessResult result = Rollout("after.json");
  EXPECT_EQ(result.outcome.exit_code, 0) << result.stdout_text << result.stderr_text;
  EXPECT_EQ(EvidenceOf("digits_blas-01").environment.variables.at("OPENBLAS_CORETYPE"), "Nehalem");
  const Report report = StoredReport();
  EXPECT_EQ(report.runs.size(), 14U) << "digits_portable depends on no product";
  for (const ReportRun& run : report.runs) {
    EXPECT_EQ(VerdictName(run.verdict), "equivalent") << run.run_id << ": other bits, same result";
  }
}

TEST_F(KernelRollout, DrillsRunsOfAFamilyThatNothingComparedWhereNothingElseChanged) {
  // Of products neither fingerprint says anything: their runs are drilled, after a look at the
  // rest.
  for (const auto& [kernel, out] :
       {std::pair{"Prescott", "before.json"}, std::pair{"Nehalem", "after.json"}}) {
    environment_["OPENBLAS_CORETYPE"] = kernel;
    ASSERT_TRUE(Rharness({"--quiet", "probe", "run", "--probe", "fp_scalar", "--out", out})
                    .outcome.Succeeded());
    environment_.erase("OPENBLAS_CORETYPE");
  }
  EXPECT_EQ(Gate("before.json", "after.json", {"--history", "runs.db"}).outcome.exit_code, 3);
  const ProcessResult result = Rollout("after.json");
  EXPECT_EQ(result.outcome.exit_code, 0) << result.stdout_text << result.stderr_text;
  EXPECT_EQ(StoredReport().runs.size(), 14U);
}

TEST_F(KernelRollout, RefusesToDrillWhereTheCandidatesArithmeticIsNot) {
  std::string text = Read(At("after.json"));
  for (std::size_t at = 0; (at = text.find("OPENBLAS_CORETYPE", at)) != text.npos; ++at) {
    text.replace(at, 8, "UNHEARD_");
  }
  Write("elsewhere.json", text);
  const ProcessResult result = Rollout("elsewhere.json");
  EXPECT_EQ(result.outcome.exit_code, 4) << result.stdout_text << result.stderr_text;
  EXPECT_NE(result.stderr_text.find("this machine is not the candidate"), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(At("out/report.json")));
}

}  // namespace
}  // namespace rharness
