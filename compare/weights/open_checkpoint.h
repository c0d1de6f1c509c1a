// The choice of a reader for one file.
//
// Role: opens the parts of an index or a folder.
#ifndef RHARNESS_COMPARE_WEIGHTS_OPEN_CHECKPOINT_H_
#define RHARNESS_COMPARE_WEIGHTS_OPEN_CHECKPOINT_H_

#include <memory>
#include <string_view>

#include "compare/weights/checkpoint.h"
#include "compare/weights/input_file.h"

namespace rharness {

// Opens a file that holds tensors itself, by its content; the index of a sharded checkpoint is no
// such file. Errors: those of OpenCheckpoint.
Result<std::unique_ptr<Checkpoint>> OpenCheckpointFile(InputFile file);

// Whether a file's first bytes are text: no control character but tabs and line ends.
bool IsText(std::string_view head);

// Whether text that begins so is a checkpoint: a model of XGBoost or LightGBM.
bool IsTextCheckpoint(std::string_view head);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_WEIGHTS_OPEN_CHECKPOINT_H_
