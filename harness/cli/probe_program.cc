// Found by its name, or by this program's own path.
#include "harness/cli/probe_program.h"

#include <system_error>

namespace rharness {

namespace fs = std::filesystem;

Result<fs::path> FindProbeProgram(const std::string& named, bool for_image) {
  std::error_code failed;
  if (!named.empty()) {
    const fs::path program = fs::canonical(named, failed);
    if (!failed && fs::is_regular_file(program, failed)) return program;
    return NotFound("expected the program that --program or RHARNESS_PROBE names", named);
  }
  const fs::path self = fs::read_symlink("/proc/self/exe", failed);
  if (failed) return IoError("cannot tell this program's own path: " + failed.message());
  if (for_image) {
    const fs::path portable = fs::canonical(self.parent_path() / kPortableProbeProgram, failed);
    if (!failed && fs::is_regular_file(portable, failed)) return portable;
  }
  const fs::path program = self.parent_path() / kProbeProgram;
  if (fs::is_regular_file(program, failed)) return program;
  return NotFound("expected the program beside rharness", program.string());
}

}  // namespace rharness
