// The types of numbers in an HDF5 file.
//
// Role: private to this folder; under hdf5 and hdf5_attributes. Pure. Source: "HDF5 File Format
// Specification Version 3.0" (The HDF Group), section IV.A.2.d.
#ifndef RHARNESS_COMPARE_WEIGHTS_HDF5_TYPES_H_
#define RHARNESS_COMPARE_WEIGHTS_HDF5_TYPES_H_

#include <optional>
#include <string_view>

#include "compare/weights/checkpoint.h"

namespace rharness {

// Section IV.A.2.d: the classes of types, as far as they matter here.
enum class Hdf5Class : unsigned {
  kInteger = 0,
  kFloat = 1,
  kText = 3,
  kCompound = 6,
  kReference = 7,
  kEnumeration = 8,
  kVariable = 9,
  kArray = 10,
};
Hdf5Class Hdf5ClassOf(std::string_view type);  // of at least one byte

struct Hdf5NumberType {
  DType dtype = DType::kF32;
  bool swapped = false;  // big-endian
};
// Of the content of a type's message; none: it is no number that has a DType. An enumeration of one
// byte is a boolean, as h5py writes them.
std::optional<Hdf5NumberType> Hdf5NumberTypeOf(std::string_view type);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_WEIGHTS_HDF5_TYPES_H_
