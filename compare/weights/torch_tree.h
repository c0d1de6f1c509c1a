// The pickled tree of a PyTorch checkpoint, flattened into named tensors and metadata.
//
// Role: private to this folder; the second half of torch_zip. Not here: zip records.
#ifndef RHARNESS_COMPARE_WEIGHTS_TORCH_TREE_H_
#define RHARNESS_COMPARE_WEIGHTS_TORCH_TREE_H_

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compare/weights/pickle.h"
#include "compare/weights/torch_tensor.h"
#include "compare/weights/view_checkpoint.h"

namespace rharness {

struct TorchTree {
  std::vector<View> views;
  std::vector<std::pair<std::string, std::string>> metadata;
};

// Walks the tree without recursion; shared and cyclic values cost at most the limits of
// torch_zip.h. Errors: those of TorchTensors::Read; unsupported (a key or an object that is not
// read, a limit).
Result<TorchTree> FlattenTorchTree(const Pickle& pickle, TorchTensors* tensors,
                                   std::string_view where);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_WEIGHTS_TORCH_TREE_H_
