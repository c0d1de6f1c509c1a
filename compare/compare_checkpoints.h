// Compares the checkpoints of two sides, role by role: by bytes, or by recorded digests.
#ifndef RHARNESS_COMPARE_COMPARE_CHECKPOINTS_H_
#define RHARNESS_COMPARE_COMPARE_CHECKPOINTS_H_

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "compare/comparison.h"
#include "compare/weights/checkpoint.h"
#include "compare/weights/tensor_digest.h"
#include "harness/base/result.h"

namespace rharness {

// A checkpoint of one side: its bytes if they are at hand, else what was recorded of them.
struct RecordedCheckpoint {
  std::string path;                        // as recorded or given
  std::string role = "weights";            // "weights" or "optimizer", as recorded
  std::shared_ptr<Checkpoint> checkpoint;  // null: only digests are known
  std::vector<TensorDigest> recorded;      // sorted by name; empty if none were recorded
  std::string recorded_digest;             // canonical root; empty if none was recorded
  std::string recorded_beside;             // CheckpointDigest::beside; empty: none, or unknown
  std::vector<PartDigest> recorded_parts;  // what it is made of; empty: not recorded
  // The user named this file alone, so the files that are loaded with it are not known. If false,
  // such a file on one side alone never passes.
  bool is_file = false;
};

struct CheckpointOptions {
  bool weights_only = false;  // compare the weights alone of a checkpoint with optimizer state
  int threads = 0;            // 0: one per core
};

// Returns one comparison per pair of the same role and path (if each side has one of a role, these
// two, whatever they are called), two if a checkpoint holds optimizer state beside the weights.
// Compares bytes if both are at hand, else digests. Parts of a checkpoint that no reader reads are
// compared byte by byte, files that are loaded with the tensors by their content (side_files.h);
// both are named if they differ. Errors: those of Checkpoint::Read and CheckUnchanged, integrity
// when a kept checkpoint is not the recorded one.
Result<std::vector<CheckpointComparison>> CompareCheckpoints(
    const std::vector<RecordedCheckpoint>& a, const std::vector<RecordedCheckpoint>& b,
    const CheckpointOptions& options);

// Compares two files that no reader opens, by the SHA-256 of their bytes, JSON by its content
// (side_files.h): bit_equal if equal, else vacuous and not_compared, with `why` they are not read.
// Errors: those of HashFile.
Result<CheckpointComparison> CompareUnread(const std::filesystem::path& a,
                                           const std::filesystem::path& b, std::string_view why);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_COMPARE_CHECKPOINTS_H_
