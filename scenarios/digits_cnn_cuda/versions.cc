// Decimal digits to dots.
#include "scenarios/digits_cnn_cuda/versions.h"

#include <fmt/format.h>

#include <sstream>

namespace rharness::scenarios {

std::string LibraryVersion(int version) {
  return fmt::format("{}.{}.{}", version / 10000, version / 100 % 100, version % 100);
}

std::string CudaVersion(int version) {
  return fmt::format("{}.{}", version / 1000, version / 10 % 100);
}

std::string DriverVersion(const std::string& proc_text) {
  std::istringstream words(proc_text);
  for (std::string word; words >> word;) {
    const bool numeric = word.find_first_not_of("0123456789.") == std::string::npos;
    if (numeric && word.find('.') != std::string::npos) return word;
  }
  return "";
}

}  // namespace rharness::scenarios
