// Flattens the pickled tree of a PyTorch checkpoint into named tensors and metadata.
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

// Walks the tree without recursion; shared and cyclic values cost at most the limits of
// torch_zip.h. An object of a class outside the table of torch_globals.h is named by its class, and
// its content is walked once: its arguments as "NAME.(0)", its items as "NAME.0", its entries and
// the members of its state by their names. `where` starts the `where` of errors and becomes that of
// the parts, whose members are filled in except their place in the file. Errors: those of
// TorchTensors::Read but unsupported ones, which make a tensor unread; unsupported (a limit).
// `outside`: tensors that the pickle names by keys alone; may be null.
Result<ViewCheckpointParts> FlattenTorchTree(const Pickle& pickle, TorchStorages storages,
                                             std::string where,
                                             const TorchOutsideTensors* outside = nullptr);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_WEIGHTS_TORCH_TREE_H_
