// The table of names; see numpy_names.h.
#include "compare/weights/numpy_names.h"

#include <algorithm>
#include <array>

namespace rharness {
namespace {

struct NumpyName {
  std::string_view name;
  DType dtype;
};
constexpr auto kNumpyNames = std::to_array<NumpyName>({
    {"bool", DType::kBool},
    {"int8", DType::kI8},
    {"uint8", DType::kU8},
    {"int16", DType::kI16},
    {"uint16", DType::kU16},
    {"int32", DType::kI32},
    {"uint32", DType::kU32},
    {"int64", DType::kI64},
    {"uint64", DType::kU64},
    {"float16", DType::kF16},
    {"bfloat16", DType::kBF16},
    {"float32", DType::kF32},
    {"float64", DType::kF64},
    {"complex64", DType::kC64},
    {"complex128", DType::kC128},
    {"float8_e4m3fn", DType::kF8E4M3},
    {"float8_e5m2", DType::kF8E5M2},
    {"float8_e8m0fnu", DType::kF8E8M0},
    {"float8_e4m3fnuz", DType::kF8E4M3Fnuz},
    {"float8_e5m2fnuz", DType::kF8E5M2Fnuz},
});

}  // namespace

std::optional<DType> DTypeOfNumpyName(std::string_view name) {
  const auto row = std::ranges::find(kNumpyNames, name, &NumpyName::name);
  if (row == kNumpyNames.end()) return std::nullopt;
  return row->dtype;
}

}  // namespace rharness
