// The globals that a PyTorch checkpoint may name, and their meaning here.
//
// Role: private to this folder; the table that torch_zip gives to the unpickler. Nothing in it is
// called. Source: torch/_weights_only_unpickler.py and torch/_utils.py of PyTorch.
#ifndef RHARNESS_COMPARE_WEIGHTS_TORCH_GLOBALS_H_
#define RHARNESS_COMPARE_WEIGHTS_TORCH_GLOBALS_H_

#include <cstddef>
#include <span>
#include <string_view>

#include "compare/weights/checkpoint.h"

namespace rharness {

enum class TorchGlobalKind {
  kOrderedDict,
  kTensor,            // _rebuild_tensor: storage, offset, size, stride
  kTensorV2,          // and requires_grad, hooks, metadata
  kTensorV3,          // and requires_grad, hooks, dtype, metadata
  kTensorOfType,      // function, type, its arguments, state
  kParameter,         // a tensor first
  kQuantised,         // _rebuild_qtensor: storage, offset, size, stride, how it is quantised
  kComposed,          // of several tensors: sparse, nested (torch_composed.h)
  kUnreadTensor,      // meta, of a device, ...
  kTensorClass,       // torch.Tensor and Parameter; before 0.4 they are called with a tensor
  kStorage,           // of one dtype
  kUntypedStorage,    // of bytes
  kQuantisedStorage,  // of the integers of a quantised dtype
  kUnreadStorage,     // of a dtype that is not read
  kDType,
  kUnreadDType,
  kPlain,    // a value that holds no tensor: a size, a device, a version
  kForeign,  // everything else
};

struct TorchGlobal {
  std::string_view name;  // "module name"
  TorchGlobalKind kind;
  DType dtype = DType::kU8;  // of storages and kDType
};

std::span<const std::string_view> TorchGlobalNames();  // for ParsePickle
const TorchGlobal& TorchGlobalAt(
    std::size_t index);  // of Pickle::Global; kForeign beyond the table

}  // namespace rharness

#endif  // RHARNESS_COMPARE_WEIGHTS_TORCH_GLOBALS_H_
