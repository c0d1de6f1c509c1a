// An upgrade of a driver, carried through with the real programs: a run is recorded on the emulated
// driver, the next one adds in another order, and the gate is closed, names the probe, and finds
// that the run that depends on it has drifted.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "tests/scenarios/run_program.h"

namespace rharness::scenarios {
namespace {

namespace fs = std::filesystem;

// A machine whose driver lies where the loader finds it, and can be replaced.
class UpgradedMachine : public testing::Test {
 protected:
  void SetUp() override {
    fs::create_directory(At("lib"));
    fs::copy_file(std::string(EMULATOR_DIR) + "/sum_trainer", At("sum_trainer"));
    fs::copy_file(std::string(RHARNESS_SOURCE_DIR) + "/tests/gpu/emulator/sum_trainer.cc",
                  At("sum_trainer.cc"));
    fs::copy_file(DigitsCsv(), At("digits.csv"));
    Install("library", "nvml_now");
  }

  void InstallCupti() {
    fs::create_symlink(fs::path(EMULATOR_DIR) / "library/libcupti.so.13", At("lib/libcupti.so.13"));
  }

  fs::path At(const std::string& name) const { return folder_.path() / name; }

  void Install(const std::string& driver, const std::string& management) {
    for (const auto& [folder, name] :
         {std::pair(driver, "libcuda.so.1"), {management, "libnvidia-ml.so.1"}}) {
      fs::remove(At("lib") / name);
      fs::create_symlink(fs::path(EMULATOR_DIR) / folder / name, At("lib") / name);
    }
  }

  // The exit code of `rharness WORDS`.
  int Rharness(std::vector<std::string> words) {
    words.insert(words.begin(), BuiltProgram("rharness"));
    std::vector<std::string> environment = {
        "LD_LIBRARY_PATH=" + At("lib").string(),
        "PATH=" + folder_.path().string() + ":" +
            fs::path(BuiltProgram("rharness")).parent_path().string() + ":/usr/bin:/bin"};
    environment.insert(environment.end(), variables_.begin(), variables_.end());
    const int status = RunProgram(folder_, words, environment);
    return status % 256 == 0 ? status / 256 : -1;
  }
  // The same; its output if the exit code is another one.
  void Expect(int code, const std::vector<std::string>& words) {
    const int got = Rharness(words);
    EXPECT_EQ(got, code) << words[0] << "\n" << folder_.Read("stdout") << folder_.Read("stderr");
  }
  std::string Said() const { return folder_.Read("stdout") + folder_.Read("stderr"); }

  void Record(const std::string& folder, const std::vector<std::string>& options, int code = 0) {
    std::vector<std::string> words = {"record",
                                      "--out",
                                      folder + "/sum-1.json",
                                      "--run-id",
                                      "sum-1",
                                      "--family",
                                      "sum",
                                      "--data",
                                      "digits=digits.csv",
                                      "--weights",
                                      "model.safetensors",
                                      "--metrics",
                                      "metrics.json",
                                      "--metric",
                                      "test_accuracy,direction=higher,margin=0.01,primary",
                                      "--determinism",
                                      "bitwise",
                                      "--gpus",
                                      "1",
                                      "--code-file",
                                      "sum_trainer.cc",
                                      "--root",
                                      ".",
                                      "--seed",
                                      "init=1",
                                      "--keep",
                                      folder + "-kept"};
    words.insert(words.end(), options.begin(), options.end());
    for (const char* word : {"--", "sum_trainer", "--data", "digits.csv", "--epochs", "2",
                             "--batch", "512", "--seed", "1"}) {
      words.emplace_back(word);
    }
    Expect(code, words);
  }

  void Fingerprint(const std::string& file, int code) {
    Expect(code,
           {"probe", "run", "--device", "cuda:0", "--probe", "own_reduce_tree_cuda", "--probe",
            "convert_bits_cuda", "--processes", "1", "--repeat", "1", "--out", file});
  }

