// Checkpoints of two sides, role by role: by their bytes, or by recorded digests.
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
  // Named by itself, so that nothing is known of the files that are loaded with it. Else what one
  // side alone has of these never passes.
  bool is_file = false;
};

struct CheckpointOptions {
  bool weights_only = false;  // of a checkpoint with optimizer state, the weights alone
  int threads = 0;            // 0: one per core
};

// One comparison a pair of the same role and path (where each side has but one of a role, that one,
// whatever it is called), two where a checkpoint holds optimizer state beside the weights. By bytes
// where both are at hand, else by digests. What a checkpoint holds and no reader reads is compared
// byte by byte, what is loaded with the tensors by what it says (side_files.h); both are named
// where they are not the same. Errors: those of Checkpoint::Read and CheckUnchanged, integrity when
// a kept checkpoint is not the recorded one.
Result<std::vector<CheckpointComparison>> CompareCheckpoints(
    const std::vector<RecordedCheckpoint>& a, const std::vector<RecordedCheckpoint>& b,
    const CheckpointOptions& options);

// Two files that no reader opens, by the SHA-256 of their bytes, JSON by what it says
// (side_files.h): bit_equal where it is the same, else vacuous and not_compared, with `why` they
// are not read. Errors: those of HashFile.
Result<CheckpointComparison> CompareUnread(const std::filesystem::path& a,
                                           const std::filesystem::path& b, std::string_view why);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_COMPARE_CHECKPOINTS_H_
