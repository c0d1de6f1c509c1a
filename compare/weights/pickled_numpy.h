// numpy's arrays and numbers in pickles and in joblib's dumps, structured ones by their fields.
//
// Role: private to this folder; under sklearn_model. Executes nothing. Source: array_reduce,
// array_setstate and arraydescr_reduce in numpy/_core/src/multiarray; NumpyArrayWrapper of
// joblib/numpy_pickle.py.
#ifndef RHARNESS_COMPARE_WEIGHTS_PICKLED_NUMPY_H_
#define RHARNESS_COMPARE_WEIGHTS_PICKLED_NUMPY_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compare/weights/checkpoint.h"
#include "compare/weights/pickle.h"

namespace rharness {

struct NumpyField {
  std::string name;  // empty: the whole element
  DType dtype = DType::kF32;
  bool swapped = false;
  std::uint64_t offset_bytes = 0;
};

struct NumpyType {
  std::string format;              // "f8", "V64", "U3", "O8"
  std::uint64_t item_bytes = 0;    // 0: not known
  std::vector<NumpyField> fields;  // empty: texts, dates, objects, fields of other than numbers
  bool objects = false;
};

struct NumpyArray {
  NumpyType type;
  bool fortran = false;
  std::vector<std::uint64_t> shape;
  PickleId data = 0;  // bytes, a string of Latin-1 (protocol 2), or a list of objects
};

// Whether an object calls a class or function of this name, under numpy 1's or 2's modules.
bool CallsNumpy(const Pickle& pickle, PickleId object, std::string_view name);

// Of a dtype; empty: it is none that is understood.
std::optional<NumpyType> ReadNumpyType(const Pickle& pickle, PickleId id);

// Of an array, or a number of numpy (without dimensions). Empty: it is neither.
std::optional<NumpyArray> ReadNumpyArray(const Pickle& pickle, PickleId object);

// A masked array (numpy.ma): its data, those under the mask included, and its mask.
struct NumpyMasked {
  NumpyArray data;
  NumpyArray mask;    // of booleans, one an element
  PickleId fill = 0;  // the value that stands for masked ones
};

// Empty: no masked array, or one of structures.
std::optional<NumpyMasked> ReadMaskedArray(const Pickle& pickle, PickleId object);

// Of joblib's stand-in for an array, whose bytes follow it; `data` means nothing. *aligned: whether
// they begin after a byte that counts the padding behind it.
std::optional<NumpyArray> ReadArrayWrapper(const Pickle& pickle, PickleId object, bool* aligned);

// Bytes of all elements; empty: above 2^64, or of a size that is not known.
std::optional<std::uint64_t> BytesOf(const NumpyArray& array);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_WEIGHTS_PICKLED_NUMPY_H_
