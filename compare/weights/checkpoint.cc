// The dtypes: names and sizes.
#include "compare/weights/checkpoint.h"

#include <fmt/format.h>

#include <array>

#include "harness/base/files.h"

namespace rharness {
namespace {

struct DTypeRow {
  DType dtype;
  std::string_view name;
  int bits;
};

constexpr std::array<DTypeRow, 24> kDTypes = {{
    {DType::kBool, "BOOL", 8},
    {DType::kF4, "F4", 4},
    {DType::kF6E2M3, "F6_E2M3", 6},
    {DType::kF6E3M2, "F6_E3M2", 6},
    {DType::kU8, "U8", 8},
    {DType::kI8, "I8", 8},
    {DType::kF8E5M2, "F8_E5M2", 8},
    {DType::kF8E4M3, "F8_E4M3", 8},
    {DType::kF8E8M0, "F8_E8M0", 8},
    {DType::kF8E4M3Fnuz, "F8_E4M3FNUZ", 8},
    {DType::kF8E5M2Fnuz, "F8_E5M2FNUZ", 8},
    {DType::kI16, "I16", 16},
    {DType::kU16, "U16", 16},
    {DType::kF16, "F16", 16},
    {DType::kBF16, "BF16", 16},
    {DType::kI32, "I32", 32},
    {DType::kU32, "U32", 32},
    {DType::kF32, "F32", 32},
    {DType::kC64, "C64", 64},
    {DType::kF64, "F64", 64},
    {DType::kI64, "I64", 64},
    {DType::kU64, "U64", 64},
    {DType::kC128, "C128", 128},
    {DType::kBlocks, "BLOCKS", 8},
}};

const DTypeRow& RowOf(DType dtype) {
  for (const DTypeRow& row : kDTypes) {
    if (row.dtype == dtype) return row;
  }
  Abort("unknown DType");
}

}  // namespace

std::string_view DTypeName(DType dtype) { return RowOf(dtype).name; }

Result<DType> ParseDType(std::string_view name) {
  for (const DTypeRow& row : kDTypes) {
    if (row.name == name && row.dtype != DType::kBlocks) return row.dtype;
  }
  return InvalidInput(
      fmt::format("unknown dtype '{}'; expected a safetensors dtype such as F32 or "
                  "BF16",
                  TerminalSafe(name.substr(0, 40))));
}

int BitsOf(DType dtype) { return RowOf(dtype).bits; }

std::string_view FormatName(const TensorInfo& info) {
  return info.dtype == DType::kBlocks ? info.block_format : DTypeName(info.dtype);
}

}  // namespace rharness
