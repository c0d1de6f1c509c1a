// Found by this program's own path.
#include "harness/cli/probe_program.h"

#include <system_error>

namespace rharness {

Result<std::filesystem::path> FindProbeProgram() {
  std::error_code failed;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", failed);
  if (failed) return IoError("cannot tell this program's own path: " + failed.message());
  const auto program = self.parent_path() / kProbeProgram;
  if (std::filesystem::is_regular_file(program, failed)) return program;
  return NotFound("expected the program beside rharness", program.string());
}

}  // namespace rharness
