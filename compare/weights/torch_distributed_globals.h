// The globals that the pickle of a distributed checkpoint may name.
//
// Role: private to this folder; the table of torch_distributed_metadata.cc.
#ifndef RHARNESS_COMPARE_WEIGHTS_TORCH_DISTRIBUTED_GLOBALS_H_
#define RHARNESS_COMPARE_WEIGHTS_TORCH_DISTRIBUTED_GLOBALS_H_

#include <optional>
#include <string_view>
#include <vector>

#include "compare/weights/checkpoint.h"

namespace rharness {

// "module name" of each: the classes that are read, and those that are accepted and ignored.
std::vector<std::string_view> DistributedGlobals();

// Of "torch float32"; empty for other names.
std::optional<DType> DTypeOfTorchGlobal(std::string_view global);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_WEIGHTS_TORCH_DISTRIBUTED_GLOBALS_H_
