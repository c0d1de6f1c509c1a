// A numpy array inside of a pickle, which holds numbers as a tensor does.
//
// Role: private to this folder; torch_tree makes a view of it. Source: array_reduce and
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
  PickleId data = 0;  // bytes, or at protocol 2 the string of the call that makes them
};

// Of an object; empty: no array, or one of objects, structures, text or dates.
std::optional<PickledArray> ReadPickledArray(const Pickle& pickle, PickleId object);

// Whether an object is a numpy array of any type, a masked one included; its content is its state.
bool IsNumpyArray(const Pickle& pickle, PickleId object);

// Bytes or a bytearray as an array without a shape: its size is that of `data`. Empty: it is none.
std::optional<PickledArray> ReadPickledBytes(const Pickle& pickle, PickleId id);

// The bytes of `data`; empty: a string that is not Latin-1.
std::optional<std::string> BytesOfArray(const Pickle& pickle, const PickledArray& array);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_WEIGHTS_TORCH_NUMPY_H_
