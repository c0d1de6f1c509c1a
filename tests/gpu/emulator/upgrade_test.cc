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
    const int status = RunProgram(
        folder_, words,
        {"LD_LIBRARY_PATH=" + At("lib").string(),
         "PATH=" + folder_.path().string() + ":" +
             fs::path(BuiltProgram("rharness")).parent_path().string() + ":/usr/bin:/bin"});
    return status % 256 == 0 ? status / 256 : -1;
  }
  // The same; its output if the exit code is another one.
  void Expect(int code, const std::vector<std::string>& words) {
    const int got = Rharness(words);
    EXPECT_EQ(got, code) << words[0] << "\n" << folder_.Read("stdout") << folder_.Read("stderr");
  }
  std::string Said() const { return folder_.Read("stdout") + folder_.Read("stderr"); }

  void Fingerprint(const std::string& file, int code) {
    Expect(code,
           {"probe", "run", "--device", "cuda:0", "--probe", "own_reduce_tree_cuda", "--probe",
            "convert_bits_cuda", "--processes", "1", "--repeat", "1", "--out", file});
  }

  RunFolder folder_;
};

TEST_F(UpgradedMachine, IsGatedByTheProbeThatFindsTheOtherOrderAndByTheRunThatDrifts) {
  Expect(0, {"record",
             "--out",
             "runs/sum-1.json",
             "--run-id",
             "sum-1",
             "--family",
             "sum",
             "--data",
             "digits=digits.csv",
             "--weights",
             "model.safetensors",
             "--keep",
             "kept",
             "--metrics",
             "metrics.json",
             "--metric",
             "test_accuracy,direction=higher,margin=0.01,primary",
             "--determinism",
             "bitwise",
             "--probe-family",
             "reduction",
             "--gpus",
             "1",
             "--code-file",
             "sum_trainer.cc",
             "--root",
             ".",
             "--seed",
             "init=1",
             "--",
             "sum_trainer",
             "--data",
             "digits.csv",
             "--epochs",
             "2",
             "--batch",
             "512",
             "--seed",
             "1"});
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

}  // namespace
}  // namespace rharness::scenarios
