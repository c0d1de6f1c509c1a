// A family of runs, a seed each, that all read a file which nothing declares: a site's library.
#ifndef RHARNESS_TESTS_CLI_SHARED_FILE_PROGRAM_H_
#define RHARNESS_TESTS_CLI_SHARED_FILE_PROGRAM_H_

#include <filesystem>
#include <string>
#include <vector>

#include "harness/base/json.h"
#include "tests/cli/drill_program.h"

namespace rharness {

// $1: where the library lies; $3: the seed. What it trains to is made of both, and of a variable.
inline constexpr char kSharedFileTrainer[] = R"sh(value="${SHIFT:-0}.$(cat "$1/kernel")$3"
printf '\066\0\0\0\0\0\0\0{"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}%s' "$value" > w.safetensors
printf '{"metrics": {"accuracy": %s}}' "$value" > metrics.json
)sh";

class SharedFileProgram : public DrillProgram {
 protected:
  SharedFileProgram() : site_(*ScopedTempDir::Make("rharness-site-")) {
    Write("train.sh", kSharedFileTrainer);
    SetKernel("5");
  }
  std::string Kernel() const {
    return (std::filesystem::canonical(site_.path()) / "kernel").string();
  }
  void SetKernel(const std::string& text) const {
    ASSERT_TRUE(WriteFileAtomic(Kernel(), text).ok());
  }
  // As "run-SEED".
  void RecordSeed(const std::string& seed) {
    const std::string site = std::filesystem::path(Kernel()).parent_path().string();
    Record("run-" + seed,
           {"--determinism", "bitwise", "--seed", "run=" + seed, "--weights", "w.safetensors",
            "--keep", "kept", "--variable", "SHIFT"},
           {"sh", "train.sh", site, "--seed", seed});
  }
  // Empty: all runs.
  int DrillInto(const std::string& out, const std::string& run, const std::string& shift = "") {
    std::vector<std::string> argv = {kRharness, "--quiet", "drill", "--history",
                                     "runs.db", "--out",   out,     "--no-confirm"};
    if (!run.empty()) argv.insert(argv.end(), {"--select", "run_id = '" + run + "'"});
    if (!shift.empty()) argv.insert(argv.end(), {"--env", "SHIFT=" + shift});
    return Run(argv).outcome.exit_code;
  }
  std::string DrillId(const std::string& out) const {
    return FieldOf(out + "/report.json", "drill_id");
  }
  // A member of a document: a text as it is, all else as JSON.
  std::string FieldOf(const std::string& file, const std::string& member) const {
    const auto json = ReadJsonFile(At(file));
    EXPECT_TRUE(json.ok()) << json.error().ToString();
    const Json* value = json.ok() ? json->Find(member) : nullptr;
    if (value == nullptr) return "";
    return value->kind() == Json::Kind::kString ? value->AsString() : value->Dump();
  }

  ScopedTempDir site_;
};

}  // namespace rharness

#endif  // RHARNESS_TESTS_CLI_SHARED_FILE_PROGRAM_H_