  RunFolder folder_;
  std::vector<std::string> variables_;  // NAME=VALUE, of every program
};

TEST_F(UpgradedMachine, IsGatedByTheProbeThatFindsTheOtherOrderAndByTheRunThatDrifts) {
  Record("runs", {"--probe-family", "reduction"});
  Expect(0, {"history", "add", "--history", "runs.db", "runs"});
  Fingerprint("now.json", 0);
  Expect(0, {"gate", "baseline", "accept", "now.json", "--folder", "baseline", "--by", "ada",
             "--reason", "in use", "--expires", "2099-01-01"});
  // The run is the same as often as it is rerun on this driver.
  Expect(0, {"drill", "--history", "runs.db", "--out", "drill-now", "--root", "."});

  Install("next", "nvml_next");
  Fingerprint("next.json", 4);
  Expect(1, {"probe", "diff", "now.json", "next.json"});
  EXPECT_NE(Said().find("own_reduce_tree_cuda"), std::string::npos) << Said();
  Expect(1, {"gate", "--baseline", "baseline", "--candidate", "next.json", "--history", "runs.db",
             "--drill", "impacted", "--out", "gate-drill"});
  const std::string said = Said();
  EXPECT_NE(said.find("own_reduce_tree_cuda"), std::string::npos) << said;
  EXPECT_NE(said.find("sum-1"), std::string::npos) << said;
  EXPECT_NE(said.find("drifted"), std::string::npos) << said;
}

// A library that prefers another algorithm on the next driver, in a run whose kernels are noted.
TEST_F(UpgradedMachine, LaunchesAnotherKernelThatDrillAndCompareName) {
  InstallCupti();
  variables_ = {"SUM_TRAINER_PICKS=1"};
  Record("runs", {"--observe", "kernels", "--variable", "SUM_TRAINER_PICKS"});
  const std::string record = folder_.Read("runs/sum-1.json");
  EXPECT_NE(record.find("\"reduce_rows\""), std::string::npos) << record;
  EXPECT_NE(record.find("\"all\": true"), std::string::npos) << record;
  EXPECT_NE(record.find("of 256x1x1\""), std::string::npos) << record;
  // The families of probes that it depends on, without a list of a profiler.
  EXPECT_NE(record.find("\"probe_families\": [\"reduction\"]"), std::string::npos) << record;
  Expect(0, {"drill", "runs", "--out", "drill-now", "--root", "."});

  Install("next", "nvml_next");
  Expect(1, {"drill", "runs", "--out", "drill-next", "--root", "."});
  const std::string report = folder_.Read("drill-next/report.json");
  EXPECT_NE(report.find("gpu_kernel.reduce_serial"), std::string::npos) << report;
  EXPECT_NE(report.find("kernels_changed"), std::string::npos) << report;
  Record("next", {"--observe", "kernels", "--variable", "SUM_TRAINER_PICKS"});
  Expect(1, {"compare", "runs/sum-1.json", "next/sum-1.json"});
  EXPECT_NE(Said().find("reduce_serial"), std::string::npos) << Said();
}

// In one line of the record, and the run goes on unharmed.
TEST_F(UpgradedMachine, RunsOnWithoutItsKernelsWhereCuptiIsNotToBeHad) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      // Where a toolkit's CUPTI is installed, it refuses a driver that is none of NVIDIA's.
      {"", "the GPU kernels of a process: "},
      {"EMULATED_OTHER_TOOL=1", "another tool has subscribed to CUPTI already"},
      {"EMULATED_NO_PERMISSION=1", "CUPTI refuses it: no permission"},
      {"EMULATED_FAIL=cuptiEnableCallback:1+", "CUPTI refuses it: error 15"},
      {"CUDA_INJECTION64_PATH=/opt/nsight/injection.so", "names a library of another tool"}};
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const std::string folder = "runs" + std::to_string(i);
    if (i == 1) InstallCupti();
    variables_.clear();
    if (!cases[i].first.empty()) variables_.push_back(cases[i].first);
    Record(folder, {"--observe", "kernels"});
    const std::string record = folder_.Read(folder + "/sum-1.json");
    EXPECT_NE(record.find(cases[i].second), std::string::npos) << cases[i].first << record;
    EXPECT_EQ(record.find("\"launched\""), std::string::npos) << record;
  }
}

TEST_F(UpgradedMachine, IsNotAskedForKernelsUnlessTheyAreWanted) {
  InstallCupti();
  Record("runs", {});
  EXPECT_EQ(folder_.Read("runs/sum-1.json").find("kernels"), std::string::npos);
}

}  // namespace
}  // namespace rharness::scenarios
