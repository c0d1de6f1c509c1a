// fork, limits, exec, wait.
#include "tests/scenarios/run_program.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <charconv>
#include <cstring>
#include <fstream>
#include <limits>
#include <sstream>

namespace rharness::scenarios {
namespace {

namespace fs = std::filesystem;

void SetLimit(int resource, std::uint64_t value) {
  const rlimit limit{value, value};
  setrlimit(static_cast<__rlimit_resource>(resource), &limit);
}

void RedirectTo(const fs::path& path, int descriptor) {
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  dup2(file, descriptor);
  close(file);
}

[[noreturn]] void Exec(const fs::path& folder, std::vector<char*> argv,
                       const std::vector<std::string>& environment, const Limits& limits) {
  RedirectTo(folder / "stdout", STDOUT_FILENO);
  RedirectTo(folder / "stderr", STDERR_FILENO);
  if (chdir(folder.c_str()) != 0) _exit(127);
  SetLimit(RLIMIT_CORE, 0);
  if (limits.memory_bytes != 0) SetLimit(RLIMIT_AS, limits.memory_bytes);
  if (limits.file_bytes != 0) SetLimit(RLIMIT_FSIZE, limits.file_bytes);
  for (const std::string& entry : environment) {
    const std::size_t equals = entry.find('=');
    setenv(entry.substr(0, equals).c_str(), entry.c_str() + equals + 1, 1);
  }
  // The timer survives exec, so the limit holds for the program and not for the test.
  alarm(limits.seconds);
  execv(argv[0], argv.data());
  _exit(127);
}

}  // namespace

RunFolder::RunFolder() {
  std::string name = (fs::temp_directory_path() / "scenario-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) std::abort();
  path_ = name;
}

RunFolder::~RunFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

std::string RunFolder::Read(const std::string& name) const {
  std::ifstream file(path_ / name, std::ios::binary);
  std::stringstream content;
  content << file.rdbuf();
  return content.str();
}

int RunProgram(const RunFolder& folder, const std::vector<std::string>& argv,
               const std::vector<std::string>& environment, const Limits& limits) {
  std::vector<char*> pointers;
  for (const std::string& argument : argv) pointers.push_back(const_cast<char*>(argument.c_str()));
  pointers.push_back(nullptr);
  const pid_t child = fork();
  if (child == 0) Exec(folder.path(), pointers, environment, limits);
  int status = -1;
  waitpid(child, &status, 0);
  return status;
}

bool Succeeded(int status) { return WIFEXITED(status) && WEXITSTATUS(status) == 0; }

std::string FindProgram(const std::string& name) {
  const char* path = getenv("PATH");
  std::istringstream folders(path == nullptr ? "" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    const std::string candidate = folder + "/" + name;
    if (access(candidate.c_str(), X_OK) == 0) return candidate;
  }
  return "";
}

std::string BuiltProgram(const std::string& name) {
  return std::string(RHARNESS_BIN_DIR) + "/" + name;
}

std::string DigitsCsv() { return std::string(RHARNESS_SOURCE_DIR) + "/scenarios/data/digits.csv"; }

std::string TensorBytes(const std::string& safetensors) {
  std::uint64_t header_bytes = 0;
  if (safetensors.size() < sizeof(header_bytes)) return "";
  std::memcpy(&header_bytes, safetensors.data(), sizeof(header_bytes));
  if (header_bytes > safetensors.size() - sizeof(header_bytes)) return "";
  return safetensors.substr(sizeof(header_bytes) + header_bytes);
}

double MetricNamed(const std::string& metrics_json, const std::string& name) {
  const std::string key = "\"" + name + "\": ";
  double value = std::numeric_limits<double>::quiet_NaN();
  const std::size_t found = metrics_json.find(key);
  if (found == std::string::npos) return value;
  const char* const end = metrics_json.data() + metrics_json.size();
  std::from_chars(metrics_json.data() + found + key.size(), end, value);
  return value;
}

}  // namespace rharness::scenarios
