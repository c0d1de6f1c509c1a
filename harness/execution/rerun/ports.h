// The port on node 0 at which the tasks of a gang meet.
#ifndef RHARNESS_HARNESS_EXECUTION_RERUN_PORTS_H_
#define RHARNESS_HARNESS_EXECUTION_RERUN_PORTS_H_

#include <optional>
#include <string>
#include <string_view>

#include "harness/base/result.h"

namespace rharness {

// Those that a site lets its nodes reach on each other: "29500-29999".
struct PortRange {
  int first = 0;
  int last = 0;  // among them

  std::string ToString() const;
  bool operator==(const PortRange&) const = default;
};
// "29500" is a range of one. Errors: invalid_input; they are 1024 to 65535.
Result<PortRange> ParsePortRange(std::string_view text);

// A port of this machine that nobody listens on now: of the range, else any. Attempts of other
// names begin elsewhere in it, so that one after a taken port, or a gang beside this one, does not
// meet the same. None: all of the range are taken. Another process may take it before the run does
// (FailedByPort).
std::optional<int> FreePort(const std::optional<PortRange>& range = {},
                            std::string_view attempt = "");
bool IsPortTaken(int port);
// Whether a run failed since `port`, which was chosen for it, had been taken meanwhile: its stderr
// says that an address is in use, and names the port, or somebody has it still.
bool FailedByPort(std::string_view stderr_text, int port, bool is_taken);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_EXECUTION_RERUN_PORTS_H_
