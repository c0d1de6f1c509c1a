// rharness-probe: fingerprints the arithmetic of the stack that it runs on.
//
// One file that runs in any image: it needs only glibc as a shared library, and opens the libraries
// under test at run time.
#include <sys/random.h>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "probes/command.h"

namespace {

// Filled after linking with the requirements of the finished program (glibc_floor.cmake); that text
// must fit into this length.
__attribute__((section(".glibc_floor"), used)) volatile const char kNeeds[64] =
    "needs a glibc of unknown version";

}  // namespace

// libstdc++ asks glibc 2.36 for it. Defined here, the program also runs with 2.35, which many
// images have.
extern "C" std::uint32_t arc4random() noexcept {
  std::uint32_t value = 0;
  if (::getrandom(&value, sizeof(value), 0) != sizeof(value)) std::abort();
  return value;
}

int main(int argc, char** argv) {
  std::string needs;
  for (const volatile char& c : kNeeds) needs.push_back(c);
  needs.erase(needs.find_last_not_of(std::string_view(" \0", 2)) + 1);
#ifdef RHARNESS_DRIVERS
  needs = std::string(RHARNESS_DRIVERS) + "\nhas machine code for sm_ " RHARNESS_MACHINE_CODE "\n" +
          needs;
#endif
  return rharness::RunProbeCommand(argc, argv, needs);
}
