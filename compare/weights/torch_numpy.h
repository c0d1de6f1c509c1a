// A numpy array inside of a pickle: numbers no less than those of a tensor.
//
// Role: private to this folder; what torch_tree makes a view of. Source: array_reduce and
// array_setstate in numpy/_core/src/multiarray/methods.c. Executes nothing.
#ifndef RHARNESS_COMPARE_WEIGHTS_TORCH_NUMPY_H_
#define RHARNESS_COMPARE_WEIGHTS_TORCH_NUMPY_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "compare/weights/checkpoint.h"
#include "compare/weights/pickle.h"

namespace rharness {

struct PickledArray {
  DType dtype = DType::kF32;
  bool swapped = false;  // big-endian numbers
  bool fortran = false;
  std::vector<std::uint64_t> shape;
  PickleId data = 0;  // bytes, or at protocol 2 the call that makes them of a string
};

// Of an object; empty: no array, or one of objects, structures, text or dates.
std::optional<PickledArray> ReadPickledArray(const Pickle& pickle, PickleId object);

// The bytes of `data`; empty: a string that is not Latin-1.
std::optional<std::string> BytesOfArray(const Pickle& pickle, const PickledArray& array);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_WEIGHTS_TORCH_NUMPY_H_
