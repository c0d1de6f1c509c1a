// The names that numpy, jax and ml_dtypes give to dtypes.
//
// Role: private to this folder; under the readers of flax and zarr. Pure.
#ifndef RHARNESS_COMPARE_WEIGHTS_NUMPY_NAMES_H_
#define RHARNESS_COMPARE_WEIGHTS_NUMPY_NAMES_H_

#include <optional>
#include <string_view>

#include "compare/weights/checkpoint.h"

namespace rharness {

// "float32", "bfloat16", "float8_e4m3fn"; none: it has no counterpart of whole bytes.
std::optional<DType> DTypeOfNumpyName(std::string_view name);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_WEIGHTS_NUMPY_NAMES_H_
