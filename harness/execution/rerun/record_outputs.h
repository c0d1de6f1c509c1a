// The outputs of a recorded run: which ones it wrote, and their content.
#ifndef RHARNESS_HARNESS_EXECUTION_RERUN_RECORD_OUTPUTS_H_
#define RHARNESS_HARNESS_EXECUTION_RERUN_RECORD_OUTPUTS_H_

#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "harness/execution/rerun/record.h"

namespace rharness {

// By declared path: a file's identity (inode, size, times); none if there is no file. For a folder
// that of its checkpoint.
using OutputIdentities = std::map<std::string, std::optional<std::string>>;

// Before the run, for every declared output; for logs see record_logs.h.
OutputIdentities IdentifyOutputs(const RecordRequest& request, const std::filesystem::path& folder);

// After it: fills artifacts, metrics and kernels. An output that the run did not write, or that
// cannot be read, goes to missing_outputs. For a folder its one checkpoint file is recorded, with a
// remark.
void MeasureOutputs(const RecordRequest& request, const std::filesystem::path& folder,
                    const OutputIdentities& before, Recording* out);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_EXECUTION_RERUN_RECORD_OUTPUTS_H_
