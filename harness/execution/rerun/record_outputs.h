// The outputs of a run that is recorded: which it wrote, and what is in them.
#ifndef RHARNESS_HARNESS_EXECUTION_RERUN_RECORD_OUTPUTS_H_
#define RHARNESS_HARNESS_EXECUTION_RERUN_RECORD_OUTPUTS_H_

#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "harness/execution/rerun/record.h"

namespace rharness {

// By path as declared: what a file is told by (inode, size, times); none where there is no file. Of
// a folder that of its checkpoint.
using OutputIdentities = std::map<std::string, std::optional<std::string>>;

// Before the run, of every output that is declared.
OutputIdentities IdentifyOutputs(const RecordRequest& request, const std::filesystem::path& folder);

// After it: fills artifacts, metrics and kernels. An output that the run did not write, or that
// cannot be read, is among missing_outputs. Of a folder its one checkpoint file is recorded, and a
// remark says so.
void MeasureOutputs(const RecordRequest& request, const std::filesystem::path& folder,
                    const OutputIdentities& before, Recording* out);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_EXECUTION_RERUN_RECORD_OUTPUTS_H_
