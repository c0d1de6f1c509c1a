// PyTorch's tensors of several tensors: quantised, sparse and nested ones.
//
// Role: private to this folder; between torch_tree and torch_tensor. Executes nothing.
//
//   tensor       becomes
//   quantised    NAME (the integers), NAME/scale and NAME/zero_point (scalars of F64 and I64, or
//                tensors of one value a channel and the scalar NAME/axis)
//   COO          NAME/indices, NAME/values, NAME/shape. An uncoalesced tensor, or one whose entries
//                are in another order, is another tensor: nothing is sorted or added up
//   CSR, BSR     NAME/crow_indices, NAME/col_indices, NAME/values, NAME/shape
//   CSC, BSC     NAME/ccol_indices, NAME/row_indices, NAME/values, NAME/shape
//   nested       NAME/values, NAME/sizes, NAME/strides, NAME/offsets
//
// Source: _rebuild_qtensor, _rebuild_sparse_tensor and _rebuild_nested_tensor of torch/_utils.py.
#ifndef RHARNESS_COMPARE_WEIGHTS_TORCH_COMPOSED_H_
#define RHARNESS_COMPARE_WEIGHTS_TORCH_COMPOSED_H_

#include <string>
#include <vector>

#include "compare/weights/pickle.h"
#include "compare/weights/torch_tensor.h"
#include "harness/base/result.h"

namespace rharness {

// The object, which IsTensor, as one view or several. Errors: those of TorchTensors::Read;
// unsupported (integers of 2 or 4 bits, an unknown form); the message names the tensor.
Result<std::vector<View>> ReadTorchTensor(const Pickle& pickle, TorchTensors* tensors,
                                          PickleId object, const std::string& name);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_WEIGHTS_TORCH_COMPOSED_H_
