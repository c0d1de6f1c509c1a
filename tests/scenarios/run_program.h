// Runs a training program in a folder of its own, within limits that the kernel enforces.
#ifndef RHARNESS_TESTS_SCENARIOS_RUN_PROGRAM_H_
#define RHARNESS_TESTS_SCENARIOS_RUN_PROGRAM_H_

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace rharness::scenarios {

// A private folder, removed with the object.
class RunFolder {
 public:
  RunFolder();
  ~RunFolder();
  RunFolder(const RunFolder&) = delete;
  RunFolder& operator=(const RunFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }
  // The content of a file below; empty when there is none.
  std::string Read(const std::string& name) const;

 private:
  std::filesystem::path path_;
};

struct Limits {
  unsigned seconds = 100;          // SIGALRM ends the program then
  std::uint64_t memory_bytes = 0;  // address space; 0 is none
  std::uint64_t file_bytes = 0;    // largest file; 0 is none
};

// Runs argv in the folder with `environment` ("NAME=value") added to the inherited one. stdout and
// stderr go to the files "stdout" and "stderr" there. Returns waitpid's status; a program that
// cannot be started exits with 127.
int RunProgram(const RunFolder& folder, const std::vector<std::string>& argv,
               const std::vector<std::string>& environment = {}, const Limits& limits = {});

bool Succeeded(int status);

// The program's path, looked up in PATH; empty when it is not installed.
std::string FindProgram(const std::string& name);

// build/bin/NAME, and the digits in the source tree.
std::string BuiltProgram(const std::string& name);
std::string DigitsCsv();

// model.safetensors without its header: the bytes of all tensors.
std::string TensorBytes(const std::string& safetensors);
// The number after `"name": ` in metrics.json; NaN when it is missing or no number.
double MetricNamed(const std::string& metrics_json, const std::string& name);

}  // namespace rharness::scenarios

#endif  // RHARNESS_TESTS_SCENARIOS_RUN_PROGRAM_H_
