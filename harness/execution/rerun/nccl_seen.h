// What NCCL chose in a run, by the log that the run left.
#ifndef RHARNESS_HARNESS_EXECUTION_RERUN_NCCL_SEEN_H_
#define RHARNESS_HARNESS_EXECUTION_RERUN_NCCL_SEEN_H_

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>

#include "harness/base/clock.h"

namespace rharness {

// As in nccl_log.h, of `output` and of the files of NCCL_DEBUG_FILE that this host wrote since
// `started` (%h: the host, %p: any process); at most 16 of these, the first 4 MiB of each.
// `variables`: of the run. `folder`: that it was started in. Empty without NCCL_DEBUG.
std::map<std::string, std::string> NcclChoices(std::string_view output,
                                               const std::map<std::string, std::string>& variables,
                                               const std::filesystem::path& folder,
                                               WallTime started);

// What is written to our own output from now on, if that is a file.
class OwnOutput {
 public:
  OwnOutput();
  // Up to now, the first 4 MiB.
  std::string Text() const;

 private:
  std::int64_t from_ = -1;  // none
};

}  // namespace rharness

#endif  // RHARNESS_HARNESS_EXECUTION_RERUN_NCCL_SEEN_H_
